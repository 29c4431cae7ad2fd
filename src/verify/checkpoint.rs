//! Checkpoints, computed again on the way through the log.
//!
//! A chunk that holds several checkpoints of a branch folds its events from one to the next. The
//! first of them is computed from the nearest one before, as a reader would. What does not agree is
//! only suspected, since the checkpoint it was computed from may be the false one; in the end each
//! suspect is computed again without the others.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::report::{About, Findings, Kind};
use super::rows::Plan;
use crate::canon::Object;
use crate::event::{Event, EventType, Payload};
use crate::id::{EventId, LineageId};
use crate::store::StoreError;
use crate::store::audit::Audit;
use crate::workspace::fold::State;
use crate::workspace::snapshot::Cover;
use crate::workspace::{self, render, snapshot, stored};
use rustc_hash::FxHashMap;

/// A state that does not agree with the events, or was computed from one that does not.
pub(super) struct Suspect {
    /// The checkpoint's event, or the snapshot.
    pub event: EventId,
    pub about: About,
    pub claim: Claim,
}

/// What a stored state is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// That after its event, on this branch.
    Checkpoint(LineageId),
    /// That after this event.
    Snapshot { covers: EventId },
    /// That after this event, which with live events of so many tokens makes a context text of those
    /// found.
    Context { covers: EventId, tokens: u64, found: u64 },
}

/// The states of the branches of a chunk.
#[derive(Default)]
pub(super) struct Folds {
    /// How many checkpoints are still to come.
    due: FxHashMap<LineageId, usize>,
    states: FxHashMap<LineageId, State>,
}

impl Folds {
    pub(super) fn new(plan: &Plan, ids: &RangeInclusive<i64>) -> Self {
        let mut due = FxHashMap::default();
        let from = plan.checkpoints.partition_point(|(id, _)| id.0 < *ids.start());
        let these = plan.checkpoints[from..].iter().take_while(|(id, _)| id.0 <= *ids.end());
        for (_, lineage) in these {
            *due.entry(*lineage).or_default() += 1;
        }
        Self { due, states: FxHashMap::default() }
    }

    /// Takes `event` in, whose predecessor on the live timeline is `live`; answers whether there is a
    /// checkpoint at it, and if so whether that agrees.
    pub(super) fn after(
        &mut self,
        audit: &Audit<'_>,
        plan: &Plan,
        event: &Event,
        payload: Option<&Object>,
        live: Option<EventId>,
    ) -> Result<Option<bool>, StoreError> {
        let lineage = event.lineage;
        let Some(due) = self.due.get_mut(&lineage) else { return Ok(None) };
        let apply = |state: &mut State| {
            if let Some(payload) = payload.filter(|_| event.content.is_some()) {
                state.apply_payload(event, &Payload::read(event.kind, payload));
            }
        };
        if event.kind == EventType::RolledBack {
            self.states.remove(&lineage);
        } else if let Some(state) = self.states.get_mut(&lineage) {
            apply(state);
        }
        if plan.checkpoints.binary_search(&(event.id, lineage)).is_err() {
            return Ok(None);
        }
        *due -= 1;
        let state = match self.states.remove(&lineage) {
            Some(state) => state,
            None => {
                let mut state = workspace::state(audit.txn(), live)?;
                apply(&mut state);
                state
            }
        };
        let stored = audit.checkpoint(event.id, lineage)?;
        let agrees = stored.is_some_and(|kept| kept == stored::write(&state));
        if *due > 0 {
            self.states.insert(lineage, state);
        } else {
            self.due.remove(&lineage);
        }
        Ok(Some(agrees))
    }
}

/// The event up to which a snapshot covers, if it is a snapshot of the timeline that ends at `live`,
/// and whether it agrees with the events.
pub(super) fn snapshot(
    audit: &Audit<'_>,
    payload: &Object,
    live: Option<EventId>,
) -> Result<(EventId, bool), snapshot::SnapshotError> {
    let covers = snapshot::covered(audit.txn(), live, payload)?;
    // One of MemKernel is kept and not read through. Only an import brings one in.
    if snapshot::is_peers(payload) {
        return Ok((covers, true));
    }
    let state = workspace::state(audit.txn(), Some(covers))?;
    match snapshot::compare(payload, &state) {
        Ok(()) => Ok((covers, true)),
        Err(snapshot::SnapshotError::Section(_)) => Ok((covers, false)),
        Err(other) => Err(other),
    }
}

/// Tells which of `suspects` are false.
pub(super) fn confirm(
    audit: &Audit<'_>,
    plan: &Plan,
    suspects: &mut [Suspect],
    findings: &mut Findings,
) -> Result<(), StoreError> {
    suspects.sort_by_key(|suspect| suspect.event);
    let is_checkpoint = |suspect: &&Suspect| matches!(suspect.claim, Claim::Checkpoint(_));
    let doubted: BTreeSet<EventId> =
        suspects.iter().filter(is_checkpoint).map(|suspect| suspect.event).collect();
    let mut last = None;
    for Suspect { event, about, claim } in &*suspects {
        match claim {
            Claim::Checkpoint(lineage) => {
                let state = state_without(audit, plan, *event, &doubted, last.as_ref())?;
                if audit.checkpoint(*event, *lineage)? != Some(stored::write(&state)) {
                    let why = "the checkpoint is not the fold of the events up to there";
                    findings.add(Kind::Checkpoint, about.clone(), why);
                }
                last = Some((*event, state));
            }
            Claim::Context { covers, tokens, found } => {
                let state = state_without(audit, plan, *covers, &doubted, last.as_ref())?;
                let event = audit.txn().known_event(*event)?;
                let state = snapshot::with_insights(state, &event.members().unwrap_or_default());
                let cover = Cover::new(audit.txn().linked(*covers)?, &state, plan.tokenizer);
                let context = cover.context(plan.tokenizer, &render::header(&event), *tokens);
                if context != *found {
                    let why = format!("context is {found}, not {context}");
                    findings.add(Kind::Link, about.clone(), why);
                }
            }
            Claim::Snapshot { covers } => {
                let state = state_without(audit, plan, *covers, &doubted, last.as_ref())?;
                let payload = audit.txn().known_event(*event)?.members().unwrap_or_default();
                if let Err(why) = snapshot::compare(&payload, &state) {
                    findings.add(Kind::Snapshot, about.clone(), why.to_string());
                }
            }
        }
    }
    Ok(())
}

/// The state after `head`, read through no checkpoint of `doubted`; `known` is one that was computed
/// so.
fn state_without(
    audit: &Audit<'_>,
    plan: &Plan,
    head: EventId,
    doubted: &BTreeSet<EventId>,
    known: Option<&(EventId, State)>,
) -> Result<State, StoreError> {
    let txn = audit.txn();
    let mut state = State::default();
    let mut delta = Vec::new();
    let mut at = Some(head);
    while let Some(id) = at {
        if let Some((_, known)) = known.filter(|(known, _)| *known == id) {
            state = known.clone();
            break;
        }
        let link = txn.link(id)?;
        let is_kept = plan.checkpoints.binary_search(&(id, link.lineage)).is_ok();
        if is_kept
            && !doubted.contains(&id)
            && let Some(kept) = audit.checkpoint(id, link.lineage)?
            && let Some(kept) = stored::read(&kept)
        {
            state = kept;
            break;
        }
        delta.push(id);
        at = link.live_parent;
    }
    for id in delta.into_iter().rev() {
        state.apply(&txn.known_event(id)?);
    }
    Ok(state)
}

/// Names the checkpoints of events that are none, or of another branch.
pub(super) fn stray(
    audit: &Audit<'_>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    for (id, lineage) in &plan.checkpoints {
        match audit.txn().event(*id)? {
            Some(event) if event.lineage == *lineage => {}
            Some(event) => {
                let why = "the checkpoint is kept for another branch than its event's";
                findings.add(Kind::CheckpointStray, About::event(&event, None), why);
            }
            None => {
                let why = "there is a checkpoint, but no such event";
                findings.add(Kind::CheckpointStray, About::id(*id), why);
            }
        }
    }
    Ok(())
}
