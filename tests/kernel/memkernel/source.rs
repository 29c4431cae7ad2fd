//! How databases of the peer are imported here, and how they are changed.

use std::path::Path;

use mk::log::Outside;
use rusqlite::Connection;
use tempfile::TempDir;

use super::now;
pub use crate::fuzz::peer::{Peer, STAMP};

/// Runs `body` with a clock that stands still and salts that repeat.
pub fn at_work<T>(body: impl FnOnce(&mut Outside<'_>) -> T) -> T {
    let mut salts = 0_u128;
    body(&mut Outside {
        now: &mut now,
        salt: &mut || {
            salts += 1;
            salts.to_be_bytes()
        },
    })
}

/// A copy of `file` in a directory of its own, changed by `sql`.
pub fn changed(file: &Path, sql: &[&str]) -> (TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join(file.file_name().unwrap());
    std::fs::copy(file, &copy).unwrap();
    let mut permissions = std::fs::metadata(&copy).unwrap().permissions();
    #[expect(clippy::permissions_set_readonly_false, reason = "the directory is this test's")]
    permissions.set_readonly(false);
    std::fs::set_permissions(&copy, permissions).unwrap();
    let connection = Connection::open(&copy).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    for statement in sql {
        connection.execute_batch(statement).unwrap();
    }
    drop(connection);
    (directory, copy)
}
