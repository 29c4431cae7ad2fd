//! The files beside the main file of an open store: whether they still are those at their paths.
//!
//! SQLite opens them once and never asks again. It maps one `-shm` for all connections of a process to
//! the same main file, and as long as one of those is open, the next gets it too, whatever is at its
//! path by then.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::open::{check_header, check_open};
use super::{file_id, id_at, with_suffix};
use crate::store::{Patience, StoreError, location};

/// The device and the number of a file.
pub(super) type FileId = (u64, u64);

/// The id of no file.
pub(super) const NONE: FileId = (0, 0);

const SUFFIXES: [&str; 2] = ["-wal", "-shm"];

/// How long is waited for those who still use files that are gone, and how often it is looked.
const FORMER_MAX: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(5);

/// The `-wal` and the `-shm` that all connections of this process to one main file have open.
#[derive(Debug)]
pub(super) struct Beside {
    main: FileId,
    files: [FileId; 2],
}

/// Those of all stores that this process has open.
static OPEN: Mutex<Vec<Weak<Beside>>> = Mutex::new(Vec::new());

fn open() -> MutexGuard<'static, Vec<Weak<Beside>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of(known: &[Weak<Beside>], main: FileId) -> Option<Arc<Beside>> {
    known.iter().filter_map(Weak::upgrade).find(|beside| beside.main == main)
}

fn files_at(path: &Path) -> [FileId; 2] {
    SUFFIXES.map(|suffix| id_at(&with_suffix(path, suffix)))
}

impl Beside {
    /// Whether this process has a store open that has this main file.
    fn is_open(main: FileId) -> bool {
        of(&open(), main).is_some()
    }

    /// Waits until nobody in this process uses others with this main file than those at its path.
    ///
    /// # Errors
    /// If somebody still does after a while.
    fn await_former(path: &Path, main: FileId) -> Result<(), StoreError> {
        let patience = Patience::new(FORMER_MAX);
        while of(&open(), main).is_some_and(|former| !former.is_at(path)) {
            if patience.left().is_zero() {
                return Err(replaced(path));
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// Those that a connection has just opened beside `path`; none if it has none.
    ///
    /// # Errors
    /// If others are open with the same main file.
    pub(super) fn opened(path: &Path, main: FileId) -> Result<Option<Arc<Self>>, StoreError> {
        let mut known = open();
        known.retain(|beside| beside.strong_count() > 0);
        if let Some(beside) = of(&known, main) {
            return if beside.is_at(path) { Ok(Some(beside)) } else { Err(replaced(path)) };
        }
        let files = files_at(path);
        if files.contains(&NONE) {
            return Ok(None);
        }
        let beside = Arc::new(Self { main, files });
        known.push(Arc::downgrade(&beside));
        Ok(Some(beside))
    }

    /// Whether they are those at their paths.
    fn is_at(&self, path: &Path) -> bool {
        files_at(path) == self.files
    }
}

/// Sees to it that what is at `path` can be opened as a store, and answers its id.
///
/// # Errors
/// If it cannot.
pub(super) fn before_opening(path: &Path) -> Result<FileId, StoreError> {
    let file = id_at(path);
    // To open and close it once more would release the locks that SQLite has on it: then its header is
    // looked at once it is open.
    if !Beside::is_open(file) {
        check_header(path)?;
    }
    Beside::await_former(path, file)?;
    location::check_filesystem(path.parent().unwrap_or(Path::new(".")))?;
    Ok(file)
}

/// Whether a store is still what is at `path`: its main file and those beside it.
///
/// # Errors
/// If the main file was overwritten with what is no store.
pub(super) fn is_in_place(
    connection: &Connection,
    path: &Path,
    main: FileId,
    beside: Option<&Beside>,
) -> Result<bool, StoreError> {
    match fs::metadata(path) {
        Ok(file) if file_id(&file) == main => check_open(connection, path, file.len())?,
        _ => return Ok(false),
    }
    Ok(beside.is_none_or(|beside| beside.is_at(path)))
}

/// That a store is not the one any more that was opened.
pub(super) fn replaced(path: &Path) -> StoreError {
    StoreError::Io {
        action: "use",
        path: path.display().to_string(),
        source: io::Error::other("its files were replaced or removed while it was open"),
    }
}
