//! Configuration files of others: read with care, written so that no half of one is ever there.
//!
//! Rule: docs/spec/attach.md, section 4.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use mk::time::Timestamp;

/// Most bytes of a file that is edited.
pub const FILE_MAX: u64 = 4 << 20;

/// What marks a backup, after the name of its file.
const BACKUP: &str = ".mk-backup-";

/// Why a file is not edited.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("it is a link to '{0}', where there is no file")]
    Dangling(String),
    #[error("it is a link that leads back to itself")]
    Loop,
    #[error("it is no file")]
    NoFile,
    #[error("it has more than {FILE_MAX} bytes")]
    TooLarge,
    #[error("it is not UTF-8 at byte {0}")]
    NotUtf8(usize),
    #[error("no permission to write it")]
    NotWritable,
    #[error("no permission to write in '{0}'")]
    DirectoryNotWritable(String),
    #[error("others change it all the time")]
    Changing,
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A file as it was read.
#[derive(Debug)]
pub struct Original {
    /// The file itself, where links lead.
    pub target: PathBuf,
    pub text: String,
    metadata: Metadata,
}

/// Reads the file at `path`; none if there is nothing.
///
/// # Errors
/// If there is something that is no text of a bearable size.
pub fn read(path: &Path) -> Result<Option<Original>, FileError> {
    let target = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Err(FileError::NoFile),
        Err(error) => return Err(error.into()),
        Ok(found) if found.is_symlink() => match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(FileError::Dangling(fs::read_link(path)?.display().to_string()));
            }
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return Err(FileError::Loop);
            }
            Err(error) => return Err(error.into()),
        },
        Ok(_) => path.to_owned(),
    };
    // Looked at before it is opened: to open a pipe would wait for its other end.
    let metadata = fs::metadata(&target)?;
    if !metadata.is_file() {
        return Err(FileError::NoFile);
    }
    if metadata.len() > FILE_MAX {
        return Err(FileError::TooLarge);
    }
    let bytes = fs::read(&target)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| FileError::NotUtf8(error.utf8_error().valid_up_to()))?;
    Ok(Some(Original { target, text, metadata }))
}

/// Whether a file can be put at `path`, instead of `original` if there is one.
///
/// # Errors
/// [`FileError::NotWritable`], [`FileError::DirectoryNotWritable`]
pub fn check_writable(path: &Path, original: Option<&Original>) -> Result<(), FileError> {
    use rustix::fs::{Access, access};
    if let Some(original) = original {
        // A rename would replace it all the same, which its mode says is not wanted.
        let is_read_only = original.metadata.mode() & 0o222 == 0;
        if is_read_only || access(&original.target, Access::WRITE_OK).is_err() {
            return Err(FileError::NotWritable);
        }
    }
    let target = original.map_or(path, |original| &original.target);
    let above = target.ancestors().skip(1).find(|directory| directory.exists());
    let above = above.unwrap_or(Path::new("."));
    if !above.is_dir() || access(above, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return Err(FileError::DirectoryNotWritable(above.display().to_string()));
    }
    Ok(())
}

/// Whether `original` is no longer what is there.
fn has_changed(path: &Path, original: Option<&Original>) -> bool {
    let of = |it: &Metadata| (it.len(), it.mtime(), it.mtime_nsec(), it.ino(), it.dev());
    match (original, fs::metadata(original.map_or(path, |original| &original.target))) {
        (Some(original), Ok(now)) => of(&original.metadata) != of(&now),
        (None, Err(error)) => error.kind() != ErrorKind::NotFound,
        (Some(_), Err(_)) | (None, Ok(_)) => true,
    }
}

/// Puts `text` at `path` instead of `original`, whole or not at all.
///
/// # Errors
/// [`FileError::Changing`] if `original` is not what is there any more.
pub fn write(
    path: &Path,
    text: &str,
    original: Option<&Original>,
    is_private: bool,
) -> Result<(), FileError> {
    let target = original.map_or(path, |original| &original.target);
    let directory = target.parent().unwrap_or(Path::new("."));
    if original.is_none() {
        let mode = if is_private { 0o700 } else { 0o755 };
        DirBuilder::new().recursive(true).mode(mode).create(directory)?;
    }
    let mode = match original {
        Some(original) => original.metadata.mode() & 0o7777,
        None if is_private => 0o600,
        None => 0o644,
    };
    let name = target.file_name().ok_or(FileError::NoFile)?.to_string_lossy().into_owned();
    let temporary = directory.join(format!(".{name}.mk-{}", std::process::id()));
    let written = (|| {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        if let Some(original) = original {
            // Only root can give a file away; for others it is theirs already.
            let _ = fchown(&file, Some(original.metadata.uid()), Some(original.metadata.gid()));
            copy_attributes(&original.target, &temporary)?;
        }
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        if has_changed(path, original) {
            return Err(FileError::Changing);
        }
        fs::rename(&temporary, target)?;
        File::open(directory)?.sync_all()?;
        Ok(())
    })();
    if written.is_err() {
        // What went wrong is told; the file beside may not have come to be.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes the file that was read, and of the directories it is in the first `directories`, as far as they
/// are empty then and not `root`.
///
/// # Errors
/// [`FileError::Changing`] if it is not what is there any more.
pub fn remove(
    path: &Path,
    original: &Original,
    root: &Path,
    directories: usize,
) -> Result<(), FileError> {
    if has_changed(path, Some(original)) {
        return Err(FileError::Changing);
    }
    fs::remove_file(&original.target)?;
    let directories = path.ancestors().skip(1).take(directories);
    for directory in directories.take_while(|directory| *directory != root) {
        // It stays if there is anything else in it.
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn copy_attributes(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{XattrFlags, getxattr, listxattr, setxattr};
    use rustix::io::Errno;
    let mut names = vec![0; 1 << 16];
    let length = match listxattr(from, &mut names) {
        Ok(length) => length,
        Err(Errno::NOTSUP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; 1 << 16];
        let length = getxattr(from, name, &mut value)?;
        match setxattr(to, name, &value[..length], XattrFlags::empty()) {
            // Labels that the system keeps for itself are given by it.
            Ok(()) | Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn copy_attributes(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Copies `original` to a file beside it, unless there is a copy of the same content: the name of
/// either.
///
/// # Errors
/// If the copy cannot be written.
pub fn back_up(original: &Original, now: Timestamp) -> Result<PathBuf, FileError> {
    for backup in backups(&original.target)? {
        if fs::read(&backup).is_ok_and(|bytes| bytes == original.text.as_bytes()) {
            return Ok(backup);
        }
    }
    let stamp: String = now.to_string().chars().filter(|c| !"-:".contains(*c)).take(15).collect();
    let name = original.target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1.. {
        let more = if number > 1 { format!("-{number}") } else { String::new() };
        let path = original.target.with_file_name(format!("{name}{BACKUP}{stamp}Z{more}"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
            Ok(mut file) => {
                let mode = original.metadata.mode() & 0o7777;
                let filled = file
                    .write_all(original.text.as_bytes())
                    .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
                    .and_then(|()| file.sync_all());
                if let Err(error) = filled {
                    // A half of a copy would pass for one.
                    let _ = fs::remove_file(&path);
                    return Err(error.into());
                }
                return Ok(path);
            }
        }
    }
    unreachable!("there are more numbers than files")
}

/// The copies that were made of `path`, the newest first.
///
/// # Errors
/// If its directory cannot be read.
pub fn backups(path: &Path) -> io::Result<Vec<PathBuf>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned() + BACKUP;
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                if entry.file_name().to_string_lossy().starts_with(&name) {
                    found.push(entry.path());
                }
            }
        }
    }
    found.sort_unstable();
    found.reverse();
    Ok(found)
}
