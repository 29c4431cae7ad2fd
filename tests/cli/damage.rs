//! Stores with broken bytes: no command hangs, panics or takes them for whole.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::sandbox::Sandbox;

/// A project of 60 events, all in the main file.
fn filled() -> Sandbox {
    let mut repo = Sandbox::new();
    let line = |n: u64| format!("{{\"payload\":{{\"note\":\"note {n} {}\"}}}}\n", "x".repeat(100));
    repo.input = (1..=60).map(line).collect::<String>().into_bytes();
    repo.mk("append --batch -q").success();
    repo.input.clear();
    checkpoint(&repo);
    repo
}

pub fn checkpoint(repo: &Sandbox) {
    let store = Connection::open(repo.store().join("mk.db")).unwrap();
    store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
}

/// `mk line` ends soon, with success or in one line that says what is broken.
fn holds_up(repo: &Sandbox, line: &str, what: &str) {
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    command.args(line.split(' ')).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut mk = command.spawn().unwrap();
    let begun = Instant::now();
    while mk.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(10) {
            mk.kill().unwrap();
            panic!("mk {line} hangs with {what}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = mk.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    if output.status.code() != Some(0) {
        assert_eq!(output.status.code(), Some(128), "mk {line} with {what}: {stderr}");
        assert!(
            stderr.starts_with("fatal: the store is damaged: "),
            "mk {line} with {what}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 2, "{stderr}");
    }
}

#[test]
fn a_flipped_bit_anywhere_is_found_or_does_not_matter() {
    let repo = filled();
    let whole = fs::read(repo.store().join("mk.db")).unwrap();
    // Positions spread over the file, behind the header that says what file it is.
    for step in 0..48_usize {
        let at = 100 + (step * 2_654_435_761) % (whole.len() - 100);
        let mut broken = whole.clone();
        broken[at] ^= 1 << (step % 8);
        for line in ["log", "context", "undo 3"] {
            for name in ["mk.db-wal", "mk.db-shm"] {
                let _ = fs::remove_file(repo.store().join(name));
            }
            repo.write(".mk/mk.db", &broken);
            holds_up(&repo, line, &format!("bit {} of byte {at} flipped", step % 8));
        }
    }
}

#[test]
fn a_truncated_file_is_damaged() {
    let repo = filled();
    let whole = fs::read(repo.store().join("mk.db")).unwrap();
    let hint = "hint: see what is wrong with `mk verify`\n";
    for length in [16, 71, 72, 100, 512, 4_096, whole.len() - 4_096] {
        for name in ["mk.db-wal", "mk.db-shm"] {
            let _ = fs::remove_file(repo.store().join(name));
        }
        repo.write(".mk/mk.db", &whole[..length]);
        let what =
            if length < 72 { "is cut off in its first 100 bytes" } else { "has a broken page" };
        let stderr = format!("fatal: the store is damaged: '~/.mk/mk.db' {what}\n{hint}");
        for line in ["log", "note x"] {
            let done = repo.mk(line).code(128).stdout("");
            let text = String::from_utf8(done.get_output().stderr.clone()).unwrap();
            let place = repo.path("").display().to_string();
            assert_eq!(text.replace(place.trim_end_matches('/'), "~"), stderr, "{length} bytes");
        }
    }
}

#[test]
fn derived_rows_that_go_round_in_a_circle_end_no_walk() {
    for (row, line) in [
        ("UPDATE link SET live_parent = 50 WHERE id = 40", "fold"),
        ("UPDATE link SET live_parent = 40 WHERE id = 40", "log"),
        ("UPDATE link SET jump = 60 WHERE id = 57", "rev-parse main~40"),
        ("UPDATE link SET depth = 0 WHERE id = 60", "context"),
        ("UPDATE link SET jump_depth = 99 WHERE id = 60", "note x"),
        (
            "UPDATE branch SET fork_event = 3, fork_sequence = 3, fork_lineage = id",
            "merge-base main 1",
        ),
        (
            "DROP TRIGGER event_never_changes; UPDATE event SET parent = 50 WHERE id = 40",
            "rev-list --lineage",
        ),
        (
            "DROP TRIGGER event_never_changes; UPDATE event SET payload = '{' WHERE id = 60",
            "show --json",
        ),
    ] {
        let repo = filled();
        Connection::open(repo.store().join("mk.db")).unwrap().execute_batch(row).unwrap();
        holds_up(&repo, line, row);
        repo.mk(line).code(128);
    }
}
