//! The obvious engine: rows in maps. Property tests hold the verbs on it against the verbs on SQLite,
//! and it proves that nothing above the seam needs a particular engine.

mod exchange;
mod execution;
mod notice;

use std::collections::BTreeMap;

use super::lease::TOKEN_MAX;
use super::{
    Branch, Engine, Identity, Lease, Leases, Notice, Operation, ReadTxn, StoreError, WriteTxn,
};
use crate::event::{Event, EventType};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId};
use crate::lineage::Link;
use crate::time::Timestamp;

/// A store in memory.
#[derive(Debug, Clone)]
pub struct Memory {
    identity: Identity,
    branches: Vec<Branch>,
    events: Vec<(Event, Link)>,
    checkpoints: BTreeMap<(LineageId, EventId), Vec<u8>>,
    leases: BTreeMap<String, Lease>,
    notices: BTreeMap<String, Notice>,
    operations: BTreeMap<String, Operation>,
    settings: BTreeMap<String, String>,
    current: BTreeMap<AgentId, BranchName>,
    execution: execution::Execution,
    exchange: exchange::Exchange,
}

impl Memory {
    /// A store with the empty branch `main`.
    #[must_use]
    pub fn new(identity: Identity, now: Timestamp, agent: &AgentId) -> Self {
        let main = Branch {
            id: LineageId(1),
            name: BranchName::main(),
            born: BranchName::main(),
            parent: None,
            fork_point: None,
            head: None,
            head_sequence: 0,
            created_at: now,
            created_by: agent.clone(),
        };
        Self {
            identity,
            branches: vec![main],
            events: Vec::new(),
            checkpoints: BTreeMap::new(),
            leases: BTreeMap::new(),
            notices: BTreeMap::new(),
            operations: BTreeMap::new(),
            settings: BTreeMap::new(),
            current: BTreeMap::new(),
            execution: execution::Execution::default(),
            exchange: exchange::Exchange::default(),
        }
    }

    fn row(&self, id: EventId) -> Option<&(Event, Link)> {
        self.events.get(usize::try_from(id.0.checked_sub(1)?).ok()?)
    }
}

impl Engine for Memory {
    fn read<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&dyn ReadTxn) -> Result<T, E>,
    ) -> Result<T, E> {
        body(self)
    }

    fn write<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&mut dyn WriteTxn) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut draft = self.clone();
        let done = body(&mut draft)?;
        *self = draft;
        Ok(done)
    }
}

impl ReadTxn for Memory {
    fn identity(&self) -> Result<Identity, StoreError> {
        Ok(self.identity.clone())
    }

    fn branch(&self, name: &str) -> Result<Option<Branch>, StoreError> {
        Ok(self.branches.iter().find(|branch| branch.name.as_str() == name).cloned())
    }

    fn lineage(&self, id: LineageId) -> Result<Branch, StoreError> {
        let found = self.branches.iter().find(|branch| branch.id == id);
        found.cloned().ok_or_else(|| StoreError::damaged(format!("branch {} is missing", id.0)))
    }

    fn branch_like(&self, name: &str) -> Result<Option<BranchName>, StoreError> {
        let like = |branch: &&Branch| branch.name.as_str().eq_ignore_ascii_case(name);
        Ok(self.branches.iter().find(like).map(|branch| branch.name.clone()))
    }

    fn branches(&self) -> Result<Vec<Branch>, StoreError> {
        let mut branches = self.branches.clone();
        branches.sort_by(|a, b| (a.created_at, &a.name).cmp(&(b.created_at, &b.name)));
        Ok(branches)
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        Ok(self.row(id).map(|(event, _)| event.clone()))
    }

    fn own_event(&self, lineage: LineageId, sequence: u64) -> Result<Option<EventId>, StoreError> {
        let own = |row: &&(Event, Link)| row.0.lineage == lineage && row.0.sequence == sequence;
        Ok(self.events.iter().find(own).map(|(event, _)| event.id))
    }

    fn event_at(&self, lineage: LineageId, sequence: u64) -> Result<Option<Event>, StoreError> {
        self.own_event(lineage, sequence)?.map_or(Ok(None), |id| self.event(id))
    }

    fn by_hash(&self, hash: &Hash) -> Result<Option<EventId>, StoreError> {
        Ok(self.events.iter().find(|(event, _)| event.hash == *hash).map(|(event, _)| event.id))
    }

    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<EventId>, StoreError> {
        let mut found: Vec<(Hash, EventId)> = self
            .events
            .iter()
            .filter(|(event, _)| event.hash.to_string().starts_with(prefix))
            .map(|(event, _)| (event.hash, event.id))
            .collect();
        found.sort();
        Ok(found.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    fn of_type_after(&self, kind: EventType, after: EventId) -> Result<Vec<EventId>, StoreError> {
        let is_one = |event: &Event| event.kind == kind && event.id > after;
        let events = self.events.iter().map(|(event, _)| event);
        Ok(events.filter(|event| is_one(event)).map(|event| event.id).collect())
    }

    fn metadata_with(&self, text: &str) -> Result<Vec<EventId>, StoreError> {
        let has = |event: &Event| {
            event.content.as_ref().is_some_and(|content| content.metadata.contains(text))
        };
        let events = self.events.iter().map(|(event, _)| event);
        Ok(events.filter(|event| has(event)).map(|event| event.id).collect())
    }

    fn log_head(&self) -> Result<Option<(EventId, Hash)>, StoreError> {
        Ok(self.events.last().map(|(event, _)| (event.id, event.log)))
    }

    fn link(&self, id: EventId) -> Result<Link, StoreError> {
        let row = self.row(id);
        row.map(|(_, link)| *link).ok_or_else(|| {
            StoreError::damaged(format!("event {id} has no entry in the lineage index"))
        })
    }

    fn checkpoint_before(
        &self,
        lineage: LineageId,
        event: EventId,
    ) -> Result<Option<EventId>, StoreError> {
        let upto = (lineage, EventId(0))..=(lineage, event);
        Ok(self.checkpoints.range(upto).next_back().map(|((_, id), _)| *id))
    }

    fn checkpoint(&self, event: EventId) -> Result<Option<Vec<u8>>, StoreError> {
        let lineage = self.link(event)?.lineage;
        Ok(self.checkpoints.get(&(lineage, event)).cloned())
    }

    fn lease(&self, resource: &str) -> Result<Option<Lease>, StoreError> {
        Ok(self.leases.get(resource).cloned())
    }

    fn leases(
        &self,
        which: Leases,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Lease>, StoreError> {
        let rows = self.leases.values().filter(|lease| lease.resource.starts_with(prefix));
        let rows = rows.filter(|lease| after.is_none_or(|after| lease.resource.as_str() > after));
        Ok(rows.filter(|lease| which.contains(lease)).take(limit).cloned().collect())
    }

    fn checkpoints_from(&self, event: EventId) -> Result<Vec<(EventId, LineageId)>, StoreError> {
        let places = self.checkpoints.keys().map(|(lineage, id)| (*id, *lineage));
        let mut found: Vec<_> = places.filter(|(id, _)| *id >= event).collect();
        found.sort_unstable();
        Ok(found)
    }

    fn operations(&self) -> Result<Vec<(String, Operation)>, StoreError> {
        Ok(self.operations.clone().into_iter().collect())
    }

    fn operation(&self, id: &str) -> Result<Option<Operation>, StoreError> {
        Ok(self.operations.get(id).cloned())
    }

    fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.settings.get(key).cloned())
    }

    fn settings(&self) -> Result<Vec<(String, String)>, StoreError> {
        Ok(self.settings.clone().into_iter().collect())
    }

    fn current_branch(&self, agent: &AgentId) -> Result<Option<BranchName>, StoreError> {
        Ok(self.current.get(agent).cloned())
    }
}

impl WriteTxn for Memory {
    fn insert_event(&mut self, event: &Event, link: &Link) -> Result<(), StoreError> {
        self.events.push((event.clone(), *link));
        Ok(())
    }

    fn erase_content(&mut self, erased: &Event) -> Result<(), StoreError> {
        for (event, _) in self.events.iter_mut().filter(|(event, _)| event.id == erased.id) {
            event.content = None;
            event.structure.clone_from(&erased.structure);
        }
        Ok(())
    }

    fn set_link(&mut self, id: EventId, link: &Link) -> Result<(), StoreError> {
        for (_, own) in self.events.iter_mut().filter(|(event, _)| event.id == id) {
            *own = *link;
        }
        Ok(())
    }

    fn insert_branch(&mut self, branch: &Branch) -> Result<LineageId, StoreError> {
        let id = LineageId(self.branches.len() as i64 + 1);
        self.branches.push(Branch { id, ..branch.clone() });
        Ok(id)
    }

    fn rename_branch(&mut self, id: LineageId, name: &BranchName) -> Result<(), StoreError> {
        for branch in self.branches.iter_mut().filter(|branch| branch.id == id) {
            branch.name.clone_from(name);
        }
        Ok(())
    }

    fn set_head(&mut self, id: LineageId, head: EventId, sequence: u64) -> Result<(), StoreError> {
        for branch in self.branches.iter_mut().filter(|branch| branch.id == id) {
            (branch.head, branch.head_sequence) = (Some(head), sequence);
        }
        Ok(())
    }

    fn put_checkpoint(
        &mut self,
        lineage: LineageId,
        event: EventId,
        state: &[u8],
    ) -> Result<(), StoreError> {
        self.checkpoints.insert((lineage, event), state.to_owned());
        Ok(())
    }

    fn put_lease(&mut self, lease: &Lease) -> Result<(), StoreError> {
        self.leases.insert(lease.resource.clone(), lease.clone());
        Ok(())
    }

    fn raise_lease_tokens(&mut self, by: u64) -> Result<(), StoreError> {
        for lease in self.leases.values_mut() {
            lease.token = lease.token.saturating_add(by).min(TOKEN_MAX);
        }
        Ok(())
    }

    fn delete_checkpoint(&mut self, lineage: LineageId, event: EventId) -> Result<(), StoreError> {
        self.checkpoints.remove(&(lineage, event));
        Ok(())
    }

    fn delete_operation(&mut self, id: &str) -> Result<(), StoreError> {
        self.operations.remove(id);
        Ok(())
    }

    fn put_operation(&mut self, id: &str, operation: &Operation) -> Result<(), StoreError> {
        self.operations.insert(id.to_owned(), operation.clone());
        Ok(())
    }

    fn set_setting(&mut self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        match value {
            Some(value) => self.settings.insert(key.to_owned(), value.to_owned()),
            None => self.settings.remove(key),
        };
        Ok(())
    }

    fn set_current_branch(&mut self, agent: &AgentId, name: &BranchName) -> Result<(), StoreError> {
        self.current.insert(agent.clone(), name.clone());
        Ok(())
    }
}
