//! The files of the signed exchange: the policy and the key, which must be private, and the folder that
//! peers share.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::files::draft;
use crate::code::{Code, Coded};

/// Why a file of the exchange cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("'{path}' {why}")]
    Unfit { path: String, why: &'static str },
    #[error("cannot {action} '{path}': {source}")]
    Io { action: &'static str, path: String, source: io::Error },
}

impl Coded for FolderError {
    fn code(&self) -> Code {
        match self {
            Self::Unfit { .. } => Code::INVALID_ARGUMENT,
            Self::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists => {
                Code::FILE_EXISTS
            }
            Self::Io { source, .. } => Code::of_io(source),
        }
    }
}

/// Why a file of a peer was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    Missing,
    /// A link, or no regular file.
    Unsafe,
    Oversized,
    Io,
}

fn unfit(path: &Path, why: &'static str) -> FolderError {
    FolderError::Unfit { path: path.display().to_string(), why }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> FolderError {
    FolderError::Io { action, path: path.display().to_string(), source }
}

/// Opens a file to read, but no link, and without waiting for whoever writes to a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// The bytes of a file that nobody but the user can read or write, at most `most`.
///
/// # Errors
/// If it is a link or no regular file, of another user, open to others, or larger.
pub fn read_private(path: &Path, most: u64) -> Result<Vec<u8>, FolderError> {
    let file = open(path).map_err(|error| match is_link(&error) {
        true => unfit(path, "is a link"),
        false => io_error("read", path, error),
    })?;
    let found = file.metadata().map_err(|error| io_error("read", path, error))?;
    let user = rustix::process::geteuid().as_raw();
    if !found.is_file() {
        return Err(unfit(path, "is no regular file"));
    }
    if ![user, 0].contains(&found.uid()) {
        return Err(unfit(path, "belongs to another user"));
    }
    if found.mode() & 0o077 != 0 {
        return Err(unfit(path, "can be read or written by others than its owner: chmod 600"));
    }
    let mut bytes = Vec::new();
    let read = file.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| io_error("read", path, error))?;
    if bytes.len() as u64 > most { Err(unfit(path, "is too large")) } else { Ok(bytes) }
}

/// Writes a new file that only the user can read and write.
///
/// # Errors
/// If there is one already.
pub fn write_new_private(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.map_err(|error| io_error("make", path, error))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| io_error("write", path, error))
}

/// Puts a private file in the place of the one at `path`, whole or not at all.
///
/// # Errors
/// Those of the file system.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let draft = draft(path);
    write_new_private(&draft, bytes)?;
    fs::rename(&draft, path).map_err(|error| {
        let _ = fs::remove_file(&draft);
        io_error("write", path, error)
    })
}

/// `path` as it is written in a file in `directory`.
#[must_use]
pub fn beside_policy(policy: &Path, path: &str) -> PathBuf {
    policy.parent().unwrap_or(Path::new(".")).join(path)
}

/// The folder that peers share: a file for each.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`, if none of `outside` lies in it.
    ///
    /// # Errors
    /// If it is none, or holds one of them.
    pub fn open(path: &Path, outside: &[&Path]) -> Result<Self, FolderError> {
        let folder = fs::canonicalize(path).map_err(|error| io_error("open", path, error))?;
        if !folder.is_dir() {
            return Err(unfit(path, "is no directory"));
        }
        for file in outside {
            let place = fs::canonicalize(file).map_err(|error| io_error("find", file, error))?;
            if place.starts_with(&folder) {
                return Err(unfit(file, "lies in the folder that is shared"));
            }
        }
        Ok(Self { path: folder })
    }

    fn file(&self, peer: &str) -> PathBuf {
        self.path.join(format!("{peer}.json"))
    }

    /// What a peer published, at most `most` bytes.
    ///
    /// # Errors
    /// Why there is nothing.
    pub fn read(&self, peer: &str, most: u64) -> Result<Vec<u8>, Unread> {
        let file = open(&self.file(peer)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Unread::Missing,
            _ if is_link(&error) => Unread::Unsafe,
            _ => Unread::Io,
        })?;
        let found = file.metadata().map_err(|_| Unread::Io)?;
        if !found.is_file() {
            return Err(Unread::Unsafe);
        }
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(|_| Unread::Io)?;
        if bytes.len() as u64 > most { Err(Unread::Oversized) } else { Ok(bytes) }
    }

    /// Publishes the file of a peer, whole or not at all.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn put(&self, peer: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let path = self.file(peer);
        let draft = draft(&path);
        // A new file, since others can put a link in its place. Such a one goes.
        let _ = fs::remove_file(&draft);
        let new = OpenOptions::new().write(true).create_new(true).open(&draft);
        let written = new.and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        });
        written.map_err(|error| {
            let _ = fs::remove_file(&draft);
            io_error("write", &path, error)
        })
    }
}
