//! Recorded sessions: each line gets exactly its answer, and the server goes on.

use serde_json::{Value, json};

use super::client::{Client, error_of};
use crate::sandbox::Sandbox;

const CASES: &str = include_str!("../../cases/mcp/wire.jsonl");

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientCapabilities":{}}"#;

/// Whether `actual` has all members that `expected` has, with those values.
fn holds(expected: &Value, actual: &Value) -> bool {
    match expected {
        Value::Object(members) => members
            .iter()
            .all(|(name, value)| actual.get(name).is_some_and(|actual| holds(value, actual))),
        expected => expected == actual,
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let number = group.iter().fold(0, |number, byte| number << 6 | digit(*byte));
        let number = number << (6 * (4 - group.len()));
        bytes.extend_from_slice(&number.to_be_bytes()[1..group.len()]);
    }
    bytes
}

fn lines(case: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in case["send"].as_array().into_iter().flatten() {
        bytes.extend_from_slice(line.as_str().unwrap().as_bytes());
        bytes.push(b'\n');
    }
    for line in case["send_b64"].as_array().into_iter().flatten() {
        bytes.extend(base64(line.as_str().unwrap()));
        bytes.push(b'\n');
    }
    if let Some(line) = case["fill"]["line"].as_str() {
        let wanted = case["fill"]["bytes"].as_u64().unwrap() as usize;
        let filling = "x".repeat(wanted - (line.len() - 1));
        bytes.extend(line.replace('@', &filling).into_bytes());
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(case["tail"].as_str().unwrap_or_default().as_bytes());
    bytes
}

/// Plays a case; what differs is told.
fn play(case: &Value) -> Result<(), String> {
    let repo = Sandbox::new();
    let tools = case["tools"].as_str().unwrap_or("core");
    let mut client = Client::start(&repo, &["mcp", "--tools", tools]);
    if let Some(version) = case["handshake"].as_str() {
        client.shake_hands(version, "case");
    }
    client.write(&lines(case));
    let expected = case["expect"].as_array().unwrap();
    let mut messages: Vec<Value> = Vec::new();
    while messages.len() < expected.len() {
        messages.push(client.await_message(|_| true));
    }
    let then = case["then"].as_str().unwrap();
    match then {
        "ping" => {
            let answer = client.request("ping", json!({}));
            if answer["result"] != json!({}) {
                return Err(format!("then a ping is answered {answer}"));
            }
        }
        "list" => {
            let meta: Value = serde_json::from_str(META).unwrap();
            let answer = client.request("tools/list", json!({ "_meta": meta }));
            if !answer["result"]["tools"].is_array() || answer["result"]["ttlMs"] != 3_600_000 {
                return Err(format!("then a list is answered {answer}"));
            }
        }
        other => assert_eq!(other, "eof"),
    }
    messages.extend(client.rest());
    let (status, rest, stderr) = client.close();
    // At the end of input, subscriptions are answered.
    messages.extend(rest.into_iter().filter(|it| then == "eof" || it["result"]["_meta"].is_null()));
    if !status.success() || !stderr.is_empty() {
        return Err(format!("it ended with {status}, and said {stderr:?}"));
    }
    let sent = format!("{messages:#?}");
    if let Some(subscription) = case["first_of"].as_object() {
        let (name, id) = subscription.iter().next().unwrap();
        let first = messages.iter().find(|message| message["params"]["_meta"][name] == *id);
        if first.is_none_or(|it| it["method"] != "notifications/subscriptions/acknowledged") {
            return Err(format!("the first of its subscription is {first:?}"));
        }
    }
    for wanted in expected {
        let found = messages.iter().position(|message| {
            let has_no_id = wanted.get("error").is_none()
                || wanted.get("id").is_some()
                || message.get("id").is_none();
            has_no_id && holds(wanted, message)
        });
        let Some(found) = found else { return Err(format!("{wanted} is not among {sent}")) };
        let message = messages.remove(found);
        if let Some(code) = case["error"].as_str()
            && error_of(&message["result"])["code"] != code
        {
            return Err(format!("{code} is not the code of {message}"));
        }
    }
    if !messages.is_empty() {
        return Err(format!("too much: {messages:#?}"));
    }
    let log = repo.mk("log").success();
    let log = String::from_utf8(log.get_output().stdout.clone()).unwrap();
    let is_in_log = |text: &Value| text.as_str().is_some_and(|text| log.contains(text));
    if is_in_log(&case["not_in_log"]) || case["in_log"].is_string() && !is_in_log(&case["in_log"]) {
        return Err(format!("the log is\n{log}"));
    }
    Ok(())
}

#[test]
fn every_recorded_line_gets_its_answer_and_the_server_goes_on() {
    let cases: Vec<Value> = CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut failures = String::new();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        if let Err(why) = play(case) {
            failures.push_str(&format!("{name}: {why}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert_eq!(cases.len(), 69);
}

#[test]
fn a_request_at_the_end_of_input_needs_no_line_feed() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    let params = json!({ "name": "mk_note", "arguments": { "note": "the last" } });
    let last = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    client.write(last.to_string().as_bytes());
    let (status, rest, stderr) = client.close();
    assert!(status.success() && stderr.is_empty(), "{stderr}");
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!((&rest[0]["id"], &rest[0]["result"]["isError"]), (&json!(7), &json!(false)));
    assert_eq!(repo.json("show 1")["events"][0]["payload"]["note"], "the last");
    // What is no request is told so too.
    let mut client = Client::open(&repo, &[]);
    client.write(br#"{"id":8,"method":"ping"}"#);
    let (_, rest, _) = client.close();
    assert_eq!(rest[0]["error"]["code"], -32600, "{rest:?}");
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    for (line, message) in [
        (&b"hello"[..], "not JSON: at $ (byte 0): 'hello' is no JSON value"),
        (br#"{"id":1"#, "not JSON: at $ (byte 7): the text ends where ',' or '}' should be"),
        (b"{\"id\":\"\xff\"}", "not UTF-8 at byte 7"),
    ] {
        client.send_line(line);
        let answer = client.await_message(|message| message["error"].is_object());
        assert_eq!(answer["error"], json!({ "code": -32700, "message": message }));
    }
    client.close_quietly();
}
