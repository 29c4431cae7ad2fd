//! One request, one answer.

use std::fs;

use serde_json::json;

use super::{apply, call, called, gate_declared, goal_declared, leased, query};
use crate::sandbox::Sandbox;

#[test]
fn a_goal_is_declared_read_shown_and_verified() {
    let mut repo = Sandbox::new();
    let declared = called(&mut repo, goal_declared(10));
    assert_eq!(declared["result"]["event_seq"], 1);
    called(&mut repo, gate_declared(11, "build"));
    called(&mut repo, leased(12, "build", "w1"));
    repo.session(
        r#"
        $ mk exec state team/alpha --now 2026-08-04T11:30:00Z
        team/alpha: open (record 3)
        advice, not permission: wait (lease_held_by_other)
        held up by: build

        GATE                     STATUS   REQUIRED SCOPE        EVIDENCE
        build                    pending  yes      build        -

        LEASED SCOPE             HOLDER           TOKEN UNTIL
        build                    w1                   1 2026-08-04T12:22:33Z
        a write into a leased scope needs a token of at least 1
        $ mk exec log
             3 2026-08-04T11:22:33Z team/alpha lease_grant build w1 1
             2 2026-08-04T11:22:33Z team/alpha gate_declared build build
             1 2026-08-04T11:22:33Z team/alpha goal_declared Ship it
        $ mk exec log team/other
        $ mk exec log -n 1 --json | cut -c1-60
        {"schema_version":1,"record_type":"lease_grant","execution_s
        $ mk exec state team/none --now 2026-08-04T11:30:00Z
        team/none: not declared (record 0)
        $ mk exec state Team/None --now 2026-08-04T11:30:00Z
        ! error: goal_id is not of its form (E_PATTERN)
        [1]
        $ mk exec state team/alpha --now soon
        ! error: not a time of MKEP-TIME/1 (E_TIME_FORMAT)
        [1]
        $ mk verify
        ok: 3 events, 2 branches
        "#,
    );
}

#[test]
fn workspace_leases_and_those_of_goals_have_nothing_to_do_with_each_other() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    repo.mk("lease acquire build --json").success();
    let first = called(&mut repo, leased(2, "build", "w1"));
    assert_eq!(first["result"]["fence_token"], 1);
    let second = called(&mut repo, leased(3, "docs", "w1"));
    assert_eq!(second["result"]["fence_token"], 2);
}

#[test]
fn arguments_that_make_no_sense_end_with_64() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk exec
        ! fatal: no command is given
        ! hint: see `mk exec --help`
        [64]
        $ mk exec call --nope
        ! fatal: unknown option '--nope'
        ! hint: see `mk exec --help`
        [64]
        $ mk exec call --lock-timeout soon
        ! fatal: invalid value 'soon' for '--lock-timeout <SECONDS>': not a number from 0 to 86400
        ! hint: see `mk exec --help`
        [64]
        $ mk exec import
        ! fatal: the following required arguments were not provided: <DIR|FILE>
        ! hint: see `mk exec --help`
        [64]
        $ mk log --nope
        ! fatal: unknown option '--nope'
        ! hint: see `mk log --help`
        [129]
        "#,
    );
}

#[test]
fn a_base_is_made_by_the_first_append_and_by_nothing_else() {
    let repo = Sandbox::empty();
    fs::create_dir(repo.path("base")).unwrap();
    let ask = |request: String, code: i32| {
        fs::write(repo.path("request"), request).unwrap();
        let line = format!("mk exec call --base-dir base < request; test $? = {code}");
        repo.sh(&line).success();
        repo.path("base/.mk").exists()
    };
    assert!(!ask(query("describe", "{}"), 0));
    assert!(!ask(query("state.read", r#"{"goal_id":"team/alpha"}"#), 0));
    assert!(!ask(query("assess.run", r#"{"goal_id":"team/alpha"}"#), 2));
    assert!(!ask(gate_declared(1, "build"), 2));
    assert!(!ask(goal_declared(2).replace("team/alpha", "Team"), 1));
    assert!(ask(goal_declared(3), 0));
    assert!(ask(query("assess.run", r#"{"goal_id":"team/alpha"}"#), 0));
}

#[test]
fn a_directory_that_cannot_hold_a_base_is_a_fault_of_the_store() {
    let mut repo = Sandbox::empty();
    repo.input = goal_declared(1).into_bytes();
    for base in ["/dev/null", "/proc/nothing"] {
        let done = repo.mk(&format!("exec call --base-dir {base}")).code(3);
        let response: serde_json::Value =
            serde_json::from_slice(&done.get_output().stdout).unwrap();
        assert_eq!(response["error"]["code"], "E_STORE_IO");
        assert!(!response.to_string().contains(base), "{response}");
    }
}

#[test]
fn without_a_project_the_store_is_at_fault_and_the_hint_says_what_to_do() {
    let mut repo = Sandbox::empty();
    repo.input = goal_declared(1).into_bytes();
    repo.mk("exec call").code(3).stderr(
        "fatal: not a mk project (or any of the parent directories): ".to_owned()
            + repo.path("").display().to_string().trim_end_matches('/')
            + "\nhint: make one with `mk init`\n",
    );
    repo.input = query("describe", "{}").into_bytes();
    repo.mk("exec call").success().stderr("");
}

#[test]
fn a_log_of_the_reference_that_is_not_imported_stops_everything_but_describe() {
    let mut repo = Sandbox::new();
    fs::create_dir_all(repo.path(".memkraft/execution")).unwrap();
    repo.write(".memkraft/execution/events.jsonl", "{\"hello\":\"world\"}\n");
    let (response, status) = call(&mut repo, goal_declared(1));
    assert_eq!((&response["error"]["code"], status), (&json!("E_STORE_IO"), 3));
    let (_, status) = call(&mut repo, query("describe", "{}"));
    assert_eq!(status, 0);
    repo.input = query("state.read", r#"{"goal_id":"team/alpha"}"#).into_bytes();
    let done = repo.mk("exec call").code(3);
    let told = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    let hint = told.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap().to_owned();
    repo.sh(&hint).success();
    called(&mut repo, goal_declared(1));
}

#[test]
fn input_that_is_no_request_is_answered() {
    let mut repo = Sandbox::new();
    let long = goal_declared(1).replace("Ship it", &"x".repeat(300 << 10));
    let deep = goal_declared(1).replace("[]", &("[".repeat(3_000) + &"]".repeat(3_000)));
    let huge = format!("{{\"a\":\"{}\"}}", "x".repeat(17 << 20));
    let cut = &"{\"request_id\":\"é".as_bytes()[..16];
    for (input, code) in [
        (&b""[..], "E_MALFORMED_JSON"),
        (b"\xef\xbb\xbf{}", "E_MALFORMED_JSON"),
        (b"[1]", "E_MALFORMED_JSON"),
        (b"{} {}", "E_MALFORMED_JSON"),
        (b"{\"a\":NaN}", "E_MALFORMED_JSON"),
        (b"{\"a\":\"\x01\"}", "E_MALFORMED_JSON"),
        (cut, "E_MALFORMED_JSON"),
        (b"\xff\xfe", "E_MALFORMED_JSON"),
        (deep.as_bytes(), "E_MALFORMED_JSON"),
        (long.as_bytes(), "E_LIMIT_EXCEEDED"),
        (huge.as_bytes(), "E_LIMIT_EXCEEDED"),
        (b"{\"\\ud800\":1}", "E_UNKNOWN_FIELD"),
    ] {
        let (response, status) = call(&mut repo, input);
        assert_eq!(response["error"]["code"], code, "{response}");
        assert_eq!(status, 1);
    }
    repo.session(
        r#"
        $ mk exec log
        $ mk verify
        ok: 0 events, 1 branch
        "#,
    );
}

#[test]
fn a_full_goal_reads_and_moves_on() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    for number in 0..64 {
        called(&mut repo, gate_declared(100 + number, &format!("gate-{number:02}")));
    }
    for number in 0..16 {
        called(&mut repo, leased(200 + number, &format!("scope-{number:02}"), "w1"));
    }
    let (refused, status) = call(&mut repo, gate_declared(300, "gate-65"));
    assert_eq!((&refused["error"]["code"], status), (&json!("E_GATE_CAP"), 1));
    let (refused, status) = call(&mut repo, leased(301, "scope-17", "w1"));
    assert_eq!((&refused["error"]["code"], status), (&json!("E_LEASE_CAP"), 2));
    let read = called(&mut repo, query("state.read", r#"{"goal_id":"team/alpha"}"#));
    assert_eq!(read["result"]["gates"].as_array().unwrap().len(), 64);
    assert_eq!(read["result"]["leases"].as_object().unwrap().len(), 16);
    let target = r#"{"goal_id":"team/alpha","gate_id":"gate-63"}"#;
    let args = r#"{"to_status":"waived","authority_claim":"human"}"#;
    let waived = called(&mut repo, apply(302, "gate.transition", target, args, "{}"));
    assert_eq!(waived["warnings"], json!(["W_WAIVER_UNVERIFIED"]));
}

#[test]
fn a_secret_is_stored_as_it_was_sent_or_refused_as_the_setting_says() {
    let secret = "sk-ant-api03-".to_owned() + &"a1B2c3D4".repeat(11) + "_-AAAA";
    let mut repo = Sandbox::new();
    let request = goal_declared(1).replace("Cut the release", &secret);
    let target = r#"{"goal_id":"team/alpha"}"#;
    let applied = called(&mut repo, &request);
    let line = repo.mk("exec log --json").success();
    let line = String::from_utf8(line.get_output().stdout.clone()).unwrap();
    assert!(line.contains(&secret), "{line}");
    repo.mk("config core.secrets refuse").success();
    let again = called(&mut repo, &request);
    assert_eq!(again["result"]["record_id"], applied["result"]["record_id"]);
    let args = format!(r#"{{"to_status":"abandoned","reason":"{secret}"}}"#);
    let (refused, status) = call(&mut repo, apply(2, "goal.transition", target, &args, "{}"));
    assert_eq!((&refused["error"]["code"], status), (&json!("E_PATTERN"), 1));
    assert_eq!(refused["error"]["details"]["path"], "reason");
}

#[test]
fn no_answer_names_permission_or_a_time_to_act() {
    let mut repo = Sandbox::new();
    let mut said = called(&mut repo, goal_declared(1)).to_string();
    said += &called(&mut repo, leased(2, "build", "w1")).to_string();
    said += &called(&mut repo, query("assess.run", r#"{"goal_id":"team/alpha"}"#)).to_string();
    said += &called(&mut repo, query("state.read", r#"{"goal_id":"team/alpha"}"#)).to_string();
    said += &called(&mut repo, query("describe", "{}")).to_string();
    for word in [
        "allow",
        "permit",
        "authoriz",
        "granted",
        "approved",
        "retry_after",
        "next_check_at",
        "poll_interval",
        "cadence",
        "cron",
    ] {
        assert!(!said.contains(word), "{word}");
    }
}
