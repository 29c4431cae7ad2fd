//! Calls that wait: their turn, their end, and that nothing else waits for them.

use serde_json::{Value, json};

use super::client::{Client, error_of};
use crate::sandbox::Sandbox;

fn acquire(client: &mut Client, resource: &str, wait_s: u64, token: &str) -> i64 {
    let arguments = json!({ "resources": [resource], "ttl_s": 60, "wait_s": wait_s });
    let meta = json!({ "progressToken": token });
    let params = json!({ "name": "mk_lease_acquire", "arguments": arguments, "_meta": meta });
    client.ask("tools/call", params)
}

fn cancel(client: &mut Client, id: i64) {
    let params = json!({ "requestId": id, "reason": "enough" });
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
}

#[test]
fn who_waits_gets_the_lease_when_it_is_given_back_and_others_are_served_meanwhile() {
    let repo = Sandbox::new();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let mut bob = Client::open(&repo, &["--agent", "bob"]);
    ann.report("mk_lease_acquire", json!({ "resources": ["a.rs"], "ttl_s": 60 }));
    let wait = acquire(&mut bob, "a.rs", 50, "p");
    let told = bob.await_message(|it| it["method"] == "notifications/progress");
    assert_eq!(told["params"], json!({ "progressToken": "p", "progress": 1 }));
    bob.report("mk_note", json!({ "note": "meanwhile" }));
    let renewed = bob.refusal("mk_lease_acquire", json!({ "resources": ["a.rs"] }));
    assert_eq!(renewed["code"], "lease-held");
    ann.report("mk_lease_release", json!({ "resource": "a.rs", "token": 1 }));
    let answer = bob.answer(wait);
    let lease = &answer["result"]["structuredContent"]["leases"][0];
    assert_eq!(lease["fencing_token"], 2, "{answer}");
    let late: Vec<Value> = bob.rest();
    assert!(late.iter().all(|it| it["params"]["progressToken"] == "p"), "{late:?}");
    ann.close_quietly();
    bob.close_quietly();
}

#[test]
fn a_wait_that_is_cancelled_is_not_answered_and_leaves_the_line() {
    let repo = Sandbox::new();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let mut bob = Client::open(&repo, &["--agent", "bob"]);
    ann.report("mk_lease_acquire", json!({ "resources": ["a.rs"], "ttl_s": 60 }));
    let wait = acquire(&mut bob, "a.rs", 50, "p");
    bob.await_message(|it| it["method"] == "notifications/progress");
    cancel(&mut bob, wait);
    ann.report("mk_lease_release", json!({ "resource": "a.rs", "token": 1 }));
    // Its id can be used again, and nobody is before ann.
    let ids: Vec<i64> = (0..3).map(|_| bob.ask("ping", json!({}))).collect();
    ids.into_iter().for_each(|id| drop(bob.answer(id)));
    let again = ann.report("mk_lease_acquire", json!({ "resources": ["a.rs"], "wait_s": 5 }));
    assert_eq!(again["leases"][0]["fencing_token"], 2);
    bob.rest();
    bob.close_quietly();
    ann.close_quietly();
}

#[test]
fn the_end_of_input_ends_waits_with_an_answer() {
    let repo = Sandbox::new();
    repo.mk("--agent ann lease acquire a.rs").success();
    let mut bob = Client::open(&repo, &["--agent", "bob"]);
    let wait = acquire(&mut bob, "a.rs", 50, "p");
    bob.await_message(|it| it["method"] == "notifications/progress");
    let (status, rest, stderr) = bob.close();
    assert!(status.success() && stderr.is_empty(), "{stderr}");
    let answer = rest.iter().find(|it| it["id"] == wait).unwrap();
    assert_eq!(error_of(&answer["result"])["code"], "lease-held");
}

#[test]
fn sixty_waits_at_once_leave_room_for_others() {
    let repo = Sandbox::new();
    repo.mk("--agent ann lease acquire a/ --ttl 3600").success();
    let mut bob = Client::open(&repo, &["--agent", "bob"]);
    let waits: Vec<i64> = (0..64).map(|n| acquire(&mut bob, &format!("a/{n}"), 50, "p")).collect();
    bob.report("mk_note", json!({ "note": "still served" }));
    waits.into_iter().for_each(|id| cancel(&mut bob, id));
    bob.report("mk_log", json!({}));
    let (status, _, stderr) = bob.close();
    assert!(status.success() && stderr.is_empty(), "{stderr}");
}

#[test]
fn more_requests_than_can_be_in_line_are_refused_as_busy_and_none_is_lost() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    let ids: Vec<i64> = (0..3_000)
        .map(|n| {
            let params = json!({ "name": "mk_note", "arguments": { "note": format!("n{n}") } });
            client.ask("tools/call", params)
        })
        .collect();
    let mut done = 0;
    for id in ids {
        let result = client.answer(id)["result"].clone();
        match result["isError"] == true {
            true => assert_eq!(error_of(&result)["code"], "busy"),
            false => done += 1,
        }
    }
    assert!(done >= 1_000, "{done}");
    client.close_quietly();
    repo.mk("config gc.auto").code(1);
    let notes = repo.mk("rev-list main --lineage --type AGENT_SCRATCHPAD").success();
    let notes = String::from_utf8(notes.get_output().stdout.clone()).unwrap();
    assert_eq!(notes.lines().count(), done);
}

#[test]
fn a_bug_in_one_call_is_told_and_the_server_goes_on() {
    let mut repo = Sandbox::new();
    repo.set("MK_MCP_PANIC", "mk_show");
    let mut client = Client::open(&repo, &[]);
    client.report("mk_note", json!({ "note": "a" }));
    for _ in 0..10 {
        let params = json!({ "name": "mk_show", "arguments": { "event": "1" } });
        let answer = client.request("tools/call", params);
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
    client.report("mk_log", json!({}));
    let (status, rest, stderr) = client.close();
    assert!(status.success() && rest.is_empty());
    assert!(
        stderr.starts_with("mk mcp: error: a fault in mk itself, please report it: "),
        "{stderr}"
    );
}

fn watch(client: &mut Client, after: &Value, wait_s: u64) -> i64 {
    let arguments = json!({ "after": after, "wait_s": wait_s });
    let meta = json!({ "progressToken": "w" });
    let params = json!({ "name": "mk_watch", "arguments": arguments, "_meta": meta });
    client.ask("tools/call", params)
}

#[test]
fn who_watches_is_told_of_what_lands_and_can_go_on_from_there() {
    let repo = Sandbox::new();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let mut bob = Client::open(&repo, &["--agent", "bob", "--tools", "all", "--no-news"]);
    let first = ann.report("mk_note", json!({ "note": "first" }))["event_id"].clone();
    let asked = watch(&mut bob, &first, 50);
    bob.await_message(|it| it["method"] == "notifications/progress");
    let second = ann.report("mk_note", json!({ "note": "second" }))["event_id"].clone();
    let answer = bob.answer(asked)["result"]["structuredContent"].clone();
    assert_eq!(answer["branch_id"], "main");
    assert_eq!(answer["next"], json!({ "after": second }));
    let events = answer["events"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{answer}");
    assert_eq!(events[0]["event_id"], second);
    assert_eq!(events[0]["text"], "second");
    let error = bob.refusal("mk_watch", json!({ "after": second, "wait_s": 0 }));
    assert_eq!((&error["code"], &error["retryable"]), (&"timeout".into(), &true.into()));
    // What does not fit comes with the next call.
    for n in 0..40 {
        ann.report("mk_note", json!({ "note": format!("{n} {}", "word ".repeat(20)) }));
    }
    let (mut after, mut seen) = (second, 0);
    while seen < 40 {
        let ask = json!({ "after": after, "wait_s": 0, "max_tokens": 400 });
        let page = bob.report("mk_watch", ask);
        for event in page["events"].as_array().unwrap() {
            assert!(event["text"].as_str().unwrap().starts_with(&format!("{seen} ")), "{page}");
            seen += 1;
        }
        assert!(page.get("omitted").is_none() && page.get("cut").is_none(), "{page}");
        after = page["next"]["after"].clone();
    }
    bob.rest();
    ann.close_quietly();
    bob.close_quietly();
}

#[test]
fn a_watch_ends_with_the_input() {
    let repo = Sandbox::new();
    let mut bob = Client::open(&repo, &["--tools", "all"]);
    let note = bob.report("mk_note", json!({ "note": "last" }));
    let asked = watch(&mut bob, &note["event_id"], 50);
    bob.await_message(|it| it["method"] == "notifications/progress");
    let (status, rest, stderr) = bob.close();
    assert!(status.success() && stderr.is_empty(), "{stderr}");
    let answer = rest.iter().find(|it| it["id"] == asked).unwrap();
    assert_eq!(error_of(&answer["result"])["code"], "timeout");
}
