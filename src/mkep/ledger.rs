//! Goals as one transaction sees and changes them, and the rows that are kept of them.
//!
//! What is kept is derived: the fold of each goal, the last grant of each scope, two totals. It is
//! brought up to date in the transaction that appends, computed anew where it does not fit the records,
//! and checked by `mk verify`.
//!
//! A goal has two folds if markers hide some of its records: one of all of them, which the rules under
//! the lock go by, and one of those that can be seen.

use rustc_hash::FxHashMap;

use super::event::{self, Line};
use super::fold::Goal;
use super::kept::Seal;
use super::leases::{self, Change, Leases};
use super::record;
use super::response::State;
use crate::event::Event;
use crate::id::EventId;
use crate::store::{ExecLease, ExecTotals, ReadTxn, StoreError, WriteTxn};

/// Records that are read at once.
const CHUNK: usize = 1_024;

/// The goals that a transaction has looked at.
#[derive(Debug, Default)]
pub struct Ledger {
    totals: Option<ExecTotals>,
    totals_changed: bool,
    seal: Option<Seal>,
    goals: FxHashMap<String, Loaded>,
}

#[derive(Debug, Default)]
struct Loaded {
    whole: Goal,
    visible: Option<Goal>,
    /// The digest of what can be seen, with so many damaged lines.
    digest: Option<(i64, Option<String>)>,
    is_changed: bool,
    /// A record came out of order, or one is hidden now: the folds must be computed anew.
    is_stale: bool,
}

impl Loaded {
    fn seen(&self) -> &Goal {
        self.visible.as_ref().unwrap_or(&self.whole)
    }
}

impl Ledger {
    /// The fold of all records of a goal.
    pub(super) fn whole(&mut self, txn: &dyn ReadTxn, goal: &str) -> Result<&Goal, StoreError> {
        Ok(&self.loaded(txn, goal)?.whole)
    }

    /// The fold of the records of a goal that can be seen.
    ///
    /// # Errors
    /// Those of the store.
    pub fn seen(&mut self, txn: &dyn ReadTxn, goal: &str) -> Result<&Goal, StoreError> {
        Ok(self.loaded(txn, goal)?.seen())
    }

    /// Damaged lines of the log, and the highest number in it.
    ///
    /// # Errors
    /// Those of the store.
    pub fn totals(&mut self, txn: &dyn ReadTxn) -> Result<ExecTotals, StoreError> {
        match self.totals {
            Some(totals) => Ok(totals),
            None => Ok(*self.totals.insert(txn.exec_totals()?)),
        }
    }

    /// What responses say of a goal.
    pub(super) fn state(&mut self, txn: &dyn ReadTxn, goal: &str) -> Result<State, StoreError> {
        let damaged = self.totals(txn)?.damaged;
        let loaded = self.loaded(txn, goal)?;
        let digest = match &loaded.digest {
            Some((with, digest)) if *with == damaged => digest.clone(),
            _ => {
                let digest = loaded.seen().digest(goal, damaged);
                loaded.digest = Some((damaged, digest.clone()));
                digest
            }
        };
        let seen = loaded.seen();
        Ok(State {
            execution_seq: seen.execution_seq,
            projection_digest: digest,
            is_consistent: seen.is_consistent(),
        })
    }

    /// The leases of a goal that can be seen and were not released.
    ///
    /// # Errors
    /// Those of the store.
    pub fn open_leases(&mut self, txn: &dyn ReadTxn, goal: &str) -> Result<Leases, StoreError> {
        if self.loaded(txn, goal)?.visible.is_some() {
            let mut leases = refold(txn, goal, true)?.1;
            leases.retain(|_, lease| !lease.is_released);
            return Ok(leases);
        }
        let rows = txn.exec_open_leases(goal, i64::MIN)?;
        rows.into_iter().map(|row| Ok((row.scope.clone(), super::facts::decoded(&row)?))).collect()
    }

    /// Takes note of a line that was appended as `event`. `item` names it among imported lines.
    ///
    /// # Errors
    /// Those of the store.
    pub fn keep(
        &mut self,
        txn: &mut dyn WriteTxn,
        event: EventId,
        line: &Line,
        item: Option<String>,
    ) -> Result<(), StoreError> {
        let mut totals = self.totals(txn)?;
        let Line::Record(members) = line else {
            totals.damaged += 1;
            self.set_totals(totals);
            return txn.exec_put_record(&event::row(event, line, item, false));
        };
        let id = record::id(members);
        let is_hidden = !id.is_empty() && txn.exec_is_hidden(id)?;
        let row = event::row(event, line, item, is_hidden);
        // Loaded before the record is there, so that what is kept is found up to date.
        let goal = row.goal.clone();
        if let Some(goal) = &goal {
            self.loaded(txn, goal)?;
        }
        txn.exec_put_record(&row)?;
        totals.highest_seq = totals.highest_seq.max(row.event_seq);
        self.set_totals(totals);
        if let Some(hidden) = &row.hides {
            for goal in txn.exec_hide(hidden)? {
                let loaded = self.loaded(txn, &goal)?;
                (loaded.is_stale, loaded.is_changed) = (true, true);
            }
        }
        let Some(goal) = goal else { return Ok(()) };
        let loaded = self.loaded(txn, &goal)?;
        (loaded.is_changed, loaded.digest) = (true, None);
        if row.is_hidden || loaded.is_stale || (row.event_seq, id) < last(&loaded.whole) {
            loaded.is_stale = true;
            return Ok(());
        }
        loaded.whole.apply(members);
        if let Some(visible) = &mut loaded.visible {
            visible.apply(members);
        }
        match Change::of(members) {
            Some(Change::Grant { scope, lease }) => {
                txn.exec_put_lease(&goal, &lease_row(scope, &lease))
            }
            Some(Change::Release { scope, lease_id }) => {
                let Some(row) = txn.exec_lease(&goal, &scope)? else { return Ok(()) };
                let lease = super::facts::decoded(&row)?;
                match lease.lease_id == lease_id {
                    true => txn.exec_put_lease(&goal, &ExecLease { is_released: true, ..row }),
                    false => Ok(()),
                }
            }
            None => Ok(()),
        }
    }

    /// Takes note of an event of the log that came from another store.
    ///
    /// # Errors
    /// Those of the store.
    pub fn adopt(&mut self, txn: &mut dyn WriteTxn, event: &Event) -> Result<(), StoreError> {
        let Some(content) = &event.content else { return Ok(()) };
        let line = event::line(&content.payload).map_or(Line::Damage, |line| Line::read(&line));
        self.keep(txn, event.id, &line, event::item(content))
    }

    /// Stores what changed. Nothing may be asked of the ledger afterwards.
    ///
    /// # Errors
    /// Those of the store.
    pub fn store(mut self, txn: &mut dyn WriteTxn) -> Result<(), StoreError> {
        if let Some(totals) = self.totals.filter(|_| self.totals_changed) {
            txn.exec_set_totals(totals)?;
        }
        for (goal, mut loaded) in self.goals.into_iter().filter(|(_, loaded)| loaded.is_changed) {
            if loaded.is_stale {
                let (whole, leases) = refold(txn, &goal, false)?;
                txn.exec_clear_leases(&goal)?;
                for (scope, lease) in leases {
                    txn.exec_put_lease(&goal, &lease_row(scope, &lease))?;
                }
                loaded.whole = whole;
                loaded.visible = visible(txn, &goal)?;
            }
            let seal = sealed(&mut self.seal, txn)?;
            let row = seal.row(&goal, &loaded.whole, loaded.visible.as_ref());
            txn.exec_put_goal(&goal, &row)?;
        }
        Ok(())
    }

    fn set_totals(&mut self, totals: ExecTotals) {
        (self.totals, self.totals_changed) = (Some(totals), true);
    }

    fn loaded(&mut self, txn: &dyn ReadTxn, goal: &str) -> Result<&mut Loaded, StoreError> {
        if !self.goals.contains_key(goal) {
            self.goals.insert(goal.to_owned(), load(txn, goal, &mut self.seal)?);
        }
        Ok(self.goals.get_mut(goal).expect("it was put there if it was not"))
    }
}

/// The row of a lease.
#[must_use]
pub fn lease_row(scope: String, lease: &leases::Lease) -> ExecLease {
    ExecLease {
        scope,
        lease: lease.report().line(),
        lapses_at: lease.lapses_at(),
        is_released: lease.is_released,
    }
}

fn last(goal: &Goal) -> (i64, &str) {
    (goal.last.0, &goal.last.1)
}

fn load(txn: &dyn ReadTxn, goal: &str, seal: &mut Option<Seal>) -> Result<Loaded, StoreError> {
    let Some(newest) = txn.exec_last(goal)? else { return Ok(Loaded::default()) };
    let kept = match txn.exec_goal(goal)? {
        Some(row) => sealed(seal, txn)?.read(goal, &row),
        None => None,
    };
    let (whole, visible) = match kept.filter(|(whole, _)| whole.last == newest) {
        Some(folds) => folds,
        // Nothing is decided from a row that was changed, or does not fit the records.
        None => (refold(txn, goal, false)?.0, visible(txn, goal)?),
    };
    Ok(Loaded { whole, visible, ..Loaded::default() })
}

fn sealed<'a>(slot: &'a mut Option<Seal>, txn: &dyn ReadTxn) -> Result<&'a Seal, StoreError> {
    match slot {
        Some(seal) => Ok(seal),
        None => Ok(slot.insert(Seal::of(txn)?)),
    }
}

/// The fold of what can be seen, if that is not everything.
fn visible(txn: &dyn ReadTxn, goal: &str) -> Result<Option<Goal>, StoreError> {
    match txn.exec_has_hidden(goal)? {
        true => Ok(Some(refold(txn, goal, true)?.0)),
        false => Ok(None),
    }
}

/// The folds of a goal from its records, from the first to the last.
///
/// # Errors
/// Those of the store.
pub fn refold(
    txn: &dyn ReadTxn,
    goal: &str,
    only_visible: bool,
) -> Result<(Goal, Leases), StoreError> {
    let (mut fold, mut leases) = (Goal::default(), Leases::new());
    let mut after = None;
    loop {
        let entries = txn.exec_entries(goal, after.as_ref(), CHUNK)?;
        let Some(newest) = entries.last() else { return Ok((fold, leases)) };
        after = Some(newest.place.clone());
        for entry in entries.iter().filter(|entry| !only_visible || !entry.is_hidden) {
            match entry.payload.as_deref().and_then(event::folded_in) {
                Some(record) => {
                    fold.apply(&record);
                    leases::apply(&mut leases, &record);
                }
                None => fold.pass(entry.place.event_seq, &entry.place.id),
            }
        }
    }
}
