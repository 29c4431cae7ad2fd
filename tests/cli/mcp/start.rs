//! How the server comes up, and how it ends.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::Client;
use crate::sandbox::Sandbox;

#[test]
fn a_wrong_option_is_told_before_anything_else() {
    let mut repo = Sandbox::new();
    repo.refuses(
        "mcp --tools core,wheel",
        129,
        "invalid-argument",
        "fatal: --tools: there is no tool or group 'wheel'\nhint: see `mk mcp --help`\n",
    );
    repo.refuses(
        "mcp --tools mk_lease_aquire",
        129,
        "invalid-argument",
        "fatal: --tools: there is no tool or group 'mk_lease_aquire'; did you mean mk_lease_acquire?\n\
         hint: see `mk mcp --help`\n",
    );
    repo.refuses(
        "mcp --max-tokens 20001",
        129,
        "invalid-argument",
        "fatal: --max-tokens is '20001', not a number from 256 to 20000\n",
    );
    repo.refuses(
        "mcp --log-level loud",
        129,
        "invalid-argument",
        "fatal: --log-level is 'loud', not one of error, warn, info, debug, trace\n",
    );
    for (name, value, stderr) in [
        ("MK_LOG", "loud", "MK_LOG is 'loud', not one of error, warn, info, debug, trace\n"),
        ("MK_MCP_MAX_TOKENS", "9", "MK_MCP_MAX_TOKENS is '9', not a number from 256 to 20000\n"),
        (
            "MK_MCP_TOOLS",
            "wheel",
            "MK_MCP_TOOLS: there is no tool or group 'wheel'\nhint: see `mk mcp --help`\n",
        ),
    ] {
        repo.set(name, value);
        repo.refuses("mcp", 129, "invalid-argument", &format!("fatal: {stderr}"));
        repo.unset(name);
    }
    repo.set("MK_READ_ONLY", "maybe");
    repo.refuses(
        "mcp",
        129,
        "invalid-argument",
        "fatal: MK_READ_ONLY is 'maybe', not one of 1, true, yes, on, 0, false, no, off\n",
    );
}

#[test]
fn the_project_is_made_at_the_top_of_a_git_work_tree_and_nowhere_else() {
    let repo = Sandbox::empty();
    repo.sh("mkdir -p work/deep elsewhere && git init -q work").success();
    let open = |directory: &str, args: &[&str]| {
        let directory = repo.path(directory);
        let mut client =
            Client::start(&repo, &[&["-C", directory.to_str().unwrap(), "mcp"], args].concat());
        client.shake_hands("2025-11-25", "test");
        client
    };
    let mut client = open("work/deep", &[]);
    client.report("mk_note", json!({ "note": "made" }));
    client.close_quietly();
    assert!(repo.path("work/.mk/mk.db").is_file());
    let mut client = open("elsewhere", &[]);
    assert_eq!(client.refusal("mk_note", json!({ "note": "lost" }))["code"], "no-project");
    client.close_quietly();
    assert!(!repo.path("elsewhere/.mk").exists());
    let mut client = open("elsewhere", &["--create"]);
    client.report("mk_note", json!({ "note": "made" }));
    client.close_quietly();
    assert!(repo.path("elsewhere/.mk/mk.db").is_file());
    // A home directory would be shared by all that lie below.
    repo.mk("mcp --create").code(129);
    assert!(!repo.path(".mk").exists());
}

#[test]
fn a_store_that_is_not_there_or_damaged_is_told_with_each_call_and_heals() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    client.report("mk_note", json!({ "note": "a" }));
    let (store, aside) = (repo.path(".mk"), repo.path("aside"));
    std::fs::rename(&store, &aside).unwrap();
    assert_eq!(client.refusal("mk_note", json!({ "note": "b" }))["code"], "no-project");
    assert_eq!(client.refusal("mk_log", json!({}))["code"], "no-project");
    std::fs::create_dir(&store).unwrap();
    assert_eq!(client.refusal("mk_log", json!({}))["code"], "store-missing");
    std::fs::write(store.join("mk.db"), "SQLite format 3\0").unwrap();
    assert_eq!(client.refusal("mk_log", json!({}))["code"], "store-damaged");
    std::fs::remove_dir_all(&store).unwrap();
    std::fs::rename(&aside, &store).unwrap();
    let log = client.report("mk_log", json!({}));
    assert_eq!(log["events"].as_array().unwrap().len(), 1, "{log}");
    client.report("mk_note", json!({ "note": "c" }));
    client.close_quietly();
}

#[test]
fn end_of_input_and_signals_end_it_at_once_with_what_was_asked_for_answered() {
    let repo = Sandbox::new();
    for signal in ["", "TERM", "INT", "HUP"] {
        let mut client = Client::open(&repo, &[]);
        let ids: Vec<i64> = (0..50)
            .map(|n| {
                let params = json!({ "name": "mk_note", "arguments": { "note": format!("n{n}") } });
                client.ask("tools/call", params)
            })
            .collect();
        client.answer(ids[0]);
        let begun = Instant::now();
        let (status, rest, stderr) = match signal {
            "" => client.close(),
            signal => {
                repo.sh(&format!("kill -{signal} {}", client.id())).success();
                client.end()
            }
        };
        assert!(status.success(), "{signal}: {status}");
        assert_eq!(stderr, "");
        assert!(begun.elapsed() < Duration::from_secs(20), "{signal}: {:?}", begun.elapsed());
        if signal.is_empty() {
            assert_eq!(rest.len(), 49);
        }
        assert!(rest.iter().all(|answer| answer["result"]["isError"] == false), "{rest:?}");
    }
    repo.mk("verify").success();
}

#[test]
fn what_stood_in_line_when_the_input_ended_is_answered_however_long_it_takes() {
    let repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    let mut client = Client::open(&repo, &[]);
    for n in 0..1_000 {
        let params = json!({ "name": "mk_note", "arguments": { "note": format!("n{n}") } });
        client.ask("tools/call", params);
    }
    let (status, rest, stderr) = client.close();
    assert!(status.success());
    assert_eq!(stderr, "");
    assert_eq!(rest.len(), 1_000);
    repo.mk("rev-list --count").success().stdout("1000\n");
}

#[test]
fn what_is_no_client_is_sent_away() {
    let repo = Sandbox::new();
    let mut mk = repo.command(env!("CARGO_BIN_EXE_mk"));
    mk.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = mk.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, "hello\n".repeat(100).as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(128));
    assert_eq!(
        String::from_utf8(done.stderr).unwrap(),
        "fatal: 100 lines in a row were no messages\n\
         hint: this is a server for agents: see `mk mcp --help`\n"
    );
    assert_eq!(String::from_utf8(done.stdout).unwrap().lines().count(), 100);
}

#[test]
fn a_store_that_is_upgraded_replaced_or_closed_under_the_server_is_noticed_at_the_next_call() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    client.report("mk_note", json!({ "note": "a" }));
    client.report("mk_log", json!({}));
    let sql = |sql: &str| {
        let code = format!(
            "import sqlite3; c = sqlite3.connect('.mk/mk.db'); c.executescript('''{sql}''')"
        );
        repo.sh(&format!("python3 -c \"{code}\"")).success();
    };
    sql(
        "PRAGMA user_version = 99; UPDATE store SET value = 99 WHERE key IN ('min_reader', 'min_writer')",
    );
    assert_eq!(client.refusal("mk_log", json!({}))["code"], "store-newer");
    assert_eq!(client.refusal("mk_note", json!({ "note": "b" }))["code"], "store-newer");
    sql(
        "PRAGMA user_version = 1; UPDATE store SET value = 1 WHERE key IN ('min_reader', 'min_writer')",
    );
    client.report("mk_note", json!({ "note": "c" }));
    // Another store takes its place.
    repo.sh("mkdir other && mk init other && mk -C other note there").success();
    repo.sh("rm .mk/mk.db-wal .mk/mk.db-shm; mv other/.mk/mk.db* .mk/").success();
    let log = client.report("mk_log", json!({}));
    assert_eq!(log["events"].as_array().unwrap().len(), 1, "{log}");
    assert_eq!(log["events"][0]["text"], "there");
    client.report("mk_note", json!({ "note": "d" }));
    client.close_quietly();
}
