//! Merge: what one branch decided, found out and is at, taken over into another.
//!
//! Three records are compared for each key, that of the merge base and those of both sides. No text is
//! merged, and nothing is guessed.
//!
//! Rule: docs/design.md, section 3; docs/merge.md.

mod base;
mod error;
mod plan;
mod report;

use std::collections::BTreeMap;

use crate::branch::Act;
use crate::canon::{Object, Value};
use crate::erase::ORIGIN;
use crate::event::{Event, EventType, Retractable};
use crate::id::{AgentId, BranchName, EventId, Hash, shown};
use crate::log::{Draft, Log, LogError, Outside};
use crate::store::{ReadTxn, StoreError};
use crate::workspace;
use crate::workspace::fold::State;

pub use base::{bases, has};
pub use error::MergeError;
pub use plan::{Entry, Outcome, Record, plan, record};
pub use report::{Applied, Conflict, LISTED, Merged, Side};

/// How a conflict is settled.
#[derive(Debug, Clone, PartialEq)]
pub enum Settle {
    Ours,
    Theirs,
    /// By a value of the merging agent's own: of a fact `value`, of a decision or task `text`.
    Set {
        text: String,
        value: Value,
    },
}

impl Settle {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
            Self::Set { .. } => "set",
        }
    }
}

/// Which conflicts are settled, and how.
#[derive(Debug, Clone, Default)]
pub struct Settled {
    /// By `KEY`, or `KIND:KEY` where a key alone would mean more than one.
    pub keys: Vec<(String, Settle)>,
    /// All others.
    pub rest: Option<Settle>,
}

/// What is merged: the timeline that ends at an event, known as a branch.
#[derive(Debug, Clone)]
pub struct Other<'a> {
    pub branch: &'a BranchName,
    pub head: Option<EventId>,
}

/// What a merge of `from` into `into` would find: nothing is written, and conflicts that are not
/// settled are in the report.
///
/// # Errors
/// As [`merge`], but for [`MergeError::Conflicts`].
pub fn preview(
    txn: &dyn ReadTxn,
    into: &BranchName,
    from: &Other<'_>,
    settled: &Settled,
) -> Result<Merged, MergeError> {
    let target = crate::revision::branch(txn, into.as_str()).map_err(LogError::from)?;
    let merge = Merge::read(txn, (into, target.head), from, settled)?;
    let steps = merge.steps();
    let mut merged = merge.report(from);
    merged.applied_count = steps.len() as u64;
    merged.applied = steps.iter().take(LISTED).map(|step| step.report(None)).collect();
    Ok(merged)
}

/// Takes over what the timeline `from` says and `into` does not, unless both say something: then it
/// must be settled. Each record is an event that keeps its author and names its origin; the last event
/// says which heads were merged.
///
/// # Errors
/// [`MergeError::Conflicts`]; what is settled wrongly.
pub fn merge(
    log: &mut Log<'_>,
    into: &BranchName,
    from: &Other<'_>,
    settled: &Settled,
    act: &Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<Merged, MergeError> {
    let target = log.branch(into)?;
    let merge = Merge::read(log.txn(), (into, target.head), from, settled)?;
    let mut merged = merge.report(from);
    if !merged.conflicts.is_empty() {
        let (source_branch, conflicts) = (from.branch.clone(), merged.conflicts);
        return Err(MergeError::Conflicts { source_branch, conflicts });
    }
    let Some(source) = merge.source.as_ref().filter(|_| !merged.up_to_date) else {
        return Ok(merged);
    };
    let heads = heads(log.txn(), from, source, target.head)?;
    let steps = merge.steps();
    merged.applied_count = steps.len() as u64;
    for group in grouped(&steps) {
        let draft = draft(group, act)?;
        let branch = log.branch(into)?;
        let event = log.write(&branch, draft, None, None, outside)?;
        let room = LISTED - merged.applied.len();
        merged
            .applied
            .extend(group.iter().take(room).map(|step| step.report(Some(event.event_id))));
    }
    let mut payload = heads;
    payload.insert("applied_count", merged.applied_count);
    payload.insert("reason", act.reason);
    payload.insert("settled", merge.settled());
    let (kind, metadata) = (EventType::Merged, act.metadata.clone());
    let draft = Draft { kind, agent: act.agent.clone(), payload, metadata };
    let branch = log.branch(into)?;
    merged.event = Some(log.write(&branch, draft, None, None, outside)?);
    Ok(merged)
}

fn heads(
    txn: &dyn ReadTxn,
    from: &Other<'_>,
    source: &Event,
    target: Option<EventId>,
) -> Result<Object, StoreError> {
    let target = target.map(|id| txn.known_event(id)).transpose()?;
    let members = [
        ("source_branch", Value::from(from.branch.as_str())),
        ("source_hash", source.hash.to_string().into()),
        ("source_sequence", source.sequence.into()),
        ("target_hash", target.as_ref().map(|event| event.hash.to_string()).into()),
        ("target_sequence", target.as_ref().map(|event| event.sequence).into()),
    ];
    Ok(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Both sides, and what is to become of them.
struct Merge<'a> {
    into: &'a BranchName,
    source: Option<Event>,
    bases: Vec<Event>,
    up_to_date: bool,
    theirs: State,
    entries: Vec<(Entry, Option<Settle>)>,
}

impl<'a> Merge<'a> {
    fn read(
        txn: &dyn ReadTxn,
        (into, ours): (&'a BranchName, Option<EventId>),
        from: &Other<'_>,
        settled: &Settled,
    ) -> Result<Self, MergeError> {
        if let Some(name) = [into, from.branch].into_iter().find(|name| name.is_reserved()) {
            return Err(MergeError::Reserved(name.clone()));
        }
        let (bases, up_to_date) = match (ours, from.head) {
            (_, None) => (Vec::new(), true),
            (None, Some(_)) => (Vec::new(), false),
            (Some(ours), Some(theirs)) => (bases(txn, ours, theirs)?, has(txn, ours, theirs)?),
        };
        let state = |head: Option<EventId>| workspace::state(txn, head);
        let states: Vec<State> =
            bases.iter().map(|event| state(Some(event.id))).collect::<Result<_, _>>()?;
        let theirs = state(from.head)?;
        let entries = match up_to_date {
            true => {
                no_slip(txn, (ours, from.head), settled)?;
                Vec::new()
            }
            false => settle(plan(&states, &state(ours)?, &theirs), settled)?,
        };
        let source = from.head.map(|id| txn.known_event(id)).transpose()?;
        Ok(Self { into, source, bases, up_to_date, theirs, entries })
    }

    fn report(&self, from: &Other<'_>) -> Merged {
        let open = self
            .entries
            .iter()
            .filter(|(entry, settle)| entry.outcome == Outcome::Conflict && settle.is_none());
        let conflicts: Vec<Conflict> = open.map(|(entry, _)| Conflict::new(entry)).collect();
        Merged {
            branch_id: self.into.clone(),
            source_branch_id: from.branch.clone(),
            source_head: self.source.as_ref().map(|event| event.hash),
            merge_base_event_id: self.bases.first().map(|event| event.id),
            merge_base_hash: self.bases.first().map(|event| event.hash),
            up_to_date: self.up_to_date,
            applied_count: 0,
            applied: Vec::new(),
            conflict_count: conflicts.len() as u64,
            conflicts,
            event: None,
        }
    }

    /// What is written, in the order in which it came about on the other side.
    fn steps(&self) -> Vec<Step<'_>> {
        let mut steps = Vec::new();
        for (entry, settle) in &self.entries {
            let (record, how) = match (entry.outcome, settle) {
                (Outcome::Take, _) => (entry.theirs.as_ref(), "taken"),
                (Outcome::Conflict, Some(Settle::Theirs)) => (entry.theirs.as_ref(), "theirs"),
                (Outcome::Conflict, Some(Settle::Set { text, value })) => {
                    let what = What::Set(text, value);
                    steps.push(Step { entry, what, how: "set" });
                    continue;
                }
                (Outcome::Conflict, Some(Settle::Ours) | None) | (Outcome::Keep, _) => continue,
            };
            let what = match record {
                Some(record) => What::Record(record),
                None => What::Gone(self.retracted(entry)),
            };
            steps.push(Step { entry, what, how });
        }
        steps.sort_by_key(|step| match step.what {
            What::Record(record) => (0, record.event.sequence, record.event.hash.0),
            What::Gone(_) => (1, 0, Hash::ZERO.0),
            What::Set(..) => (2, 0, Hash::ZERO.0),
        });
        steps
    }

    /// Who took it back on the other side, and by which event, if that is still known there.
    fn retracted(&self, entry: &Entry) -> Option<(&str, Hash)> {
        let kind = entry.kind.as_str();
        let mut newest = self.theirs.deprecated.iter().rev();
        let old = newest.find(|old| old.kind == kind && old.key == entry.key)?;
        (old.replaced_by == Value::Null).then_some((old.agent.as_str(), old.deprecated_by.hash))
    }

    /// The keys of the conflicts, by how they were settled.
    fn settled(&self) -> Object {
        let mut by_how: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for (entry, settle) in &self.entries {
            if let (Outcome::Conflict, Some(settle)) = (entry.outcome, settle) {
                let name = format!("{}:{}", entry.kind.as_str(), entry.key);
                by_how.entry(settle.as_str()).or_default().push(name.into());
            }
        }
        by_how.into_iter().map(|(how, keys)| (how.to_owned(), Value::Array(keys))).collect()
    }
}

/// Refuses names of what was no conflict when `theirs` was merged into `ours`. Those that the merge settled
/// are let pass, so that the same call may be made again.
fn no_slip(
    txn: &dyn ReadTxn,
    (ours, theirs): (Option<EventId>, Option<EventId>),
    settled: &Settled,
) -> Result<(), MergeError> {
    if settled.keys.is_empty() {
        return Ok(());
    }
    let known = match (ours, theirs) {
        (Some(ours), Some(theirs)) => base::settled(txn, ours, theirs)?,
        _ => Vec::new(),
    };
    let is_known = |name: &str| {
        let means =
            |key: &String| key == name || key.split_once(':').is_some_and(|it| it.1 == name);
        known.iter().any(means)
    };
    match settled.keys.iter().find(|(name, _)| !is_known(name)) {
        Some((name, _)) => Err(MergeError::NoConflict(name.clone())),
        None => Ok(()),
    }
}

/// Gives each conflict its settlement, if there is one.
fn settle(
    entries: Vec<Entry>,
    settled: &Settled,
) -> Result<Vec<(Entry, Option<Settle>)>, MergeError> {
    let mut entries: Vec<(Entry, Option<Settle>)> =
        entries.into_iter().map(|entry| (entry, None)).collect();
    for (name, how) in &settled.keys {
        let conflicts = entries.iter().enumerate().filter(|(_, (entry, _))| {
            entry.outcome == Outcome::Conflict
                && (entry.key == *name || format!("{}:{}", entry.kind.as_str(), entry.key) == *name)
        });
        let meant: Vec<usize> = conflicts.map(|(at, _)| at).collect();
        let at = match meant.as_slice() {
            [] => return Err(MergeError::NoConflict(name.clone())),
            [at] => *at,
            several => {
                let kinds = several.iter().map(|at| {
                    let (entry, _) = &entries[*at];
                    format!("a {} ({0}:{})", entry.kind.as_str(), shown(&entry.key))
                });
                return Err(MergeError::Ambiguous { key: name.clone(), kinds: kinds.collect() });
            }
        };
        let (_, settle) = &mut entries[at];
        if settle.is_some() {
            return Err(MergeError::Twice(name.clone()));
        }
        *settle = Some(how.clone());
    }
    for (entry, settle) in &mut entries {
        if entry.outcome == Outcome::Conflict && settle.is_none() {
            settle.clone_from(&settled.rest);
        }
    }
    Ok(entries)
}

/// A record that is written.
#[derive(Clone, Copy)]
struct Step<'a> {
    entry: &'a Entry,
    what: What<'a>,
    how: &'static str,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Record(&'a Record),
    /// Retracted there, by whom and which event; or rolled back there.
    Gone(Option<(&'a str, Hash)>),
    Set(&'a str, &'a Value),
}

impl Step<'_> {
    fn report(&self, event: Option<EventId>) -> Applied {
        let value = match self.what {
            What::Record(record) => Some(record.value.text().into_owned()),
            What::Set(text, _) => Some(text.to_owned()),
            What::Gone(_) => None,
        };
        Applied {
            kind: self.entry.kind.as_str().to_owned(),
            key: self.entry.key.clone(),
            value,
            how: self.how.to_owned(),
            origin: self.origin(),
            event_id: event,
        }
    }

    fn origin(&self) -> Option<Hash> {
        match self.what {
            What::Record(record) => Some(record.event.hash),
            What::Gone(by) => by.map(|(_, hash)| hash),
            What::Set(..) => None,
        }
    }

    /// Whether it goes into one event with the step before: facts that were found out together.
    fn joins(&self, before: &Self) -> bool {
        let is_fact = |step: &Self| {
            step.entry.kind == Retractable::Fact && matches!(step.what, What::Record(_))
        };
        is_fact(self) && is_fact(before) && self.origin() == before.origin()
    }
}

fn grouped<'s, 'a>(steps: &'s [Step<'a>]) -> impl Iterator<Item = &'s [Step<'a>]> {
    steps.chunk_by(|before, step| step.joins(before))
}

/// The event that carries out `group`, which is not empty.
fn draft(group: &[Step<'_>], act: &Act<'_>) -> Result<Draft, MergeError> {
    let step = group.first().expect("a group has a step");
    let mut metadata = act.metadata.clone();
    if let Some(hash) = step.origin() {
        let origin: Object = [("hash", Value::from(hash.to_string()))].into_iter().collect();
        metadata.insert(ORIGIN, origin);
    }
    metadata.insert("merged_by", act.agent.as_str());
    let Entry { kind, key, .. } = step.entry;
    let (agent, kind, payload) = match step.what {
        What::Record(record) => {
            let payload = match kind {
                Retractable::Fact => facts(group),
                kind => text_payload(*kind, key, &record.value, &record.more),
            };
            (Some(record.agent.as_str()), event_type(*kind), payload)
        }
        What::Set(text, _) => {
            let payload = match kind {
                Retractable::Fact => facts(group),
                kind => text_payload(*kind, key, &text.into(), &act.reason.into()),
            };
            // A task is known by its author.
            let author = (*kind == Retractable::Task).then_some(key.as_str());
            (author, event_type(*kind), payload)
        }
        What::Gone(by) => {
            let members = [
                ("kind", Value::from(kind.as_str())),
                ("key", key.as_str().into()),
                ("reason", act.reason.into()),
            ];
            let mut payload: Object = members.into_iter().collect();
            if let Some(ours) = &step.entry.ours {
                payload.insert("retracted_hash", ours.event.hash.to_string());
                payload.insert("retracted_sequence", ours.event.sequence);
            }
            (by.map(|(agent, _)| agent), EventType::Retracted, payload)
        }
    };
    let agent = match agent {
        Some(agent) => agent.parse::<AgentId>().map_err(LogError::from)?,
        None => act.agent.clone(),
    };
    Ok(Draft { kind, agent, payload, metadata })
}

fn event_type(kind: Retractable) -> EventType {
    match kind {
        Retractable::Task => EventType::Task,
        Retractable::Decision => EventType::Decision,
        Retractable::Fact => EventType::ToolLog,
    }
}

/// The payload of a decision, or of a task.
fn text_payload(kind: Retractable, key: &str, value: &Value, more: &Value) -> Object {
    let members = match (kind, more) {
        (Retractable::Task, Value::Array(_)) => {
            vec![("directive", value.clone()), ("constraints", more.clone())]
        }
        (Retractable::Task, _) => {
            vec![("directive", value.clone()), ("constraints", Value::Array(Vec::new()))]
        }
        _ => vec![
            ("decision_key", key.into()),
            ("decision_value", value.clone()),
            ("rationale", more.clone()),
        ],
    };
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn facts(group: &[Step<'_>]) -> Object {
    let mut facts = Object::new();
    for step in group {
        match step.what {
            What::Record(record) => facts.insert(step.entry.key.as_str(), record.value.clone()),
            What::Set(_, value) => facts.insert(step.entry.key.as_str(), value.clone()),
            What::Gone(_) => None,
        };
    }
    [("facts", facts)].into_iter().collect()
}
