//! What the verbs answer.
//!
//! Names are those of docs/spec/kernel.md, section 15.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bundle::with_offset;
use crate::store::AuditRow;

/// What a run did.
#[derive(Debug, Serialize)]
pub struct Run {
    pub published: bool,
    /// Notices that were new or cleared.
    pub changed: u64,
    /// Why nothing was taken in, by peer; of the own peer why nothing was published.
    pub errors: BTreeMap<String, &'static str>,
    /// Notices that came in and hold what looks like a secret.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets_in: Vec<String>,
}

/// How an exchange stands.
#[derive(Debug, Serialize)]
pub struct ExchangeStatus {
    pub enabled: bool,
    pub workspace_id: String,
    pub peer_id: String,
    /// All but the own one, by name.
    pub peers: BTreeMap<String, PeerStatus>,
    /// No lease holds beyond this store.
    pub distributed_locks_enforced: bool,
}

/// What is known of a peer.
#[derive(Debug, Serialize)]
pub struct PeerStatus {
    /// `never_received`, `stale` or `fresh`.
    pub status: &'static str,
    pub sequence: Option<u64>,
    pub sent_at: Option<String>,
    pub received_at: Option<String>,
    pub age_seconds: Option<f64>,
    /// Why its file was not taken in, if that is the last that is known of it.
    pub last_error: Option<String>,
}

/// What was published, accepted and rejected, the newest first.
#[derive(Debug, Serialize)]
pub struct AuditReport {
    pub rows: Vec<AuditEntry>,
}

/// Something that was published, accepted or rejected.
#[derive(Debug, Serialize)]
pub struct AuditEntry {
    pub id: i64,
    pub timestamp: String,
    pub peer_id: String,
    pub direction: String,
    pub outcome: String,
    pub reason: String,
    pub sequence: Option<u64>,
    pub changed: u64,
}

impl From<AuditRow> for AuditEntry {
    fn from(row: AuditRow) -> Self {
        Self {
            id: row.id,
            timestamp: with_offset(row.at),
            peer_id: row.peer,
            direction: row.direction,
            outcome: row.outcome,
            reason: row.reason,
            sequence: row.sequence,
            changed: row.changed,
        }
    }
}
