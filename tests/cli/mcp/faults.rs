//! What becomes of a server when its store does: full, read-only, damaged.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use serde_json::{Value, json};

use super::client::Client;
use crate::damage::checkpoint;
use crate::sandbox::Sandbox;

/// The user `nobody`.
const NOBODY: u32 = 65_534;

/// On a file system of 4 MiB, half of which a file takes.
const SMALL_DISK: &str = "
    mount -t tmpfs -o size=4m none disk && cd disk || exit 9
    mk init > /dev/null && mk config gc.auto off || exit 9
    head -c 2000000 /dev/zero > filling
    exec mk mcp
";

fn notes(client: &mut Client) -> Vec<Value> {
    let log = client.report("mk_log", json!({ "limit": 500, "max_tokens": 20_000 }));
    log["events"].as_array().unwrap().clone()
}

#[test]
fn on_a_full_disk_writes_are_refused_and_reads_answered_until_there_is_room() {
    let repo = Sandbox::empty();
    fs::create_dir(repo.path("disk")).unwrap();
    let mut unshare = repo.command("unshare");
    if !rustix::process::getuid().is_root() {
        unshare.arg("--map-root-user");
    }
    unshare.args(["--mount", "sh", "-c", SMALL_DISK]);
    let mut client = Client::spawn(unshare);
    client.shake_hands("2025-11-25", "test");
    let text = "x".repeat(20_000);
    let mut kept = 0;
    let refused = loop {
        let result = client.call("mk_note", json!({ "note": text }));
        if result["isError"] == true {
            break super::client::error_of(&result);
        }
        kept += 1;
        assert!(kept < 500, "the disk does not get full");
    };
    assert_eq!(refused["code"], "disk-full");
    assert_eq!(refused["retryable"], true);
    assert!(kept > 5, "{kept}");
    assert_eq!(client.refusal("mk_note", json!({ "note": text }))["code"], "disk-full");
    assert_eq!(notes(&mut client).len(), kept);
    // The disk as the server sees it.
    let filling = repo.path("disk/filling");
    let filling = format!("/proc/{}/root{}", client.id(), filling.display());
    fs::remove_file(&filling).unwrap();
    client.report("mk_note", json!({ "note": text }));
    assert_eq!(notes(&mut client).len(), kept + 1);
    client.close_quietly();
}

/// Gives the files below `directory` these modes.
fn set_modes(directory: &std::path::Path, of_directory: u32, of_file: u32) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let mode = if entry.file_type().unwrap().is_dir() { of_directory } else { of_file };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(of_directory)).unwrap();
}

/// A server for whom permissions count: root becomes nobody.
fn as_nobody(repo: &Sandbox) -> Client {
    // A copy where nobody can run it.
    fs::create_dir(repo.path("bin")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_mk"), repo.path("bin/mk")).unwrap();
    fs::set_permissions(repo.path("bin/mk"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = repo.command(repo.path("bin/mk"));
    command.arg("mcp");
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut client = Client::spawn(command);
    client.shake_hands("2025-11-25", "test");
    client
}

#[test]
fn a_store_that_becomes_read_only_is_read_and_written_again_when_it_can_be() {
    let repo = Sandbox::new();
    repo.mk("--agent old note before").success();
    checkpoint(&repo);
    fs::set_permissions(repo.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    set_modes(&repo.store(), 0o777, 0o666);
    let mut client = as_nobody(&repo);
    client.report("mk_note", json!({ "note": "one" }));
    // A copy of it that nobody can write comes in its place.
    repo.sh("cp -r .mk copy && mv .mk aside && mv copy .mk").success();
    set_modes(&repo.store(), 0o555, 0o444);
    let refused = client.refusal("mk_note", json!({ "note": "lost" }));
    assert_eq!(refused["code"], "read-only", "{refused}");
    assert_eq!(notes(&mut client).len(), 2);
    set_modes(&repo.store(), 0o777, 0o666);
    client.report("mk_note", json!({ "note": "two" }));
    assert_eq!(notes(&mut client).len(), 3);
    client.close_quietly();
}

/// Without the files beside it, SQLite reads a store that it cannot write as one that never changes.
#[test]
fn what_others_write_is_seen_where_the_server_cannot_write() {
    let repo = Sandbox::new();
    repo.mk("--agent old note before").success();
    checkpoint(&repo);
    for name in ["mk.db-shm", "mk.db-wal"] {
        let _ = fs::remove_file(repo.store().join(name));
    }
    fs::set_permissions(repo.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    set_modes(&repo.store(), 0o555, 0o444);
    let mut client = as_nobody(&repo);
    assert_eq!(notes(&mut client).len(), 1);
    client.request("resources/subscribe", json!({ "uri": "mk://log/main" }));
    set_modes(&repo.store(), 0o755, 0o644);
    repo.mk("--agent other note after").success();
    set_modes(&repo.store(), 0o555, 0o444);
    client.await_message(|message| {
        message["method"] == "notifications/resources/updated"
            && message["params"]["uri"] == "mk://log/main"
    });
    assert_eq!(notes(&mut client).len(), 2);
    set_modes(&repo.store(), 0o755, 0o644);
    client.close_quietly();
}

#[test]
fn damage_below_a_running_server_is_told_or_does_not_matter_and_can_be_mended() {
    let repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    let mut client = Client::open(&repo, &[]);
    for n in 0..200 {
        client.report("mk_note", json!({ "note": format!("{n} {}", "x".repeat(500)) }));
    }
    checkpoint(&repo);
    let path = repo.store().join("mk.db");
    let whole = fs::read(&path).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&vec![0xa5; whole.len() - 4_096], 4_096).unwrap();
    let mut told = 0;
    for (tool, arguments) in [
        ("mk_log", json!({ "grep": "nowhere" })),
        ("mk_context", json!({})),
        ("mk_show", json!({ "event": "1" })),
        ("mk_note", json!({ "note": "on sand" })),
    ] {
        let result = client.call(tool, arguments);
        if result["isError"] == true {
            assert_eq!(super::client::error_of(&result)["code"], "store-damaged", "{tool}");
            told += 1;
        }
    }
    assert!(told > 0);
    for name in ["mk.db-wal", "mk.db-shm"] {
        let _ = fs::remove_file(repo.store().join(name));
    }
    // A file of its own: what the server still has open of the other is let go.
    fs::remove_file(&path).unwrap();
    fs::write(&path, &whole).unwrap();
    client.report("mk_note", json!({ "note": "on rock" }));
    assert_eq!(notes(&mut client)[0]["text"], "on rock");
    let (status, rest, _) = client.close();
    assert!(status.success() && rest.is_empty());
    repo.mk("verify").success();
}

#[test]
fn what_is_answered_after_the_files_were_replaced_in_place_is_in_the_log() {
    for (what, lost) in [
        ("cp b.db .mk/mk.db && rm .mk/mk.db-wal .mk/mk.db-shm", true),
        ("cat b.db > .mk/mk.db && rm .mk/mk.db-wal .mk/mk.db-shm", true),
        ("rm .mk/mk.db-wal .mk/mk.db-shm", true),
        ("rm .mk/mk.db-wal", true),
        ("rm .mk/mk.db-shm", false),
    ] {
        let repo = Sandbox::new();
        repo.mk("note one").success();
        checkpoint(&repo);
        repo.mk("backup b.db").success();
        let mut client = Client::open(&repo, &[]);
        client.request("resources/subscribe", json!({ "uri": "mk://log/main" }));
        client.report("mk_note", json!({ "note": "before" }));
        assert_eq!(notes(&mut client).len(), 2);
        repo.sh(what).success();
        client.report("mk_note", json!({ "note": "after" }));
        client.report("mk_note", json!({ "note": "and later" }));
        let wanted = match lost {
            true => vec!["and later", "after", "one"],
            false => vec!["and later", "after", "before", "one"],
        };
        let seen = notes(&mut client);
        let seen: Vec<&str> = seen.iter().map(|note| note["text"].as_str().unwrap()).collect();
        assert_eq!(seen, wanted, "{what}");
        let log = repo.mk("log --json --type AGENT_SCRATCHPAD").success();
        let log = String::from_utf8(log.get_output().stdout.clone()).unwrap();
        let log: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let log: Vec<&str> = log.iter().map(|it| it["payload"]["note"].as_str().unwrap()).collect();
        assert_eq!(log, wanted, "{what}");
        repo.mk("verify").success();
        let (status, _, stderr) = client.close();
        assert!(status.success() && stderr.is_empty(), "{what}: {stderr}");
    }
}

#[test]
fn nothing_is_read_or_written_where_the_store_was_emptied_below_the_server() {
    for (what, code) in [
        (": > .mk/mk.db", "store-older"),
        ("yes | head -c 50000 > .mk/mk.db", "store-older"),
        ("truncate -s 50 .mk/mk.db", "store-damaged"),
        ("truncate -s 100 .mk/mk.db", "store-damaged"),
    ] {
        let repo = Sandbox::new();
        repo.mk("note one").success();
        checkpoint(&repo);
        repo.mk("backup b.db").success();
        let mut client = Client::open(&repo, &[]);
        client.report("mk_note", json!({ "note": "before" }));
        assert_eq!(notes(&mut client).len(), 2);
        repo.sh(what).success();
        for (tool, arguments) in [
            ("mk_note", json!({ "note": "lost" })),
            ("mk_context", json!({})),
            ("mk_note", json!({ "note": "lost" })),
        ] {
            let refused = client.refusal(tool, arguments);
            assert_eq!(refused["code"], code, "{what}: {tool}: {refused}");
        }
        repo.sh("cp b.db .mk/mk.db && rm -f .mk/mk.db-wal .mk/mk.db-shm").success();
        client.report("mk_note", json!({ "note": "after" }));
        assert_eq!(notes(&mut client).len(), 2, "{what}");
        repo.mk("verify").success();
        client.close_quietly();
    }
}
