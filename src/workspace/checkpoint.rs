//! States kept beside the log, so that reading one does not take all events before it.
//!
//! A checkpoint is the state after some event. One is written by the append that makes the raw
//! sequence a multiple of [`EVERY`], if the payloads since the last one are [`WEIGHT`] times as large
//! as the state: so all checkpoints together take at most a fixed share of the room of the events,
//! and *any* state, at the head or at an event long ago, is read in the time of a bounded number of
//! events and of the state's own size. They are a cache: one that is missing or damaged costs time.
//!
//! Why not O(log n) of them: docs/decisions/checkpoints.md.

use rustc_hash::FxHashMap;

use super::fold::State;
use super::stored;
use crate::branch;
use crate::event::{Event, EventType, Payload};
use crate::id::{EventId, LineageId};
use crate::lineage;
use crate::store::{ReadTxn, StoreError, WriteTxn};

/// Events of a lineage between two chances of a checkpoint.
const EVERY: u64 = 128;

/// Bytes of payload for each byte of a checkpoint.
const WEIGHT: usize = 2;

/// States of branches that a transaction keeps while it appends to them.
const KEPT: usize = 16;

/// The state of the timeline that ends at `head`: the nearest checkpoint and the live events after.
///
/// # Errors
/// Those of the store.
pub fn state(txn: &dyn ReadTxn, head: Option<EventId>) -> Result<State, StoreError> {
    Ok(match head {
        Some(head) => read(txn, head)?.state,
        None => State::default(),
    })
}

/// The same by its definition: the fold of all live events. O(n).
///
/// # Errors
/// Those of the store.
pub fn state_from_events(txn: &dyn ReadTxn, head: Option<EventId>) -> Result<State, StoreError> {
    let mut state = State::default();
    for id in branch::live(txn, head, 0)?.into_iter().rev() {
        state.apply(&txn.known_event(id)?);
    }
    Ok(state)
}

struct Read {
    state: State,
    /// Bytes of payload since the checkpoint that was read.
    bytes: usize,
}

fn read(txn: &dyn ReadTxn, head: EventId) -> Result<Read, StoreError> {
    let (mut state, depth) = match nearest(txn, head)? {
        Some((checkpoint, state)) => (state, txn.link(checkpoint)?.depth),
        None => (State::default(), 0),
    };
    let mut bytes = 0;
    for id in branch::live(txn, Some(head), depth)?.into_iter().rev() {
        let event = txn.known_event(id)?;
        bytes += event.content.as_ref().map_or(0, |content| content.payload.len());
        state.apply(&event);
    }
    Ok(Read { state, bytes })
}

/// The newest readable checkpoint on the live timeline that ends at `head`.
pub(crate) fn nearest(
    txn: &dyn ReadTxn,
    head: EventId,
) -> Result<Option<(EventId, State)>, StoreError> {
    let mut at = txn.linked(head)?;
    loop {
        let Some(found) = txn.checkpoint_before(at.1.lineage, at.0)? else {
            // None on this branch before here: go on where it was forked off.
            match txn.lineage(at.1.lineage)?.fork_point {
                Some(point) if at.0 <= point.event => {
                    let what = format!("event {} is not after its branch's fork point", at.0);
                    return Err(StoreError::damaged(what));
                }
                Some(point) => {
                    // The rollbacks of this branch may reach below the fork point.
                    match lineage::first_reached(
                        at,
                        |id| txn.link(id),
                        |(id, _)| Ok::<_, StoreError>(*id <= point.event),
                    )? {
                        Some(reached) if reached.0 < at.0 => at = reached,
                        Some((id, _)) => {
                            let what = format!("event {id} is older than its branch");
                            return Err(StoreError::damaged(what));
                        }
                        None => return Ok(None),
                    }
                    continue;
                }
                None => return Ok(None),
            }
        };
        // What was rolled back is passed over a stretch at a time.
        let reached = lineage::first_reached(
            at,
            |id| txn.link(id),
            |(id, _)| Ok::<_, StoreError>(*id <= found),
        )?;
        let Some(reached) = reached else { return Ok(None) };
        let readable = match reached.0 == found {
            true => load(txn, found)?,
            false => None,
        };
        match (readable, reached.1.live_parent) {
            (Some(state), _) => return Ok(Some((found, state))),
            (None, _) if reached.0 != found => at = reached,
            (None, Some(before)) => at = txn.linked(before)?,
            (None, None) => return Ok(None),
        }
    }
}

/// The state kept at `event`; none if there is none that can be read.
pub(crate) fn load(txn: &dyn ReadTxn, event: EventId) -> Result<Option<State>, StoreError> {
    Ok(txn.checkpoint(event)?.and_then(|bytes| stored::read(&bytes)))
}

/// The states of the branches that a transaction appends to, and what is due of them.
#[derive(Debug, Default)]
pub struct Checkpoints {
    kept: FxHashMap<LineageId, Kept>,
}

#[derive(Debug)]
struct Kept {
    state: State,
    /// Bytes of payload since the last checkpoint.
    bytes: usize,
    /// Bytes of the state when it was last written out; 0 before. A state that was too large for the
    /// payloads so far is not written out again before they may have caught up.
    size: usize,
}

impl Checkpoints {
    /// Takes note that `event`, whose payload has `bytes` bytes, was appended, and writes a checkpoint
    /// if one is due.
    ///
    /// # Errors
    /// Those of the store.
    pub fn appended(
        &mut self,
        txn: &mut dyn WriteTxn,
        event: &Event,
        payload: &Payload,
        bytes: usize,
    ) -> Result<(), StoreError> {
        if event.kind == EventType::RolledBack {
            self.kept.remove(&event.lineage);
        } else if let Some(kept) = self.kept.get_mut(&event.lineage) {
            kept.state.apply_payload(event, payload);
            kept.bytes += bytes;
        }
        if !event.sequence.is_multiple_of(EVERY) {
            return Ok(());
        }
        if !self.kept.contains_key(&event.lineage) {
            if self.kept.len() >= KEPT {
                self.kept.clear();
            }
            let Read { state, bytes } = read(txn, event.id)?;
            self.kept.insert(event.lineage, Kept { state, bytes, size: 0 });
        }
        let Some(kept) = self.kept.get_mut(&event.lineage) else { return Ok(()) };
        if kept.bytes < WEIGHT * kept.size {
            return Ok(());
        }
        let bytes = stored::write(&kept.state);
        kept.size = bytes.len();
        if kept.bytes >= WEIGHT * bytes.len() {
            txn.put_checkpoint(event.lineage, event.id, &bytes)?;
            kept.bytes = 0;
        }
        Ok(())
    }
}
