//! What the engine's errors mean.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use crate::store::StoreError;

/// What an engine's error means. Its own words reach nobody but under `Engine`, where they are all
/// there is to say.
pub fn failure(error: rusqlite::Error, path: &Path, waited: Duration) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let path = path.display().to_string();
    match error.sqlite_error_code() {
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => {
            StoreError::Busy { waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX) }
        }
        Some(Code::ReadOnly) => {
            StoreError::ReadOnly { why: format!("no permission to write '{path}'") }
        }
        Some(Code::DiskFull) => StoreError::DiskFull { path },
        Some(Code::DatabaseCorrupt) => StoreError::damaged(format!("'{path}' has a broken page")),
        Some(Code::NotADatabase) => StoreError::damaged(format!("'{path}' has a broken header")),
        Some(code @ (Code::SystemIoFailure | Code::CannotOpen | Code::PermissionDenied)) => {
            let kind = match code {
                Code::PermissionDenied => ErrorKind::PermissionDenied,
                _ => ErrorKind::Other,
            };
            let source = std::io::Error::new(kind, error.to_string());
            StoreError::Io { action: "use", path, source }
        }
        // Rows are small: one that does not fit into memory has a length of somebody else's making.
        Some(Code::OutOfMemory | Code::TooBig) => {
            StoreError::damaged(format!("a row of '{path}' claims an impossible length"))
        }
        // What is asked never changes, so the file is at fault: other tables, or a format of none.
        Some(Code::Unknown) => StoreError::damaged(format!("'{path}' is not laid out as a store")),
        None => StoreError::damaged(format!("a row of '{path}' has an unexpected value")),
        // Ids and sequences are drawn from the head; that one is taken says that the head is not the
        // last.
        Some(Code::ConstraintViolation) => {
            StoreError::damaged(format!("'{path}' already has the row that comes next"))
        }
        Some(_) => StoreError::Engine { path, what: error.to_string() },
    }
}
