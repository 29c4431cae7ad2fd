//! The rows of notices.

use std::cmp::Reverse;

use super::Memory;
use crate::store::{Notice, NoticeRead, NoticeWrite, Notices, StoreError};

impl NoticeRead for Memory {
    fn notice(&self, id: &str) -> Result<Option<Notice>, StoreError> {
        Ok(self.notices.get(id).cloned())
    }

    fn notices(
        &self,
        which: Notices<'_>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Notice>, StoreError> {
        let rows = self.notices.values().filter(|notice| which.contains(notice));
        let rows = rows.filter(|notice| after.is_none_or(|after| notice.id.as_str() > after));
        Ok(rows.take(limit).cloned().collect())
    }

    fn count_notices(&self, which: Notices<'_>, after: Option<&str>) -> Result<u64, StoreError> {
        Ok(self.notices(which, after, usize::MAX)?.len() as u64)
    }

    fn notices_of(&self, source: &str) -> Result<Vec<Notice>, StoreError> {
        let is_of = |notice: &&Notice| notice.source.as_deref() == Some(source);
        Ok(self.notices.values().filter(is_of).cloned().collect())
    }

    fn newest_notices(
        &self,
        resource: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Notice>, StoreError> {
        let mut rows = self.notices(Notices { resource, cleared: false }, None, usize::MAX)?;
        rows.sort_by_key(|notice| Reverse((notice.created_at, notice.id.clone())));
        rows.truncate(limit);
        Ok(rows)
    }
}

impl NoticeWrite for Memory {
    fn put_notice(&mut self, notice: &Notice) -> Result<(), StoreError> {
        self.notices.insert(notice.id.clone(), notice.clone());
        Ok(())
    }
}
