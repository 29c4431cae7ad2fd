//! A client that knows lines and JSON and nothing of the protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// After so long, an answer is not coming.
const FOREVER: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    stderr: Option<JoinHandle<String>>,
    /// Messages that came while another was waited for.
    put_by: Vec<Value>,
    last_id: i64,
}

impl Client {
    /// Starts `mk ARGS` in the directory of `repo`, without a handshake.
    pub fn start(repo: &Sandbox, args: &[&str]) -> Self {
        let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
        command.args(args);
        Self::spawn(command)
    }

    /// Starts a command that becomes a server.
    pub fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, messages) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.expect("stdout is UTF-8");
                let message: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("no message on stdout: {line:?}: {error}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let stdin = child.stdin.take();
        Self { child, stdin, messages, stderr: Some(stderr), put_by: Vec::new(), last_id: 1_000 }
    }

    /// Starts `mk mcp ARGS` and shakes hands.
    pub fn open(repo: &Sandbox, args: &[&str]) -> Self {
        Self::named(repo, args, "test")
    }

    /// The same, for a client of that name.
    pub fn named(repo: &Sandbox, args: &[&str], name: &str) -> Self {
        let mut client = Self::start(repo, &[&["mcp"], args].concat());
        client.shake_hands("2025-11-25", name);
        client
    }

    pub fn shake_hands(&mut self, version: &str, name: &str) -> Value {
        let client = json!({ "name": name, "version": "1" });
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    pub fn send_line(&mut self, line: &[u8]) {
        self.write(&[line, b"\n"].concat());
    }

    pub fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and answers its id.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message for which `is_wanted` holds; others are put by.
    #[track_caller]
    pub fn await_message(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.put_by.iter().position(&is_wanted) {
            return self.put_by.remove(at);
        }
        let begun = Instant::now();
        loop {
            let message = match self.messages.recv_timeout(FOREVER.saturating_sub(begun.elapsed()))
            {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => panic!("no answer; put by: {:?}", self.put_by),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the server ended; put by: {:?}", self.put_by)
                }
            };
            if is_wanted(&message) {
                return message;
            }
            self.put_by.push(message);
        }
    }

    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Value {
        self.await_message(|message| message["id"] == id)
    }

    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The result of a call that is no error of the protocol.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params);
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The report of a call that is answered.
    #[track_caller]
    pub fn report(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The `error` object of a call that is refused.
    #[track_caller]
    pub fn refusal(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        error_of(&result)
    }

    /// Messages that nobody waited for.
    pub fn rest(&mut self) -> Vec<Value> {
        self.put_by.extend(self.messages.try_iter());
        std::mem::take(&mut self.put_by)
    }

    /// Closes stdin, and answers how the server ended, what else it sent, and what it said on stderr.
    pub fn close(mut self) -> (ExitStatus, Vec<Value>, String) {
        drop(self.stdin.take());
        self.end()
    }

    /// The same, without closing stdin.
    pub fn end(mut self) -> (ExitStatus, Vec<Value>, String) {
        let status = self.child.wait().unwrap();
        let stderr = self.stderr.take().unwrap().join().unwrap();
        let mut rest = std::mem::take(&mut self.put_by);
        rest.extend(self.messages.iter());
        (status, rest, stderr)
    }

    /// Closes stdin; the server must have said nothing that nobody waited for, and nothing on stderr.
    #[track_caller]
    pub fn close_quietly(self) {
        let (status, rest, stderr) = self.close();
        assert!(status.success(), "{status}");
        assert!(rest.is_empty(), "{rest:?}");
        assert_eq!(stderr, "");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Only those that a test left behind are still there.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The `error` object in the last text block of a result.
#[track_caller]
pub fn error_of(result: &Value) -> Value {
    let blocks = result["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 2, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    let json: Value = serde_json::from_str(blocks[1]["text"].as_str().unwrap()).unwrap();
    let first = blocks[0]["text"].as_str().unwrap();
    let error = &json["error"];
    let said =
        format!("{}: {}", error["code"].as_str().unwrap(), error["message"].as_str().unwrap());
    assert!(first.starts_with(&said), "{first}");
    error.clone()
}
