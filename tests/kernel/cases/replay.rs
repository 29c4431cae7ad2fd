//! The operations of a scenario as calls of the library.

use std::path::Path;

use mk::branch::{self, Act, BranchError};
use mk::canon::{Object, Value};
use mk::code::{Code, Coded};
use mk::compaction::{self, Reason};
use mk::event::{self, Event, EventType};
use mk::id::{AgentId, BranchName, EventId, Hash};
use mk::lease::{self, Fence};
use mk::log::{Appended, Draft, Expect, Log, LogError, Outside};
use mk::revision::{self, Revision};
use mk::store::{Branch, Engine, ReadTxn, Sqlite, StoreError};
use mk::sync::{Exchange, Policy};
use mk::text;
use mk::workspace::{self, context, diff, render, snapshot};
use serde::Serialize;

use super::exceptions;
use super::leases::{self, fence};
use super::notices;
use super::scenario::Operation;
use crate::engines::{self, Salts};

/// A store on which a scenario is replayed.
pub struct Replay<'a, E> {
    pub(super) store: &'a mut E,
    policy: &'a compaction::Policy,
    salts: Salts,
    /// Closes the store and opens it again, to read only if told so.
    reopen: fn(&mut E, bool),
    /// Where this and other stores exchange notices.
    pub(super) shared: &'a Path,
    /// The exchange that the store takes part in, since it was opened.
    pub(super) exchange: Option<Exchange>,
}

/// An answer of the form `{"error": code}`.
pub(super) struct Refusal(Object);

impl Refusal {
    pub(super) fn new(code: Code) -> Self {
        // The peer writes its codes with `_`, and has a name of its own for a fence.
        let name = if code == Code::LEASE_LOST { "fence_rejected" } else { code.name };
        Self(Object::from_iter([("error", name.replace('-', "_"))]))
    }

    fn stale(expected: Option<EventId>, actual: Option<EventId>) -> Self {
        let mut refusal = Self::new(Code::STALE_HEAD);
        refusal.0.insert("expected", id(expected));
        refusal.0.insert("actual", id(actual));
        refusal
    }
}

impl<E: Coded> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::new(error.code())
    }
}

impl<'a> Replay<'a, Sqlite> {
    /// On a store that can be closed and opened again.
    pub fn of_file(
        store: &'a mut Sqlite,
        policy: &'a compaction::Policy,
        shared: &'a Path,
    ) -> Self {
        Self { reopen: engines::reopen, ..Self::new(store, policy, shared) }
    }
}

impl<'a, E: Engine> Replay<'a, E> {
    pub fn new(store: &'a mut E, policy: &'a compaction::Policy, shared: &'a Path) -> Self {
        let reopen = |_: &mut E, _| panic!("a store in memory cannot be opened again");
        Self { store, policy, salts: Salts::default(), reopen, shared, exchange: None }
    }

    /// The id of the last event; 0 if there is none.
    pub fn last_event(&mut self) -> i64 {
        let last: Result<_, StoreError> = self.store.read(|txn| txn.log_head());
        last.unwrap().map_or(0, |(id, _)| id.0)
    }

    /// What `operation` is answered.
    pub fn answer(&mut self, operation: &Operation) -> Value {
        self.run(operation).unwrap_or_else(|Refusal(refusal)| refusal.into())
    }

    fn run(&mut self, of: &Operation) -> Result<Value, Refusal> {
        match of.name() {
            "append" => {
                let kind = of.text("type").parse().map_err(LogError::Type)?;
                let payload = content(of, "payload")?;
                self.append(of, kind, payload)
            }
            "init_task" => {
                let constraints = of.get("constraints").and_then(Value::as_array);
                let constraints: Vec<String> =
                    constraints.unwrap_or_default().iter().map(|text| text.text().into()).collect();
                let payload = workspace::event::task(of.text("directive"), &constraints)?;
                self.append(of, EventType::Task, payload)
            }
            "decide" => {
                let (key, value) = (of.text("key"), of.text("value"));
                let payload = workspace::event::decision(key, value, of.text("rationale"))?;
                self.append(of, EventType::Decision, payload)
            }
            "log" => {
                let (command, output) = (of.text("command"), of.text("output"));
                let code = of.integer("exit_code").unwrap_or_default();
                let facts = content(of, "facts")?;
                let payload = workspace::event::tool_log(command, code, output, facts);
                self.append(of, EventType::ToolLog, payload)
            }
            "note" => self.append(of, EventType::Note, workspace::event::note(of.text("note"))),
            "create_branch" => self.create_branch(of),
            "fork" => self.fork(of),
            "rollback" => self.rollback(of),
            "gc" => {
                let force = of.get("force") == Some(&Value::Bool(true));
                Ok(outcome(&self.collect(of, &branch_name(of, "branch")?, force)?))
            }
            "sweep" => self.sweep(of),
            "reopen" => {
                self.exchange = None;
                (self.reopen)(self.store, of.get("read_only") == Some(&Value::Bool(true)));
                Ok(object([]))
            }
            "notice_post" => self.post(of),
            "notice_clear" => self.clear(of),
            "notice_import" => self.import(of),
            "lease_acquire" => self.acquire(of),
            "lease_heartbeat" => self.renew(of),
            "lease_release" => self.release(of),
            "fenced_append" => {
                let fence = fence(of)?;
                let kind = of.text("type").parse().map_err(LogError::Type)?;
                let payload = content(of, "payload")?;
                self.append_fenced(of, kind, payload, &[fence])
            }
            name if name.starts_with("sync_") => self.sync(of),
            _ => {
                let policy = self.exchange.as_ref().map(|exchange| &exchange.policy);
                self.store.read(|txn| read(txn, of, policy))
            }
        }
    }

    pub(super) fn write<T>(
        &mut self,
        of: &Operation,
        body: impl FnOnce(&mut Log<'_>, &mut Outside<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let Self { store, salts, .. } = self;
        store.write(|txn| {
            let mut outside = Outside { now: &mut || of.time(), salt: &mut || salts.next() };
            body(&mut Log::open(txn)?, &mut outside)
        })
    }

    fn append(
        &mut self,
        of: &Operation,
        kind: EventType,
        payload: Object,
    ) -> Result<Value, Refusal> {
        self.append_fenced(of, kind, payload, &[])
    }

    fn append_fenced(
        &mut self,
        of: &Operation,
        kind: EventType,
        payload: Object,
        fences: &[Fence],
    ) -> Result<Value, Refusal> {
        let (name, agent) = (branch_name(of, "branch")?, agent(of)?);
        let metadata = content(of, "metadata")?;
        let expect = of.integer("expected_head").map(|id| Expect::Head(numbered(id)));
        let appended = self.write(of, |log, outside| {
            let payload = match kind {
                EventType::Snapshot => exceptions::snapshot_of_mk(log.txn(), payload)?,
                _ => payload,
            };
            for fence in fences {
                lease::held(log.txn(), &fence.resource, fence.token, &agent, of.time())?;
            }
            let draft = Draft { kind, agent, payload, metadata };
            log.append(&name, draft, expect.as_ref(), outside).map_err(|error| match error {
                LogError::StaleHead { expected, actual, .. } => Refusal::stale(expected, actual),
                other => other.into(),
            })
        })?;
        let mut event = self.store.read(|txn| created(txn, &appended))?;
        if of.name() == "append" || of.name() == "fenced_append" {
            // The caller knows it.
            event.remove("payload");
        }
        let mut answer = Object::from_iter([("event", event)]);
        if self.policy.auto {
            let collected = self.collect(of, &name, false)?;
            if collected.reason != Reason::BelowThreshold {
                answer.insert("auto_gc", outcome(&collected));
            }
        }
        Ok(answer.into())
    }

    /// Compacts in the name of the peer, which counts in the tokens of a snapshot.
    fn collect(
        &mut self,
        of: &Operation,
        branch: &BranchName,
        force: bool,
    ) -> Result<compaction::Collected, Refusal> {
        let Self { store, policy, salts, .. } = self;
        let agent: AgentId = "memkernel-gc".parse().map_err(LogError::Name)?;
        let order = compaction::Order { branch, policy, force, dry_run: false, agent: &agent };
        let mut outside = Outside { now: &mut || of.time(), salt: &mut || salts.next() };
        Ok(compaction::collect(*store, &order, None, &mut outside)?)
    }

    /// On every branch. The peer adds the last result that it would add to a write.
    fn sweep(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let branches = self.store.read(|txn| txn.branches())?;
        let mut results = Vec::new();
        let mut last = Value::Null;
        for branch in branches {
            let collected = self.collect(of, &branch.name, false)?;
            let result = outcome(&collected);
            if collected.reason != Reason::BelowThreshold {
                last = result.clone();
            }
            results.push(result);
        }
        Ok(object([("results", results.into()), ("auto_gc", last)]))
    }

    fn create_branch(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (name, agent) = (branch_name(of, "branch")?, agent(of)?);
        self.write(of, |log, outside| Ok(branch::create_root(log, &name, &agent, outside)?))?;
        self.store.read(|txn| branch_record(txn, &revision::branch(txn, name.as_str())?))
    }

    fn fork(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (name, source) = (branch_name(of, "new")?, branch_name(of, "source")?);
        let (agent, at) = (agent(of)?, of.integer("at_event").map(numbered));
        let act = Act { agent: &agent, reason: of.text("reason"), metadata: Object::new() };
        let forked = self.write(of, |log, outside| {
            Ok(branch::fork(log, &name, &source, at.as_ref(), act, outside)?)
        })?;
        self.store.read(|txn| {
            let record = branch_record(txn, &revision::branch(txn, name.as_str())?)?;
            Ok(object([("event", created(txn, &forked.event)?.into()), ("branch", record)]))
        })
    }

    fn rollback(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (name, agent) = (branch_name(of, "branch")?, agent(of)?);
        let target = numbered(of.integer("target").unwrap_or_default());
        let act = Act { agent: &agent, reason: of.text("reason"), metadata: Object::new() };
        let done = self.write(of, |log, outside| {
            Ok(branch::rollback(log, &name, &target, true, act, outside)?)
        })?;
        self.store.read(|txn| {
            let pointer = txn.link(done.event.event_id)?.snapshot;
            Ok(object([("event", created(txn, &done.event)?.into()), ("snapshot", id(pointer))]))
        })
    }
}

fn read(txn: &dyn ReadTxn, of: &Operation, policy: Option<&Policy>) -> Result<Value, Refusal> {
    let branch = || Ok::<_, Refusal>(revision::branch(txn, of.text("branch"))?);
    match of.name() {
        "event" => {
            let id = numbered(of.integer("id").unwrap_or_default());
            event_report(txn, &txn.known_event(id.resolve(txn, &BranchName::main())?)?)
        }
        "branch" => branch_record(txn, &branch()?),
        "branches" => {
            let branches = txn.branches()?;
            let records = branches.iter().map(|branch| branch_record(txn, branch));
            Ok(object([("branches", records.collect::<Result<Vec<_>, _>>()?.into())]))
        }
        "raw" => {
            let mut ids = branch::lineage(txn, branch()?.head, 0)?;
            ids.retain(|id| id.0 >= of.integer("from").unwrap_or_default());
            ids.reverse();
            Ok(object([("ids", numbers(ids))]))
        }
        "live" => {
            let mut ids = branch::live(txn, branch()?.head, 0)?;
            ids.reverse();
            Ok(object([("ids", numbers(ids))]))
        }
        "state" => state(txn, &branch()?),
        "query" => query(txn, &branch()?, of, policy),
        "context" => {
            let context = context::full_with_notices(txn, &branch()?, (None, policy), of.time())?;
            Ok(object([("text", context.text.into()), ("tokens", context.tokens.into())]))
        }
        "history" => history(txn, &branch()?, of.integer("limit").unwrap_or(50)),
        "diff" => {
            let (a, b) = (of.text("a"), of.text("b"));
            let head = |name: &str| Ok::<_, Refusal>(revision::branch(txn, name)?.head);
            diff_report(&diff::diff(txn, (a, head(a)?), (b, head(b)?))?)
        }
        "notice_list" => notices::list(txn, of, policy),
        "notice_page" => notices::page(txn, of, policy),
        "notice_export" => notices::export(txn, of),
        "lease_get" => leases::get(txn, of),
        "lease_list" => leases::list(txn, of),
        "lease_check" => leases::check(txn, of),
        "verify" => Ok(object([("intact", is_intact(txn, &branch()?)?.into())])),
        other => panic!("'{other}' is not replayed"),
    }
}

fn state(txn: &dyn ReadTxn, branch: &Branch) -> Result<Value, Refusal> {
    let base = branch.head.map_or(Ok(None), |head| snapshot::base(txn, head))?;
    let delta = snapshot::delta(txn, branch.head, base.as_ref())?;
    let state = workspace::state(txn, branch.head)?;
    let folded = workspace::state_from_events(txn, branch.head)?;
    Ok(object([
        ("head", id(branch.head)),
        ("snapshot", id(base.map(|base| base.event.id))),
        ("delta", numbers(delta.iter().map(|event| event.id).collect())),
        ("tokens", context::full(txn, branch)?.tokens.into()),
        ("state", sections(&state.report())),
        ("equals_full_fold", (state.report() == folded.report()).into()),
    ]))
}

/// Section 16.
fn query(
    txn: &dyn ReadTxn,
    branch: &Branch,
    of: &Operation,
    policy: Option<&Policy>,
) -> Result<Value, Refusal> {
    let base = branch.head.map_or(Ok(None), |head| snapshot::base(txn, head))?;
    let with_ephemeral = of.get("include_ephemeral") == Some(&Value::Bool(true));
    let mut recent = Vec::new();
    for event in snapshot::delta(txn, branch.head, base.as_ref())? {
        if with_ephemeral || !event.kind.is_ephemeral() {
            recent.push(Value::from(context::block(txn, &event)?));
        }
    }
    let names = ["notice_token_budget", "notice_offset", "notice_limit", "notice_resource"];
    let block = notices::page_of(txn, of, names, policy)?;
    let tokens = context::full(txn, branch)?.tokens + block.tokens;
    let members = Object::from_iter([
        ("branch_id", branch.name.as_str().into()),
        ("head_event_id", id(branch.head)),
        ("snapshot_event_id", id(base.map(|base| base.event.id))),
        ("context_tokens", tokens.into()),
        ("state", sections(&workspace::state(txn, branch.head)?.report())),
        ("active_leases", leases::active(txn, of.time())?),
        ("sync", json(r#"{"enabled":false,"policy_required":false}"#)),
        ("recent_events", recent.into()),
    ]);
    let of_notices = notices::members(&block);
    let all = members.iter().chain(of_notices.iter());
    Ok(Object::from_iter(all.map(|(name, value)| (name, value.clone()))).into())
}

fn history(txn: &dyn ReadTxn, branch: &Branch, limit: i64) -> Result<Value, Refusal> {
    let limit = usize::try_from(limit.max(1)).expect("it is positive");
    let newest = branch::live(txn, branch.head, 0)?.into_iter().take(limit);
    let entry = |id: EventId| {
        let event = txn.known_event(id)?;
        let block = match event.kind {
            EventType::Snapshot => {
                let base = snapshot::base(txn, id)?.expect("a snapshot is its own base");
                render::snapshot_block(&event, base.covers.0, &base.state)
            }
            _ => context::block(txn, &event)?,
        };
        let mut entry = event_members(&event);
        entry.insert("summary", text::head_chars(&block, 240));
        Ok(entry.into())
    };
    let entries: Result<Vec<Value>, StoreError> = newest.map(entry).collect();
    let mut entries = entries?;
    entries.reverse();
    Ok(object([("events", entries.into())]))
}

fn diff_report(found: &diff::Diff) -> Result<Value, Refusal> {
    let ids = |ahead: &[diff::Ahead]| numbers(ahead.iter().map(|event| event.event_id).collect());
    let records = |found: &std::collections::BTreeMap<String, Value>| {
        let records = found.iter().map(|(key, it)| (key, exceptions::without_hashes(it)));
        Value::from(Object::from_iter(records.map(|(key, it)| (key.as_str(), it))))
    };
    let conflicts = |found: &[diff::Conflict]| {
        let sides = found.iter().map(|it| {
            let (a, b) = (exceptions::without_hashes(&it.a), exceptions::without_hashes(&it.b));
            object([("key", it.key.as_str().into()), ("a", a), ("b", b)])
        });
        Value::Array(sides.collect())
    };
    let Value::Object(mut report) = reported(found) else { unreachable!("a report is an object") };
    report.insert("ahead_a", ids(&found.ahead_a));
    report.insert("ahead_b", ids(&found.ahead_b));
    report.insert("conflicting_decisions", conflicts(&found.conflicting_decisions));
    report.insert("conflicting_facts", conflicts(&found.conflicting_facts));
    report.insert("decisions_only_in_a", records(&found.decisions_only_in_a));
    report.insert("decisions_only_in_b", records(&found.decisions_only_in_b));
    Ok(report.into())
}

/// Section 16, "Verify", by hand: sequences, parents, hashes and the head.
fn is_intact(txn: &dyn ReadTxn, branch: &Branch) -> Result<bool, Refusal> {
    let (mut before, mut hash) = (None, Hash::ZERO);
    let mut ids = branch::lineage(txn, branch.head, 0)?;
    ids.reverse();
    for (place, id) in (1..).zip(ids) {
        let event = txn.known_event(id)?;
        let body = event.content.as_ref().map(|content| content.digest());
        let fits = event.sequence == place && event.parent == before;
        if !fits || body != Some(event.body) || event.hash != event.expected_hash(&hash) {
            return Ok(false);
        }
        (before, hash) = (Some(id), event.hash);
    }
    Ok(before == branch.head)
}

fn event_members(event: &Event) -> Object {
    [
        ("event_id", event.id.0.into()),
        ("sequence", event.sequence.into()),
        ("timestamp", event.timestamp.to_string().into()),
        ("agent_id", event.agent.as_str().into()),
        ("event_type", Value::from(event.kind.as_str())),
    ]
    .into_iter()
    .collect()
}

fn event_report(txn: &dyn ReadTxn, event: &Event) -> Result<Value, Refusal> {
    let mut report = event_members(event);
    report.insert("branch_id", event.branch.as_str());
    report.insert("parent_event_id", id(event.parent));
    report.insert("payload", branch::reported_payload(txn, event)?);
    let metadata = event.content.as_ref().map(|content| json(&content.metadata));
    report.insert("metadata", metadata);
    Ok(report.into())
}

/// An event that was just appended, as the cases show it.
fn created(txn: &dyn ReadTxn, appended: &Appended) -> Result<Object, Refusal> {
    let event = txn.known_event(appended.event_id)?;
    Ok(Object::from_iter([
        ("id", event.id.0.into()),
        ("seq", event.sequence.into()),
        ("parent", id(event.parent)),
        ("payload", Value::from(branch::reported_payload(txn, &event)?)),
    ]))
}

fn branch_record(txn: &dyn ReadTxn, branch: &Branch) -> Result<Value, Refusal> {
    let parent = branch.parent.map(|parent| txn.lineage(parent)).transpose()?;
    let snapshot = branch.head.map_or(Ok(None), |head| txn.link(head).map(|link| link.snapshot))?;
    Ok(object([
        ("branch_id", branch.name.as_str().into()),
        ("parent_branch_id", parent.map(|parent| parent.name.to_string()).into()),
        ("fork_event_id", id(branch.fork_point.map(|point| point.event))),
        ("fork_sequence", branch.fork_sequence().into()),
        ("head_event_id", id(branch.head)),
        ("head_sequence", branch.head_sequence.into()),
        ("snapshot_event_id", id(snapshot)),
        ("created_at", branch.created_at.to_string().into()),
        ("created_by", branch.created_by.as_str().into()),
    ]))
}

/// A state as the peer prints it.
fn sections(state: &Value) -> Value {
    let sections = state.as_object().into_iter().flat_map(Object::iter);
    let shown = sections.map(|(name, section)| {
        let section = match section {
            Value::Object(records) => {
                let records = records.iter();
                let shown = records.map(|(key, it)| (key, exceptions::without_hashes(it)));
                Value::from(Object::from_iter(shown))
            }
            Value::Array(records) => {
                Value::Array(records.iter().map(exceptions::without_hashes).collect())
            }
            other => other.clone(),
        };
        (name, section)
    });
    Object::from_iter(shown).into()
}

fn content(of: &Operation, what: &'static str) -> Result<Object, Refusal> {
    match of.get(what) {
        None => Ok(Object::new()),
        Some(given) => {
            let read = event::read_object(what, given.canonical().as_bytes());
            Ok(read.map_err(LogError::Content)?)
        }
    }
}

pub(super) fn branch_name(of: &Operation, member: &str) -> Result<BranchName, Refusal> {
    Ok(of.text(member).parse().map_err(BranchError::Name)?)
}

pub(super) fn agent(of: &Operation) -> Result<AgentId, Refusal> {
    Ok(of.text("agent").parse().map_err(LogError::Name)?)
}

fn numbered(id: i64) -> Revision {
    id.to_string().parse().expect("a number is a revision")
}

pub(super) fn id(id: Option<EventId>) -> Value {
    id.map(|id| id.0).into()
}

fn numbers(ids: Vec<EventId>) -> Value {
    Value::Array(ids.into_iter().map(|id| id.0.into()).collect())
}

pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Object::from_iter(members).into()
}

pub(super) fn json(text: &str) -> Value {
    Value::parse(text.as_bytes()).expect("it is JSON")
}

/// A compaction as the cases show it: without names.
fn outcome(collected: &compaction::Collected) -> Value {
    let Value::Object(mut report) = reported(collected) else {
        unreachable!("a report is an object")
    };
    report.remove("summarizer");
    report.remove("tokenizer");
    report.into()
}

pub(super) fn reported(report: &impl Serialize) -> Value {
    json(&serde_json::to_string(report).expect("a report has string keys only"))
}
