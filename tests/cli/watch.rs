//! `mk watch`

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::sandbox::Sandbox;

/// Longer than any wait here takes, on any machine.
const LONG: Duration = Duration::from_secs(60);

/// `mk watch` with `words`, and what it prints.
fn watching(repo: &Sandbox, words: &str) -> (Child, BufReader<ChildStdout>) {
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    command.arg("watch").args(shlex::split(words).unwrap()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

fn line(out: &mut impl BufRead) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line
}

/// The exit status of `child`, which must end by itself.
#[track_caller]
fn ended(mut child: Child) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("it goes on");
}

#[test]
fn what_others_write_is_printed_as_it_lands() {
    let repo = Sandbox::new();
    repo.mk("note before").success();
    repo.mk("note begun").success();
    // An event that is there already tells when it has begun.
    let (mut child, mut out) = watching(&repo, "--after 1");
    assert!(line(&mut out).ends_with(" 2 me AGENT_SCRATCHPAD begun\n"));
    repo.mk("--agent ann decide rounding half-even").success();
    assert!(line(&mut out).ends_with(" 3 ann ARCHITECTURAL_DECISION rounding = half-even\n"));
    repo.mk("fork try").success();
    repo.mk("--branch try note elsewhere").success();
    repo.mk("rollback 3").success();
    assert!(line(&mut out).ends_with(" 6 me ROLLBACK_TRIGGERED to sequence 3\n"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn it_is_told_of_commits_where_the_file_system_cannot_tell() {
    let repo = Sandbox::new();
    repo.mk("note begun").success();
    fs::remove_file(repo.path(".mk/mk.db-lock")).unwrap();
    let (mut child, mut out) = watching(&repo, "--after @{2020-01-01T00:00Z}");
    assert_eq!(line(&mut out), "");
    assert_eq!(ended(child), Some(128));
    (child, out) = watching(&repo, "--wait 60");
    // Until it looks: what is there before that is not printed.
    let mut writes = 0;
    while child.try_wait().unwrap().is_none() && writes < 600 {
        writes += 1;
        repo.mk(&format!("note {writes}")).success();
        thread::sleep(Duration::from_millis(50));
    }
    assert!(line(&mut out).contains(" me AGENT_SCRATCHPAD "));
    assert_eq!(ended(child), Some(0));
}

#[test]
fn it_ends_when_nobody_reads_any_more() {
    let repo = Sandbox::new();
    repo.mk("note 1").success();
    repo.mk("note 2").success();
    let (child, mut out) = watching(&repo, "--after 1");
    assert!(line(&mut out).ends_with(" me AGENT_SCRATCHPAD 2\n"));
    drop(out);
    // No event wakes it.
    assert_eq!(ended(child), Some(0));
}

#[test]
fn a_wait_ends_with_the_first_events_or_with_status_1() {
    let repo = Sandbox::new();
    repo.mk("note 1").success();
    repo.mk("note 2").success();
    repo.mk("fork try --switch").success();
    repo.mk("lease acquire src/ --ttl 60").success();
    repo.mk("decide zone UTC --fence src/:1").success();
    repo.mk("lease acquire docs/a.md --ttl 60").success();
    repo.session(
        r#"
        $ mk watch --after 1 --wait 0
        32b5aeef 2 me AGENT_SCRATCHPAD 2
        35e533ef 3 me BRANCH_FORKED from main at sequence 2
        933ba715 4 me FILE_CLAIM_ACQUIRED src/ token 1
        5c4d0c10 5 me ARCHITECTURAL_DECISION zone = UTC
        0dae8f60 6 me FILE_CLAIM_ACQUIRED docs/a.md token 1
        $ mk watch --after 1 --wait 0 --branch main
        32b5aeef 2 me AGENT_SCRATCHPAD 2
        $ mk watch --after 5 --wait 0 --all
        0dae8f60 6 try me FILE_CLAIM_ACQUIRED docs/a.md token 1
        $ mk watch --after 1 --wait 0 --resource src/invoice.py
        933ba715 4 me FILE_CLAIM_ACQUIRED src/ token 1
        5c4d0c10 5 me ARCHITECTURAL_DECISION zone = UTC
        $ mk watch --after 4 --wait 0 --resource docs/ --json | cut -c 1-14
        {"event_id":6,
        $ mk watch --wait 0.01
        ! error: nothing landed for 0.01 s
        [1]
        $ mk watch --wait 0.01 --json
        {"error":{"code":"timeout","message":"nothing landed for 0.01 s","hint":null,"retryable":true}}
        ! error: nothing landed for 0.01 s
        [1]
        $ mk watch --after 3 --wait 0 --branch main
        ! error: nothing landed for 0 s
        [1]
        $ mk watch --branch tri --wait 0
        ! fatal: no branch 'tri', did you mean 'try'?
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        $ mk watch --branch try --all
        ! fatal: the argument '--branch <NAME>' cannot be used with '--all'
        ! hint: see `mk watch --help`
        [129]
        $ mk watch --after 99
        ! fatal: no event '99': ids go from 1 to 6
        ! hint: see `mk log`
        [128]
        $ mk watch --resource ../x
        ! fatal: '../x' lies outside of '~'
        [129]
        $ mk watch --wait -1
        ! fatal: invalid value '-1' for '--wait <SECONDS>': not a number from 0 to 86400
        ! hint: see `mk watch --help`
        [129]
    "#,
    );
}
