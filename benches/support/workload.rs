//! The three agent workloads of tests/cases/kernel/workloads, played with automatic compaction.

use std::fs;
use std::path::PathBuf;

use mk::canon::{Object, Value};
use mk::compaction::{self, Policy};
use mk::event::EventType;
use mk::id::{AgentId, BranchName};
use mk::log::{Draft, Log, LogError, Outside};
use mk::store::{Engine, ReadTxn, StoreError};
use mk::time::Timestamp;
use mk::workspace::{self, context};

pub const NAMES: [&str; 3] =
    ["single-agent-test-fix", "multi-agent-refactor", "lint-heavy-exploration"];

/// What a workload came to. Tokens are those of the store's tokenizer.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Of all events but snapshots.
    pub raw_tokens: u64,
    /// Of the context text in the end, and when it was longest after a write.
    pub context_tokens: u64,
    pub peak_context_tokens: u64,
    pub snapshots: u64,
    /// Whether the state read through the snapshots is the fold of all events.
    pub state_equivalent: bool,
}

impl Measured {
    pub fn reduction_percent(&self) -> f64 {
        100.0 * (1.0 - self.context_tokens as f64 / self.raw_tokens as f64)
    }
}

/// What the peer measured on a workload.
pub fn of_peer(name: &str, tokenizer: &str) -> Object {
    let text = fs::read_to_string(directory().join("peer-tokens.json")).expect("it is here");
    let rows = Value::parse(text.as_bytes()).expect("it is JSON");
    let is_wanted = |row: &&Object| {
        let says = |member: &str| row.get(member).and_then(Value::as_str);
        says("workload") == Some(name) && says("tokenizer") == Some(tokenizer)
    };
    let rows = rows.as_array().unwrap_or_default().iter().filter_map(Value::as_object);
    rows.clone().find(is_wanted).expect("the peer was measured on it").clone()
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/kernel/workloads")
}

/// Appends the events of workload `name` to `main`, each followed by compaction where it is due.
pub fn play<E: Engine>(store: &mut E, name: &str) -> Result<Measured, LogError> {
    let path = directory().join(format!("{name}.jsonl"));
    let text = fs::read_to_string(path).expect("it is here");
    let (mut snapshots, mut peak) = (0, 0);
    let mut salt = 0_u128;
    for line in text.lines().skip(1) {
        let line = Value::parse(line.as_bytes()).expect("it is JSON");
        let line = line.as_object().expect("it is an object");
        let now = member(line, "at").parse().expect("it is a time");
        let mut salt = || {
            salt += 1;
            salt.to_be_bytes()
        };
        let mut outside = Outside { now: &mut || now, salt: &mut salt };
        snapshots += u64::from(write(store, draft(line, now), &mut outside)?);
        peak = peak.max(on_main(store, |txn, branch| Ok(context::full(txn, branch)?.tokens))?);
    }
    on_main(store, |txn, branch| {
        let head = branch.head;
        let [mut read, mut folded] =
            [workspace::state(txn, head)?, workspace::state_from_events(txn, head)?];
        // Insights come from snapshots alone.
        (read.insights, folded.insights) = (Vec::new(), Vec::new());
        Ok(Measured {
            raw_tokens: head.map_or(Ok(0), |head| Ok(txn.link(head)?.tokens))?,
            context_tokens: context::full(txn, branch)?.tokens,
            peak_context_tokens: peak,
            snapshots,
            state_equivalent: read == folded,
        })
    })
}

/// Whether the write was followed by a compaction.
fn write<E: Engine>(
    store: &mut E,
    draft: Draft,
    outside: &mut Outside<'_>,
) -> Result<bool, LogError> {
    let due = store.write(|txn| {
        let mut log = Log::open(txn)?;
        log.append(&BranchName::main(), draft, None, outside)?;
        Ok::<_, LogError>(compaction::due(log.txn(), log.growth())?)
    })?;
    let Some(branch) = due.first() else { return Ok(false) };
    let policy = store.read(|txn| Policy::read(txn))?;
    let agent: AgentId = compaction::AGENT.parse()?;
    let order =
        compaction::Order { branch, policy: &policy, force: false, dry_run: false, agent: &agent };
    Ok(compaction::collect(store, &order, None, outside)?.triggered)
}

fn on_main<E: Engine, T>(
    store: &mut E,
    read: impl FnOnce(&dyn ReadTxn, &mk::store::Branch) -> Result<T, StoreError>,
) -> Result<T, LogError> {
    Ok(store.read(|txn| read(txn, &txn.branch("main")?.expect("every store has main")))?)
}

fn member<'a>(line: &'a Object, name: &str) -> &'a str {
    line.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The event that an operation of a workload appends.
fn draft(line: &Object, now: Timestamp) -> Draft {
    let text = |name| member(line, name);
    let number = |name| line.get(name).and_then(Value::as_i64).unwrap_or_default();
    let (kind, payload) = match text("op") {
        "init_task" => {
            let constraints = line.get("constraints").and_then(Value::as_array).unwrap_or_default();
            let constraints: Vec<String> = constraints.iter().map(|it| it.text().into()).collect();
            let task = workspace::event::task(text("directive"), &constraints);
            (EventType::Task, task.expect("it says something"))
        }
        "decide" => {
            let decision =
                workspace::event::decision(text("key"), text("value"), text("rationale"));
            (EventType::Decision, decision.expect("it has a key"))
        }
        "log" => {
            let facts = line.get("facts").and_then(Value::as_object).cloned().unwrap_or_default();
            let log = workspace::event::tool_log(
                text("command"),
                number("exit_code"),
                text("output"),
                facts,
            );
            (EventType::ToolLog, log)
        }
        "note" => (EventType::Note, workspace::event::note(text("note"))),
        "lease_acquire" => {
            let granted = line.get("expect").and_then(Value::as_object).expect("it was granted");
            let token = granted.get("fencing_token").cloned().unwrap_or_default();
            let expires = now.micros() as f64 / 1e6 + number("ttl") as f64;
            let members = [
                ("resource", text("resource").into()),
                ("fencing_token", token),
                ("ttl_seconds", Value::Float(number("ttl") as f64)),
                ("expires_at", Value::Float(expires)),
            ];
            (EventType::ClaimAcquired, members.into_iter().collect())
        }
        "lease_release" => {
            let token: Value = number("token").into();
            let members = [("resource", text("resource").into()), ("fencing_token", token)];
            (EventType::ClaimReleased, members.into_iter().collect())
        }
        other => panic!("'{other}' is in no workload"),
    };
    let agent = text("agent").parse().expect("agents have names");
    Draft { kind, agent, payload, metadata: Object::new() }
}
