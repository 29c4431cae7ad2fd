//! The obvious definitions: everything that the lineage index answers, from the plain list of events.
//!
//! Nothing here goes through an index, a jump or a checkpoint. Rules: docs/spec/kernel.md, sections 4
//! to 6; docs/design.md, section 3.

use std::collections::HashMap;

use mk::branch::reported_payload;
use mk::canon::Value;
use mk::event::{Event, EventType};
use mk::id::{EventId, Hash, LineageId};
use mk::store::{Branch, ReadTxn};
use mk::workspace::fold::State;
use mk::workspace::render;

/// A store, read into a list.
pub struct Model {
    pub events: Vec<Event>,
    pub branches: Vec<Branch>,
    /// Tokens of the block of each event; 0 for a snapshot.
    tokens: Vec<u64>,
    by_hash: HashMap<String, EventId>,
}

impl Model {
    pub fn read(txn: &dyn ReadTxn) -> Self {
        let last = txn.log_head().unwrap().map_or(0, |(id, _)| id.0);
        let events: Vec<Event> =
            (1..=last).map(|id| txn.known_event(EventId(id)).unwrap()).collect();
        let tokenizer = txn.identity().unwrap().tokenizer;
        let count = |event: &Event| match event.kind {
            EventType::Snapshot => 0,
            _ => {
                let payload = reported_payload(txn, event).unwrap();
                tokenizer.count(&render::block(event, payload.as_ref()))
            }
        };
        let tokens = events.iter().map(count).collect();
        let by_hash = events.iter().map(|event| (event.hash.to_string(), event.id)).collect();
        Self { events, branches: txn.branches().unwrap(), tokens, by_hash }
    }

    pub fn event(&self, id: EventId) -> &Event {
        &self.events[usize::try_from(id.0 - 1).unwrap()]
    }

    pub fn ids(&self) -> impl Iterator<Item = EventId> + use<> {
        (1..=i64::try_from(self.events.len()).unwrap()).map(EventId)
    }

    pub fn heads(&self) -> impl Iterator<Item = (&Branch, EventId)> {
        self.branches.iter().filter_map(|branch| Some((branch, branch.head?)))
    }

    /// The lineage that ends at `head`: an event, its predecessor, and so on, oldest first.
    pub fn lineage(&self, head: EventId) -> Vec<EventId> {
        let mut ids = vec![head];
        while let Some(parent) = self.event(ids[ids.len() - 1]).parent {
            ids.push(parent);
        }
        ids.reverse();
        ids
    }

    /// The lineage of a branch: its parent's up to and with the fork point, then its own events.
    pub fn lineage_of(&self, branch: LineageId) -> Vec<EventId> {
        let branch = self.branches.iter().find(|it| it.id == branch).unwrap();
        let mut ids = match (branch.parent, branch.fork_point) {
            (Some(parent), Some(point)) => {
                let parent = self.lineage_of(parent);
                let end = parent.iter().position(|id| *id == point.event).unwrap();
                parent[..=end].to_vec()
            }
            _ => Vec::new(),
        };
        ids.extend(self.events.iter().filter(|it| it.lineage == branch.id).map(|it| it.id));
        ids
    }

    /// The live timeline that ends at `head`: a left fold over the lineage, in which a rollback first
    /// removes what comes after its target.
    pub fn live(&self, head: EventId) -> Vec<EventId> {
        let mut live: Vec<EventId> = Vec::new();
        for id in self.lineage(head) {
            if self.event(id).kind == EventType::RolledBack {
                let target = self.target(id);
                let end = live.iter().position(|id| *id == target).expect("a target is live");
                live.truncate(end + 1);
            }
            live.push(id);
        }
        live
    }

    /// The target of a rollback, by the hash in its payload.
    pub fn target(&self, rollback: EventId) -> EventId {
        let payload = self.event(rollback).members().unwrap();
        self.by_hash[payload.get("target_hash").and_then(Value::as_str).unwrap()]
    }

    pub fn is_snapshot(&self, id: EventId) -> bool {
        self.event(id).kind == EventType::Snapshot
    }

    pub fn agent(&self, id: EventId) -> &str {
        self.event(id).agent.as_str()
    }

    pub fn hash(&self, id: Option<EventId>) -> Hash {
        id.map_or(Hash::ZERO, |id| self.event(id).hash)
    }

    /// The sum of the tokens of blocks.
    pub fn tokens(&self, ids: &[EventId]) -> u64 {
        ids.iter().map(|id| self.tokens[usize::try_from(id.0 - 1).unwrap()]).sum()
    }

    /// The state after these events, from nothing.
    pub fn fold(&self, live: &[EventId]) -> State {
        self.fold_onto(State::default(), live)
    }

    pub fn fold_onto(&self, mut state: State, live: &[EventId]) -> State {
        for id in live {
            state.apply(self.event(*id));
        }
        state
    }
}
