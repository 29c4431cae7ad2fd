//! What the server says of itself: lines on stderr, and for whoever reports a bug every message in a
//! file.
//!
//! Rule: docs/spec/mcp.md, section 14.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::value::RawValue;

use super::body::Body;
use crate::cli::{Clocks, line};

/// Bytes of a log file after which another is begun.
const FILE_MAX: u64 = 4 << 20;

/// Bytes of a message on stderr.
const SHOWN: usize = 2_000;

/// How much is said. Below `Debug` no text of the memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warn,
    Info,
    /// Requests, and how they ended.
    Debug,
    /// Messages too.
    Trace,
}

impl Level {
    pub const ALL: [Self; 5] = [Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    In,
    Out,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// Where things are said besides stderr.
pub struct Log {
    pub level: Level,
    pub clocks: Clocks,
    /// Each until it cannot be written to.
    file: Mutex<Option<Kept>>,
    trace: Mutex<Option<(PathBuf, File)>>,
}

static LOG: OnceLock<Log> = OnceLock::new();

impl Log {
    pub fn new(level: Level, clocks: Clocks) -> Self {
        Self { level, clocks, file: Mutex::default(), trace: Mutex::default() }
    }

    /// Says things as this says, from now on. `file` is where the lines are kept, `trace` where all
    /// messages go; if they cannot be opened, that is said and the server goes on.
    pub fn begin(mut self, file: Option<PathBuf>, trace: Option<PathBuf>) {
        let mut notes = Vec::new();
        if let Some(path) = file {
            match Kept::open(path.clone()) {
                Ok(kept) => self.file = Mutex::new(Some(kept)),
                Err(error) => notes.push(unwritable(FILE, &path, &error)),
            }
        }
        if let Some(path) = trace {
            match appended(&path) {
                Ok(file) => {
                    notes.push(format!("every message goes to '{}' too", path.display()));
                    self.trace = Mutex::new(Some((path, file)));
                }
                Err(error) => notes.push(unwritable(TRACE, &path, &error)),
            }
        }
        if LOG.set(self).is_err() {
            unreachable!("a process is one server");
        }
        for note in notes {
            // Whatever the level: it concerns what is told to others.
            say(Level::Warn, &note);
        }
    }

    fn keep(&self, level: Level, text: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kept) = file.as_mut() else { return };
        let line = format!("{} {}: {text}\n", self.clocks.now(), level.name());
        if let Err(error) = kept.write(&line) {
            let lost = unwritable(FILE, &kept.path, &error);
            *file = None;
            drop(file);
            say(Level::Warn, &lost);
        }
    }
}

const FILE: &str = "MK_LOG_FILE";
const TRACE: &str = "MK_MCP_TRACE";

fn unwritable(variable: &str, path: &Path, error: &io::Error) -> String {
    format!("{variable}: cannot write to '{}': {error}", path.display())
}

/// The lines of a server, in a file of its owner; before it gets too large it is put by as `FILE.1`.
struct Kept {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Kept {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = appended(&path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file, bytes })
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.bytes > 0 && self.bytes + line.len() as u64 > FILE_MAX {
            let mut older = self.path.clone().into_os_string();
            older.push(".1");
            fs::rename(&self.path, older)?;
            *self = Self::open(self.path.clone())?;
        }
        self.file.write_all(line.as_bytes())?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}

fn appended(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn is_said(level: Level) -> bool {
    level <= LOG.get().map_or(Level::Warn, |log| log.level)
}

fn say(level: Level, text: &str) {
    let text = line(text);
    // There is nobody left to tell if stderr is closed.
    let _ = writeln!(io::stderr(), "mk mcp: {}: {text}", level.name());
    if let Some(log) = LOG.get() {
        log.keep(level, &text);
    }
}

/// Says `text` on one line.
pub fn log(level: Level, text: &str) {
    if is_said(level) {
        say(level, text);
    }
}

/// The same of what becomes of a request.
pub fn debug(text: impl FnOnce() -> String) {
    if is_said(Level::Debug) {
        say(Level::Debug, &text());
    }
}

/// Takes down a message, if somebody wants to see them.
pub fn message(way: Way, message: &[u8]) {
    if is_said(Level::Trace) {
        let shown = &message[..message.len().min(SHOWN)];
        say(Level::Trace, &format!("{}: {}", way.name(), String::from_utf8_lossy(shown)));
    }
    let Some(log) = LOG.get() else { return };
    let mut trace = log.trace.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((path, file)) = trace.as_mut() else { return };
    let body = Body::new().with("time", &log.clocks.now()).with("way", &way.name());
    let body = match std::str::from_utf8(message) {
        Ok(json) if !json.contains('\n') && serde_json::from_str::<&RawValue>(json).is_ok() => {
            body.with_json("message", json.trim())
        }
        _ => body.with("text", &String::from_utf8_lossy(message)),
    };
    let line = body.json() + "\n";
    if let Err(error) = file.write_all(line.as_bytes()) {
        let lost = unwritable(TRACE, path, &error);
        *trace = None;
        drop(trace);
        say(Level::Warn, &format!("{lost}; no more messages go there"));
    }
}
