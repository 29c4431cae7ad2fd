//! Processes that a signal ends.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::locks::start;
use crate::sandbox::Sandbox;

/// Interrupts `mk` as Ctrl-C does; it must end by the signal, at once.
fn interrupt(mut mk: Child) {
    kill_process(Pid::from_child(&mk), Signal::INT).unwrap();
    let begun = Instant::now();
    let status = mk.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "{status}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn an_interrupted_batch_that_still_reads_leaves_nothing() {
    let repo = Sandbox::new();
    let before = repo.files();
    let mut mk = start(&repo, "append --batch");
    mk.stdin.as_mut().unwrap().write_all(b"{}\n{}\n{\"payl").unwrap();
    thread::sleep(Duration::from_millis(100));
    interrupt(mk);
    assert_eq!(repo.files(), before);
    repo.mk("append").success();
}

#[test]
fn an_interrupted_batch_that_already_writes_leaves_nothing() {
    let repo = Sandbox::new();
    let mut mk = start(&repo, "append --batch");
    let line = format!("{{\"payload\":{{\"note\":\"{}\"}}}}\n", "x".repeat(200_000));
    let mut input = mk.stdin.take().unwrap();
    // More than is held back before the write lock is taken.
    (0..40).for_each(|_| input.write_all(line.as_bytes()).unwrap());
    let lock = File::open(repo.store().join("mk.db-lock")).unwrap();
    let begun = Instant::now();
    while lock.try_lock().is_ok() {
        lock.unlock().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10), "the batch never began");
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(50));
    interrupt(mk);
    repo.mk("rev-list --count").success().stdout("0\n");
    repo.mk("append").success();
    repo.mk("rev-list --count").success().stdout("1\n");
}

#[test]
fn a_writer_can_be_interrupted_while_it_waits_for_its_turn() {
    let repo = Sandbox::new();
    let lock = File::options().write(true).open(repo.store().join("mk.db-lock")).unwrap();
    lock.lock().unwrap();
    let before = repo.files();
    let mk = start(&repo, "note x --lock-timeout 60");
    thread::sleep(Duration::from_millis(200));
    interrupt(mk);
    assert_eq!(repo.files(), before);
    drop(lock);
    repo.mk("note x").success();
}

#[test]
fn lines_that_were_answered_before_the_interrupt_are_kept() {
    let repo = Sandbox::new();
    let mut mk = start(&repo, "append --each");
    mk.stdin.as_mut().unwrap().write_all(b"{}\n{}\n").unwrap();
    let mut answers = std::io::BufReader::new(mk.stdout.take().unwrap());
    for _ in 0..2 {
        let mut answer = String::new();
        std::io::BufRead::read_line(&mut answers, &mut answer).unwrap();
        assert_eq!(answer.len(), 65);
    }
    interrupt(mk);
    repo.mk("rev-list --count").success().stdout("2\n");
}

#[test]
fn an_import_or_an_erasure_that_is_killed_is_whole_or_absent() {
    let sandbox = Sandbox::empty();
    let lines = "yes '{\"payload\":{\"note\":\"a secret of some length\"}}' | head -n 2000";
    sandbox
        .sh(&format!("mkdir a b && cd a && mk init . && mk config gc.auto off && {lines} | mk append --batch -q"))
        .success();
    sandbox
        .sh("cd a && mk export ../e.ndjson; cd ../b && mk init . && mk config gc.auto off")
        .success();
    let count = |project| {
        let done = sandbox.sh(&format!("cd {project} && mk rev-list --all --count")).success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    for delay in [5, 20, 60, 150, 400] {
        let mut mk = start(&sandbox, "-C b import ../e.ndjson");
        thread::sleep(Duration::from_millis(delay));
        let _ = mk.kill();
        mk.wait().unwrap();
        let found = count("b");
        assert!(found == "0\n" || found == "2000\n", "{found} after {delay} ms");
        sandbox.sh("cd b && mk verify").success();
    }
    for delay in [5, 20, 60, 150, 400] {
        let mut mk = start(&sandbox, "-C a erase main -m why");
        thread::sleep(Duration::from_millis(delay));
        let _ = mk.kill();
        mk.wait().unwrap();
        sandbox.sh("cd a && mk verify").success();
    }
    sandbox.sh("cd a && mk erase --finish && mk verify").success();
}
