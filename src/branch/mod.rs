//! Branches: fork, rollback, undo, retract, and what two of them share.
//!
//! Rule: docs/spec/kernel.md, sections 4 to 6; docs/design.md, section 3.

mod error;
mod list;
mod payload;
mod walk;

use std::collections::BTreeSet;

use crate::canon::{Object, Value};
use crate::event::{EventType, Retractable};
use crate::id::{AgentId, BranchName, EventId, Hash};
use crate::lineage::{self, Link};
use crate::log::{Appended, Draft, Log, Outside};
use crate::revision::Revision;
use crate::store::{Branch, ReadTxn, StoreError, WriteTxn};
use crate::text::counted;
use crate::time::Timestamp;
use crate::workspace;

use payload::{fork_members, reverted, rollback_members};

pub use error::{BranchError, Others};
pub use list::{BranchReport, Branches, Head, Listed, Next, list};
pub(crate) use payload::reported;
pub use payload::reported_payload;
pub(crate) use walk::stretches;
pub use walk::{author, contains, lineage, live, merge_base};

/// Reverted events that a report lists one by one; of more it gives the first and the last.
pub const REVERTED_LISTED: u64 = 1_000;

/// Events of others that a refused rollback lists.
const OTHERS_LISTED: usize = 20;

/// Events that a refused rollback looks at to count those of others.
const OTHERS_COUNTED: u64 = 10_000;

/// A new branch.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Forked {
    pub branch_id: BranchName,
    pub parent_branch_id: BranchName,
    pub fork_point_event_id: Option<EventId>,
    pub fork_point_sequence: u64,
    pub fork_point_hash: Option<Hash>,
    pub event: Appended,
}

/// A rollback that was carried out.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct RolledBack {
    pub branch_id: BranchName,
    pub target_event_id: EventId,
    pub target_sequence: u64,
    pub target_hash: Hash,
    pub reverted_count: u64,
    #[serde(flatten)]
    pub reverted: Reverted,
    pub event: Appended,
}

/// The events that a rollback took off the live timeline, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Reverted {
    All { reverted_event_ids: Vec<EventId> },
    Ends { first_reverted_event_id: EventId, last_reverted_event_id: EventId },
}

/// A record that no longer holds.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Retracted {
    pub branch_id: BranchName,
    pub kind: String,
    pub key: String,
    pub event: Appended,
}

/// Who acts, why, and what metadata goes with it.
#[derive(Debug, Clone)]
pub struct Act<'a> {
    pub agent: &'a AgentId,
    pub reason: &'a str,
    pub metadata: Object,
}

impl Act<'_> {
    fn draft(self, kind: EventType, payload: Object) -> Draft {
        Draft { kind, agent: self.agent.clone(), payload, metadata: self.metadata }
    }
}

/// Starts the branch `name` at an event of the lineage of `from`, reverted or not; at its head if
/// `at` is none. No event is copied.
///
/// # Errors
/// If the name is taken or refused, or the event does not belong to that lineage.
pub fn fork(
    log: &mut Log<'_>,
    name: &BranchName,
    from: &BranchName,
    at: Option<&Revision>,
    act: Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<Forked, BranchError> {
    name.check_new()?;
    log.check_name("the name of the branch", name.as_str())?;
    check_free(log.txn(), name)?;
    let source = log.branch(from)?;
    let point = match at {
        None => source.head,
        Some(revision) => Some(revision.resolve(log.txn(), from)?),
    };
    let point = point.map(|id| log.txn().known_event(id)).transpose()?;
    if let Some(event) = &point
        && !contains(log.txn(), &source, event)?
    {
        return Err(BranchError::NotInLineage { event: event.id, branch: from.clone() });
    }
    let sequence = point.as_ref().map_or(0, |event| event.sequence);
    let hash = point.as_ref().map(|event| event.hash);
    // The branch and its first event are of one moment, so that `mk verify` can hold them together.
    let now = (outside.now)();
    let created_at = point.as_ref().map_or(now, |event| now.max(event.timestamp));
    let (parent, by) = (Some(source.id), act.agent.clone());
    let mut branch =
        Branch::begun((name.clone(), name.clone()), parent, point.as_ref(), (created_at, by));
    branch.id = log.txn_mut().insert_branch(&branch)?;
    let payload = members([
        ("source_branch", from.as_str().into()),
        ("fork_point_sequence", sequence.into()),
        ("fork_point_hash", hash.map(|hash| hash.to_string()).into()),
        ("reason", act.reason.into()),
    ]);
    let reported = fork_members(&payload, branch.head);
    let draft = act.draft(EventType::Forked, payload);
    let mut outside = Outside { now: &mut || created_at, salt: outside.salt };
    let event = log.write(&branch, draft, None, Some(&reported), &mut outside)?;
    Ok(Forked {
        branch_id: name.clone(),
        parent_branch_id: from.clone(),
        fork_point_event_id: branch.head,
        fork_point_sequence: sequence,
        fork_point_hash: hash,
        event,
    })
}

/// Makes an empty branch without a parent.
///
/// # Errors
/// If the name is taken or refused.
pub fn create_root(
    log: &mut Log<'_>,
    name: &BranchName,
    agent: &AgentId,
    outside: &mut Outside<'_>,
) -> Result<(), BranchError> {
    name.check_new()?;
    check_free(log.txn(), name)?;
    insert_root(log.txn_mut(), name.clone(), (outside.now)(), agent)?;
    Ok(())
}

/// A branch of `mk`'s own, made if it is not there yet.
pub(crate) fn own(
    txn: &mut dyn WriteTxn,
    name: BranchName,
    now: Timestamp,
    agent: &AgentId,
) -> Result<Branch, StoreError> {
    match txn.branch(name.as_str())? {
        Some(branch) => Ok(branch),
        None => insert_root(txn, name, now, agent),
    }
}

fn insert_root(
    txn: &mut dyn WriteTxn,
    name: BranchName,
    now: Timestamp,
    agent: &AgentId,
) -> Result<Branch, StoreError> {
    let branch = Branch::begun((name.clone(), name), None, None, (now, agent.clone()));
    let id = txn.insert_branch(&branch)?;
    Ok(Branch { id, ..branch })
}

fn check_free(txn: &dyn ReadTxn, name: &BranchName) -> Result<(), BranchError> {
    match txn.branch_like(name.as_str())? {
        None => Ok(()),
        Some(taken) if taken == *name => Err(BranchError::Exists(taken)),
        Some(like) => Err(BranchError::ExistsLike { name: name.clone(), like }),
    }
}

/// Takes everything after `target` off the live timeline of `name`. Nothing is deleted: reverted
/// events can be read, and forked from.
///
/// # Errors
/// If `target` is not live there, or live events of other agents follow it and `include_others` is
/// false.
pub fn rollback(
    log: &mut Log<'_>,
    name: &BranchName,
    target: &Revision,
    include_others: bool,
    act: Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<RolledBack, BranchError> {
    let branch = log.branch(name)?;
    let target = target.resolve(log.txn(), name)?;
    let not_live = |why| BranchError::NotLive { event: target, branch: name.clone(), why };
    let head = branch.head.ok_or_else(|| not_live("the branch is empty"))?;
    let head = log.txn().linked(head)?;
    if !lineage::is_live(head, target, |id| log.txn().link(id))? {
        let event = log.txn().known_event(target)?;
        return Err(not_live(match contains(log.txn(), &branch, &event)? {
            true => "it was rolled back",
            false => "it belongs to another branch",
        }));
    }
    let target = log.txn().linked(target)?;
    if !include_others && let Some(others) = others(log.txn(), head, target.1, act.agent)? {
        return Err(BranchError::OthersReverted(others));
    }
    roll_back_to(log, &branch, head, target, act, outside)
}

fn roll_back_to(
    log: &mut Log<'_>,
    branch: &Branch,
    head: (EventId, Link),
    target: (EventId, Link),
    act: Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<RolledBack, BranchError> {
    let event = log.txn().known_event(target.0)?;
    let count = head.1.depth.saturating_sub(target.1.depth);
    let reverted = reverted(log.txn(), head, target)?;
    let payload = members([
        ("target_sequence", event.sequence.into()),
        ("target_hash", event.hash.to_string().into()),
        ("reverted_count", count.into()),
        ("reason", act.reason.into()),
    ]);
    let reported = rollback_members(&payload, target.0, count, &reverted);
    let draft = act.draft(EventType::RolledBack, payload);
    let appended = log.write(branch, draft, Some(target.0), Some(&reported), outside)?;
    Ok(RolledBack {
        branch_id: branch.name.clone(),
        target_event_id: target.0,
        target_sequence: event.sequence,
        target_hash: event.hash,
        reverted_count: count,
        reverted,
        event: appended,
    })
}

/// Rolls back the agent's own last `count` events, if nothing of others follows them. Fork, rollback
/// and snapshot records in between are not counted.
///
/// # Errors
/// [`BranchError::NothingToUndo`] if the newest live events are not `count` events of the agent.
pub fn undo(
    log: &mut Log<'_>,
    name: &BranchName,
    count: u64,
    act: Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<RolledBack, BranchError> {
    let branch = log.branch(name)?;
    let nothing = |why: String| BranchError::NothingToUndo { branch: name.clone(), why };
    let head = branch.head.ok_or_else(|| nothing("the branch is empty".to_owned()))?;
    let head = log.txn().linked(head)?;
    let mut at = Some(head.0);
    let mut left = count;
    while left > 0 {
        let Some(id) = at else {
            return Err(nothing(format!(
                "it has only {} of yours",
                counted(count - left, "live event")
            )));
        };
        let event = log.txn().known_event(id)?;
        if event.kind != EventType::Snapshot && event.agent != *act.agent {
            return Err(nothing(format!(
                "event {id} of '{}' comes after {}",
                event.agent,
                if left == count { "yours" } else { "only some of yours" }
            )));
        }
        if !matches!(event.kind, EventType::Forked | EventType::RolledBack | EventType::Snapshot) {
            left -= 1;
        }
        at = log.txn().link(id)?.live_parent;
    }
    let target = at.ok_or_else(|| {
        nothing("the first event of a lineage has nothing before it to go back to".to_owned())
    })?;
    let target = log.txn().linked(target)?;
    roll_back_to(log, &branch, head, target, act, outside)
}

/// Removes a decision, a fact or a task from the state of `name`, and leaves a deprecated assumption.
///
/// # Errors
/// [`BranchError::RetractUnknown`] if there is none of that key.
pub fn retract(
    log: &mut Log<'_>,
    name: &BranchName,
    what: Retractable,
    key: &str,
    act: Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<Retracted, BranchError> {
    let branch = log.branch(name)?;
    let state = workspace::state(log.txn(), branch.head)?;
    let source = match what {
        Retractable::Decision => state.decisions.get(key).map(|record| record.event),
        Retractable::Fact => state.facts.get(key).map(|record| record.event),
        Retractable::Task => state.tasks.get(key).map(|record| record.event),
    };
    let Some(source) = source else {
        return Err(BranchError::RetractUnknown {
            what,
            key: key.to_owned(),
            branch: name.clone(),
        });
    };
    let payload = members([
        ("kind", what.as_str().into()),
        ("key", key.into()),
        ("retracted_hash", source.hash.to_string().into()),
        ("retracted_sequence", source.sequence.into()),
        ("reason", act.reason.into()),
    ]);
    let draft = act.draft(EventType::Retracted, payload);
    let event = log.write(&branch, draft, None, None, outside)?;
    Ok(Retracted {
        branch_id: name.clone(),
        kind: what.as_str().to_owned(),
        key: key.to_owned(),
        event,
    })
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Object {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The live events after `target` up to `head` that are not by `agent`; none if all are. O(log n) if
/// all are.
fn others(
    txn: &dyn ReadTxn,
    head: (EventId, Link),
    target: Link,
    agent: &AgentId,
) -> Result<Option<Others>, StoreError> {
    if let Some((newest, author)) = author(txn, &txn.known_event(head.0)?)?
        && author == *agent
        && txn.link(newest)?.depth > target.depth
    {
        match head.1.other {
            Some(other) if txn.link(other)?.depth > target.depth => {}
            _ => return Ok(None),
        }
    }
    let mut agents = BTreeSet::new();
    let mut found = Others { agents: Vec::new(), events: Vec::new(), count: 0, more: false };
    let floor = target.depth.max(head.1.depth.saturating_sub(OTHERS_COUNTED));
    for id in live(txn, Some(head.0), floor)? {
        let event = txn.known_event(id)?;
        if event.kind == EventType::Snapshot || event.agent == *agent {
            continue;
        }
        found.count += 1;
        if found.events.len() < OTHERS_LISTED {
            found.events.push(id);
        }
        agents.insert(event.agent);
    }
    found.more = floor > target.depth;
    found.agents = agents.into_iter().collect();
    Ok((found.count > 0 || found.more).then_some(found))
}
