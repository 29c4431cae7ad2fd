//! The main file of a store, read as bytes.
//!
//! It is read through the engine's own handle. To open it once more and close it again would give up
//! every lock that this process has on it: POSIX locks belong to the process and the file, not to the
//! handle (fcntl(2), "Record locking").

use std::ffi::c_int;
use std::fs;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;
use std::ptr;
use std::time::Duration;

use rusqlite::{Connection, ffi};

use super::failure;
use crate::store::StoreError;

/// Bytes that are copied at once.
const CHUNK: i64 = 1 << 20;

/// What the address and the length of a write past the cache must be multiples of, on any disk.
const BLOCK: usize = 4096;

/// Copies the main file of the store that `from` has open at `path` into the file `to`. There is a read
/// transaction, and the WAL was empty when it began.
///
/// # Errors
/// [`StoreError::DiskFull`], [`StoreError::Io`].
pub(super) fn copy(from: &Connection, path: &Path, to: &Path) -> Result<(), StoreError> {
    let failed = |error| failure(error, path, Duration::ZERO);
    let number = |pragma| from.query_row(pragma, (), |row| row.get::<_, i64>(0)).map_err(failed);
    let length = number("PRAGMA page_count")? * number("PRAGMA page_size")?;
    let written = |source: io::Error| {
        let path = to.display().to_string();
        match source.kind() {
            ErrorKind::StorageFull => StoreError::DiskFull { path },
            _ => StoreError::Io { action: "write", path, source },
        }
    };
    let mut to = fs::OpenOptions::new().write(true).open(to).map_err(written)?;
    // A copy is not read again soon: in the cache of the system it would take the place of what is, and
    // be written to the disk only afterwards. Where writes past the cache are not known, they go there.
    let _ = set_direct(&to, true);
    let mut room = vec![0; usize::try_from(CHUNK).expect("a megabyte") + BLOCK];
    let start = room.as_ptr().align_offset(BLOCK);
    let mut offset = 0;
    while offset < length {
        let count = usize::try_from(CHUNK.min(length - offset)).expect("at most a chunk");
        let chunk = &mut room[start..start + count];
        read(from, chunk, offset).map_err(failed)?;
        let mut write = to.write_all(chunk);
        if write.as_ref().is_err_and(|error| error.kind() == ErrorKind::InvalidInput) {
            write = set_direct(&to, false)
                .and_then(|()| to.seek(SeekFrom::Start(offset.unsigned_abs())))
                .and_then(|_| to.write_all(chunk));
        }
        write.map_err(written)?;
        offset += CHUNK.min(length - offset);
    }
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_direct(file: &fs::File, direct: bool) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, direct);
    Ok(fcntl_setfl(file, flags)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_direct(_file: &fs::File, _direct: bool) -> io::Result<()> {
    Ok(())
}

/// Fills `bytes` from `offset` on.
#[expect(unsafe_code, reason = "the engine's handle is a C structure")]
pub(super) fn read(from: &Connection, bytes: &mut [u8], offset: i64) -> rusqlite::Result<()> {
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
