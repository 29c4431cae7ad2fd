//! The rows of the execution log, as statements of SQLite.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::Txn;
use crate::id::EventId;
use crate::store::execution::{ExecRead, ExecWrite};
use crate::store::{ExecEntry, ExecGoal, ExecLease, ExecPlace, ExecRecord, ExecTotals, StoreError};

pub const EXEC_RECORD: &str = "SELECT event, goal, id, operation_id, event_seq, receipt, origin, \
                               hides, item, hidden, damaged FROM exec_record";
const ENTRY: &str = "SELECT r.event_seq, r.id, r.event, r.hidden, e.id, e.salt, e.payload \
                     FROM exec_record r LEFT JOIN event e ON e.id = r.event";
pub const EXEC_LEASE: &str = "SELECT scope, lease, lapses_at, released FROM exec_lease";

impl Txn<'_> {
    /// A page that begins at `from`, or at `end` of the numbers, which no record has.
    fn entries(
        &self,
        sql: &str,
        goal: &str,
        from: Option<&ExecPlace>,
        end: i64,
        limit: usize,
    ) -> Result<Vec<ExecEntry>, StoreError> {
        let (seq, id, event) =
            from.map_or((end, "", end), |place| (place.event_seq, &place.id, place.event.0));
        let rows = self.all(sql, (goal, seq, id, event, limit_of(limit)), |row| {
            let is_there = row.get_ref(4)? != ValueRef::Null;
            let is_erased = row.get_ref(5)? == ValueRef::Null;
            let place =
                ExecPlace { event_seq: row.get(0)?, id: row.get(1)?, event: EventId(row.get(2)?) };
            let payload = if is_erased { None } else { Some(row.get(6)?) };
            Ok((is_there, ExecEntry { place, is_hidden: row.get(3)?, payload }))
        })?;
        let entry = |(is_there, entry): (bool, ExecEntry)| match is_there {
            true => Ok(entry),
            false => Err(StoreError::damaged(format!("event {} is missing", entry.place.event))),
        };
        rows.into_iter().map(entry).collect()
    }
}

impl ExecRead for Txn<'_> {
    fn exec_totals(&self) -> Result<ExecTotals, StoreError> {
        let totals = self.optional("SELECT highest_seq, damaged FROM exec_total", (), |row| {
            Ok(ExecTotals { highest_seq: row.get(0)?, damaged: row.get(1)? })
        })?;
        Ok(totals.unwrap_or_default())
    }

    fn exec_goal(&self, goal: &str) -> Result<Option<ExecGoal>, StoreError> {
        self.optional("SELECT whole, visible FROM exec_goal WHERE goal = ?1", [goal], |row| {
            Ok(ExecGoal { whole: row.get(0)?, visible: row.get(1)? })
        })
    }

    fn exec_goals(&self, after: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT goal FROM exec_goal WHERE goal > ?1 ORDER BY goal LIMIT ?2";
        self.all(sql, (after, limit_of(limit)), |row| row.get(0))
    }

    fn exec_last(&self, goal: &str) -> Result<Option<(i64, String)>, StoreError> {
        let sql = "SELECT event_seq, id FROM exec_record WHERE goal = ?1 \
                   ORDER BY event_seq DESC, id DESC LIMIT 1";
        self.optional(sql, [goal], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn exec_entries(
        &self,
        goal: &str,
        after: Option<&ExecPlace>,
        limit: usize,
    ) -> Result<Vec<ExecEntry>, StoreError> {
        let sql = format!(
            "{ENTRY} WHERE r.goal = ?1 AND (r.event_seq, r.id, r.event) > (?2, ?3, ?4) \
             ORDER BY r.event_seq, r.id, r.event LIMIT ?5"
        );
        self.entries(&sql, goal, after, i64::MIN, limit)
    }

    fn exec_latest(
        &self,
        goal: &str,
        before: Option<&ExecPlace>,
        limit: usize,
    ) -> Result<Vec<ExecEntry>, StoreError> {
        let sql = format!(
            "{ENTRY} WHERE r.goal = ?1 AND (r.event_seq, r.id, r.event) < (?2, ?3, ?4) \
             ORDER BY r.event_seq DESC, r.id DESC, r.event DESC LIMIT ?5"
        );
        self.entries(&sql, goal, before, i64::MAX, limit)
    }

    fn exec_by_operation(&self, operation_id: &str) -> Result<Option<EventId>, StoreError> {
        let sql = "SELECT min(event) FROM exec_record WHERE operation_id = ?1";
        Ok(self.optional(sql, [operation_id], |row| row.get::<_, Option<i64>>(0))?.flatten())
            .map(|id| id.map(EventId))
    }

    fn exec_by_origin(&self, origin: &str) -> Result<Option<EventId>, StoreError> {
        let sql = "SELECT min(event) FROM exec_record WHERE origin = ?1";
        Ok(self.optional(sql, [origin], |row| row.get::<_, Option<i64>>(0))?.flatten())
            .map(|id| id.map(EventId))
    }

    fn exec_by_id(&self, id: &str) -> Result<Vec<ExecRecord>, StoreError> {
        self.all(&format!("{EXEC_RECORD} WHERE id = ?1 ORDER BY event"), [id], record)
    }

    fn exec_has_item(&self, item: &str) -> Result<bool, StoreError> {
        self.exists("SELECT 1 FROM exec_record WHERE item = ?1 LIMIT 1", [item])
    }

    fn exec_newest_receipt(
        &self,
        goal: &str,
        receipt: &str,
        id: Option<&str>,
    ) -> Result<Option<i64>, StoreError> {
        let newest = match id {
            None => self.optional(
                "SELECT max(event_seq) FROM exec_record WHERE goal = ?1 AND receipt = ?2",
                (goal, receipt),
                |row| row.get(0),
            )?,
            Some(id) => self.optional(
                "SELECT max(event_seq) FROM exec_record INDEXED BY exec_record_id \
                 WHERE id = ?3 AND goal = ?1 AND receipt = ?2",
                (goal, receipt, id),
                |row| row.get(0),
            )?,
        };
        Ok(newest.flatten())
    }

    fn exec_is_hidden(&self, id: &str) -> Result<bool, StoreError> {
        self.exists("SELECT 1 FROM exec_record WHERE hides = ?1 LIMIT 1", [id])
    }

    fn exec_has_hidden(&self, goal: &str) -> Result<bool, StoreError> {
        self.exists("SELECT 1 FROM exec_record WHERE goal = ?1 AND hidden = 1 LIMIT 1", [goal])
    }

    fn exec_lease(&self, goal: &str, scope: &str) -> Result<Option<ExecLease>, StoreError> {
        let sql = format!("{EXEC_LEASE} WHERE goal = ?1 AND scope = ?2");
        self.optional(&sql, (goal, scope), lease)
    }

    fn exec_open_leases(&self, goal: &str, after: i64) -> Result<Vec<ExecLease>, StoreError> {
        let sql = format!(
            "{EXEC_LEASE} WHERE goal = ?1 AND released = 0 AND lapses_at > ?2 ORDER BY scope"
        );
        self.all(&sql, (goal, after), lease)
    }
}

impl ExecWrite for Txn<'_> {
    fn exec_put_record(&mut self, row: &ExecRecord) -> Result<(), StoreError> {
        self.execute(
            "INSERT OR REPLACE INTO exec_record \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                row.event.0,
                &row.goal,
                &row.id,
                &row.operation_id,
                row.event_seq,
                &row.receipt,
                &row.origin,
                &row.hides,
                &row.item,
                row.is_hidden,
                row.is_damaged,
            ),
        )
    }

    fn exec_hide(&mut self, id: &str) -> Result<Vec<String>, StoreError> {
        self.execute("UPDATE exec_record SET hidden = 1 WHERE id = ?1 AND damaged = 0", [id])?;
        let sql = "SELECT DISTINCT goal FROM exec_record WHERE id = ?1 AND goal IS NOT NULL";
        self.all(sql, [id], |row| row.get(0))
    }

    fn exec_put_goal(&mut self, goal: &str, row: &ExecGoal) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO exec_goal VALUES (?1, ?2, ?3)";
        self.execute(sql, (goal, &row.whole, &row.visible))
    }

    fn exec_put_lease(&mut self, goal: &str, row: &ExecLease) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO exec_lease VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, (goal, &row.scope, &row.lease, row.lapses_at, row.is_released))
    }

    fn exec_clear_leases(&mut self, goal: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM exec_lease WHERE goal = ?1", [goal])
    }

    fn exec_set_totals(&mut self, totals: ExecTotals) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO exec_total VALUES (1, ?1, ?2)";
        self.execute(sql, (totals.highest_seq, totals.damaged))
    }
}

pub fn record(row: &Row<'_>) -> rusqlite::Result<ExecRecord> {
    Ok(ExecRecord {
        event: EventId(row.get(0)?),
        goal: row.get(1)?,
        id: row.get(2)?,
        operation_id: row.get(3)?,
        event_seq: row.get(4)?,
        receipt: row.get(5)?,
        origin: row.get(6)?,
        hides: row.get(7)?,
        item: row.get(8)?,
        is_hidden: row.get(9)?,
        is_damaged: row.get(10)?,
    })
}

pub fn lease(row: &Row<'_>) -> rusqlite::Result<ExecLease> {
    Ok(ExecLease {
        scope: row.get(0)?,
        lease: row.get(1)?,
        lapses_at: row.get(2)?,
        is_released: row.get(3)?,
    })
}

fn limit_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
