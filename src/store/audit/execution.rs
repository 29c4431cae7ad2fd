//! The rows of the execution log.

use super::Audit;
use crate::id::EventId;
use crate::store::sqlite::{EXEC_RECORD, exec_record};
use crate::store::{ExecLease, ExecRecord, StoreError};

impl Audit<'_> {
    /// The number of rows of `exec_record`, of `exec_goal` and of `exec_lease`.
    pub(crate) fn exec_counts(&self) -> Result<[u64; 3], StoreError> {
        Ok([
            self.count_of("exec_record")?,
            self.count_of("exec_goal")?,
            self.count_of("exec_lease")?,
        ])
    }

    fn count_of(&self, table: &str) -> Result<u64, StoreError> {
        let sql = format!("SELECT count(*) FROM {table}");
        let found = self.txn.optional(&sql, (), |row| row.get::<_, i64>(0))?;
        Ok(found.map_or(0, i64::unsigned_abs))
    }

    /// The row of the line in an event.
    pub(crate) fn exec_row(&self, event: EventId) -> Result<Option<ExecRecord>, StoreError> {
        self.txn.optional(&format!("{EXEC_RECORD} WHERE event = ?1"), [event.0], exec_record)
    }

    /// The goals that records are of, sorted.
    pub(crate) fn exec_record_goals(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT goal FROM exec_record WHERE goal IS NOT NULL ORDER BY goal";
        self.txn.all(sql, (), |row| row.get(0))
    }

    /// All leases of a goal, released ones too, by scope.
    pub(crate) fn exec_leases(&self, goal: &str) -> Result<Vec<ExecLease>, StoreError> {
        let sql = "SELECT scope FROM exec_lease WHERE goal = ?1 ORDER BY scope";
        let scopes: Vec<String> = self.txn.all(sql, [goal], |row| row.get(0))?;
        let rows = scopes.iter().map(|scope| self.txn().exec_lease(goal, scope));
        Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}
