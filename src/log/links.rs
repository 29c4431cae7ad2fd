//! Entries of the lineage index at hand.

use crate::id::EventId;
use crate::lineage::Link;

/// Links that were written or read last, each in the place its id gives it. Of the jumps that an
/// append follows, most are near.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<Option<(EventId, Link)>>);

impl Links {
    const PLACES: usize = 1 << 12;

    fn place(id: EventId) -> usize {
        id.0.unsigned_abs() as usize % Self::PLACES
    }

    pub(super) fn get(&self, id: EventId) -> Option<Link> {
        let (kept, link) = (*self.0.get(Self::place(id))?)?;
        (kept == id).then_some(link)
    }

    pub(super) fn put(&mut self, id: EventId, link: Link) {
        // Made at the second append: a single one asks for nothing again.
        self.0.resize(Self::PLACES, None);
        self.0[Self::place(id)] = Some((id, link));
    }
}
