//! How large a project is, what compaction gains, and who writes most.
//!
//! Costs O(branches), and a look at the newest events; nothing else grows with the log.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::event::EventType;
use crate::id::{AgentId, BranchName, EventId};
use crate::store::{Branch, ReadTxn, StoreError};

/// Sizes of a project.
#[derive(Debug, Serialize)]
pub struct Stats {
    /// Events of all branches.
    pub events: u64,
    /// Branches, those of `mk` itself too.
    pub branch_count: u64,
    pub tokenizer: &'static str,
    /// Those with the largest contexts, of agents.
    pub branches: Vec<BranchSize>,
    /// Branches of agents that are not among them.
    pub omitted_branches: u64,
    /// How many of the newest events the rest is about.
    pub looked_at: u64,
    /// Who wrote most of them.
    pub agents: Vec<Count<AgentId>>,
    /// Agents that are not among them.
    pub omitted_agents: u64,
    /// What they are.
    pub types: Vec<Count<EventType>>,
}

/// The size of a branch, in events and tokens.
#[derive(Debug, Serialize)]
pub struct BranchSize {
    pub branch_id: BranchName,
    /// Events on the live timeline.
    pub live: u64,
    /// Of all live events.
    pub tokens: u64,
    /// Of the context: the newest snapshot, and what it does not cover.
    pub context_tokens: u64,
    /// What compaction saves a reader, as a share of `tokens`, to four places.
    pub gain: f64,
    /// The newest snapshot.
    pub snapshot_event_id: Option<EventId>,
}

/// How often there is something.
#[derive(Debug, Serialize)]
pub struct Count<T> {
    pub name: T,
    pub events: u64,
}

/// The sizes of the project, with at most `most` branches and agents, and a look at the newest `last`
/// events of the log.
///
/// # Errors
/// Those of the store.
pub fn stats(txn: &dyn ReadTxn, most: usize, last: u64) -> Result<Stats, StoreError> {
    let newest = txn.log_head()?.map_or(0, |(id, _)| id.0.unsigned_abs());
    let all = txn.branches()?;
    let branch_count = all.len() as u64;
    let of_agents = all.into_iter().filter(|branch| !branch.name.is_reserved());
    let sizes = of_agents.map(|branch| size(txn, branch));
    let mut branches = sizes.collect::<Result<Vec<_>, StoreError>>()?;
    branches.sort_by_key(|it| std::cmp::Reverse(it.context_tokens));
    let omitted_branches = branches.len().saturating_sub(most) as u64;
    branches.truncate(most);
    let looked_at = newest.min(last);
    let (mut by_agent, mut by_type) = (BTreeMap::new(), BTreeMap::new());
    for number in newest - looked_at + 1..=newest {
        let event = txn.known_event(EventId(number.cast_signed()))?;
        *by_agent.entry(event.agent).or_default() += 1;
        *by_type.entry(event.kind).or_default() += 1;
    }
    let mut agents = counts(by_agent);
    let omitted_agents = agents.len().saturating_sub(most) as u64;
    agents.truncate(most);
    Ok(Stats {
        events: newest,
        branch_count,
        tokenizer: txn.identity()?.tokenizer.name(),
        branches,
        omitted_branches,
        looked_at,
        agents,
        omitted_agents,
        types: counts(by_type),
    })
}

fn size(txn: &dyn ReadTxn, branch: Branch) -> Result<BranchSize, StoreError> {
    let link = branch.head.map(|head| txn.link(head)).transpose()?;
    let (live, tokens, context_tokens) =
        link.map_or((0, 0, 0), |link| (link.depth, link.tokens, link.context));
    let saved = tokens.saturating_sub(context_tokens) as f64 / tokens.max(1) as f64;
    Ok(BranchSize {
        branch_id: branch.name,
        live,
        tokens,
        context_tokens,
        gain: (saved * 1e4).round() / 1e4,
        snapshot_event_id: link.and_then(|link| link.snapshot),
    })
}

/// The most frequent first.
fn counts<T>(counted: impl IntoIterator<Item = (T, u64)>) -> Vec<Count<T>> {
    let counts = counted.into_iter().map(|(name, events)| Count { name, events });
    let mut counts: Vec<Count<T>> = counts.collect();
    counts.sort_by_key(|it| std::cmp::Reverse(it.events));
    counts
}
