//! Content taken out of the rows, and everything that was computed from it made anew.

use std::collections::BTreeSet;

use crate::canon::Value;
use crate::event::EventType;
use crate::id::{EventId, Hash};
use crate::lineage::{self, Link};
use crate::store::{ReadTxn, StoreError, WriteTxn};
use crate::workspace::{self, render, snapshot, stored};

/// Takes the content of `events` away, and what op ids, checkpoints and the lineage index hold of it.
/// Answers how many op ids were forgotten.
///
/// O(n) in the events after the first of them. Memory: 9 bytes for each.
pub(crate) fn remove(
    txn: &mut dyn WriteTxn,
    events: &BTreeSet<EventId>,
) -> Result<u64, StoreError> {
    let Some(first) = events.first().copied() else { return Ok(0) };
    let mut hashes = Vec::with_capacity(events.len());
    for id in events {
        let mut event = txn.known_event(*id)?;
        hashes.push((*id, event.hash));
        event.erase();
        txn.erase_content(&event)?;
    }
    let operations = forget_operations(txn, &hashes)?;
    relink(txn, first, events)?;
    refold(txn, first, events)?;
    Ok(operations)
}

/// Deletes the op ids whose reports name one of `events`.
fn forget_operations(
    txn: &mut dyn WriteTxn,
    events: &[(EventId, Hash)],
) -> Result<u64, StoreError> {
    let mut forgotten = 0;
    for (id, operation) in txn.operations()? {
        let report = Value::parse(operation.report.as_bytes()).unwrap_or_default();
        let number = |name| report.get(name).and_then(Value::as_i64);
        // A batch is remembered by its first event and their number.
        let batch = number("first_event_id").zip(number("count"));
        let names = |(event, hash): &(EventId, Hash)| {
            batch.is_some_and(|(from, count)| (from..from.saturating_add(count)).contains(&event.0))
                || operation.report.contains(&hash.to_string())
        };
        if events.iter().any(names) {
            txn.delete_operation(&id)?;
            forgotten += 1;
        }
    }
    Ok(forgotten)
}

/// Computes the entries of the lineage index from `first` on again, as far as they can differ: an
/// erased event has another number of tokens, and an erased snapshot is not read through.
fn relink(
    txn: &mut dyn WriteTxn,
    first: EventId,
    erased: &BTreeSet<EventId>,
) -> Result<(), StoreError> {
    let tokenizer = txn.identity()?.tokenizer;
    let last = txn.log_head()?.map_or(first, |(id, _)| id);
    let all = txn.of_type_after(EventType::Snapshot, EventId(first.0 - 1))?;
    let snapshots: BTreeSet<EventId> = all.into_iter().collect();
    let mut changes = Changes { first, shifts: Vec::new(), changed: Vec::new() };
    for id in (first.0..=last.0).map(EventId) {
        let old = txn.link(id)?;
        let is_snapshot = snapshots.contains(&id);
        let is_erased = erased.contains(&id);
        if !is_snapshot && !is_erased && !old.live_parent.is_some_and(|id| changes.is_changed(id)) {
            changes.note(&old, &old);
            continue;
        }
        let shift = old.live_parent.map_or(0, |parent| changes.shift(parent));
        let before = old.live_parent.map(|parent| txn.link(parent)).transpose()?;
        let (tokens, context) = before.map_or((0, 0), |before| (before.tokens, before.context));
        let mut link = old;
        link.snapshot = before.and_then(|before| before.snapshot);
        (link.tokens, link.context) = (tokens, context);
        if !is_snapshot {
            let own = match is_erased {
                true => render::erased_tokens(tokenizer, &txn.known_event(id)?),
                false => old.tokens.saturating_sub(tokens.saturating_add_signed(-shift)),
            };
            (link.tokens, link.context) = (tokens + own, context + own);
        } else if !is_erased && old.snapshot == Some(id) {
            let tail = shift - changes.shift(covers(txn, id, old.live_parent)?);
            link.snapshot = Some(id);
            link.context = old.context.saturating_add_signed(tail);
        }
        changes.note(&old, &link);
        if link != old {
            txn.set_link(id, &link)?;
        }
    }
    Ok(())
}

/// The last event that a snapshot covers, which was checked when it came in.
fn covers(
    txn: &dyn ReadTxn,
    snapshot: EventId,
    before: Option<EventId>,
) -> Result<EventId, StoreError> {
    let payload = txn.known_event(snapshot)?.members().unwrap_or_default();
    snapshot::covered(txn, before, &payload).map_err(|error| match error {
        snapshot::SnapshotError::Store(error) => error,
        why => StoreError::damaged(format!("event {snapshot}: {why}")),
    })
}

/// What became of the entries from `first` on.
struct Changes {
    first: EventId,
    /// By how much the tokens up to each event have changed.
    shifts: Vec<i64>,
    changed: Vec<bool>,
}

impl Changes {
    fn place(&self, id: EventId) -> Option<usize> {
        usize::try_from(id.0 - self.first.0).ok()
    }

    fn shift(&self, id: EventId) -> i64 {
        self.place(id).and_then(|place| self.shifts.get(place)).copied().unwrap_or(0)
    }

    fn is_changed(&self, id: EventId) -> bool {
        self.place(id).and_then(|place| self.changed.get(place)).copied().unwrap_or(false)
    }

    fn note(&mut self, old: &Link, new: &Link) {
        self.shifts.push(new.tokens.cast_signed().wrapping_sub(old.tokens.cast_signed()));
        self.changed.push(new != old);
    }
}

/// Folds the states that are kept from `first` on again, where one of `erased` was live.
fn refold(
    txn: &mut dyn WriteTxn,
    first: EventId,
    erased: &BTreeSet<EventId>,
) -> Result<(), StoreError> {
    let mut stale = Vec::new();
    for (id, lineage) in txn.checkpoints_from(first)? {
        if is_after(txn, txn.linked(id)?, erased)? {
            txn.delete_checkpoint(lineage, id)?;
            stale.push((id, lineage));
        }
    }
    // In the order of the log, so that each is folded from the one before.
    for (id, lineage) in stale {
        let state = workspace::state(txn, Some(id))?;
        txn.put_checkpoint(lineage, id, &stored::write(&state))?;
    }
    Ok(())
}

fn is_after(
    txn: &dyn ReadTxn,
    head: (EventId, Link),
    events: &BTreeSet<EventId>,
) -> Result<bool, StoreError> {
    for event in events {
        if lineage::is_live(head, *event, |id| txn.link(id))? {
            return Ok(true);
        }
    }
    Ok(false)
}
