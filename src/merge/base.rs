//! Where two timelines were last the same, merges counted.

use std::collections::{BTreeMap, BTreeSet};

use crate::branch;
use crate::canon::{Object, Value};
use crate::event::{Event, EventType};
use crate::id::{EventId, Hash};
use crate::lineage::{self, Linked};
use crate::store::{ReadTxn, StoreError};

/// The newest events that both `a` and `b` have: those that none of the others has. One, unless each took
/// in the other's work at another place; none if they share nothing.
///
/// A timeline has its lineage, and what is had by the heads that its live merges name: so after a
/// merge the next one starts from there, in whichever direction. O(events since the merge base of the
/// lineages, on both sides and on what was merged into them).
///
/// # Errors
/// Those of the store.
pub fn bases(txn: &dyn ReadTxn, a: EventId, b: EventId) -> Result<Vec<Event>, StoreError> {
    let floor = floor(txn, a, b)?;
    let (of_a, of_b) = (tips(txn, a, floor)?, tips(txn, b, floor)?);
    let mut common = BTreeMap::new();
    for a in &of_a {
        for b in &of_b {
            if let Some(event) = branch::merge_base(txn, Some(*a), Some(*b))? {
                common.insert(event.id, event);
            }
        }
    }
    // An event has only earlier ones. What is had by a merge that was rolled back before another of these
    // is not had by that one.
    let mut newest: Vec<Event> = Vec::new();
    for (id, event) in common.into_iter().rev() {
        let mut is_had = false;
        for other in &newest {
            is_had = is_had || has(txn, other.id, id)?;
        }
        if !is_had {
            newest.push(event);
        }
    }
    Ok(newest)
}

/// Whether what ends at `head` has `event`: in its lineage, or by a merge.
///
/// # Errors
/// Those of the store.
pub fn has(txn: &dyn ReadTxn, head: EventId, event: EventId) -> Result<bool, StoreError> {
    // A merge that `event` comes after cannot have brought it.
    for tip in tips(txn, head, floor(txn, head, event)?)? {
        let shared = branch::merge_base(txn, Some(tip), Some(event))?;
        if shared.is_some_and(|shared| shared.id == event) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn floor(txn: &dyn ReadTxn, a: EventId, b: EventId) -> Result<Option<Linked>, StoreError> {
    let shared = branch::merge_base(txn, Some(a), Some(b))?;
    shared.map(|event| txn.linked(event.id)).transpose()
}

/// `head`, the heads that live merges on its timeline name, those that merges on these name, and so
/// on; but for merges that are live at `floor`.
fn tips(
    txn: &dyn ReadTxn,
    head: EventId,
    floor: Option<Linked>,
) -> Result<BTreeSet<EventId>, StoreError> {
    let (mut tips, mut next) = (BTreeSet::new(), vec![head]);
    while let Some(tip) = next.pop() {
        if tips.insert(tip) {
            next.extend(merged(txn, tip, floor)?);
        }
    }
    Ok(tips)
}

fn merged(
    txn: &dyn ReadTxn,
    head: EventId,
    floor: Option<Linked>,
) -> Result<Vec<EventId>, StoreError> {
    let mut found = Vec::new();
    let mut at = Some(head);
    while let Some(id) = at {
        // All that is live before an event that is live at the floor is so too.
        if let Some(floor) = floor
            && lineage::is_live(floor, id, |id| txn.link(id))?
        {
            break;
        }
        let event = txn.known_event(id)?;
        if event.kind == EventType::Merged
            && let Some(source) = source(&event)
            // Of a merge that was imported, the other side may be missing.
            && let Some(source) = txn.by_hash(&source)?
        {
            found.push(source);
        }
        at = txn.link(id)?.live_parent;
    }
    Ok(found)
}

/// The keys, each with its kind, that the live merge of exactly `theirs` on the timeline of `ours` settled;
/// none if there is no such merge. O(live events since).
///
/// # Errors
/// Those of the store.
pub fn settled(
    txn: &dyn ReadTxn,
    ours: EventId,
    theirs: EventId,
) -> Result<Vec<String>, StoreError> {
    let wanted = txn.known_event(theirs)?.hash;
    let mut at = Some(ours);
    while let Some(id) = at {
        let event = txn.known_event(id)?;
        if event.kind == EventType::Merged && source(&event) == Some(wanted) {
            let payload = event.structural().unwrap_or_default();
            let by_how = payload.get("settled").and_then(Value::as_object);
            let keys = by_how.into_iter().flat_map(Object::iter);
            let keys = keys.flat_map(|(_, keys)| keys.as_array().unwrap_or_default());
            return Ok(keys.filter_map(Value::as_str).map(str::to_owned).collect());
        }
        at = txn.link(id)?.live_parent;
    }
    Ok(Vec::new())
}

/// The head that a merge took in.
fn source(merge: &Event) -> Option<Hash> {
    merge.structural()?.get("source_hash")?.as_str()?.parse().ok()
}
