//! Logs of the reference: in, and out again.

use std::fs;

use serde_json::Value;

use super::{apply, call, called, gate_declared, goal_declared, query};
use crate::sandbox::Sandbox;

const LOG: &str = ".memkraft/execution/events.jsonl";

fn state(repo: &mut Sandbox) -> Value {
    called(repo, query("state.read", r#"{"goal_id":"team/alpha"}"#))["result"].clone()
}

/// A base of the reference: two records, a marker that hides one, damage, and a line being written.
fn base(repo: &Sandbox) {
    let record = |seq: u32, rest: &str| {
        format!(
            "{{\"schema_version\":1,\"goal_id\":\"team/alpha\",{rest},\"operation_id\":\"{seq:064x}\",\
             \"event_seq\":{seq},\"id\":\"{seq:032x}\"}}\n"
        )
    };
    let mut log = record(1, "\"record_type\":\"goal_declared\"").into_bytes();
    log.extend_from_slice(b"not json\n\xff\xfe\n\n[1]\n[1]\n");
    let gate = "\"record_type\":\"gate_declared\",\"gate_id\":\"build\",\"scope_key\":\"build\",\"required\":true";
    log.extend_from_slice(record(3, gate).as_bytes());
    log.extend_from_slice(record(2, &gate.replace("build", "test")).as_bytes());
    log.extend_from_slice(
        format!("{{\"tombstone\":true,\"tombstone_of\":\"{:032x}\",\"id\":\"aa\"}}\n", 2)
            .as_bytes(),
    );
    log.extend_from_slice(b"{\"record_type\":\"gate_de");
    fs::create_dir_all(repo.path("theirs/.memkraft/execution")).unwrap();
    repo.write(&format!("theirs/{LOG}"), log);
    repo.write("theirs/.memkraft/origin_instance_id", "7".repeat(32));
}

#[test]
fn a_log_is_imported_once_however_often_it_is_asked_for() {
    let mut repo = Sandbox::new();
    base(&repo);
    repo.session(
        r#"
        $ mk exec import theirs
        imported 4 records, 4 damaged lines (0 were here)
        the last line is not finished and was left out
        $ mk exec import theirs --json
        {"records":0,"damaged":0,"known":8,"in_flight":true}
        "#,
    );
    let read = state(&mut repo);
    assert_eq!(read["skipped"], 4);
    assert_eq!(read["execution_seq"], 3);
    // The marker hides the gate `test`.
    assert_eq!(read["gates"].as_array().unwrap().len(), 1);
    // A hidden declaration still counts under the lock.
    let (refused, _) = call(&mut repo, gate_declared(9, "test"));
    assert_eq!(refused["error"]["code"], "E_ALREADY_DECLARED");
    let next = called(&mut repo, gate_declared(10, "docs"));
    assert_eq!(next["result"]["event_seq"], 4);
    assert_eq!(state(&mut repo)["gates"].as_array().unwrap().len(), 2);
    repo.mk("verify").success();
}

#[test]
fn a_log_that_has_grown_is_imported_from_where_it_was() {
    let mut repo = Sandbox::new();
    base(&repo);
    repo.mk("exec import theirs").success();
    let mut log = fs::read(repo.path(&format!("theirs/{LOG}"))).unwrap();
    log.extend_from_slice(b"clared\"}\n[1]\n");
    repo.write(&format!("theirs/{LOG}"), log);
    let done = repo.mk("exec import theirs --json").success();
    let done: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(
        (&done["records"], &done["damaged"], &done["known"]),
        (&1.into(), &1.into(), &8.into())
    );
    assert_eq!(state(&mut repo)["skipped"], 5);
}

#[test]
fn an_export_imported_elsewhere_reads_the_same() {
    let mut repo = Sandbox::new();
    base(&repo);
    repo.mk("exec import theirs").success();
    called(&mut repo, gate_declared(10, "docs"));
    let here = state(&mut repo);
    repo.session(
        r#"
        $ mk exec export out
        wrote 9 lines to out/.memkraft/execution/events.jsonl
        $ mk exec export out
        ! fatal: cannot write 'out/.memkraft/execution/events.jsonl': it is there
        [128]
        $ cat out/.memkraft/origin_instance_id; echo
        77777777777777777777777777777777
        "#,
    );
    let mut other = Sandbox::new();
    let place = repo.path("out").display().to_string();
    other.mk(&format!("exec import '{place}'")).success();
    assert_eq!(state(&mut other), here);
    other.mk("verify").success();
}

#[test]
fn verify_names_what_is_kept_of_the_log_and_does_not_follow_from_it() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    called(&mut repo, gate_declared(2, "build"));
    called(&mut repo, super::leased(3, "build", "w1"));
    for (change, why) in [
        (
            "UPDATE exec_goal SET whole = replace(whole, 'open', 'satisfied')",
            "goal 'team/alpha': its fold is not that of its records",
        ),
        (
            "UPDATE exec_lease SET released = 1",
            "goal 'team/alpha': its leases are not those of its records",
        ),
        (
            "UPDATE exec_record SET operation_id = NULL WHERE event = 2",
            "the index of the execution log does not say what the line says",
        ),
        ("DELETE FROM exec_record WHERE event = 3", "the execution log has 3 lines, its index 2"),
        (
            "UPDATE exec_total SET highest_seq = 9",
            "the totals of the execution log are not those of its lines",
        ),
        ("DELETE FROM exec_goal", "there are records of 1 goals, and 0 are kept"),
    ] {
        let copy = Sandbox::empty();
        fs::create_dir(copy.path(".mk")).unwrap();
        for file in ["mk.db", "mk.db-wal"] {
            let _ = fs::copy(repo.store().join(file), copy.path(".mk").join(file));
        }
        let store = rusqlite::Connection::open(copy.store().join("mk.db")).unwrap();
        assert!(store.execute(change, ()).unwrap() > 0, "{change}");
        drop(store);
        let done = copy.mk("verify").code(1);
        let told = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        assert!(told.contains(why), "{change}: {told}");
    }
}

#[test]
fn a_fold_that_another_hand_wrote_is_not_believed_but_computed_anew() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    called(&mut repo, gate_declared(2, "build"));
    called(&mut repo, goal_declared(3).replace("team/alpha", "team/other"));
    let place = repo.store().join("mk.db");
    let open = || rusqlite::Connection::open(&place).unwrap();
    let row = |goal: &str| -> String {
        let sql = "SELECT whole FROM exec_goal WHERE goal = ?1";
        open().query_row(sql, [goal], |row| row.get(0)).unwrap()
    };
    let put = |whole: &str| {
        let sql = "UPDATE exec_goal SET whole = ?1 WHERE goal = 'team/alpha'";
        assert_eq!(open().execute(sql, [whole]).unwrap(), 1);
    };
    let older = row("team/alpha");
    called(&mut repo, gate_declared(4, "docs"));
    let kept = row("team/alpha");
    let (whole, log) = (state(&mut repo), row("team/other"));
    let satisfied = kept.replace("\"open\"", "\"satisfied\"");
    let unsealed = satisfied[satisfied.find('{').unwrap()..].to_owned();
    let passed = kept.replace("pending", "passed");
    for forged in [&satisfied, &unsealed, &passed, &older, &log, "", "{}", "no json"] {
        assert_ne!(forged, kept);
        put(forged);
        assert_eq!(state(&mut repo), whole, "{forged}");
        // Nothing is decided by it either.
        let target = r#"{"goal_id":"team/alpha"}"#;
        let args = r#"{"to_status":"satisfied","reason":null}"#;
        let (refused, _) = call(&mut repo, apply(9, "goal.transition", target, args, "{}"));
        assert_eq!(refused["error"]["code"], "E_INVALID_TRANSITION", "{forged}");
        assert_eq!(refused["error"]["details"]["blockers"], serde_json::json!(["build", "docs"]));
    }
    // With part of it hidden, so that there are two.
    put(&satisfied);
    called(&mut repo, gate_declared(10, "test"));
    repo.mk("verify").success();
    open().execute("DELETE FROM exec_goal", ()).unwrap();
    let before = state(&mut repo);
    assert_eq!(before["gates"].as_array().unwrap().len(), 3);
    called(&mut repo, gate_declared(11, "more"));
    called(
        &mut repo,
        gate_declared(12, "b").replace("team/alpha", "team/other").replace("\"b\"", "\"bbb\""),
    );
    repo.mk("verify").success();
}

#[test]
fn a_forged_fold_of_what_can_be_seen_is_not_believed() {
    let mut repo = Sandbox::new();
    base(&repo);
    repo.mk("exec import theirs").success();
    let whole = state(&mut repo);
    let store = rusqlite::Connection::open(repo.store().join("mk.db")).unwrap();
    let forge = |sql: &str| assert_eq!(store.execute(sql, ()).unwrap(), 1, "{sql}");
    forge("UPDATE exec_goal SET visible = replace(visible, 'pending', 'passed')");
    assert_eq!(state(&mut repo), whole);
    forge("UPDATE exec_goal SET visible = NULL");
    assert_eq!(state(&mut repo), whole);
}
