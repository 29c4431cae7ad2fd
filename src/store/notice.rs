//! The row of a notice, and what can be done with such rows.

use super::StoreError;
use crate::id::AgentId;
use crate::time::Timestamp;

/// A message of an agent to all others. Only `cleared_at` ever changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub id: String,
    pub author: AgentId,
    /// What it is about.
    pub resource: String,
    pub message: String,
    pub created_at: Timestamp,
    /// From when on it is stale.
    pub expires_at: Timestamp,
    /// Since when it is over; none while it is open.
    pub cleared_at: Option<Timestamp>,
    /// The peer of the signed exchange that it is of; none if it was posted or imported without one.
    pub source: Option<String>,
}

impl Notice {
    /// Whether it is open and its time has not run out.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.cleared_at.is_none() && self.expires_at > now
    }
}

/// Which rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notices<'a> {
    /// Only those about exactly this.
    pub resource: Option<&'a str>,
    /// Those too that were cleared.
    pub cleared: bool,
}

impl Notices<'_> {
    #[must_use]
    pub fn contains(self, notice: &Notice) -> bool {
        (self.cleared || notice.cleared_at.is_none())
            && self.resource.is_none_or(|resource| notice.resource == resource)
    }
}

/// What can be read of notices inside a transaction.
pub trait NoticeRead {
    /// The notice of this id, cleared or not.
    fn notice(&self, id: &str) -> Result<Option<Notice>, StoreError>;
    /// Up to `limit` of the notices that are wanted, with ids after `after`, by id.
    fn notices(
        &self,
        which: Notices<'_>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Notice>, StoreError>;
    /// How many notices are wanted, with ids after `after`.
    fn count_notices(&self, which: Notices<'_>, after: Option<&str>) -> Result<u64, StoreError>;
    /// The notices of a peer of the signed exchange, by id.
    fn notices_of(&self, source: &str) -> Result<Vec<Notice>, StoreError>;
    /// Up to `limit` of the notices that are not cleared, about `resource` or all, the newest first.
    fn newest_notices(
        &self,
        resource: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Notice>, StoreError>;
}

/// What can be written of notices.
pub trait NoticeWrite {
    /// Stores the notice in the place of the one of the same id.
    fn put_notice(&mut self, notice: &Notice) -> Result<(), StoreError>;
}
