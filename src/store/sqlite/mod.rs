//! The embedded engine: one SQLite file in WAL mode.

mod beside;
mod copy;
mod create;
mod exchange;
mod execution;
mod failure;
mod lease;
mod main_file;
mod notice;
mod open;
mod row;
mod txn;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};

use super::audit::Audit;
use super::schema::VERSION;
use super::search::SearchIndex;
use super::turnstile::Turnstile;
use super::{Engine, ReadTxn, StoreError, WaitingRoom, WriteTxn, files};

use beside::{Beside, FileId, before_opening, is_in_place, replaced};
use open::{READS, begin, cannot_open, check_header, configure, immutable_uri, open_immutable};

pub(super) use exchange::{AUDIT, BINDING, PEER};
pub(super) use execution::{EXEC_RECORD, record as exec_record};
pub(super) use failure::failure;
pub(super) use notice::NOTICE;
pub(super) use txn::{BRANCH, LEASE, Txn};

/// Bytes of the WAL after which a writer copies it into the main file and empties it. A process that
/// opens the store alone reads the whole WAL first, so a short command is only as fast as the WAL is
/// short.
///
/// The engine's own automatic checkpoint copies too, but leaves it to the *next* transaction of the
/// same process to start the WAL again. Where each process writes once, there is none, and the WAL
/// would only grow.
const WAL_MAX: u64 = 512 << 10;

/// Most memory for pages of a store that is written to, taken only as far as it is used. Hashes go to
/// random places of their index, so a long batch needs more of it at hand than the engine's 2 MiB.
const CACHE_KIB: i32 = 131_072;

/// The same for a store that is kept open between writes.
const KEPT_KIB: i32 = 2_048;

/// A store in a SQLite file.
pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
    /// The file that was opened.
    file: FileId,
    /// What is open beside it, unless it is read alone. It goes after the connection.
    beside: Option<Arc<Beside>>,
    /// Which of the connections of this process it is.
    opened: u64,
    /// How long to wait for the write lock.
    lock_timeout: Duration,
    /// Whether others' commits are seen, and nothing stands in the way of a write of this process.
    is_lasting: bool,
    has_written: bool,
}

fn file_id(file: &fs::Metadata) -> FileId {
    (file.dev(), file.ino())
}

/// The id of the file at `path`, before it is opened: if it is replaced meanwhile, what is open does not
/// count as current.
fn id_at(path: &Path) -> FileId {
    fs::metadata(path).map_or(beside::NONE, |file| file_id(&file))
}

/// Whether this user may write the file. It is not opened for that: to close it would release the locks
/// that SQLite has on it.
fn can_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// What a store held at some moment, as far as one connection can tell: as long as it is the same, nobody
/// else has written. That of another connection is never the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    opened: u64,
    commits: i64,
}

/// The number of the connection of this process that is opened now.
fn count_opened() -> u64 {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    OPENED.fetch_add(1, Ordering::Relaxed)
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
    /// Opens the store at `path` for reading. No content is written, now or later; the engine may make an
    /// empty WAL and its index.
    ///
    /// # Errors
    /// If there is none, or it cannot be read by this version.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let file = before_opening(path)?;
        let opened: Result<(Connection, i64), rusqlite::Error> =
            Connection::open_with_flags(path, READS).and_then(begin);
        // A directory that cannot be written may hold no place for the index of the WAL. Without
        // content in the WAL none is needed: the main file is the whole store. Else the index is
        // made in memory, which SQLite does under an exclusive lock; to a reader only the file
        // system without locks grants one. Either way the store is read as it is just now.
        let is_lasting = opened.is_ok() && can_write(&with_suffix(path, "-shm"));
        let opened = match opened {
            Err(error) if cannot_open(&error) && has_content(&with_suffix(path, "-wal")) => {
                Connection::open_with_flags_and_vfs(path, READS, c"unix-none").and_then(
                    |connection| {
                        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
                        begin(connection)
                    },
                )
            }
            Err(error) if cannot_open(&error) => open_immutable(path),
            opened => opened,
        };
        let mut store = Self::opened_to_read(opened, path, file)?;
        if is_lasting {
            store.beside = Beside::opened(path, file)?;
        }
        store.is_lasting = store.beside.is_some();
        Ok(store)
    }

    /// The same for a store that is a copy nobody uses: nothing is made beside it, if nothing is there.
    ///
    /// # Errors
    /// Those of [`Sqlite::open_to_read`].
    pub fn open_copy(path: &Path) -> Result<Self, StoreError> {
        if !files::is_alone(path) {
            return Self::open_to_read(path);
        }
        let file = before_opening(path)?;
        Self::opened_to_read(open_immutable(path), path, file)
    }

    fn opened_to_read(
        opened: rusqlite::Result<(Connection, i64)>,
        path: &Path,
        file: FileId,
    ) -> Result<Self, StoreError> {
        let (connection, version) = opened.map_err(|error| failure(error, path, Duration::ZERO))?;
        let path = path.to_owned();
        let (lock_timeout, beside) = (Duration::ZERO, None);
        let (opened, is_lasting, has_written) = (count_opened(), false, false);
        let store =
            Self { connection, path, file, beside, opened, lock_timeout, is_lasting, has_written };
        // For its header; if it is not the one at the path any more, it is not kept.
        store.is_in_place()?;
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
        let file = before_opening(path)?;
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
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
        // What is erased is overwritten at once, and not only when the file is written anew.
        connection
            .pragma_update_and_check(None, "secure_delete", "ON", |_| Ok(()))
            .map_err(failed)?;
        let owned = path.to_owned();
        let mut store = Self {
            connection,
            path: owned,
            file,
            beside: None,
            opened: count_opened(),
            lock_timeout,
            is_lasting: false,
            has_written: false,
        };
        let version = store
            .connection
            .query_row("PRAGMA user_version", (), |row| row.get(0))
            .map_err(|error| match cannot_open(&error) {
                true => StoreError::ReadOnly {
                    why: format!("no permission to write beside '{}'", path.display()),
                },
                false => failed(error),
            })?;
        store.is_in_place()?;
        store.check_version(version, "min_writer")?;
        store.beside = Beside::opened(path, file)?;
        store.is_lasting = store.beside.is_some();
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

    /// Another one after each commit of another connection.
    ///
    /// # Errors
    /// If it is not the store at its path any more: commits there are not seen.
    pub fn version(&self) -> Result<Version, StoreError> {
        if !self.is_in_place()? {
            return Err(replaced(&self.path));
        }
        let commits = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row((), |row| row.get(0)))
            .map_err(|error| failure(error, &self.path, Duration::ZERO))?;
        Ok(Version { opened: self.opened, commits })
    }

    /// Whether what is open is still the store at its path, and of a format that can be read, and
    /// written if it was opened for that. For who keeps a store open while others may upgrade, move or
    /// replace it.
    ///
    /// # Errors
    /// As on opening it now.
    pub fn is_current(&self) -> Result<bool, StoreError> {
        let failed = |error| failure(error, &self.path, Duration::ZERO);
        if !self.is_in_place()? {
            return Ok(false);
        }
        let version = self.connection.query_row("PRAGMA user_version", (), |row| row.get(0));
        let reads = self.connection.is_readonly("main").map_err(failed)?;
        let need = if reads { "min_reader" } else { "min_writer" };
        self.check_version(version.map_err(failed)?, need)?;
        Ok(true)
    }

    fn is_in_place(&self) -> Result<bool, StoreError> {
        is_in_place(&self.connection, &self.path, self.file, self.beside.as_deref())
    }

    /// Whether it may stay open: what was opened where nothing can be written may not see what others
    /// commit, and as long as it is open SQLite takes the index of the WAL for read-only in this whole
    /// process, even once it is not.
    #[must_use]
    pub fn can_be_kept(&self) -> bool {
        self.is_lasting
    }

    /// Keeps no more pages in memory than a store that is only read, for who keeps it open.
    ///
    /// # Errors
    /// Only if the engine is out of order.
    pub fn keep_little(&self) -> Result<(), StoreError> {
        self.connection
            .pragma_update(None, "cache_size", -KEPT_KIB)
            .map_err(|error| failure(error, &self.path, Duration::ZERO))
    }

    /// Whether the last transaction of [`Engine::write`] that was kept changed a row.
    #[must_use]
    pub fn has_written(&self) -> bool {
        self.has_written
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a file put at `path` would take the place of this store, or of one it consists of.
    #[must_use]
    pub fn consists_of(&self, path: &Path) -> bool {
        files::is_part(path, &self.path)
    }

    /// Where processes wait for leases of this store.
    #[must_use]
    pub fn waiting_room(&self) -> WaitingRoom {
        WaitingRoom::new(with_suffix(&self.path, "-waiting"))
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

    /// Writes the whole file anew from what the rows hold, so that no page keeps what was deleted or
    /// erased, and empties the WAL. Takes as long as copying the file, and twice its room; writers
    /// wait, readers go on. What a restore left that was killed goes too.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process reads for the whole wait, [`StoreError::DiskFull`].
    /// Then old pages, or the WAL, may still hold what is gone from the rows.
    pub fn scrub(&mut self) -> Result<(), StoreError> {
        #[expect(clippy::disallowed_methods, reason = "it measures a wait")]
        let begun = Instant::now();
        let rest = || self.lock_timeout.saturating_sub(begun.elapsed());
        let left = files::restore_draft(&self.path);
        if left.exists() {
            let _alone = files::RestoreTurn::enter(&self.path, self.lock_timeout)?;
            files::remove_store(&left);
        }
        let _turn = Turnstile::enter(&with_suffix(&self.path, "-lock"), rest())?;
        let failed = |error| failure(error, &self.path, begun.elapsed());
        SearchIndex::remove(&self.path, rest())?;
        self.connection.busy_timeout(rest()).map_err(failed)?;
        self.connection.execute_batch("VACUUM").map_err(failed)?;
        self.empty_wal(rest())
    }

    /// Copies the WAL into the file and leaves it empty.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process reads for all of `timeout`.
    pub fn empty_wal(&self, timeout: Duration) -> Result<(), StoreError> {
        let failed = |error| failure(error, &self.path, timeout);
        self.connection.busy_timeout(timeout).map_err(failed)?;
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: bool = self.connection.query_row(sql, (), |row| row.get(0)).map_err(failed)?;
        match busy {
            false => Ok(()),
            true => Err(StoreError::Busy {
                waited_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            }),
        }
    }

    /// Empties the WAL if it has grown long and nobody reads. What is committed is safe either way, so
    /// that it could not be done is no fault of the write: the next one tries again.
    fn shorten_wal(&self) {
        let wal = with_suffix(&self.path, "-wal");
        if fs::metadata(wal).is_ok_and(|wal| wal.len() > WAL_MAX) {
            let _ = self.connection.busy_timeout(Duration::ZERO).and_then(|()| {
                self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
            });
        }
    }

    fn check_version(&self, version: i64, need: &str) -> Result<(), StoreError> {
        let path = self.path.display().to_string();
        if version < VERSION {
            return Err(StoreError::Foreign { path, found: format!("format version {version}") });
        }
        if version == VERSION {
            return Ok(());
        }
        // A newer schema says itself which older programs it bears with. Who writes also reads.
        let needs = if need == "min_writer" { &["min_reader", "min_writer"][..] } else { &[need] };
        for need in needs {
            let least: Option<i64> = self
                .connection
                .query_row("SELECT value FROM store WHERE key = ?1", [need], |row| row.get(0))
                .optional()
                .unwrap_or_default();
            if least.is_none_or(|least| least > VERSION) {
                return Err(StoreError::Newer { path, found: version, known: VERSION });
            }
        }
        Ok(())
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
        let before = txn.total_changes();
        let mut rows = Txn::new(&txn, &self.path);
        let done = body(&mut rows)?;
        rows.store_heads()?;
        let freed_lease = rows.freed_lease;
        drop(rows);
        if !is_in_place(&txn, &self.path, self.file, self.beside.as_deref())? {
            return Err(replaced(&self.path).into());
        }
        let has_written = txn.total_changes() > before;
        txn.commit().map_err(failed)?;
        self.has_written = has_written;
        if freed_lease {
            self.waiting_room().ring();
        }
        self.shorten_wal();
        Ok(done)
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > 0)
}
