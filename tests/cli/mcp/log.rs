//! What the server says of itself: docs/spec/mcp.md, section 14.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::client::Client;
use crate::sandbox::Sandbox;

#[test]
fn a_level_says_how_much_is_said_and_no_text_of_the_memory_below_trace() {
    let mut repo = Sandbox::new();
    let run = |repo: &Sandbox, args: &[&str]| {
        let mut client = Client::open(repo, args);
        client.report("mk_note", json!({ "note": "a secret thought" }));
        client.refusal("mk_show", json!({ "event": "99" }));
        let (status, rest, stderr) = client.close();
        assert!(status.success() && rest.is_empty());
        stderr
    };
    assert_eq!(run(&repo, &[]), "");
    assert_eq!(run(&repo, &["--log-level", "error"]), "");
    let info = run(&repo, &["--log-level", "info"]);
    let version = env!("CARGO_PKG_VERSION");
    let tools = 16;
    assert_eq!(
        info,
        format!(
            "mk mcp: info: mk {version} serves {tools} tools on stdin and stdout\n\
             mk mcp: info: ended with its input\n"
        )
    );
    let debug = run(&repo, &["--log-level", "debug"]);
    assert_eq!(
        debug,
        format!(
            "mk mcp: info: mk {version} serves {tools} tools on stdin and stdout\n\
             mk mcp: debug: request 1001: initialize\n\
             mk mcp: debug: request 1001: answered\n\
             mk mcp: debug: request 1002: tools/call\n\
             mk mcp: debug: request 1002: answered\n\
             mk mcp: debug: request 1003: tools/call\n\
             mk mcp: debug: request 1003: mk_show answers event-not-found\n\
             mk mcp: debug: request 1003: answered\n\
             mk mcp: info: ended with its input\n"
        )
    );
    repo.set("MK_LOG", "trace");
    let trace = run(&repo, &[]);
    assert!(trace.contains("mk mcp: trace: in: {"), "{trace}");
    assert!(trace.contains("a secret thought"), "{trace}");
    assert_eq!(run(&repo, &["--log-level", "warn"]), "");
    repo.set("MK_LOG", "loud");
    repo.refuses(
        "mcp",
        129,
        "invalid-argument",
        "fatal: MK_LOG is 'loud', not one of error, warn, info, debug, trace\n",
    );
}

#[test]
fn what_is_said_can_be_kept_in_a_file_that_does_not_grow_for_ever() {
    let mut repo = Sandbox::new();
    repo.set("MK_LOG_FILE", "log");
    let mut client = Client::open(&repo, &["--log-level", "info"]);
    client.report("mk_note", json!({ "note": "a" }));
    assert!(client.close().0.success());
    let log = std::fs::read_to_string(repo.path("log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert_eq!(lines[1], "2026-11-30T10:00:00.000000Z info: ended with its input");
    let mode = std::fs::metadata(repo.path("log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    repo.write("log", "x".repeat(4 << 20));
    Client::open(&repo, &["--log-level", "info"]).close();
    assert_eq!(std::fs::metadata(repo.path("log.1")).unwrap().len(), 4 << 20);
    assert_eq!(std::fs::read_to_string(repo.path("log")).unwrap().lines().count(), 2);
    // Where nothing can be kept, the server goes on.
    repo.set("MK_LOG_FILE", "nowhere/log");
    let mut client = Client::open(&repo, &[]);
    client.report("mk_note", json!({ "note": "b" }));
    let (status, _, stderr) = client.close();
    assert!(status.success());
    assert_eq!(
        stderr,
        "mk mcp: warn: MK_LOG_FILE: cannot write to 'nowhere/log': No such file or directory (os \
         error 2)\n"
    );
}

#[test]
fn every_message_can_be_traced_and_that_is_said() {
    let mut repo = Sandbox::new();
    repo.set("MK_MCP_TRACE", "trace");
    let mut client = Client::open(&repo, &["--log-level", "error"]);
    client.report("mk_note", json!({ "note": "a" }));
    client.send_line(b"{no message");
    client.await_message(|message| message["error"]["code"] == -32700);
    let (status, _, stderr) = client.close();
    assert!(status.success());
    assert_eq!(stderr, "mk mcp: warn: every message goes to 'trace' too\n");
    let trace = std::fs::read_to_string(repo.path("trace")).unwrap();
    let lines: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ways: Vec<&str> = lines.iter().map(|line| line["way"].as_str().unwrap()).collect();
    assert_eq!(ways, ["in", "out", "in", "in", "out", "in", "out"]);
    assert_eq!(lines[0]["message"]["method"], "initialize");
    assert_eq!(lines[2]["message"]["method"], "notifications/initialized");
    assert_eq!(lines[3]["message"]["params"]["arguments"]["note"], "a");
    assert_eq!(lines[4]["message"]["result"]["isError"], false);
    assert_eq!(lines[5]["text"], "{no message");
    assert!(lines.iter().all(|line| line["time"] == "2026-11-30T10:00:00.000000Z"), "{trace}");
    let mode = std::fs::metadata(repo.path("trace")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn where_nothing_can_be_written_it_is_said_once() {
    let mut repo = Sandbox::new();
    repo.set("MK_MCP_TRACE", "/dev/full");
    repo.set("MK_LOG_FILE", "/dev/full");
    let mut client = Client::open(&repo, &[]);
    client.report("mk_note", json!({ "note": "a" }));
    let (status, _, stderr) = client.close();
    assert!(status.success());
    let lines: Vec<&str> = stderr.lines().collect();
    let full = "cannot write to '/dev/full': No space left on device (os error 28)";
    assert_eq!(
        lines,
        [
            "mk mcp: warn: every message goes to '/dev/full' too",
            &format!("mk mcp: warn: MK_LOG_FILE: {full}"),
            &format!("mk mcp: warn: MK_MCP_TRACE: {full}; no more messages go there"),
        ]
    );
}
