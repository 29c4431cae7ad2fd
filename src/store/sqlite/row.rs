//! Rows of the log, and what they are made of.

use rusqlite::{Params, Row};

use crate::event::{Content, Event, EventType};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId};
use crate::lineage::Link;
use crate::store::{Branch, ForkPoint, StoreError};
use crate::time::Timestamp;

/// The columns of `link`, in their order.
pub(super) fn link_values(id: EventId, link: &Link) -> impl Params {
    (
        id.0,
        link.lineage.0,
        link.live_parent.map(|id| id.0),
        signed(link.depth),
        link.jump.0,
        signed(link.jump_depth),
        link.snapshot.map(|id| id.0),
        signed(link.tokens),
        signed(link.context),
        link.other.map(|id| id.0),
    )
}

/// Everything that walks the log ends because each step goes to an earlier event; a broken store must
/// not turn that into a circle.
pub(super) fn points_back(id: EventId, to: Option<EventId>) -> Result<(), StoreError> {
    match to.filter(|to| *to >= id || to.0 <= 0) {
        None => Ok(()),
        Some(to) => Err(StoreError::damaged(format!("event {id} follows event {to}"))),
    }
}

/// A branch row. Like events, branches follow earlier ones only.
pub(super) fn read_branch(row: &Row<'_>) -> rusqlite::Result<Branch> {
    let text = |index| row.get::<_, String>(index);
    let fork_event: Option<i64> = row.get(4)?;
    let id = row.get(0)?;
    let fork_lineage = earlier(row, 6, id)?;
    let sequence = count(row, 5)?;
    Ok(Branch {
        id: LineageId(id),
        name: BranchName::stored(&text(1)?),
        born: BranchName::stored(&text(2)?),
        parent: earlier(row, 3, id)?.map(LineageId),
        fork_point: fork_event.zip(fork_lineage).map(|(event, lineage)| ForkPoint {
            event: EventId(event),
            sequence,
            lineage: LineageId(lineage),
        }),
        head: row.get::<_, Option<i64>>(7)?.map(EventId),
        head_sequence: count(row, 8)?,
        created_at: Timestamp::from_micros(row.get(9)?),
        created_by: AgentId::stored(&text(10)?),
    })
}

/// An event row, with an empty name in the place of the branch's.
pub(super) fn read_event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let kind: EventType = row.get_ref(6)?.as_str()?.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(6, rusqlite::types::Type::Text, Box::new(error))
    })?;
    let (content, structure) = match row.get::<_, Option<[u8; 16]>>(10)? {
        Some(salt) => (Some(Content { salt, payload: row.get(11)?, metadata: row.get(12)? }), None),
        None => (None, row.get(11)?),
    };
    let id = row.get(0)?;
    Ok(Event {
        id: EventId(id),
        lineage: LineageId(row.get(1)?),
        branch: BranchName::stored(""),
        sequence: count(row, 2)?,
        timestamp: Timestamp::from_micros(row.get(3)?),
        agent: AgentId::stored(row.get_ref(4)?.as_str()?),
        parent: earlier(row, 5, id)?.map(EventId),
        kind,
        hash: Hash(row.get(7)?),
        body: Hash(row.get(8)?),
        log: Hash(row.get(9)?),
        content,
        structure,
    })
}

/// The number of a row that was written before row `id`. Whoever follows such numbers comes to an
/// end, whatever a damaged store holds.
fn earlier(row: &Row<'_>, index: usize, id: i64) -> rusqlite::Result<Option<i64>> {
    match row.get(index)? {
        Some(number) if number >= id => {
            Err(rusqlite::Error::IntegralValueOutOfRange(index, number))
        }
        number => Ok(number),
    }
}

pub(super) fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(index)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, number))
}

pub(super) fn signed(number: u64) -> i64 {
    // Counts of events and tokens fit 63 bits, unless a damaged row held another.
    i64::try_from(number).unwrap_or(i64::MAX)
}
