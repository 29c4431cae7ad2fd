//! What a merge did, or would do.

use super::plan::{Entry, Record};
use crate::canon::Value;
use crate::id::{BranchName, EventId, Hash};
use crate::log::Appended;

/// Most records that a report lists.
pub const LISTED: usize = 1_000;

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Merged {
    pub branch_id: BranchName,
    pub source_branch_id: BranchName,
    /// The head that was merged; none of an empty branch.
    pub source_head: Option<Hash>,
    /// Where both sides were last the same; the newest if there are more.
    pub merge_base_event_id: Option<EventId>,
    pub merge_base_hash: Option<Hash>,
    /// Everything there was known here.
    pub up_to_date: bool,
    pub applied_count: u64,
    /// The first [`LISTED`] of them.
    pub applied: Vec<Applied>,
    pub conflict_count: u64,
    /// Not settled; only a preview has any.
    #[serde(skip_deserializing)]
    pub conflicts: Vec<Conflict>,
    /// The event that records the merge.
    pub event: Option<Appended>,
}

/// A record that was taken over, set or taken back.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Applied {
    pub kind: String,
    pub key: String,
    /// As a text; none if it was taken back.
    pub value: Option<String>,
    /// `taken`: only they changed it. `theirs`, `set`: a conflict was settled so.
    pub how: String,
    /// The event it comes from.
    pub origin: Option<Hash>,
    pub event_id: Option<EventId>,
}

/// A key that both sides changed, each in its own way.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Conflict {
    pub kind: &'static str,
    pub key: String,
    /// Null where there is none.
    pub base: Option<Side>,
    pub ours: Option<Side>,
    pub theirs: Option<Side>,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Side {
    pub value: Value,
    pub agent_id: String,
    pub event_id: EventId,
    pub event_hash: Hash,
}

impl Conflict {
    pub(super) fn new(entry: &Entry) -> Self {
        let side = |record: &Option<Record>| {
            record.as_ref().map(|record| Side {
                value: record.value.clone(),
                agent_id: record.agent.clone(),
                event_id: record.event.id,
                event_hash: record.event.hash,
            })
        };
        Self {
            kind: entry.kind.as_str(),
            key: entry.key.clone(),
            base: side(&entry.base),
            ours: side(&entry.ours),
            theirs: side(&entry.theirs),
        }
    }
}
