//! Ways along lineages and live timelines, and where two of them part.

use std::collections::HashMap;

use crate::event::{Event, EventType};
use crate::id::{AgentId, EventId, LineageId};
use crate::store::{Branch, ReadTxn, StoreError};

/// The live timeline that ends at `head`, newest first, down to but without depth `above`.
///
/// # Errors
/// Those of the store.
pub fn live(
    txn: &dyn ReadTxn,
    head: Option<EventId>,
    above: u64,
) -> Result<Vec<EventId>, StoreError> {
    let mut ids = Vec::new();
    let mut at = head;
    while let Some(id) = at {
        let link = txn.link(id)?;
        if link.depth <= above {
            break;
        }
        ids.push(id);
        at = link.live_parent;
    }
    Ok(ids)
}

/// The newest event up to and with `event` on its live timeline that is no snapshot, and its agent.
///
/// # Errors
/// Those of the store.
pub fn author(txn: &dyn ReadTxn, event: &Event) -> Result<Option<(EventId, AgentId)>, StoreError> {
    if event.kind != EventType::Snapshot {
        return Ok(Some((event.id, event.agent.clone())));
    }
    let mut at = txn.link(event.id)?.live_parent;
    while let Some(id) = at {
        let event = txn.known_event(id)?;
        if event.kind != EventType::Snapshot {
            return Ok(Some((id, event.agent)));
        }
        at = txn.link(id)?.live_parent;
    }
    Ok(None)
}

/// The branches whose own events make up the lineage that ends at `event`, each with the last of its
/// events in it, from `event` down to the root.
pub(crate) fn stretches(
    txn: &dyn ReadTxn,
    event: &Event,
) -> Result<Vec<(LineageId, EventId)>, StoreError> {
    let mut stretches = vec![(event.lineage, event.id)];
    let mut at = txn.lineage(event.lineage)?;
    while let Some(point) = at.fork_point {
        stretches.push((point.lineage, point.event));
        at = txn.lineage(point.lineage)?;
    }
    Ok(stretches)
}

/// Whether `event` is in the lineage of `branch`, live or not. O(depth of the branch tree).
///
/// # Errors
/// Those of the store.
pub fn contains(txn: &dyn ReadTxn, branch: &Branch, event: &Event) -> Result<bool, StoreError> {
    let Some(head) = branch.head else { return Ok(false) };
    let stretches = stretches(txn, &txn.known_event(head)?)?;
    Ok(stretches.iter().any(|(lineage, last)| *lineage == event.lineage && event.id <= *last))
}

/// The last event of the longest common prefix of the lineages that end at `a` and `b`; none if they
/// share no event. Taken on lineages, so that a rollback does not move it. O(depth of the branch
/// tree).
///
/// # Errors
/// Those of the store.
pub fn merge_base(
    txn: &dyn ReadTxn,
    a: Option<EventId>,
    b: Option<EventId>,
) -> Result<Option<Event>, StoreError> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    let of_b: HashMap<LineageId, EventId> =
        stretches(txn, &txn.known_event(b)?)?.into_iter().collect();
    for (lineage, last) in stretches(txn, &txn.known_event(a)?)? {
        if let Some(other) = of_b.get(&lineage) {
            return txn.event(last.min(*other));
        }
    }
    Ok(None)
}

/// The events of the lineage that ends at `head`, newest first, reverted ones included, down to but
/// without sequence `above`.
///
/// # Errors
/// Those of the store.
pub fn lineage(
    txn: &dyn ReadTxn,
    head: Option<EventId>,
    above: u64,
) -> Result<Vec<EventId>, StoreError> {
    let mut ids = Vec::new();
    let mut at = head;
    while let Some(id) = at {
        let event = txn.known_event(id)?;
        if event.sequence <= above {
            break;
        }
        ids.push(id);
        at = event.parent;
    }
    Ok(ids)
}
