//! What the rules under the lock ask of the log.

use super::error::Refusal;
use super::event;
use super::fold::{Gate, Goal};
use super::handoff::not_declared;
use super::json::{Json, Members};
use super::leases::Lease;
use super::moment::Moment;
use crate::store::{ReadTxn, StoreError};

/// A goal with all its records, hidden ones too, at a moment.
pub(super) struct Facts<'a> {
    pub txn: &'a dyn ReadTxn,
    pub goal_id: &'a str,
    pub goal: &'a Goal,
    pub now: Moment,
    /// The highest number in the log.
    pub highest_seq: i64,
}

impl Facts<'_> {
    /// The gate of that id.
    pub(super) fn gate(&self, gate_id: &str) -> Result<&Gate, Refusal> {
        self.goal.gates.get(gate_id).ok_or_else(|| not_declared("gate_declared"))
    }

    /// The last grant of a scope.
    pub(super) fn lease(&self, scope: &str) -> Result<Option<Lease>, StoreError> {
        let Some(row) = self.txn.exec_lease(self.goal_id, scope)? else { return Ok(None) };
        decoded(&row).map(Some)
    }

    /// How many scopes of the goal are leased.
    pub(super) fn active_leases(&self) -> Result<usize, StoreError> {
        Ok(self.txn.exec_open_leases(self.goal_id, self.now.seconds())?.len())
    }

    /// The highest number of the receipts of a gate with a verdict, or of the one with this id alone.
    pub(super) fn newest_receipt(
        &self,
        gate_id: &str,
        verdict: &str,
        receipt_id: Option<&Json>,
    ) -> Result<Option<i64>, StoreError> {
        let receipt_id = receipt_id.map(|id| id.as_str().unwrap_or_default());
        let receipt = event::receipt_key(gate_id, verdict);
        self.txn.exec_newest_receipt(self.goal_id, &receipt, receipt_id)
    }

    /// The first record of an imported handoff, by its origin.
    pub(super) fn imported(&self, origin: &str) -> Result<Option<Members>, StoreError> {
        match self.txn.exec_by_origin(origin)? {
            Some(id) => event::record(self.txn, id),
            None => Ok(None),
        }
    }
}

/// The lease of a row.
pub(super) fn decoded(row: &crate::store::ExecLease) -> Result<Lease, StoreError> {
    let lease = Lease::decode(&row.lease, row.is_released);
    lease.ok_or_else(|| StoreError::damaged(format!("the lease of '{}' is unreadable", row.scope)))
}
