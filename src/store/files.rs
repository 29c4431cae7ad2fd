//! Files that hold a store: where they are put, and taken away.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::StoreError;
use super::location::{DIRECTORY, IGNORE, SEEN};
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

/// What the names of the files beside a store have after its name.
const PARTS: &[&str] = &[
    "",
    "-wal",
    "-shm",
    "-journal",
    "-lock",
    "-search",
    "-search-lock",
    "-waiting",
    "-new",
    "-restore",
    "-restoring",
];

/// Whether `path` leads to the store at `store`, or to a file beside it that is part of one in use or
/// would be taken for that, or in the directory of a project to anything else that is kept there for it.
pub(crate) fn is_part(path: &Path, store: &Path) -> bool {
    let named = [absolute(path), fs::canonicalize(path).ok()];
    let is_named = |name: Option<PathBuf>| name.is_some_and(|path| is_kept(&path, store));
    named.into_iter().any(is_named)
        || PARTS.iter().any(|suffix| is_same(path, &beside(store, suffix)))
}

/// Whether `path`, in which no link is left but the last, is the name of such a file.
fn is_kept(path: &Path, store: &Path) -> bool {
    let Some(store) = absolute(store) else { return false };
    let directory = directory_of(&store);
    let below = path.strip_prefix(directory).ok().and_then(|rest| rest.iter().next());
    let (Some(below), Some(name)) = (below, store.file_name()) else { return false };
    let rest = below.as_bytes().strip_prefix(name.as_bytes());
    let is_ours = directory.file_name().is_some_and(|it| it == DIRECTORY);
    rest.is_some_and(|rest| {
        PARTS.iter().any(|part| part.as_bytes() == rest) || is_ours && rest.starts_with(b"-")
    }) || is_ours && (below == IGNORE || below == SEEN)
}

/// `path` from the root on, without links in the directory of the file.
fn absolute(path: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(directory_of(path)).ok()?.join(path.file_name()?))
}

/// Whether `from` leads to the store at `at`, or to where its restore works.
pub(crate) fn is_in_use(from: &Path, at: &Path) -> bool {
    is_same(from, at) || is_same(from, &restore_draft(at))
}

/// The directory that holds the file `path`.
fn directory_of(path: &Path) -> &Path {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    directory.unwrap_or(Path::new("."))
}

/// Whether nothing lies beside the store at `path` that whoever uses one makes there.
pub(crate) fn is_alone(path: &Path) -> bool {
    // Beside a link there is nothing.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut parts = ["-wal", "-shm", "-journal", "-lock"].iter();
    parts.all(|suffix| look(&beside(&path, suffix)) == Place::Free)
}

/// Bytes of a file; 0 if there is none.
pub(crate) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Where a file is written that will take the place of `path`. Each process has one of its own; those of
/// processes that were killed are removed.
#[must_use]
pub fn draft(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    remove_leftovers(directory_of(path), |of| of == name);
    beside(path, &format!(".{}.new", std::process::id()))
}

/// Removes the drafts in `directory` of files whose names `is_meant` picks, if their process is gone. One
/// that runs elsewhere, on a directory that is shared, fails when its draft is to be moved.
pub(crate) fn remove_leftovers(directory: &Path, is_meant: impl Fn(&OsStr) -> bool) {
    // What cannot be listed or removed is in nobody's way.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|it| it.is_file());
        if is_file && drafted(&name).is_some_and(|(of, process)| is_meant(of) && is_gone(process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The name of the file that `name` is a draft of, and whose draft it is.
fn drafted(name: &OsStr) -> Option<(&OsStr, u32)> {
    let rest = name.as_bytes().strip_suffix(b".new")?;
    let dot = rest.iter().rposition(|byte| *byte == b'.')?;
    let digits = std::str::from_utf8(&rest[dot + 1..]).ok()?;
    let process: u32 = digits.parse().ok()?;
    // As it is written here: no sign, no zero before it.
    (process.to_string() == digits).then(|| (OsStr::from_bytes(&rest[..dot]), process))
}

/// Whether there is no such process. A draft under the own number is of one that had it before.
fn is_gone(process: u32) -> bool {
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    process == std::process::id()
        || number.is_none_or(|number| test_kill_process(number) == Err(Errno::SRCH))
}

/// `path` with `suffix` at the end of its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

pub(crate) fn put_in_place(draft: &Path, path: &Path) -> Result<(), StoreError> {
    fs::rename(draft, path).map_err(|source| StoreError::Io {
        action: "move",
        path: draft.display().to_string(),
        source,
    })?;
    sync_directory_of(path)
}

/// Makes the names in the directory of `path` safe.
fn sync_directory_of(path: &Path) -> Result<(), StoreError> {
    let directory = directory_of(path);
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
        Err(_) => put_in_place(draft, path)?,
        Ok(()) => {
            fs::remove_file(draft).map_err(|source| StoreError::Io {
                action: "remove",
                path: draft.display().to_string(),
                source,
            })?;
            sync_directory_of(path)?;
        }
    }
    Ok(true)
}

/// Where a backup is checked before it becomes the store `at`, and what keeps two from doing so at once.
pub(crate) fn restore_draft(at: &Path) -> PathBuf {
    beside(at, "-restore")
}

/// The turn of the one that uses [`restore_draft`]. Its file goes when it ends.
pub(crate) struct RestoreTurn {
    path: PathBuf,
    _turn: Turnstile,
}

impl RestoreTurn {
    /// Waits up to `timeout`.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when the time is up.
    pub(crate) fn enter(at: &Path, timeout: Duration) -> Result<Self, StoreError> {
        let path = beside(at, "-restoring");
        #[expect(clippy::disallowed_methods, reason = "it measures a wait")]
        let begun = Instant::now();
        loop {
            let turn = Turnstile::enter(&path, timeout.saturating_sub(begun.elapsed()))?;
            // Who had it before has taken the file away, and the next one makes another.
            if turn.is_at(&path) {
                return Ok(Self { path, _turn: turn });
            }
        }
    }
}

impl Drop for RestoreTurn {
    fn drop(&mut self) {
        // While it is locked. If it stays it is in nobody's way.
        let _ = fs::remove_file(&self.path);
    }
}

/// What the name of a store that a restore kept has after that of the store, before the time.
const KEPT: &str = "-before-";

/// Where a restore keeps the store that was at `at`.
pub(crate) fn kept(at: &Path, stamp: &str) -> PathBuf {
    beside(at, &format!("{KEPT}{stamp}"))
}

/// Removes what restores that were killed left of stores that they were about to keep.
pub(crate) fn remove_kept_drafts(at: &Path) {
    let begin = beside(Path::new(at.file_name().unwrap_or_default()), KEPT);
    let begin = begin.as_os_str().as_bytes();
    remove_leftovers(directory_of(at), |of| of.as_bytes().starts_with(begin));
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
