//! `mk mcp --compat memkernel`: the tools of MemKernel, as its server was recorded.
//!
//! How the cases are laid out and compared: tests/cases/kernel/README.md.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::client::Client;
use crate::sandbox::Sandbox;

const CONVERSATION: &str = include_str!("../../cases/kernel/mcp/conversation.jsonl");
const TOOLS: &str = include_str!("../../cases/kernel/mcp/tools.json");

/// Stands in the recorded answers where the value is not compared.
const ANY: &str = "$any";

/// Where `mk` is meant to answer otherwise.
struct Difference {
    /// What it does instead, and the rule for that.
    why: &'static str,
    /// The lines that show it.
    lines: &'static [i64],
    /// Turns the answer of the peer into that of `mk`.
    make: fn(&mut Value),
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        why: "main is made by who makes the project, and says so: docs/design.md, section 4",
        lines: &[40, 47, 74],
        make: |answer| answer["branches"][0]["created_by"] = "me".into(),
    },
    Difference {
        why: "the summarizer that is built in is called so: docs/compaction.md",
        lines: &[48, 49],
        make: |answer| answer["summarizer"] = "built-in".into(),
    },
    Difference {
        why: "snapshots are made by an agent of mk: docs/design.md, section 10",
        lines: &[82],
        make: |answer| answer["ahead_a"][1]["agent_id"] = "mk-gc".into(),
    },
];

/// A project whose tokens are counted as the peer counts them.
fn project() -> Sandbox {
    let repo = Sandbox::empty();
    repo.mk("init --tokenizer heuristic").success();
    repo
}

fn open(repo: &Sandbox, args: &[&str]) -> Client {
    Client::open(repo, &[&["--compat", "memkernel"], args].concat())
}

/// Where `actual` differs from what was recorded.
fn difference(path: &str, expected: &Value, actual: &Value, is_top: bool) -> Option<String> {
    let differs = || Some(format!("{path} is {actual}, not {expected}"));
    match (expected, actual) {
        (Value::String(text), _) if text == ANY => None,
        (Value::String(text), Value::String(actual)) if text.contains(ANY) => {
            let mut rest = actual.as_str();
            let found = text.split(ANY).all(|piece| match rest.find(piece) {
                Some(at) => {
                    rest = &rest[at + piece.len()..];
                    true
                }
                None => false,
            });
            if found { None } else { differs() }
        }
        (Value::Object(expected), Value::Object(actual)) => {
            if let Some(more) = actual.keys().find(|name| !is_top && !expected.contains_key(*name))
            {
                return Some(format!("{path}.{more} is not of the peer"));
            }
            expected.iter().find_map(|(name, expected)| {
                let path = format!("{path}.{name}");
                match actual.get(name) {
                    None => Some(format!("{path} is missing")),
                    Some(actual) => difference(&path, expected, actual, false),
                }
            })
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            let mut pairs = expected.iter().zip(actual).enumerate();
            pairs.find_map(|(at, (expected, actual))| {
                difference(&format!("{path}[{at}]"), expected, actual, false)
            })
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (expected, actual) if expected == actual => None,
        _ => differs(),
    }
}

/// What a result says: the object that its text is; where it is a value, that.
fn said(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap();
    let structured = &result["structuredContent"];
    match structured.get("result") {
        Some(Value::String(quoted)) => {
            assert_eq!(quoted, text);
            serde_json::from_str(text).unwrap_or_else(|_| quoted.as_str().into())
        }
        Some(value) => {
            assert_eq!(text, value.to_string());
            value.clone()
        }
        None => {
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *structured);
            structured.clone()
        }
    }
}

#[test]
fn the_recorded_conversation_is_answered_as_by_the_peer() {
    let repo = project();
    let mut sessions: BTreeMap<&str, Client> = BTreeMap::new();
    let (mut token, mut notice) = (Value::Null, Value::Null);
    let mut told = Vec::new();
    for line in CONVERSATION.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let n = line["n"].as_i64().unwrap();
        let (name, args): (_, &[&str]) = match line["session"].as_str().unwrap() {
            "s1" => ("s1", &["--agent", "cursor-ide"]),
            "s2" => ("s2", &["--agent", "codex-cli"]),
            _ => ("ro", &["--agent", "observer", "--read-only"]),
        };
        let client = sessions.entry(name).or_insert_with(|| open(&repo, args));
        let mut arguments = line["arguments"].clone();
        for value in arguments.as_object_mut().unwrap().values_mut() {
            match value.as_str() {
                Some("$TOKEN") => *value = token.clone(),
                Some("$NOTICE") => *value = notice.clone(),
                _ => {}
            }
        }
        let result = client.call(line["tool"].as_str().unwrap(), arguments);
        if result["isError"] != line["is_error"] {
            told.push(format!("{n}: {result}"));
            continue;
        }
        if result["isError"] == true {
            continue;
        }
        let actual = said(&result);
        if let Some(new) = actual.get("fencing_token").filter(|new| !new.is_null()) {
            token = new.clone();
        }
        if let Some(new) = actual.get("notice_id") {
            notice = new.clone();
        }
        let mut expected = line["result"].clone();
        for it in DIFFERENCES.iter().filter(|it| it.lines.contains(&n)) {
            let found = difference("answer", &expected, &actual, true);
            assert!(found.is_some(), "{n}: no difference, yet {}", it.why);
            (it.make)(&mut expected);
        }
        told.extend(
            difference("answer", &expected, &actual, true).map(|found| format!("{n}: {found}")),
        );
    }
    assert!(told.is_empty(), "\n{}", told.join("\n"));
    for (_, client) in sessions {
        client.close_quietly();
    }
    repo.mk("verify").success();
}

#[test]
fn the_tools_are_those_of_the_peer_with_its_arguments() {
    let repo = project();
    let mut client = open(&repo, &[]);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].take();
    let listed: BTreeMap<String, Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone()))
        .collect();
    let recorded: Vec<Value> = serde_json::from_str(TOOLS).unwrap();
    assert_eq!(recorded.len(), 23);
    assert_eq!(listed.len(), recorded.len());
    for tool in recorded {
        let name = tool["tool"].as_str().unwrap();
        let listed = &listed[name];
        let schema = &listed["inputSchema"];
        let mut params = Map::new();
        for (param, of) in schema["properties"].as_object().unwrap() {
            let is_required =
                schema["required"].as_array().is_some_and(|it| it.contains(&json!(param)));
            let mut told = json!({ "type": [of["type"]], "required": is_required });
            if let Some(default) = of.get("default") {
                told["default"] = default.clone();
            }
            if let Some(items) = of.get("items") {
                told["items"] = items["type"].clone();
            }
            params.insert(param.clone(), told);
        }
        let mut expected = tool["params"].clone();
        for of in expected.as_object_mut().unwrap().values_mut() {
            // What may be null need not be given; that a type is one word keeps more clients able to
            // read it: docs/spec/mcp.md, section 4.4. Null itself is taken for nothing.
            of["type"].as_array_mut().unwrap().retain(|kind| kind != "null");
            if of["default"].is_null() {
                of.as_object_mut().unwrap().remove("default");
            }
        }
        assert_eq!(Value::Object(params), expected, "{name}");
        let result = listed["outputSchema"]["properties"].get("result");
        let result = result.map_or("object".into(), |result| result["type"].clone());
        assert_eq!(result, tool["result"], "{name}");
    }
    let null = json!({ "directive": "x", "constraints": null });
    client.report("memkernel_init_task", null);
    client.close_quietly();
}

#[test]
fn values_are_told_with_what_others_did_beside_them_and_documents_are_left_alone() {
    let repo = project();
    let mut ann = open(&repo, &["--agent", "ann"]);
    let mut bob = open(&repo, &["--agent", "bob"]);
    let note = |client: &mut Client, note: &str| {
        client.report("memkernel_note", json!({ "note": note }));
    };
    note(&mut ann, "first");
    note(&mut bob, "second");
    let grant = bob.report("memkernel_acquire_lease", json!({ "file_path": "a.rs" }));
    assert_eq!(grant["fencing_token"], 1);
    // A lease is not granted again to its holder, as by the peer.
    let again = bob.report("memkernel_acquire_lease", json!({ "file_path": "a.rs" }));
    assert_eq!((&again["acquired"], &again["holder_agent_id"]), (&json!(false), &json!("bob")));
    let which = json!({ "file_path": "a.rs", "fencing_token": 1 });
    let result = ann.call("memkernel_release_lease", which.clone());
    let blocks = result["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 2, "{result}");
    assert_eq!(blocks[0]["text"], "false");
    let beside: Value = serde_json::from_str(blocks[1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(beside["news"]["count"], 2, "{beside}");
    assert_eq!(result["structuredContent"]["result"], false);
    assert_eq!(result["structuredContent"]["news"], beside["news"]);
    // A text is a report, so it says so inside.
    for n in 0..7 {
        note(&mut bob, &format!("n{n}"));
    }
    let result = ann.call("memkernel_query_state", json!({}));
    let state: Value =
        serde_json::from_str(result["structuredContent"]["result"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&state["news"]["count"], &state["news"]["more"]),
        (&json!(7), &json!("memkernel_history"))
    );
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    // What goes to the next project is exactly the document.
    ann.report("memkernel_post_notice", json!({ "resource": "service:auth", "message": "down" }));
    note(&mut bob, "later");
    let result = ann.call("memkernel_export_notices", json!({}));
    let document = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(document).unwrap(), result["structuredContent"]);
    assert_eq!(result["structuredContent"].as_object().unwrap().len(), 2);
    let other = project();
    let mut carl = open(&other, &["--agent", "carl"]);
    let taken = json!({ "document": document });
    assert_eq!(carl.report("memkernel_import_notices", taken.clone())["changed"], 1);
    assert_eq!(carl.report("memkernel_import_notices", taken)["changed"], 0);
    for client in [ann, bob, carl] {
        client.close_quietly();
    }
}

#[test]
fn a_session_goes_on_where_it_stands_whatever_it_was_started_on() {
    let repo = project();
    repo.mk("--agent ann note one").success();
    repo.mk("--agent ann fork side").success();
    let active = |client: &mut Client| {
        client.report("memkernel_list_branches", json!({}))["active_branch"].clone()
    };
    // The store keeps it, so that the shell and the session agree.
    let mut ann = open(&repo, &["--agent", "ann"]);
    assert_eq!(active(&mut ann), "main");
    ann.call("memkernel_checkout", json!({ "branch_id": "side" }));
    repo.mk("--agent ann switch").success().stdout("side\n");
    repo.mk("--agent ann switch main").success();
    assert_eq!(active(&mut ann), "main");
    // An option says where a session begins.
    let mut bob = open(&repo, &["--agent", "bob", "--branch", "side"]);
    assert_eq!(active(&mut bob), "side");
    bob.call("memkernel_checkout", json!({ "branch_id": "main" }));
    assert_eq!(active(&mut bob), "main");
    assert_eq!(bob.report("memkernel_note", json!({ "note": "two" }))["branch_id"], "main");
    let forked = bob.call("memkernel_fork_investigation", json!({ "fork_branch_name": "try" }));
    assert_eq!(
        forked["structuredContent"]["result"],
        "Forked 'main' at event 3 into 'try'; active branch is now 'try'."
    );
    assert_eq!(active(&mut bob), "try");
    // Without a place to write it down, the session knows.
    let mut carl = open(&repo, &["--agent", "carl", "--read-only"]);
    carl.call("memkernel_checkout", json!({ "branch_id": "side" }));
    assert_eq!(active(&mut carl), "side");
    repo.mk("--agent carl switch").success().stdout("main\n");
    for client in [ann, bob, carl] {
        client.close_quietly();
    }
}

#[test]
fn a_refusal_names_the_tools_that_are_there() {
    let repo = project();
    let mut client = open(&repo, &["--agent", "ann"]);
    let refused = client.refusal("memkernel_nope", json!({}));
    assert_eq!(refused["message"], "unknown tool 'memkernel_nope', did you mean memkernel_note?");
    assert_eq!(refused["code"], "invalid-argument");
    let token = json!({ "file_path": "a", "fencing_token": "1" });
    assert_eq!(
        client.refusal("memkernel_heartbeat_lease", token)["message"],
        "'fencing_token' is '1', not the token as a number, from 1 on"
    );
    let all: Vec<(String, Value)> = vec![
        ("memkernel_checkout".into(), json!({ "branch_id": "nope" })),
        ("memkernel_rollback".into(), json!({ "target_event_id": 99 })),
        (
            "memkernel_fenced_append_decision".into(),
            json!({ "file_path": "a", "fencing_token": 1, "decision_key": "k",
                    "decision_value": "v", "rationale": "r" }),
        ),
        ("memkernel_clear_notice".into(), json!({ "notice_id": "x" })),
    ];
    for (tool, arguments) in all {
        let hint = client.refusal(&tool, arguments)["hint"].clone();
        let hint = hint.as_str().unwrap_or_default();
        assert!(!hint.contains("mk_") && !hint.contains("`mk "), "{tool}: {hint}");
    }
    assert_eq!(client.request("prompts/list", json!({}))["result"]["prompts"], json!([]));
    let prompt = client.request("prompts/get", json!({ "name": "handoff" }));
    assert_eq!(prompt["error"]["code"], -32602);
    client.close_quietly();
    let mut reader = open(&repo, &["--read-only"]);
    assert_eq!(reader.refusal("memkernel_note", json!({ "note": "x" }))["code"], "read-only");
    reader.close_quietly();
    repo.mk("mcp --compat memkernel --tools core").code(129);
    repo.mk("mcp --compat other").code(129);
}

#[test]
fn long_answers_keep_the_newest_and_say_how_much_is_left_out() {
    let repo = project();
    repo.mk("config gc.auto off").success();
    let text = "word ".repeat(100);
    let notes: String =
        (0..300).map(|n| format!("{{\"payload\":{{\"note\":\"{n} {text}\"}}}}\n")).collect();
    repo.write("notes", notes);
    repo.sh("mk append --batch < notes").success();
    let mut client = open(&repo, &["--max-tokens", "2000"]);
    let history = client.report("memkernel_history", json!({ "limit": 200 }));
    let (events, omitted) = (history["events"].as_array().unwrap(), history["omitted"].as_u64());
    assert_eq!(events.last().unwrap()["event_id"], 300);
    assert_eq!(events.len() as u64 + omitted.unwrap(), 200);
    let result = client.call("memkernel_query_state", json!({ "include_ephemeral": true }));
    let state: Value =
        serde_json::from_str(result["structuredContent"]["result"].as_str().unwrap()).unwrap();
    let recent = state["recent_events"].as_array().unwrap();
    assert!(recent.last().unwrap().as_str().unwrap().starts_with("[#300 "), "{state}");
    assert_eq!(recent.len() as u64 + state["recent_events_omitted"].as_u64().unwrap(), 300);
    client.close_quietly();
    for n in 0..20 {
        let message = format!("{n} {text}");
        repo.mk_words(&["notice", "post", "service:auth", &message]).success();
    }
    let mut client = open(&repo, &["--max-tokens", "2000"]);
    assert_eq!(client.refusal("memkernel_export_notices", json!({}))["code"], "too-large");
    let listed = client.report("memkernel_list_notices", json!({ "max_tokens": 1000 }));
    let (some, page) = (listed["notices"].as_array().unwrap(), &listed["omitted"]);
    assert_eq!(some.len() as u64 + page.as_u64().unwrap(), 20, "{listed}");
    assert_eq!(listed["next_offset"], some.len());
    let id = &some[0]["notice_id"];
    let one = client.report("memkernel_export_notices", json!({ "notice_ids": [id] }));
    assert_eq!(one["notices"][0]["notice_id"], *id);
    let none = client.report("memkernel_export_notices", json!({ "notice_ids": [] }));
    assert_eq!(none["notices"], json!([]));
    client.close_quietly();
}

#[test]
fn where_there_is_an_exchange_notices_are_published_and_answers_say_how_that_went() {
    let repo = project();
    let shared = tempfile::tempdir().unwrap();
    let folder = shared.path().display();
    repo.mk(&format!(
        "sync init sync.json --folder {folder} --workspace team --peer laptop --agents ann"
    ))
    .success();
    let mut ann = open(&repo, &["--agent", "ann"]);
    assert_eq!(ann.report("memkernel_sync_status", json!({}))["enabled"], false);
    repo.mk("sync enable sync.json").success();
    let notice = json!({ "resource": "service:auth", "message": "down" });
    let posted = ann.report("memkernel_post_notice", notice.clone());
    assert_eq!(posted["sync"], json!({ "published": true, "changed": 0, "errors": {} }));
    let published = std::fs::read_to_string(shared.path().join("laptop.json")).unwrap();
    assert!(published.contains("down"), "{published}");
    let status = ann.report("memkernel_sync_status", json!({}));
    assert_eq!((&status["enabled"], &status["peer_id"]), (&json!(true), &json!("laptop")));
    let run = ann.report("memkernel_sync_now", json!({}));
    assert_eq!(run["published"], true);
    let state = ann.report("memkernel_query_state", json!({}));
    let state: Value = serde_json::from_str(state["result"].as_str().unwrap()).unwrap();
    assert_eq!(state["sync"]["workspace_id"], "team");
    assert_eq!(state["coordination_notices"][0]["notice_id"], posted["notice_id"]);
    let document = json!({ "document": r#"{"notices":[],"schema":"memkernel.notices/v1"}"# });
    ann.refusal("memkernel_import_notices", document);
    // Without the folder the notice is there, and not out.
    std::fs::remove_dir_all(shared.path()).unwrap();
    let cleared = ann.report("memkernel_clear_notice", json!({ "notice_id": posted["notice_id"] }));
    assert!(cleared["cleared_at"].is_string(), "{cleared}");
    assert!(cleared["sync"]["error"]["code"].is_string(), "{cleared}");
    let mut bob = open(&repo, &["--agent", "bob"]);
    bob.refusal("memkernel_post_notice", notice);
    for client in [ann, bob] {
        client.close_quietly();
    }
}
