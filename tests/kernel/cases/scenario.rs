//! Scenario files: JSON Lines, a header and then an operation a line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mk::canon::{Object, Value};
use mk::compaction::Policy;
use mk::time::Timestamp;

pub struct Scenario {
    pub name: String,
    /// How branches are compacted; `auto` says whether writes are followed by it.
    pub policy: Policy,
    pub operations: Vec<Operation>,
}

impl Scenario {
    /// Whether the store is closed and opened again, which one in memory cannot be.
    pub fn reopens(&self) -> bool {
        self.operations.iter().any(|operation| operation.name() == "reopen")
    }
}

impl Scenario {
    /// The databases that it goes on, each with the time of its first operation.
    pub fn databases(&self) -> BTreeMap<&str, Timestamp> {
        let mut databases = BTreeMap::new();
        for operation in &self.operations {
            databases.entry(operation.database()).or_insert_with(|| operation.time());
        }
        databases
    }
}

/// The scenarios of a folder, by file name.
pub fn read_all(folder: &Path) -> Vec<Scenario> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Scenario {
    let mut lines = read_lines(path).into_iter();
    let header = lines.next().unwrap();
    let name = header.get("scenario").and_then(Value::as_str).unwrap().to_owned();
    let policy = policy(&header);
    Scenario { name, policy, operations: lines.map(|line| Operation(unrepeated(line))).collect() }
}

/// The settings in a header. The peer knows no low-water mark.
fn policy(header: &Object) -> Policy {
    let gc = header.get("gc").and_then(Value::as_object);
    let number = |name| gc?.get(name)?.as_i64().and_then(|number| u64::try_from(number).ok());
    let default = Policy::with_threshold(number("max_token_threshold").unwrap_or(4_000));
    Policy {
        auto: header.get("auto_gc") == Some(&Value::Bool(true)),
        threshold: default.threshold,
        low_water: u64::MAX,
        retain_events: number("retain_recent_events").unwrap_or(default.retain_events),
        retain_tokens: number("retain_token_budget").unwrap_or(default.retain_tokens),
        min_gain: number("min_gain_tokens").unwrap_or(default.min_gain),
    }
}

/// A JSON object a line.
pub fn read_lines(path: &Path) -> Vec<Object> {
    let text = fs::read_to_string(path).unwrap();
    let object = |line: &str| match Value::parse(line.as_bytes()) {
        Ok(Value::Object(object)) => object,
        other => panic!("{}: {other:?}", path.display()),
    };
    text.lines().map(object).collect()
}

/// `object` with each `{"$repeat": [text, n]}` in it as the text repeated n times.
fn unrepeated(object: Object) -> Object {
    fn member(value: Value) -> Value {
        match value {
            Value::Array(items) => Value::Array(items.into_iter().map(member).collect()),
            Value::Object(object) => match object.get("$repeat").and_then(Value::as_array) {
                Some([Value::String(text), Value::Int(times)]) => {
                    text.repeat(usize::try_from(times.as_i64().unwrap()).unwrap()).into()
                }
                _ => unrepeated(object).into(),
            },
            other => other,
        }
    }
    object.into_iter().map(|(name, value)| (name, member(value))).collect()
}

/// A line of a scenario.
pub struct Operation(Object);

impl Operation {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A text member; empty if it is left out.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    pub fn name(&self) -> &str {
        self.text("op")
    }

    /// The name of the database that it goes to.
    pub fn database(&self) -> &str {
        self.get("db").and_then(Value::as_str).unwrap_or("a")
    }

    pub fn number(&self) -> i64 {
        self.integer("n").unwrap()
    }

    /// When it runs.
    pub fn time(&self) -> Timestamp {
        self.text("at").parse().unwrap()
    }

    /// What the peer answered.
    pub fn expected(&self) -> &Value {
        self.get("expect").unwrap()
    }
}
