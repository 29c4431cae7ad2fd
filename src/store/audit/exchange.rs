//! The rows of the signed exchange of notices.

use rusqlite::Row;

use super::{Audit, Misfit, column, count, moment};
use crate::id::Hash;
use crate::store::sqlite::{AUDIT, BINDING, PEER};
use crate::store::{AuditRow, Binding, PeerRow, StoreError};

impl Audit<'_> {
    pub(crate) fn bindings(&self) -> Result<Vec<Result<Binding, Misfit>>, StoreError> {
        self.txn.all(BINDING, (), |row| {
            let text = |index, name| column(row, index, 0, name);
            let read = || {
                Ok(Binding {
                    workspace: text(0, "workspace")?,
                    peer: text(1, "peer")?,
                    policy: text(2, "policy")?,
                })
            };
            Ok(read())
        })
    }

    pub(crate) fn peer_rows(&self) -> Result<Vec<Result<PeerRow, Misfit>>, StoreError> {
        self.txn.all(&format!("{PEER} ORDER BY peer"), (), |row| Ok(peer_row(row)))
    }

    pub(crate) fn audit_log(&self) -> Result<Vec<Result<AuditRow, Misfit>>, StoreError> {
        self.txn.all(&format!("{AUDIT} ORDER BY id"), (), |row| Ok(audit_row(row)))
    }
}

fn peer_row(row: &Row<'_>) -> Result<PeerRow, Misfit> {
    Ok(PeerRow {
        peer: column(row, 0, 0, "peer")?,
        sequence: count(row, 1, 0, "sequence")?,
        digest: Hash(column(row, 2, 0, "digest")?),
        sent_at: moment(row, 3, 0, "sent_at")?,
        received_at: moment(row, 4, 0, "received_at")?,
    })
}

fn audit_row(row: &Row<'_>) -> Result<AuditRow, Misfit> {
    let id = column(row, 0, 0, "id")?;
    Ok(AuditRow {
        id,
        at: moment(row, 1, id, "at")?,
        peer: column(row, 2, id, "peer")?,
        direction: column(row, 3, id, "direction")?,
        outcome: column(row, 4, id, "outcome")?,
        reason: column(row, 5, id, "reason")?,
        sequence: match column::<Option<i64>>(row, 6, id, "sequence")? {
            None => None,
            Some(_) => Some(count(row, 6, id, "sequence")?),
        },
        changed: count(row, 7, id, "changed")?,
    })
}
