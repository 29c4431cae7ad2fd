//! Whether what is kept of the execution log follows from its records.

use std::collections::HashSet;

use super::report::{About, Findings, Kind};
use super::rows::Plan;
use crate::event::{Event, EventType};
use crate::id::{BranchName, EventId, shown};
use crate::mkep::event::{self, Line};
use crate::mkep::kept::Seal;
use crate::mkep::ledger;
use crate::mkep::record;
use crate::store::audit::Audit;
use crate::store::{Branch, ExecTotals, StoreError};

pub(super) fn check(
    audit: &Audit<'_>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let branch = plan.branches.values().find(|branch| branch.name.as_str() == BranchName::EXEC);
    let (mut totals, mut lines) = (ExecTotals::default(), 0);
    if let Some(branch) = branch {
        let hidden = hidden(audit, branch)?;
        each_line(audit, branch, |found, line| {
            lines += 1;
            count(line.as_ref(), &mut totals);
            check_row(audit, found, line.as_ref(), &hidden, findings)
        })?;
    }
    let [rows, goals, leases] = audit.exec_counts()?;
    let mut wrong = |why: String| findings.add(Kind::Execution, About::STORE, why);
    if rows != lines {
        wrong(format!("the execution log has {lines} lines, its index {rows}"));
    }
    if audit.has_more("exec_total")? {
        wrong("the execution log has more than one row of totals".to_owned());
    }
    if audit.txn().exec_totals()? != totals {
        wrong("the totals of the execution log are not those of its lines".to_owned());
    }
    let names = audit.exec_record_goals()?;
    if names.len() as u64 != goals {
        wrong(format!("there are records of {} goals, and {goals} are kept", names.len()));
    }
    let mut scopes = 0;
    for goal in names {
        for why in goal_misfits(audit, &goal, &mut scopes)? {
            wrong(format!("goal '{}': {why}", shown(&goal)));
        }
    }
    if scopes != leases {
        wrong(format!("{scopes} scopes were leased, and {leases} are kept"));
    }
    Ok(())
}

/// Gives `visit` the events of the log with their lines; no line for one that was erased.
fn each_line(
    audit: &Audit<'_>,
    branch: &Branch,
    mut visit: impl FnMut(&Event, Option<Line>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for sequence in 1..=branch.head_sequence {
        // What is wrong with an event that is not there has been said.
        let Some(id) = audit.txn().own_event(branch.id, sequence)? else { continue };
        let Some(found) = audit.txn().event(id)? else { continue };
        if found.kind != EventType::ExecRecord {
            continue;
        }
        let line = found.content.as_ref().and_then(|content| event::line(&content.payload));
        visit(&found, line.as_deref().map(Line::read))?;
    }
    Ok(())
}

/// The ids that markers hide.
fn hidden(audit: &Audit<'_>, branch: &Branch) -> Result<HashSet<String>, StoreError> {
    let mut hidden = HashSet::new();
    each_line(audit, branch, |found, line| {
        if let Some(line) = line {
            hidden.extend(event::row(found.id, &line, None, false).hides);
        }
        Ok(())
    })?;
    Ok(hidden)
}

fn count(line: Option<&Line>, totals: &mut ExecTotals) {
    match line {
        Some(Line::Record(record)) => {
            totals.highest_seq = totals.highest_seq.max(record::event_seq(record));
        }
        Some(Line::Damage) => totals.damaged += 1,
        None => {}
    }
}

fn check_row(
    audit: &Audit<'_>,
    found: &Event,
    line: Option<&Line>,
    hidden: &HashSet<String>,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let row = audit.exec_row(found.id)?;
    // Of an erased line the row is all that is left.
    let Some(line) = line else { return Ok(()) };
    let item = found.content.as_ref().and_then(event::item);
    let is_hidden = match line {
        Line::Record(record) => hidden.contains(record::id(record)),
        Line::Damage => false,
    };
    if row.as_ref() != Some(&event::row(found.id, line, item, is_hidden)) {
        let why = "the index of the execution log does not say what the line says";
        findings.add(Kind::Execution, About::id(EventId(found.id.0)), why);
    }
    Ok(())
}

/// What is wrong with the folds and the leases of a goal; adds to `scopes` how many were leased.
fn goal_misfits(
    audit: &Audit<'_>,
    goal: &str,
    scopes: &mut u64,
) -> Result<Vec<&'static str>, StoreError> {
    let txn = audit.txn();
    let (whole, leases) = ledger::refold(txn, goal, false)?;
    let visible = match txn.exec_has_hidden(goal)? {
        true => Some(ledger::refold(txn, goal, true)?.0),
        false => None,
    };
    let mut wrong = Vec::new();
    let kept = Seal::of(txn)?.row(goal, &whole, visible.as_ref());
    let is_kept = txn.exec_goal(goal)?.is_some_and(|row| row == kept);
    if !is_kept {
        wrong.push("its fold is not that of its records");
    }
    *scopes += leases.len() as u64;
    let rows = leases.into_iter().map(|(scope, lease)| ledger::lease_row(scope, &lease));
    if audit.exec_leases(goal)? != rows.collect::<Vec<_>>() {
        wrong.push("its leases are not those of its records");
    }
    Ok(wrong)
}
