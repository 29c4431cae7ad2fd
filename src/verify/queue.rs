//! What there is to do, in pieces that can be done in any order.

use std::ops::{Range, RangeInclusive};
use std::sync::{Mutex, PoisonError};

use super::rows::Plan;
use crate::id::EventId;
use crate::store::StoreError;
use crate::store::audit::{Audit, Index};

/// Events of a chunk, at least and at most.
const CHUNK: (i64, i64) = (128, 65_536);

/// Parts in which the index of hashes is read.
const HASH_PARTS: u16 = 8;

/// A piece of work.
pub(super) enum Job {
    /// The engine's own check of its file.
    Faults,
    /// An index; of the one of hashes only those that begin with these bytes.
    Index(Index, Range<u16>),
    /// The events with these ids.
    Chunk(RangeInclusive<i64>),
}

pub(super) struct Queue {
    state: Mutex<State>,
    last: i64,
    cores: i64,
}

struct State {
    /// What is taken from the end before any chunk, the longest last.
    first: Vec<Job>,
    /// Where the next chunk begins, or the next event after; none behind the last.
    next: Option<i64>,
}

impl Queue {
    pub(super) fn new(plan: &Plan, cores: usize) -> Self {
        let mut first = Vec::new();
        for &index in &plan.indexes {
            match index {
                Index::Hash => {
                    let width = 256 / HASH_PARTS;
                    let parts = (0..HASH_PARTS).map(|part| part * width..(part + 1) * width);
                    first.extend(parts.map(|part| Job::Index(index, part)));
                }
                Index::Sequence => first.push(Job::Index(index, 0..256)),
            }
        }
        first.push(Job::Faults);
        let next = (plan.last > EventId(0) || plan.events > 0).then_some(i64::MIN);
        Self {
            state: Mutex::new(State { first, next }),
            last: plan.last.0,
            cores: i64::try_from(cores).unwrap_or(1),
        }
    }

    /// The next piece; none if all have been handed out. Ids that no event has are passed over.
    pub(super) fn next(&self, audit: &Audit<'_>) -> Result<Option<Job>, StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = state.first.pop() {
            return Ok(Some(job));
        }
        // If this fails, the rest of the log cannot be read, which the caller says once.
        let Some(from) = state.next.take() else { return Ok(None) };
        let Some(EventId(first)) = audit.event_from(from)?.filter(|id| id.0 <= self.last) else {
            return Ok(None);
        };
        // Smaller towards the end, so that no worker waits long for the others.
        let size = (self.last.saturating_sub(first) / (2 * self.cores)).clamp(CHUNK.0, CHUNK.1);
        let end = first.saturating_add(size - 1).min(self.last);
        state.next = end.checked_add(1).filter(|next| *next <= self.last);
        Ok(Some(Job::Chunk(first..=end)))
    }

    /// The id up to which chunks have been handed out.
    pub(super) fn reached(&self) -> u64 {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let next = state.next.unwrap_or(self.last);
        u64::try_from(next).unwrap_or_default()
    }
}
