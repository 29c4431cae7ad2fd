//! Which snapshots hold what an event said.

use std::collections::BTreeSet;

use crate::event::{Event, EventType};
use crate::id::EventId;
use crate::lineage;
use crate::store::{ReadTxn, StoreError};
use crate::workspace::snapshot;

/// The snapshots whose coverage includes one of `events`, and are not erased, each with that event.
/// O(n), and O(log n) for each pair.
pub(crate) fn snapshots_of(
    txn: &dyn ReadTxn,
    events: &BTreeSet<EventId>,
) -> Result<Vec<(EventId, EventId)>, StoreError> {
    let Some(first) = events.first() else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for id in txn.of_type_after(EventType::Snapshot, *first)? {
        let snapshot = txn.known_event(id)?;
        if let Some(event) = covered(txn, &snapshot, events)? {
            found.push((id, event));
        }
    }
    Ok(found)
}

/// One of `events` that `snapshot` stands for; none if there is none, or it is erased.
pub(crate) fn covered(
    txn: &dyn ReadTxn,
    snapshot: &Event,
    events: &BTreeSet<EventId>,
) -> Result<Option<EventId>, StoreError> {
    let Some(payload) = snapshot.members() else { return Ok(None) };
    let before = txn.link(snapshot.id)?.live_parent;
    // Of another form, it may hold anything of what was before it.
    let covers = match snapshot::covered(txn, before, &payload) {
        Ok(covers) => Some(covers),
        Err(snapshot::SnapshotError::Store(error)) => return Err(error),
        Err(_) => before,
    };
    let Some(covers) = covers else { return Ok(None) };
    let head = txn.linked(covers)?;
    for event in events {
        if lineage::is_live(head, *event, |id| txn.link(id))? {
            return Ok(Some(*event));
        }
    }
    Ok(None)
}
