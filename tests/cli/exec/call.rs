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
        ! error: goal_id is not of the form [a-z0-9][a-z0-9._-]{1,31}/[a-z0-9][a-z0-9._-]{1,63} (E_PATTERN)
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
        (b"{\"a\":\"\xc3\"}", "E_MALFORMED_JSON"),
        (b"{\"a\":\"\xe2\x82\"}", "E_MALFORMED_JSON"),
        (b"{\"a\":\"\xed\xa0\x80\"}", "E_MALFORMED_JSON"),
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
fn a_request_may_have_262144_bytes_and_none_more() {
    let mut repo = Sandbox::new();
    let request = goal_declared(1);
    let padded = |size: usize| request.clone() + &" ".repeat(size - request.len());
    let (refused, status) = call(&mut repo, padded(262_145));
    assert_eq!((&refused["error"]["code"], status), (&json!("E_LIMIT_EXCEEDED"), 1));
    assert_eq!(refused["error"]["details"], json!({"limit": 262_144}));
    // What can be said of it is still said.
    assert_eq!(refused["request_id"], "00000000000000000000000000000001");
    called(&mut repo, padded(262_144));
}

#[test]
fn what_cannot_be_read_or_answered_ends_with_70_and_says_nothing_on_stdout() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk exec call < /
        ! fatal: cannot read stdin: Is a directory (os error 21)
        [70]
        $ mk exec call --batch < /
        ! fatal: cannot read stdin: Is a directory (os error 21)
        [70]
        "#,
    );
}

#[test]
fn a_goal_is_shown_as_a_table_and_as_the_response_to_a_read() {
    let mut repo = Sandbox::new();
    let gate = |name: &str| format!(r#"{{"goal_id":"team/alpha","gate_id":"{name}"}}"#);
    let receipt = |verdict: &str, more: &str| {
        format!(
            r#"{{"verdict":"{verdict}","content_sha256":"{:064}","summary":"s","observed_at":null{more}}}"#,
            1
        )
    };
    called(&mut repo, goal_declared(1));
    called(&mut repo, gate_declared(2, "build"));
    let optional = gate_declared(3, "docs").replace(
        "\"verification\"",
        "\"required\":false,\"scope_key\":\"docs/a\",\"verification\"",
    );
    called(&mut repo, optional);
    for (number, op, gate_id, args) in [
        (4, "receipt.record", "build", receipt("fail", "")),
        (5, "receipt.record", "build", receipt("pass", r#","provenance_id":"p""#)),
        (6, "gate.transition", "build", r#"{"to_status":"passed"}"#.to_owned()),
        (
            7,
            "gate.transition",
            "docs",
            r#"{"to_status":"waived","authority_claim":"human"}"#.into(),
        ),
    ] {
        called(&mut repo, apply(number, op, &gate(gate_id), &args, "{}"));
    }
    let goal = r#"{"goal_id":"team/alpha"}"#;
    let args = r#"{"to_actor":"bob","payload":{"n":1},"expires_at":"2026-08-05T00:00:00Z"}"#;
    let declared = called(&mut repo, apply(8, "handoff.declare", goal, args, "{}"));
    let handoff = declared["result"]["handoff_id"].as_str().unwrap().to_owned();
    called(&mut repo, leased(9, "src/a", "w1"));
    let table = r#"team/alpha: open (record 9)
advice, not permission: wait (lease_held_by_other)
waived on an unverified word: 1
receipts without provenance: 1

GATE                     STATUS   REQUIRED SCOPE        EVIDENCE
build                    passed   yes      build        pass 5, fail 4
docs                     waived   no       docs/a       -

LEASED SCOPE             HOLDER           TOKEN UNTIL
src/a                    w1                   1 2026-08-04T12:22:33Z
a write into a leased scope needs a token of at least 1

HANDOFF                          STATUS     TO               UNTIL
"#;
    let row = format!("{handoff} offered    bob              2026-08-05T00:00:00Z\n");
    let line = "exec state team/alpha --now 2026-08-04T11:22:33Z";
    repo.mk(line).success().stdout(table.to_owned() + &row).stderr("");
    let read = called(&mut repo, query("state.read", goal));
    assert_eq!(repo.json(line)["result"], read["result"]);
    // Without a time, that of the machine: the lease lapsed long ago.
    let shown = repo.mk("exec state team/alpha").success();
    let shown = String::from_utf8(shown.get_output().stdout.clone()).unwrap();
    assert!(shown.contains("repair (stale_lease_detected)"), "{shown}");
    assert!(!shown.contains("LEASED"), "{shown}");
    let refused = repo.mk("exec state Team --json").code(1);
    let refused: serde_json::Value = serde_json::from_slice(&refused.get_output().stdout).unwrap();
    assert_eq!(refused["error"]["code"], "E_PATTERN");
}

#[test]
fn every_command_says_that_a_log_waits_to_be_imported() {
    let repo = Sandbox::empty();
    fs::create_dir_all(repo.path("base/.memkraft/execution")).unwrap();
    repo.write("base/.memkraft/execution/events.jsonl", "{\"a\":1}\n");
    repo.write("read", query("state.read", r#"{"goal_id":"team/alpha"}"#) + "\n");
    repo.write("both", query("describe", "{}") + "\n" + &goal_declared(1) + "\n");
    let says_so = |repo: &Sandbox| {
        repo.session(
            r#"
            $ mk exec call --base-dir base < read | cut -c1-40
            {"error":{"class":"io","code":"E_STORE_I
            ! fatal: the log of MemKraft in 'base/.memkraft/execution/events.jsonl' is not imported
            ! hint: mk exec import 'base' --base-dir 'base'
            $ mk exec call --batch --base-dir base < both | cut -c1-40
            {"mkep":"0","ok":true,"op":"describe","o
            {"error":{"class":"io","code":"E_STORE_I
            ! fatal: the log of MemKraft in 'base/.memkraft/execution/events.jsonl' is not imported
            ! hint: mk exec import 'base' --base-dir 'base'
            $ mk exec state team/alpha --base-dir base
            ! fatal: the log of MemKraft in 'base/.memkraft/execution/events.jsonl' is not imported
            ! hint: mk exec import 'base' --base-dir 'base'
            [128]
            $ mk exec log --base-dir base
            ! fatal: the log of MemKraft in 'base/.memkraft/execution/events.jsonl' is not imported
            ! hint: mk exec import 'base' --base-dir 'base'
            [128]
            $ mk exec export out --base-dir base
            ! fatal: the log of MemKraft in 'base/.memkraft/execution/events.jsonl' is not imported
            ! hint: mk exec import 'base' --base-dir 'base'
            [128]
            $ ls
            base
            both
            read
            "#,
        );
    };
    says_so(&repo);
    assert!(!repo.path("base/.mk").exists());
    repo.mk("exec import base --base-dir base").success();
    repo.mk("exec log --base-dir base").success().stdout("     0 - - - \n");
    // And again when it has grown.
    repo.write("base/.memkraft/execution/events.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    says_so(&repo);
    repo.mk("exec import base --base-dir base").success();
    repo.mk("exec call --batch --base-dir base").success();
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

#[test]
fn an_answer_that_cannot_be_written_is_70_and_says_whether_it_was_done() {
    let mut repo = Sandbox::new();
    let told = |done: &str| {
        format!(
            "fatal: {done}cannot write the answer: No space left on device (os error 28)\n\
             hint: ask the same again: what is done is not done twice\n"
        )
    };
    let (done, none) = (told("it is done and stored, but "), told(""));
    let declared = goal_declared(1);
    repo.input = declared.clone().into();
    repo.sh("mk exec call >/dev/full").code(70).stderr(done.clone());
    repo.sh("mk exec call | grep -o already_applied").success().stdout("already_applied\n");
    repo.sh("mk exec call >/dev/full").code(70).stderr(none.clone());
    repo.input = "{}\n".into();
    repo.sh("mk exec call >/dev/full").code(70).stderr(none.clone());
    repo.sh("mk exec call --batch >/dev/full").code(70).stderr(none.clone());
    repo.input = format!("{declared}\n").into();
    repo.sh("mk exec call --batch >/dev/full").code(70).stderr(none.clone());
    repo.input = format!("{}\n", gate_declared(2, "build")).into();
    repo.sh("mk exec call --batch >/dev/full").code(70).stderr(done);
    repo.sh("mk exec log >/dev/full").code(70).stderr(none);
}
