//! A database as the peer writes it, made from scratch and with sound hashes, however odd.

use mk::id::Hash;
use mk::memkernel::peer_hash;
use mk::store::memkernel::EventRow;
use rusqlite::Connection;
use tempfile::TempDir;

const TABLES: &str = "
CREATE TABLE branches (branch_id TEXT PRIMARY KEY, parent_branch_id TEXT, fork_event_id INTEGER,
  fork_sequence INTEGER, head_event_id INTEGER, head_sequence INTEGER, head_hash TEXT,
  snapshot_event_id INTEGER, created_at TEXT, created_by TEXT);
CREATE TABLE events (event_id INTEGER PRIMARY KEY, branch_id TEXT, sequence INTEGER, timestamp TEXT,
  agent_id TEXT, parent_event_id INTEGER, event_type TEXT, payload TEXT, metadata TEXT, hash TEXT);
CREATE TABLE leases (resource_key TEXT PRIMARY KEY, holder_agent_id TEXT, fencing_token INTEGER,
  ttl_seconds REAL, acquired_at REAL, expires_at REAL);
PRAGMA user_version = 1;
";

/// A database that is being written.
pub struct Peer {
    pub connection: Connection,
    directory: TempDir,
}

impl Peer {
    /// With the empty branch `main`.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let connection = Connection::open(directory.path().join("peer.db")).unwrap();
        // No power is cut.
        connection.pragma_update(None, "synchronous", false).unwrap();
        connection.execute_batch(TABLES).unwrap();
        let peer = Self { connection, directory };
        peer.branch("main", None);
        peer
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("peer.db")
    }

    /// A row of a branch, forked at the head of `parent`.
    pub fn branch(&self, name: &str, parent: Option<&str>) {
        let (head, sequence, hash) = match parent {
            Some(parent) => self.head(parent),
            None => (None, 0, "0".repeat(64)),
        };
        self.connection
            .execute(
                "INSERT INTO branches VALUES (?1, ?2, ?3, ?4, ?3, ?4, ?5, NULL, ?6, 'ann')",
                (name, parent, head, sequence, hash, STAMP),
            )
            .unwrap();
    }

    pub fn head(&self, branch: &str) -> (Option<i64>, i64, String) {
        let sql =
            "SELECT head_event_id, head_sequence, head_hash FROM branches WHERE branch_id = ?1";
        self.connection
            .query_row(sql, [branch], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap()
    }

    /// Appends an event, whatever it says, with the hash it has then.
    pub fn event(&self, branch: &str, kind: &str, payload: &str) -> i64 {
        let sql = "SELECT coalesce(max(event_id), 0) + 1 FROM events";
        let id = self.connection.query_row(sql, (), |row| row.get(0)).unwrap();
        self.event_at(id, branch, kind, payload, "{}", STAMP);
        id
    }

    pub fn event_at(
        &self,
        id: i64,
        branch: &str,
        kind: &str,
        payload: &str,
        metadata: &str,
        timestamp: &str,
    ) {
        let (parent, sequence, hash) = self.head(branch);
        let row = EventRow {
            id,
            branch: branch.to_owned(),
            sequence: sequence + 1,
            timestamp: timestamp.to_owned(),
            agent: "ann".to_owned(),
            parent,
            kind: kind.to_owned(),
            payload: payload.to_owned(),
            metadata: metadata.to_owned(),
            hash: String::new(),
        };
        let hash = peer_hash(&row, &hash.parse::<Hash>().unwrap()).to_string();
        self.connection
            .execute(
                "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                (
                    id,
                    branch,
                    row.sequence,
                    timestamp,
                    "ann",
                    parent,
                    kind,
                    payload,
                    metadata,
                    &hash,
                ),
            )
            .unwrap();
        self.connection
            .execute(
                "UPDATE branches SET head_event_id = ?1, head_sequence = ?2, head_hash = ?3 \
                 WHERE branch_id = ?4",
                (id, row.sequence, hash, branch),
            )
            .unwrap();
    }

    /// A branch forked at the head of `parent`, with the event of its fork.
    pub fn fork(&self, name: &str, parent: &str) {
        self.branch(name, Some(parent));
        let (point, sequence, _) = self.head(name);
        let point = point.map_or("null".to_owned(), |point| point.to_string());
        let payload = format!(
            r#"{{"fork_point_event_id":{point},"fork_point_sequence":{sequence},"reason":"","source_branch":"{parent}"}}"#
        );
        self.event(name, "BRANCH_FORKED", &payload);
    }

    pub fn run(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }
}

pub const STAMP: &str = "2026-03-01T08:00:00.000000+00:00";
