//! The embedded engine: one SQLite file in WAL mode.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::types::{FromSql, ToSql};
use rusqlite::{
    CachedStatement, Connection, OpenFlags, OptionalExtension, Params, Row, TransactionBehavior,
};

use super::audit::Audit;
use super::schema::{APPLICATION_ID, LINK_RULES, MIN_READER, MIN_WRITER, SCHEMA, VERSION};
use super::turnstile::Turnstile;
use super::{
    Branch, Engine, ForkPoint, Identity, Operation, ReadTxn, StoreError, WriteTxn, location,
};
use crate::event::{Content, Event, EventType};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId, hex};
use crate::lineage::Link;
use crate::time::Timestamp;

/// Pages in the WAL after which a commit copies them into the main file: 1 MiB. A process that opens
/// the store alone reads the whole WAL first, so a short command is only as fast as the WAL is small.
const WAL_PAGES: u32 = 256;

/// What is left of a WAL that a large transaction made longer, once its pages are copied.
const WAL_BYTES: u32 = 4 << 20;

/// Most memory for pages of a store that is written to, taken only as far as it is used. Hashes go to
/// random places of their index, so a long batch needs more of it at hand than the engine's 2 MiB.
const CACHE_KIB: i32 = 32_768;

/// A store in a SQLite file.
pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
    /// How long to wait for the write lock.
    lock_timeout: Duration,
}

/// How sure a finished write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut: one sync a transaction.
    Full,
    /// It survives the death of the process; the last ones may be lost in a power cut.
    Normal,
}

impl Sqlite {
    /// Makes a store at `path` with the empty branch `main`, unless there is a file; answers whether
    /// it made one.
    ///
    /// The file appears whole or not at all. Of two that make one at once, the second waits up to
    /// `lock_timeout` and finds the first one's. Directories are not made.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be written, [`StoreError::Filesystem`] on a network.
    pub fn create(
        path: &Path,
        identity: &Identity,
        now: Timestamp,
        agent: &AgentId,
        lock_timeout: Duration,
    ) -> Result<bool, StoreError> {
        location::check_filesystem(path.parent().unwrap_or(Path::new(".")))?;
        let _turn = Turnstile::enter(&with_suffix(path, "-lock"), lock_timeout)?;
        if path.exists() {
            return Ok(false);
        }
        let draft = with_suffix(path, "-new");
        let made = Self::create_draft(&draft, path, identity, now, agent).map(|()| true);
        if made.is_err() {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let _ = fs::remove_file(with_suffix(&draft, suffix));
            }
        }
        made
    }

    fn create_draft(
        draft: &Path,
        path: &Path,
        identity: &Identity,
        now: Timestamp,
        agent: &AgentId,
    ) -> Result<(), StoreError> {
        let shown = path.display().to_string();
        let failed = |error| failure(error, path, Duration::ZERO);
        location::create_private(draft)?;
        let mut connection = Connection::open(draft).map_err(failed)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        let txn = connection.transaction().map_err(failed)?;
        txn.execute_batch(SCHEMA).map_err(failed)?;
        txn.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
        txn.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        let tokenizer = identity.tokenizer.to_string();
        let values: [(&str, &dyn ToSql); 7] = [
            ("project_id", &identity.project_id),
            ("root", &identity.root),
            ("tokenizer", &tokenizer),
            ("key", &identity.key),
            ("min_reader", &MIN_READER),
            ("min_writer", &MIN_WRITER),
            ("link_rules", &LINK_RULES),
        ];
        for (key, value) in values {
            txn.execute("INSERT INTO store(key, value) VALUES (?1, ?2)", (key, value))
                .map_err(failed)?;
        }
        let main = BranchName::main();
        txn.execute(
            "INSERT INTO branch(name, born, fork_sequence, head_sequence, created_at, created_by)
             VALUES (?1, ?1, 0, 0, ?2, ?3)",
            (main.as_str(), now.micros(), agent.as_str()),
        )
        .map_err(failed)?;
        txn.commit().map_err(failed)?;
        connection.close().map_err(|(_, error)| failed(error))?;
        let io = |source| StoreError::Io { action: "create", path: shown.clone(), source };
        fs::File::open(draft).and_then(|file| file.sync_all()).map_err(io)?;
        fs::rename(draft, path).map_err(io)?;
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        fs::File::open(directory.unwrap_or(Path::new(".")))
            .and_then(|directory| directory.sync_all())
            .map_err(io)
    }

    /// Opens the store at `path` for reading. Nothing is written, now or later.
    ///
    /// # Errors
    /// If there is none, or it cannot be read by this version.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        check_header(path)?;
        location::check_filesystem(path.parent().unwrap_or(Path::new(".")))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // The first read is what opens the WAL and its index.
        let begin = |connection: Connection| {
            configure(&connection)?;
            let version = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
            Ok((connection, version))
        };
        let opened: Result<(Connection, i64), rusqlite::Error> =
            Connection::open_with_flags(path, flags).and_then(begin);
        // A directory that cannot be written may hold no place for the index of the WAL. Without
        // content in the WAL none is needed: the main file is the whole store. Else the index is
        // made in memory, which SQLite does under an exclusive lock; to a reader only the file
        // system without locks grants one. Either way the store is read as it is just now.
        let opened = match opened {
            Err(error) if cannot_open(&error) && has_content(&with_suffix(path, "-wal")) => {
                Connection::open_with_flags_and_vfs(path, flags, c"unix-none").and_then(
                    |connection| {
                        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
                        begin(connection)
                    },
                )
            }
            Err(error) if cannot_open(&error) => {
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(immutable_uri(path), flags).and_then(begin)
            }
            opened => opened,
        };
        let (connection, version) = opened.map_err(|error| failure(error, path, Duration::ZERO))?;
        let store = Self { connection, path: path.to_owned(), lock_timeout: Duration::ZERO };
        store.check_version(version, "min_reader")?;
        Ok(store)
    }

    /// Opens the store at `path` for reading and writing; a write waits up to `lock_timeout` for
    /// others to finish.
    ///
    /// # Errors
    /// If there is none, or it cannot be read and written by this version or this user.
    pub fn open_to_write(
        path: &Path,
        lock_timeout: Duration,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        check_header(path)?;
        location::check_filesystem(path.parent().unwrap_or(Path::new(".")))?;
        let failed = |error| failure(error, path, Duration::ZERO);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        if connection.is_readonly("main").map_err(failed)? {
            return Err(StoreError::ReadOnly {
                why: format!("no permission to write '{}'", path.display()),
            });
        }
        configure(&connection).map_err(failed)?;
        // The last one to close would copy the WAL into the main file and delete it: two more syncs
        // for every short command.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(failed)?;
        connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES).map_err(failed)?;
        connection.pragma_update(None, "journal_size_limit", WAL_BYTES).map_err(failed)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
        let store = Self { connection, path: path.to_owned(), lock_timeout };
        let version = store
            .connection
            .query_row("PRAGMA user_version", (), |row| row.get(0))
            .map_err(|error| match cannot_open(&error) {
                true => StoreError::ReadOnly {
                    why: format!("no permission to write beside '{}'", path.display()),
                },
                false => failed(error),
            })?;
        store.check_version(version, "min_writer")?;
        store.set_durability(durability)?;
        Ok(store)
    }

    /// Sets how sure the writes that follow are.
    ///
    /// # Errors
    /// Only if the engine is out of order.
    pub fn set_durability(&self, durability: Durability) -> Result<(), StoreError> {
        let level = match durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        };
        self.connection
            .pragma_update(None, "synchronous", level)
            .map_err(|error| failure(error, &self.path, Duration::ZERO))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `body` on one state of the store, as rows that nothing is believed of.
    ///
    /// # Errors
    /// Those of `body`, and those of the store.
    pub(crate) fn audit<T>(
        &mut self,
        body: impl FnOnce(&Audit<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let txn = self
            .connection
            .transaction()
            .map_err(|error| failure(error, &self.path, Duration::ZERO))?;
        body(&Audit::new(Txn::new(&txn, &self.path)))
    }

    fn check_version(&self, version: i64, need: &str) -> Result<(), StoreError> {
        let path = self.path.display().to_string();
        if version < VERSION {
            return Err(StoreError::Foreign { path, found: format!("format version {version}") });
        }
        if version == VERSION {
            return Ok(());
        }
        // A newer schema says itself which older programs it bears with.
        let least: Option<i64> = self
            .connection
            .query_row("SELECT value FROM store WHERE key = ?1", [need], |row| row.get(0))
            .optional()
            .unwrap_or_default();
        match least {
            Some(least) if least <= VERSION => Ok(()),
            _ => Err(StoreError::Newer { path, found: version, known: VERSION }),
        }
    }
}

impl Engine for Sqlite {
    fn read<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&dyn ReadTxn) -> Result<T, E>,
    ) -> Result<T, E> {
        let txn = self
            .connection
            .transaction()
            .map_err(|error| failure(error, &self.path, Duration::ZERO))?;
        body(&Txn::new(&txn, &self.path))
    }

    fn write<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&mut dyn WriteTxn) -> Result<T, E>,
    ) -> Result<T, E> {
        #[expect(clippy::disallowed_methods, reason = "it measures a wait")]
        let begun = Instant::now();
        let _turn = Turnstile::enter(&with_suffix(&self.path, "-lock"), self.lock_timeout)?;
        let rest = self.lock_timeout.saturating_sub(begun.elapsed());
        let failed = |error| failure(error, &self.path, begun.elapsed());
        self.connection.busy_timeout(rest).map_err(failed)?;
        // IMMEDIATE: under WAL, a deferred transaction that has read the head and then writes fails
        // at once with SQLITE_BUSY_SNAPSHOT if another writer got in between; no busy timeout helps.
        // Taking the write lock first makes read-then-append one step.
        let txn = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let mut rows = Txn::new(&txn, &self.path);
        let done = body(&mut rows)?;
        rows.store_heads()?;
        drop(rows);
        txn.commit().map_err(failed)?;
        Ok(done)
    }
}

/// An open transaction.
pub(super) struct Txn<'a> {
    pub(super) connection: &'a Connection,
    path: &'a Path,
    /// Names that branches were born with, which every event row needs.
    born: RefCell<HashMap<LineageId, BranchName>>,
    /// Heads that moved. They are stored with the commit, once for each branch of a batch.
    heads: HashMap<LineageId, (EventId, u64)>,
    /// The statements that a batch runs for each of its events.
    insert_event: Option<CachedStatement<'a>>,
    insert_link: Option<CachedStatement<'a>>,
}

pub(super) const BRANCH: &str = "SELECT id, name, born, parent, fork_event, fork_sequence, fork_lineage, head, \
                      head_sequence, created_at, created_by FROM branch";
const EVENT: &str = "SELECT id, lineage, sequence, timestamp, agent, parent, type, hash, body, log, \
                     salt, payload, metadata FROM event";

impl<'a> Txn<'a> {
    fn new(connection: &'a Connection, path: &'a Path) -> Self {
        Self {
            connection,
            path,
            born: RefCell::default(),
            heads: HashMap::new(),
            insert_event: None,
            insert_link: None,
        }
    }

    /// Stores the heads that moved.
    fn store_heads(&mut self) -> Result<(), StoreError> {
        let sql = "UPDATE branch SET head = ?2, head_sequence = ?3 WHERE id = ?1";
        for (id, (head, sequence)) in std::mem::take(&mut self.heads) {
            self.execute(sql, (id.0, head.0, signed(sequence)))?;
        }
        Ok(())
    }

    /// `branch` with the head it has now.
    fn moved(&self, branch: Branch) -> Branch {
        match self.heads.get(&branch.id) {
            Some((head, sequence)) => {
                Branch { head: Some(*head), head_sequence: *sequence, ..branch }
            }
            None => branch,
        }
    }

    pub(super) fn failed(&self, error: rusqlite::Error) -> StoreError {
        failure(error, self.path, Duration::ZERO)
    }

    pub(super) fn optional<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, read).optional())
            .map_err(|error| self.failed(error))
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            let mut out = Vec::new();
            while let Some(row) = rows.next()? {
                out.push(read(row)?);
            }
            Ok(out)
        };
        rows().map_err(|error| self.failed(error))
    }

    fn execute(&self, sql: &str, params: impl Params) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params))
            .map(|_| ())
            .map_err(|error| self.failed(error))
    }

    fn born(&self, lineage: LineageId) -> Result<BranchName, StoreError> {
        if let Some(name) = self.born.borrow().get(&lineage) {
            return Ok(name.clone());
        }
        let name = self
            .optional("SELECT born FROM branch WHERE id = ?1", [lineage.0], |row| {
                row.get::<_, String>(0)
            })?
            .ok_or_else(|| StoreError::damaged(format!("branch {} is missing", lineage.0)))?;
        let name = BranchName::stored(&name);
        self.born.borrow_mut().insert(lineage, name.clone());
        Ok(name)
    }
}

impl ReadTxn for Txn<'_> {
    fn identity(&self) -> Result<Identity, StoreError> {
        fn value<T: FromSql>(txn: &Txn<'_>, key: &str) -> Result<T, StoreError> {
            txn.optional("SELECT value FROM store WHERE key = ?1", [key], |row| row.get(0))?
                .ok_or_else(|| StoreError::damaged(format!("the store's '{key}' is missing")))
        }
        let tokenizer: String = value(self, "tokenizer")?;
        Ok(Identity {
            project_id: value(self, "project_id")?,
            root: value(self, "root")?,
            tokenizer: tokenizer
                .parse()
                .map_err(|_| StoreError::damaged(format!("unknown tokenizer '{tokenizer}'")))?,
            key: value(self, "key")?,
        })
    }

    fn branch(&self, name: &str) -> Result<Option<Branch>, StoreError> {
        let found = self.optional(&format!("{BRANCH} WHERE name = ?1"), [name], read_branch)?;
        Ok(found.map(|branch| self.moved(branch)))
    }

    fn lineage(&self, id: LineageId) -> Result<Branch, StoreError> {
        self.optional(&format!("{BRANCH} WHERE id = ?1"), [id.0], read_branch)?
            .map(|branch| self.moved(branch))
            .ok_or_else(|| StoreError::damaged(format!("branch {} is missing", id.0)))
    }

    fn branch_like(&self, name: &str) -> Result<Option<BranchName>, StoreError> {
        self.optional("SELECT name FROM branch WHERE lower(name) = lower(?1)", [name], |row| {
            Ok(BranchName::stored(&row.get::<_, String>(0)?))
        })
    }

    fn branches(&self) -> Result<Vec<Branch>, StoreError> {
        self.all(&format!("{BRANCH} ORDER BY created_at, name"), (), |row| {
            read_branch(row).map(|branch| self.moved(branch))
        })
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        let row = self.optional(&format!("{EVENT} WHERE id = ?1"), [id.0], read_event)?;
        points_back(id, row.as_ref().and_then(|event| event.parent))?;
        row.map(|event| Ok(Event { branch: self.born(event.lineage)?, ..event })).transpose()
    }

    fn own_event(&self, lineage: LineageId, sequence: u64) -> Result<Option<EventId>, StoreError> {
        let Ok(sequence) = i64::try_from(sequence) else { return Ok(None) };
        let sql = "SELECT id FROM event WHERE lineage = ?1 AND sequence = ?2";
        self.optional(sql, (lineage.0, sequence), |row| row.get(0).map(EventId))
    }

    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<EventId>, StoreError> {
        let bound = |fill: &str| {
            let digits = format!("{prefix}{}", fill.repeat(64 - prefix.len()));
            crate::id::unhex(&digits).unwrap_or_default()
        };
        self.all(
            "SELECT id FROM event WHERE hash BETWEEN ?1 AND ?2 ORDER BY hash LIMIT ?3",
            (bound("0"), bound("f"), i64::try_from(limit).unwrap_or(i64::MAX)),
            |row| row.get(0).map(EventId),
        )
    }

    fn log_head(&self) -> Result<Option<(EventId, Hash)>, StoreError> {
        self.optional("SELECT id, log FROM event ORDER BY id DESC LIMIT 1", (), |row| {
            Ok((EventId(row.get(0)?), Hash(row.get(1)?)))
        })
    }

    fn link(&self, id: EventId) -> Result<Link, StoreError> {
        let sql = "SELECT lineage, live_parent, depth, jump, jump_depth, snapshot, tokens, other \
                   FROM link WHERE id = ?1";
        let link = self.optional(sql, [id.0], |row| {
            Ok(Link {
                lineage: LineageId(row.get(0)?),
                live_parent: row.get::<_, Option<i64>>(1)?.map(EventId),
                depth: count(row, 2)?,
                jump: EventId(row.get(3)?),
                jump_depth: count(row, 4)?,
                snapshot: row.get::<_, Option<i64>>(5)?.map(EventId),
                tokens: count(row, 6)?,
                other: row.get::<_, Option<i64>>(7)?.map(EventId),
            })
        })?;
        let wrong = |what| StoreError::damaged(format!("event {id} {what} in the lineage index"));
        let link = link.ok_or_else(|| wrong("has no entry"))?;
        if link.points_back(id) { Ok(link) } else { Err(wrong("has an impossible entry")) }
    }

    fn checkpoint_before(
        &self,
        lineage: LineageId,
        event: EventId,
    ) -> Result<Option<EventId>, StoreError> {
        let sql = "SELECT id FROM checkpoint WHERE lineage = ?1 AND id <= ?2 \
                   ORDER BY id DESC LIMIT 1";
        self.optional(sql, (lineage.0, event.0), |row| row.get(0).map(EventId))
    }

    fn checkpoint(&self, event: EventId) -> Result<Option<String>, StoreError> {
        let lineage = self.link(event)?.lineage;
        let sql = "SELECT state FROM checkpoint WHERE lineage = ?1 AND id = ?2";
        self.optional(sql, (lineage.0, event.0), |row| row.get(0))
    }

    fn operation(&self, id: &str) -> Result<Option<Operation>, StoreError> {
        self.optional("SELECT digest, report FROM operation WHERE id = ?1", [id], |row| {
            Ok(Operation { digest: Hash(row.get(0)?), report: row.get(1)? })
        })
    }

    fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.optional("SELECT value FROM setting WHERE key = ?1", [key], |row| row.get(0))
    }

    fn settings(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.all("SELECT key, value FROM setting ORDER BY key", (), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }

    fn current_branch(&self, agent: &AgentId) -> Result<Option<BranchName>, StoreError> {
        let sql = "SELECT branch FROM current_branch WHERE agent = ?1";
        self.optional(sql, [agent.as_str()], |row| {
            Ok(BranchName::stored(&row.get::<_, String>(0)?))
        })
    }
}

impl WriteTxn for Txn<'_> {
    fn insert_event(&mut self, event: &Event, link: &Link) -> Result<(), StoreError> {
        let content = event.content.as_ref();
        let (connection, path) = (self.connection, self.path);
        insert(
            connection,
            &mut self.insert_event,
            "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            (
                event.id.0,
                event.lineage.0,
                signed(event.sequence),
                event.timestamp.micros(),
                event.agent.as_str(),
                event.parent.map(|id| id.0),
                event.kind.as_str(),
                event.hash.0,
                event.body.0,
                event.log.0,
                content.map(|content| content.salt),
                content.map(|content| &content.payload),
                content.map(|content| &content.metadata),
            ),
        )
        .and_then(|()| {
            insert(
                connection,
                &mut self.insert_link,
                "INSERT INTO link VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (
                    event.id.0,
                    link.lineage.0,
                    link.live_parent.map(|id| id.0),
                    signed(link.depth),
                    link.jump.0,
                    signed(link.jump_depth),
                    link.snapshot.map(|id| id.0),
                    signed(link.tokens),
                    link.other.map(|id| id.0),
                ),
            )
        })
        .map_err(|error| failure(error, path, Duration::ZERO))
    }

    fn insert_branch(&mut self, branch: &Branch) -> Result<LineageId, StoreError> {
        self.execute(
            "INSERT INTO branch(name, born, parent, fork_event, fork_sequence, fork_lineage, head, \
             head_sequence, created_at, created_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                branch.name.as_str(),
                branch.born.as_str(),
                branch.parent.map(|id| id.0),
                branch.fork_point.map(|point| point.event.0),
                signed(branch.fork_sequence()),
                branch.fork_point.map(|point| point.lineage.0),
                branch.head.map(|id| id.0),
                signed(branch.head_sequence),
                branch.created_at.micros(),
                branch.created_by.as_str(),
            ),
        )?;
        Ok(LineageId(self.connection.last_insert_rowid()))
    }

    fn set_head(&mut self, id: LineageId, head: EventId, sequence: u64) -> Result<(), StoreError> {
        self.heads.insert(id, (head, sequence));
        Ok(())
    }

    fn put_checkpoint(
        &mut self,
        lineage: LineageId,
        event: EventId,
        state: &str,
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO checkpoint VALUES (?1, ?2, ?3)";
        self.execute(sql, (lineage.0, event.0, state))
    }

    fn put_operation(&mut self, id: &str, operation: &Operation) -> Result<(), StoreError> {
        let sql = "INSERT INTO operation VALUES (?1, ?2, ?3)";
        self.execute(sql, (id, operation.digest.0, &operation.report))
    }

    fn set_setting(&mut self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        match value {
            Some(value) => {
                self.execute("INSERT OR REPLACE INTO setting VALUES (?1, ?2)", (key, value))
            }
            None => self.execute("DELETE FROM setting WHERE key = ?1", [key]),
        }
    }

    fn set_current_branch(&mut self, agent: &AgentId, name: &BranchName) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO current_branch VALUES (?1, ?2)";
        self.execute(sql, (agent.as_str(), name.as_str()))
    }
}

/// Runs an INSERT that stays prepared for the transaction.
fn insert<'a>(
    connection: &'a Connection,
    prepared: &mut Option<CachedStatement<'a>>,
    sql: &str,
    values: impl Params,
) -> rusqlite::Result<()> {
    let statement = match prepared {
        Some(statement) => statement,
        None => prepared.insert(connection.prepare_cached(sql)?),
    };
    statement.execute(values).map(|_| ())
}

/// Everything that walks the log ends because each step goes to an earlier event; a broken store must
/// not turn that into a circle.
fn points_back(id: EventId, to: Option<EventId>) -> Result<(), StoreError> {
    match to.filter(|to| *to >= id || to.0 <= 0) {
        None => Ok(()),
        Some(to) => Err(StoreError::damaged(format!("event {id} follows event {to}"))),
    }
}

/// A branch row. Like events, branches follow earlier ones only.
fn read_branch(row: &Row<'_>) -> rusqlite::Result<Branch> {
    let text = |index| row.get::<_, String>(index);
    let fork_event: Option<i64> = row.get(4)?;
    let id = row.get(0)?;
    let fork_lineage = earlier(row, 6, id)?;
    let sequence = count(row, 5)?;
    Ok(Branch {
        id: LineageId(id),
        name: BranchName::stored(&text(1)?),
        born: BranchName::stored(&text(2)?),
        parent: earlier(row, 3, id)?.map(LineageId),
        fork_point: fork_event.zip(fork_lineage).map(|(event, lineage)| ForkPoint {
            event: EventId(event),
            sequence,
            lineage: LineageId(lineage),
        }),
        head: row.get::<_, Option<i64>>(7)?.map(EventId),
        head_sequence: count(row, 8)?,
        created_at: Timestamp::from_micros(row.get(9)?),
        created_by: AgentId::stored(&text(10)?),
    })
}

/// An event row, with an empty name in the place of the branch's.
pub(crate) fn read_event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let kind: EventType = row.get_ref(6)?.as_str()?.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(6, rusqlite::types::Type::Text, Box::new(error))
    })?;
    let content = match row.get::<_, Option<[u8; 16]>>(10)? {
        Some(salt) => Some(Content { salt, payload: row.get(11)?, metadata: row.get(12)? }),
        None => None,
    };
    let id = row.get(0)?;
    Ok(Event {
        id: EventId(id),
        lineage: LineageId(row.get(1)?),
        branch: BranchName::stored(""),
        sequence: count(row, 2)?,
        timestamp: Timestamp::from_micros(row.get(3)?),
        agent: AgentId::stored(row.get_ref(4)?.as_str()?),
        parent: earlier(row, 5, id)?.map(EventId),
        kind,
        hash: Hash(row.get(7)?),
        body: Hash(row.get(8)?),
        log: Hash(row.get(9)?),
        content,
    })
}

/// The number of a row that was written before row `id`. Whoever follows such numbers comes to an
/// end, whatever a damaged store holds.
fn earlier(row: &Row<'_>, index: usize, id: i64) -> rusqlite::Result<Option<i64>> {
    match row.get(index)? {
        Some(number) if number >= id => {
            Err(rusqlite::Error::IntegralValueOutOfRange(index, number))
        }
        number => Ok(number),
    }
}

fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(index)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, number))
}

fn signed(number: u64) -> i64 {
    // Counts of events and tokens fit 63 bits, unless a damaged row held another.
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

/// A `file:` URI; every byte that could mean something else in it is escaped.
fn immutable_uri(path: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            uri.push_str(&hex(&[byte]));
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(Duration::from_secs(5))
}

/// Tells a store from what is none, before the engine sees the file.
fn check_header(path: &Path) -> Result<(), StoreError> {
    let shown = path.display().to_string();
    let io = |source| StoreError::Io { action: "read", path: shown.clone(), source };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(StoreError::Missing { path: shown });
        }
        Err(error) => return Err(io(error)),
    };
    let mut header = Vec::with_capacity(100);
    file.take(100).read_to_end(&mut header).map_err(io)?;
    let foreign =
        |found: &str| StoreError::Foreign { path: shown.clone(), found: found.to_owned() };
    if header.is_empty() {
        return Err(foreign("an empty file"));
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(foreign("not an SQLite database"));
    }
    let Some(id) = header.get(68..72) else {
        return Err(StoreError::damaged(format!("'{shown}' is cut off in its first 100 bytes")));
    };
    let id = u32::from_be_bytes(id.try_into().expect("four bytes"));
    if i64::from(id) != APPLICATION_ID {
        return Err(foreign("another program's SQLite database"));
    }
    Ok(())
}

fn cannot_open(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}

/// What an engine's error means. Its own words reach nobody but under `Engine`, where they are all
/// there is to say.
pub(crate) fn failure(error: rusqlite::Error, path: &Path, waited: Duration) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let path = path.display().to_string();
    match error.sqlite_error_code() {
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => {
            StoreError::Busy { waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX) }
        }
        Some(Code::ReadOnly) => {
            StoreError::ReadOnly { why: format!("no permission to write '{path}'") }
        }
        Some(Code::DiskFull) => StoreError::DiskFull { path },
        Some(Code::DatabaseCorrupt) => StoreError::damaged(format!("'{path}' has a broken page")),
        Some(Code::NotADatabase) => StoreError::damaged(format!("'{path}' has a broken header")),
        Some(Code::SystemIoFailure | Code::CannotOpen | Code::PermissionDenied) => {
            let source = std::io::Error::other(error.to_string());
            StoreError::Io { action: "use", path, source }
        }
        // What is asked never changes, so the file is at fault: other tables, or a format of none.
        Some(Code::Unknown) => StoreError::damaged(format!("'{path}' is not laid out as a store")),
        None => StoreError::damaged(format!("a row of '{path}' has an unexpected value")),
        Some(_) => StoreError::Engine { path, what: error.to_string() },
    }
}
