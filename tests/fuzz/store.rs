//! Stores in memory for what gets past a decoder.

use mk::branch::{self, Act};
use mk::canon::{Object, Value};
use mk::event::EventType;
use mk::id::{AgentId, BranchName};
use mk::log::{Draft, Log, Outside};
use mk::store::memory::Memory;
use mk::store::{Engine, Identity, StoreError};
use mk::time::Timestamp;
use mk::tokens::Tokenizer;
use mk::transfer::{self, ImportError, Imported, Selection};

pub fn now() -> Timestamp {
    Timestamp::from_micros(1_796_040_000_000_000)
}

pub fn agent() -> AgentId {
    "ann".parse().unwrap()
}

/// Runs `body` with a clock that stands still and salts that repeat.
pub fn at_work<T>(body: impl FnOnce(&mut Outside<'_>) -> T) -> T {
    let mut salts = 0_u128;
    body(&mut Outside {
        now: &mut now,
        salt: &mut || {
            salts += 1;
            salts.to_be_bytes()
        },
    })
}

/// With the empty branch `main`, and secrets taken out.
pub fn empty() -> Memory {
    let identity = Identity {
        project_id: "0123456789abcdef0123456789abcdef".to_owned(),
        root: "/project".to_owned(),
        tokenizer: Tokenizer::Estimate,
        key: [7; 32],
    };
    Memory::new(identity, now(), &agent())
}

/// With a fork, a rollback and some events on either side.
pub fn small() -> Memory {
    let mut store = empty();
    let main = BranchName::main();
    let fork: BranchName = "try/one".parse().unwrap();
    note(&mut store, &main, 6);
    let agent = agent();
    let act = || Act { agent: &agent, reason: "why", metadata: Object::new() };
    let (third, fourth) = ("3".parse().unwrap(), "4".parse().unwrap());
    let forked = at_work(|outside| {
        store.write(|txn| {
            branch::fork(&mut Log::open(txn)?, &fork, &main, Some(&third), act(), outside)
        })
    });
    forked.unwrap();
    note(&mut store, &fork, 3);
    let rolled_back = at_work(|outside| {
        store.write(|txn| {
            branch::rollback(&mut Log::open(txn)?, &main, &fourth, false, act(), outside)
        })
    });
    rolled_back.unwrap();
    note(&mut store, &main, 2);
    store
}

fn note(store: &mut Memory, branch: &BranchName, count: u64) {
    at_work(|outside| {
        store.write(|txn| {
            let mut log = Log::open(txn)?;
            for number in 0..count {
                let payload = [("note", Value::from(number.to_string()))].into_iter().collect();
                let draft = Draft {
                    kind: EventType::Note,
                    agent: agent(),
                    payload,
                    metadata: Object::new(),
                };
                log.append(branch, draft, None, outside)?;
            }
            Ok::<_, mk::log::LogError>(())
        })
    })
    .unwrap();
}

pub fn import(store: &mut Memory, lines: &[u8]) -> Result<Imported, ImportError> {
    let agent = agent();
    let act = Act { agent: &agent, reason: "", metadata: Object::new() };
    at_work(|outside| store.write(|txn| transfer::import(txn, lines, "", &act, outside)))
}

pub fn is_empty(store: &mut Memory) -> bool {
    store.read(|txn| Ok::<_, StoreError>(txn.log_head()?.is_none())).unwrap()
}

/// Everything but the tokens of leases, which rise with each import.
pub fn export(store: &mut Memory) -> String {
    let mut out = Vec::new();
    store.read(|txn| transfer::export(txn, &Selection::default(), &mut out)).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lasts = |line: &&str| !line.contains(r#""advisory":"lease""#);
    text.split_inclusive('\n').filter(lasts).collect()
}

/// What a store holds goes out and comes in elsewhere as it was.
pub fn assert_travels(store: &mut Memory) {
    let text = export(store);
    let mut other = empty();
    import(&mut other, text.as_bytes()).expect("what was exported can be imported");
    assert_eq!(export(&mut other), text);
}
