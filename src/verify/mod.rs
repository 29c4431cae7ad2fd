//! Whether a store is what its events say, and its events are those that were written.
//!
//! Everything is computed again: digests, chains, the lineage index, heads, checkpoints, snapshots,
//! and the indexes of the engine. The log is cut into chunks of consecutive events, which all cores
//! check at once. An event is held against the *stored* rows of its parent, so that a chunk needs
//! nothing of the one before; if every event follows from its parent, all follow from the first.
//!
//! What no chain can show from inside, a cut tail or an old copy, is found by an [`Anchor`].
//!
//! Rule: docs/design.md, sections 2, 3 and 9 (law 4).

mod anchor;
mod branch;
mod checkpoint;
mod event;
mod exchange;
mod execution;
mod lease;
mod link;
mod memory;
mod operation;
mod queue;
mod report;
mod rows;
mod worker;

use std::{panic, thread};

pub use anchor::{Anchor, AnchorError};
pub use report::{Finding, Kind, LISTED, Report};

use crate::store::audit::{Audit, Index};
use crate::store::{Sqlite, StoreError};
use queue::Queue;
use report::{About, Findings};
use rows::Plan;
use worker::{Seen, Worker};

/// Checks all of `store`, and that it holds what `anchors` stand for.
///
/// Events that are appended meanwhile are not looked at. `progress` is told from time to time, from
/// any thread, up to which event of how many chunks have been handed out.
///
/// # Errors
/// Those of the store, but for damage, which is a finding wherever the store can be opened at all.
pub fn verify(
    store: &mut Sqlite,
    anchors: &[Anchor],
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Report, StoreError> {
    let path = store.path().to_owned();
    store.audit(|audit| {
        let mut findings = Findings::default();
        let Some(indexes) = rows::schema(audit, &mut findings)? else {
            return Ok(findings.report(0, 0, 0));
        };
        let plan = Plan::read(audit, indexes, &mut findings)?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let queue = Queue::new(&plan, cores);
        let work = || -> Result<Seen, StoreError> {
            let mut store = Sqlite::open_to_read(&path)?;
            let mut worker = Worker::new(&plan);
            // A transaction a job: a long one would keep the WAL from being written back.
            while store.audit(|audit| match queue.next(audit)? {
                Some(job) => worker.run(audit, job).map(|()| true),
                None => Ok(false),
            })? {
                progress(queue.reached(), plan.last.0.unsigned_abs());
            }
            Ok(worker.seen)
        };
        let mut seen = Seen::default();
        seen.findings.join(findings);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                seen.join(thread.join().unwrap_or_else(|fault| panic::resume_unwind(fault))?);
            }
            Ok::<_, StoreError>(())
        })?;
        conclude(audit, &plan, &mut seen, anchors)?;
        let branches = plan.branches.len() as u64;
        Ok(seen.findings.report(seen.events, branches, plan.checkpoints.len() as u64))
    })
}

/// What can be told only when all events have been seen.
fn conclude(
    audit: &Audit<'_>,
    plan: &Plan,
    seen: &mut Seen,
    anchors: &[Anchor],
) -> Result<(), StoreError> {
    let mut findings = std::mem::take(&mut seen.findings);
    let named = branch::check(audit, &plan.branches, &seen.tallies, &mut findings);
    soft(named, &mut findings)?;
    seen.grants.conclude(&plan.held, &mut findings);
    let confirmed = checkpoint::confirm(audit, plan, &mut seen.suspects, &mut findings);
    soft(confirmed, &mut findings)?;
    for (event, about) in &seen.erased {
        if let Some(why) = seen.erasures.misfit(event) {
            findings.add(Kind::Erasure, about.clone(), why);
        }
    }
    if !findings.has(Kind::EventShape) && !findings.has(Kind::Unreadable) {
        let indexes = plan.indexes.iter().copied();
        for index in indexes.filter(|index| !seen.agrees(*index)) {
            let wrong = index_differs(audit, index, &mut findings);
            soft(wrong, &mut findings)?;
        }
    }
    if plan.links != seen.links {
        let stray = soft(audit.stray_links(), &mut findings)?;
        for id in stray.into_iter().flatten() {
            findings.add(Kind::LinkStray, About::id(id), "there is no such event");
        }
    }
    if plan.checkpoints.len() as u64 != seen.checkpoints {
        let stray = checkpoint::stray(audit, plan, &mut findings);
        soft(stray, &mut findings)?;
    }
    let kept = execution::check(audit, plan, &mut findings);
    soft(kept, &mut findings)?;
    let anchored = rows::anchors(audit, anchors, &mut findings);
    soft(anchored, &mut findings)?;
    seen.findings = findings;
    Ok(())
}

fn index_differs(
    audit: &Audit<'_>,
    index: Index,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let lost = audit.not_in_index(index)?;
    for id in &lost {
        let why = format!("index {} does not lead to it", index.name());
        findings.add(Kind::Index, About::id(*id), why);
    }
    if lost.is_empty() {
        let why = format!("index {} does not agree with its table", index.name());
        findings.add(Kind::Index, About::STORE, why);
    }
    Ok(())
}

/// Makes damage a finding.
fn soft<T>(
    result: Result<T, StoreError>,
    findings: &mut Findings,
) -> Result<Option<T>, StoreError> {
    match result {
        Err(StoreError::Damaged { what }) => {
            findings.add(Kind::Unreadable, About::STORE, what);
            Ok(None)
        }
        other => other.map(Some),
    }
}
