//! Any input: no panic, no hang, no growth.

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
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
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
