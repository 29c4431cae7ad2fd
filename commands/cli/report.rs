//! Events and places as reports show them.

use mk::branch;
use mk::canon::{Object, Value};
use mk::event::{Event, EventType};
use mk::id::{AgentId, BranchName, EventId, Hash};
use mk::revision::{self, Revision};
use mk::store::{ReadTxn, StoreError};
use mk::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Actor, Failure};

/// An event as `--json` shows it: with the local ids of what it names, without its salt.
#[derive(Debug, Serialize)]
pub struct EventReport {
    pub event_id: EventId,
    pub hash: Hash,
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub branch_id: BranchName,
    pub agent_id: AgentId,
    pub parent_event_id: Option<EventId>,
    pub event_type: EventType,
    /// Null once erased.
    pub payload: Box<RawValue>,
    pub metadata: Box<RawValue>,
    /// The local ids of the events that `payload` names by hash or sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Box<RawValue>>,
}

impl EventReport {
    pub fn new(txn: &dyn ReadTxn, event: &Event) -> Result<Self, StoreError> {
        let stored = |text: Option<&String>| {
            let text = text.map_or("null", String::as_str).to_owned();
            RawValue::from_string(text).map_err(|_| {
                StoreError::damaged(format!("the content of event {} is no JSON", event.id))
            })
        };
        let content = event.content.as_ref();
        Ok(Self {
            event_id: event.id,
            hash: event.hash,
            sequence: event.sequence,
            timestamp: event.timestamp,
            branch_id: txn.lineage(event.lineage)?.name,
            agent_id: event.agent.clone(),
            parent_event_id: event.parent,
            event_type: event.kind,
            payload: stored(content.map(|content| &content.payload))?,
            metadata: stored(content.map(|content| &content.metadata))?,
            resolved: resolved(txn, event)?.map(|members| raw(members.canonical())),
        })
    }
}

fn resolved(txn: &dyn ReadTxn, event: &Event) -> Result<Option<Object>, StoreError> {
    if !matches!(event.kind, EventType::Forked | EventType::RolledBack) {
        return Ok(None);
    }
    let (Some(stored), Some(shown)) = (event.members(), branch::reported_payload(txn, event)?)
    else {
        return Ok(None);
    };
    // An imported payload names events as another program numbered them.
    let is_local = |name: &str| name.contains("event_id");
    let added = shown.iter().filter(|(name, _)| is_local(name) || !stored.contains_key(name));
    Ok(Some(added.map(|(name, value)| (name.to_owned(), value.clone())).collect()))
}

/// Canonical JSON as a value that serde prints as it is.
pub fn raw(canonical: String) -> Box<RawValue> {
    RawValue::from_string(canonical).expect("canonical JSON is JSON")
}

/// The branch, and the head to read it at, that `revision` names: a branch, or an event on its own
/// branch; the current branch if it is none.
pub fn head_of(
    txn: &dyn ReadTxn,
    revision: Option<&Revision>,
    actor: &Actor,
) -> Result<(BranchName, Option<EventId>), Failure> {
    let branch = match revision {
        None => Some(revision::branch(txn, actor.branch.as_str())?),
        Some(revision) => revision.branch(txn, &actor.branch)?,
    };
    if let Some(branch) = branch {
        return Ok((branch.name, branch.head));
    }
    let revision = revision.expect("without a revision there is the current branch");
    let event = txn.known_event(revision.resolve(txn, &actor.branch)?)?;
    Ok((txn.lineage(event.lineage)?.name, Some(event.id)))
}

/// Tells on stderr how many events up to `head` are erased, if any are.
pub fn note_erased(txn: &dyn ReadTxn, head: Option<EventId>) -> Result<(), StoreError> {
    match mk::erase::left_out(txn, head)? {
        0 => {}
        1 => eprintln!("note: one event is erased and left out"),
        count => eprintln!("note: {count} events are erased and left out"),
    }
    Ok(())
}

/// `text` on one line and without control characters, for a terminal.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push(' '),
            c if mk::text::is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// `text` for a terminal: line breaks stay, other control characters are shown and not obeyed.
pub fn lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(|text| mk::text::visible(text.strip_suffix('\r').unwrap_or(text)))
}

/// A short account of what an event says, on one line.
pub fn subject(event: &Event, payload: Option<&Object>) -> String {
    use mk::event::Payload;
    let Some(members) = payload else { return "[erased]".to_owned() };
    let text = match Payload::read(event.kind, members) {
        Payload::Task { directive, .. } => directive,
        Payload::Decision { key, value, .. } => format!("{key} = {value}"),
        Payload::ToolLog { command, exit_code, facts, .. } if !command.is_empty() => {
            let facts = if facts.is_empty() { "" } else { ", with facts" };
            format!("$ {command} (exit {exit_code}{facts})")
        }
        Payload::ToolLog { facts, .. } => facts
            .iter()
            .map(|(key, value)| format!("{key}={}", value.text()))
            .collect::<Vec<_>>()
            .join(" "),
        Payload::Note { note } => note,
        Payload::ClaimAcquired { resource, token } => format!("{resource} token {}", shown(token)),
        Payload::ClaimReleased { resource, token } => format!("{resource} token {}", shown(token)),
        Payload::Snapshot { .. } => {
            format!("covers up to sequence {}", number(members, "covers_through_sequence"))
        }
        Payload::Forked { reason } => {
            let source =
                members.get("source_branch").map_or(String::new(), |name| name.text().into());
            let point = number(members, "fork_point_sequence");
            with_reason(format!("from {source} at sequence {point}"), &reason)
        }
        Payload::RolledBack { target_sequence, reason } => {
            with_reason(format!("to sequence {target_sequence}"), &reason)
        }
        Payload::Retracted { what, key } => format!("{} {key}", what.as_str()),
        Payload::ExecRecord => {
            members.get("line").map_or("[damaged line]".to_owned(), |line| line.text().into())
        }
        Payload::Merged => {
            let said =
                |name: &str| members.get(name).map_or(String::new(), |value| value.text().into());
            let sequence = number(members, "source_sequence");
            let text = format!("{} at sequence {sequence}", said("source_branch"));
            with_reason(text, &said("reason"))
        }
        Payload::Erased | Payload::Imported | Payload::ImportFinished => members.canonical(),
    };
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let cut: String = first.trim().chars().take(120).collect();
    let dots = if cut.len() < text.trim().len() { "…" } else { "" };
    format!("{}{dots}", line(&cut))
}

fn with_reason(text: String, reason: &str) -> String {
    if reason.is_empty() { text } else { format!("{text}: {reason}") }
}

fn shown(token: Option<mk::canon::Int>) -> String {
    token.map_or("none".to_owned(), |token| token.to_string())
}

fn number(members: &Object, name: &str) -> String {
    members.get(name).map_or(String::new(), Value::canonical)
}
