//! The rows of operations, settings and current branches.

use super::{Audit, Misfit, column};
use crate::store::StoreError;

/// What was answered under an op id.
pub(crate) struct OperationRow {
    pub id: String,
    /// The length of the digest, in bytes.
    pub digest: usize,
    pub report: String,
}

/// A key and its value.
type Pair = (String, String);

impl Audit<'_> {
    /// Up to `limit` operations, those with ids above `after` or all, by id.
    pub(crate) fn operations(
        &self,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<OperationRow>, StoreError> {
        let which = if after.is_some() { "id > ?1" } else { "?1 IS NULL" };
        let sql =
            format!("SELECT id, digest, report FROM operation WHERE {which} ORDER BY id LIMIT ?2");
        self.txn.all(&sql, (after, limit), |row| {
            let digest = row.get_ref(1)?.as_blob()?.len();
            Ok(OperationRow { id: row.get(0)?, digest, report: row.get(2)? })
        })
    }

    /// Whether `table`, which has one row at most, has another.
    pub(crate) fn has_more(&self, table: &str) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM {table} WHERE id <> 1");
        Ok(self.txn.optional(&sql, (), |_| Ok(()))?.is_some())
    }

    pub(crate) fn settings(&self) -> Result<Vec<Result<Pair, Misfit>>, StoreError> {
        self.pairs("SELECT key, value FROM setting ORDER BY key", ["key", "value"])
    }

    /// The branch that each agent is on.
    pub(crate) fn current_branches(&self) -> Result<Vec<Result<Pair, Misfit>>, StoreError> {
        let sql = "SELECT agent, branch FROM current_branch ORDER BY agent";
        self.pairs(sql, ["agent", "branch"])
    }

    fn pairs(
        &self,
        sql: &str,
        [key, value]: [&str; 2],
    ) -> Result<Vec<Result<Pair, Misfit>>, StoreError> {
        self.txn.all(sql, (), |row| {
            Ok(column(row, 0, 0, key).and_then(|found| Ok((found, column(row, 1, 0, value)?))))
        })
    }
}
