//! The rows of notices.

use rusqlite::Row;

use super::Txn;
use super::row::count;
use crate::id::AgentId;
use crate::store::{Notice, NoticeRead, NoticeWrite, Notices, StoreError};
use crate::time::Timestamp;

pub const NOTICE: &str = "SELECT id, author, resource, message, created_at, expires_at, cleared_at, \
     source FROM notice";

/// Of ?1 the resource, ?2 the id before the first; no id is empty.
fn condition(which: Notices<'_>) -> &'static str {
    match which.cleared {
        true => "(?1 IS NULL OR resource = ?1) AND id > ?2",
        false => "(?1 IS NULL OR resource = ?1) AND id > ?2 AND cleared_at IS NULL",
    }
}

impl NoticeRead for Txn<'_> {
    fn notice(&self, id: &str) -> Result<Option<Notice>, StoreError> {
        self.optional(&format!("{NOTICE} WHERE id = ?1"), [id], read)
    }

    fn notices(
        &self,
        which: Notices<'_>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Notice>, StoreError> {
        let sql = format!("{NOTICE} WHERE {} ORDER BY id LIMIT ?3", condition(which));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.all(&sql, (which.resource, after.unwrap_or_default(), limit), read)
    }

    fn count_notices(&self, which: Notices<'_>, after: Option<&str>) -> Result<u64, StoreError> {
        let sql = format!("SELECT count(*) FROM notice WHERE {}", condition(which));
        let params = (which.resource, after.unwrap_or_default());
        let found = self.optional(&sql, params, |row| count(row, 0))?;
        Ok(found.unwrap_or_default())
    }

    fn notices_of(&self, source: &str) -> Result<Vec<Notice>, StoreError> {
        self.all(&format!("{NOTICE} WHERE source = ?1 ORDER BY id"), [source], read)
    }

    fn newest_notices(
        &self,
        resource: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Notice>, StoreError> {
        let sql = format!(
            "{NOTICE} WHERE cleared_at IS NULL AND (?1 IS NULL OR resource = ?1) \
             ORDER BY created_at DESC, id DESC LIMIT ?2"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.all(&sql, (resource, limit), read)
    }
}

impl NoticeWrite for Txn<'_> {
    fn put_notice(&mut self, notice: &Notice) -> Result<(), StoreError> {
        self.execute(
            "INSERT OR REPLACE INTO notice VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                &notice.id,
                notice.author.as_str(),
                &notice.resource,
                &notice.message,
                notice.created_at.micros(),
                notice.expires_at.micros(),
                notice.cleared_at.map(Timestamp::micros),
                &notice.source,
            ),
        )
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Notice> {
    Ok(Notice {
        id: row.get(0)?,
        author: AgentId::stored(row.get_ref(1)?.as_str()?),
        resource: row.get(2)?,
        message: row.get(3)?,
        created_at: Timestamp::from_micros(row.get(4)?),
        expires_at: Timestamp::from_micros(row.get(5)?),
        cleared_at: row.get::<_, Option<i64>>(6)?.map(Timestamp::from_micros),
        source: row.get(7)?,
    })
}
