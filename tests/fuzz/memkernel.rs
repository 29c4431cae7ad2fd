use std::path::Path;

use mk::lease::Place;
use mk::memkernel::{ImportError, MemKernel, Options, Plan};
use mk::store::Engine;
use mk::store::memory::Memory;

use super::assert_is_message;
use super::peer::{Peer, STAMP};
use super::store::{agent, assert_travels, at_work, empty, export, is_empty};

/// Any bytes as the file of a database of MemKernel.
pub fn memkernel_file(bytes: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("peer.db");
    std::fs::write(&file, bytes).unwrap();
    imported(&file);
}

/// A database of MemKernel: the bytes say which rows it has, and what of them is broken afterwards.
pub fn memkernel(bytes: &[u8]) {
    let mut dice = Dice(bytes);
    let peer = Peer::new();
    peer.run("BEGIN");
    for _ in 0..dice.below(24) {
        let branch = NAMES[dice.below(3)];
        match dice.below(5) {
            0 if !is_branch(&peer, NAMES[1]) => peer.fork(NAMES[1], "main"),
            1 if !is_branch(&peer, NAMES[2]) => peer.branch(NAMES[2], Some("main")),
            2 if is_branch(&peer, branch) => {
                let payload = dice.of(&PAYLOADS).replace('#', &dice.below(12).to_string());
                peer.event(branch, dice.of(&TYPES), &payload);
            }
            3 if is_branch(&peer, branch) => {
                let id = i64::try_from(dice.below(200)).unwrap() + 1_000 * dice.next();
                if !is_event(&peer, id) {
                    let (payload, metadata) = (dice.of(&PAYLOADS), dice.of(&PAYLOADS));
                    peer.event_at(id, branch, dice.of(&TYPES), payload, metadata, dice.of(&STAMPS));
                }
            }
            _ => {
                let (key, token) = (dice.of(&VALUES), dice.of(&VALUES));
                peer.run(&format!(
                    "INSERT OR REPLACE INTO leases (resource_key, fencing_token) VALUES ({key}, {token})"
                ));
            }
        }
    }
    for _ in 0..dice.below(4) {
        // A statement that the engine refuses breaks nothing.
        let _ = peer.connection.execute_batch(&breakage(&mut dice));
    }
    peer.run("COMMIT");
    imported(&peer.path());
}

const NAMES: [&str; 3] = ["main", "try/lru", "Other"];
const TYPES: [&str; 11] = [
    "AGENT_TASK_INIT",
    "ARCHITECTURAL_DECISION",
    "TOOL_EXECUTION_LOG",
    "AGENT_SCRATCHPAD",
    "FILE_CLAIM_ACQUIRED",
    "FILE_CLAIM_RELEASED",
    "SEMANTIC_SNAPSHOT",
    "BRANCH_FORKED",
    "ROLLBACK_TRIGGERED",
    "PAYLOAD_ERASED",
    "",
];
/// `#` is a small number.
const PAYLOADS: [&str; 16] = [
    "{}",
    r#"{"note":"n#"}"#,
    r#"{"decision_key":"k#","decision_value":"v","rationale":null}"#,
    r#"{"extracted_facts":{"f#":[1,null,{"x":1e300}]},"exit_code":1,"output_preview":"E"}"#,
    r#"{"task_directive":"do","constraints":["a",2]}"#,
    r#"{"target_event_id":#,"target_sequence":#,"reverted_event_ids":[],"reason":""}"#,
    r#"{"target_sequence":9223372036854775807}"#,
    r#"{"fork_point_event_id":#,"fork_point_sequence":#,"source_branch":"main","reason":""}"#,
    r#"{"covers_through_event_id":#,"covers_through_sequence":#,"schema":"memkernel.snapshot/v1"}"#,
    r#"{"resource":"src/a","fencing_token":#}"#,
    r#"{"resource":"","fencing_token":99999999999999999999}"#,
    r#"{"a":NaN}"#,
    r#"{"a":"\ud800","a":1}"#,
    "[1]",
    "",
    "\u{0}{",
];
const STAMPS: [&str; 5] = [
    STAMP,
    "2020-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59.999999+00:00",
    "2026-03-01T08:00:00.000000-14:00",
    "yesterday",
];
const TABLES: [&str; 3] = ["events", "branches", "leases"];
const COLUMNS: [&[&str]; 3] = [
    &[
        "event_id",
        "branch_id",
        "sequence",
        "timestamp",
        "agent_id",
        "parent_event_id",
        "event_type",
        "payload",
        "metadata",
        "hash",
    ],
    &[
        "branch_id",
        "parent_branch_id",
        "fork_event_id",
        "fork_sequence",
        "head_event_id",
        "head_sequence",
        "head_hash",
        "created_at",
        "created_by",
    ],
    &["resource_key", "holder_agent_id", "fencing_token", "ttl_seconds", "expires_at"],
];
const VALUES: [&str; 18] = [
    "NULL",
    "0",
    "1",
    "2",
    "5",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "1e300",
    "'1'",
    "''",
    "'main'",
    "'try/lru'",
    "'Other'",
    "'@exec'",
    "x'ff00'",
    "CAST(x'ff' AS TEXT)",
    "zeroblob(2000000)",
];

/// A statement that breaks something. It may match no row.
fn breakage(dice: &mut Dice<'_>) -> String {
    let table = dice.below(3);
    let (columns, table) = (COLUMNS[table], TABLES[table]);
    let column = columns[dice.below(columns.len())];
    match dice.below(8) {
        0 => format!("DELETE FROM {table} WHERE rowid = {}", dice.below(12)),
        1 => format!("ALTER TABLE {table} RENAME COLUMN {column} TO x{column}"),
        2 => format!("PRAGMA user_version = {}", dice.next()),
        3 => {
            let other = columns[dice.below(columns.len())];
            format!("UPDATE OR IGNORE {table} SET {column} = {other}")
        }
        4 => format!("DROP TABLE {table}; CREATE VIEW {table} AS SELECT 1 AS {column}"),
        _ => {
            let (value, row) = (dice.of(&VALUES), dice.below(12));
            format!("UPDATE OR IGNORE {table} SET {column} = {value} WHERE rowid = {row}")
        }
    }
}

fn is_branch(peer: &Peer, name: &str) -> bool {
    exists(peer, "SELECT 1 FROM branches WHERE branch_id = ?1", name)
}

fn is_event(peer: &Peer, id: i64) -> bool {
    exists(peer, "SELECT 1 FROM events WHERE event_id = ?1", id)
}

fn exists(peer: &Peer, sql: &str, what: impl rusqlite::ToSql) -> bool {
    peer.connection.prepare(sql).unwrap().exists([what]).unwrap()
}

/// Choices, made by bytes; 0 when they have run out.
struct Dice<'a>(&'a [u8]);

impl Dice<'_> {
    fn next(&mut self) -> i64 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        i64::from(*first)
    }

    fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.next()).unwrap() % sides
    }

    fn of(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }
}

/// The file is refused, or imported so that what came in travels on, and never twice.
fn imported(file: &Path) {
    let source = match MemKernel::open(file) {
        Ok(source) => source,
        Err(error) => return assert_is_message(&error),
    };
    for allow_corrupt in [false, true] {
        let options = Options { allow_corrupt, ..Options::default() };
        let mut store = empty();
        match import(&source, &mut store, &options) {
            Ok(_) => {
                assert_travels(&mut store);
                let text = export(&mut store);
                let again = import(&source, &mut store, &options).expect("it was imported before");
                assert_eq!(again.applied, Some(false), "{again:?}");
                assert_eq!(export(&mut store), text);
            }
            Err(error) => {
                assert_is_message(&error);
                assert!(is_empty(&mut store), "something stays of what was refused");
            }
        }
    }
}

fn import(source: &MemKernel, store: &mut Memory, options: &Options) -> Result<Plan, ImportError> {
    let project = || "/project".to_owned();
    let place = Place { root: project(), here: project(), folds_case: false };
    at_work(|outside| store.write(|txn| source.import(txn, options, &place, &agent(), outside)))
}
