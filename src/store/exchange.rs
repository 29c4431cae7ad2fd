//! The rows of the signed exchange of notices, and what can be done with them.

use super::StoreError;
use crate::id::Hash;
use crate::time::Timestamp;

/// The workspace and the peer that a store is bound to for good, and where its policy is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub workspace: String,
    pub peer: String,
    /// The path of the policy file.
    pub policy: String,
}

/// The newest bundle of a peer: the last accepted, or of the own peer the last published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerRow {
    pub peer: String,
    pub sequence: u64,
    pub digest: Hash,
    pub sent_at: Timestamp,
    /// When it was accepted, or published.
    pub received_at: Timestamp,
}

/// Something that was published, accepted or rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Assigned when it is stored.
    pub id: i64,
    pub at: Timestamp,
    pub peer: String,
    pub direction: String,
    pub outcome: String,
    pub reason: String,
    pub sequence: Option<u64>,
    pub changed: u64,
}

/// What can be read of the exchange inside a transaction.
pub trait ExchangeRead {
    fn binding(&self) -> Result<Option<Binding>, StoreError>;
    fn peer_row(&self, peer: &str) -> Result<Option<PeerRow>, StoreError>;
    /// Up to `limit` rows of the audit, of `peer` or all, the newest first.
    fn audit_rows(&self, peer: Option<&str>, limit: usize) -> Result<Vec<AuditRow>, StoreError>;
}

/// What can be written of it.
pub trait ExchangeWrite {
    /// Stores the binding in the place of the one there is.
    fn bind(&mut self, binding: &Binding) -> Result<(), StoreError>;
    /// Stores the row in the place of the one of the same peer.
    fn put_peer_row(&mut self, row: &PeerRow) -> Result<(), StoreError>;
    /// Adds a row under the next id, and drops those that are `keep` older.
    fn add_audit_row(&mut self, row: &AuditRow, keep: u64) -> Result<(), StoreError>;
}
