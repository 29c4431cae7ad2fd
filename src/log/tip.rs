//! What the next event of a branch follows.

use super::Log;
use crate::branch;
use crate::id::{AgentId, EventId, Hash};
use crate::lineage::Link;
use crate::store::{Branch, StoreError};
use crate::time::Timestamp;

/// The head of a branch.
#[derive(Debug, Clone)]
pub(super) struct Tip {
    pub id: EventId,
    pub hash: Hash,
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub link: Link,
    /// Of the newest live event that is no snapshot.
    pub author: Option<(EventId, AgentId)>,
}

impl Log<'_> {
    pub(super) fn tip(&mut self, branch: &Branch) -> Result<Option<Tip>, StoreError> {
        match (self.tips.get(&branch.id), branch.head) {
            (Some(tip), _) => Ok(Some(tip.clone())),
            (None, Some(head)) => self.read_tip(head).map(Some),
            (None, None) => Ok(None),
        }
    }

    pub(super) fn read_tip(&mut self, id: EventId) -> Result<Tip, StoreError> {
        let event = self.txn.known_event(id)?;
        let link = self.link(id)?;
        Ok(Tip {
            id,
            hash: event.hash,
            sequence: event.sequence,
            timestamp: event.timestamp,
            link,
            author: branch::author(self.txn, &event)?,
        })
    }
}

/// The sequence of the event after `tip`, which is 1 without one.
///
/// # Errors
/// If there is none left.
pub(super) fn next_sequence(tip: Option<&Tip>) -> Result<u64, StoreError> {
    let next = tip.map_or(0, |tip| tip.sequence) + 1;
    match i64::try_from(next) {
        Ok(_) => Ok(next),
        Err(_) => Err(StoreError::damaged("the head has the largest sequence there is")),
    }
}
