//! How the file of a store is opened.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{failure, main_file};
use crate::id::hex;
use crate::store::StoreError;
use crate::store::schema::APPLICATION_ID;

/// Bytes of the header of an SQLite database.
const HEADER: usize = 100;

/// How a store is opened that is only read.
pub(super) const READS: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Reads the version of a store that was opened to read. The first read is what opens the WAL and its
/// index.
pub(super) fn begin(connection: Connection) -> rusqlite::Result<(Connection, i64)> {
    configure(&connection)?;
    let version = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    Ok((connection, version))
}

/// Opens the main file of a store alone, as it is.
pub(super) fn open_immutable(path: &Path) -> rusqlite::Result<(Connection, i64)> {
    let flags = READS | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(immutable_uri(path), flags).and_then(begin)
}

/// A `file:` URI; every byte that could mean something else in it is escaped.
pub(super) fn immutable_uri(path: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            uri.push_str(&hex(&[byte]));
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

pub(super) fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // A plan that does not go by the values: otherwise some statements are planned anew for each.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(Duration::from_secs(5))
}

/// Tells a store from what is none, before the engine sees the file.
pub(super) fn check_header(path: &Path) -> Result<(), StoreError> {
    let shown = path.display().to_string();
    let io = |source| StoreError::Io { action: "read", path: shown.clone(), source };
    // A pipe or a device in its place would be waited for, or read for ever.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(StoreError::Foreign { path: shown, found: "no regular file".to_owned() });
    }
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(StoreError::Missing { path: shown });
        }
        Err(error) => return Err(io(error)),
    };
    let mut header = Vec::with_capacity(HEADER);
    file.take(HEADER as u64).read_to_end(&mut header).map_err(io)?;
    check_bytes(&header, shown)
}

/// The same of a file of `length` bytes that the engine has open.
pub(super) fn check_open(
    connection: &Connection,
    path: &Path,
    length: u64,
) -> Result<(), StoreError> {
    let mut header = [0; HEADER];
    let count = usize::try_from(length).map_or(HEADER, |length| length.min(HEADER));
    if count > 0 {
        main_file::read(connection, &mut header[..count], 0)
            .map_err(|error| failure(error, path, Duration::ZERO))?;
    }
    let shown = path.display().to_string();
    check_bytes(&header[..count], shown.clone())?;
    // 65536 does not fit, and is written as 1.
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        page => u64::from(page),
    };
    match length < page {
        true => Err(StoreError::damaged(format!("'{shown}' has a broken page"))),
        false => Ok(()),
    }
}

fn check_bytes(header: &[u8], shown: String) -> Result<(), StoreError> {
    let foreign =
        |found: &str| StoreError::Foreign { path: shown.clone(), found: found.to_owned() };
    if header.is_empty() {
        return Err(foreign("an empty file"));
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(foreign("not an SQLite database"));
    }
    let Some(id) = header.get(68..72) else {
        return Err(StoreError::damaged(format!(
            "'{shown}' is cut off in its first {HEADER} bytes"
        )));
    };
    let id = u32::from_be_bytes(id.try_into().expect("four bytes"));
    if i64::from(id) != APPLICATION_ID {
        return Err(foreign("another program's SQLite database"));
    }
    Ok(())
}

pub(super) fn cannot_open(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}
