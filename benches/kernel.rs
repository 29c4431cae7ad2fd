//! Library paths whose cost must not grow with the log: the same operation at 1k, 50k and 1M events.
//!
//! `benches/run.sh` prints the medians as ratios beside their bars.

mod support;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mk::branch::{self, Act, BranchError};
use mk::canon::Object;
use mk::id::BranchName;
use mk::log::Log;
use mk::revision::Revision;
use mk::store::{Engine, Sqlite, StoreError};
use mk::workspace::{self, context, diff};
use support::{SIZES, name, open, outside, store};

fn reads(criterion: &mut Criterion) {
    type Read = fn(&mut Sqlite) -> Result<(), StoreError>;
    let reads: [(&str, Read); 4] = [
        ("state", |store| {
            store.read(|txn| {
                let head = txn.branch("main")?.and_then(|branch| branch.head);
                black_box(workspace::state(txn, head)?);
                Ok(())
            })
        }),
        ("context", |store| {
            store.read(|txn| {
                let branch = txn.branch("main")?.expect("every store has main");
                black_box(context::compose(txn, &branch, context::DEFAULT_BUDGET)?);
                Ok(())
            })
        }),
        ("merge_base", |store| {
            store.read(|txn| {
                let head = |name| Ok::<_, StoreError>(txn.branch(name)?.and_then(|b| b.head));
                black_box(branch::merge_base(txn, head("left")?, head("right")?)?);
                Ok(())
            })
        }),
        ("diff", |store| {
            store.read(|txn| {
                let head = |name| Ok::<_, StoreError>(txn.branch(name)?.and_then(|b| b.head));
                let (left, right) = (("left", head("left")?), ("right", head("right")?));
                black_box(diff::diff(txn, left, right)?);
                Ok(())
            })
        }),
    ];
    for (path, read) in reads {
        let mut group = criterion.benchmark_group(path);
        for size in SIZES {
            let mut store = open(&store(size));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| read(&mut store).expect("a sound store"));
            });
        }
    }
}

/// Carried out in full and then given up, so that every round finds the same store: the sync that a
/// commit adds is the same at any size.
struct GiveUp;

impl From<StoreError> for GiveUp {
    fn from(error: StoreError) -> Self {
        panic!("{error}")
    }
}

fn writes(criterion: &mut Criterion) {
    type Write = fn(&mut Log<'_>, &Revision) -> Result<(), BranchError>;
    let writes: [(&str, Write); 2] = [
        ("fork", |log, at| {
            outside(|outside| {
                let agent = "agent-0".parse().expect("a name");
                let act = Act { agent: &agent, reason: "", metadata: Object::new() };
                let main = BranchName::main();
                branch::fork(log, &name("new"), &main, Some(at), act, outside).map(|_| ())
            })
        }),
        ("rollback", |log, to| {
            outside(|outside| {
                let agent = "agent-0".parse().expect("a name");
                let act = Act { agent: &agent, reason: "", metadata: Object::new() };
                let main = BranchName::main();
                branch::rollback(log, &main, to, true, act, outside).map(|_| ())
            })
        }),
    ];
    for (path, write) in writes {
        let mut group = criterion.benchmark_group(path);
        for size in SIZES {
            let mut store = open(&store(size));
            let middle: Revision = (size / 2).to_string().parse().expect("an event id");
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| {
                    let given_up: Result<(), GiveUp> = store.write(|txn| {
                        write(&mut Log::open(txn)?, &middle).expect("a sound store");
                        Err(GiveUp)
                    });
                    assert!(given_up.is_err());
                });
            });
        }
    }
}

criterion_group!(kernel, reads, writes);
criterion_main!(kernel);
