//! Being told that something was committed to a store, by whichever process.
//!
//! Whether something was is asked of the engine, which keeps a count of it; no table is read. When to
//! ask is told by the file system: each writer closes the lock file of the turnstile after its commit.
//! Where the file system cannot tell, the count is asked for ten times a second.

use std::path::Path;
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::io::Errno;

/// A file descriptor, and what of it is waited for.
pub use rustix::event::PollFd;

use super::sqlite::Version;
use super::{Patience, Sqlite, StoreError, files};

/// How often the count is asked for if nothing else tells.
const POLL: Duration = Duration::from_millis(100);

/// The same where the file system tells: for a writer that it missed.
const WATCHED: Duration = Duration::from_secs(1);

/// Tells of commits from when it was made on.
pub struct Changes {
    store: Sqlite,
    seen: Version,
    watch: Option<watch::Watch>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Something was committed since the last wait that said so.
    Changed,
    /// The other file descriptor is ready, or its other end is closed.
    Other,
    TimedOut,
}

impl Changes {
    /// Starts to look at the store at `path`. What is committed after this is told of.
    ///
    /// # Errors
    /// Those of [`Sqlite::open_to_read`].
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        // Before the count is read, so that no commit falls between.
        let watch = watch::Watch::new(path);
        let store = Sqlite::open_to_read(path)?;
        let seen = store.version()?;
        Ok(Self { store, seen, watch })
    }

    /// The store, to read what has changed. To be read before the wait, or again after it: what was
    /// committed before [`Changes::of`] is not told of.
    pub fn store(&mut self) -> &mut Sqlite {
        &mut self.store
    }

    /// Waits until something was committed, or `other` is ready, or for `at_most`.
    ///
    /// # Errors
    /// [`StoreError::Io`], and those of the store.
    pub fn wait(
        &mut self,
        at_most: Duration,
        other: Option<PollFd<'_>>,
    ) -> Result<Woken, StoreError> {
        let patience = Patience::new(at_most);
        loop {
            let version = self.store.version()?;
            if version != self.seen {
                self.seen = version;
                return Ok(Woken::Changed);
            }
            let left = patience.left();
            if left.is_zero() {
                return Ok(Woken::TimedOut);
            }
            let step = if self.watch.is_some() { WATCHED } else { POLL };
            if self.sleep(left.min(step), other.clone())? {
                return Ok(Woken::Other);
            }
        }
    }

    /// Sleeps until there is a reason to look, and says whether that is `other`.
    fn sleep(&self, at_most: Duration, other: Option<PollFd<'_>>) -> Result<bool, StoreError> {
        let failed = |source| StoreError::Io {
            action: "watch",
            path: self.store.path().display().to_string(),
            source,
        };
        let timeout = Timespec::try_from(at_most)
            .map_err(|_| failed(std::io::ErrorKind::InvalidInput.into()))?;
        let has_other = other.is_some();
        let watched = self.watch.as_ref().map(watch::Watch::as_poll);
        let mut wanted: Vec<PollFd<'_>> = other.into_iter().chain(watched).collect();
        match poll(&mut wanted, Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(failed(error.into())),
        }
        let is_ready = |at: usize| wanted.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let (is_other, is_watched) = (has_other && is_ready(0), is_ready(usize::from(has_other)));
        if is_watched && let Some(watch) = &self.watch {
            watch.take().map_err(failed)?;
        }
        Ok(is_other)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod watch {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::event::{PollFd, PollFlags};
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use rustix::io::Errno;

    use super::files;

    /// A watch on the lock file of a store.
    pub struct Watch(OwnedFd);

    impl Watch {
        /// None where the system cannot have it: it counts its watches.
        pub fn new(store: &Path) -> Option<Self> {
            let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let lock = files::beside(store, "-lock");
            inotify::add_watch(&watch, &lock, WatchFlags::CLOSE_WRITE).ok()?;
            Some(Self(watch))
        }

        pub fn as_poll(&self) -> PollFd<'_> {
            PollFd::new(&self.0, PollFlags::IN)
        }

        /// Takes what it has told out of the way.
        pub fn take(&self) -> io::Result<()> {
            let mut buffer = [MaybeUninit::uninit(); 4_096];
            loop {
                match rustix::io::read(&self.0, &mut buffer[..]) {
                    Err(Errno::WOULDBLOCK) => return Ok(()),
                    Err(Errno::INTR) | Ok(_) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod watch {
    use std::io;
    use std::path::Path;

    use rustix::event::PollFd;

    /// There is none here.
    pub enum Watch {}

    impl Watch {
        pub fn new(_: &Path) -> Option<Self> {
            None
        }

        pub fn as_poll(&self) -> PollFd<'_> {
            match *self {}
        }

        pub fn take(&self) -> io::Result<()> {
            match *self {}
        }
    }
}
