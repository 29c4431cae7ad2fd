//! Library paths whose cost must not grow with the log: the same operation at 1k, 50k and 1M events.
//!
//! `benches/run.sh` prints the medians as ratios beside their bars.

mod support;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mk::branch::{self, Act, BranchError};
use mk::canon::Object;
use mk::id::{AgentId, BranchName};
use mk::lease::{self, Again, Claimant, LeaseError, Resource};
use mk::log::{Log, Outside};
use mk::revision::Revision;
use mk::store::{Engine, Origin, Sqlite, StoreError};
use mk::time::Timestamp;
use mk::workspace::{self, context, diff};
use rusqlite::Connection;
use support::{SIZES, create, directory, name, open, outside, store};

/// The time of leases.
const NOW: i64 = 1_796_040_000_000_000;

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
                black_box(context::compose(
                    txn,
                    &branch,
                    context::DEFAULT_BUDGET,
                    None,
                    Timestamp::from_micros(NOW),
                )?);
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

/// A grant and its giving back, two transactions, beside two of one row each in a database made alike.
fn leases(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lease");
    let (ours, floor) = (directory().join("lease.db"), directory().join("lease-floor.db"));
    let mut store = create(&ours);
    let agent = "agent-0".parse().expect("a name");
    let resource = Resource::of_key("src/lib.rs").expect("a key");
    group.bench_function("acquire + release", |bencher| {
        bencher.iter(|| {
            outside(|outside| acquire_and_release(&mut store, &resource, &agent, outside))
        });
    });
    drop(create(&floor));
    let floor = Connection::open(&floor).expect("a database");
    floor
        .execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE bare(id INTEGER PRIMARY KEY, payload TEXT NOT NULL);",
        )
        .expect("room for a table");
    let payload = "x".repeat(300);
    group.bench_function("two bare transactions", |bencher| {
        bencher.iter(|| {
            for _ in 0..2 {
                floor.execute("INSERT INTO bare(payload) VALUES (?1)", [&payload]).expect("a row");
            }
        });
    });
}

fn acquire_and_release(
    store: &mut Sqlite,
    resource: &Resource,
    agent: &AgentId,
    outside: &mut Outside<'_>,
) {
    let (main, none) = (BranchName::main(), Object::new());
    let now = Timestamp::from_micros(NOW);
    let who = Claimant { agent, session: "", origin: Origin::Tool };
    let wanted = std::slice::from_ref(resource);
    let terms = (lease::DEFAULT_TTL, Again::Renew);
    let granted: Result<_, LeaseError> = store.write(|txn| {
        let mut log = Log::open(txn)?;
        lease::acquire(&mut log, &main, wanted, who, terms, &none, (now, &mut *outside))
    });
    let token = granted.expect("it is free").leases[0].fencing_token;
    let released: Result<_, LeaseError> = store.write(|txn| {
        let which = (resource, token);
        lease::release(&mut Log::open(txn)?, None, which, agent, &none, (now, outside))
    });
    released.expect("it is held");
}

criterion_group!(kernel, reads, writes, leases);
criterion_main!(kernel);
