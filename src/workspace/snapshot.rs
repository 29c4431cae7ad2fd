//! Snapshots: a fold that is an event, for agents to read in the place of what it covers.
//!
//! The form is `mk.snapshot/v1`: `schema`, `covers_through_sequence`, `covers_through_hash`,
//! `base_snapshot_hash` (or null), `compacted_event_count`, `compacted_first_hash`, and the eight
//! sections of a state as `mk fold` prints them, without local ids.
//!
//! Rule: docs/spec/kernel.md, section 9, and section 21, item 11.

use super::fold::State;
use super::{render, state};
use crate::branch;
use crate::canon::{Object, Value};
use crate::event::Event;
use crate::id::{EventId, Hash};
use crate::lineage::{self, Linked};
use crate::store::{Branch, ReadTxn, StoreError};
use crate::tokens::Tokenizer;

/// `schema` of a snapshot.
pub const SCHEMA: &str = "mk.snapshot/v1";

/// `schema` of the snapshots of MemKernel, which an import keeps. They are not read through: the events
/// tell, and of the snapshot its insights.
///
/// Rule: docs/design.md, section 10, "MemKernel import".
pub const PEER_SCHEMA: &str = "memkernel.snapshot/v1";

/// Most insights of a snapshot, and most characters of one.
pub const INSIGHTS_MAX: usize = 12;
pub const INSIGHT_LENGTH_MAX: usize = 300;

/// A section, a member of its records that may be left out, and what it is then.
pub(crate) type Optional = (&'static str, &'static str, fn() -> Value);

const OPTIONAL: &[Optional] = &[
    ("tasks", "constraints", || Value::Array(Vec::new())),
    ("decisions", "supersedes_event_hash", || Value::Null),
    ("decisions", "supersedes_event_sequence", || Value::Null),
    ("execution_blockers", "occurrences", || 1_i64.into()),
    ("execution_digest", "runs", || 0_i64.into()),
    ("execution_digest", "failed_runs", || 0_i64.into()),
];

/// Why a payload is no snapshot of the branch.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("schema is not {SCHEMA}")]
    Schema,
    #[error("'{0}' is missing or of the wrong type")]
    Member(&'static str),
    #[error("covers_through_hash names no live event of the branch with that sequence")]
    Covers,
    #[error("section '{0}' is not the fold of the events it covers")]
    Section(String),
    #[error("insights are at most {INSIGHTS_MAX} texts of at most {INSIGHT_LENGTH_MAX} characters")]
    Insights,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks that `payload` is the fold of what it covers on `branch`, insights apart.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(
    txn: &dyn ReadTxn,
    branch: &Branch,
    payload: &Object,
    tokenizer: Tokenizer,
) -> Result<Cover, SnapshotError> {
    if is_peers(payload) {
        return Err(SnapshotError::Schema);
    }
    let covers = covered(txn, branch.head, payload)?;
    let state = state(txn, Some(covers))?;
    compare(payload, &state)?;
    Ok(Cover::new(txn.linked(covers)?, &with_insights(state, payload), tokenizer))
}

/// Whether `payload` is that of a snapshot of MemKernel.
#[must_use]
pub fn is_peers(payload: &Object) -> bool {
    payload.get("schema").and_then(Value::as_str) == Some(PEER_SCHEMA)
}

/// What a snapshot stands for in the context text, and how long it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cover {
    /// The live event up to which it covers.
    pub event: EventId,
    /// Tokens of the blocks of the live events up to that one.
    tokens: u64,
    /// Tokens of the lines of its own block after the first.
    lines: u64,
}

impl Cover {
    /// Of a snapshot of `state`, that after the live event `covers`, with its insights.
    #[must_use]
    pub fn new((event, link): Linked, state: &State, tokenizer: Tokenizer) -> Self {
        let lines = tokenizer.count(&render::section_lines(state));
        Self { event, tokens: link.tokens, lines }
    }

    /// Of the snapshot `payload`, which covers up to `covers`.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of(
        txn: &dyn ReadTxn,
        covers: EventId,
        payload: &Object,
        tokenizer: Tokenizer,
    ) -> Result<Self, StoreError> {
        let state = with_insights(state(txn, Some(covers))?, payload);
        Ok(Self::new(txn.linked(covers)?, &state, tokenizer))
    }

    /// Tokens of the context text with the snapshot, whose block begins with `header`, after live
    /// events with `live` tokens.
    #[must_use]
    pub fn context(&self, tokenizer: Tokenizer, header: &str, live: u64) -> u64 {
        let first = format!("{header}{}", render::covering(&self.event.to_string()));
        tokenizer.count(&first) + self.lines + live.saturating_sub(self.tokens)
    }
}

/// `state` with the insights of a snapshot of it.
pub(crate) fn with_insights(mut state: State, payload: &Object) -> State {
    let insights = payload.get("insights").and_then(Value::as_array).unwrap_or_default();
    state.insights = insights.iter().map(|insight| insight.text().into()).collect();
    state
}

/// Checks that `payload` says what `state` does, insights apart.
pub(crate) fn compare(payload: &Object, state: &State) -> Result<(), SnapshotError> {
    let fold = state.canonical();
    for (name, expected) in fold.as_object().into_iter().flat_map(Object::iter) {
        let given = payload.get(name);
        if name == "insights" {
            check_insights(given)?;
        } else if !given
            .map_or(is_empty(expected), |given| filled(name, given, OPTIONAL).same(expected))
        {
            return Err(SnapshotError::Section(name.to_owned()));
        }
    }
    Ok(())
}

/// The event up to which a snapshot covers, if its payload names one that is live under `head`.
pub(crate) fn covered(
    txn: &dyn ReadTxn,
    head: Option<EventId>,
    payload: &Object,
) -> Result<EventId, SnapshotError> {
    let is_peers = is_peers(payload);
    if !is_peers && payload.get("schema").and_then(Value::as_str) != Some(SCHEMA) {
        return Err(SnapshotError::Schema);
    }
    let sequence = payload.get("covers_through_sequence").and_then(Value::as_i64);
    let sequence = sequence.ok_or(SnapshotError::Member("covers_through_sequence"))?;
    if is_peers {
        return live_at_sequence(txn, head, sequence)?.ok_or(SnapshotError::Covers);
    }
    let hash = payload.get("covers_through_hash").and_then(Value::as_str);
    let hash: Hash = hash
        .and_then(|hash| hash.parse().ok())
        .ok_or(SnapshotError::Member("covers_through_hash"))?;
    let head = head.ok_or(SnapshotError::Covers)?;
    let found = txn.with_prefix(&hash.to_string(), 1)?;
    let event = found.first().map(|id| txn.known_event(*id)).transpose()?;
    let event = event.filter(|event| i64::try_from(event.sequence) == Ok(sequence));
    let event = event.ok_or(SnapshotError::Covers)?;
    match lineage::is_live(txn.linked(head)?, event.id, |id| txn.link(id))? {
        true => Ok(event.id),
        false => Err(SnapshotError::Covers),
    }
}

/// The event with this sequence on the live timeline that ends at `head`.
fn live_at_sequence(
    txn: &dyn ReadTxn,
    head: Option<EventId>,
    sequence: i64,
) -> Result<Option<EventId>, StoreError> {
    let (Some(head), Ok(sequence)) = (head, u64::try_from(sequence)) else { return Ok(None) };
    let at = |id: EventId| txn.known_event(id).map(|event| event.sequence);
    let reached = lineage::first_reached(
        txn.linked(head)?,
        |id| txn.link(id),
        |(id, _)| Ok::<_, StoreError>(at(*id)? <= sequence),
    )?;
    let Some((found, _)) = reached else { return Ok(None) };
    Ok((at(found)? == sequence).then_some(found))
}

fn check_insights(insights: Option<&Value>) -> Result<(), SnapshotError> {
    let Some(insights) = insights else { return Ok(()) };
    let short = |insight: &Value| {
        insight.as_str().is_some_and(|text| text.chars().count() <= INSIGHT_LENGTH_MAX)
    };
    match insights.as_array() {
        Some(items) if items.len() <= INSIGHTS_MAX && items.iter().all(short) => Ok(()),
        _ => Err(SnapshotError::Insights),
    }
}

fn is_empty(section: &Value) -> bool {
    section.is_falsy()
}

/// The `section` called `name` with the members that may be left out put in.
pub(crate) fn filled(name: &str, section: &Value, optional: &[Optional]) -> Value {
    let mut section = section.clone();
    let Value::Object(records) = &mut section else { return section };
    for (_, record) in records.iter_mut() {
        let Value::Object(record) = record else { continue };
        for (_, member, default) in optional.iter().filter(|(of, ..)| *of == name) {
            if !record.contains_key(member) {
                record.insert(*member, default());
            }
        }
    }
    section
}

/// A snapshot that a reading may start from.
#[derive(Debug, Clone)]
pub struct Newest {
    pub event: Event,
    pub payload: Object,
    /// The live event up to which it covers, and its sequence.
    pub covers: Linked,
    pub covers_sequence: u64,
}

impl Newest {
    /// Oldest first.
    #[must_use]
    pub fn insights(&self) -> Vec<String> {
        with_insights(State::default(), &self.payload).insights
    }
}

/// The last snapshot on the live timeline that ends at `head` and was not erased.
///
/// # Errors
/// Those of the store.
pub fn newest(txn: &dyn ReadTxn, head: EventId) -> Result<Option<Newest>, StoreError> {
    let mut at = head;
    let (event, payload) = loop {
        let Some(snapshot) = txn.link(at)?.snapshot else { return Ok(None) };
        let event = txn.known_event(snapshot)?;
        if let Some(payload) = event.members() {
            break (event, payload);
        }
        match txn.link(snapshot)?.live_parent {
            Some(before) => at = before,
            None => return Ok(None),
        }
    };
    let sequence = payload.get("covers_through_sequence").and_then(Value::as_i64);
    let sequence = sequence.and_then(|sequence| u64::try_from(sequence).ok()).unwrap_or_default();
    let from = txn.linked(event.id)?;
    let reached = lineage::first_reached(
        from,
        |id| txn.link(id),
        |(id, _)| Ok::<_, StoreError>(txn.known_event(*id)?.sequence <= sequence),
    )?;
    let covered = |covers| Newest { event, payload, covers, covers_sequence: sequence };
    Ok(reached.map(covered))
}

/// A snapshot as the start of a reading.
#[derive(Debug, Clone)]
pub struct Base {
    pub event: Event,
    /// The live event up to which it covers.
    pub covers: EventId,
    pub covers_sequence: u64,
    pub state: State,
}

/// The last snapshot on the live timeline that ends at `head` and was not erased, with its state.
///
/// # Errors
/// Those of the store.
pub fn base(txn: &dyn ReadTxn, head: EventId) -> Result<Option<Base>, StoreError> {
    let Some(newest) = newest(txn, head)? else { return Ok(None) };
    let (covers, _) = newest.covers;
    // The sections are the fold of what is covered, which was checked on the way in; the state after
    // the snapshot differs from it in the events of the tail.
    let state = with_insights(state(txn, Some(covers))?, &newest.payload);
    Ok(Some(Base { event: newest.event, covers, covers_sequence: newest.covers_sequence, state }))
}

/// The live events that a reading takes after the snapshot: those that are no snapshots and are not
/// covered, oldest first.
///
/// # Errors
/// Those of the store.
pub fn delta(
    txn: &dyn ReadTxn,
    head: Option<EventId>,
    base: Option<&Base>,
) -> Result<Vec<Event>, StoreError> {
    let depth = base.map_or(Ok(0), |base| txn.link(base.covers).map(|link| link.depth))?;
    let mut events = Vec::new();
    for id in branch::live(txn, head, depth)?.into_iter().rev() {
        let event = txn.known_event(id)?;
        if event.kind != crate::event::EventType::Snapshot {
            events.push(event);
        }
    }
    Ok(events)
}
