//! The rows of the signed exchange of notices.

use rusqlite::Row;

use super::Txn;
use super::row::{count, signed};
use crate::id::Hash;
use crate::store::{AuditRow, Binding, ExchangeRead, ExchangeWrite, PeerRow, StoreError};
use crate::time::Timestamp;

pub const BINDING: &str = "SELECT workspace, peer, policy FROM exchange";
pub const PEER: &str = "SELECT peer, sequence, digest, sent_at, received_at FROM exchange_peer";
pub const AUDIT: &str =
    "SELECT id, at, peer, direction, outcome, reason, sequence, changed FROM exchange_audit";

impl ExchangeRead for Txn<'_> {
    fn binding(&self) -> Result<Option<Binding>, StoreError> {
        self.optional(BINDING, (), |row| {
            Ok(Binding { workspace: row.get(0)?, peer: row.get(1)?, policy: row.get(2)? })
        })
    }

    fn peer_row(&self, peer: &str) -> Result<Option<PeerRow>, StoreError> {
        self.optional(&format!("{PEER} WHERE peer = ?1"), [peer], |row| {
            Ok(PeerRow {
                peer: row.get(0)?,
                sequence: count(row, 1)?,
                digest: Hash(row.get(2)?),
                sent_at: Timestamp::from_micros(row.get(3)?),
                received_at: Timestamp::from_micros(row.get(4)?),
            })
        })
    }

    fn audit_rows(&self, peer: Option<&str>, limit: usize) -> Result<Vec<AuditRow>, StoreError> {
        let sql = format!("{AUDIT} WHERE (?1 IS NULL OR peer = ?1) ORDER BY id DESC LIMIT ?2");
        self.all(&sql, (peer, i64::try_from(limit).unwrap_or(i64::MAX)), audit)
    }
}

fn audit(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        id: row.get(0)?,
        at: Timestamp::from_micros(row.get(1)?),
        peer: row.get(2)?,
        direction: row.get(3)?,
        outcome: row.get(4)?,
        reason: row.get(5)?,
        sequence: row.get::<_, Option<i64>>(6)?.map(i64::unsigned_abs),
        changed: count(row, 7)?,
    })
}

impl ExchangeWrite for Txn<'_> {
    fn bind(&mut self, binding: &Binding) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO exchange VALUES (1, ?1, ?2, ?3)";
        self.execute(sql, (&binding.workspace, &binding.peer, &binding.policy))
    }

    fn put_peer_row(&mut self, row: &PeerRow) -> Result<(), StoreError> {
        self.execute(
            "INSERT OR REPLACE INTO exchange_peer VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                &row.peer,
                signed(row.sequence),
                row.digest.0,
                row.sent_at.micros(),
                row.received_at.micros(),
            ),
        )
    }

    fn add_audit_row(&mut self, row: &AuditRow, keep: u64) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO exchange_audit VALUES \
             ((SELECT coalesce(max(id), 0) + 1 FROM exchange_audit), ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                row.at.micros(),
                &row.peer,
                &row.direction,
                &row.outcome,
                &row.reason,
                row.sequence.map(signed),
                signed(row.changed),
            ),
        )?;
        let sql = "DELETE FROM exchange_audit WHERE id <= \
                   (SELECT max(id) FROM exchange_audit) - ?1";
        self.execute(sql, [signed(keep)])
    }
}
