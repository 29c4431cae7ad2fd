//! The rows of notices.

use rusqlite::Row;

use super::{Audit, Misfit, column, moment};
use crate::id::AgentId;
use crate::store::sqlite::NOTICE;
use crate::store::{Notice, StoreError};

impl Audit<'_> {
    /// Gives `visit` the notices, by id.
    pub(crate) fn notices(
        &self,
        mut visit: impl FnMut(Result<Notice, Misfit>),
    ) -> Result<(), StoreError> {
        self.txn.all(&format!("{NOTICE} ORDER BY id"), (), |row| {
            visit(notice_row(row));
            Ok(())
        })?;
        Ok(())
    }
}

fn notice_row(row: &Row<'_>) -> Result<Notice, Misfit> {
    let cleared_at = match column::<Option<i64>>(row, 6, 0, "cleared_at")? {
        None => None,
        Some(_) => Some(moment(row, 6, 0, "cleared_at")?),
    };
    Ok(Notice {
        id: column(row, 0, 0, "id")?,
        author: AgentId::stored(&column::<String>(row, 1, 0, "author")?),
        resource: column(row, 2, 0, "resource")?,
        message: column(row, 3, 0, "message")?,
        created_at: moment(row, 4, 0, "created_at")?,
        expires_at: moment(row, 5, 0, "expires_at")?,
        cleared_at,
        source: column(row, 7, 0, "source")?,
    })
}
