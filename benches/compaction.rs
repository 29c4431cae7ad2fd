//! Compaction: its worth on three workloads, its cost at any length, and who waits for it.

#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

mod support;
#[path = "support/workload.rs"]
mod workload;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mk::canon::{Object, Value};
use mk::compaction::{self, Collected, Order, Policy, Reason};
use mk::event::EventType;
use mk::id::{AgentId, BranchName};
use mk::log::{Draft, Log, LogError};
use mk::store::{Engine, Identity, Sqlite, memory::Memory};
use mk::time::Timestamp;
use mk::tokens::Tokenizer;
use mk::workspace;
use support::{SIZES, create, directory, fill, open, outside, store};

fn main() {
    workloads();
    growth();
    waits();
    check();
}

/// The table of MemKernel, with what it says of itself beside.
fn workloads() {
    println!(
        "{:<24} {:<10} {:>7} {:>8} {:>6} {:>9} {:>10}  {:>8} {:>6} {:>9}",
        "workload",
        "tokenizer",
        "raw",
        "context",
        "peak",
        "reduction",
        "snapshots",
        "peer's",
        "peak",
        "snapshots"
    );
    let agent: AgentId = "bench".parse().expect("a name");
    for name in workload::NAMES {
        // The peer's exact counts are those of cl100k_base.
        for (tokenizer, of_peer) in
            [(Tokenizer::Heuristic, "heuristic"), (Tokenizer::Estimate, "tiktoken")]
        {
            let identity = Identity {
                project_id: "0".repeat(32),
                root: "/".to_owned(),
                tokenizer,
                key: [7; 32],
            };
            let mut store = Memory::new(identity, Timestamp::from_micros(0), &agent);
            let measured = workload::play(&mut store, name).expect("a sound workload");
            let peer = workload::of_peer(name, of_peer);
            let peer = |member: &str| peer.get(member).and_then(Value::as_i64).unwrap_or_default();
            println!(
                "{name:<24} {tokenizer:<10} {:>7} {:>8} {:>6} {:>7.1} % {:>10}  {:>8} {:>6} {:>9}  state {}",
                measured.raw_tokens,
                measured.context_tokens,
                measured.peak_context_tokens,
                measured.reduction_percent(),
                measured.snapshots,
                peer("context_tokens"),
                peer("peak_context_tokens"),
                peer("snapshots"),
                if measured.state_equivalent { "equivalent" } else { "NOT EQUIVALENT" },
            );
        }
    }
}

fn collect(store: &mut Sqlite, dry_run: bool) -> Result<Collected, LogError> {
    let policy = Policy::with_threshold(4_000);
    let (branch, agent) = (BranchName::main(), compaction::AGENT.parse()?);
    let order = Order { branch: &branch, policy: &policy, force: true, dry_run, agent: &agent };
    outside(|outside| compaction::collect(store, &order, None, outside))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// All events as the delta, and 1,000 events after a snapshot, in logs of three lengths.
fn growth() {
    println!("\n{:<34} {:>9} {:>10}  bar", "compaction of", "events", "median");
    for size in SIZES {
        let mut store = open(&copy(&store(size), "growth"));
        let times = |store: &mut Sqlite| {
            let time = |_| {
                let begun = Instant::now();
                let done = collect(store, true).expect("a sound store");
                assert_eq!(done.reason, Reason::Compacted);
                begun.elapsed()
            };
            median((0..11).map(time).collect())
        };
        let bar = if size == 50_000 { "<= 1000 ms" } else { "" };
        println!("{:<34} {size:>9} {:>7.3} ms  {bar}", "the whole log", ms(times(&mut store)));
        collect(&mut store, false).expect("a sound store");
        fill(&mut store, &BranchName::main(), 2 * size..2 * size + 1_000);
        println!(
            "{:<34} {size:>9} {:>7.3} ms",
            "1,000 events after a snapshot",
            ms(times(&mut store))
        );
    }
}

/// How long appends wait while another connection compacts again and again.
fn waits() {
    let path = copy(&store(50_000), "waits");
    let append = |store: &mut Sqlite| {
        let begun = Instant::now();
        fill(store, &BranchName::main(), 1..2);
        begun.elapsed()
    };
    let mut writer = open(&path);
    let alone: Vec<Duration> = (0..200).map(|_| append(&mut writer)).collect();
    let done = AtomicBool::new(false);
    let (mut beside, mut collected, mut contended) = (Vec::new(), 0, 0);
    thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let mut store = open(&path);
            let (mut collected, mut contended) = (0, 0);
            while !done.load(Ordering::Relaxed) {
                match collect(&mut store, false).expect("a sound store").reason {
                    Reason::Compacted => collected += 1,
                    Reason::Contention => contended += 1,
                    _ => {}
                }
            }
            (collected, contended)
        });
        beside = (0..400).map(|_| append(&mut writer)).collect();
        done.store(true, Ordering::Relaxed);
        (collected, contended) = collector.join().expect("it does not panic");
    });
    let longest = |times: &[Duration]| ms(times.iter().copied().max().unwrap_or_default());
    println!("\n{:<34} {:>10} {:>10}  bar", "an append to 50,000 events", "median", "longest");
    println!("{:<34} {:>7.3} ms {:>7.3} ms", "alone", ms(median(alone.clone())), longest(&alone));
    println!(
        "{:<34} {:>7.3} ms {:>7.3} ms  <= 100 ms ({collected} compactions, {contended} given up)",
        "beside compactions",
        ms(median(beside.clone())),
        longest(&beside),
    );
}

/// What it costs an append to ask whether a compaction is due.
fn check() {
    let mut store = create(&directory().join("check.db"));
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..1_000 {
        for (asks, times) in [(false, &mut without), (true, &mut with)] {
            let begun = Instant::now();
            let done: Result<(), LogError> = outside(|outside| {
                store.write(|txn| {
                    let mut log = Log::open(txn)?;
                    let draft = Draft {
                        kind: EventType::Note,
                        agent: "bench".parse()?,
                        payload: workspace::event::note(&format!("note {round}")),
                        metadata: Object::new(),
                    };
                    log.append(&BranchName::main(), draft, None, outside)?;
                    if asks {
                        std::hint::black_box(compaction::due(log.txn(), log.growth())?);
                    }
                    Ok(())
                })
            });
            done.expect("a sound store");
            times.push(begun.elapsed());
        }
    }
    let (without, with) = (median(without), median(with));
    let more = 100.0 * (with.as_secs_f64() / without.as_secs_f64() - 1.0);
    println!(
        "\nan append takes {:.3} ms, with the question whether a compaction is due {:.3} ms: {more:+.1} %  (bar: <= 5 %)",
        ms(without),
        ms(with)
    );
}

/// A copy of a store, made anew.
fn copy(from: &Path, name: &str) -> PathBuf {
    let to = directory().join(format!("compaction-{name}.db"));
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let _ = fs::remove_file(format!("{}{suffix}", to.display()));
    }
    // Both files: what is in the WAL alone belongs to the store too.
    fs::copy(from, &to).expect("target/ can be written");
    let wal = format!("{}-wal", from.display());
    if Path::new(&wal).exists() {
        fs::copy(wal, format!("{}-wal", to.display())).expect("target/ can be written");
    }
    to
}
