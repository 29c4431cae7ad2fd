//! Databases of MemKernel: what comes out of an import is what went in, and what is not sound does not
//! come in.

mod broken;
mod counters;
mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use mk::branch;
use mk::canon::{Object, Value};
use mk::event::{Event, EventType};
use mk::id::{AgentId, EventId, Hash};
use mk::lease::Place;
use mk::memkernel::{ImportError, MEMBER, MemKernel, Options, Plan, peer_hash, peer_state};
use mk::store::memkernel::EventRow;
use mk::store::{Engine, ReadTxn};
use mk::time::Timestamp;
use mk::workspace;

use crate::cases;
use crate::engines::{self, File};
use source::at_work;

fn agent() -> AgentId {
    "importer".parse().unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_796_040_000_000_000)
}

fn store() -> File {
    File::new(now(), &agent())
}

fn prefixed(prefix: &str) -> Options {
    Options { prefix: Some(prefix.parse().unwrap()), ..Options::default() }
}

/// Imports `file` into `store`.
fn import<E: Engine>(store: &mut E, file: &Path, options: &Options) -> Result<Plan, ImportError> {
    let source = MemKernel::open(file)?;
    at_work(|outside| store.write(|txn| source.import(txn, options, &place(), &agent(), outside)))
}

/// The root of the project that `store` makes.
fn place() -> Place {
    Place { root: "/project".to_owned(), here: "/project/src".to_owned(), folds_case: false }
}

fn database(name: &str) -> PathBuf {
    cases::directory().join("db").join(format!("{name}.db"))
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/memkernel-import/sample.db")
}

fn expected(database: &Path) -> Value {
    let beside = database.with_extension("expected.json");
    let file = if beside.exists() { beside } else { database.with_file_name("expected.json") };
    Value::parse(&std::fs::read(file).unwrap()).unwrap()
}

/// What an event says of where it was imported from.
fn origin(event: &Event) -> Option<Object> {
    let metadata = &event.content.as_ref()?.metadata;
    Value::parse(metadata.as_bytes()).unwrap().get(MEMBER)?.as_object().cloned()
}

fn number(txn: &dyn ReadTxn, id: EventId) -> Option<i64> {
    origin(&txn.known_event(id).unwrap())?.get("event_id")?.as_i64()
}

/// Holds every branch of the import against what the peer said of it. `keeps_ids`: whether events
/// have the numbers they had, which stand in the context text.
fn assert_as_recorded(txn: &dyn ReadTxn, expected: &Value, prefix: &str, keeps_ids: bool) {
    let branches = expected.get("branches").and_then(Value::as_object).unwrap();
    assert!(!branches.is_empty());
    for (name, recorded) in branches {
        let branch = txn.branch(&format!("{prefix}{name}")).unwrap().expect(name);
        let parent = branch.parent.map(|parent| txn.lineage(parent).unwrap().born.to_string());
        let point = branch.fork_point.map(|point| number(txn, point.event));
        let head = txn.known_event(branch.head.unwrap()).unwrap();
        let link = txn.link(head.id).unwrap();
        let live = branch::live(txn, branch.head, 0).unwrap();
        let numbers = live.iter().map(|id| number(txn, *id).unwrap());
        let state = workspace::state(txn, branch.head).unwrap();
        let state = peer_state(&state, &|id| number(txn, id));
        let digest = mk::id::hex(&<sha2::Sha256 as sha2::Digest>::digest(state.canonical()));
        let mut found: BTreeMap<&str, Value> = BTreeMap::from([
            ("parent_branch_id", parent.into()),
            ("fork_event_id", point.flatten().into()),
            ("fork_sequence", branch.fork_sequence().into()),
            ("head_event_id", number(txn, head.id).into()),
            ("head_sequence", branch.head_sequence.into()),
            ("head_hash", origin(&head).unwrap().get("hash").cloned().unwrap()),
            ("snapshot_event_id", link.snapshot.and_then(|id| number(txn, id)).into()),
            ("raw_events", head.sequence.into()),
            ("live_events", link.depth.into()),
            ("live_ids_sum", numbers.sum::<i64>().into()),
            ("state", state.into()),
            ("state_sha256", digest.into()),
        ]);
        if keeps_ids {
            let context = workspace::context::full(txn, &branch).unwrap();
            found.insert("context_tokens", context.tokens.into());
        }
        let mut compared = 0;
        for (member, recorded) in recorded.as_object().unwrap() {
            if let Some(found) = found.get(member) {
                assert!(
                    found.same(recorded),
                    "{name}: {member} is {}, not {}",
                    found.canonical(),
                    recorded.canonical()
                );
                compared += 1;
            }
        }
        assert!(compared >= 8, "{name}: only {compared} members were compared");
    }
}

/// Computes the peer's chain anew, from the log alone. Answers with the number of its events.
fn peer_chain_holds(txn: &dyn ReadTxn) -> usize {
    let last = txn.log_head().unwrap().unwrap().0;
    let mut count = 0;
    for id in (1..=last.0).map(EventId) {
        let event = txn.known_event(id).unwrap();
        let Some(origin) = origin(&event).filter(|origin| origin.contains_key("event_id")) else {
            continue;
        };
        let text = |name: &str| origin.get(name).and_then(Value::as_str).unwrap().to_owned();
        let content = event.content.as_ref().unwrap();
        let metadata = match origin.get("metadata").and_then(Value::as_str) {
            Some(raw) => raw.to_owned(),
            None => {
                let metadata = Value::parse(content.metadata.as_bytes()).unwrap();
                let mut metadata = metadata.as_object().unwrap().clone();
                metadata.remove(MEMBER);
                if let Some(replaced) = origin.get("replaced") {
                    metadata.insert(MEMBER, replaced.clone());
                }
                metadata.canonical()
            }
        };
        let members = event.members().unwrap();
        let (kind, payload) = match event.kind {
            EventType::Imported => {
                let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap();
                (text("event_type").to_owned(), text("raw").to_owned())
            }
            kind => (kind.as_str().to_owned(), content.payload.clone()),
        };
        let parent = event.parent.map(|parent| txn.known_event(parent).unwrap());
        let row = EventRow {
            id: origin.get("event_id").and_then(Value::as_i64).unwrap(),
            branch: event.branch.to_string(),
            sequence: event.sequence.cast_signed(),
            timestamp: text("timestamp"),
            agent: event.agent.to_string(),
            parent: origin.get("parent_event_id").and_then(Value::as_i64),
            kind,
            payload,
            metadata,
            hash: text("hash"),
        };
        let prev = parent.map_or(Hash::ZERO, |parent| {
            let hash = self::origin(&parent).unwrap();
            hash.get("hash").and_then(Value::as_str).unwrap().parse().unwrap()
        });
        assert_eq!(peer_hash(&row, &prev).to_string(), row.hash, "event {id}");
        assert_eq!(row.timestamp.parse::<Timestamp>().unwrap(), event.timestamp);
        count += 1;
    }
    count
}

fn assert_verifies(store: &mut File) {
    let report = mk::verify::verify(store, &[], &|_, _| {}).unwrap();
    assert_eq!(report.findings, []);
}

#[test]
fn the_hash_of_the_peer_is_computed_over_the_stored_texts() {
    let mut checked = 0;
    for line in cases::read_lines(&cases::directory().join("unit/hash.jsonl")) {
        let line = Value::from(line);
        let event = line.get("event").unwrap();
        let text = |of: &Value, name: &str| of.get(name).unwrap().as_str().unwrap().to_owned();
        let row = EventRow {
            id: event.get("event_id").and_then(Value::as_i64).unwrap(),
            branch: text(event, "branch_id"),
            sequence: event.get("sequence").and_then(Value::as_i64).unwrap(),
            timestamp: text(event, "timestamp"),
            agent: text(event, "agent_id"),
            parent: event.get("parent_event_id").and_then(Value::as_i64),
            kind: text(event, "event_type"),
            payload: text(&line, "stored_payload"),
            metadata: text(&line, "stored_metadata"),
            hash: text(&line, "hash"),
        };
        let prev = text(&line, "prev").parse().unwrap();
        assert_eq!(peer_hash(&row, &prev).to_string(), row.hash);
        checked += 1;
    }
    assert!(checked > 5);
}

#[test]
fn a_database_comes_out_as_it_went_in() {
    for (file, events) in [(sample(), 14), (database("small"), 30), (database("medium"), 1_000)] {
        let expected = expected(&file);
        let mut store = store();
        let plan = import(&mut *store, &file, &Options::default()).unwrap();
        assert_eq!(plan.warnings, Default::default());
        store
            .read(|txn| {
                assert_as_recorded(txn, &expected, "", true);
                assert_eq!(peer_chain_holds(txn), events);
                for id in 1..=events as i64 {
                    assert_eq!(number(txn, EventId(id)), Some(id));
                }
                Ok::<_, ImportError>(())
            })
            .unwrap();
        assert_verifies(&mut store);
    }
}

#[test]
fn fifty_thousand_events_come_out_as_they_went_in() {
    let directory = tempfile::tempdir().unwrap();
    let (script, file) = (database("make_large"), directory.path().join("large.db"));
    let made = Command::new("python3").arg(script.with_extension("py")).arg(&file).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let expected = expected(&database("large"));
    let mut store = store();
    let plan = import(&mut *store, &file, &Options::default()).unwrap();
    assert_eq!(plan.warnings, Default::default());
    store
        .read(|txn| {
            assert_as_recorded(txn, &expected, "", true);
            assert_eq!(peer_chain_holds(txn), 50_000);
            Ok::<_, ImportError>(())
        })
        .unwrap();
    assert_verifies(&mut store);
}

#[test]
fn under_a_prefix_it_comes_out_the_same_but_for_names_and_numbers() {
    for file in [sample(), database("small"), database("medium")] {
        let expected = expected(&file);
        let mut store = store();
        import(&mut *store, &sample(), &Options::default()).unwrap();
        import(&mut *store, &file, &prefixed("old/team")).unwrap();
        store
            .read(|txn| {
                assert_as_recorded(txn, &expected, "old/team/", false);
                peer_chain_holds(txn);
                Ok::<_, ImportError>(())
            })
            .unwrap();
        assert_verifies(&mut store);
    }
}

#[test]
fn both_engines_take_in_the_same() {
    let file = database("small");
    let (mut sqlite, mut memory) = (store(), engines::memory(now(), &agent()));
    let plans = [
        import(&mut *sqlite, &file, &Options::default()).unwrap(),
        import(&mut memory, &file, &Options::default()).unwrap(),
    ];
    assert_eq!(plans[0].plan_id, plans[1].plan_id);
    let head = |txn: &dyn ReadTxn| Ok::<_, ImportError>(txn.log_head()?);
    assert_eq!(sqlite.read(head).unwrap(), memory.read(head).unwrap());
}
