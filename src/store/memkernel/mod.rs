//! The database of MemKernel 0.3.0, as rows that nothing is believed of.
//!
//! Format: docs/spec/kernel.md, section 20.

mod files;

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use crate::event::CONTENT_MAX;
use crate::id::{Hash, hex, shown};
use files::Files;

/// `PRAGMA user_version` of the one format there is.
const VERSION: i64 = 1;

/// Most bytes of a value that is read. The peer has none above [`CONTENT_MAX`].
const VALUE_MAX: i32 = 1 << 20;

/// What the two tables that must be there hold.
const NEEDED: [(&str, &[&str]); 2] = [
    (
        "branches",
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
    ),
    (
        "events",
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
    ),
];

/// Tables that are carried over as they are; older files lack them under the same version number.
pub const CARRIED: [&str; 5] =
    ["coordination_notices", "notice_sources", "sync_state", "sync_identity", "sync_audit"];

/// Why a file is not read as a MemKernel database.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("'{path}' has format {found}; only format {VERSION} of MemKernel is known")]
    Version { path: String, found: i64 },
    #[error("'{path}' is no MemKernel database: {why}")]
    NotMemkernel { path: String, why: String },
    #[error("'{path}' is damaged: {what}")]
    Damaged { path: String, what: String },
    #[error("'{path}' was written to meanwhile")]
    Changed { path: String },
    #[error("cannot {action} '{path}': {source}")]
    Io { action: &'static str, path: String, source: std::io::Error },
}

impl Coded for SourceError {
    fn code(&self) -> Code {
        match self {
            Self::Version { .. } => Code::SOURCE_VERSION,
            Self::NotMemkernel { .. } => Code::NOT_MEMKERNEL,
            Self::Damaged { .. } => Code::SOURCE_DAMAGED,
            Self::Changed { .. } => Code::SOURCE_CHANGED,
            Self::Io { source, .. } => Code::of_io(source),
        }
    }
}

/// A row that is not what such a row must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The event's id, if that at least can be read.
    pub id: Option<i64>,
    /// The branch, if that at least can be read.
    pub branch: Option<String>,
    pub why: String,
}

/// A row of `branches`, but for `snapshot_event_id`, which is computed and not believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRow {
    pub name: String,
    pub parent: Option<String>,
    pub fork_event: Option<i64>,
    pub fork_sequence: i64,
    pub head_event: Option<i64>,
    pub head_sequence: i64,
    pub head_hash: String,
    pub created_at: String,
    pub created_by: String,
}

/// A row of `events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub id: i64,
    pub branch: String,
    pub sequence: i64,
    pub timestamp: String,
    pub agent: String,
    pub parent: Option<i64>,
    pub kind: String,
    pub payload: String,
    pub metadata: String,
    pub hash: String,
}

/// A resource and its last fencing token, or why the row is none of a lease.
pub type LeaseRow = Result<(String, i64), String>;

/// A MemKernel database, as it was when it was opened.
pub struct Source {
    connection: Connection,
    files: Files,
}

impl Source {
    /// Opens the database at `path`, with what its write-ahead log holds.
    ///
    /// # Errors
    /// If it cannot be read, or is none of a known format.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let (files, copy) = Files::copy(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(copy.file(""), flags).and_then(|connection| {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX)?;
            // Nobody else has the copy: its log is read without an index in a file of its own.
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            // The first read takes in the log. From here on the copy needs no name.
            connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
            Ok(connection)
        });
        drop(copy);
        let connection = opened.map_err(|error| failure(&error, &files))?;
        let source = Self { connection, files };
        source.check_tables()?;
        let found: i64 = source.number("PRAGMA user_version")?;
        match found {
            VERSION => Ok(source),
            _ => Err(SourceError::Version { path: source.files.shown(), found }),
        }
    }

    fn check_tables(&self) -> Result<(), SourceError> {
        let path = || self.files.shown();
        for (table, needed) in NEEDED {
            if !self.has_table(table)? {
                let why = format!("it has no table '{table}'");
                return Err(SourceError::NotMemkernel { path: path(), why });
            }
            let columns = self.columns(table)?;
            let lacks = |column: &&&str| !columns.iter().any(|found| found == **column);
            if let Some(column) = needed.iter().find(lacks) {
                let why = format!("its table '{table}' has no column '{column}'");
                return Err(SourceError::NotMemkernel { path: path(), why });
            }
        }
        Ok(())
    }

    /// Whether there is a table of that name that stands in the file. A view or a virtual table
    /// would run what its maker wrote.
    fn has_table(&self, name: &str) -> Result<bool, SourceError> {
        let sql = "SELECT count(*) FROM sqlite_schema \
                   WHERE type = 'table' AND name = ?1 AND rootpage > 0";
        self.connection
            .query_row(sql, [name], |row| row.get::<_, i64>(0))
            .map(|count| count == 1)
            .map_err(|error| failure(&error, &self.files))
    }

    /// The stored columns of a table.
    fn columns(&self, table: &str) -> Result<Vec<String>, SourceError> {
        let sql = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0";
        self.connection
            .prepare(sql)
            .and_then(|mut statement| statement.query_map([table], |row| row.get(0))?.collect())
            .map_err(|error| failure(&error, &self.files))
    }

    fn number(&self, sql: &str) -> Result<i64, SourceError> {
        self.connection
            .query_row(sql, (), |row| row.get(0))
            .map_err(|error| failure(&error, &self.files))
    }

    /// The path, as messages say it.
    #[must_use]
    pub fn path(&self) -> String {
        self.files.shown()
    }

    /// SHA-256 over a line `NAME SIZE SHA-256` of each file that was read.
    #[must_use]
    pub fn fingerprint(&self) -> Hash {
        self.files.fingerprint()
    }

    /// # Errors
    /// [`SourceError::Changed`] if the files are no longer those that were read.
    pub fn check_unchanged(&self) -> Result<(), SourceError> {
        self.files.check()
    }

    /// All branches, by name.
    ///
    /// # Errors
    /// Those of the source.
    pub fn branches(&self) -> Result<Vec<Result<BranchRow, Misfit>>, SourceError> {
        let sql = "SELECT branch_id, parent_branch_id, fork_event_id, fork_sequence, \
                   head_event_id, head_sequence, head_hash, created_at, created_by \
                   FROM branches ORDER BY branch_id";
        let mut rows = Vec::new();
        self.each(sql, |row| {
            rows.push(branch_row(row).map_err(|why| Misfit {
                id: None,
                branch: text(row, 0, "branch_id").ok(),
                why,
            }));
            Ok::<_, SourceError>(())
        })?;
        Ok(rows)
    }

    /// Hands all events to `each`, by id.
    ///
    /// # Errors
    /// Those of `each`, and those of the source.
    pub fn events<E: From<SourceError>>(
        &self,
        mut each: impl FnMut(Result<EventRow, Misfit>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = format!(
            "SELECT event_id, branch_id, sequence, timestamp, agent_id, parent_event_id, \
             event_type, iif(octet_length(payload) <= {CONTENT_MAX}, payload, NULL), \
             iif(octet_length(metadata) <= {CONTENT_MAX}, metadata, NULL), hash, \
             octet_length(payload), octet_length(metadata) FROM events ORDER BY event_id"
        );
        self.each(&sql, |row| {
            each(event_row(row).map_err(|why| Misfit {
                id: number(row, 0, "event_id").ok(),
                branch: text(row, 1, "branch_id").ok(),
                why,
            }))
        })
    }

    /// The last fencing token of each resource, as far as the rows can be read.
    ///
    /// # Errors
    /// Those of the source.
    pub fn leases(&self) -> Result<Vec<LeaseRow>, SourceError> {
        let mut rows = Vec::new();
        let columns = match self.has_table("leases")? {
            true => self.columns("leases")?,
            false => Vec::new(),
        };
        let needed = ["resource_key", "fencing_token"];
        if !needed.iter().all(|name| columns.iter().any(|found| found == name)) {
            return Ok(rows);
        }
        self.each("SELECT resource_key, fencing_token FROM leases ORDER BY 1", |row| {
            rows.push(
                text(row, 0, needed[0]).and_then(|key| Ok((key, number(row, 1, needed[1])?))),
            );
            Ok::<_, SourceError>(())
        })?;
        Ok(rows)
    }

    /// Hands all rows of one of [`CARRIED`] to `each`, in the order they were written, as an object of
    /// its columns. A missing table has none.
    ///
    /// # Errors
    /// Those of `each`, and those of the source.
    pub fn rows<E: From<SourceError>>(
        &self,
        table: &str,
        mut each: impl FnMut(Object) -> Result<(), E>,
    ) -> Result<(), E> {
        if !CARRIED.contains(&table) || !self.has_table(table)? {
            return Ok(());
        }
        let columns = self.columns(table)?;
        let quoted: Vec<String> =
            columns.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        self.each(&format!("SELECT {} FROM \"{table}\"", quoted.join(", ")), |row| {
            let object = columns.iter().enumerate().map(|(index, name)| {
                let value = row.get_ref(index).map_or(Value::Null, |value| carried(value));
                (name.clone(), value)
            });
            each(object.collect())
        })
    }

    fn each<E: From<SourceError>>(
        &self,
        sql: &str,
        mut each: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error: rusqlite::Error| E::from(failure(&error, &self.files));
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query(()).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(row)?;
        }
        Ok(())
    }
}

fn failure(error: &rusqlite::Error, files: &Files) -> SourceError {
    let path = files.shown();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            SourceError::NotMemkernel { path, why: "it is no SQLite database".to_owned() }
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            SourceError::Damaged { path, what: "it has a broken page".to_owned() }
        }
        Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => {
            SourceError::Damaged { path, what: "a row is impossibly long".to_owned() }
        }
        _ => SourceError::Damaged { path, what: shown(&error.to_string()) },
    }
}

fn branch_row(row: &Row<'_>) -> Result<BranchRow, String> {
    Ok(BranchRow {
        name: text(row, 0, "branch_id")?,
        parent: optional(row, 1, "parent_branch_id", text)?,
        fork_event: optional(row, 2, "fork_event_id", number)?,
        fork_sequence: number(row, 3, "fork_sequence")?,
        head_event: optional(row, 4, "head_event_id", number)?,
        head_sequence: number(row, 5, "head_sequence")?,
        head_hash: text(row, 6, "head_hash")?,
        created_at: text(row, 7, "created_at")?,
        created_by: text(row, 8, "created_by")?,
    })
}

fn event_row(row: &Row<'_>) -> Result<EventRow, String> {
    for (index, name) in [(10, "payload"), (11, "metadata")] {
        if let Ok(bytes) = number(row, index, name)
            && bytes > CONTENT_MAX as i64
        {
            return Err(format!("{name} has {bytes} bytes of {CONTENT_MAX}"));
        }
    }
    Ok(EventRow {
        id: number(row, 0, "event_id")?,
        branch: text(row, 1, "branch_id")?,
        sequence: number(row, 2, "sequence")?,
        timestamp: text(row, 3, "timestamp")?,
        agent: text(row, 4, "agent_id")?,
        parent: optional(row, 5, "parent_event_id", number)?,
        kind: text(row, 6, "event_type")?,
        payload: text(row, 7, "payload")?,
        metadata: text(row, 8, "metadata")?,
        hash: text(row, 9, "hash")?,
    })
}

fn text(row: &Row<'_>, index: usize, name: &str) -> Result<String, String> {
    match row.get_ref(index) {
        Ok(ValueRef::Text(text)) => {
            let text = std::str::from_utf8(text).map_err(|_| format!("{name} is not UTF-8"))?;
            Ok(text.to_owned())
        }
        other => Err(format!("{name} is {}, not a text", kind(other))),
    }
}

fn number(row: &Row<'_>, index: usize, name: &str) -> Result<i64, String> {
    match row.get_ref(index) {
        Ok(ValueRef::Integer(number)) => Ok(number),
        other => Err(format!("{name} is {}, not an integer", kind(other))),
    }
}

fn optional<T>(
    row: &Row<'_>,
    index: usize,
    name: &str,
    read: impl Fn(&Row<'_>, usize, &str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    match row.get_ref(index) {
        Ok(ValueRef::Null) => Ok(None),
        _ => read(row, index, name).map(Some),
    }
}

fn kind(value: rusqlite::Result<ValueRef<'_>>) -> &'static str {
    match value {
        Ok(ValueRef::Null) => "null",
        Ok(ValueRef::Integer(_)) => "an integer",
        Ok(ValueRef::Real(_)) => "a real",
        Ok(ValueRef::Text(_)) => "a text",
        Ok(ValueRef::Blob(_)) => "a blob",
        Err(_) => "missing",
    }
}

/// A column of a carried row. What JSON cannot hold becomes a text: an infinity its name, bytes their
/// hex digits.
fn carried(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) if number.is_finite() => Value::Float(number),
        ValueRef::Real(number) => number.to_string().into(),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => text.into(),
            Err(_) => hex(text).into(),
        },
        ValueRef::Blob(bytes) => hex(bytes).into(),
    }
}
