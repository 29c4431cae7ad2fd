//! How two branches differ.
//!
//! Rule: docs/spec/kernel.md, section 7, and section 21, item 13.

use std::collections::BTreeMap;

use super::fold::State;
use super::state;
use crate::branch;
use crate::canon::{Object, Value};
use crate::event::EventType;
use crate::id::{AgentId, EventId, Hash};
use crate::lineage;
use crate::store::{ReadTxn, StoreError};

/// What two sides have in common and apart.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Diff {
    /// The sides, as they were asked for.
    pub branch_a: String,
    pub branch_b: String,
    pub merge_base_event_id: Option<EventId>,
    pub merge_base_sequence: u64,
    pub merge_base_hash: Option<Hash>,
    /// Live events above the merge base, oldest first.
    pub ahead_a: Vec<Ahead>,
    pub ahead_b: Vec<Ahead>,
    pub rollbacks_since_base: Rollbacks,
    /// Both sides have the key, with different values.
    pub conflicting_decisions: Vec<Conflict>,
    pub decisions_only_in_a: BTreeMap<String, Value>,
    pub decisions_only_in_b: BTreeMap<String, Value>,
    pub conflicting_facts: Vec<Conflict>,
    pub facts_only_in_a: BTreeMap<String, Value>,
    pub facts_only_in_b: BTreeMap<String, Value>,
    /// All sections of the state are equal, insights apart.
    pub identical_state: bool,
}

#[derive(Debug, Clone, serde::Serialize)]
pub struct Ahead {
    pub event_id: EventId,
    pub sequence: u64,
    pub agent_id: AgentId,
    pub event_type: EventType,
}

/// Rollback records of each side above the merge base, reverted ones included, oldest first.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Rollbacks {
    pub a: Vec<Rollback>,
    pub b: Vec<Rollback>,
}

#[derive(Debug, Clone, serde::Serialize)]
pub struct Rollback {
    pub event_id: EventId,
    pub target_event_id: Option<EventId>,
}

#[derive(Debug, Clone, serde::Serialize)]
pub struct Conflict {
    pub key: String,
    pub a: Value,
    pub b: Value,
}

impl Diff {
    /// Whether nothing was found: no event ahead on either side, and equal states.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ahead_a.is_empty() && self.ahead_b.is_empty() && self.identical_state
    }
}

/// Compares the timelines that end at `a` and `b`. O(events above the merge base) and two states.
///
/// # Errors
/// Those of the store.
pub fn diff(
    txn: &dyn ReadTxn,
    a: (&str, Option<EventId>),
    b: (&str, Option<EventId>),
) -> Result<Diff, StoreError> {
    let base = branch::merge_base(txn, a.1, b.1)?;
    let sequence = base.as_ref().map_or(0, |event| event.sequence);
    let (state_a, state_b) = (state(txn, a.1)?, state(txn, b.1)?);
    let (left, right) = (state_a.report(), state_b.report());
    let decisions = compare(&left, &right, "decisions", |a, b| a.get("value") == b.get("value"));
    let facts = compare(&left, &right, "active_workspace_facts", |a, b| {
        a.get("value").zip(b.get("value")).is_some_and(|(a, b)| a.same(b))
    });
    Ok(Diff {
        branch_a: a.0.to_owned(),
        branch_b: b.0.to_owned(),
        merge_base_event_id: base.as_ref().map(|event| event.id),
        merge_base_sequence: sequence,
        merge_base_hash: base.as_ref().map(|event| event.hash),
        ahead_a: ahead(txn, a.1, sequence)?,
        ahead_b: ahead(txn, b.1, sequence)?,
        rollbacks_since_base: Rollbacks {
            a: rollbacks(txn, a.1, sequence)?,
            b: rollbacks(txn, b.1, sequence)?,
        },
        conflicting_decisions: decisions.conflicts,
        decisions_only_in_a: decisions.only_in_a,
        decisions_only_in_b: decisions.only_in_b,
        conflicting_facts: facts.conflicts,
        facts_only_in_a: facts.only_in_a,
        facts_only_in_b: facts.only_in_b,
        identical_state: State { insights: Vec::new(), ..state_a }
            == State { insights: Vec::new(), ..state_b },
    })
}

fn ahead(txn: &dyn ReadTxn, head: Option<EventId>, above: u64) -> Result<Vec<Ahead>, StoreError> {
    let Some(head) = head else { return Ok(Vec::new()) };
    let floor = lineage::first_reached(
        txn.linked(head)?,
        |id| txn.link(id),
        |(id, _)| Ok::<_, StoreError>(txn.known_event(*id)?.sequence <= above),
    )?;
    let depth = floor.map_or(0, |(_, link)| link.depth);
    let ids = branch::live(txn, Some(head), depth)?;
    let ahead = |id: EventId| {
        let event = txn.known_event(id)?;
        Ok(Ahead {
            event_id: id,
            sequence: event.sequence,
            agent_id: event.agent,
            event_type: event.kind,
        })
    };
    ids.into_iter().rev().map(ahead).collect()
}

fn rollbacks(
    txn: &dyn ReadTxn,
    head: Option<EventId>,
    above: u64,
) -> Result<Vec<Rollback>, StoreError> {
    let mut found = Vec::new();
    for id in branch::lineage(txn, head, above)?.into_iter().rev() {
        if txn.known_event(id)?.kind == EventType::RolledBack {
            found.push(Rollback { event_id: id, target_event_id: txn.link(id)?.live_parent });
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Compared {
    conflicts: Vec<Conflict>,
    only_in_a: BTreeMap<String, Value>,
    only_in_b: BTreeMap<String, Value>,
}

fn compare(
    a: &Value,
    b: &Value,
    section: &str,
    agree: impl Fn(&Value, &Value) -> bool,
) -> Compared {
    let records =
        |state: &Value| state.get(section).and_then(Value::as_object).cloned().unwrap_or_default();
    let (a, mut b): (Object, Object) = (records(a), records(b));
    let mut compared = Compared::default();
    for (key, of_a) in a {
        match b.remove(&key) {
            None => {
                compared.only_in_a.insert(key, of_a);
            }
            Some(of_b) if agree(&of_a, &of_b) => {}
            Some(of_b) => compared.conflicts.push(Conflict { key, a: of_a, b: of_b }),
        }
    }
    compared.only_in_b = b.into_iter().collect();
    compared
}
