//! The branches of a project, for people.

use serde::Serialize;

use crate::id::{AgentId, BranchName, EventId, Hash};
use crate::store::{Branch, ReadTxn, StoreError};
use crate::time::Timestamp;

/// A branch in a listing.
#[derive(Debug, Serialize)]
pub struct BranchReport {
    pub branch_id: BranchName,
    /// Whether it is the one that the agent is on.
    pub current: bool,
    pub parent_branch_id: Option<BranchName>,
    pub fork_event_id: Option<EventId>,
    pub fork_sequence: u64,
    pub head: Option<Head>,
    pub created_at: Timestamp,
    pub created_by: AgentId,
}

/// The newest event of a branch, and what it makes of it.
#[derive(Debug, Serialize)]
pub struct Head {
    pub event_id: EventId,
    pub hash: Hash,
    pub sequence: u64,
    pub agent_id: AgentId,
    pub timestamp: Timestamp,
    /// Events on the live timeline.
    pub live: u64,
    /// Tokens of the context, whole.
    pub tokens: u64,
}

/// Branches, the oldest first.
#[derive(Debug, Serialize)]
pub struct Branches {
    pub branches: Vec<BranchReport>,
    pub omitted: u64,
    /// What continues the listing; none if these were the last.
    pub next: Option<Next>,
    pub tokenizer: &'static str,
}

/// Arguments of the listing that goes on from here.
#[derive(Debug, Serialize)]
pub struct Next {
    pub after: BranchName,
}

/// Which branches are listed.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// What their names begin with.
    pub prefix: &'a str,
    /// Those of `mk` itself too.
    pub reserved: bool,
    /// Only those after this one.
    pub after: Option<&'a BranchName>,
    /// Most of them.
    pub limit: usize,
}

/// The branches that are wanted, by creation time, then name. O(branches).
///
/// # Errors
/// Those of the store.
pub fn list(
    txn: &dyn ReadTxn,
    listed: Listed<'_>,
    current: &BranchName,
) -> Result<Branches, StoreError> {
    let all = txn.branches()?;
    let start = match listed.after {
        None => 0,
        Some(after) => all.iter().position(|it| it.name == *after).map_or(all.len(), |at| at + 1),
    };
    let is_wanted = |branch: &Branch| {
        (listed.reserved || !branch.name.is_reserved())
            && branch.name.as_str().starts_with(listed.prefix)
    };
    let mut wanted = all.into_iter().skip(start).filter(is_wanted);
    let shown: Vec<Branch> = wanted.by_ref().take(listed.limit).collect();
    let omitted = wanted.count() as u64;
    let last = shown.last().filter(|_| omitted > 0);
    let next = last.map(|branch| Next { after: branch.name.clone() });
    let tokenizer = txn.identity()?.tokenizer.name();
    let branches = shown.into_iter().map(|branch| report(txn, branch, current));
    Ok(Branches { branches: branches.collect::<Result<_, _>>()?, omitted, next, tokenizer })
}

fn report(
    txn: &dyn ReadTxn,
    branch: Branch,
    current: &BranchName,
) -> Result<BranchReport, StoreError> {
    let head = |id| {
        let (event, link) = (txn.known_event(id)?, txn.link(id)?);
        Ok::<_, StoreError>(Head {
            event_id: id,
            hash: event.hash,
            sequence: event.sequence,
            agent_id: event.agent,
            timestamp: event.timestamp,
            live: link.depth,
            tokens: link.context,
        })
    };
    let parent = branch.parent.map(|parent| txn.lineage(parent)).transpose()?;
    Ok(BranchReport {
        current: branch.name == *current,
        parent_branch_id: parent.map(|parent| parent.name),
        fork_event_id: branch.fork_point.map(|point| point.event),
        fork_sequence: branch.fork_sequence(),
        head: branch.head.map(head).transpose()?,
        created_at: branch.created_at,
        created_by: branch.created_by,
        branch_id: branch.name,
    })
}
