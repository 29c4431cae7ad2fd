//! The queue in front of the write lock.
//!
//! SQLite lets a writer that finds the lock taken sleep and try again, so that a latecomer may pass
//! the one that waits longest. A blocking file lock in front of it makes waiting writers stand in a
//! queue of the kernel's and wake at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use super::StoreError;

/// The turn of one writer; it ends when this is dropped.
#[derive(Debug)]
pub struct Turnstile {
    file: File,
}

impl Turnstile {
    /// Whether its file is still the one at `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        match (self.file.metadata(), std::fs::metadata(path)) {
            (Ok(own), Ok(found)) => (own.dev(), own.ino()) == (found.dev(), found.ino()),
            _ => false,
        }
    }

    /// Waits up to `timeout` for a turn.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when the time is up.
    pub fn enter(path: &Path, timeout: Duration) -> Result<Self, StoreError> {
        let failed =
            |source| StoreError::Io { action: "lock", path: path.display().to_string(), source };
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(failed(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is no regular file",
            )));
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    StoreError::ReadOnly {
                        why: format!("no permission to write '{}'", path.display()),
                    }
                }
                io::ErrorKind::StorageFull => {
                    StoreError::DiskFull { path: path.display().to_string() }
                }
                _ => failed(error),
            })?;
        match file.try_lock() {
            Ok(()) => return Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // A wait for a file lock has no time limit, so a thread waits and hands the lock over; if
        // nobody takes it any more, it is dropped there and then.
        let (sender, receiver) = mpsc::sync_channel(0);
        std::thread::spawn(move || {
            let locked = file.lock().map(|()| file);
            let _ = sender.send(locked);
        });
        match receiver.recv_timeout(timeout) {
            Ok(locked) => Ok(Self { file: locked.map_err(failed)? }),
            Err(_) => Err(StoreError::Busy {
                waited_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            }),
        }
    }
}
