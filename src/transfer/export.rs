//! Events out of a store, a line each.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io::{self, Write};

use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use crate::event::Event;
use crate::id::{BranchName, EventId, Hash, LineageId};
use crate::revision::{self, RevisionError};
use crate::store::{Branch, Leases, ReadTxn, StoreError};
use crate::time::Timestamp;

/// Rows of leases that are read at once.
const LEASES_AT_ONCE: usize = 1_000;

/// What goes out.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The lineages of these branches; of all if there is none.
    pub branches: Vec<BranchName>,
    /// Only what came into this store after that event.
    pub since: Option<EventId>,
    /// In the order of the local log, and with its hash.
    pub log_order: bool,
}

/// What went out.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Exported {
    pub events: u64,
    pub branches: u64,
    pub bytes: u64,
}

/// Why an export was not finished.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Revision(#[from] RevisionError),
    #[error("cannot write the export: {0}")]
    Write(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for ExportError {
    fn code(&self) -> Code {
        match self {
            Self::Revision(error) => error.code(),
            Self::Write(error) => Code::of_io(error),
            Self::Store(error) => error.code(),
        }
    }
}

/// Writes the selected events to `out`: a head line a branch and the last token of each
/// resource, then the events by time, sequence and
/// hash. So what two stores share comes out alike, whatever their ids are, and a new event is a new
/// line and moves no other.
///
/// Memory: one event for each branch.
///
/// # Errors
/// Those of the store and of `out`, and a branch that is not there.
pub fn export(
    txn: &dyn ReadTxn,
    selection: &Selection,
    out: &mut dyn Write,
) -> Result<Exported, ExportError> {
    let mut out = Lines { out, exported: Exported { events: 0, branches: 0, bytes: 0 } };
    let mut branches = txn.branches()?;
    let mut upto: BTreeMap<LineageId, EventId> = BTreeMap::new();
    if !selection.branches.is_empty() {
        let named = |name: &BranchName| revision::branch(txn, name.as_str());
        let named = selection.branches.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let is_named = |branch: &Branch| named.iter().any(|named| named.id == branch.id);
        // Without them nobody could tell an erased event from a forged one.
        let is_erasures = |branch: &Branch| branch.born.as_str() == BranchName::ERASE;
        branches.retain(|branch| is_named(branch) || is_erasures(branch));
    }
    branches.sort_by(|a, b| a.name.cmp(&b.name));
    for branch in &branches {
        let Some(head) = branch.head else { continue };
        let event = txn.known_event(head)?;
        out.head(branch, &event)?;
        include(txn, &mut upto, &event)?;
    }
    let mut after = None;
    loop {
        let leases = txn.leases(Leases::All, "", after.as_deref(), LEASES_AT_ONCE)?;
        for lease in &leases {
            let resource = lease.resource.as_str().into();
            out.advisory("lease", [("resource", resource), ("token", lease.token.into())])?;
        }
        match leases.into_iter().last() {
            Some(last) => after = Some(last.resource),
            None => break,
        }
    }
    let since = selection.since.unwrap_or(EventId(0));
    match selection.log_order {
        true => in_log_order(txn, &upto, since, &mut out)?,
        false => by_time(txn, &upto, since, &mut out)?,
    }
    Ok(out.exported)
}

/// Lets the lineage that ends at `last` go out too. Over all calls O(branches that go out).
fn include(
    txn: &dyn ReadTxn,
    upto: &mut BTreeMap<LineageId, EventId>,
    last: &Event,
) -> Result<(), StoreError> {
    let mut at = Some((last.lineage, last.id));
    while let Some((lineage, last)) = at {
        at = match upto.entry(lineage) {
            // What it was forked from goes out already, whichever of its events were the last.
            Entry::Occupied(mut reached) => {
                *reached.get_mut() = last.max(*reached.get());
                None
            }
            Entry::Vacant(reached) => {
                reached.insert(last);
                let point = txn.lineage(lineage)?.fork_point;
                point.map(|point| (point.lineage, point.event))
            }
        };
    }
    Ok(())
}

/// Where lines go, and how many went.
struct Lines<'a> {
    out: &'a mut dyn Write,
    exported: Exported,
}

impl Lines<'_> {
    fn head(&mut self, branch: &Branch, head: &Event) -> io::Result<()> {
        self.exported.branches += 1;
        self.advisory(
            "head",
            [("branch", branch.name.as_str().into()), ("head", head.hash.to_string().into())],
        )
    }

    fn advisory<const N: usize>(
        &mut self,
        kind: &str,
        members: [(&str, Value); N],
    ) -> io::Result<()> {
        let mut line: Object =
            members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        line.insert("advisory", kind);
        line.insert("v", 1_u64);
        self.line(&line.canonical())
    }

    fn event(&mut self, event: &Event, prev: &Hash) -> io::Result<()> {
        self.exported.events += 1;
        self.line(&event.line(prev))
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.exported.bytes += line.len() as u64 + 1;
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")
    }
}

/// The next event of a branch, and the hash of the one before it.
struct Next {
    event: Event,
    prev: Hash,
}

type Key = (Timestamp, u64, Hash, LineageId);

impl Next {
    fn key(&self) -> Key {
        let Event { timestamp, sequence, hash, lineage, .. } = self.event;
        (timestamp, sequence, hash, lineage)
    }
}

/// Along each branch events are in this order already, so the branches are merged.
fn by_time(
    txn: &dyn ReadTxn,
    upto: &BTreeMap<LineageId, EventId>,
    since: EventId,
    out: &mut Lines<'_>,
) -> Result<(), ExportError> {
    let mut next: HashMap<LineageId, Next> = HashMap::new();
    let mut queue: BinaryHeap<Reverse<Key>> = BinaryHeap::new();
    for (lineage, last) in upto {
        if let Some(first) = first_after(txn, *lineage, since)?.filter(|event| event.id <= *last) {
            let first = Next { prev: prev(txn, &first)?, event: first };
            queue.push(Reverse(first.key()));
            next.insert(*lineage, first);
        }
    }
    while let Some(Reverse((_, sequence, hash, lineage))) = queue.pop() {
        let Some(Next { event, prev }) = next.remove(&lineage) else { continue };
        out.event(&event, &prev)?;
        let last = upto.get(&lineage).copied().unwrap_or(event.id);
        if event.id < last
            && let Some(event) = txn.event_at(lineage, sequence + 1)?
        {
            let following = Next { event, prev: hash };
            queue.push(Reverse(following.key()));
            next.insert(lineage, following);
        }
    }
    Ok(())
}

/// The first own event of a branch that came after `since`.
fn first_after(
    txn: &dyn ReadTxn,
    lineage: LineageId,
    since: EventId,
) -> Result<Option<Event>, StoreError> {
    let branch = txn.lineage(lineage)?;
    let (mut low, mut high) = (branch.fork_sequence() + 1, branch.head_sequence + 1);
    // Ids rise along the own events of a branch.
    while low < high {
        let middle = low + (high - low) / 2;
        match txn.own_event(lineage, middle)? {
            Some(id) if id <= since => low = middle + 1,
            _ => high = middle,
        }
    }
    txn.event_at(lineage, low)
}

fn prev(txn: &dyn ReadTxn, event: &Event) -> Result<Hash, StoreError> {
    event.parent.map_or(Ok(Hash::ZERO), |parent| Ok(txn.known_event(parent)?.hash))
}

fn in_log_order(
    txn: &dyn ReadTxn,
    upto: &BTreeMap<LineageId, EventId>,
    since: EventId,
    out: &mut Lines<'_>,
) -> Result<(), ExportError> {
    let mut tips: HashMap<LineageId, (EventId, Hash)> = HashMap::new();
    let Some((last, log)) = txn.log_head()? else { return Ok(()) };
    for id in since.0 + 1..=last.0 {
        let event = txn.known_event(EventId(id))?;
        if upto.get(&event.lineage).is_none_or(|last| event.id > *last) {
            continue;
        }
        let tip = tips.get(&event.lineage).filter(|(id, _)| Some(*id) == event.parent);
        let prev = tip.map_or_else(|| prev(txn, &event), |(_, hash)| Ok(*hash))?;
        tips.insert(event.lineage, (event.id, event.hash));
        out.event(&event, &prev)?;
    }
    out.advisory("log", [("event_id", last.0.into()), ("log", log.to_string().into())])?;
    Ok(())
}
