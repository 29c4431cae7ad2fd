//! What the verbs answer.

use serde::{Deserialize, Serialize};

use super::document::moment;
use crate::id::AgentId;
use crate::store::Notice;
use crate::sync::Policy;
use crate::time::Timestamp;

/// A notice as it was made or cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    pub notice_id: String,
    pub author: AgentId,
    pub resource: String,
    pub message: String,
    pub created_at: String,
    pub expires_at: String,
    pub cleared_at: Option<String>,
    /// The rules by which secrets were taken out of the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

impl Posted {
    pub(crate) fn new(notice: Notice, redacted: Vec<String>) -> Self {
        Self {
            notice_id: notice.id,
            author: notice.author,
            resource: notice.resource,
            message: notice.message,
            created_at: moment(notice.created_at),
            expires_at: moment(notice.expires_at),
            cleared_at: notice.cleared_at.map(moment),
            redacted,
        }
    }
}

/// What a notice is good for at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Active,
    /// Its time ran out. That says nothing about what it tells of: it may be far from finished.
    Stale,
    /// Its author took it back.
    Cleared,
}

impl Status {
    #[must_use]
    pub fn of(notice: &Notice, now: Timestamp) -> Self {
        match notice.cleared_at {
            Some(_) => Self::Cleared,
            None if notice.is_active(now) => Self::Active,
            None => Self::Stale,
        }
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Stale => "stale",
            Self::Cleared => "cleared",
        }
    }
}

/// A notice in a listing.
#[derive(Debug, Clone, Serialize)]
pub struct NoticeReport {
    #[serde(flatten)]
    pub notice: Posted,
    pub status: Status,
    /// The peer of the signed exchange that it is of.
    pub source_peer: Option<String>,
    /// Whether that peer is trusted; null where there is no exchange.
    pub trusted_source: Option<bool>,
}

impl NoticeReport {
    /// `policy` is that of the signed exchange, if there is one.
    #[must_use]
    pub fn new(notice: Notice, now: Timestamp, policy: Option<&Policy>) -> Self {
        let (status, source_peer) = (Status::of(&notice, now), notice.source.clone());
        let trusted_source = policy
            .map(|policy| source_peer.as_ref().is_some_and(|peer| policy.peers.contains_key(peer)));
        let notice = Posted::new(notice, Vec::new());
        Self { notice, status, source_peer, trusted_source }
    }
}

/// Notices, by id.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    pub notices: Vec<NoticeReport>,
    /// How many more there are.
    pub omitted: u64,
    /// What continues the listing; none if these were the last.
    pub next: Option<Next>,
}

/// Arguments of the listing that goes on from here.
#[derive(Debug, Clone, Serialize)]
pub struct Next {
    pub after: String,
}

/// What an import did.
#[derive(Debug, Clone, Serialize)]
pub struct Imported {
    /// Notices that were new, or cleared by the document.
    pub changed: u64,
    /// Those of them that hold what looks like a secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets_in: Vec<String>,
}
