//! What is wrong although every digest is right, and damage below the rows.

use mk::branch::{self, Act};
use mk::canon::{Object, Value};
use mk::erase;
use mk::event::{CONTENT_MAX, Event, EventType};
use mk::id::{AgentId, EventId};
use mk::log::{Draft, Log, Outside};
use mk::store::sqlite::Durability;
use mk::store::{Engine, Sqlite, StoreError};
use mk::time::Timestamp;
use mk::verify::{Finding, Kind};
use mk::workspace;
use proptest::prelude::*;

use super::assert_finds;
use super::store::{Copy, DATE, NOTE, agent, at_work, draft, name, object, snapshot_payload};

type Change = Box<dyn Fn(&mut Event)>;

fn payload(text: impl Into<String>) -> Change {
    let text = text.into();
    Box::new(move |event| event.content.as_mut().unwrap().payload.clone_from(&text))
}

fn metadata(text: impl Into<String>) -> Change {
    let text = text.into();
    Box::new(move |event| event.content.as_mut().unwrap().metadata.clone_from(&text))
}

/// A copy whose newest event is what `write` appends.
fn after(write: impl FnOnce(&mut Log<'_>, &mut Outside<'_>)) -> Copy {
    let copy = Copy::new();
    copy.write(write);
    copy
}

/// `payload` of the newest event of `branch` with `change` made to it.
fn changed(copy: &Copy, branch: &str, change: impl FnOnce(&mut Object)) -> Change {
    let mut members = copy.newest(branch).0.members().unwrap();
    change(&mut members);
    payload(members.canonical())
}

#[test]
fn content_that_was_never_let_in_is_found() {
    let large = format!("{{\"note\":\"{}\"}}", "x".repeat(CONTENT_MAX));
    for change in [
        payload("{\"note\": \"a space\"}"),
        payload("{\"b\":1,\"a\":2}"),
        payload("{\"a\":1,\"a\":2}"),
        payload("{\"a\":1e0}"),
        payload("\"text\""),
        payload(""),
        payload(large.clone()),
        metadata("{} "),
        metadata("null"),
        metadata(large.clone()),
    ] {
        let copy = Copy::new();
        let id = copy.forge("side", change);
        let report = copy.verify();
        assert_finds(&report, Kind::Content, Some(id), "content");
        assert!(!report.findings_by_kind.contains_key("body"), "the digests are right");
    }
    // What an import notes is no part of what is limited.
    let copy = Copy::new();
    copy.forge("side", metadata(format!("{{\"import\":{large}}}")));
    assert_eq!(copy.verify().findings, []);
}

#[test]
fn a_chain_that_is_right_in_itself_but_against_the_rules_is_found() {
    let changes: [(Kind, Change); 4] = [
        (Kind::Timestamp, Box::new(|event| event.timestamp = Timestamp::from_micros(DATE))),
        (Kind::Sequence, Box::new(|event| event.sequence += 1)),
        (Kind::EventShape, Box::new(|event| event.agent = odd_agent())),
        (Kind::Fork, Box::new(|event| event.kind = EventType::Forked)),
    ];
    for (kind, change) in changes {
        let copy = Copy::new();
        let id = copy.forge("side", change);
        assert_finds(&copy.verify(), kind, Some(id), kind.as_str());
    }
}

/// An agent that no caller can name, as a damaged store holds it.
fn odd_agent() -> AgentId {
    let copy = Copy::new();
    copy.run(&format!("UPDATE event SET agent = 'a b' WHERE id = {NOTE}"));
    copy.read(|txn| txn.known_event(EventId(NOTE)).unwrap().agent)
}

fn act<'a>(agent: &'a AgentId) -> Act<'a> {
    Act { agent, reason: "because", metadata: Object::new() }
}

#[test]
fn a_fork_that_says_other_than_its_branch_is_found() {
    let ann = agent("ann");
    for (member, value) in [
        ("source_branch", Value::Null),
        ("fork_point_sequence", Value::from(99_u64)),
        ("fork_point_hash", Value::from("0".repeat(64))),
        ("fork_point_hash", Value::Null),
    ] {
        let copy = after(|log, outside| {
            let at = "main@120".parse().unwrap();
            branch::fork(log, &name("new"), &name("main"), Some(&at), act(&ann), outside).unwrap();
        });
        assert_eq!(copy.verify().findings, []);
        let change = changed(&copy, "new", |payload| drop(payload.insert(member, value)));
        let id = copy.forge("new", change);
        assert_finds(&copy.verify(), Kind::Fork, Some(id), member);
    }
}

#[test]
fn a_rollback_to_what_was_not_live_is_found() {
    let ann = agent("ann");
    let copy = || {
        let copy = after(|log, outside| {
            let at = "main~9".parse().unwrap();
            branch::rollback(log, &name("main"), &at, true, act(&ann), outside).unwrap();
        });
        assert_eq!(copy.verify().findings, []);
        copy
    };
    let event = |sql: &str| {
        let copy = copy();
        let id: i64 = copy.query(sql);
        copy.read(|txn| txn.known_event(EventId(id)).unwrap())
    };
    let reverted = event("SELECT max(id) - 3 FROM event");
    let elsewhere = event("SELECT min(id) FROM event WHERE lineage = 3");
    for (what, event) in [("reverted", &reverted), ("elsewhere", &elsewhere)] {
        let copy = copy();
        let change = changed(&copy, "main", |payload| {
            payload.insert("target_sequence", event.sequence);
            payload.insert("target_hash", event.hash.to_string());
        });
        let id = copy.forge("main", change);
        let report = copy.verify();
        if what == "reverted" {
            // It is live before the rollback, but the index and the count say another.
            assert_finds(&report, Kind::Link, Some(id), what);
        }
        assert_finds(&report, Kind::Rollback, Some(id), what);
    }
    for (member, value) in [
        ("target_sequence", Value::from(3_u64)),
        ("target_hash", Value::from("0".repeat(64))),
        ("target_hash", Value::from("zero")),
        ("reverted_count", Value::from(2_u64)),
    ] {
        let copy = copy();
        let change = changed(&copy, "main", |payload| drop(payload.insert(member, value)));
        let id = copy.forge("main", change);
        assert_finds(&copy.verify(), Kind::Rollback, Some(id), member);
    }
}

#[test]
fn a_snapshot_that_is_not_the_fold_is_found() {
    let copy = || {
        after(|log, outside| {
            let payload = snapshot_payload(log.txn(), "main").unwrap();
            let snapshot = Draft { payload, ..draft(EventType::Snapshot, "mk-gc", "{}") };
            log.append(&name("main"), snapshot, None, outside).unwrap();
        })
    };
    assert_eq!(copy().verify().findings, []);
    for (member, value) in [
        ("tasks", Value::Object(Object::new())),
        ("schema", Value::from("mk.snapshot/v0")),
        ("covers_through_sequence", Value::from(7_u64)),
        ("covers_through_hash", Value::from("0".repeat(64))),
        ("insights", Value::from("none")),
    ] {
        let copy = copy();
        let change = changed(&copy, "main", |payload| drop(payload.insert(member, value)));
        let id = copy.forge("main", change);
        assert_finds(&copy.verify(), Kind::Snapshot, Some(id), member);
    }
}

#[test]
fn an_erasure_is_no_finding_and_one_that_is_told_of_elsewhere_is() {
    let ann = agent("ann");
    let copy = Copy::new();
    let timeout = std::time::Duration::from_secs(5);
    let mut store = Sqlite::open_to_write(&copy.path, timeout, Durability::Normal).unwrap();
    let event = NOTE.to_string().parse().unwrap();
    at_work(DATE + 1_000_000_000, |outside| {
        store.write(|txn| erase::erase(txn, &[event], &name("main"), false, &act(&ann), outside))
    })
    .unwrap();
    drop(store);
    assert_eq!(copy.verify().findings, []);

    let copy = Copy::new();
    let hash = copy.read(|txn| txn.known_event(EventId(NOTE)).unwrap().hash);
    copy.forge("side", move |event| {
        event.kind = EventType::Erased;
        event.content.as_mut().unwrap().payload = format!("{{\"target_hash\":\"{hash}\"}}");
    });
    copy.run(&format!(
        "UPDATE event SET salt = NULL, payload = NULL, metadata = NULL WHERE id = {NOTE}"
    ));
    assert_finds(&copy.verify(), Kind::Erasure, Some(NOTE), "no event says why");
}

#[test]
fn an_index_that_disagrees_with_its_table_is_found() {
    for (index, change) in [
        ("event_hash", "hash = unhex(hex(substr(hash, 2)) || '00')"),
        ("event_sequence", "sequence = 4000 + sequence"),
    ] {
        let copy = Copy::new();
        let old = copy.schema(&format!("name = '{index}'"), |text| format!("{text} WHERE 0"));
        copy.run(&format!("UPDATE event SET {change} WHERE id = {NOTE}"));
        copy.schema(&format!("name = '{index}'"), |_| old[0].1.clone());
        assert_finds(&copy.verify(), Kind::Index, Some(NOTE), index);
    }
    let copy = Copy::new();
    let which = "name = 'branch_folded'";
    let old = copy.schema(which, |text| format!("{text} WHERE 0"));
    copy.run("UPDATE branch SET name = 'inside', born = 'inside' WHERE name = 'twig'");
    copy.schema(which, |_| old[0].1.clone());
    assert_finds(&copy.verify(), Kind::Index, None, "branch_folded");
}

#[test]
fn a_changed_byte_of_an_event_in_the_file_is_found() {
    let copy = Copy::new();
    let file = std::fs::read(&copy.path).unwrap();
    let event = copy.read(|txn| txn.known_event(EventId(NOTE)).unwrap());
    let content = event.content.as_ref().unwrap();
    // The log's digest stands in the row alone, and in what a split left behind of its page, where a
    // change changes nothing. Before the three digests: sequence and parent in two bytes each, the
    // timestamp in eight, the names.
    let is_row = |at: &usize| {
        let mut file = file.clone();
        file[*at] ^= 1;
        std::fs::write(&copy.path, &file).unwrap();
        !copy.verify().ok
    };
    let log = file.windows(32).enumerate().filter(|(_, it)| *it == event.log.0).map(|(at, _)| at);
    let log = log.into_iter().find(is_row).unwrap();
    let values = log - 64 - 12 - event.agent.as_str().len() - event.kind.as_str().len();
    // The types of all columns but the id, in one byte each but for the payload's two. The engine
    // passes over that of the id, which is the key of the row.
    let header = values - 13;
    let end = values
        + file[values..].windows(8).position(|it| it == &content.payload.as_bytes()[..8]).unwrap()
        + content.payload.len()
        + content.metadata.len();
    for at in header..end {
        let mut file = file.clone();
        file[at] ^= 1 << (at % 7);
        std::fs::write(&copy.path, &file).unwrap();
        let report = copy.verify();
        assert!(!report.ok, "byte {at}");
        if at >= values {
            let is_named = |finding: &Finding| finding.event_id == Some(EventId(NOTE));
            assert!(report.findings.iter().any(is_named), "byte {at}: {:#?}", report.findings);
        }
    }
}

/// What a damaged file may bring about: findings, or a refusal that calls it damaged.
fn is_told(copy: &Copy, damage: &str) {
    match copy.try_verify(&[]) {
        Ok(_) => {}
        Err(StoreError::Damaged { .. } | StoreError::Foreign { .. } | StoreError::Newer { .. }) => {
        }
        Err(other) => panic!("{damage}: {other:?}"),
    }
}

#[test]
fn a_file_that_was_cut_is_found() {
    let copy = Copy::new();
    let file = std::fs::read(&copy.path).unwrap();
    for length in [0, 1, 50, 99, 100, 101, 4095, 4096, 8192, file.len() / 2, file.len() - 1] {
        std::fs::write(&copy.path, &file[..length]).unwrap();
        is_told(&copy, &format!("cut at {length}"));
        assert!(
            copy.try_verify(&[]).is_ok_and(|report| !report.ok) || copy.try_verify(&[]).is_err()
        );
    }
}

#[test]
fn a_changed_header_is_told() {
    let copy = Copy::new();
    let file = std::fs::read(&copy.path).unwrap();
    for at in 0..120 {
        for bit in 0..8 {
            let mut file = file.clone();
            file[at] ^= 1 << bit;
            std::fs::write(&copy.path, &file).unwrap();
            is_told(&copy, &format!("byte {at}, bit {bit}"));
        }
    }
}

/// Rows that point forwards or at themselves would make a walk endless.
#[test]
fn whoever_follows_a_damaged_row_comes_to_an_end() {
    for sql in [
        "UPDATE link SET live_parent = id WHERE id = 150",
        "UPDATE link SET live_parent = id + 5 WHERE id = 150",
        "UPDATE link SET jump = id",
        "UPDATE link SET jump = id + 1, jump_depth = depth + 9",
        "UPDATE link SET depth = 0",
        "UPDATE link SET depth = 9223372036854775807",
        "UPDATE link SET other = id",
        "UPDATE link SET lineage = 3",
        "UPDATE event SET parent = id WHERE id = 150",
        "UPDATE event SET parent = id + 2 WHERE id = 150",
        "UPDATE branch SET fork_lineage = id WHERE parent IS NOT NULL",
        "UPDATE branch SET fork_lineage = 3, fork_event = 5 WHERE parent IS NOT NULL",
        "UPDATE branch SET parent = id",
    ] {
        let copy = Copy::new();
        copy.run(sql);
        assert!(!copy.verify().ok, "{sql}");
        for branch in ["main", "side", "deep"] {
            copy.read(|txn| {
                let Ok(Some(branch)) = txn.branch(branch) else { return };
                let _ = workspace::state(txn, branch.head);
                let _ = workspace::state_from_events(txn, branch.head);
                let _ = branch::lineage(txn, branch.head, 0);
                let _ = branch::merge_base(txn, branch.head, Some(EventId(150)));
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_damage_to_the_file_panics(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 1..9_usize), 1..4),
    ) {
        let copy = Copy::new();
        let mut file = std::fs::read(&copy.path).unwrap();
        for (at, byte, run) in &damage {
            let at = at.index(file.len());
            let end = (at + run).min(file.len());
            file[at..end].fill(*byte);
        }
        std::fs::write(&copy.path, &file).unwrap();
        is_told(&copy, &format!("{damage:?}"));
    }

    #[test]
    fn an_object_of_any_members_is_verified_as_it_was_appended(
        note in "\\PC{0,40}", number in any::<i64>(), double in any::<f64>(),
    ) {
        prop_assume!(double.is_finite());
        let members = [("note", Value::from(note)), ("n", number.into()), ("d", Value::Float(double))];
        let payload: Object = members.into_iter().collect();
        let copy = after(|log, outside| {
            let draft = Draft { payload, ..draft(EventType::Note, "dee", "{}") };
            log.append(&name("main"), draft, None, outside).unwrap();
        });
        prop_assert_eq!(copy.verify().findings, []);
        let _ = object("{}");
    }
}
