//! The store as a file, whole: copied while others write, and replaced while others read.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{
    Durability, Sqlite, Txn, check_header, failure, immutable_uri, main_file, with_suffix,
};
use crate::id::{EventId, Hash};
use crate::store::turnstile::Turnstile;
use crate::store::{ReadTxn, StoreError, files, location};

/// How long a copy waits for a moment at which nobody writes. Without one it takes longer.
const STILL: Duration = Duration::from_secs(2);

impl Sqlite {
    /// Makes a copy of the store as it is at one moment in the new file `to`, which nobody else may
    /// read, safe on the disk and looked at again. Answers how many events it has. Writers go on
    /// meanwhile.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], [`StoreError::Io`]; then there may be a part of a file.
    pub fn copy_to(&mut self, to: &Path) -> Result<u64, StoreError> {
        // A store without a turnstile is a copy that nobody wrote to, and gets none for being read.
        let lock = with_suffix(&self.path, "-lock");
        let turn = lock.exists().then(|| Turnstile::enter(&lock, STILL).ok()).flatten();
        self.copy_as_it_is(to, turn.is_some(), || drop(turn))
    }

    /// The same, where it may be that nobody writes until `begun` is called: then what others commit is no
    /// part of the copy any more.
    fn copy_as_it_is(
        &mut self,
        to: &Path,
        is_still: bool,
        begun: impl FnOnce(),
    ) -> Result<u64, StoreError> {
        let failed = |error| failure(error, &self.path, Duration::ZERO);
        // While nothing is in the WAL, the main file is the whole store, and whoever reads it then keeps
        // everybody from writing to it: what others commit stays in the WAL until the copy is made.
        if is_still {
            try_to_empty_wal(&self.path);
        }
        // The copy is of the moment of the first read.
        let txn = self.connection.transaction().map_err(failed)?;
        let head = Txn::new(&txn, &self.path).log_head()?;
        // What the read may need of the WAL nobody takes out.
        let is_whole = files::length(&with_suffix(&self.path, "-wal")) == 0;
        begun();
        location::create_private(to)?;
        match is_whole {
            true => main_file::copy(&txn, &self.path, to)?,
            false => page_by_page(&txn, to)?,
        }
        drop(txn);
        let io =
            |source| StoreError::Io { action: "write", path: to.display().to_string(), source };
        fs::File::open(to).and_then(|file| file.sync_all()).map_err(io)?;
        check_copy(to, head)?;
        Ok(head.map_or(0, |(id, _)| id.0.unsigned_abs()))
    }

    /// Puts the content of the store `from` in the place of this one's, at once for all who read it.
    /// `agree` sees both as no writer can change them any more, and says where this one is to be kept.
    ///
    /// # Errors
    /// Those of `agree`, and those of the store; then this one is as it was.
    pub fn replace_with<E: From<StoreError>>(
        &mut self,
        from: &mut Self,
        agree: impl FnOnce(&dyn ReadTxn, &dyn ReadTxn) -> Result<Option<PathBuf>, E>,
    ) -> Result<Option<PathBuf>, E> {
        #[expect(clippy::disallowed_methods, reason = "it measures a wait")]
        let begun = Instant::now();
        let _turn = Turnstile::enter(&with_suffix(&self.path, "-lock"), self.lock_timeout)?;
        let there = |error| failure(error, &from.path, Duration::ZERO);
        let source = from.connection.transaction().map_err(there)?;
        let here = self.connection.transaction();
        let here = here.map_err(|error| failure(error, &self.path, begun.elapsed()))?;
        let kept = agree(&Txn::new(&here, &self.path), &Txn::new(&source, &from.path))?;
        drop(here);
        if let Some(kept) = &kept {
            self.keep(kept)?;
        }
        let rest = self.lock_timeout.saturating_sub(begun.elapsed());
        let busy = self.connection.busy_timeout(rest);
        busy.map_err(|error| failure(error, &self.path, begun.elapsed()))?;
        step_through(&source, &mut self.connection, &self.path)?;
        self.shorten_wal();
        Ok(kept)
    }

    /// Copies the store, to which nobody writes, to the file `to`, which is whole or not there.
    fn keep(&mut self, to: &Path) -> Result<(), StoreError> {
        let draft = files::draft(to);
        let kept = self.copy_as_it_is(&draft, true, || ());
        let kept = kept.and_then(|_| files::put_in_free_place(&draft, to));
        if !matches!(kept, Ok(true)) {
            files::remove_store(&draft);
        }
        match kept? {
            true => Ok(()),
            false => Err(StoreError::Io {
                action: "write",
                path: to.display().to_string(),
                source: ErrorKind::AlreadyExists.into(),
            }),
        }
    }
}

/// Empties the WAL of the store, unless that may not be done or somebody reads an older state.
fn try_to_empty_wal(path: &Path) {
    let store = Sqlite::open_to_write(path, Duration::ZERO, Durability::Full);
    // Where it cannot be done, more is copied.
    let _ = store.and_then(|store| store.empty_wal(Duration::ZERO));
}

/// Copies the pages of a store into the new file `to`, wherever they are.
fn page_by_page(from: &Connection, to: &Path) -> Result<(), StoreError> {
    let failed = |error| failure(error, to, Duration::ZERO);
    let mut copy = Connection::open(to).map_err(failed)?;
    // A copy that is not finished is thrown away, so nothing need be safe before the end.
    copy.pragma_update(None, "journal_mode", "OFF").map_err(failed)?;
    copy.pragma_update(None, "synchronous", "OFF").map_err(failed)?;
    step_through(from, &mut copy, to)?;
    copy.close().map_err(|(_, error)| failed(error))
}

/// Copies all pages in one step.
fn step_through(from: &Connection, to: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| failure(error, path, Duration::ZERO);
    let backup = Backup::new(from, to).map_err(failed)?;
    match backup.step(-1).map_err(failed)? {
        StepResult::Done => Ok(()),
        _ => Err(StoreError::Busy { waited_ms: 0 }),
    }
}

/// Reads a copy anew: it must be a store, of the length it says, and end where the original did.
fn check_copy(path: &Path, head: Option<(EventId, Hash)>) -> Result<(), StoreError> {
    let failed = |error| failure(error, path, Duration::ZERO);
    check_header(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let copy = Connection::open_with_flags(immutable_uri(path), flags).map_err(failed)?;
    let number = |pragma: &str| copy.query_row(pragma, (), |row| row.get::<_, i64>(0));
    let pages = number("PRAGMA page_count").map_err(failed)?;
    let size = number("PRAGMA page_size").map_err(failed)?;
    let length = fs::metadata(path).map_or(0, |found| found.len());
    if (pages * size).unsigned_abs() != length || Txn::new(&copy, path).log_head()? != head {
        return Err(StoreError::damaged(format!("the copy '{}' is not whole", path.display())));
    }
    Ok(())
}
