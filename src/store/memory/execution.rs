//! The rows of the execution log, in maps.

use std::collections::BTreeMap;

use super::Memory;
use crate::id::EventId;
use crate::store::execution::{ExecRead, ExecWrite};
use crate::store::{
    ExecEntry, ExecGoal, ExecLease, ExecPlace, ExecRecord, ExecTotals, ReadTxn, StoreError,
};

#[derive(Debug, Clone, Default)]
pub(super) struct Execution {
    records: BTreeMap<EventId, ExecRecord>,
    goals: BTreeMap<String, ExecGoal>,
    leases: BTreeMap<(String, String), ExecLease>,
    totals: ExecTotals,
}

fn place(row: &ExecRecord) -> ExecPlace {
    ExecPlace { event_seq: row.event_seq, id: row.id.clone(), event: row.event }
}

impl Memory {
    fn entry(&self, row: &ExecRecord) -> Result<ExecEntry, StoreError> {
        let content = self.known_event(row.event)?.content;
        Ok(ExecEntry {
            place: place(row),
            is_hidden: row.is_hidden,
            payload: content.map(|content| content.payload),
        })
    }
}

impl Execution {
    fn of<'a>(&'a self, goal: &str) -> Vec<&'a ExecRecord> {
        let rows = self.records.values().filter(|row| row.goal.as_deref() == Some(goal));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| place(row));
        rows
    }

    fn first(&self, is_it: impl Fn(&ExecRecord) -> bool) -> Option<EventId> {
        self.records.values().find(|row| is_it(row)).map(|row| row.event)
    }
}

impl ExecRead for Memory {
    fn exec_totals(&self) -> Result<ExecTotals, StoreError> {
        Ok(self.execution.totals)
    }

    fn exec_goal(&self, goal: &str) -> Result<Option<ExecGoal>, StoreError> {
        Ok(self.execution.goals.get(goal).cloned())
    }

    fn exec_goals(&self, after: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let names = self.execution.goals.keys().filter(|name| name.as_str() > after);
        Ok(names.take(limit).cloned().collect())
    }

    fn exec_last(&self, goal: &str) -> Result<Option<(i64, String)>, StoreError> {
        let rows = self.execution.of(goal);
        Ok(rows.last().map(|row| (row.event_seq, row.id.clone())))
    }

    fn exec_entries(
        &self,
        goal: &str,
        after: Option<&ExecPlace>,
        limit: usize,
    ) -> Result<Vec<ExecEntry>, StoreError> {
        let rows = self.execution.of(goal).into_iter();
        let rows = rows.filter(|row| after.is_none_or(|after| place(row) > *after));
        rows.take(limit).map(|row| self.entry(row)).collect()
    }

    fn exec_latest(
        &self,
        goal: &str,
        before: Option<&ExecPlace>,
        limit: usize,
    ) -> Result<Vec<ExecEntry>, StoreError> {
        let rows = self.execution.of(goal).into_iter().rev();
        let rows = rows.filter(|row| before.is_none_or(|before| place(row) < *before));
        rows.take(limit).map(|row| self.entry(row)).collect()
    }

    fn exec_by_operation(&self, operation_id: &str) -> Result<Option<EventId>, StoreError> {
        Ok(self.execution.first(|row| row.operation_id.as_deref() == Some(operation_id)))
    }

    fn exec_by_origin(&self, origin: &str) -> Result<Option<EventId>, StoreError> {
        Ok(self.execution.first(|row| row.origin.as_deref() == Some(origin)))
    }

    fn exec_by_id(&self, id: &str) -> Result<Vec<ExecRecord>, StoreError> {
        Ok(self.execution.records.values().filter(|row| row.id == id).cloned().collect())
    }

    fn exec_has_item(&self, item: &str) -> Result<bool, StoreError> {
        Ok(self.execution.first(|row| row.item.as_deref() == Some(item)).is_some())
    }

    fn exec_newest_receipt(
        &self,
        goal: &str,
        receipt: &str,
        id: Option<&str>,
    ) -> Result<Option<i64>, StoreError> {
        let rows = self.execution.of(goal).into_iter();
        let rows = rows.filter(|row| row.receipt.as_deref() == Some(receipt));
        let rows = rows.filter(|row| id.is_none_or(|id| row.id == id));
        Ok(rows.map(|row| row.event_seq).max())
    }

    fn exec_is_hidden(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.execution.first(|row| row.hides.as_deref() == Some(id)).is_some())
    }

    fn exec_has_hidden(&self, goal: &str) -> Result<bool, StoreError> {
        Ok(self.execution.of(goal).iter().any(|row| row.is_hidden))
    }

    fn exec_lease(&self, goal: &str, scope: &str) -> Result<Option<ExecLease>, StoreError> {
        let key = (goal.to_owned(), scope.to_owned());
        Ok(self.execution.leases.get(&key).cloned())
    }

    fn exec_open_leases(&self, goal: &str, after: i64) -> Result<Vec<ExecLease>, StoreError> {
        let rows = self.execution.leases.iter().filter(|((of, _), _)| of == goal);
        let rows = rows.map(|(_, row)| row);
        let rows = rows.filter(|row| !row.is_released && row.lapses_at > after);
        Ok(rows.cloned().collect())
    }
}

impl ExecWrite for Memory {
    fn exec_put_record(&mut self, row: &ExecRecord) -> Result<(), StoreError> {
        self.execution.records.insert(row.event, row.clone());
        Ok(())
    }

    fn exec_hide(&mut self, id: &str) -> Result<Vec<String>, StoreError> {
        let mut goals = Vec::new();
        let rows = self.execution.records.values_mut();
        for row in rows.filter(|row| row.id == id && !row.is_damaged) {
            row.is_hidden = true;
            goals.extend(row.goal.clone().filter(|goal| !goals.contains(goal)));
        }
        Ok(goals)
    }

    fn exec_put_goal(&mut self, goal: &str, row: &ExecGoal) -> Result<(), StoreError> {
        self.execution.goals.insert(goal.to_owned(), row.clone());
        Ok(())
    }

    fn exec_put_lease(&mut self, goal: &str, row: &ExecLease) -> Result<(), StoreError> {
        self.execution.leases.insert((goal.to_owned(), row.scope.clone()), row.clone());
        Ok(())
    }

    fn exec_clear_leases(&mut self, goal: &str) -> Result<(), StoreError> {
        self.execution.leases.retain(|(of, _), _| of != goal);
        Ok(())
    }

    fn exec_set_totals(&mut self, totals: ExecTotals) -> Result<(), StoreError> {
        self.execution.totals = totals;
        Ok(())
    }
}
