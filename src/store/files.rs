//! Files that hold a store: where they are put, and taken away.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::StoreError;
use super::turnstile::Turnstile;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Free,
    File,
    Directory,
    /// A device, a pipe.
    Other,
}

pub(crate) fn look(path: &Path) -> Place {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Place::Directory,
        Ok(found) if found.is_file() => Place::File,
        Ok(_) => Place::Other,
        // A link that leads nowhere is there too.
        Err(_) if fs::symlink_metadata(path).is_ok() => Place::File,
        Err(_) => Place::Free,
    }
}

/// Whether both paths lead to one file.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether `path` leads to the store at `store`, or to a file beside it that is part of one in use or
/// would be taken for that.
pub(crate) fn is_part(path: &Path, store: &Path) -> bool {
    let named = |path: &Path| {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let directory = fs::canonicalize(directory.unwrap_or(Path::new("."))).ok()?;
        Some(directory.join(path.file_name()?))
    };
    ["", "-wal", "-shm", "-journal", "-lock", "-search", "-search-lock"].iter().any(|suffix| {
        let part = beside(store, suffix);
        is_same(path, &part) || named(path).is_some_and(|path| Some(path) == named(&part))
    })
}

/// Bytes of a file; 0 if there is none.
pub(crate) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Where a file is written that will take the place of `path`. Each process has one of its own.
pub(crate) fn draft(path: &Path) -> PathBuf {
    beside(path, &format!(".{}.new", std::process::id()))
}

/// `path` with `suffix` at the end of its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

pub(crate) fn put_in_place(draft: &Path, path: &Path) -> Result<(), StoreError> {
    move_away(draft, path)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let synced = fs::File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|source| StoreError::Io {
        action: "write",
        path: directory.display().to_string(),
        source,
    })
}

/// Gives the finished `draft` the name `path`, which nothing else has. Answers false, and leaves the draft,
/// if something has it.
pub(crate) fn put_in_free_place(draft: &Path, path: &Path) -> Result<bool, StoreError> {
    // Unlike a rename, a link never takes the place of what came there meanwhile.
    match fs::hard_link(draft, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(_) if look(path) != Place::Free => return Ok(false),
        // Some file systems have no links.
        Err(_) => {}
        Ok(()) => fs::remove_file(draft).map_err(|source| StoreError::Io {
            action: "remove",
            path: draft.display().to_string(),
            source,
        })?,
    }
    put_in_place(draft, path).map(|()| true)
}

/// Where a backup is checked before it becomes the store `at`, and what keeps two from doing so at once.
pub(crate) fn restore_draft(at: &Path) -> PathBuf {
    beside(at, "-restore")
}

/// The turn of the one that uses [`restore_draft`].
pub(crate) fn restore_turn(at: &Path, timeout: Duration) -> Result<Turnstile, StoreError> {
    Turnstile::enter(&beside(at, "-restoring"), timeout)
}

/// Renames a file, if it is there.
pub(crate) fn move_away(from: &Path, to: &Path) -> Result<(), StoreError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::Io { action: "move", path: from.display().to_string(), source: error })
        }
        _ => Ok(()),
    }
}

/// Removes a draft, and what the engine made beside it.
pub(crate) fn remove_store(draft: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal", "-lock"] {
        let _ = fs::remove_file(beside(draft, suffix));
    }
}
