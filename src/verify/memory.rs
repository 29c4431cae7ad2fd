//! What a worker remembers of events before, so that most checks read nothing twice.

use rustc_hash::FxHashMap;

use super::event::Before;
use crate::branch;
use crate::event::Event;
use crate::id::{AgentId, EventId, LineageId};
use crate::lineage::Link;
use crate::store::StoreError;
use crate::store::audit::Audit;

/// Entries of the lineage index, and newest events of branches, that are remembered.
const KEPT: usize = 16_384;

/// The predecessor of an event on the live timeline.
pub(super) enum Live {
    /// The event is the first of its lineage.
    Root,
    After(Before),
    /// It is missing, or its target is in doubt, which has been said.
    Unknown,
}

impl Live {
    pub(super) fn id(&self) -> Option<EventId> {
        match self {
            Self::After(before) => Some(before.id),
            Self::Root | Self::Unknown => None,
        }
    }

    pub(super) fn author(&self) -> Option<(EventId, AgentId)> {
        match self {
            Self::After(before) => before.author.clone(),
            Self::Root | Self::Unknown => None,
        }
    }
}

#[derive(Default)]
pub(super) struct Memory {
    /// The newest event of each branch.
    tips: FxHashMap<LineageId, Before>,
    links: FxHashMap<EventId, Link>,
}

impl Memory {
    /// Remembers `event`, whose entry in the index should be `link`.
    pub(super) fn keep(
        &mut self,
        event: &Event,
        link: Option<Link>,
        author: Option<(EventId, AgentId)>,
    ) {
        if self.tips.len() >= KEPT {
            self.tips.clear();
        }
        self.tips.insert(event.lineage, before(event, link, author));
        if let Some(link) = link {
            self.keep_link(event.id, link);
        }
    }

    fn keep_link(&mut self, id: EventId, link: Link) {
        if self.links.len() >= KEPT {
            self.links.clear();
        }
        self.links.insert(id, link);
    }

    /// The event `id`, which may be the newest of `lineage`; none if it is missing or unreadable.
    pub(super) fn before(
        &self,
        audit: &Audit<'_>,
        lineage: LineageId,
        id: EventId,
    ) -> Result<Option<Before>, StoreError> {
        if let Some(tip) = self.tips.get(&lineage).filter(|tip| tip.id == id) {
            return Ok(Some(tip.clone()));
        }
        let Some(event) = readable(audit.txn().event(id))?.flatten() else { return Ok(None) };
        let link = readable(audit.txn().link(id))?;
        let author = readable(branch::author(audit.txn(), &event))?.flatten();
        Ok(Some(before(&event, link, author)))
    }

    /// The entry of `id` in the lineage index, which is known to exist.
    pub(super) fn link(&mut self, audit: &Audit<'_>, id: EventId) -> Result<Link, StoreError> {
        if let Some(link) = self.links.get(&id) {
            return Ok(*link);
        }
        let link = audit.txn().link(id)?;
        self.keep_link(id, link);
        Ok(link)
    }
}

fn before(event: &Event, link: Option<Link>, author: Option<(EventId, AgentId)>) -> Before {
    Before {
        id: event.id,
        lineage: event.lineage,
        hash: event.hash,
        sequence: event.sequence,
        timestamp: event.timestamp,
        link,
        author,
    }
}

/// None of what is damaged.
pub(super) fn readable<T>(result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match result {
        Err(StoreError::Damaged { .. }) => Ok(None),
        other => other.map(Some),
    }
}
