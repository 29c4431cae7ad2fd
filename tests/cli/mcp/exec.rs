//! The queries of the execution protocol: docs/spec/mkep.md, section 23.

use serde_json::{Value, json};

use super::client::{Client, error_of};
use crate::exec::{call, called, gate_declared, goal_declared, leased};
use crate::sandbox::Sandbox;

const ID: &str = "0123456789abcdef0123456789abcdef";

fn asked(op: &str, target: Value, args: Value) -> Value {
    json!({ "request_id": ID, "op": op, "target": target, "args": args })
}

/// A goal with `gates` gates, and a lease on a scope whose name is no key of MKCJSON.
fn goal(gates: u32) -> Sandbox {
    let mut repo = Sandbox::new();
    repo.mk("init").success();
    called(&mut repo, goal_declared(1));
    for number in 0..gates {
        called(&mut repo, gate_declared(2 + number, &format!("gate-{number}")));
    }
    called(&mut repo, leased(99, "a-b", "w1"));
    repo
}

/// The response in a result, whose text and structure are the same.
fn response(result: &Value) -> Value {
    let blocks = result["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 1, "{result}");
    let text: Value = serde_json::from_str(blocks[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert_eq!(result["isError"], text["ok"] == false);
    text
}

#[test]
fn a_query_is_answered_as_on_the_command_line_whatever_the_answer_is() {
    let mut repo = goal(40);
    let mut client = Client::open(&repo, &["--tools", "exec", "--max-tokens", "256"]);
    let goal = json!({ "goal_id": "team/alpha" });
    let handoff = json!({ "goal_id": "team/alpha", "handoff_id": "0".repeat(32) });
    for (arguments, is_refused) in [
        (asked("state.read", goal.clone(), json!({})), false),
        (asked("state.read", goal.clone(), json!({ "include": ["leases"] })), false),
        (asked("state.read", goal.clone(), json!({ "include": ["all"] })), true),
        (asked("state.read", json!({}), json!({})), true),
        (asked("state.read", json!({ "goal_id": "No/Goal" }), json!({})), true),
        (asked("assess.run", goal.clone(), json!({})), false),
        (asked("assess.run", json!({ "goal_id": "team/none" }), json!({})), true),
        (asked("handoff.export", handoff, json!({})), true),
    ] {
        let answer = response(&client.call("mk_exec_query", arguments.clone()));
        let mut request = arguments;
        request["mkep"] = "0".into();
        request["kind"] = "query".into();
        request["now"] = "2026-11-30T10:00:00.000000Z".into();
        let (printed, status) = call(&mut repo, request.to_string());
        assert_eq!(answer, printed);
        assert_eq!(status != 0, is_refused, "{printed}");
    }
    let answer = response(&client.call("mk_exec_describe", json!({ "request_id": ID })));
    let request = json!({
        "mkep": "0", "kind": "query", "op": "describe", "request_id": ID, "target": {}, "args": {},
    });
    assert_eq!(answer, call(&mut repo, request.to_string()).0);
    assert_eq!(answer["result"]["transports"], json!(["cli", "mcp"]));
    client.close_quietly();
}

#[test]
fn the_clock_is_the_servers_and_a_digest_notices_a_change() {
    let repo = goal(1);
    let mut client = Client::open(&repo, &["--tools", "exec"]);
    let mut arguments = asked("state.read", json!({ "goal_id": "team/alpha" }), json!({}));
    let without = response(&client.call("mk_exec_query", arguments.clone()));
    assert_eq!(without["result"]["evaluated_at"], "2026-11-30T10:00:00Z");
    arguments["now"] = "2030-01-01T00:00:00Z".into();
    assert_eq!(response(&client.call("mk_exec_query", arguments.clone())), without);
    let described = response(&client.call("mk_exec_describe", json!({ "request_id": ID })));
    arguments["capabilities_digest"] = described["result"]["capabilities_digest"].clone();
    assert_eq!(response(&client.call("mk_exec_query", arguments.clone()))["ok"], true);
    arguments["capabilities_digest"] = "0".repeat(64).into();
    let drift = response(&client.call("mk_exec_query", arguments));
    assert_eq!(drift["error"]["code"], "E_CAPABILITY_DRIFT");
    client.close_quietly();
}

#[test]
fn a_store_that_others_keep_to_themselves_is_busy() {
    let repo = goal(1);
    let other = rusqlite::Connection::open(repo.store().join("mk.db")).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let mut client = Client::open(&repo, &["--tools", "exec"]);
    let arguments = asked("state.read", json!({ "goal_id": "team/alpha" }), json!({}));
    let busy = response(&client.call("mk_exec_query", arguments.clone()));
    assert_eq!(busy["error"]["code"], "E_STORE_BUSY", "{busy}");
    assert_eq!(busy["error"]["retryable"], true);
    drop(other);
    assert_eq!(response(&client.call("mk_exec_query", arguments))["ok"], true);
    let (_, _, stderr) = client.close();
    assert!(
        stderr.starts_with("mk mcp: warn: another process holds a lock on the store"),
        "{stderr}"
    );
}

#[test]
fn no_operation_that_writes_can_be_reached() {
    let repo = goal(1);
    let before = repo.mk("exec log --json").success().get_output().stdout.clone();
    let mut client = Client::open(&repo, &["--tools", "exec"]);
    let described = response(&client.call("mk_exec_describe", json!({ "request_id": ID })));
    let asks = ["state.read", "assess.run", "handoff.export"];
    let ops = described["result"]["ops"].as_array().unwrap();
    for op in ops.iter().map(|op| op.as_str().unwrap()).filter(|op| !asks.contains(op)) {
        let target = json!({ "goal_id": "team/alpha", "scope_key": "x", "gate_id": "gate-0" });
        let answer = response(&client.call("mk_exec_query", asked(op, target, json!({}))));
        assert_eq!(answer["error"]["code"], "E_UNKNOWN_OP", "{op}");
        assert_eq!(answer["op"], op);
    }
    // What is not of the form of a call is no request.
    for (wrong, code) in [
        (json!({ "request_id": ID, "op": "state.read", "target": {} }), "invalid-argument"),
        (
            json!({ "request_id": 1, "op": "state.read", "target": {}, "args": {} }),
            "invalid-argument",
        ),
        (asked("state.read", json!([1]), json!({})), "invalid-argument"),
        (json!({ "kind": "apply", "request_id": ID }), "unknown-member"),
    ] {
        let result = client.call("mk_exec_query", wrong);
        assert_eq!(result["isError"], true);
        assert_eq!(error_of(&result)["code"], code);
    }
    client.close_quietly();
    let after = repo.mk("exec log --json").success().get_output().stdout.clone();
    assert_eq!(before, after);
}

#[test]
fn memkraft_s_names_are_served_alone_and_answer_the_same() {
    let repo = goal(2);
    let mut ours = Client::open(&repo, &["--tools", "exec"]);
    let mut theirs = Client::open(&repo, &["--compat", "memkraft"]);
    let listed = theirs.request("tools/list", json!({}))["result"]["tools"].take();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["memkraft_execution_describe", "memkraft_execution_query"]);
    let query = &listed[1];
    assert_eq!(query["annotations"]["readOnlyHint"], true);
    assert!(query["description"].as_str().unwrap().contains("Advice authorises nothing"));
    let schema = &query["inputSchema"];
    assert_eq!(schema["required"], json!(["request_id", "op", "target", "args"]));
    assert_eq!(
        schema["properties"]["op"]["enum"],
        json!(["state.read", "assess.run", "handoff.export"])
    );
    let goal = json!({ "goal_id": "team/alpha" });
    for (our_name, their_name, arguments) in [
        ("mk_exec_query", "memkraft_execution_query", asked("state.read", goal.clone(), json!({}))),
        ("mk_exec_query", "memkraft_execution_query", asked("assess.run", goal.clone(), json!({}))),
        ("mk_exec_query", "memkraft_execution_query", asked("lease.acquire", goal, json!({}))),
        ("mk_exec_describe", "memkraft_execution_describe", json!({ "request_id": ID })),
    ] {
        let their_answer = response(&theirs.call(their_name, arguments.clone()));
        let our_answer = response(&ours.call(our_name, arguments));
        assert_eq!(their_answer, our_answer);
    }
    // What breaks the schema is refused in plain text.
    assert_eq!(
        theirs.refusal("memkraft_execution_describe", json!({}))["code"],
        "invalid-argument"
    );
    for client in [ours, theirs] {
        client.close_quietly();
    }
}
