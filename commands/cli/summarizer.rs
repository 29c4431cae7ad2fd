//! The command of the setting `gc.summarizer`: a process that is trusted with nothing.
//!
//! It gets a JSON document on stdin and answers on stdout with a JSON array of texts, or an object
//! with such an array as `insights`. It has a time limit, its output has a limit, and when it is done
//! nothing of its process group is left.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mk::compaction::Summary;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// Set for the command: what it does with `mk` does not run it again.
pub const INSIDE: &str = "MK_IN_SUMMARIZER";

/// Most bytes that are read of its output.
const OUTPUT_MAX: u64 = 64 << 10;

/// How often it is looked after.
const POLL: Duration = Duration::from_millis(10);

/// How long its output may stay open once it has ended: a child of it may hold the pipe for ever.
const GRACE: Duration = Duration::from_millis(200);

/// The insights that `command`, run by `sh`, makes of `summary`.
///
/// # Errors
/// Why there are none, in words.
pub fn run(command: &str, summary: &Summary, limit: Duration) -> Result<Vec<String>, String> {
    let input = serde_json::to_vec(summary).expect("a summary has string keys only");
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .env(INSIDE, "1")
        .process_group(0)
        .spawn()
        .map_err(|error| format!("it cannot be run: {error}"))?;
    // Neither thread is waited for: both end when the pipes do, at the latest with this process.
    if let Some(mut stdin) = child.stdin.take() {
        // It need not read.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (sender, output) = channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(OUTPUT_MAX + 1).read_to_end(&mut bytes).map(|_| bytes);
            let _ = sender.send(read);
        });
    }
    let answer = watch(&mut child, &output, limit);
    // Also what goes on without its output.
    kill_group(&child);
    if answer.is_err() {
        let _ = child.wait();
    }
    insights(&answer?)
}

/// Waits for the output and the end of `child`, at most `limit`.
fn watch(
    child: &mut Child,
    output: &Receiver<std::io::Result<Vec<u8>>>,
    limit: Duration,
) -> Result<Vec<u8>, String> {
    #[expect(clippy::disallowed_methods, reason = "it measures a wait")]
    let begun = Instant::now();
    let (mut bytes, mut ended): (Option<Vec<u8>>, Option<(ExitStatus, Duration)>) = (None, None);
    loop {
        if bytes.is_none() {
            match output.recv_timeout(POLL) {
                Ok(Ok(read)) if read.len() as u64 > OUTPUT_MAX => {
                    return Err(format!("it printed more than {OUTPUT_MAX} bytes"));
                }
                Ok(Ok(read)) => bytes = Some(read),
                Ok(Err(error)) => return Err(format!("its output cannot be read: {error}")),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("it has no output".to_owned()),
            }
        } else {
            thread::sleep(POLL);
        }
        if ended.is_none() {
            let status = child.try_wait().map_err(|error| format!("it is lost: {error}"))?;
            ended = status.map(|status| (status, begun.elapsed()));
        }
        match (ended, &mut bytes) {
            (Some((status, _)), _) if !status.success() => {
                return Err(format!("it ended with {status}"));
            }
            (Some(_), Some(bytes)) => return Ok(std::mem::take(bytes)),
            (Some((_, at)), None) if begun.elapsed() > at + GRACE => kill_group(child),
            _ => {}
        }
        if begun.elapsed() > limit {
            return Err(format!("it did not end within {} s", limit.as_secs()));
        }
    }
}

fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // There is none left if all of it has ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn insights(output: &[u8]) -> Result<Vec<String>, String> {
    let wrong = || "it printed no JSON array of texts".to_owned();
    let answer: Value = serde_json::from_slice(output).map_err(|_| wrong())?;
    let list = match &answer {
        Value::Object(members) => members.get("insights").and_then(Value::as_array),
        other => other.as_array(),
    };
    let texts = list.ok_or_else(wrong)?.iter().map(|text| text.as_str().map(str::to_owned));
    texts.collect::<Option<Vec<String>>>().ok_or_else(wrong)
}
