//! `mk exec call --batch`

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use super::{call, called, gate_declared, goal_declared, leased, query};
use crate::sandbox::Sandbox;

fn batch(repo: &mut Sandbox, requests: &[String]) -> Vec<Value> {
    repo.input = (requests.join("\n") + "\n").into_bytes();
    let done = repo.mk("exec call --batch").success();
    let lines = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn answers_come_in_the_order_of_the_requests_whatever_they_are() {
    let mut repo = Sandbox::new();
    let requests = [
        goal_declared(1),
        "not json".to_owned(),
        gate_declared(2, "build"),
        String::new(),
        gate_declared(2, "build"),
        gate_declared(3, "build"),
        query("state.read", r#"{"goal_id":"team/alpha"}"#),
        leased(4, "build", "w1"),
        leased(5, "build", "w2"),
    ];
    let answers = batch(&mut repo, &requests);
    let said: Vec<&str> = answers
        .iter()
        .map(|answer| answer["outcome"].as_str().or(answer["error"]["code"].as_str()).unwrap())
        .collect();
    assert_eq!(
        said,
        [
            "applied",
            "E_MALFORMED_JSON",
            "applied",
            "already_applied",
            "E_ALREADY_DECLARED",
            "read",
            "applied",
            "E_LEASE_HELD"
        ]
    );
    // Each sees what the ones before it did, and says the same as a call of its own.
    assert_eq!(answers[5]["result"]["execution_seq"], 2);
    let alone = called(&mut repo, goal_declared(1));
    assert_eq!(alone["outcome"], "already_applied");
    assert_eq!(alone["result"], answers[0]["result"]);
    repo.mk("verify").success();
}

#[test]
fn a_line_that_is_no_request_spoils_none_of_its_neighbours() {
    let mut repo = Sandbox::new();
    let mut input = goal_declared(1).into_bytes();
    let cut = goal_declared(2).replace("Ship it", "é");
    let cut = &cut.as_bytes()[..=cut.find('é').unwrap()];
    let long = gate_declared(3, "build").replace("make", &"x".repeat(300 << 10));
    for line in [cut, long.as_bytes(), b"\xff", gate_declared(4, "build").as_bytes(), b"{\"mkep\":"]
    {
        input.push(b'\n');
        input.extend_from_slice(line);
    }
    repo.input = input;
    let done = repo.mk("exec call --batch").success().stderr("");
    let lines = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let answers: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["code"]).collect();
    let (malformed, none) = (Value::from("E_MALFORMED_JSON"), Value::Null);
    let long = Value::from("E_LIMIT_EXCEEDED");
    assert_eq!(codes, [&none, &malformed, &long, &malformed, &none, &malformed]);
    // The one that is too long has been read far enough to say which it was.
    assert_eq!(answers[2]["request_id"], "00000000000000000000000000000003");
    repo.mk("verify").success().stdout("ok: 2 events, 2 branches\n");
}

#[test]
fn an_answer_comes_before_the_next_request_is_there() {
    let repo = Sandbox::new();
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    command.args(["exec", "call", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for request in [goal_declared(1), gate_declared(2, "build"), gate_declared(3, "test")] {
        writeln!(stdin, "{request}").unwrap();
        stdin.flush().unwrap();
        let mut answer = String::new();
        stdout.read_line(&mut answer).unwrap();
        assert!(answer.contains("\"applied\""), "{answer}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_batch_of_queries_makes_no_base_and_one_that_writes_does() {
    let repo = Sandbox::empty();
    std::fs::create_dir(repo.path("base")).unwrap();
    repo.write("read", query("state.read", r#"{"goal_id":"team/alpha"}"#));
    repo.sh("mk exec call --batch --base-dir base < read").success();
    assert!(!repo.path("base/.mk").exists());
    repo.write("write", goal_declared(1));
    repo.sh("mk exec call --jsonl --base-dir base < write").success();
    assert!(repo.path("base/.mk/mk.db").exists());
}

#[test]
fn many_requests_are_one_log() {
    let mut repo = Sandbox::new();
    let mut requests = vec![goal_declared(1)];
    requests.extend((0..600).map(|number| leased(1_000 + number, &format!("s{number}"), "w1")));
    let answers = batch(&mut repo, &requests);
    let applied = answers.iter().filter(|answer| answer["outcome"] == "applied").count();
    let capped = answers.iter().filter(|answer| answer["error"]["code"] == "E_LEASE_CAP").count();
    assert_eq!((applied, capped), (17, 584));
    let (last, _) = call(&mut repo, query("state.read", r#"{"goal_id":"team/alpha"}"#));
    assert_eq!(last["result"]["max_fence_token"], 16);
    repo.mk("verify").success();
}
