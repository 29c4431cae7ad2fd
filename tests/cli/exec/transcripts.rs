//! The recorded exchanges in tests/cases/mkep, played against the program, a base of its own each. Where
//! the reference has a known fault, the conduct that is right is asked for.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::compare::{Comparison, Names, object, recomputed};

#[derive(Deserialize)]
struct Step {
    name: String,
    request: Option<String>,
    request_b64: Option<String>,
    response: Option<Value>,
    exit: Option<i32>,
    #[serde(default = "base_a")]
    base: String,
    argv: Option<Vec<String>>,
    command: Option<Vec<String>>,
    #[serde(default)]
    before: Map<String, Value>,
    #[serde(default)]
    hold_lock: bool,
    lock_timeout: Option<f64>,
    max_seconds: Option<f64>,
    #[serde(default)]
    no_files: bool,
    #[serde(default)]
    any_stdout: bool,
    #[serde(default)]
    volatile: Vec<String>,
    #[serde(default)]
    derive: BTreeMap<String, Value>,
    fault: Option<String>,
    right: Option<Value>,
    race: Option<Vec<String>>,
    tally: Option<Value>,
    #[serde(default)]
    same: Vec<String>,
    #[serde(default)]
    distinct: Vec<String>,
}

fn base_a() -> String {
    "a".to_owned()
}

/// A scenario that is being played.
struct Replay {
    root: TempDir,
    names: Names,
    /// The response to each step.
    seen: BTreeMap<String, Value>,
}

fn mk() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mk"));
    command.env_clear().env("USER", "vectoruser").env("LOGNAME", "vectoruser");
    command
}

fn run(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that refuses its arguments does not read.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().unwrap()
}

impl Replay {
    fn base(&self, name: &str) -> PathBuf {
        let base = self.root.path().join(format!("base_{name}"));
        fs::create_dir_all(&base).unwrap();
        base
    }

    /// The text of a request with its placeholders filled in.
    fn filled(&self, text: &str, base: &Path) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, after) = rest.split_at(start);
            out.push_str(before);
            let name = after[2..].split("}}").next().unwrap_or_default();
            let is_name =
                !name.is_empty() && !name.contains(['{', '"', ',']) && after.contains("}}");
            let value = if is_name { self.value(name, base) } else { None };
            match value {
                Some(value) => {
                    out.push_str(&value);
                    rest = &after[name.len() + 4..];
                }
                None => {
                    out.push('{');
                    rest = &after[1..];
                }
            }
        }
        out + rest
    }

    fn value(&self, name: &str, base: &Path) -> Option<String> {
        if name == "base" {
            return Some(base.display().to_string());
        }
        if let Some(repeated) = name.strip_prefix("repeat:") {
            let (text, count) = repeated.rsplit_once(':')?;
            return Some(text.repeat(count.parse().ok()?));
        }
        let (step, path) = name.split_once('.')?;
        match walk(self.seen.get(step)?, path)? {
            Value::String(text) => {
                let quoted = serde_json::to_string(&text).unwrap();
                Some(quoted[1..quoted.len() - 1].to_owned())
            }
            other => Some(other.to_string()),
        }
    }

    fn seed(&self, step: &Step, base: &Path) {
        let chunk = match (step.before.get("log"), step.before.get("log_b64")) {
            (Some(text), _) => text.as_str().unwrap().as_bytes().to_owned(),
            (None, Some(encoded)) => base64(encoded.as_str().unwrap()),
            (None, None) => return,
        };
        let file = self.root.path().join("chunk.jsonl");
        fs::write(&file, chunk).unwrap();
        let mut command = mk();
        command.args(["exec", "import"]).arg(&file).arg("--base-dir").arg(base);
        let done = run(command, b"");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn send(&self, step: &Step, base: &Path, input: &[u8]) -> Output {
        let mut command = mk();
        match (&step.command, &step.argv) {
            (Some(command_line), _) => command.args(command_line),
            (None, Some(argv)) => {
                command.args(["exec", "call"]).args(argv.iter().map(|word| self.filled(word, base)))
            }
            (None, None) => {
                let timeout = step.lock_timeout.unwrap_or(10.0).to_string();
                let options = ["exec", "call", "--lock-timeout", &timeout, "--base-dir"];
                command.args(options).arg(base)
            }
        };
        if !step.hold_lock {
            return run(command, input);
        }
        let store = rusqlite::Connection::open(base.join(".mk/mk.db")).unwrap();
        store.execute_batch("BEGIN IMMEDIATE").unwrap();
        let done = run(command, input);
        store.execute_batch("ROLLBACK").unwrap();
        done
    }

    fn step(&mut self, step: &Step) -> Vec<String> {
        let base = self.base(&step.base);
        self.seed(step, &base);
        if let Some(requests) = &step.race {
            return self.race(step, requests, &base);
        }
        let input = match (&step.request_b64, &step.request) {
            (Some(encoded), _) => base64(encoded),
            (None, request) => {
                self.filled(request.as_deref().unwrap_or_default(), &base).into_bytes()
            }
        };
        let begun = Instant::now();
        let done = self.send(step, &base, &input);
        let mut faults = Vec::new();
        if step.max_seconds.is_some_and(|most| begun.elapsed() > Duration::from_secs_f64(most)) {
            faults.push(format!("it took {:?}", begun.elapsed()));
        }
        let right = step.right.as_ref().filter(|_| step.fault.is_some());
        let wants_no_files = right.map_or(step.no_files, |right| right["no_files"] == true);
        if wants_no_files && fs::read_dir(&base).unwrap().next().is_some() {
            faults.push("files were made".to_owned());
        }
        match right {
            Some(right) => self.judge_right(step, right, &done, &input, &mut faults),
            None => self.judge(step, &done, &input, &mut faults),
        }
        faults
    }

    fn judge(&mut self, step: &Step, done: &Output, input: &[u8], faults: &mut Vec<String>) {
        if done.status.code() != step.exit {
            faults.push(format!("exit {:?}, not {:?}", done.status.code(), step.exit));
        }
        let Some(recorded) = &step.response else {
            if !step.any_stdout && (!done.stdout.is_empty() || done.stderr.is_empty()) {
                faults.push("stdout should be empty, and stderr not".to_owned());
            }
            return;
        };
        if done.status.success() != done.stderr.is_empty() {
            faults.push("stderr is empty if and only if it went well".to_owned());
        }
        let Some(response) = self.response(step, done, faults) else { return };
        recomputed(object(input).as_ref(), &done.stdout, faults);
        let mut comparison =
            Comparison { names: self.names.clone(), volatile: &step.volatile, faults: Vec::new() };
        comparison.run(recorded, &response, "");
        for (path, preimage) in &step.derive {
            let exchanged = comparison.names.exchange(preimage).to_string();
            let members = object(exchanged.as_bytes()).unwrap();
            let wanted = mk::mkep::canonical::digest(&members, mk::mkep::canonical::Arrays::Record);
            let found = walk(&response, path);
            if found.as_ref().and_then(Value::as_str) != wanted.ok().as_deref() {
                comparison.faults.push(format!("{path} is not the digest of what it should be"));
            }
        }
        if comparison.faults.is_empty() {
            self.names = comparison.names;
        }
        faults.append(&mut comparison.faults);
    }

    fn judge_right(
        &mut self,
        step: &Step,
        right: &Value,
        done: &Output,
        input: &[u8],
        faults: &mut Vec<String>,
    ) {
        let allowed = right["exit"].as_array().cloned();
        let allowed = allowed.unwrap_or_else(|| vec![right["exit"].clone()]);
        if !allowed.contains(&done.status.code().into()) {
            faults.push(format!("exit {:?}, not one of {allowed:?}", done.status.code()));
        }
        let Some(expect) = right["expect"].as_object() else { return };
        let Some(response) = self.response(step, done, faults) else { return };
        for (path, wanted) in expect {
            let found = walk(&response, path);
            let any = wanted.get("any").and_then(Value::as_array);
            let fits = |found: &Value| any.map_or(found == wanted, |any| any.contains(found));
            if !found.as_ref().is_some_and(fits) {
                faults.push(format!("{path} is {found:?}, not {wanted}"));
            }
        }
        let request = object(input).filter(|_| step.request_b64.is_none());
        recomputed(request.as_ref(), &done.stdout, faults);
    }

    /// The one line of stdout, which must be a compact object with sorted members.
    fn response(&mut self, step: &Step, done: &Output, faults: &mut Vec<String>) -> Option<Value> {
        let line = done.stdout.strip_suffix(b"\n").filter(|line| !line.contains(&b'\n'));
        let response: Option<Value> = line.and_then(|line| serde_json::from_slice(line).ok());
        let Some(response) = response else {
            faults.push("stdout is not one line of JSON".to_owned());
            return None;
        };
        // Members of a map are sorted.
        if line != Some(response.to_string().as_bytes()) {
            faults.push("the response is not compact and sorted".to_owned());
        }
        self.seen.insert(step.name.clone(), response.clone());
        Some(response)
    }

    /// Sends requests at the same moment, and judges the set of answers.
    fn race(&self, step: &Step, requests: &[String], base: &Path) -> Vec<String> {
        let inputs: Vec<String> =
            requests.iter().map(|request| self.filled(request, base)).collect();
        let gate = Barrier::new(inputs.len());
        let send = |input: &str| {
            let mut command = mk();
            let options = ["exec", "call", "--lock-timeout", "60", "--base-dir"];
            command.args(options).arg(base);
            gate.wait();
            run(command, input.as_bytes())
        };
        let send = &send;
        let answers: Vec<Output> = thread::scope(|scope| {
            let threads: Vec<_> =
                inputs.iter().map(|input| scope.spawn(move || send(input))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut faults = Vec::new();
        let mut tally: BTreeMap<String, u64> = BTreeMap::new();
        let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (input, answer) in inputs.iter().zip(&answers) {
            recomputed(object(input.as_bytes()).as_ref(), &answer.stdout, &mut faults);
            let response: Value = serde_json::from_slice(&answer.stdout).unwrap();
            let is_success = response["ok"] == true;
            let outcome =
                if is_success { &response["outcome"] } else { &response["error"]["code"] };
            *tally.entry(outcome.as_str().unwrap().to_owned()).or_default() += 1;
            for path in step.same.iter().chain(&step.distinct).filter(|_| is_success) {
                let value = walk(&response, path).unwrap().to_string();
                values.entry(path).or_default().push(value);
            }
        }
        let wanted = match (&step.fault, &step.right) {
            (Some(_), Some(right)) => &right["tally"],
            _ => step.tally.as_ref().unwrap_or(&Value::Null),
        };
        if serde_json::to_value(&tally).unwrap() != *wanted {
            faults.push(format!("the answers are {tally:?}, not {wanted}"));
        }
        for (path, mut found) in values {
            let count = found.len();
            found.sort();
            found.dedup();
            if step.same.iter().any(|same| same == path) && found.len() != 1 {
                faults.push(format!("{path} should be the same in all"));
            }
            if step.distinct.iter().any(|distinct| distinct == path) && found.len() != count {
                faults.push(format!("{path} should differ between all"));
            }
        }
        faults
    }
}

/// The value at a path; `#` is a length.
fn walk(value: &Value, path: &str) -> Option<Value> {
    let mut value = value.clone();
    for part in path.split('.') {
        value = match (&value, part) {
            (Value::Array(items), "#") => items.len().into(),
            (Value::Object(members), "#") => members.len().into(),
            (Value::Array(items), index) => items.get(index.parse::<usize>().ok()?)?.clone(),
            (other, key) => other.get(key)?.clone(),
        };
    }
    Some(value)
}

fn base64(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut group, mut bits, mut out) = (0_u32, 0, Vec::new());
    for digit in text.bytes().filter(|digit| *digit != b'=') {
        let value = alphabet.iter().position(|known| *known == digit).unwrap();
        group = group << 6 | value as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((group >> bits) as u8);
        }
    }
    out
}

/// Plays a scenario; answers how many steps it has, and what went otherwise.
fn play(path: &Path) -> (usize, Vec<String>) {
    let text = fs::read_to_string(path).unwrap();
    let steps = text.lines().skip(1).filter(|line| !line.is_empty());
    let names = Names::default();
    let mut replay = Replay { root: TempDir::new().unwrap(), names, seen: BTreeMap::new() };
    let (mut count, mut wrong) = (0, Vec::new());
    for line in steps {
        let step: Step = serde_json::from_str(line).unwrap();
        count += 1;
        let faults = replay.step(&step).into_iter();
        let place = path.file_name().unwrap().to_string_lossy();
        wrong.extend(faults.map(|fault| format!("{place}, {}: {fault}", step.name)));
    }
    (count, wrong)
}

#[test]
fn every_recorded_exchange_goes_as_it_should() {
    let cases = std::env::var_os("MK_CASES_MKEP").map(PathBuf::from);
    let cases =
        cases.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/mkep"));
    let mut files: Vec<PathBuf> = fs::read_dir(cases)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    let (mut steps, mut wrong) = (0, Vec::new());
    for file in &files {
        let (count, mut faults) = play(file);
        steps += count;
        wrong.append(&mut faults);
    }
    assert_eq!(wrong, [] as [String; 0], "{} scenarios", files.len());
    assert!(files.len() >= 47 && steps >= 1_193, "{} scenarios, {steps} steps", files.len());
}
