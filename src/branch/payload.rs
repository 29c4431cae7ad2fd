//! Payloads of forks and rollbacks as reports show them.

use super::{REVERTED_LISTED, Reverted, live};
use crate::canon::{Object, Value};
use crate::event::{Event, EventType};
use crate::id::EventId;
use crate::lineage::Link;
use crate::store::{ReadTxn, StoreError};

/// The payload of `event` as reports and blocks show it: that of a fork or a rollback names events
/// by their local ids, as docs/spec/kernel.md does; none if it was erased.
///
/// # Errors
/// Those of the store.
pub fn reported_payload(txn: &dyn ReadTxn, event: &Event) -> Result<Option<Object>, StoreError> {
    let Some(payload) = event.members() else { return Ok(None) };
    let target = match event.kind {
        EventType::RolledBack => txn.link(event.id)?.live_parent,
        _ => None,
    };
    reported(txn, (event.kind, event.parent), payload, target).map(Some)
}

/// The same, of an event of this type after this parent, whose payload has been read; `target` is
/// that of a rollback.
pub(crate) fn reported(
    txn: &dyn ReadTxn,
    (kind, parent): (EventType, Option<EventId>),
    payload: Object,
    target: Option<EventId>,
) -> Result<Object, StoreError> {
    Ok(match (kind, parent, target) {
        (EventType::Forked, parent, _) => fork_members(&payload, parent),
        (EventType::RolledBack, Some(before), Some(target)) => {
            let (before, target) = (txn.linked(before)?, txn.linked(target)?);
            let count = before.1.depth.saturating_sub(target.1.depth);
            rollback_members(&payload, target.0, count, &reverted(txn, before, target)?)
        }
        _ => payload,
    })
}

pub(super) fn fork_members(payload: &Object, point: Option<EventId>) -> Object {
    let mut shown = payload.clone();
    shown.remove("fork_point_hash");
    shown.insert("fork_point_event_id", point.map(|id| id.0));
    shown
}

pub(super) fn rollback_members(
    payload: &Object,
    target: EventId,
    count: u64,
    reverted: &Reverted,
) -> Object {
    let mut shown = payload.clone();
    shown.remove("target_hash");
    shown.remove("reverted_count");
    // A rollback that was imported lists them as another program numbered them.
    shown.remove("reverted_event_ids");
    shown.insert("target_event_id", target.0);
    match reverted {
        Reverted::All { reverted_event_ids } => {
            let ids = reverted_event_ids.iter().map(|id| Value::from(id.0)).collect();
            shown.insert("reverted_event_ids", Value::Array(ids));
        }
        Reverted::Ends { first_reverted_event_id, last_reverted_event_id } => {
            shown.insert("reverted_count", count);
            shown.insert("first_reverted_event_id", first_reverted_event_id.0);
            shown.insert("last_reverted_event_id", last_reverted_event_id.0);
        }
    }
    shown
}

/// The live events after `target` up to `head`.
pub(super) fn reverted(
    txn: &dyn ReadTxn,
    head: (EventId, Link),
    target: (EventId, Link),
) -> Result<Reverted, StoreError> {
    let count = head.1.depth.saturating_sub(target.1.depth);
    if count > REVERTED_LISTED {
        let first = crate::revision::live_at(txn, head, target.1.depth + 1)?.0;
        return Ok(Reverted::Ends {
            first_reverted_event_id: first,
            last_reverted_event_id: head.0,
        });
    }
    let mut ids = live(txn, Some(head.0), target.1.depth)?;
    ids.reverse();
    Ok(Reverted::All { reverted_event_ids: ids })
}
