//! Several processes at once, and processes that die.

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{apply, call, called, gate_declared, goal_declared, leased, query};
use crate::sandbox::Sandbox;

/// Starts a call of `request`.
fn start(repo: &Sandbox, request: &str) -> Child {
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    command.args(["exec", "call", "--lock-timeout", "60"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    child
}

fn answer(mut child: Child) -> Value {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    serde_json::from_str(&text).unwrap()
}

fn outcomes(repo: &Sandbox, requests: &[String]) -> Vec<String> {
    let children: Vec<Child> = requests.iter().map(|request| start(repo, request)).collect();
    let said = |child| {
        let answer = answer(child);
        answer["outcome"].as_str().or(answer["error"]["code"].as_str()).unwrap().to_owned()
    };
    let mut outcomes: Vec<String> = children.into_iter().map(said).collect();
    outcomes.sort();
    outcomes
}

#[test]
fn of_many_that_apply_one_operation_exactly_one_does() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    let request = gate_declared(2, "build");
    let said = outcomes(&repo, &vec![request; 8]);
    assert_eq!(said[0], "already_applied");
    assert_eq!(said.iter().filter(|said| *said == "applied").count(), 1);
    // And of requests that have only the key in common.
    let keyed = |number: u32| {
        let key = format!("\"precondition\":{{\"operation_id\":\"{:064x}\"}}", 5);
        gate_declared(number, "docs").replace("\"precondition\":{}", &key)
    };
    let said = outcomes(&repo, &[keyed(10), keyed(11)]);
    assert_eq!(said, ["already_applied", "applied"]);
    assert_eq!(repo.json("exec state team/alpha")["result"]["execution_seq"], 3);
}

#[test]
fn of_two_that_expect_the_same_number_exactly_one_succeeds() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    for round in 0..4 {
        let request = |number: u32| {
            let target = format!(r#"{{"goal_id":"team/alpha","gate_id":"gate-{number}"}}"#);
            let args = r#"{"description":"d","verification":{"check_kind":"c","check_ref":"r"}}"#;
            let expected = format!(r#"{{"expect_execution_seq":{}}}"#, round + 1);
            apply(100 + number, "gate.declare", &target, args, &expected)
        };
        let said = outcomes(&repo, &[request(2 * round), request(2 * round + 1)]);
        assert_eq!(said, ["E_PRECONDITION_SEQ", "applied"]);
    }
}

#[test]
fn a_scope_never_has_two_holders() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    let requests: Vec<String> =
        (0..8).map(|number| leased(10 + number, "build", &format!("w{number}"))).collect();
    let said = outcomes(&repo, &requests);
    assert_eq!(said.iter().filter(|said| *said == "applied").count(), 1);
    assert_eq!(said.iter().filter(|said| *said == "E_LEASE_HELD").count(), 7);
}

#[test]
fn a_store_that_is_held_is_busy_within_the_time_asked() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    let other = rusqlite::Connection::open(repo.store().join("mk.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    repo.input = gate_declared(2, "build").into_bytes();
    let begun = Instant::now();
    let done = repo.mk("exec call --lock-timeout 0.3").code(3);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let response: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(response["error"]["code"], "E_STORE_BUSY");
    assert_eq!(response["state"]["execution_seq"], 1);
    // What is wrong with a request is said before the lock is asked for.
    let (refused, _) = call(&mut repo, gate_declared(3, "B"));
    assert_eq!(refused["error"]["code"], "E_PATTERN");
    called(&mut repo, query("state.read", r#"{"goal_id":"team/alpha"}"#));
    repo.input = [gate_declared(2, "build"), query("describe", "{}")].join("\n").into_bytes();
    let begun = Instant::now();
    let done = repo.mk("exec call --batch --lock-timeout 0.3").success();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let lines = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["error"]["code"], "E_STORE_BUSY");
    assert_eq!(lines[0]["state"]["execution_seq"], 1);
    assert_eq!(lines[1]["ok"], true);
    repo.mk("exec call --batch --lock-timeout 0").success();
    other.execute_batch("ROLLBACK").unwrap();
    called(&mut repo, gate_declared(2, "build"));
}

#[test]
fn what_was_answered_outlives_a_kill_and_what_was_not_can_be_repeated() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    for round in 0..12_u32 {
        let requests: Vec<String> =
            (0..400).map(|number| leased(1_000 * (round + 1) + number, "build", "w1")).collect();
        let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
        command.args(["exec", "call", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = requests.join("\n") + "\n";
        let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
        thread::sleep(Duration::from_millis(3 * u64::from(round)));
        child.kill().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        let _ = writer.join().unwrap();
        let answered: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for (request, answer) in requests.iter().zip(&answered) {
            let again = called(&mut repo, request);
            assert_eq!(again["outcome"], "already_applied");
            assert_eq!(again["result"], answer["result"]);
            if answer["result"]["event_seq"].as_i64().unwrap() % 50 != 0 {
                break;
            }
        }
        if let Some(request) = requests.get(answered.len()) {
            let again = called(&mut repo, request);
            assert!([json!("applied"), json!("already_applied")].contains(&again["outcome"]));
        }
        repo.mk("verify").success();
    }
}
