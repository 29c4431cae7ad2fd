//! Who decided or found out something, when, and what it took the place of.

use serde::Serialize;

use super::fold::{Deprecated, State};
use super::state;
use crate::canon::Value;
use crate::event::{Event, Payload};
use crate::id::{AgentId, BranchName, EventId, Hash};
use crate::store::{ReadTxn, StoreError};
use crate::time::Timestamp;

/// What a key names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Decision,
    Fact,
}

impl Kind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Fact => "fact",
        }
    }

    /// The event that a record of this kind is from.
    fn source(self, state: &State, key: &str) -> Option<EventId> {
        match self {
            Self::Decision => state.decisions.get(key).map(|it| it.event.id),
            Self::Fact => state.facts.get(key).map(|it| it.event.id),
        }
    }
}

/// What a key stood for, the newest first.
#[derive(Debug, Serialize)]
pub struct Blame {
    pub branch_id: BranchName,
    pub kind: Kind,
    pub key: String,
    pub values: Vec<ValueReport>,
    /// What continues the account; none if it reaches back to the first.
    pub next: Option<Next>,
}

/// Arguments of the account that goes on from here.
#[derive(Debug, Serialize)]
pub struct Next {
    pub at: EventId,
}

/// What an event did to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Act {
    Set,
    Retracted,
    /// It set or retracted the key, and what it said was erased since.
    Erased,
}

/// What a key came to stand for.
#[derive(Debug, Serialize)]
pub struct ValueReport {
    pub event_id: EventId,
    pub hash: Hash,
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub agent_id: AgentId,
    /// The branch that has the event.
    pub branch_id: BranchName,
    pub act: Act,
    /// Null unless it was set; text for a decision.
    pub value: Value,
    /// Why; of a decision, or of a retraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// What `key` stood for on the live timeline that ends at `head`, up to `most` values; none if it
/// never stood for anything there, as far as the state knows. `kind` chooses between a decision and a
/// fact of one name; unless it does, the decision counts.
///
/// Costs a state read for each value.
///
/// # Errors
/// Those of the store.
pub fn blame(
    txn: &dyn ReadTxn,
    (branch_id, head): (BranchName, Option<EventId>),
    kind: Option<Kind>,
    key: &str,
    most: usize,
) -> Result<Option<Blame>, StoreError> {
    let now = state(txn, head)?;
    let kinds = kind.map_or(vec![Kind::Decision, Kind::Fact], |kind| vec![kind]);
    let held = kinds.iter().find_map(|kind| Some((*kind, kind.source(&now, key)?)));
    let Some((kind, newest)) =
        held.or_else(|| kinds.iter().find_map(|kind| retracted(&now, *kind, key)))
    else {
        return Ok(None);
    };
    let mut values = Vec::new();
    let mut at = Some(newest);
    while let Some(id) = at.filter(|_| values.len() < most) {
        let event = txn.known_event(id)?;
        values.push(report(txn, &event, key)?);
        at = before(txn, id, kind, key)?;
    }
    Ok(Some(Blame { branch_id, kind, key: key.to_owned(), values, next: at.map(|at| Next { at }) }))
}

/// The event by which a key came to its value before event `id`, or lost it.
fn before(
    txn: &dyn ReadTxn,
    id: EventId,
    kind: Kind,
    key: &str,
) -> Result<Option<EventId>, StoreError> {
    let state = state(txn, txn.link(id)?.live_parent)?;
    let lost = || retracted(&state, kind, key).map(|(_, id)| id);
    Ok(kind.source(&state, key).or_else(lost))
}

/// The event that retracted a key which stands for nothing, among the newest deprecated assumptions.
fn retracted(state: &State, kind: Kind, key: &str) -> Option<(Kind, EventId)> {
    let is_it = |it: &&Deprecated| it.kind == kind.as_str() && it.key == key;
    let found = state.deprecated.iter().rev().find(is_it)?;
    (found.replaced_by == Value::Null).then_some((kind, found.deprecated_by.id))
}

fn report(txn: &dyn ReadTxn, event: &Event, key: &str) -> Result<ValueReport, StoreError> {
    let (act, value, rationale) = match event.payload() {
        Some(Payload::Decision { value, rationale, .. }) => {
            (Act::Set, value.into(), Some(rationale))
        }
        Some(Payload::ToolLog { facts, .. }) => {
            (Act::Set, facts.get(key).cloned().unwrap_or_default(), None)
        }
        Some(_) => (Act::Retracted, Value::Null, reason(event)),
        None => (Act::Erased, Value::Null, None),
    };
    Ok(ValueReport {
        event_id: event.id,
        hash: event.hash,
        sequence: event.sequence,
        timestamp: event.timestamp,
        agent_id: event.agent.clone(),
        branch_id: txn.lineage(event.lineage)?.name,
        act,
        value,
        rationale,
    })
}

/// Why a key was retracted.
fn reason(event: &Event) -> Option<String> {
    Some(event.members()?.get("reason")?.text().into_owned())
}
