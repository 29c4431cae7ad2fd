//! Any input: no panic, no hang, no growth.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use crate::sandbox::Sandbox;

/// A small generator, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }

    /// `line` with something wrong with it; never with a line break in it.
    fn mutated(&mut self, line: &[u8]) -> Vec<u8> {
        let mut line = line.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(line.len());
            match self.below(5) {
                0 => line.truncate(at),
                1 => drop(line.splice(at..at, [self.below(256) as u8])),
                2 => {
                    let end = (at + self.below(20)).min(line.len());
                    let piece = line[at..end].to_vec();
                    line.splice(at..at, piece);
                }
                3 if at < line.len() => line[at] = b"{}[]\",:0-\\n\xff\x00"[self.below(13)],
                _ if at < line.len() => drop(line.remove(at)),
                _ => {}
            }
        }
        line.retain(|byte| *byte != b'\n');
        line
    }
}

fn memory_kib(process: u32) -> u64 {
    memory_of_kind("VmRSS", process)
}

fn memory_of_kind(kind: &str, process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(kind)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn mutated_sessions_neither_end_the_server_nor_make_it_grow() {
    let repo = Sandbox::new();
    let cases = include_str!("../../cases/mcp/wire.jsonl");
    let lines: Vec<Vec<u8>> = cases
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .flat_map(|case| case["send"].as_array().cloned().unwrap_or_default())
        .map(|line| line.as_str().unwrap().as_bytes().to_vec())
        .filter(|line| !line.is_empty() && line.len() < 10_000)
        .collect();
    let mut client = Client::open(&repo, &["--tools", "all"]);
    let mut dice = Dice(7);
    let mut sizes = Vec::new();
    for _ in 0..20 {
        for _ in 0..150 {
            let line = &lines[dice.below(lines.len())];
            let line = dice.mutated(line);
            client.send_line(&line);
            if dice.below(20) == 0 {
                client.request("ping", json!({}));
            }
        }
        client.request("ping", json!({}));
        client.rest();
        sizes.push(memory_kib(client.id()));
    }
    let growth = sizes[19].saturating_sub(sizes[4]);
    assert!(growth < 8 << 10, "{sizes:?} KiB");
    let (status, _, stderr) = client.close();
    assert!(status.success() && !stderr.contains("fault"), "{status}: {stderr}");
    repo.mk("verify").success();
}

#[test]
fn thousands_of_calls_leave_memory_and_files_as_they_were() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    let files = |process: u32| std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
    let round = |client: &mut Client| {
        for n in 0..500 {
            client.report("mk_note", json!({ "note": format!("n{n}") }));
            client.report("mk_context", json!({ "budget": 500 }));
        }
        (memory_kib(client.id()), files(client.id()))
    };
    let (before, open) = round(&mut client);
    let (after, still_open) = round(&mut client);
    assert!(after < before + (5 << 10), "{before} KiB, then {after} KiB");
    assert!(still_open <= open + 2 && open < 60, "{open} files, then {still_open}");
    client.close_quietly();
}

#[test]
fn a_line_of_100_mb_is_refused_by_its_id_and_not_kept() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    client.report("mk_note", json!({ "note": "before" }));
    let idle = memory_kib(client.id());
    client.write(br#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":""#);
    for _ in 0..100 {
        client.write(&[b'x'; 1 << 20]);
    }
    client.write(b"\"}}\n");
    assert_eq!(client.answer(77)["error"]["code"], -32600);
    let most = memory_of_kind("VmHWM", client.id());
    assert!(most < idle + (16 << 10), "{idle} KiB, then up to {most} KiB");
    client.report("mk_note", json!({ "note": "after" }));
    client.close_quietly();
}

#[test]
fn a_client_that_never_reads_blocks_only_itself() {
    let repo = Sandbox::new();
    repo.mk("init").success();
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let writer = thread::spawn(move || {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        for id in 0..50_000 {
            let method = match id % 2 {
                0 => r#""tools/list","params":{"#,
                _ => r#""tools/call","params":{"name":"mk_log","arguments":{},"#,
            };
            let line =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}"_meta":{meta}}}}}"#);
            if writeln!(stdin, "{line}").is_err() {
                return;
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    // Until nothing more is taken. Were all of it, the answers would be 300 MB.
    let mut before = usize::MAX;
    while sent.load(Ordering::Relaxed) != before {
        before = sent.load(Ordering::Relaxed);
        thread::sleep(Duration::from_secs(1));
    }
    let memory = memory_kib(server.id());
    assert!(memory < 64 << 10, "{memory} KiB");
    repo.mk("note others-go-on").success();
    // Once there is nobody to read, it ends.
    drop(server.stdout.take());
    assert!(server.wait().unwrap().success());
    writer.join().unwrap();
    assert!(sent.load(Ordering::Relaxed) < 50_000);
}

#[test]
fn what_was_acknowledged_before_a_signal_is_there_once() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    let ids: Vec<i64> = (0..1_000)
        .map(|n| {
            let params = json!({ "name": "mk_note", "arguments": { "note": format!("n{n}") } });
            client.ask("tools/call", params)
        })
        .collect();
    client.answer(ids[20]);
    let kill = Command::new("kill").arg(client.id().to_string()).status().unwrap();
    assert!(kill.success());
    let (status, answers, stderr) = client.end();
    assert!(status.success() && stderr.is_empty(), "{status}: {stderr}");
    let is_done =
        |id: &i64| answers.iter().any(|it| it["id"] == *id && it["result"]["isError"] == false);
    let acknowledged = ids.iter().filter(|id| is_done(id)).count();
    let notes = repo.mk("log --json --type AGENT_SCRATCHPAD -n 2000").success();
    let notes = String::from_utf8(notes.get_output().stdout.clone()).unwrap();
    let mut texts: Vec<String> = notes
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["payload"]["note"].to_string())
        .collect();
    texts.reverse();
    // In order, so none twice and none left out. One was taken out of the answers above.
    let expected: Vec<String> = (0..texts.len()).map(|n| format!("\"n{n}\"")).collect();
    assert_eq!(texts, expected);
    assert!(texts.len() > acknowledged, "{} of {acknowledged}", texts.len());
    repo.mk("verify").success();
}
