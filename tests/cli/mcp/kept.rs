//! An answer that is given again is the one that would come out anew.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::client::Client;
use crate::sandbox::Sandbox;

/// What the client reads, asked for twice.
#[track_caller]
fn context(client: &mut Client) -> String {
    let mut read = || {
        let report = client.report("mk_context", json!({}));
        report["text"].as_str().expect("a text").to_owned()
    };
    let text = read();
    assert_eq!(read(), text);
    text
}

#[test]
fn whatever_another_process_writes_is_in_the_next_answer() {
    let repo = Sandbox::new();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    assert!(!context(&mut ann).contains("sqlite"));
    repo.mk("--agent bob decide db sqlite").success();
    assert!(context(&mut ann).contains("DECISION db = sqlite"));
    repo.mk("--agent bob retract decision db").success();
    assert!(!context(&mut ann).contains("DECISION db"));
    repo.mk("--agent bob note gone-soon").success();
    assert!(context(&mut ann).contains("gone-soon"));
    repo.mk("--agent bob erase main -m wrong").success();
    assert!(!context(&mut ann).contains("gone-soon"));
    repo.mk("backup saved.db").success();
    repo.mk("--agent bob note only-here").success();
    assert!(context(&mut ann).contains("only-here"));
    repo.mk("restore saved.db --force").success();
    assert!(!context(&mut ann).contains("only-here"));
    // Of the erased event it is told on stderr.
    ann.close();
}

#[test]
fn each_branch_budget_and_session_has_answers_of_its_own() {
    let repo = Sandbox::new();
    repo.mk("--agent bob decide db sqlite").success();
    repo.mk("--agent bob fork side").success();
    repo.mk("--agent bob --branch side decide db postgres").success();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let mut eve = Client::open(&repo, &["--agent", "eve"]);
    for _ in 0..2 {
        for (is_eve, branch, value) in
            [(false, "main", "sqlite"), (false, "side", "postgres"), (true, "main", "sqlite")]
        {
            let client = if is_eve { &mut eve } else { &mut ann };
            let report = client.report("mk_context", json!({ "branch": branch }));
            let text = report["text"].as_str().unwrap();
            assert!(text.contains(&format!("DECISION db = {value}")), "{text}");
            let report = client.report("mk_context", json!({ "branch": branch, "budget": 100 }));
            assert_eq!(report["budget"], 100);
        }
    }
    ann.report("mk_switch", json!({ "branch": "side" }));
    assert!(context(&mut ann).contains("DECISION db = postgres"));
    for client in [ann, eve] {
        client.close_quietly();
    }
}

#[test]
fn what_runs_out_is_in_no_answer_afterwards() {
    let mut repo = Sandbox::new();
    repo.set("MK_LEASE_DATE", "");
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    context(&mut ann);
    repo.mk("--agent bob lease acquire a.rs --ttl 1").success();
    let held = |client: &mut Client| {
        let report = client.report("mk_context", json!({}));
        report["text"].as_str().unwrap().contains("held")
    };
    let mut looks = 0;
    while held(&mut ann) {
        looks += 1;
        assert!(looks < 600, "it is told of for ever");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(looks > 0);
    ann.close_quietly();
}

#[test]
fn a_store_that_is_gone_is_told_of_and_not_read_from_memory() {
    let repo = Sandbox::new();
    repo.mk("--agent bob decide db sqlite").success();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    assert!(context(&mut ann).contains("sqlite"));
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(repo.path(&format!(".mk/mk.db{suffix}"))).unwrap();
    }
    assert_eq!(ann.refusal("mk_context", json!({}))["code"], "store-missing");
    ann.close_quietly();
}
