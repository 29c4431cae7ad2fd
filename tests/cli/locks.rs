//! Several processes at once.

use std::fs::File;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mk::store::location::network_filesystem;
use rusqlite::Connection;

use crate::sandbox::Sandbox;

/// `mk line`, running.
pub fn start(repo: &Sandbox, line: &str) -> Child {
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    command.args(line.split(' '));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A write waits as long as it may, says that it is busy, and writes nothing.
fn is_busy(repo: &Sandbox) {
    let before = repo.files();
    for (timeout, start) in [
        ("0", "another process holds a lock on the store"),
        ("0.3", "another process held the write lock for 3"),
    ] {
        let begun = Instant::now();
        let error = repo.refusal(&format!("note x --lock-timeout {timeout}"));
        let waited = begun.elapsed().as_secs_f64();
        assert_eq!(error["code"], "busy");
        assert_eq!(error["retryable"], true);
        assert_eq!(error["hint"], "try again, or wait longer with --lock-timeout");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(start), "{message}");
        // Not as long as without the option.
        assert!(waited >= timeout.parse().unwrap() && waited < 15.0, "waited {waited} s");
    }
    repo.mk("note x --lock-timeout 0").code(75).stdout("");
    assert_eq!(repo.files(), before);
    repo.mk("log").success().stdout("");
}

#[test]
fn a_writer_that_does_not_get_its_turn_is_busy() {
    let repo = Sandbox::new();
    let lock = File::options().write(true).open(repo.store().join("mk.db-lock")).unwrap();
    lock.lock().unwrap();
    is_busy(&repo);
    drop(lock);
    repo.mk("note x --lock-timeout 0").success();
}

#[test]
fn a_writer_that_a_foreign_transaction_keeps_out_is_busy() {
    let repo = Sandbox::new();
    let foreign = Connection::open(repo.store().join("mk.db")).unwrap();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    is_busy(&repo);
    foreign.execute_batch("ROLLBACK").unwrap();
    repo.mk("note x --lock-timeout 0").success();
}

#[test]
fn a_writer_whose_turn_comes_in_time_writes() {
    let repo = Sandbox::new();
    let lock = File::options().write(true).open(repo.store().join("mk.db-lock")).unwrap();
    lock.lock().unwrap();
    let mk = start(&repo, "note x --lock-timeout 60");
    thread::sleep(Duration::from_millis(200));
    drop(lock);
    assert!(mk.wait_with_output().unwrap().status.success());
    repo.mk("rev-list --count").success().stdout("1\n");
}

#[test]
fn of_two_that_make_a_project_at_once_one_does() {
    for _ in 0..20 {
        let mut repo = Sandbox::empty();
        // The pinned salts would give both the same project id.
        repo.set("MK_SALT_SEED", "first");
        let first = start(&repo, "init --json");
        repo.set("MK_SALT_SEED", "second");
        let second = start(&repo, "init --json");
        let answers = [first, second].map(|mk| {
            let output = mk.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
        });
        let made = answers.iter().filter(|answer| answer["created"] == true).count();
        assert_eq!(made, 1, "{answers:?}");
        assert_eq!(answers[0]["project_id"], answers[1]["project_id"]);
        repo.mk("note x").success();
    }
}

#[test]
fn two_that_append_at_once_lose_nothing() {
    let repo = Sandbox::new();
    let writers: Vec<_> = ["ann", "bob"]
        .iter()
        .map(|agent| {
            let mut mk = start(&repo, &format!("append --each --quiet --agent {agent}"));
            let mut input = mk.stdin.take().unwrap();
            std::io::Write::write_all(&mut input, "{}\n".repeat(50).as_bytes()).unwrap();
            mk
        })
        .collect();
    for mk in writers {
        let output = mk.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    repo.mk("rev-list --count").success().stdout("100\n");
    repo.mk("rev-parse --id main@100 main@1").success().stdout("100\n1\n");
}

#[test]
fn a_lock_timeout_is_a_number_of_seconds() {
    let repo = Sandbox::new();
    for value in ["-1", "x", "86401", "NaN", "inf"] {
        let stderr = format!(
            "fatal: invalid value '{value}' for '--lock-timeout <SECONDS>': \
             not a number from 0 to 86400\nhint: see `mk note --help`\n"
        );
        repo.refuses(&format!("note x --lock-timeout={value}"), 129, "invalid-argument", &stderr);
    }
}

#[test]
fn file_systems_without_reliable_locks_are_known() {
    let network = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xfe53_4d42, "SMB"),
        (0xff53_4d42, "CIFS"),
        (0x0102_1997, "9p (as WSL mounts Windows drives)"),
        (0x5346_4846, "drvfs"),
        (0x5346_414f, "AFS"),
        (0x6b41_4653, "AFS"),
        (0x7375_7245, "Coda"),
        (0x00c3_6400, "Ceph"),
        (0x0bd0_0bd0, "Lustre"),
        (0x0116_1970, "GFS2"),
        (0x7461_636f, "OCFS2"),
        (0x4750_4653, "GPFS"),
    ];
    for (magic, name) in network {
        assert_eq!(network_filesystem(magic), Some(name));
        // As a platform with a signed f_type gives it.
        assert_eq!(network_filesystem(magic | 0xffff_ffff_0000_0000), Some(name));
    }
    for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
        assert_eq!(network_filesystem(local), None, "{local:#x}");
    }
}
