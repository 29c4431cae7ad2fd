//! The files of a foreign database, read without a trace: nothing is created, locked or dated beside
//! them. What is opened is a copy in a private directory, which has no name any more once it is open.
//!
//! Rule: docs/spec/migrations.md, section 1, item 2, and section 6, "Quiet source".

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::SourceError;
use crate::id::{Hash, hex, unhex};

/// The main file, and those beside it that belong to it: transactions not yet in it, or half in it.
const SUFFIXES: [&str; 3] = ["", "-wal", "-journal"];

/// The files as they were when they were copied.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    found: Vec<Print>,
}

/// What a file held.
#[derive(Debug, PartialEq, Eq)]
struct Print {
    suffix: &'static str,
    bytes: u64,
    digest: Hash,
}

impl Files {
    /// Copies the database at `path` and what belongs to it to a directory that only this user may
    /// enter.
    pub(super) fn copy(path: &Path) -> Result<(Self, Copy), SourceError> {
        let failed = |source| SourceError::Io { action: "read", path: shown(path), source };
        // SQLite looks for the other files beside the file that a link leads to.
        let path = fs::canonicalize(path).map_err(failed)?;
        let copy = Copy::new()?;
        let found = read_all(&path, |suffix| {
            let mut file = OpenOptions::new();
            let file = file.write(true).create_new(true).mode(0o600).open(copy.file(suffix));
            Ok(Some(file.map_err(|source| cannot_copy(&copy.directory, source))?))
        })?;
        Ok((Self { path, found }, copy))
    }

    /// SHA-256 over a line `NAME SIZE DIGEST` for each file.
    pub(super) fn fingerprint(&self) -> Hash {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let mut digest = Sha256::new();
        for Print { suffix, bytes, digest: of_file } in &self.found {
            digest.update(format!("{name}{suffix} {bytes} {of_file}\n"));
        }
        Hash(digest.finalize().into())
    }

    pub(super) fn shown(&self) -> String {
        shown(&self.path)
    }

    /// # Errors
    /// [`SourceError::Changed`] if the files are no longer those that were copied.
    pub(super) fn check(&self) -> Result<(), SourceError> {
        match read_all(&self.path, |_| Ok(None))? == self.found {
            true => Ok(()),
            false => Err(SourceError::Changed { path: self.shown() }),
        }
    }
}

/// Reads the files that are there and not empty, and writes each to what `to` answers.
fn read_all(
    path: &Path,
    mut to: impl FnMut(&str) -> Result<Option<File>, SourceError>,
) -> Result<Vec<Print>, SourceError> {
    let mut found = Vec::new();
    for suffix in SUFFIXES {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let name = PathBuf::from(name);
        let failed = |source| SourceError::Io { action: "read", path: shown(&name), source };
        let mut file = match open(&name) {
            Err(error) if error.kind() == ErrorKind::NotFound && !suffix.is_empty() => continue,
            other => other.map_err(failed)?,
        };
        let kind = file.metadata().map_err(failed)?;
        if !kind.is_file() {
            return Err(failed(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is no regular file",
            )));
        }
        if kind.len() == 0 && !suffix.is_empty() {
            continue;
        }
        let mut out = to(suffix)?;
        let mut digest = Sha256::new();
        let mut bytes = 0;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                break;
            }
            digest.update(&buffer[..read]);
            bytes += read as u64;
            if let Some(out) = &mut out {
                out.write_all(&buffer[..read]).map_err(|source| SourceError::Io {
                    action: "copy",
                    path: shown(&name),
                    source,
                })?;
            }
        }
        found.push(Print { suffix, bytes, digest: Hash(digest.finalize().into()) });
    }
    Ok(found)
}

/// Opens a file to read it, without setting its access time where the system lets us, and without
/// waiting for the other end of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = |flags| rustix::fs::open(path, flags, Mode::empty());
    let quiet = if cfg!(target_os = "linux") { noatime() } else { OFlags::empty() };
    let opened = match open(flags | quiet) {
        // Only the owner of a file may leave its access time alone.
        Err(Errno::PERM) => open(flags),
        other => other,
    };
    Ok(opened.map(File::from)?)
}

#[cfg(target_os = "linux")]
fn noatime() -> OFlags {
    OFlags::NOATIME
}

#[cfg(not(target_os = "linux"))]
fn noatime() -> OFlags {
    OFlags::empty()
}

/// A directory of copies; it goes when this is dropped, or if that was never to be, with the next one.
#[derive(Debug)]
pub(super) struct Copy {
    directory: PathBuf,
    /// Held as long as the directory is in use.
    _lock: File,
}

/// What the name of such a directory begins with. Digits by chance follow.
const COPIES: &str = "mk-import-";

impl Copy {
    fn new() -> Result<Self, SourceError> {
        let place = std::env::temp_dir();
        remove_leftovers(&place);
        loop {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).map_err(|error| SourceError::Io {
                action: "name a copy in",
                path: shown(&place),
                source: io::Error::other(error.to_string()),
            })?;
            let directory = place.join(format!("{COPIES}{}", hex(&bytes)));
            let failed = |source| cannot_copy(&directory, source);
            DirBuilder::new().mode(0o700).create(&directory).map_err(failed)?;
            // Who takes leftovers away may have come before the lock.
            if let Some(lock) = lock(&directory).map_err(failed)? {
                return Ok(Self { directory, _lock: lock });
            }
        }
    }

    pub(super) fn file(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("copy.db{suffix}"))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What stays behind lies in the directory for temporary files, closed to others.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The lock of a directory; none if another has it, or it is gone.
fn lock(directory: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let file = match rustix::fs::open(directory, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => File::from(opened?),
    };
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    let locked = file.metadata()?;
    let is_there = fs::symlink_metadata(directory)
        .is_ok_and(|found| (found.dev(), found.ino()) == (locked.dev(), locked.ino()));
    Ok(is_there.then_some(file))
}

/// Removes the copies of those that were killed over them.
fn remove_leftovers(place: &Path) {
    let own = rustix::process::getuid().as_raw();
    // What cannot be listed, locked or removed is in nobody's way.
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(COPIES));
        let is_named = digits.is_some_and(|digits| digits.len() == 16 && unhex(digits).is_some());
        let is_closed = |it: fs::Metadata| {
            it.is_dir() && it.uid() == own && it.permissions().mode() & 0o777 == 0o700
        };
        if !is_named || !entry.metadata().is_ok_and(is_closed) {
            continue;
        }
        let Ok(Some(_lock)) = lock(&entry.path()) else { continue };
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(entry.path().join(format!("copy.db{suffix}")));
        }
        // It stays if there is anything else in it.
        let _ = fs::remove_dir(entry.path());
    }
}

fn cannot_copy(to: &Path, source: io::Error) -> SourceError {
    SourceError::Io { action: "copy to", path: shown(to), source }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
