//! The main file of a store, read as bytes.
//!
//! It is read through the engine's own handle. To open it once more and close it again would give up
//! every lock that this process has on it: POSIX locks belong to the process and the file, not to the
//! handle (fcntl(2), "Record locking").

use std::ffi::c_int;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::ptr;
use std::time::Duration;

use rusqlite::{Connection, ffi};

use super::failure;
use crate::store::StoreError;

/// Bytes that are read at once.
const CHUNK: i64 = 1 << 20;

/// Copies the main file of the store that `from` has open at `path` into the file `to`. There is a read
/// transaction, and the WAL was empty when it began.
///
/// # Errors
/// [`StoreError::DiskFull`], [`StoreError::Io`].
pub(super) fn copy(from: &Connection, path: &Path, to: &Path) -> Result<(), StoreError> {
    let failed = |error| failure(error, path, Duration::ZERO);
    let number = |pragma| from.query_row(pragma, (), |row| row.get::<_, i64>(0)).map_err(failed);
    let length = number("PRAGMA page_count")? * number("PRAGMA page_size")?;
    let written = |source: std::io::Error| {
        let path = to.display().to_string();
        match source.kind() {
            std::io::ErrorKind::StorageFull => StoreError::DiskFull { path },
            _ => StoreError::Io { action: "write", path, source },
        }
    };
    let mut to = fs::OpenOptions::new().write(true).open(to).map_err(written)?;
    let mut bytes = vec![0; usize::try_from(CHUNK).expect("a megabyte")];
    let mut offset = 0;
    while offset < length {
        let count = CHUNK.min(length - offset);
        let chunk = &mut bytes[..usize::try_from(count).expect("at most a chunk")];
        read(from, chunk, offset).map_err(failed)?;
        to.write_all(chunk).map_err(written)?;
        offset += count;
    }
    Ok(())
}

#[expect(unsafe_code, reason = "the engine's handle is a C structure")]
fn read(from: &Connection, bytes: &mut [u8], offset: i64) -> rusqlite::Result<()> {
    let count = c_int::try_from(bytes.len()).expect("at most a chunk");
    let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
    // SAFETY: the connection is open, so its main file and the methods of that are there, and stay
    // while it is borrowed; `bytes` has room for `count` bytes.
    let code = unsafe {
        let operation = ffi::SQLITE_FCNTL_FILE_POINTER;
        let to = (&raw mut file).cast();
        match ffi::sqlite3_file_control(from.handle(), c"main".as_ptr(), operation, to) {
            ffi::SQLITE_OK => match (*(*file).pMethods).xRead {
                Some(read) => read(file, bytes.as_mut_ptr().cast(), count, offset),
                None => ffi::SQLITE_IOERR_READ,
            },
            code => code,
        }
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}
