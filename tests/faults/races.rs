//! Law 7: many writers at once, no error, no loss, no gap, and nobody waits for ever.
//!
//! How long they wait is printed and not judged: the machine that runs the tests has other work.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::project::{Deadline, Project, Waits, rounds};

const WRITERS: usize = 16;

/// Events of each writer.
const EVENTS: usize = 200;

/// An event that was acknowledged.
struct Acknowledged {
    hash: String,
    sequence: u64,
    text: String,
}

/// What a writer did.
struct Written {
    events: Vec<Acknowledged>,
    waits: Waits,
    took: Duration,
}

/// `mk append --each`, running, with its events still to come.
struct Writer {
    child: Child,
    name: String,
}

impl Writer {
    fn start(project: &Project, name: String, branch: &str) -> Self {
        let agent = name.as_str();
        let args = ["append", "--each", "--json", "--agent", agent, "--branch", branch];
        let mut command = project.mk(&args);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Self { child, name }
    }

    /// Gives it `count` events, all at once.
    fn write(mut self, count: usize, padding: usize) -> JoinHandle<Written> {
        let mut stdin = self.child.stdin.take().unwrap();
        let texts: Vec<String> = (0..count)
            .map(|number| format!("{} {number} {}", self.name, "on and on ".repeat(padding)))
            .collect();
        let lines: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"payload":{{"note":"{text}"}}}}"#)).collect();
        let begun = Instant::now();
        thread::spawn(move || lines.iter().for_each(|line| writeln!(stdin, "{line}").unwrap()));
        thread::spawn(move || {
            let answers = BufReader::new(self.child.stdout.take().unwrap()).lines();
            let (mut events, mut waits, mut last) = (Vec::new(), Waits::default(), begun);
            for (answer, text) in answers.zip(texts) {
                waits.add(last.elapsed());
                last = Instant::now();
                events.push(acknowledged(&answer.unwrap(), text));
            }
            let status = self.child.wait().unwrap();
            assert!(status.success(), "{}: {status}", self.name);
            assert_eq!(events.len(), count, "{}", self.name);
            Written { events, waits, took: begun.elapsed() }
        })
    }
}

fn acknowledged(answer: &str, text: String) -> Acknowledged {
    let answer: Value = serde_json::from_str(answer).unwrap();
    Acknowledged {
        hash: answer["hash"].as_str().unwrap().to_owned(),
        sequence: answer["sequence"].as_u64().unwrap(),
        text,
    }
}

/// The same with a process for each event.
fn write_one_by_one(project: &Project, name: &str, count: usize) -> Written {
    let (begun, mut waits, mut events) = (Instant::now(), Waits::default(), Vec::new());
    for number in 0..count {
        let text = format!("{name} {number} ");
        let answer = waits.measure(|| project.run(&["note", &text, "--agent", name, "--json"]));
        events.push(acknowledged(&answer, text));
    }
    Written { events, waits, took: begun.elapsed() }
}

/// All that was acknowledged is in the log, once, where it was said to be, in the order of each writer;
/// and of the writers nothing else.
fn nothing_is_lost(project: &Project, all: &[&Written]) {
    let stored: BTreeMap<String, Value> = project
        .events()
        .into_iter()
        .map(|event| (event["hash"].as_str().unwrap().to_owned(), event))
        .collect();
    let mut hashes = BTreeSet::new();
    for written in all {
        for event in &written.events {
            let found = stored.get(&event.hash).unwrap_or_else(|| panic!("lost: {}", event.text));
            assert_eq!(found["sequence"], event.sequence);
            assert_eq!(found["payload"]["note"], event.text);
            assert!(hashes.insert(&event.hash), "twice: {}", event.text);
        }
        assert!(written.events.is_sorted_by(|one, next| one.sequence < next.sequence));
    }
    let notes = stored.values().filter(|event| event["payload"]["note"].is_string());
    assert_eq!(notes.count(), hashes.len());
    // Each lineage counts on from its fork point without a gap.
    let mut sequences: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for event in stored.values() {
        let of_branch = sequences.entry(event["branch_id"].as_str().unwrap()).or_default();
        assert!(of_branch.insert(event["sequence"].as_u64().unwrap()));
    }
    for (branch, sequences) in sequences {
        let (first, last) = (sequences.first().unwrap(), sequences.last().unwrap());
        assert_eq!(last - first + 1, sequences.len() as u64, "a gap on {branch}");
    }
    project.sound();
}

fn print_waits(what: &str, all: Vec<Written>) {
    let (count, writers) = (all.iter().map(|it| it.events.len()).sum::<usize>(), all.len());
    let (mut waits, mut took) = (Waits::default(), Waits::default());
    for written in all {
        waits.merge(written.waits);
        took.add(written.took);
    }
    println!(
        "{what}: {writers} writers, {count} events in {:.2?}; wait of one event: median {:.2?}, worst \
         {:.2?}; the slowest writer took {:.2} times as long as the median one; errors: 0, lost: 0",
        took.worst(),
        waits.median(),
        waits.worst(),
        took.worst().as_secs_f64() / took.median().as_secs_f64(),
    );
}

#[test]
fn sixteen_writers_lose_nothing() {
    for _ in 0..rounds().unwrap_or(1) {
        let _deadline = Deadline::new("16 streams", Duration::from_secs(300));
        let project = Project::new();
        let writers: Vec<Writer> = (0..WRITERS)
            .map(|number| Writer::start(&project, format!("w{number}"), "main"))
            .collect();
        let writing: Vec<_> = writers.into_iter().map(|it| it.write(EVENTS, 0)).collect();
        let all: Vec<Written> = writing.into_iter().map(|it| it.join().unwrap()).collect();
        nothing_is_lost(&project, &all.iter().collect::<Vec<_>>());
        print_waits("a stream each", all);
    }
}

/// In the short form 10 events of each, in the long one 200.
#[test]
fn sixteen_writers_with_a_process_an_event_lose_nothing() {
    let count = rounds().map_or(10, |_| EVENTS);
    let _deadline = Deadline::new("a process an event", Duration::from_secs(900));
    let project = Project::new();
    let all: Vec<Written> = thread::scope(|scope| {
        let project = &project;
        let writing: Vec<_> = (0..WRITERS)
            .map(|number| {
                scope.spawn(move || write_one_by_one(project, &format!("w{number}"), count))
            })
            .collect();
        writing.into_iter().map(|it| it.join().unwrap()).collect()
    });
    nothing_is_lost(&project, &all.iter().collect::<Vec<_>>());
    print_waits("a process an event", all);
}

#[test]
fn two_compactions_at_once_race_appends() {
    let _deadline = Deadline::new("compactions", Duration::from_secs(300));
    let project = Project::new();
    let (mut runs, mut compacted) = (0, 0);
    let mut written = Vec::new();
    for round in 0..rounds().unwrap_or(1) {
        let writers: Vec<Writer> = (0..4)
            .map(|number| Writer::start(&project, format!("w{round}-{number}"), "main"))
            .collect();
        let writing: Vec<_> = writers.into_iter().map(|it| it.write(100, 20)).collect();
        let is_done = AtomicBool::new(false);
        let compact = || {
            let (mut runs, mut compacted) = (0, 0);
            while !is_done.load(Ordering::Relaxed) {
                let done = project.json(&["gc", "--all", "--force"]);
                let results = done["results"].as_array().unwrap();
                compacted += results.iter().filter(|it| it["triggered"] == true).count();
                runs += 1;
            }
            (runs, compacted)
        };
        thread::scope(|scope| {
            let both = [scope.spawn(compact), scope.spawn(compact)];
            written.extend(writing.into_iter().map(|it| it.join().unwrap()));
            is_done.store(true, Ordering::Relaxed);
            for done in both {
                let done = done.join().unwrap();
                (runs, compacted) = (runs + done.0, compacted + done.1);
            }
        });
    }
    nothing_is_lost(&project, &written.iter().collect::<Vec<_>>());
    let events = project.events();
    let snapshots = events.iter().filter(|event| event["event_type"] == "SEMANTIC_SNAPSHOT");
    let covered: Vec<u64> = snapshots
        .map(|snapshot| snapshot["payload"]["covers_through_sequence"].as_u64().unwrap())
        .collect();
    assert!(covered.is_sorted_by(|one, next| one < next), "one snapshot for nothing: {covered:?}");
    println!(
        "{runs} runs of mk gc, two at a time, {compacted} compactions, {} snapshots; {} events, lost: 0",
        covered.len(),
        written.iter().map(|it| it.events.len()).sum::<usize>(),
    );
    assert!(!covered.is_empty());
}

/// The events of a branch from the first on, and which of them are live: what the words of
/// docs/spec/kernel.md say, event by event.
fn lineage<'a>(events: &'a [Value], branch: &str) -> (Vec<&'a Value>, Vec<&'a Value>) {
    let mut own: Vec<&Value> = events.iter().filter(|it| it["branch_id"] == branch).collect();
    own.sort_by_key(|event| event["sequence"].as_u64());
    let mut all = Vec::new();
    if let Some(fork) = own.first().filter(|event| event["event_type"] == "BRANCH_FORKED") {
        let source = fork["payload"]["source_branch"].as_str().unwrap();
        let until = fork["payload"]["fork_point_sequence"].as_u64();
        all = lineage(events, source).0;
        all.retain(|event| event["sequence"].as_u64() <= until);
    }
    all.extend(own);
    let mut live: Vec<&Value> = Vec::new();
    for &event in &all {
        if event["event_type"] == "ROLLBACK_TRIGGERED" {
            let before = live.len();
            let target = event["payload"]["target_sequence"].as_u64();
            live.retain(|earlier| earlier["sequence"].as_u64() <= target);
            assert_eq!(event["payload"]["reverted_count"], before - live.len(), "{event}");
        }
        live.push(event);
    }
    (all, live)
}

#[test]
fn forks_rollbacks_and_merge_bases_race_appends() {
    let sides = 6 * rounds().unwrap_or(1);
    let _deadline = Deadline::new("forks and rollbacks", Duration::from_secs(300));
    let project = Project::new();
    project.run(&["note", "the first"]);
    let writers = ["m0", "m1", "m2"];
    let writers = writers.map(|name| Writer::start(&project, name.to_owned(), "main"));
    let writing = writers.map(|it| it.write(EVENTS, 1));
    let (mut merge_bases, mut rollbacks) = (0, 0);
    let mut written = Vec::new();
    for number in 0..sides {
        let side = format!("side-{number}");
        let forked = project.json(&["fork", &side, "--from", "main"]);
        let fork_point = &forked["fork_point_hash"];
        let base = || project.json(&["merge-base", "main", &side])["merge_base_hash"].clone();
        assert_eq!(base(), *fork_point);
        // On the branch, too, somebody writes while it is rolled back.
        let writer = Writer::start(&project, format!("s{number}"), &side).write(20, 1);
        let target = forked["event"]["hash"].as_str().unwrap();
        for _ in 0..3 {
            // What is reverted is the work of the writer, as far as that has come.
            project.json(&["rollback", target, "--branch", &side, "--include-others"]);
            rollbacks += 1;
            assert_eq!(base(), *fork_point);
            merge_bases += 1;
        }
        written.push(writer.join().unwrap());
    }
    written.extend(writing.map(|it| it.join().unwrap()));

    let events = project.events();
    let notes = written.iter().map(|it| it.events.len()).sum::<usize>() + 1;
    assert_eq!(events.iter().filter(|it| it["payload"]["note"].is_string()).count(), notes);
    for branch in (0..sides).map(|number| format!("side-{number}")).chain(["main".to_owned()]) {
        let (all, live) = lineage(&events, &branch);
        let sequences: Vec<u64> = all.iter().map(|it| it["sequence"].as_u64().unwrap()).collect();
        assert_eq!(sequences, (1..=all.len() as u64).collect::<Vec<_>>(), "{branch}");
        let listed = project.run(&["rev-list", &branch]);
        let mut listed: Vec<&str> = listed.lines().collect();
        listed.reverse();
        let live: Vec<&str> = live.iter().map(|it| it["hash"].as_str().unwrap()).collect();
        assert_eq!(listed, live, "{branch}");
    }
    project.sound();
    println!(
        "{sides} forks, {rollbacks} rollbacks, {merge_bases} merge bases beside {} appends; lost: 0",
        notes - 1,
    );
}
