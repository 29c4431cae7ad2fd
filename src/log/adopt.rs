//! Events that were written elsewhere, and take their place in this log as they are.

use super::{Log, Tip, Weight, next_sequence};
use crate::branch;
use crate::canon::{Object, Value};
use crate::event::{Event, EventType, Payload};
use crate::id::{EventId, Hash};
use crate::lineage;
use crate::memkernel::MEMBER;
use crate::store::{Branch, StoreError};
use crate::workspace::render;
use crate::workspace::snapshot::{self, Cover, SnapshotError};

/// An event from elsewhere, whose hash has been checked.
#[derive(Debug, Clone)]
pub(crate) struct Adopted {
    /// Its id, lineage, parent and log hash are still open.
    pub event: Event,
    pub payload: Payload,
    /// The members of the payload of a snapshot, a fork or a rollback, or what an erasure left of them.
    pub structure: Option<Object>,
    /// Tokens of what its block says after the header; what a fork or a rollback says names local ids,
    /// and is counted here.
    pub tokens: u64,
}

/// Why an event cannot stand where it says.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Misfit {
    #[error("{0}")]
    Place(&'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Log<'_> {
    /// Stores `adopted` as the next event of `branch`, with the hash and time that it has, and gives it the
    /// place it has here. Its content stays in it: whoever read it on another thread can free it there too,
    /// which is faster.
    ///
    /// # Errors
    /// If it is not the next one there, or names as fork point or target what is none.
    pub(crate) fn adopt(&mut self, branch: &Branch, adopted: &mut Adopted) -> Result<(), Misfit> {
        let Adopted { event, payload, structure, tokens } = adopted;
        let tip = self.tip(branch)?;
        event.id = self.next_id()?;
        event.lineage = branch.id;
        event.parent = tip.as_ref().map(|tip| tip.id);
        if event.sequence != next_sequence(tip.as_ref())? {
            return Err(Misfit::Place(
                "its sequence is not one more than that of the event before",
            ));
        }
        // What another program noted keeps its time, and so does what may have been noted so.
        let keeps_time = || event.metadata().is_none_or(|metadata| metadata.contains_key(MEMBER));
        if tip.as_ref().is_some_and(|tip| event.timestamp < tip.timestamp) && !keeps_time() {
            return Err(Misfit::Place("it is older than the event before"));
        }
        let (live, target) = match (event.kind, &*structure) {
            (EventType::RolledBack, Some(members)) => {
                let target = self.target(branch, tip.as_ref(), members)?;
                (Some(self.read_tip(target)?), Some(target))
            }
            (EventType::Forked, Some(members)) => {
                check_fork(tip.as_ref(), members)?;
                (tip, None)
            }
            _ => (tip, None),
        };
        let cover = match (event.kind, &*structure) {
            (EventType::Snapshot, Some(payload)) if event.content.is_some() => {
                Some(self.cover(live.as_ref(), payload)?)
            }
            _ => None,
        };
        let tokens = match (event.kind, structure.take()) {
            _ if event.content.is_none() => render::erased_tokens(self.rules.tokenizer, event),
            (EventType::Snapshot, _) => 0,
            (EventType::Forked | EventType::RolledBack, Some(members)) => {
                let shown =
                    branch::reported(self.txn, (event.kind, event.parent), members, target)?;
                render::block_tokens(self.rules.tokenizer, event, &shown)
            }
            _ => self.rules.tokenizer.count(&render::header(event)) + *tokens,
        };
        self.store(event, live, Weight { tokens, cover }, payload)?;
        Ok(())
    }

    /// What a snapshot after `live` covers. Whether it says what the events up to there do can be told
    /// when all erasures are known.
    fn cover(&self, live: Option<&Tip>, payload: &Object) -> Result<Cover, Misfit> {
        let covers = snapshot::covered(self.txn, live.map(|live| live.id), payload);
        let covers = covers.map_err(|error| match error {
            SnapshotError::Store(error) => Misfit::Store(error),
            _ => Misfit::Place("it is a snapshot that names no live event before it"),
        })?;
        Ok(Cover::of(self.txn, covers, payload, self.rules.tokenizer)?)
    }

    /// The target of a rollback that follows `tip`.
    fn target(
        &mut self,
        branch: &Branch,
        tip: Option<&Tip>,
        members: &Object,
    ) -> Result<EventId, Misfit> {
        let tip = tip.ok_or(Misfit::Place("it rolls back an empty branch"))?;
        // MemKernel names the target by its own number, and by its sequence.
        let is_peers = members.contains_key("target_event_id");
        let target = match (is_peers, hash_in(members, "target_hash")) {
            (true, _) => self.at_sequence(branch, members)?,
            (false, Some(hash)) => self.txn.by_hash(&hash)?,
            (false, None) => return Err(Misfit::Place("target_hash is no hash")),
        };
        let target = target.ok_or(Misfit::Place("its target is no event before it"))?;
        if !lineage::is_live((tip.id, tip.link), target, |id| self.link(id))? {
            return Err(Misfit::Place("its target was not live"));
        }
        let sequence = self.txn.known_event(target)?.sequence;
        if members.get("target_sequence") != Some(&sequence.into()) {
            return Err(Misfit::Place("target_sequence is not that of its target"));
        }
        let count = tip.link.depth.saturating_sub(self.link(target)?.depth);
        if !is_peers && members.get("reverted_count") != Some(&count.into()) {
            return Err(Misfit::Place("reverted_count is not the number of events it reverts"));
        }
        Ok(target)
    }

    /// The event of the lineage of `branch` that `target_sequence` names.
    fn at_sequence(
        &self,
        branch: &Branch,
        members: &Object,
    ) -> Result<Option<EventId>, StoreError> {
        let sequence = members.get("target_sequence").and_then(Value::as_i64);
        let sequence = sequence.and_then(|sequence| u64::try_from(sequence).ok());
        let Some(sequence) = sequence else { return Ok(None) };
        let mut at = branch.clone();
        while let Some(point) = at.fork_point.filter(|point| sequence <= point.sequence) {
            at = self.txn.lineage(point.lineage)?;
        }
        self.txn.own_event(at.id, sequence)
    }
}

fn check_fork(tip: Option<&Tip>, members: &Object) -> Result<(), Misfit> {
    let hash = tip.map(|tip| tip.hash.to_string());
    // MemKernel names the fork point by its own number.
    let is_peers = members.contains_key("fork_point_event_id");
    if !is_peers && members.get("fork_point_hash") != Some(&hash.into()) {
        return Err(Misfit::Place("fork_point_hash is not the event before it"));
    }
    let sequence = tip.map_or(0, |tip| tip.sequence);
    if members.get("fork_point_sequence") != Some(&sequence.into()) {
        return Err(Misfit::Place("fork_point_sequence is not that of the event before it"));
    }
    Ok(())
}

/// The hash that a member holds.
fn hash_in(members: &Object, name: &str) -> Option<Hash> {
    members.get(name).and_then(Value::as_str)?.parse().ok()
}
