//! The room in which processes wait for a lease, first come first served.
//!
//! A waiter takes a number: a file that says what it wants, locked for as long as the waiter lives, and
//! a named pipe beside it, its bell. Numbers are given under the write lock, so there is one order. Who
//! frees a lease rings all bells; who is behind another waits for the lock of its number. Nothing is
//! polled, and a waiter that is killed leaves files that nobody waits for, which the next one removes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::StoreError;

/// Most bytes of a number's file: what one waiter can want, and more.
const WANTS_MAX: u64 = 4 << 20;

/// The room of one store.
#[derive(Debug, Clone)]
pub struct WaitingRoom {
    directory: PathBuf,
}

/// One that waits, as the others see it.
#[derive(Debug)]
pub struct Waiter {
    pub number: u64,
    /// The resources it wants.
    pub wants: Vec<String>,
    path: PathBuf,
}

/// A number of one's own. Whoever waits for it to go may go on when it is dropped.
#[derive(Debug)]
pub struct Ticket {
    number: u64,
    path: PathBuf,
    bell: File,
    // Last, so that the lock is let go when the rest is cleared away.
    _lock: File,
}

/// How long somebody is willing to wait, counted from when this is made.
#[derive(Debug, Clone, Copy)]
pub struct Patience<'a> {
    begun: Instant,
    whole: Duration,
    /// Set by another thread when the wait is in vain.
    given_up: Option<&'a AtomicBool>,
}

/// How long a wait goes on at most after it was given up.
const GLANCE: Duration = Duration::from_millis(20);

impl<'a> Patience<'a> {
    #[must_use]
    pub fn new(whole: Duration) -> Self {
        #[expect(clippy::disallowed_methods, reason = "it measures a wait")]
        let begun = Instant::now();
        Self { begun, whole, given_up: None }
    }

    /// The same, which is at an end once `given_up` is set.
    #[must_use]
    pub fn unless(self, given_up: &'a AtomicBool) -> Self {
        Self { given_up: Some(given_up), ..self }
    }

    /// Whether the wait is in vain by now.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.given_up.is_some_and(|given_up| given_up.load(Ordering::Relaxed))
    }

    /// What is left of it.
    #[must_use]
    pub fn left(&self) -> Duration {
        if self.is_given_up() {
            return Duration::ZERO;
        }
        self.whole.saturating_sub(self.begun.elapsed())
    }

    /// How long to wait at once, if `at_most` is enough.
    fn stretch(&self, at_most: Duration) -> Duration {
        let glance = self.given_up.map_or(Duration::MAX, |_| GLANCE);
        at_most.min(self.left()).min(glance)
    }
}

impl WaitingRoom {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> StoreError + use<'_> {
        move |source| StoreError::Io { action, path: self.directory.display().to_string(), source }
    }

    /// Those that wait, first come first. What the dead left is removed. To be asked under the write
    /// lock, since numbers are given there.
    ///
    /// # Errors
    /// [`StoreError::Io`]
    pub fn queue(&self) -> Result<Vec<Waiter>, StoreError> {
        let mut waiters = Vec::new();
        for number in self.numbers()? {
            let path = self.path(number);
            match read_if_locked(&path) {
                Ok(Some(wants)) => waiters.push(Waiter { number, wants, path }),
                Ok(None) => remove(&path),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(self.failed("read")(error)),
            }
        }
        Ok(waiters)
    }

    /// Takes the next number. To be called under the write lock.
    ///
    /// # Errors
    /// [`StoreError::Io`]
    pub fn enter(&self, wants: &[&str]) -> Result<Ticket, StoreError> {
        match fs::DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(self.failed("create")(error));
            }
            _ => {}
        }
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        let path = self.path(number);
        let failed = self.failed("wait in");
        let mut lock = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(&failed)?;
        lock.lock().map_err(&failed)?;
        // No resource holds a line break.
        lock.write_all(wants.join("\n").as_bytes()).map_err(&failed)?;
        let bell = bell(&path);
        make_pipe(&bell).map_err(&failed)?;
        // Open at both ends, so that it neither waits for a ringer nor ends with one.
        let bell = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(NONBLOCK)
            .open(&bell)
            .map_err(&failed)?;
        Ok(Ticket { number, path, bell, _lock: lock })
    }

    /// Wakes all that wait. A bell that cannot be rung belongs to nobody any more.
    pub(super) fn ring(&self) {
        for number in self.numbers().unwrap_or_default() {
            let bell = OpenOptions::new()
                .write(true)
                .custom_flags(NONBLOCK)
                .open(bell(&self.path(number)));
            if let Ok(mut bell) = bell {
                // If it is full of rings already, that is enough of them.
                let _ = bell.write(b"!");
            }
        }
    }

    /// The numbers that were given and not cleared away, rising.
    fn numbers(&self) -> Result<Vec<u64>, StoreError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed("read")(error)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(self.failed("read"))?.file_name();
            numbers.extend(name.to_str().and_then(|name| name.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.directory.join(number.to_string())
    }
}

impl Waiter {
    /// Waits until it is gone, or as long as there is patience.
    ///
    /// # Errors
    /// [`StoreError::Io`]
    pub fn wait_until_gone(&self, patience: &Patience<'_>) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io {
            action: "wait for",
            path: self.path.display().to_string(),
            source,
        };
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        // A wait for a file lock has no time limit, so a thread does it.
        let (sender, receiver) = mpsc::sync_channel(1);
        std::thread::spawn(move || {
            let _ = sender.send(file.lock_shared());
        });
        while !patience.left().is_zero() {
            if let Ok(gone) = receiver.recv_timeout(patience.stretch(Duration::MAX)) {
                return gone.map_err(failed);
            }
        }
        Ok(())
    }
}

impl Ticket {
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits until somebody has freed a lease since the last wait, for `at_most`, and only as long as
    /// there is patience.
    ///
    /// # Errors
    /// [`StoreError::Io`]
    pub fn wait(&self, at_most: Duration, patience: &Patience<'_>) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io {
            action: "wait in",
            path: self.path.display().to_string(),
            source,
        };
        let until = Patience::new(at_most);
        loop {
            // The clock of a lease counts microseconds: never wake before it has come to the end.
            let stretch = patience.stretch(until.left()) + Duration::from_micros(1);
            let timeout =
                Timespec::try_from(stretch).map_err(|_| failed(ErrorKind::InvalidInput.into()))?;
            let mut bell = [PollFd::new(&self.bell, PollFlags::IN)];
            let rung = match poll(&mut bell, Some(&timeout)) {
                Ok(rung) => rung > 0,
                Err(Errno::INTR) => true,
                Err(error) => return Err(failed(error.into())),
            };
            if rung || until.left().is_zero() || patience.left().is_zero() {
                break;
            }
        }
        match (&self.bell).read(&mut [0; 4_096]) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

fn bell(path: &Path) -> PathBuf {
    path.with_extension("bell")
}

/// Clears a number away. What stays behind is found to be nobody's by the next one.
fn remove(path: &Path) {
    let _ = fs::remove_file(bell(path));
    let _ = fs::remove_file(path);
}

/// What the owner of a number wants; none if the owner is gone.
fn read_if_locked(path: &Path) -> io::Result<Option<Vec<String>>> {
    let file = File::open(path)?;
    match file.try_lock_shared() {
        Ok(()) => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut text = String::new();
    file.take(WANTS_MAX).read_to_string(&mut text)?;
    Ok(Some(text.lines().map(str::to_owned).collect()))
}

#[cfg(not(target_vendor = "apple"))]
fn make_pipe(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::mkfifoat(
        rustix::fs::CWD,
        path,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )?)
}

#[cfg(target_vendor = "apple")]
fn make_pipe(path: &Path) -> io::Result<()> {
    let made =
        std::process::Command::new("/usr/bin/mkfifo").args(["-m", "600"]).arg(path).status()?;
    if made.success() { Ok(()) } else { Err(io::Error::other("mkfifo failed")) }
}
