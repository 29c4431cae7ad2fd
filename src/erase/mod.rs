//! Erasure: what an event said goes for good, and that it was there stays.
//!
//! The row keeps digest, hash and place, so every chain holds. An event on the branch `@erase` says
//! what was erased, by whom and why; it names its target by hash, so it counts on every lineage and on
//! every machine. A snapshot that stands for an erased event holds what it said, and goes with it.
//!
//! Rule: docs/design.md, section 2. Limits: docs/erasure.md.

mod covered;
mod recorded;
mod removal;

use std::collections::BTreeSet;

use crate::branch;
use crate::branch::Act;
use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use crate::event::{Event, EventType};
use crate::id::{BranchName, EventId, Hash};
use crate::lineage;
use crate::log::{Draft, Log, LogError, Outside};
use crate::revision::{Revision, RevisionError};
use crate::store::{ReadTxn, StoreError, WriteTxn};

pub(crate) use covered::{covered, snapshots_of};
pub use recorded::Recorded;
pub(crate) use removal::remove;

/// The member of metadata that names, by its hash, the event that this one repeats.
pub const ORIGIN: &str = "origin";

/// An event whose content went.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Erased {
    pub event_id: EventId,
    pub hash: Hash,
    pub event_type: EventType,
    /// The event that was asked for, if this one went because it held what that one said.
    pub erased_with: Option<Hash>,
    /// The event that records it.
    pub erasure_event_id: EventId,
}

/// An event that repeats an erased one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Copied {
    pub event_id: EventId,
    pub hash: Hash,
    pub of: Hash,
}

/// What went, and what is left.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    pub erased: Vec<Erased>,
    /// Copies that still hold what was erased.
    pub copies: Vec<Copied>,
    /// Op ids that were forgotten: they no longer keep a request from being carried out again.
    pub operations: u64,
}

/// Why nothing was erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    #[error("event {event} cannot be erased: {why}")]
    NotErasable { event: EventId, why: &'static str },
    #[error(transparent)]
    Revision(#[from] RevisionError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for EraseError {
    fn code(&self) -> Code {
        match self {
            Self::NotErasable { .. } => Code::NOT_ERASABLE,
            Self::Revision(error) => error.code(),
            Self::Log(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}

/// Erases what `events` say, and with `copies` what repeats them. The bytes are gone from the file only
/// after [`crate::store::Sqlite::scrub`].
///
/// # Errors
/// [`EraseError::NotErasable`] if one is erased, is a snapshot, or belongs to `mk`.
pub fn erase(
    txn: &mut dyn WriteTxn,
    events: &[Revision],
    current: &BranchName,
    copies: bool,
    act: &Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<Report, EraseError> {
    let mut targets: Vec<(Event, Option<Hash>)> = Vec::new();
    // Erased before, but for a snapshot that holds what they said.
    let mut again = BTreeSet::new();
    for revision in events {
        let event = txn.known_event(revision.resolve(txn, current)?)?;
        let gone = event.content.is_none() && !event.branch.is_reserved();
        if gone && !snapshots_of(txn, &BTreeSet::from([event.id]))?.is_empty() {
            again.insert(event.id);
            continue;
        }
        check(&event)?;
        if targets.iter().all(|(known, _)| known.id != event.id) {
            targets.push((event, None));
        }
    }
    let mut left = Vec::new();
    let mut next = 0;
    while let Some((event, _)) = targets.get(next) {
        let of = event.hash;
        for copy in copies_of(txn, &of)? {
            if targets.iter().any(|(known, _)| known.id == copy.id) {
                continue;
            }
            match copies {
                true => targets.push((copy, Some(of))),
                false => left.push(Copied { event_id: copy.id, hash: copy.hash, of }),
            }
        }
        next += 1;
    }
    let mut ids: BTreeSet<EventId> = targets.iter().map(|(event, _)| event.id).collect();
    ids.extend(again);
    for (snapshot, of) in snapshots_of(txn, &ids)? {
        targets.push((txn.known_event(snapshot)?, Some(txn.known_event(of)?.hash)));
    }
    let erased = record(txn, &targets, act, outside)?;
    let ids = targets.iter().map(|(event, _)| event.id).collect();
    let operations = remove(txn, &ids)?;
    Ok(Report { erased, copies: left, operations })
}

fn check(event: &Event) -> Result<(), EraseError> {
    let why = if event.branch.is_reserved() {
        "it belongs to mk"
    } else if event.content.is_none() {
        "it is erased"
    } else if event.kind == EventType::Snapshot {
        "a snapshot goes with the events it stands for; erase those"
    } else {
        return Ok(());
    };
    Err(EraseError::NotErasable { event: event.id, why })
}

/// The events that say they repeat the one with this hash, and are not erased.
fn copies_of(txn: &dyn ReadTxn, hash: &Hash) -> Result<Vec<Event>, StoreError> {
    let digits = hash.to_string();
    let mut copies = Vec::new();
    for id in txn.metadata_with(&digits)? {
        let event = txn.known_event(id)?;
        let metadata = event.metadata().unwrap_or_default();
        let origin = metadata.get(ORIGIN);
        let origin = origin.and_then(|it| it.get("hash")).or(origin).and_then(Value::as_str);
        if origin == Some(&digits) {
            copies.push(event);
        }
    }
    Ok(copies)
}

/// Appends to `@erase` an event for each of `targets`, with the event it goes with.
pub(crate) fn record(
    txn: &mut dyn WriteTxn,
    targets: &[(Event, Option<Hash>)],
    act: &Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<Vec<Erased>, LogError> {
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let name = BranchName::stored(BranchName::ERASE);
    let branch = branch::own(txn, name, (outside.now)(), act.agent)?;
    let mut log = Log::open(txn)?;
    let mut erased = Vec::with_capacity(targets.len());
    for (event, with) in targets {
        let mut payload = Object::new();
        payload.insert("target_hash", event.hash.to_string());
        payload.insert("target_sequence", event.sequence);
        payload.insert("target_branch", event.branch.as_str());
        payload.insert("target_type", event.kind.as_str());
        payload.insert("erased_with", with.map(|hash| hash.to_string()));
        payload.insert("reason", act.reason);
        let mut left = event.clone();
        left.erase();
        if let Some(structure) = left.structural() {
            payload.insert("structure", structure);
        }
        let draft = Draft {
            kind: EventType::Erased,
            agent: act.agent.clone(),
            payload,
            metadata: act.metadata.clone(),
        };
        let appended = log.write(&branch, draft, None, None, outside)?;
        erased.push(Erased {
            event_id: event.id,
            hash: event.hash,
            event_type: event.kind,
            erased_with: *with,
            erasure_event_id: appended.event_id,
        });
    }
    Ok(erased)
}

/// How many events of the live timeline that ends at `head` are erased, and so left out of whatever is
/// made of it.
///
/// # Errors
/// Those of the store.
pub fn left_out(txn: &dyn ReadTxn, head: Option<EventId>) -> Result<u64, StoreError> {
    let Some(head) = head else { return Ok(0) };
    if txn.branch(BranchName::ERASE)?.is_none() {
        return Ok(0);
    }
    let head = txn.linked(head)?;
    let mut count = 0;
    for hash in Recorded::read(txn)?.targets() {
        if let Some(id) = txn.by_hash(hash)?
            && txn.known_event(id)?.content.is_none()
            && lineage::is_live(head, id, |id| txn.link(id))?
        {
            count += 1;
        }
    }
    Ok(count)
}
