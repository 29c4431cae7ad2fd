//! What agents learn of each other without asking, and who they are.

use mk::tokens::Tokenizer;
use serde_json::{Value, json};

use super::client::Client;
use crate::sandbox::Sandbox;

fn lines(report: &Value) -> Vec<String> {
    let lines = report["news"]["latest"].as_array().into_iter().flatten();
    let agent = |line: &Value| line["agent_id"].as_str().unwrap().to_owned();
    lines.map(|line| format!("{}: {}", agent(line), line["text"].as_str().unwrap())).collect()
}

#[test]
fn each_answer_tells_what_others_did_and_tells_it_once() {
    let repo = Sandbox::new();
    repo.mk("--agent old note before").success();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let mut bob = Client::open(&repo, &["--agent", "bob"]);
    let own = ann.report("mk_note", json!({ "note": "one" }));
    assert_eq!(own.get("news"), None, "{own}");
    ann.report("mk_decide", json!({ "key": "db", "value": "sqlite" }));
    ann.report("mk_note", json!({ "note": "two" }));
    let report = bob.report("mk_note", json!({ "note": "mine" }));
    assert_eq!(report["news"]["count"], 3);
    assert_eq!(
        lines(&report),
        [
            "ann: ARCHITECTURAL_DECISION db = sqlite",
            "ann: AGENT_SCRATCHPAD two",
            "ann: AGENT_SCRATCHPAD one",
        ]
    );
    assert_eq!(bob.report("mk_log", json!({})).get("news"), None);
    assert_eq!(lines(&ann.report("mk_log", json!({}))), ["bob: AGENT_SCRATCHPAD mine"]);
    // Another session of the same agent is another.
    let mut twin = Client::open(&repo, &["--agent", "ann"]);
    twin.report("mk_note", json!({ "note": "twin" }));
    assert_eq!(lines(&ann.report("mk_log", json!({}))), ["ann: AGENT_SCRATCHPAD twin"]);
    // The agent itself in a shell is not.
    repo.mk("--agent ann note shell").success();
    assert_eq!(ann.report("mk_log", json!({})).get("news"), None);
    // On another branch nothing happened.
    ann.report("mk_fork", json!({ "name": "side", "switch": true }));
    bob.report("mk_note", json!({ "note": "on main" }));
    assert_eq!(ann.report("mk_log", json!({})).get("news"), None);
    for client in [ann, bob, twin] {
        client.close_quietly();
    }
}

#[test]
fn much_news_is_counted_and_little_of_it_told() {
    let repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    ann.report("mk_note", json!({ "note": "mine" }));
    let notes: String =
        (0..700).map(|n| format!(r#"{{"payload":{{"note":"n{n}"}}}}{}"#, "\n")).collect();
    repo.write("notes", notes);
    repo.sh("mk --agent bob append --batch <notes").success();
    repo.mk("--agent bob fork deep --switch").success();
    repo.sh("mk --agent bob append --batch <notes").success();
    let report = ann.report("mk_log", json!({ "limit": 1, "branch": "deep" }));
    assert_eq!(report["news"]["count"], 1_401);
    assert_eq!(lines(&report).len(), 5);
    assert_eq!(report["news"]["more"], "mk_log after=1");
    ann.close_quietly();
    let mut quiet = Client::open(&repo, &["--agent", "cid", "--no-news"]);
    repo.mk("--agent bob note more").success();
    assert_eq!(quiet.report("mk_log", json!({ "limit": 1 })).get("news"), None);
    quiet.close_quietly();
}

#[test]
fn leases_that_run_out_are_told_to_their_holder() {
    let mut repo = Sandbox::new();
    repo.set("MK_SESSION", "s");
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    ann.report("mk_lease_acquire", json!({ "resources": ["a.rs"], "ttl_s": 60 }));
    assert_eq!(ann.report("mk_log", json!({})).get("news"), None);
    ann.close_quietly();
    repo.now_ms += 45_000;
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let news = ann.report("mk_log", json!({}))["news"].clone();
    let expiring = json!([{ "resource": "a.rs", "expires_in_s": 15.0 }]);
    assert_eq!(news["leases_expiring"], expiring, "{news}");
    ann.close_quietly();
}

#[test]
fn an_agent_is_who_the_options_the_settings_or_the_client_say() {
    let mut repo = Sandbox::new();
    let agent = |repo: &Sandbox, args: &[&str], name: &str| {
        let mut client = Client::named(repo, args, name);
        let report = client.report("mk_note", json!({ "note": "who?" }));
        client.close_quietly();
        report["agent_id"].as_str().unwrap().to_owned()
    };
    assert_eq!(agent(&repo, &[], "codex-mcp-client"), "codex");
    assert_eq!(agent(&repo, &[], "My Client"), "My-Client");
    assert_eq!(agent(&repo, &["--agent", "ann"], "x"), "ann");
    repo.mk("config agent.id cid").success();
    assert_eq!(agent(&repo, &[], "x"), "cid");
    repo.set("MK_AGENT", "bob");
    assert_eq!(agent(&repo, &[], "x"), "bob");
}

#[test]
fn a_session_is_the_one_that_the_request_names_else_of_the_environment_else_of_the_process() {
    let mut repo = Sandbox::new();
    let acquire = |client: &mut Client, meta: Value| {
        let arguments = json!({ "resources": ["a.rs"] });
        let params = json!({ "name": "mk_lease_acquire", "arguments": arguments, "_meta": meta });
        client.request("tools/call", params)["result"].clone()
    };
    let mut one = Client::open(&repo, &["--agent", "ann"]);
    let mut two = Client::open(&repo, &["--agent", "ann"]);
    assert_eq!(acquire(&mut one, json!({}))["isError"], false);
    let again = acquire(&mut one, json!({}));
    assert_eq!(again["structuredContent"]["leases"][0]["renewed"], true);
    // The same agent, but another process.
    let refused = two.refusal("mk_lease_acquire", json!({ "resources": ["a.rs"] }));
    assert_eq!(refused["code"], "lease-held");
    assert_eq!(
        refused["hint"],
        "if that session has ended, it lapses by itself: call mk_lease_acquire with wait_s"
    );
    // The request names its session.
    let codex = json!({ "sessionId": "s-1", "threadId": "t", "callId": "c-7" });
    assert_eq!(acquire(&mut two, codex.clone())["isError"], true);
    one.report("mk_lease_release", json!({ "resource": "a.rs", "token": 1 }));
    assert_eq!(acquire(&mut two, codex.clone())["isError"], false);
    let renewed = acquire(&mut one, codex);
    assert_eq!(renewed["structuredContent"]["leases"][0]["renewed"], true, "{renewed}");
    let event = repo.json("show 3")["events"][0].clone();
    assert_eq!(event["metadata"]["tool_use_id"], "c-7");
    assert_eq!(event["metadata"]["client"], json!({ "name": "test", "version": "1" }));
    one.close_quietly();
    two.close_quietly();
    // A shell of the same session holds what the server holds.
    repo.set("MK_SESSION", "s-1");
    let again = repo.json("--agent ann lease acquire a.rs");
    assert_eq!(again["leases"][0]["renewed"], true, "{again}");
}

#[test]
fn news_leaves_room_for_what_was_asked() {
    let repo = Sandbox::new();
    let mut ann = Client::open(&repo, &["--agent", "ann", "--max-tokens", "256"]);
    for n in 0..8 {
        let value = "日本語テキスト".repeat(40);
        repo.mk(&format!("--agent bob decide key{n} {value}")).success();
    }
    let report = ann.report("mk_context", json!({}));
    let tokens = Tokenizer::Estimate.count(&report.to_string());
    assert!(tokens <= 256, "{tokens}: {report}");
    assert_eq!(report["news"]["count"], 8);
    assert!(report["news"]["more"].as_str().unwrap().starts_with("mk_log after="), "{report}");
    assert!(report["text"].as_str().unwrap().len() > 100, "{report}");
    ann.close_quietly();
}

#[test]
fn calls_at_once_are_told_nothing_twice() {
    let repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let mut told = 0;
    for round in 0..20 {
        repo.mk(&format!("--agent bob note n{round}")).success();
        let asked: Vec<i64> = (0..6)
            .map(|_| ann.ask("tools/call", json!({ "name": "mk_log", "arguments": {} })))
            .collect();
        for id in asked {
            let answer = ann.answer(id);
            let news = &answer["result"]["structuredContent"]["news"];
            told += news["count"].as_u64().unwrap_or(0);
        }
    }
    assert_eq!(told, 20);
    ann.close_quietly();
}
