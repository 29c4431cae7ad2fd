//! A store with everything in it, and copies of it to damage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use mk::branch::{self, Act};
use mk::canon::{Object, Value};
use mk::event::{Event, EventType, Retractable, chain_log};
use mk::id::{AgentId, BranchName, EventId, Hash};
use mk::lease::{self, Again, Claimant, Resource, Ttl};
use mk::log::{Draft, Log, LogError, Outside};
use mk::operation::{OpId, OperationError, once};
use mk::revision::Revision;
use mk::store::sqlite::Durability;
use mk::store::{
    AuditRow, Binding, Engine, Identity, Lease, Notice, Origin, PeerRow, ReadTxn, Sqlite,
    StoreError, WriteTxn,
};
use mk::time::Timestamp;
use mk::tokens::Tokenizer;
use mk::verify::{Anchor, Report, verify};
use mk::workspace;
use rusqlite::Connection;

pub const DATE: i64 = 1_796_040_000_000_000;

/// The event whose rows the tests change, and the one after it on its branch.
pub const NOTE: i64 = 150;
pub const NEXT: i64 = 151;

pub fn name(name: &str) -> BranchName {
    name.parse().unwrap()
}

pub fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

pub fn object(text: &str) -> Object {
    mk::event::read_object("payload", text.as_bytes()).unwrap()
}

/// Runs `body` with a clock that goes a millisecond a reading.
pub fn at_work<T>(start: i64, body: impl FnOnce(&mut Outside<'_>) -> T) -> T {
    let mut micros = start;
    let mut salts = 0_u128;
    body(&mut Outside {
        now: &mut || {
            micros += 1_000;
            Timestamp::from_micros(micros)
        },
        salt: &mut || {
            salts += 1;
            salts.to_be_bytes()
        },
    })
}

pub fn create(path: &Path) -> Sqlite {
    let identity = Identity {
        project_id: "a1".repeat(16),
        root: "/tmp".to_owned(),
        tokenizer: Tokenizer::Heuristic,
        key: [7; 32],
    };
    let now = Timestamp::from_micros(DATE);
    Sqlite::create(path, &identity, now, &agent("ann"), Duration::from_secs(5)).unwrap();
    Sqlite::open_to_write(path, Duration::from_secs(5), Durability::Normal).unwrap()
}

pub fn draft(kind: EventType, by: &str, payload: &str) -> Draft {
    Draft { kind, agent: agent(by), payload: object(payload), metadata: Object::new() }
}

/// The payload of a snapshot of all of `branch`.
pub fn snapshot_payload(txn: &dyn ReadTxn, branch: &str) -> Option<Object> {
    let head = txn.branch(branch).unwrap()?.head?;
    let event = txn.known_event(head).unwrap();
    let state = workspace::state(txn, Some(head)).unwrap();
    let mut payload = state.canonical().as_object().unwrap().clone();
    payload.insert("schema", "mk.snapshot/v1");
    payload.insert("covers_through_sequence", event.sequence);
    payload.insert("covers_through_hash", event.hash.to_string());
    Some(payload)
}

fn fill(txn: &mut dyn WriteTxn, outside: &mut Outside<'_>) {
    let act = |by: &'static str| {
        let agent: &'static AgentId = Box::leak(Box::new(agent(by)));
        Act { agent, reason: "because", metadata: Object::new() }
    };
    let at = |text: &str| text.parse::<Revision>().unwrap();
    let main = name("main");
    let mut log = Log::open(txn).unwrap();
    let add = |log: &mut Log<'_>, outside: &mut Outside<'_>, branch: &BranchName, number: usize| {
        let by = ["ann", "bob", "cy"][number / 7 % 3];
        let (kind, payload) = match number % 10 {
            1 => {
                let run = format!(r#""command":"make {}","exit_code":{}"#, number % 4, number % 3);
                let facts = format!(r#""facts":{{"port {}":{number}}}"#, number % 6);
                (EventType::ToolLog, format!(r#"{{{run},"output":"E: no such file",{facts}}}"#))
            }
            2 => {
                let key =
                    format!(r#""decision_key":"k{}","decision_value":"v{number}""#, number % 5);
                (EventType::Decision, format!(r#"{{{key},"rationale":"r"}}"#))
            }
            3 => (EventType::Task, format!(r#"{{"directive":"task {number}"}}"#)),
            _ => {
                let note = format!("note {number} ").repeat(60);
                (EventType::Note, format!(r#"{{"note":"{note}é\n"}}"#))
            }
        };
        let mut draft = draft(kind, by, &payload);
        if number.is_multiple_of(5) {
            draft.metadata = object(r#"{"git":{"commit":"0123"},"weight":1.5}"#);
        }
        log.append(branch, draft, None, outside).unwrap();
    };
    for number in 0..200 {
        add(&mut log, outside, &main, number);
    }
    let side = name("side");
    branch::fork(&mut log, &side, &main, Some(&at("main@100")), act("bob"), outside).unwrap();
    for number in 0..200 {
        add(&mut log, outside, &main, number);
        add(&mut log, outside, &side, number + 3);
    }
    branch::rollback(&mut log, &main, &at("main@380"), true, act("ann"), outside).unwrap();
    branch::retract(&mut log, &main, Retractable::Decision, "k2", act("cy"), outside).unwrap();
    let deep = name("deep");
    branch::fork(&mut log, &deep, &side, None, act("cy"), outside).unwrap();
    branch::fork(&mut log, &name("other"), &main, None, act("ann"), outside).unwrap();
    for number in 0..80 {
        add(&mut log, outside, &deep, number);
    }
    branch::rollback(&mut log, &deep, &at("deep@200"), true, act("ann"), outside).unwrap();
    let payload = snapshot_payload(log.txn(), "main").unwrap();
    let snapshot = Draft { payload, ..draft(EventType::Snapshot, "mk-gc", "{}") };
    log.append(&main, snapshot, None, outside).unwrap();
    for number in 0..350 {
        add(&mut log, outside, &main, number);
    }
    let held = [Resource::of_key("src/held.rs").unwrap()];
    let claimant = Claimant { agent: &agent("bob"), session: "", origin: Origin::Hook };
    let terms = (Ttl::from_seconds(60.0).unwrap(), Again::Refuse);
    let when = (Timestamp::from_micros(0), &mut *outside);
    lease::acquire(&mut log, &main, &held, claimant, terms, &Object::new(), when).unwrap();
    branch::create_root(&mut log, &name("bare"), &agent("bob"), outside).unwrap();
    branch::fork(&mut log, &name("twig"), &name("bare"), None, act("bob"), outside).unwrap();
    branch::fork(&mut log, &name("leaf"), &deep, Some(&at("main@50")), act("bob"), outside)
        .unwrap();
    drop(log);
    let op: OpId = "op-1".parse().unwrap();
    once(txn, Some(&op), &Value::Null, |txn| {
        let draft = draft(EventType::Note, "bob", r#"{"note":"once"}"#);
        Ok::<_, Refused>(Log::open(txn)?.append(&side, draft, None, outside)?)
    })
    .unwrap();
    let last = draft(EventType::Note, "bob", r#"{"note":"the last"}"#);
    Log::open(txn).unwrap().append(&side, last, None, outside).unwrap();
    txn.set_current_branch(&agent("bob"), &side).unwrap();
    let (ttl, expires_at) = (Duration::from_secs(60), Timestamp::from_micros(60_000_000));
    let resource = "src/free.rs".to_owned();
    txn.put_lease(&Lease { resource, token: 3, ttl, expires_at, holder: None }).unwrap();
    for (place, cleared_at) in [(1, None), (2, Some(Timestamp::from_micros(2_000_000)))] {
        let notice = Notice {
            id: format!("peer-a:0000000{place}-0000-4000-8000-000000000000"),
            author: agent("ann"),
            resource: "service:auth".to_owned(),
            message: "mind the gap".to_owned(),
            created_at: Timestamp::from_micros(1_000_000),
            expires_at: Timestamp::from_micros(60_000_000),
            cleared_at,
            source: Some("peer-a".to_owned()),
        };
        txn.put_notice(&notice).unwrap();
    }
    let (workspace, peer) = ("team".to_owned(), "peer-a".to_owned());
    txn.bind(&Binding { workspace, peer: peer.clone(), policy: "/p".to_owned() }).unwrap();
    let at = Timestamp::from_micros(1_000_000);
    let (sequence, digest) = (1, Hash::ZERO);
    let row = PeerRow { peer: peer.clone(), sequence, digest, sent_at: at, received_at: at };
    txn.put_peer_row(&row).unwrap();
    let (direction, outcome) = ("out".to_owned(), "published".to_owned());
    let (reason, sequence) = (String::new(), Some(1));
    let row = AuditRow { id: 0, at, peer, direction, outcome, reason, sequence, changed: 0 };
    txn.add_audit_row(&row, 10).unwrap();
    txn.set_setting("agent.id", Some("ann")).unwrap();
}

/// Any refusal.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The file of the store, made once.
fn original() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mk.db");
        let mut store = create(&path);
        at_work(DATE, |outside| {
            store.write(|txn| {
                fill(txn, outside);
                Ok::<_, StoreError>(())
            })
        })
        .unwrap();
        drop(store);
        settle(&path);
        std::fs::read(&path).unwrap()
    })
}

/// Writes all of the WAL back.
pub fn settle(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
}

/// A copy of the store, to damage.
pub struct Copy {
    _directory: tempfile::TempDir,
    pub path: PathBuf,
}

impl Copy {
    pub fn new() -> Self {
        Self::of(original())
    }

    /// A copy of another store.
    pub fn of(file: &[u8]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mk.db");
        std::fs::write(&path, file).unwrap();
        Self { _directory: directory, path }
    }

    pub fn connection(&self) -> Connection {
        let connection = Connection::open(&self.path).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
        connection
    }

    /// Runs `sql` without triggers, and with tables that take any value; then puts the schema back.
    pub fn run(&self, sql: &str) {
        let (tables, triggers) = self.relax();
        self.connection().execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        self.schema("sql LIKE 'CREATE TABLE%'", |text| tables[text].clone());
        self.connection().execute_batch(&triggers).unwrap();
        settle(&self.path);
    }

    /// Drops the triggers, and lets the tables take any value; answers with the texts of the tables as
    /// they were, by those that they have now, and with the triggers.
    pub fn relax(&self) -> (BTreeMap<String, String>, String) {
        let triggers: Vec<(String, String)> = self
            .connection()
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let drop = triggers.iter().map(|(name, _)| format!("DROP TRIGGER {name};"));
        self.connection().execute_batch(&drop.collect::<String>()).unwrap();
        let relaxed = |text: &str| {
            text.replace(" NOT NULL", "").replace("STRICT, ", "").replace(") STRICT", ")")
        };
        let tables = self.schema("sql LIKE 'CREATE TABLE%'", relaxed);
        let tables = tables.into_iter().map(|(_, text)| (relaxed(&text), text));
        (tables.collect(), triggers.into_iter().map(|(_, text)| text + ";").collect())
    }

    /// Swaps a column of two events.
    pub fn swap(&self, column: &str, a: i64, b: i64) {
        self.run(&format!(
            "CREATE TEMP TABLE swapped AS
                 SELECT {a} + {b} - id AS id, {column} FROM event WHERE id IN ({a}, {b});
             UPDATE event SET {column} = swapped.{column} FROM swapped WHERE swapped.id = event.id;"
        ));
    }

    /// Rewrites the text of those entries of the schema; answers with their names and old texts.
    pub fn schema(&self, which: &str, change: impl Fn(&str) -> String) -> Vec<(String, String)> {
        let connection = self.connection();
        let sql = format!("SELECT name, sql FROM sqlite_schema WHERE {which}");
        let old: Vec<(String, String)> = connection
            .prepare(&sql)
            .unwrap()
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        for (name, text) in &old {
            connection
                .execute("UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1", (name, change(text)))
                .unwrap();
        }
        old
    }

    pub fn query<T: rusqlite::types::FromSql>(&self, sql: &str) -> T {
        self.connection().query_row(sql, (), |row| row.get(0)).unwrap()
    }

    pub fn last(&self) -> u64 {
        self.query::<i64>("SELECT max(id) FROM event").unsigned_abs()
    }

    pub fn try_verify(&self, anchors: &[Anchor]) -> Result<Report, StoreError> {
        verify(&mut Sqlite::open_to_read(&self.path)?, anchors, &|_, _| ())
    }

    pub fn verify(&self) -> Report {
        self.try_verify(&[]).unwrap()
    }

    pub fn verify_against(&self, anchors: &[Anchor]) -> Report {
        self.try_verify(anchors).unwrap()
    }

    pub fn read<T>(&self, body: impl FnOnce(&dyn ReadTxn) -> T) -> T {
        let mut store = Sqlite::open_to_read(&self.path).unwrap();
        store.read(|txn| Ok::<_, StoreError>(body(txn))).unwrap()
    }

    pub fn anchor(&self) -> Anchor {
        self.read(|txn| {
            let (event, log) = txn.log_head().unwrap().unwrap();
            Anchor { project_id: txn.identity().unwrap().project_id, event, log }
        })
    }

    /// Runs `body` on the log, an hour after all that is there.
    pub fn write<T>(&self, body: impl FnOnce(&mut Log<'_>, &mut Outside<'_>) -> T) -> T {
        let wait = Duration::from_secs(5);
        let mut store = Sqlite::open_to_write(&self.path, wait, Durability::Normal).unwrap();
        at_work(DATE + 3_600_000_000, |outside| {
            store.write(|txn| Ok::<_, StoreError>(body(&mut Log::open(txn)?, outside))).unwrap()
        })
    }

    pub fn append_notes(&self, count: usize) {
        for _ in 0..count {
            let draft = draft(EventType::Note, "dee", r#"{"note":"later"}"#);
            self.write(|log, outside| log.append(&name("main"), draft, None, outside).unwrap());
        }
    }

    /// Takes the last `count` events out of the store as if they had never been.
    pub fn cut_tail(&self, count: u64) {
        let last = self.last() - count;
        self.run(&format!(
            "DELETE FROM event WHERE id > {last}; DELETE FROM link WHERE id > {last};
             DELETE FROM checkpoint WHERE id > {last}; DELETE FROM operation;
             DELETE FROM branch WHERE NOT EXISTS
                 (SELECT 1 FROM event WHERE lineage = branch.id) AND parent IS NOT NULL;
             UPDATE branch SET (head, head_sequence) =
                 (SELECT id, sequence FROM event WHERE lineage = branch.id ORDER BY id DESC LIMIT 1)
                 WHERE EXISTS (SELECT 1 FROM event WHERE lineage = branch.id)"
        ));
    }

    /// The newest event of a branch with the hash of its parent.
    pub fn newest(&self, branch: &str) -> (Event, Hash) {
        self.read(|txn| {
            let head = txn.branch(branch).unwrap().unwrap().head.unwrap();
            let event = txn.known_event(head).unwrap();
            let parent = event.parent.map(|id| txn.known_event(id).unwrap().hash);
            (event, parent.unwrap_or(Hash::ZERO))
        })
    }

    /// Changes the newest event of the log and makes its digests right, so that only what it says is
    /// wrong; answers with its id.
    pub fn forge(&self, branch: &str, change: impl FnOnce(&mut Event)) -> i64 {
        let (mut event, prev) = self.newest(branch);
        let EventId(id) = event.id;
        assert_eq!(id.unsigned_abs(), self.last(), "only the newest event can be forged alone");
        change(&mut event);
        event.body = event.content.as_ref().unwrap().digest();
        event.hash = event.expected_hash(&prev);
        let log: [u8; 32] = self.query(&format!("SELECT log FROM event WHERE id = {}", id - 1));
        event.log = chain_log(&Hash(log), &event.hash);
        self.run(&format!("DELETE FROM event WHERE id = {id}"));
        let content = event.content.unwrap();
        self.connection()
            .execute(
                "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                (
                    id,
                    event.lineage.0,
                    event.sequence as i64,
                    event.timestamp.micros(),
                    event.agent.as_str(),
                    event.parent.map(|id| id.0),
                    event.kind.as_str(),
                    event.hash.0,
                    event.body.0,
                    event.log.0,
                    content.salt,
                    content.payload,
                    content.metadata,
                ),
            )
            .unwrap();
        id
    }
}
