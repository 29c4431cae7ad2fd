//! The rows of the signed exchange of notices.

use std::collections::BTreeMap;

use super::Memory;
use crate::store::{AuditRow, Binding, ExchangeRead, ExchangeWrite, PeerRow, StoreError};

#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    binding: Option<Binding>,
    peers: BTreeMap<String, PeerRow>,
    /// Oldest first.
    audit: Vec<AuditRow>,
}

impl ExchangeRead for Memory {
    fn binding(&self) -> Result<Option<Binding>, StoreError> {
        Ok(self.exchange.binding.clone())
    }

    fn peer_row(&self, peer: &str) -> Result<Option<PeerRow>, StoreError> {
        Ok(self.exchange.peers.get(peer).cloned())
    }

    fn audit_rows(&self, peer: Option<&str>, limit: usize) -> Result<Vec<AuditRow>, StoreError> {
        let rows = self.exchange.audit.iter().rev();
        let rows = rows.filter(|row| peer.is_none_or(|peer| row.peer == peer));
        Ok(rows.take(limit).cloned().collect())
    }
}

impl ExchangeWrite for Memory {
    fn bind(&mut self, binding: &Binding) -> Result<(), StoreError> {
        self.exchange.binding = Some(binding.clone());
        Ok(())
    }

    fn put_peer_row(&mut self, row: &PeerRow) -> Result<(), StoreError> {
        self.exchange.peers.insert(row.peer.clone(), row.clone());
        Ok(())
    }

    fn add_audit_row(&mut self, row: &AuditRow, keep: u64) -> Result<(), StoreError> {
        let audit = &mut self.exchange.audit;
        let id = audit.last().map_or(0, |last| last.id) + 1;
        audit.push(AuditRow { id, ..row.clone() });
        audit.retain(|row| row.id > id - i64::try_from(keep).unwrap_or(i64::MAX));
        Ok(())
    }
}
