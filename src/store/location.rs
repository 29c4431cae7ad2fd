//! Where a project's store is, and whether a file system can be trusted with it.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::StoreError;

/// The directory of a project's store.
pub const DIRECTORY: &str = ".mk";
/// The store in it.
pub const FILE: &str = "mk.db";

/// What keeps git from seeing the directory.
pub(crate) const IGNORE: &str = ".gitignore";

/// The directory in it that says what each session was told.
pub const SEEN: &str = "seen";

/// The store of the project that `start` lies in: of the nearest directory from `start` upwards that
/// holds `.mk/`, else of the main worktree of the git repository (beside the repository, if it is
/// bare), so that all linked worktrees share one.
///
/// # Errors
/// [`StoreError::NoProject`] if there is none.
///
/// Rule: docs/design.md, section 4.
pub fn discover(start: &Path) -> Result<PathBuf, StoreError> {
    start
        .ancestors()
        .map(|directory| directory.join(DIRECTORY))
        .find(|directory| directory.is_dir())
        .or_else(|| Some(git_home(start)?.join(DIRECTORY)).filter(|found| found.is_dir()))
        .map(|directory| directory.join(FILE))
        .ok_or_else(|| StoreError::NoProject { start: start.display().to_string() })
}

/// Where a project for `start` belongs: the main worktree of its git repository, else `start`.
#[must_use]
pub fn home(start: &Path) -> PathBuf {
    git_home(start).unwrap_or_else(|| start.to_owned())
}

/// The directory that paths of resources are relative to for somebody at `here` whose project has its
/// store at `store`: the top of their own worktree if the project is that of their git repository,
/// else the directory that holds the store's.
///
/// Rule: docs/design.md, section 10, "Roots".
#[must_use]
pub fn resource_root(store: &Path, here: &Path) -> PathBuf {
    let home = store.parent().and_then(Path::parent).unwrap_or(here);
    let own_top = || {
        let git = Git::find(here)?;
        let is_of_home = git_home(here).is_some_and(|of_git| of_git == home)
            || Git::find(home).is_some_and(|of_home| of_home.common == git.common);
        git.top.filter(|_| is_of_home)
    };
    own_top().unwrap_or_else(|| home.to_owned())
}

/// Whether the volume that holds the file `path` takes names that differ in letter case only for one.
#[must_use]
pub fn folds_case(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    let swap = |c: char| {
        if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
    };
    let swapped: String = name.chars().map(swap).collect();
    let (given, other) = (fs::metadata(path), fs::metadata(path.with_file_name(&swapped)));
    let is_same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    swapped != name && given.is_ok_and(|given| other.is_ok_and(|other| is_same(given, other)))
}

/// The git repository that `start` lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Git {
    /// The directory of this worktree's own `HEAD`.
    pub directory: PathBuf,
    /// The directory that all worktrees share.
    pub common: PathBuf,
    /// The worktree, if `start` lies in one and not in the repository itself.
    top: Option<PathBuf>,
}

impl Git {
    /// Found without running git, which may not be there.
    #[must_use]
    pub fn find(start: &Path) -> Option<Self> {
        start.ancestors().find_map(|directory| {
            let entry = directory.join(".git");
            let top = Some(directory.to_owned());
            let (git, top) = match fs::metadata(&entry) {
                Ok(found) if found.is_dir() => (entry, top),
                Ok(_) => {
                    let text = read_small(&entry)?;
                    let target = text.strip_prefix("gitdir:")?.trim();
                    (directory.join(target), top)
                }
                Err(_) if is_bare(directory) => (directory.to_owned(), None),
                Err(_) => return None,
            };
            let common = match read_small(&git.join("commondir")) {
                Some(text) => git.join(text.trim()),
                None => git.clone(),
            };
            let common = fs::canonicalize(common).ok()?;
            common.join("HEAD").is_file().then_some(Self { directory: git, common, top })
        })
    }

    /// The commit that is checked out, if it stands in a file of its own; 40 or 64 hex digits.
    #[must_use]
    pub fn commit(&self) -> Option<String> {
        let head = read_small(&self.directory.join("HEAD"))?;
        let commit = match head.trim().strip_prefix("ref: ") {
            Some(name) => read_small(&self.common.join(name))?,
            None => head,
        };
        let commit = commit.trim();
        let is_digest =
            matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| commit.to_owned())
    }

    /// The name of a linked worktree; none in the main one.
    #[must_use]
    pub fn worktree(&self) -> Option<String> {
        let parent = self.directory.parent()?;
        (parent.file_name()? == "worktrees")
            .then(|| self.directory.file_name().map(|name| name.to_string_lossy().into_owned()))?
    }
}

/// Most bytes of a file of git's that is read.
const SMALL: u64 = 1 << 20;

/// A small file of git's. Its place may hold a pipe or a device, which would never end.
fn read_small(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    (found.is_file() && found.len() <= SMALL).then(|| fs::read_to_string(path).ok())?
}

fn is_bare(directory: &Path) -> bool {
    directory.join("HEAD").is_file()
        && directory.join("objects").is_dir()
        && directory.join("refs").is_dir()
}

fn git_home(start: &Path) -> Option<PathBuf> {
    let Git { directory, common, top } = Git::find(start)?;
    let is_linked = directory.join("commondir").is_file();
    if let Some(top) = top.filter(|_| !is_linked) {
        return Some(top);
    }
    // A repository that lies apart from its main worktree, as that of a submodule does, names it.
    if let Some(worktree) = core_worktree(&common) {
        return fs::canonicalize(common.join(worktree)).ok();
    }
    // `.git` of a worktree, or a bare repository: the project lies beside either.
    common.parent().map(Path::to_owned)
}

/// `core.worktree` in the configuration of a repository, as git itself writes it there.
fn core_worktree(common: &Path) -> Option<PathBuf> {
    let config = read_small(&common.join("config"))?;
    let core = config.lines().map(str::trim).skip_while(|line| *line != "[core]").skip(1);
    core.take_while(|line| !line.starts_with('['))
        .find_map(|line| line.strip_prefix("worktree")?.trim_start().strip_prefix('='))
        .map(|path| PathBuf::from(path.trim()))
}

/// Makes the directory of a store, closed to others, that git does not see.
///
/// # Errors
/// [`StoreError::Io`]
pub fn create_directory(directory: &Path) -> Result<(), StoreError> {
    let failed = |source| cannot_create(directory, source);
    match DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists && directory.is_dir() => {}
        Err(error) => return Err(failed(error)),
    }
    let ignore = directory.join(IGNORE);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&ignore) {
        Ok(mut file) => std::io::Write::write_all(&mut file, b"*\n").map_err(failed),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// Makes an empty file that only its owner may read; SQLite gives the same mode to the files beside.
pub(super) fn create_private(path: &Path) -> Result<(), StoreError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map(|_| ())
        .map_err(|source| cannot_create(path, source))
}

fn cannot_create(path: &Path, source: std::io::Error) -> StoreError {
    let path = path.display().to_string();
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { why: format!("no permission to write '{path}'") }
        }
        ErrorKind::StorageFull => StoreError::DiskFull { path },
        _ => StoreError::Io { action: "create", path, source },
    }
}

/// Refuses file systems on which file locks or shared memory do not work between machines.
pub(super) fn check_filesystem(directory: &Path) -> Result<(), StoreError> {
    let directory =
        if directory.as_os_str() == OsStr::new("") { Path::new(".") } else { directory };
    // A file system that does not say what it is, is not refused for it.
    let Ok(found) = rustix::fs::statfs(directory) else { return Ok(()) };
    #[allow(clippy::unnecessary_cast, reason = "the type of f_type differs between targets")]
    match network_filesystem(found.f_type as u64) {
        Some(kind) => Err(StoreError::Filesystem { path: directory.display().to_string(), kind }),
        None => Ok(()),
    }
}

/// The name of a network file system by its number in `statfs(2)`; none for others.
#[must_use]
pub fn network_filesystem(magic: u64) -> Option<&'static str> {
    match magic & 0xffff_ffff {
        0x6969 => Some("NFS"),
        0x517b | 0xfe53_4d42 => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0x0102_1997 => Some("9p (as WSL mounts Windows drives)"),
        0x5346_4846 => Some("drvfs"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x00c3_6400 => Some("Ceph"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x0116_1970 => Some("GFS2"),
        0x7461_636f => Some("OCFS2"),
        0x4750_4653 => Some("GPFS"),
        _ => None,
    }
}
