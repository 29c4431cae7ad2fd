//! The row operations, as statements of SQLite.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use rustc_hash::FxHashMap;

use super::row::{count, link_values, points_back, read_branch, read_event, signed};
use super::{failure, lease};
use crate::event::{Event, EventType};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId};
use crate::lineage::Link;
use crate::store::lease::above_prefix;
use crate::store::{Branch, Identity, Lease, Leases, Operation, ReadTxn, StoreError, WriteTxn};
use crate::time::Timestamp;

/// An open transaction.
pub struct Txn<'a> {
    pub connection: &'a Connection,
    path: &'a Path,
    /// Names that branches were born with, which every event row needs.
    born: RefCell<FxHashMap<LineageId, BranchName>>,
    /// Heads that moved. They are stored with the commit, once for each branch of a batch.
    heads: FxHashMap<LineageId, (EventId, u64)>,
    /// Whether a lease was given back, which somebody may wait for.
    pub freed_lease: bool,
    /// The statements that a batch runs for each of its events.
    insert_event: Option<CachedStatement<'a>>,
    insert_link: Option<CachedStatement<'a>>,
}

pub const BRANCH: &str = "SELECT id, name, born, parent, fork_event, fork_sequence, fork_lineage, head, \
                      head_sequence, created_at, created_by FROM branch";
pub const LEASE: &str = "SELECT resource, token, ttl, expires_at, holder, session, origin, branch, \
                         acquired_at FROM lease";
const EVENT: &str = "SELECT id, lineage, sequence, timestamp, agent, parent, type, hash, body, log, \
                     salt, payload, metadata FROM event";

impl<'a> Txn<'a> {
    pub fn new(connection: &'a Connection, path: &'a Path) -> Self {
        Self {
            connection,
            path,
            born: RefCell::default(),
            heads: FxHashMap::default(),
            freed_lease: false,
            insert_event: None,
            insert_link: None,
        }
    }

    /// Stores the heads that moved.
    pub fn store_heads(&mut self) -> Result<(), StoreError> {
        let sql = "UPDATE branch SET head = ?2, head_sequence = ?3 WHERE id = ?1";
        for (id, (head, sequence)) in std::mem::take(&mut self.heads) {
            self.execute(sql, (id.0, head.0, signed(sequence)))?;
        }
        Ok(())
    }

    /// `branch` with the head it has now; the name it was born with will be asked for next.
    fn moved(&self, branch: Branch) -> Branch {
        self.born.borrow_mut().entry(branch.id).or_insert_with(|| branch.born.clone());
        match self.heads.get(&branch.id) {
            Some((head, sequence)) => {
                Branch { head: Some(*head), head_sequence: *sequence, ..branch }
            }
            None => branch,
        }
    }

    pub fn failed(&self, error: rusqlite::Error) -> StoreError {
        failure(error, self.path, Duration::ZERO)
    }

    pub fn optional<T>(
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

    pub fn all<T>(
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

    pub fn exists(&self, sql: &str, params: impl Params) -> Result<bool, StoreError> {
        Ok(self.optional(sql, params, |_| Ok(()))?.is_some())
    }

    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<(), StoreError> {
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
        let rows = self.all("SELECT key, value FROM store", (), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Value>(1)?))
        })?;
        let value = |key: &str| {
            let found = rows.iter().find(|(name, _)| name == key).map(|(_, value)| value);
            found.ok_or_else(|| StoreError::damaged(format!("the store's '{key}' is missing")))
        };
        let unreadable =
            |key: &str| StoreError::damaged(format!("the store's '{key}' is unreadable"));
        let text = |key| match value(key)? {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(unreadable(key)),
        };
        Ok(Identity {
            project_id: text("project_id")?,
            root: text("root")?,
            tokenizer: text("tokenizer")?.parse().map_err(|_| unreadable("tokenizer"))?,
            key: match value("key")? {
                Value::Blob(key) => key.as_slice().try_into().map_err(|_| unreadable("key"))?,
                _ => return Err(unreadable("key")),
            },
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

    fn event_at(&self, lineage: LineageId, sequence: u64) -> Result<Option<Event>, StoreError> {
        let Ok(sequence) = i64::try_from(sequence) else { return Ok(None) };
        let sql = format!("{EVENT} WHERE lineage = ?1 AND sequence = ?2");
        let row = self.optional(&sql, (lineage.0, sequence), read_event)?;
        row.map(|event| Ok(Event { branch: self.born(lineage)?, ..event })).transpose()
    }

    fn by_hash(&self, hash: &Hash) -> Result<Option<EventId>, StoreError> {
        let sql = "SELECT id FROM event WHERE hash = ?1";
        self.optional(sql, [hash.0], |row| row.get(0).map(EventId))
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

    fn of_type_after(&self, kind: EventType, after: EventId) -> Result<Vec<EventId>, StoreError> {
        let sql = "SELECT id FROM event WHERE id > ?1 AND type = ?2 ORDER BY id";
        self.all(sql, (after.0, kind.as_str()), |row| row.get(0).map(EventId))
    }

    fn metadata_with(&self, text: &str) -> Result<Vec<EventId>, StoreError> {
        let sql = "SELECT id FROM event WHERE instr(metadata, ?1) > 0 ORDER BY id";
        self.all(sql, [text], |row| row.get(0).map(EventId))
    }

    fn log_head(&self) -> Result<Option<(EventId, Hash)>, StoreError> {
        self.optional("SELECT id, log FROM event ORDER BY id DESC LIMIT 1", (), |row| {
            Ok((EventId(row.get(0)?), Hash(row.get(1)?)))
        })
    }

    fn link(&self, id: EventId) -> Result<Link, StoreError> {
        let sql = "SELECT lineage, live_parent, depth, jump, jump_depth, snapshot, tokens, \
                   context, other \
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
                context: count(row, 7)?,
                other: row.get::<_, Option<i64>>(8)?.map(EventId),
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

    fn checkpoint(&self, event: EventId) -> Result<Option<Vec<u8>>, StoreError> {
        let lineage = self.link(event)?.lineage;
        let sql = "SELECT state FROM checkpoint WHERE lineage = ?1 AND id = ?2";
        self.optional(sql, (lineage.0, event.0), |row| row.get(0))
    }

    fn lease(&self, resource: &str) -> Result<Option<Lease>, StoreError> {
        self.optional(&format!("{LEASE} WHERE resource = ?1"), [resource], lease::read)
    }

    fn leases(
        &self,
        which: Leases,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Lease>, StoreError> {
        // Only what names the condition of the index of holders is answered by it.
        let (condition, now) = match which {
            Leases::All => ("?5 IS NULL", None),
            Leases::Active(now) => ("holder IS NOT NULL AND expires_at > ?5", Some(now)),
            Leases::Lapsed(now) => ("holder IS NOT NULL AND expires_at <= ?5", Some(now)),
        };
        let sql = format!(
            "{LEASE} WHERE resource >= ?1 AND (?2 IS NULL OR resource < ?2) AND resource > ?3 \
             AND {condition} ORDER BY resource LIMIT ?4"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let below = above_prefix(prefix);
        // No resource is empty.
        let after = after.unwrap_or_default();
        let now = now.map(Timestamp::micros);
        self.all(&sql, (prefix, below, after, limit, now), lease::read)
    }

    fn checkpoints_from(&self, event: EventId) -> Result<Vec<(EventId, LineageId)>, StoreError> {
        let sql = "SELECT id, lineage FROM checkpoint WHERE id >= ?1 ORDER BY id";
        self.all(sql, [event.0], |row| Ok((EventId(row.get(0)?), LineageId(row.get(1)?))))
    }

    fn operations(&self) -> Result<Vec<(String, Operation)>, StoreError> {
        self.all("SELECT id, digest, report FROM operation ORDER BY id", (), |row| {
            Ok((row.get(0)?, Operation { digest: Hash(row.get(1)?), report: row.get(2)? }))
        })
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
                content.map(|content| &content.payload).or(event.structure.as_ref()),
                content.map(|content| &content.metadata),
            ),
        )
        .and_then(|()| {
            insert(
                connection,
                &mut self.insert_link,
                "INSERT INTO link VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                link_values(event.id, link),
            )
        })
        .map_err(|error| failure(error, path, Duration::ZERO))
    }

    fn erase_content(&mut self, event: &Event) -> Result<(), StoreError> {
        let sql = "UPDATE event SET salt = NULL, payload = ?2, metadata = NULL WHERE id = ?1";
        self.execute(sql, (event.id.0, &event.structure))
    }

    fn set_link(&mut self, id: EventId, link: &Link) -> Result<(), StoreError> {
        self.execute(
            "UPDATE link SET lineage = ?2, live_parent = ?3, depth = ?4, jump = ?5, jump_depth = ?6, \
             snapshot = ?7, tokens = ?8, context = ?9, other = ?10 WHERE id = ?1",
            link_values(id, link),
        )
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

    fn rename_branch(&mut self, id: LineageId, name: &BranchName) -> Result<(), StoreError> {
        self.execute("UPDATE branch SET name = ?2 WHERE id = ?1", (id.0, name.as_str()))
    }

    fn set_head(&mut self, id: LineageId, head: EventId, sequence: u64) -> Result<(), StoreError> {
        self.heads.insert(id, (head, sequence));
        Ok(())
    }

    fn put_checkpoint(
        &mut self,
        lineage: LineageId,
        event: EventId,
        state: &[u8],
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO checkpoint(lineage, id, state) VALUES (?1, ?2, ?3)";
        self.execute(sql, (lineage.0, event.0, state))
    }

    fn put_lease(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let holder = lease.holder.as_ref();
        self.freed_lease |= holder.is_none();
        self.execute(
            "INSERT OR REPLACE INTO lease VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                &lease.resource,
                signed(lease.token),
                i64::try_from(lease.ttl.as_micros()).unwrap_or(i64::MAX),
                lease.expires_at.micros(),
                holder.map(|holder| holder.agent.as_str()),
                holder.map(|holder| holder.session.as_str()),
                holder.map(|holder| holder.origin.as_str()),
                holder.map(|holder| holder.branch.0),
                holder.map(|holder| holder.acquired_at.micros()),
            ),
        )
    }

    fn raise_lease_tokens(&mut self, by: u64) -> Result<(), StoreError> {
        let sql = "UPDATE lease SET token = min(token, ?1 - ?2) + ?2";
        self.execute(sql, (i64::MAX, signed(by)))
    }

    fn delete_checkpoint(&mut self, lineage: LineageId, event: EventId) -> Result<(), StoreError> {
        let sql = "DELETE FROM checkpoint WHERE lineage = ?1 AND id = ?2";
        self.execute(sql, (lineage.0, event.0))
    }

    fn delete_operation(&mut self, id: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM operation WHERE id = ?1", [id])
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
