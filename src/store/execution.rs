//! Rows of the execution log: an index of its records, and what they add up to. All are derived from the
//! events on `@exec`.

use super::StoreError;
use crate::id::EventId;

/// The row of a line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRecord {
    pub event: EventId,
    pub goal: Option<String>,
    /// Empty if it has none.
    pub id: String,
    pub operation_id: Option<String>,
    /// 0 if it has none.
    pub event_seq: i64,
    /// The gate and verdict of a receipt.
    pub receipt: Option<String>,
    /// Where an imported handoff is from.
    pub origin: Option<String>,
    /// The id of the record that a marker hides.
    pub hides: Option<String>,
    /// What an imported line is known by.
    pub item: Option<String>,
    /// Whether it is a marker, or a marker hides it.
    pub is_hidden: bool,
    /// Whether the line is no record. All else is empty then.
    pub is_damaged: bool,
}

impl ExecRecord {
    /// The row of a line that is no record.
    #[must_use]
    pub fn damaged(event: EventId, item: Option<String>) -> Self {
        Self {
            event,
            goal: None,
            id: String::new(),
            operation_id: None,
            event_seq: 0,
            receipt: None,
            origin: None,
            hides: None,
            item,
            is_hidden: false,
            is_damaged: true,
        }
    }
}

/// The place of a record among those of its goal: they go by number, id and event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExecPlace {
    pub event_seq: i64,
    pub id: String,
    pub event: EventId,
}

/// A record of a goal with what its event holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecEntry {
    pub place: ExecPlace,
    /// Whether it is a marker, or a marker hides it.
    pub is_hidden: bool,
    /// The payload of its event; none if that was erased.
    pub payload: Option<String>,
}

/// The folds of a goal, as they are encoded above the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecGoal {
    /// Of all records.
    pub whole: String,
    /// Of those that are not hidden, if some are.
    pub visible: Option<String>,
}

/// The last grant of a scope of a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecLease {
    pub scope: String,
    /// As it is encoded above the store.
    pub lease: String,
    /// In seconds since 1970.
    pub lapses_at: i64,
    pub is_released: bool,
}

/// Of the whole log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExecTotals {
    /// The highest number of a record.
    pub highest_seq: i64,
    /// Lines that are no records.
    pub damaged: i64,
}

/// What can be read of the execution log.
pub trait ExecRead {
    fn exec_totals(&self) -> Result<ExecTotals, StoreError>;
    fn exec_goal(&self, goal: &str) -> Result<Option<ExecGoal>, StoreError>;
    /// Up to `limit` names of goals after `after`, sorted.
    fn exec_goals(&self, after: &str, limit: usize) -> Result<Vec<String>, StoreError>;
    /// The number and the id of the last record of a goal in the order of both.
    fn exec_last(&self, goal: &str) -> Result<Option<(i64, String)>, StoreError>;
    /// Up to `limit` records of a goal in their order, those after `after`.
    fn exec_entries(
        &self,
        goal: &str,
        after: Option<&ExecPlace>,
        limit: usize,
    ) -> Result<Vec<ExecEntry>, StoreError>;
    /// Up to `limit` records of a goal against their order, those before `before`.
    fn exec_latest(
        &self,
        goal: &str,
        before: Option<&ExecPlace>,
        limit: usize,
    ) -> Result<Vec<ExecEntry>, StoreError>;
    /// The first record of the log with this operation id.
    fn exec_by_operation(&self, operation_id: &str) -> Result<Option<EventId>, StoreError>;
    /// The first record of the log with this origin.
    fn exec_by_origin(&self, origin: &str) -> Result<Option<EventId>, StoreError>;
    /// The records with this id, in the order of the log.
    fn exec_by_id(&self, id: &str) -> Result<Vec<ExecRecord>, StoreError>;
    /// Whether an imported line is there.
    fn exec_has_item(&self, item: &str) -> Result<bool, StoreError>;
    /// The highest number of the receipts of this kind in a goal, or of those with this id.
    fn exec_newest_receipt(
        &self,
        goal: &str,
        receipt: &str,
        id: Option<&str>,
    ) -> Result<Option<i64>, StoreError>;
    /// Whether a marker hides records with this id.
    fn exec_is_hidden(&self, id: &str) -> Result<bool, StoreError>;
    /// Whether records of a goal are hidden.
    fn exec_has_hidden(&self, goal: &str) -> Result<bool, StoreError>;
    fn exec_lease(&self, goal: &str, scope: &str) -> Result<Option<ExecLease>, StoreError>;
    /// The leases of a goal that were not released and lapse after `after`, by scope.
    fn exec_open_leases(&self, goal: &str, after: i64) -> Result<Vec<ExecLease>, StoreError>;
}

/// What can be written of it.
pub trait ExecWrite: ExecRead {
    fn exec_put_record(&mut self, row: &ExecRecord) -> Result<(), StoreError>;
    /// Hides the records with this id; answers whose goals' they are.
    fn exec_hide(&mut self, id: &str) -> Result<Vec<String>, StoreError>;
    fn exec_put_goal(&mut self, goal: &str, row: &ExecGoal) -> Result<(), StoreError>;
    fn exec_put_lease(&mut self, goal: &str, row: &ExecLease) -> Result<(), StoreError>;
    fn exec_clear_leases(&mut self, goal: &str) -> Result<(), StoreError>;
    fn exec_set_totals(&mut self, totals: ExecTotals) -> Result<(), StoreError>;
}
