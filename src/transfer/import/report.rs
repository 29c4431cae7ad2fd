//! What `mk import` answers.

use serde::Serialize;

use crate::id::{BranchName, EventId, Hash};
use crate::store::{Branch, ReadTxn, StoreError};

/// Most events with what looks like a secret that a report lists.
pub const SECRETS_LISTED: usize = 20;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Events that are new here.
    pub events: u64,
    /// Lines that hold events which were here, or came before.
    pub known: u64,
    /// Events whose content was here, or came in, and is erased now.
    pub erased: u64,
    /// Branches that were made or moved.
    pub branches: Vec<Branched>,
    /// Events that hold what looks like a secret: the first of them. They are stored as they came.
    pub secrets: Vec<Secret>,
    pub secrets_total: u64,
}

/// A branch that was made or moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Branched {
    pub branch_id: BranchName,
    /// The name it was born with.
    pub born: BranchName,
    pub change: Change,
    pub head_event_id: Option<EventId>,
    pub head_hash: Option<Hash>,
    pub head_sequence: u64,
}

/// What became of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It is new.
    Made,
    /// It was empty.
    Filled,
    /// It has more events.
    Forwarded,
}

/// An event that holds what looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Secret {
    pub event_id: EventId,
    pub rules: Vec<&'static str>,
}

impl Branched {
    pub(super) fn new(
        txn: &dyn ReadTxn,
        branch: Branch,
        change: Change,
    ) -> Result<Self, StoreError> {
        let head = branch.head.map(|head| txn.known_event(head)).transpose()?;
        Ok(Self {
            branch_id: branch.name,
            born: branch.born,
            change,
            head_event_id: branch.head,
            head_hash: head.map(|head| head.hash),
            head_sequence: branch.head_sequence,
        })
    }
}
