//! Stores of a given size, made once and kept under target/.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mk::branch::{self, Act};
use mk::canon::{Object, Value};
use mk::event::EventType;
use mk::id::BranchName;
use mk::log::{Draft, Log, LogError, Outside};
use mk::store::sqlite::Durability;
use mk::store::{Engine, Identity, Sqlite, StoreError};
use mk::time::Timestamp;
use mk::tokens::Tokenizer;

/// Sizes that growth is shown at, in events.
pub const SIZES: [u64; 3] = [1_000, 50_000, 1_000_000];

/// The event number `index` of a made-up history, about 300 bytes of payload: of ten a decision, five
/// tool logs with facts and output, four notes; four agents; 50 keys, 30 commands.
pub fn event(index: u64) -> (EventType, &'static str, Object) {
    let agent = ["agent-0", "agent-1", "agent-2", "agent-3"][(index % 4) as usize];
    let text = |members: Vec<(&str, Value)>| members.into_iter().collect::<Object>();
    match index % 10 {
        0 => (
            EventType::Decision,
            agent,
            text(vec![
                ("decision_key", format!("area-{}", index / 10 % 50).into()),
                ("decision_value", format!("choice {index}").into()),
                (
                    "rationale",
                    "reasons and measurements were compared before this. ".repeat(4).into(),
                ),
            ]),
        ),
        1..=5 => {
            let facts: Object = [("tests", Value::from(index % 100))].into_iter().collect();
            let output = format!(
                "tests/test_{0}.py::test_case_{index} FAILED\nE   assert {index} == 0\n{1}",
                index % 30,
                "some line of trace back output here\n".repeat(3)
            );
            let members = vec![
                ("command", format!("pytest tests/test_{}.py", index % 30).into()),
                ("exit_code", (index % 3).min(1).into()),
                ("output", output.into()),
                ("facts", facts.into()),
            ];
            (EventType::ToolLog, agent, text(members))
        }
        _ => {
            let note = "looked at the parser and the lexer, found nothing odd there. ".repeat(4);
            (EventType::Note, agent, text(vec![("note", format!("note {index}: {note}").into())]))
        }
    }
}

/// Gives `body` a clock that stands and salts that count.
pub fn outside<T>(body: impl FnOnce(&mut Outside<'_>) -> T) -> T {
    let mut drawn = 0_u128;
    body(&mut Outside {
        now: &mut || Timestamp::from_micros(1_796_040_000_000_000),
        salt: &mut || {
            drawn += 1;
            // Spread over the whole range, as random ones are.
            (drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)).to_be_bytes()
        },
    })
}

/// A directory for what benches make.
pub fn directory() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench");
    fs::create_dir_all(&directory).expect("target/ can be written");
    directory
}

/// A new empty store at `path`.
pub fn create(path: &Path) -> Sqlite {
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let identity = Identity {
        project_id: "0".repeat(32),
        root: "/".to_owned(),
        tokenizer: Tokenizer::Heuristic,
        key: [7; 32],
    };
    let agent = "bench".parse().expect("a name");
    let now = Timestamp::from_micros(1_796_040_000_000_000);
    Sqlite::create(path, &identity, now, &agent, Duration::from_secs(1)).expect("a store");
    open(path)
}

pub fn open(path: &Path) -> Sqlite {
    Sqlite::open_to_write(path, Duration::from_secs(60), Durability::Full).expect("a store")
}

pub fn name(name: &str) -> BranchName {
    name.parse().expect("a name")
}

/// Appends the events of `range` to `branch`, in one transaction.
pub fn fill(store: &mut Sqlite, branch: &BranchName, range: std::ops::Range<u64>) {
    let done: Result<(), LogError> = outside(|outside| {
        store.write(|txn| {
            let mut log = Log::open(txn)?;
            for index in range {
                let (kind, agent, payload) = event(index);
                let agent = agent.parse().expect("a name");
                let draft = Draft { kind, agent, payload, metadata: Object::new() };
                log.append(branch, draft, None, outside)?;
            }
            Ok(())
        })
    });
    done.expect("the events are sound");
}

/// Live events after the newest checkpoint: how many decides the time of a read, so it is the same at
/// every size.
const AFTER_CHECKPOINT: u64 = 100;

/// A store of `size` events on `main`, and as many more as it takes for the newest checkpoint to be 100
/// events back. From its head the branches `left` and `right` were forked, with 50 events each.
pub fn store(size: u64) -> PathBuf {
    let path = directory().join(format!("{size}.db"));
    let ready = directory().join(format!("{size}.ready"));
    if ready.exists() {
        return path;
    }
    let mut store = create(&path);
    let mut at = 0;
    while at < size {
        let next = size.min(at + 100_000);
        fill(&mut store, &BranchName::main(), at..next);
        at = next;
    }
    while !ends_in_checkpoint(&mut store) {
        fill(&mut store, &BranchName::main(), at..at + 1);
        at += 1;
    }
    fill(&mut store, &BranchName::main(), at..at + AFTER_CHECKPOINT);
    for (index, side) in ["left", "right"].into_iter().enumerate() {
        let agent = "bench".parse().expect("a name");
        let act = Act { agent: &agent, reason: "", metadata: Object::new() };
        let forked = outside(|outside| {
            store.write(|txn| {
                let mut log = Log::open(txn)?;
                branch::fork(&mut log, &name(side), &BranchName::main(), None, act, outside)
            })
        });
        forked.expect("a free name");
        let first = at + 1_000 + index as u64 * 1_000;
        fill(&mut store, &name(side), first..first + 49);
    }
    fs::write(ready, "").expect("target/ can be written");
    path
}

fn ends_in_checkpoint(store: &mut Sqlite) -> bool {
    let kept: Result<bool, StoreError> = store.read(|txn| match txn.log_head()? {
        Some((head, _)) => Ok(txn.checkpoint(head)?.is_some()),
        None => Ok(false),
    });
    kept.expect("a sound store")
}
