//! An empty directory with a clean environment, a pinned clock and repeatable hashes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use sha2::Digest;
use tempfile::TempDir;

/// 2026-11-30T10:00:00Z
const START_MS: i64 = 1_796_032_800_000;

/// A place to run `mk` in.
pub struct Sandbox {
    home: TempDir,
    /// What the time is, of events and of leases.
    pub now_ms: i64,
    /// What commands read from stdin.
    pub input: Vec<u8>,
    environment: BTreeMap<String, String>,
}

impl Sandbox {
    /// With a project.
    pub fn new() -> Self {
        let sandbox = Self::empty();
        sandbox.mk("init").success();
        sandbox
    }

    /// Without one.
    pub fn empty() -> Self {
        Self::within(TempDir::new().unwrap())
    }

    pub fn within(home: TempDir) -> Self {
        Self { home, now_ms: START_MS, input: Vec::new(), environment: BTreeMap::new() }
    }

    /// The directory, which is `HOME` too.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The directory of the project's store.
    pub fn store(&self) -> PathBuf {
        self.path(".mk")
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Sets a variable for all commands that follow.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Takes back what [`Sandbox::set`] set.
    pub fn unset(&mut self, name: &str) {
        self.environment.remove(name);
    }

    /// `program` in this directory, and nothing of the caller's environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> process::Command {
        let mut command = process::Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = Path::new(env!("CARGO_BIN_EXE_mk")).parent().unwrap();
        let now = format!("@{}.{:03}", self.now_ms / 1000, self.now_ms % 1000);
        command
            .current_dir(self.home.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.home.path())
            .env("USER", "me")
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("MK_DATE", &now)
            .env("MK_LEASE_DATE", &now)
            .env("MK_SALT_SEED", "sandbox")
            .envs(&self.environment);
        command
    }

    /// Runs `mk` with `line`, split as a shell does.
    pub fn mk(&self, line: &str) -> Assert {
        let words = shlex::split(line).expect("quotes are closed");
        self.mk_words(&words)
    }

    pub fn mk_words(&self, words: &[impl AsRef<std::ffi::OsStr>]) -> Assert {
        let mut command = self.command(env!("CARGO_BIN_EXE_mk"));
        command.args(words);
        Command::from_std(command).write_stdin(self.input.clone()).assert()
    }

    /// What `mk` prints on stdout, which must be one JSON document.
    pub fn json(&self, line: &str) -> Value {
        let done = self.mk(&format!("--json {line}")).success();
        serde_json::from_slice(&done.get_output().stdout).expect("one JSON document")
    }

    /// Runs `script` in a shell.
    pub fn sh(&self, script: &str) -> Assert {
        let mut command = self.command("sh");
        command.args(["-c", script]);
        Command::from_std(command).write_stdin(self.input.clone()).assert()
    }

    /// Compares a session with what a shell says to it. In `text`, a line that begins with `$ ` is a
    /// command; below stand its stdout, its stderr with `! ` before each line, and `[N]` if its exit
    /// status N is not 0. `~` stands for the directory, an indented line goes on.
    #[track_caller]
    pub fn session(&self, text: &str) {
        let text = unindented(text);
        let mut actual = String::new();
        for line in text.lines().filter(|line| line.starts_with("$ ")) {
            actual.push_str(&format!("{line}\n"));
            let done = self.sh(&line[2..]);
            let output = done.get_output();
            for (mark, bytes) in [("", &output.stdout), ("! ", &output.stderr)] {
                let shown = String::from_utf8_lossy(bytes);
                let shown = shown.replace(&*self.home.path().to_string_lossy(), "~");
                shown.lines().for_each(|line| actual.push_str(&format!("{mark}{line}\n")));
                if !shown.is_empty() && !shown.ends_with('\n') {
                    actual.push_str("(no line break)\n");
                }
            }
            match output.status.code() {
                Some(0) => {}
                Some(code) => actual.push_str(&format!("[{code}]\n")),
                None => actual.push_str(&format!("[{}]\n", output.status)),
            }
        }
        assert!(text == actual, "the session went otherwise:\n{actual}\nnot:\n{text}");
    }

    /// `line` is refused with these words on stderr, `code` under `--json`, and nothing written.
    #[track_caller]
    pub fn refuses(&self, line: &str, exit: i32, code: &str, stderr: &str) {
        let before = self.files();
        let place = self.home.path().to_string_lossy().into_owned();
        let words = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(&place, "~");
        let plain = self.mk(line).code(exit).stdout("");
        assert_eq!(words(&plain.get_output().stderr), stderr, "mk {line}");
        let json = self.mk(&format!("--json {line}")).code(exit);
        assert_eq!(words(&json.get_output().stderr), stderr, "mk --json {line}");
        let answer: Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
        let error = &answer["error"];
        assert_eq!(error["code"], code, "mk --json {line}");
        let text = |member: &Value| member.as_str().unwrap_or_default().replace(&place, "~");
        let level = if exit >= 128 { "fatal" } else { "error" };
        let hint = match text(&error["hint"]) {
            hint if hint.is_empty() => String::new(),
            hint => format!("hint: {hint}\n"),
        };
        assert_eq!(format!("{level}: {}\n{hint}", text(&error["message"])), stderr);
        assert_eq!(self.files(), before, "mk {line} wrote something");
    }

    /// The JSON object `error` with which `line` is refused.
    #[track_caller]
    pub fn refusal(&self, line: &str) -> Value {
        let done = self.mk(&format!("--json {line}")).failure();
        let mut answer: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
        answer["error"].take()
    }

    /// The files here, each with its mode, length and digest. What engines make to read a store is
    /// left out: the index of the WAL, and a WAL that is empty.
    pub fn files(&self) -> BTreeMap<PathBuf, (u32, usize, String)> {
        let mut files = BTreeMap::new();
        let mut directories = vec![self.home.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let name = path.to_string_lossy().into_owned();
                if name.ends_with("-shm") || name.ends_with("-wal") && metadata.len() == 0 {
                    continue;
                }
                let mut bytes = Vec::new();
                if metadata.is_dir() {
                    directories.push(path.clone());
                } else if metadata.is_file() {
                    bytes = fs::read(&path).unwrap();
                }
                let mode = metadata.permissions().mode();
                let digest = mk::id::hex(&sha2::Sha256::digest(&bytes));
                files.insert(path, (mode, bytes.len(), digest));
            }
        }
        files
    }
}

/// `text` without the first and last line break, and without the indentation of its first line.
fn unindented(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text).trim_end_matches(' ');
    let indent = text.len() - text.trim_start_matches(' ').len();
    let strip = |line: &str| line.get(indent..).unwrap_or("").to_owned() + "\n";
    text.lines().map(strip).collect()
}
