//! A project that many `mk` processes work on at once.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio, exit};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use mk::store::Sqlite;
use mk::verify;
use serde_json::Value;
use tempfile::TempDir;

/// `mk` in `project`, with nothing of the tester's environment.
pub fn mk(project: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mk"));
    command.current_dir(project).args(args);
    for variable in [
        "MK_DB",
        "MK_AGENT",
        "MK_BRANCH",
        "MK_DATE",
        "MK_LEASE_DATE",
        "MK_SALT_SEED",
        "MK_SESSION",
        "CLAUDE_CODE_SESSION_ID",
    ] {
        command.env_remove(variable);
    }
    command.stderr(Stdio::null());
    command
}

/// Its store must be sound, as `mk verify` sees it.
pub fn sound(project: &Path) {
    let mut store = Sqlite::open_to_read(&project.join(".mk/mk.db")).unwrap();
    let report = verify::verify(&mut store, &[], &|_, _| {}).unwrap();
    assert!(report.ok, "{:?}", report.findings);
}

pub struct Project {
    directory: TempDir,
}

impl Project {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let project = Self { directory };
        project.run(&["init"]);
        project
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn mk(&self, args: &[&str]) -> Command {
        mk(self.path(), args)
    }

    /// What `mk args` prints; it must succeed.
    pub fn run(&self, args: &[&str]) -> String {
        let output = self.mk(args).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "mk {args:?}: {}: {said}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// What `mk args --json` answers; it must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[args, &["--json"]].concat())).unwrap()
    }

    /// The events of all branches, as exported: each after its parent.
    pub fn events(&self) -> Vec<Value> {
        let lines = self.run(&["export"]);
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["hash"].is_string()).collect()
    }

    pub fn sound(&self) {
        sound(self.path());
    }
}

/// The JSON that a process printed, which must have ended with 0 or 1.
pub fn answer(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {text}", output.status);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// How often the long form of a race is run; `MK_RACE_ROUNDS` asks for it.
pub fn rounds() -> Option<u64> {
    std::env::var("MK_RACE_ROUNDS").ok().map(|text| text.parse().expect("a number"))
}

/// Ends all tests if it is not dropped within `limit`: then something hangs, and would for ever.
pub struct Deadline {
    _met: Sender<()>,
}

impl Deadline {
    pub fn new(what: &'static str, limit: Duration) -> Self {
        let (met, watch) = mpsc::channel::<()>();
        thread::spawn(move || {
            if watch.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = io::Write::write_fmt(
                    &mut io::stderr(),
                    format_args!("{what}: still not done after {limit:?}\n"),
                );
                exit(101);
            }
        });
        Self { _met: met }
    }
}

/// Waits of one kind, and what they come to.
#[derive(Default)]
pub struct Waits(Vec<Duration>);

impl Waits {
    pub fn add(&mut self, wait: Duration) {
        self.0.push(wait);
    }

    pub fn measure<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = act();
        self.add(begun.elapsed());
        done
    }

    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn worst(&self) -> Duration {
        self.0.iter().copied().max().unwrap_or_default()
    }

    pub fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}
