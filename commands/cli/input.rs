//! Files that somebody names, and that need be no files.

use std::fs;
use std::io;
use std::path::Path;

/// The text of a regular file of at most `most` bytes. A device in its place would be read for ever, and
/// a pipe waited for.
pub fn read_small(path: &Path, most: u64) -> io::Result<String> {
    let found = fs::metadata(path)?;
    if !found.is_file() || found.len() > most {
        let why = format!("it is no regular file of at most {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    fs::read_to_string(path)
}
