//! The server, started as an agent starts it.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mk::attach::entry::Entry;
use mk::store::location;
use serde_json::{Value, json};

/// How long an answer, and the end, may take: far longer than either does.
const PATIENCE: Duration = Duration::from_secs(20);

/// Variables that agents pass on.
const PASSED_ON: &[&str] = &["HOME", "PATH", "USER", "LANG", "TMPDIR"];

const READ_ONLY: &str = "--read-only";

/// What the server answered.
pub struct Answered {
    pub first: Duration,
    /// Whether these are the tools that agents get; else those that only read, since there
    /// is no project to list the others in.
    pub is_whole: bool,
    pub tools: usize,
    pub bytes: usize,
}

/// Starts the server of `entry` in `directory`, speaks to it by both ways of opening, reads the context,
/// and ends it by closing its stdin. Nothing is written.
///
/// # Errors
/// What went wrong, in words.
pub fn try_out(entry: &Entry, program: &Path, directory: &Path) -> Result<Answered, String> {
    let answered = talk(entry, program, directory, true, Talk::hold)?;
    // With the right to write it would make a project where there is none.
    let is_read_only = entry.args.iter().any(|arg| arg == READ_ONLY);
    if is_read_only || location::discover(directory).is_err() {
        return Ok(Answered { is_whole: is_read_only, ..answered });
    }
    let (tools, bytes) = talk(entry, program, directory, false, |talk, _| talk.list())?;
    Ok(Answered { is_whole: true, tools, bytes, ..answered })
}

/// Starts the server, lets `body` speak to it, and ends it.
fn talk<T>(
    entry: &Entry,
    program: &Path,
    directory: &Path,
    read_only: bool,
    body: impl FnOnce(&mut Talk, Instant) -> Result<T, String>,
) -> Result<T, String> {
    let here = directory.display().to_string();
    let is_said = entry.args.iter().any(|arg| arg == READ_ONLY);
    let mut command = Command::new(program);
    command
        .args(entry.args.iter().map(|arg| arg.replace("${workspaceFolder}", &here)))
        .args((read_only && !is_said).then_some(READ_ONLY))
        .current_dir(directory)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for name in PASSED_ON {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if let Some(id) = &entry.agent_id {
        command.env("MK_AGENT", id);
    }
    #[expect(clippy::disallowed_methods, reason = "what is measured is the wait for an answer")]
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    // Its stdin is closed with the talk.
    let said = Talk::new(&mut child).and_then(|mut talk| body(&mut talk, begun));
    let ended = said.and_then(|said| end(&mut child).map(|()| said));
    if ended.is_err() {
        // It may be gone already.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

/// Waits for the end of a server whose stdin is closed.
fn end(child: &mut Child) -> Result<(), String> {
    #[expect(clippy::disallowed_methods, reason = "a server that hangs must not hang its doctor")]
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Err(error) => return Err(format!("cannot be waited for: {error}")),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("ends with {status}")),
            Ok(None) if begun.elapsed() > PATIENCE => {
                return Err("does not end when its stdin is closed".to_owned());
            }
            Ok(None) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn who() -> Value {
    json!({ "name": "mk-doctor", "version": env!("CARGO_PKG_VERSION") })
}

struct Talk {
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Talk {
    fn new(child: &mut Child) -> Result<Self, String> {
        let stdout = child.stdout.take().ok_or("has no stdout")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take().ok_or("has no stdin")?;
        Ok(Self { stdin, lines })
    }

    fn open(&mut self) -> Result<(), String> {
        let opening =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who() });
        self.ask("initialize", &opening)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// How many tools there are, and of how many bytes their list is.
    fn list(&mut self) -> Result<(usize, usize), String> {
        self.open()?;
        let listed = self.ask("tools/list", &json!({}))?;
        let tools = listed["tools"].as_array().ok_or("lists no tools")?;
        Ok((tools.len(), listed.to_string().len()))
    }

    fn hold(&mut self, begun: Instant) -> Result<Answered, String> {
        self.open()?;
        let first = begun.elapsed();
        let listed = self.ask("tools/list", &json!({}))?;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": who(),
        });
        let again = self.ask("tools/list", &json!({ "_meta": meta }))?;
        let tools = listed["tools"].as_array().ok_or("lists no tools")?;
        if again["tools"].as_array().map(Vec::len) != Some(tools.len()) {
            return Err("lists other tools without a handshake".to_owned());
        }
        if tools.iter().any(|tool| tool["name"] == "mk_context") {
            let call = json!({ "name": "mk_context", "arguments": {} });
            let answer = self.ask("tools/call", &call)?;
            if answer["isError"] == true {
                let why = answer["content"][0]["text"].as_str().unwrap_or("no reason");
                return Err(format!("answers mk_context with an error: {why}"));
            }
        }
        let (tools, bytes) = (tools.len(), listed.to_string().len());
        Ok(Answered { first, is_whole: false, tools, bytes })
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        match writeln!(self.stdin, "{message}") {
            // It has ended: its answers say so, whether that was before or after this.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            sent => sent.map_err(|error| format!("does not read: {error}")),
        }
    }

    /// The result of a request. Notifications that come before it are passed over.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let request = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params });
        self.send(&request)?;
        loop {
            let line = self.lines.recv_timeout(PATIENCE).map_err(|error| match error {
                RecvTimeoutError::Timeout => format!("does not answer {method}"),
                RecvTimeoutError::Disconnected => format!("ends without an answer to {method}"),
            })?;
            let mut message: Value =
                serde_json::from_str(&line).map_err(|_| "prints what is no message".to_owned())?;
            if message["id"] != method {
                continue;
            }
            if let Some(error) = message.get("error") {
                return Err(format!("answers {method} with {error}"));
            }
            return Ok(message["result"].take());
        }
    }
}
