//! Real processes are killed at any moment. A witness outside, the pipe their answers come through,
//! tells which events were acknowledged: all of them must be in the log.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use mk::id::Hash;
use mk::store::{Engine, Sqlite, StoreError};

use crate::power::Chance;
use crate::project::{mk, sound};

/// Rounds of three processes each; with `MK_KILL_ROUNDS=N` so many.
fn rounds() -> u64 {
    std::env::var("MK_KILL_ROUNDS").map_or(12, |text| text.parse().expect("a number"))
}

/// What a process acknowledged before it was killed.
struct Witness {
    child: Child,
    reader: thread::JoinHandle<Vec<String>>,
}

impl Witness {
    /// Starts a command that answers with a line for each thing it has done. `input` goes to its
    /// stdin as long as it reads.
    fn start(mut command: Command, input: impl Fn(u64) -> String + Send + 'static) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        thread::spawn(move || {
            let mut number = 0;
            while writeln!(stdin, "{}", input(number)).is_ok() {
                number += 1;
            }
        });
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let reader = thread::spawn(move || {
            // A line that was cut off by the end of the process acknowledges nothing.
            let lines = stdout.split(b'\n').map(|line| String::from_utf8(line.unwrap()).unwrap());
            lines.filter(|line| line.len() == 64).collect()
        });
        Self { child, reader }
    }

    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reader.join().unwrap()
    }
}

fn line(number: u64) -> String {
    let text = "what was found ".repeat(1 + usize::try_from(number % 40).unwrap());
    match number % 5 {
        0 => format!(
            r#"{{"event_type":"ARCHITECTURAL_DECISION","payload":{{"decision_key":"k{}","decision_value":"{number}","rationale":"{text}"}}}}"#,
            number % 7,
        ),
        _ => format!(r#"{{"payload":{{"note":"{number} {text}"}}}}"#),
    }
}

fn missing(project: &Path, hashes: &BTreeSet<String>) -> Vec<String> {
    let mut store = Sqlite::open_to_read(&project.join(".mk/mk.db")).unwrap();
    let missing: Result<Vec<String>, StoreError> = store.read(|txn| {
        let mut missing = Vec::new();
        for hash in hashes {
            hash.parse::<Hash>().expect("a hash was printed");
            if txn.with_prefix(hash, 1)?.is_empty() {
                missing.push(hash.clone());
            }
        }
        Ok(missing)
    });
    missing.unwrap()
}

fn events(project: &Path) -> i64 {
    let mut store = Sqlite::open_to_read(&project.join(".mk/mk.db")).unwrap();
    let head: Result<_, StoreError> = store.read(|txn| txn.log_head());
    head.unwrap().map_or(0, |(id, _)| id.0)
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let project = tempfile::tempdir().unwrap();
    assert!(mk(project.path(), &["init"]).stdout(Stdio::null()).status().unwrap().success());
    let mut chance = Chance(9);
    let mut acknowledged = BTreeSet::new();
    let mut kills = 0;
    for round in 0..rounds() {
        let mut writers = vec![
            Witness::start(mk(project.path(), &["append", "--each", "--agent", "ann"]), line),
            Witness::start(mk(project.path(), &["append", "--each", "--agent", "bob"]), line),
        ];
        // Beside them something that holds a transaction longer.
        let other: &[&str] = match round % 3 {
            0 => &["append", "--batch"],
            1 => &["gc", "--all", "--force"],
            _ => &["fork", &format!("side-{round}")],
        };
        writers.push(Witness::start(mk(project.path(), other), line));
        thread::sleep(Duration::from_micros(20_000 + chance.next() % 150_000));
        while !writers.is_empty() {
            let next = writers.swap_remove(chance.below(writers.len()));
            kills += 1;
            acknowledged.extend(next.kill());
            thread::sleep(Duration::from_micros(chance.next() % 20_000));
        }
    }
    assert_eq!(missing(project.path(), &acknowledged), Vec::<String>::new());
    sound(project.path());
    println!(
        "{kills} processes killed, {} events acknowledged, {} in the log, lost: 0",
        acknowledged.len(),
        events(project.path()),
    );
    assert!(!acknowledged.is_empty());
}

#[test]
fn a_batch_that_is_killed_is_whole_or_absent() {
    const LINES: u64 = 4_000;
    let project = tempfile::tempdir().unwrap();
    assert!(mk(project.path(), &["init"]).stdout(Stdio::null()).status().unwrap().success());
    let mut chance = Chance(11);
    let mut whole = 0;
    for _ in 0..rounds() {
        let before = events(project.path());
        let mut command = mk(project.path(), &["append", "--batch", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let feeder = thread::spawn(move || {
            // Until it is killed.
            let _ = (0..LINES).try_for_each(|number| writeln!(stdin, "{}", line(number)));
        });
        thread::sleep(Duration::from_micros(chance.next() % 400_000));
        child.kill().unwrap();
        child.wait().unwrap();
        feeder.join().unwrap();
        let added = events(project.path()) - before;
        // A compaction may follow.
        assert!(added == 0 || added >= i64::try_from(LINES).unwrap(), "{added} of {LINES}");
        whole += usize::from(added > 0);
    }
    sound(project.path());
    println!("{} batches killed, {whole} of them were whole before, none in part", rounds());
}
