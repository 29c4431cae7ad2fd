//! Databases that are not sound, or none at all.

use std::fs;

use mk::canon::Value;
use mk::code::{Code, Coded};
use mk::memkernel::{Finding, ImportError, MemKernel, Options, Plan};
use mk::store::Engine;
use mk::store::memkernel::SourceError;

use super::source::{Peer, STAMP, changed};
use super::{
    assert_as_recorded, assert_verifies, database, expected, import, number, place, prefixed,
    sample, store,
};
use crate::cases;

fn allowed() -> Options {
    Options { allow_corrupt: true, ..Options::default() }
}

/// What is found wrong with `file`, an import of which is refused and leaves nothing.
#[track_caller]
fn findings(file: &std::path::Path) -> Vec<Finding> {
    let mut store = store();
    match import(&mut *store, file, &Options::default()) {
        Err(error @ ImportError::Blocked { .. }) => {
            assert_eq!(error.code(), Code::PLAN_BLOCKED);
            let last = store.read(|txn| Ok::<_, ImportError>(txn.log_head()?)).unwrap();
            assert_eq!(last, None);
            let ImportError::Blocked { findings, count } = error else { unreachable!() };
            assert_eq!(findings.len() as u64, count);
            findings
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// What of `file` is imported although it is broken.
#[track_caller]
fn salvaged(file: &std::path::Path) -> Plan {
    let mut store = store();
    let plan = import(&mut *store, file, &allowed()).unwrap();
    assert_verifies(&mut store);
    plan
}

/// Appends to a database what cannot be.
type Forge<'f> = Box<dyn Fn(&Peer) + 'f>;

fn places(findings: &[Finding]) -> Vec<(&str, Option<i64>)> {
    findings.iter().map(|finding| (finding.branch.as_str(), finding.event_id)).collect()
}

#[test]
fn each_recorded_edit_that_must_be_refused_is_refused_and_no_other() {
    let mut seen = 0;
    for line in cases::read_lines(&cases::directory().join("db/tamper.jsonl")) {
        let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap().to_owned();
        let list = |name: &str| {
            let items = line.get(name).and_then(Value::as_array).unwrap();
            items.iter().map(|item| item.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (edit, sql) = (text("edit"), list("sql"));
        let sql: Vec<&str> = sql.iter().map(String::as_str).collect();
        let (_directory, file) = changed(&database(text("source").trim_end_matches(".db")), &sql);
        if line.get("must_be_refused").is_some_and(|refused| refused.same(&true.into())) {
            let findings = findings(&file);
            for name in list("peer_finds_broken") {
                assert!(findings.iter().any(|it| it.branch == name), "{edit}: not '{name}'");
            }
            salvaged(&file);
        } else {
            let mut store = store();
            import(&mut *store, &file, &Options::default()).unwrap();
            assert_verifies(&mut store);
        }
        seen += 1;
    }
    assert!(seen >= 19, "{seen} edits");
}

#[test]
fn a_changed_payload_breaks_every_branch_whose_lineage_holds_it() {
    let unlock = "DROP TRIGGER events_no_update";
    let change = |id: i64| {
        format!("UPDATE events SET payload = replace(payload, 'a', 'b') WHERE event_id = {id}")
    };
    let (_directory, file) = changed(&sample(), &[unlock, &change(3)]);
    let found = findings(&file);
    assert_eq!(places(&found), [("main", Some(3)), ("try/lru", Some(3))]);
    let plan = salvaged(&file);
    assert_eq!(plan.warnings.by_kind["chain_broken"], 2);
    assert_eq!(plan.planned_actions[0].count, 2);

    let (_directory, file) = changed(&sample(), &[unlock, &change(11)]);
    assert_eq!(places(&findings(&file)), [("main", Some(11))]);
    let mut store = store();
    import(&mut *store, &file, &allowed()).unwrap();
    store
        .read(|txn| {
            assert_eq!(txn.branch("main")?.unwrap().head_sequence, 6);
            assert_eq!(txn.branch("try/lru")?.unwrap().head_sequence, 10);
            Ok::<_, ImportError>(())
        })
        .unwrap();
}

#[test]
fn a_file_of_another_kind_is_named_as_what_it_is() {
    let refusal = |file: &std::path::Path| match MemKernel::open(file) {
        Err(error) => (error.code(), error.to_string()),
        Ok(_) => panic!("it was taken for a database of the peer"),
    };
    let (_directory, newer) = changed(&sample(), &["PRAGMA user_version = 7"]);
    assert_eq!(refusal(&newer).0, Code::SOURCE_VERSION);
    let (_directory, unversioned) = changed(&sample(), &["PRAGMA user_version = 0"]);
    assert_eq!(refusal(&unversioned).0, Code::SOURCE_VERSION);
    for sql in [
        "DROP TABLE events",
        "ALTER TABLE events DROP COLUMN metadata",
        "DROP TABLE branches; CREATE VIEW branches AS SELECT 1 AS branch_id",
    ] {
        let (_directory, lacking) = changed(&sample(), &[sql]);
        assert_eq!(refusal(&lacking).0, Code::NOT_MEMKERNEL, "{sql}");
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.db");
    for (content, code) in [
        (b"".to_vec(), Code::NOT_MEMKERNEL),
        (b"no database at all".to_vec(), Code::NOT_MEMKERNEL),
        (vec![0; 70_000], Code::NOT_MEMKERNEL),
        (fs::read(sample()).unwrap()[..3_000].to_vec(), Code::SOURCE_DAMAGED),
    ] {
        fs::write(&file, content).unwrap();
        let (found, message) = refusal(&file);
        assert_eq!(found, code, "{message}");
    }
    for nowhere in [directory.path(), &directory.path().join("none.db")] {
        let code = refusal(nowhere).0;
        assert_eq!((code.name, code.retryable), (Code::IO.name, false));
    }
}

#[test]
fn any_cut_and_any_changed_byte_is_refused_or_imported_soundly() {
    let whole = fs::read(sample()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x.db");
    let mut imported = 0;
    let mut check = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let mut store = store();
        if import(&mut *store, &file, &allowed()).is_ok() {
            assert_verifies(&mut store);
            imported += 1;
        }
    };
    for cut in (0..whole.len()).step_by(7_001) {
        check(&whole[..cut]);
    }
    for at in (0..whole.len()).step_by(1_511) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        check(&bytes);
    }
    assert!(imported > 10, "{imported}");
}

#[test]
fn tables_of_later_builds_may_be_missing() {
    let drop =
        ["coordination_notices", "notice_sources", "sync_state", "sync_identity", "sync_audit"]
            .map(|table| format!("DROP TABLE {table}"));
    let drop: Vec<&str> = drop.iter().map(String::as_str).collect();
    let (_directory, file) = changed(&sample(), &drop);
    let mut store = store();
    import(&mut *store, &file, &Options::default()).unwrap();
    let expected = expected(&sample());
    store
        .read(|txn| {
            assert_as_recorded(txn, &expected, "", true);
            Ok::<_, ImportError>(())
        })
        .unwrap();
}

#[test]
fn values_of_the_wrong_type_are_findings() {
    for (sql, place) in [
        ("UPDATE events SET payload = x'00' WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET payload = zeroblob(40000000) WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET metadata = NULL WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET payload = '[]' WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET sequence = 1.5 WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET parent_event_id = 'x' WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET hash = 5 WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET agent_id = 'a b' WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET timestamp = 'noon' WHERE event_id = 2", ("main", Some(2))),
        ("UPDATE events SET branch_id = 'gone' WHERE event_id = 2", ("gone", Some(2))),
        ("UPDATE events SET event_id = -5 WHERE event_id = 1", ("main", Some(-5))),
        ("UPDATE branches SET fork_sequence = 'x'", ("main", None)),
        ("UPDATE branches SET created_by = ''", ("main", None)),
        ("UPDATE branches SET created_at = 5", ("main", None)),
        ("UPDATE branches SET parent_branch_id = 'main'", ("main", None)),
        ("UPDATE branches SET parent_branch_id = 'gone'", ("main", None)),
        ("UPDATE branches SET head_event_id = 1", ("main", Some(1))),
        ("UPDATE branches SET head_sequence = -1", ("main", Some(3))),
    ] {
        let peer = Peer::new();
        for note in ["a", "b", "c"] {
            peer.event("main", "AGENT_SCRATCHPAD", &format!(r#"{{"note":"{note}"}}"#));
        }
        peer.run(sql);
        let found = findings(&peer.path());
        assert!(places(&found).contains(&place), "{sql}: {found:?}");
        salvaged(&peer.path());
    }
}

#[test]
fn sound_hashes_over_what_cannot_be_do_not_help() {
    let note = |peer: &Peer| {
        peer.event("main", "AGENT_SCRATCHPAD", r#"{"note":"a"}"#);
    };
    let snapshot = |covers: i64, sequence: i64| {
        format!(
            r#"{{"covers_through_event_id":{covers},"covers_through_sequence":{sequence},"schema":"memkernel.snapshot/v1"}}"#
        )
    };
    let rollback = |target: i64, sequence: i64| {
        format!(
            r#"{{"reason":"","reverted_event_ids":[],"target_event_id":{target},"target_sequence":{sequence}}}"#
        )
    };
    let (snapshot, rollback) = (&snapshot, &rollback);
    let forged: [(&str, Forge<'_>); 10] = [
        (
            "a fork in a root",
            Box::new(|peer| {
                peer.event("main", "BRANCH_FORKED", "{}");
            }),
        ),
        (
            "a fork that begins otherwise",
            Box::new(|peer| {
                peer.branch("side", Some("main"));
                peer.event("side", "AGENT_SCRATCHPAD", "{}");
            }),
        ),
        ("a fork without its event", Box::new(|peer| peer.branch("side", Some("main")))),
        (
            "a fork of another branch",
            Box::new(|peer| {
                peer.fork("side", "main");
                peer.fork("third", "main");
                peer.run("UPDATE branches SET parent_branch_id = 'side' WHERE branch_id = 'third'");
            }),
        ),
        (
            "a circle of branches",
            Box::new(|peer| {
                peer.fork("b", "main");
                peer.fork("c", "b");
                peer.run("UPDATE branches SET parent_branch_id = 'c' WHERE branch_id = 'b'");
            }),
        ),
        (
            "a rollback to what comes later",
            Box::new(|peer| {
                peer.event("main", "ROLLBACK_TRIGGERED", &rollback(9, 9));
            }),
        ),
        (
            "a rollback to another sequence",
            Box::new(|peer| {
                peer.event("main", "ROLLBACK_TRIGGERED", &rollback(1, 2));
            }),
        ),
        (
            "a rollback to what was reverted",
            Box::new(|peer| {
                note(peer);
                peer.event("main", "ROLLBACK_TRIGGERED", &rollback(1, 1));
                peer.event("main", "ROLLBACK_TRIGGERED", &rollback(2, 2));
            }),
        ),
        (
            "a snapshot of what is not there",
            Box::new(|peer| {
                peer.event("main", "SEMANTIC_SNAPSHOT", &snapshot(i64::MAX, 7));
            }),
        ),
        (
            "a snapshot of another form",
            Box::new(|peer| {
                peer.event("main", "SEMANTIC_SNAPSHOT", r#"{"schema":"mk.snapshot/v1"}"#);
            }),
        ),
    ];
    for (what, forge) in forged {
        let peer = Peer::new();
        note(&peer);
        forge(&peer);
        assert!(!findings(&peer.path()).is_empty(), "{what}");
        salvaged(&peer.path());
    }
}

#[test]
fn what_canonical_json_cannot_hold_is_kept_as_text_in_its_place() {
    let peer = Peer::new();
    let deep = format!(r#"{{"x":{}0{}}}"#, "[".repeat(80), "]".repeat(80));
    peer.event("main", "ARCHITECTURAL_DECISION", r#"{"decision_key":"k","decision_value":NaN}"#);
    peer.event("main", "TOOL_EXECUTION_LOG", &deep);
    peer.event("main", "RETRACTED", r#"{"key":"k","kind":"decision"}"#);
    peer.event("main", "FROM_THE_FUTURE", "{}");
    let metadata = r#"{"import":{"mine":1},"x":1}"#;
    peer.event_at(5, "main", "AGENT_SCRATCHPAD", "{}", metadata, STAMP);
    let metadata = r#"{"x":-Infinity}"#;
    let earlier = "2020-01-01T00:00:00.000000+00:00";
    peer.event_at(6, "main", "AGENT_SCRATCHPAD", r#"{"note":"kept"}"#, metadata, earlier);
    let mut store = store();
    let plan = import(&mut *store, &peer.path(), &Options::default()).unwrap();
    assert_eq!(plan.warnings.by_kind.into_iter().collect::<Vec<_>>(), [("kept_as_text", 4)]);
    store
        .read(|txn| {
            assert_eq!(super::peer_chain_holds(txn), 6);
            let event = txn.known_event(mk::id::EventId(6))?;
            assert_eq!(event.content.unwrap().payload, r#"{"note":"kept"}"#);
            assert_eq!(event.timestamp.to_string(), "2020-01-01T00:00:00.000000Z");
            Ok::<_, ImportError>(())
        })
        .unwrap();
    assert_verifies(&mut store);
}

#[test]
fn a_forged_snapshot_and_a_secret_are_reported() {
    let peer = Peer::new();
    peer.event(
        "main",
        "ARCHITECTURAL_DECISION",
        r#"{"decision_key":"db","decision_value":"sqlite"}"#,
    );
    let claim = r#""covers_through_event_id":1,"covers_through_sequence":1,"decisions":{}"#;
    let forged = format!(r#"{{{claim},"insights":["i"],"schema":"memkernel.snapshot/v1"}}"#);
    peer.event("main", "SEMANTIC_SNAPSHOT", &forged);
    let token = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2");
    peer.event("main", "AGENT_SCRATCHPAD", &format!(r#"{{"note":"{token}"}}"#));
    let mut store = store();
    let source = MemKernel::open(&peer.path()).unwrap();
    let agent = super::agent();
    let rehearsed =
        store.read(|txn| source.rehearse(txn, &Options::default(), &place(), &agent)).unwrap();
    let plan = import(&mut *store, &peer.path(), &Options::default()).unwrap();
    assert_eq!(plan.warnings, rehearsed.warnings);
    assert_eq!(plan.plan_id, rehearsed.plan_id);
    let kinds: Vec<_> = plan.warnings.listed.iter().map(|it| (it.kind, it.event_id)).collect();
    assert_eq!(kinds, [("snapshot_forged", Some(2)), ("secret_found", Some(3))]);
    store
        .read(|txn| {
            let state = mk::workspace::state(txn, txn.branch("main")?.unwrap().head)?;
            assert_eq!(state.decisions["db"].value, "sqlite");
            assert_eq!(state.insights, ["i"]);
            Ok::<_, ImportError>(())
        })
        .unwrap();
}

#[test]
fn gaps_in_the_numbers_and_names_of_old_are_borne_with() {
    let peer = Peer::new();
    peer.branch("a..b", None);
    peer.branch("Main", None);
    peer.event_at(5, "main", "AGENT_SCRATCHPAD", "{}", "{}", STAMP);
    peer.event_at(9, "Main", "AGENT_SCRATCHPAD", "{}", "{}", STAMP);
    peer.event_at(i64::MAX, "a..b", "AGENT_SCRATCHPAD", "{}", "{}", STAMP);
    let mut store = store();
    let plan = import(&mut *store, &peer.path(), &Options::default()).unwrap();
    assert_eq!(plan.warnings.by_kind["event_ids_changed"], 1);
    store
        .read(|txn| {
            assert_eq!(number(txn, mk::id::EventId(3)), Some(i64::MAX));
            Ok::<_, ImportError>(())
        })
        .unwrap();
    assert_verifies(&mut store);
}

#[test]
fn ten_thousand_branches_are_imported() {
    let peer = Peer::new();
    peer.run("BEGIN");
    peer.event("main", "AGENT_SCRATCHPAD", "{}");
    let mut parent = "main".to_owned();
    for number in 0..10_000 {
        let name = format!("b{number}");
        peer.fork(&name, &parent);
        if number % 10 == 0 {
            parent = name;
        }
    }
    peer.run("COMMIT");
    let mut store = store();
    let plan = import(&mut *store, &peer.path(), &Options::default()).unwrap();
    assert_eq!(plan.planned_actions.len(), 10_001);
    let again = import(&mut *store, &peer.path(), &Options::default()).unwrap();
    assert_eq!((again.planned_actions, again.known), (Vec::new(), 10_001));
}

#[test]
fn a_source_that_is_written_to_meanwhile_is_refused() {
    let (directory, file) = changed(&sample(), &[]);
    let mut store = store();
    let source = MemKernel::open(&file).unwrap();
    fs::write(directory.path().join("sample.db-wal"), "something").unwrap();
    let refused = super::at_work(|outside| {
        store.write(|txn| {
            source.import(txn, &Options::default(), &place(), &super::agent(), outside)
        })
    });
    match refused {
        Err(ImportError::Source(error @ SourceError::Changed { .. })) => {
            assert!(error.code().retryable);
        }
        other => panic!("{other:?}"),
    }
    let last = store.read(|txn| Ok::<_, ImportError>(txn.log_head()?)).unwrap();
    assert_eq!(last, None);
}

#[test]
fn a_prefix_must_make_names() {
    let mut store = store();
    let long = prefixed(&"p".repeat(125));
    let refused = import(&mut *store, &sample(), &long).unwrap_err();
    assert_eq!(refused.code(), Code::INVALID_ARGUMENT);
}
