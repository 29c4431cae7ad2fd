//! How things stand on a branch: who is here, what is held, what blocks, what holds, what was told.
//!
//! Costs a state read, a look at the newest [`EVENTS_LOOKED_AT`] events of the log, and the leases in
//! force; nothing grows with the log.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::event::{Event, EventType};
use crate::id::{AgentId, BranchName, EventId};
use crate::lease::LeaseReport;
use crate::notice::{self, NoticeReport};
use crate::store::{Branch, Leases, ReadTxn, StoreError};
use crate::sync::Policy;
use crate::time::Timestamp;
use crate::workspace;
use crate::workspace::context::DEFAULT_BUDGET;
use crate::workspace::fold::{Blocker, Decision, State};

/// Newest events of the log, of all branches, whose agents count as being here.
pub const EVENTS_LOOKED_AT: i64 = 500;

/// The state of a project as seen from a branch.
#[derive(Debug, Serialize)]
pub struct Status {
    pub branch_id: BranchName,
    pub head_event_id: Option<EventId>,
    /// The sequence of the head.
    pub head_sequence: u64,
    pub context: ContextSize,
    /// Those who wrote last, the last one first.
    pub agents: Part<AgentReport>,
    /// Leases in force, by resource.
    pub leases: Part<LeaseReport>,
    /// The newest first.
    pub blockers: Part<BlockerReport>,
    /// The newest first.
    pub decisions: Part<DecisionReport>,
    /// Open ones; those that are active first, then the newest.
    pub notices: Part<NoticeReport>,
}

/// The first of something, and how to see the rest.
#[derive(Debug, Serialize)]
pub struct Part<T> {
    pub shown: Vec<T>,
    pub omitted: u64,
    /// The command that shows the rest; none if nothing is left out.
    pub next: Option<String>,
}

impl<T> Part<T> {
    /// The first `most` of `all`; `next` is the command that shows all.
    fn first(all: impl IntoIterator<Item = T>, most: usize, next: &str) -> Self {
        let mut all = all.into_iter();
        let shown: Vec<T> = all.by_ref().take(most).collect();
        Self::of(shown, all.count() as u64, next)
    }

    fn of(shown: Vec<T>, omitted: u64, next: &str) -> Self {
        Self { shown, omitted, next: (omitted > 0).then(|| next.to_owned()) }
    }

    fn map<U>(self, change: impl FnMut(T) -> U) -> Part<U> {
        let shown = self.shown.into_iter().map(change).collect();
        Part { shown, omitted: self.omitted, next: self.next }
    }
}

/// The size of the whole context of a branch, beside what bounds it.
#[derive(Debug, Serialize)]
pub struct ContextSize {
    /// Of the newest snapshot and all events after it.
    pub tokens: u64,
    /// What `mk context` keeps to, unless told otherwise.
    pub budget: u64,
    pub tokenizer: &'static str,
}

/// An agent that wrote lately.
#[derive(Debug, Serialize)]
pub struct AgentReport {
    pub agent_id: AgentId,
    /// Where it wrote last.
    pub branch_id: BranchName,
    pub last_event_id: EventId,
    pub last_seen: Timestamp,
    /// What it is at, by the state of the branch.
    pub directive: Option<String>,
}

/// A command that fails.
#[derive(Debug, Serialize)]
pub struct BlockerReport {
    pub key: String,
    pub description: String,
    /// An integer of any size.
    pub exit_code: String,
    pub occurrences: u64,
    pub agent_id: String,
    pub last_seen_event_id: EventId,
}

/// A decision that holds.
#[derive(Debug, Serialize)]
pub struct DecisionReport {
    pub key: String,
    pub value: String,
    pub agent_id: String,
    pub event_id: EventId,
}

impl From<&Blocker> for BlockerReport {
    fn from(it: &Blocker) -> Self {
        Self {
            key: it.key.clone(),
            description: it.description.clone(),
            exit_code: it.exit_code.to_string(),
            occurrences: it.occurrences,
            agent_id: it.agent.clone(),
            last_seen_event_id: it.last_seen.id,
        }
    }
}

impl From<&Decision> for DecisionReport {
    fn from(it: &Decision) -> Self {
        let (key, value, agent_id) = (it.key.clone(), it.value.clone(), it.agent.clone());
        Self { key, value, agent_id, event_id: it.event.id }
    }
}

/// How things stand on `branch` at `now`, with at most `most` of each kind. `policy` is that of the
/// signed exchange, if there is one.
///
/// # Errors
/// Those of the store.
pub fn status(
    txn: &dyn ReadTxn,
    branch: &Branch,
    most: usize,
    (now, policy): (Timestamp, Option<&Policy>),
) -> Result<Status, StoreError> {
    let state = workspace::state(txn, branch.head)?;
    let tokens = branch.head.map_or(Ok(0), |head| txn.link(head).map(|link| link.context))?;
    let mut blockers: Vec<&Blocker> = state.blockers.values().collect();
    blockers.sort_by_key(|it| std::cmp::Reverse(it.last_seen.id));
    let mut decisions: Vec<&Decision> = state.decisions.values().collect();
    decisions.sort_by_key(|it| std::cmp::Reverse(it.event.id));
    let fold = format!("mk fold {}", branch.name);
    let leases = txn.leases(Leases::Active(now), "", None, usize::MAX)?;
    let leases = Part::first(leases, most, "mk lease list");
    let shown = leases.shown.iter().map(|lease| LeaseReport::new(txn, lease, now));
    let shown = shown.collect::<Result<Vec<_>, _>>()?;
    let (notices, open) = notice::newest(txn, None, most, now)?;
    let omitted = open - notices.len() as u64;
    let notices = Part::of(notices, omitted, "mk notice list");
    Ok(Status {
        branch_id: branch.name.clone(),
        head_event_id: branch.head,
        head_sequence: branch.head_sequence,
        context: ContextSize {
            tokens,
            budget: DEFAULT_BUDGET,
            tokenizer: txn.identity()?.tokenizer.name(),
        },
        agents: Part::first(agents(txn, &state)?, most, "mk log --all"),
        leases: Part { shown, omitted: leases.omitted, next: leases.next },
        blockers: Part::first(blockers, most, &fold).map(BlockerReport::from),
        decisions: Part::first(decisions, most, &fold).map(DecisionReport::from),
        notices: notices.map(|notice| NoticeReport::new(notice, now, policy)),
    })
}

/// The authors of the newest events of the log, but for those of `mk`'s own branches and of snapshots.
fn agents(txn: &dyn ReadTxn, state: &State) -> Result<Vec<AgentReport>, StoreError> {
    let last = txn.log_head()?.map_or(0, |(id, _)| id.0);
    let mut newest: BTreeMap<AgentId, Event> = BTreeMap::new();
    for id in ((last - EVENTS_LOOKED_AT).max(0) + 1..=last).rev() {
        let event = txn.known_event(EventId(id))?;
        // A snapshot is nobody's doing.
        if !event.branch.is_reserved() && event.kind != EventType::Snapshot {
            newest.entry(event.agent.clone()).or_insert(event);
        }
    }
    let mut newest: Vec<Event> = newest.into_values().collect();
    newest.sort_by_key(|event| std::cmp::Reverse(event.id));
    let report = |event: Event| {
        Ok(AgentReport {
            branch_id: txn.lineage(event.lineage)?.name,
            last_event_id: event.id,
            last_seen: event.timestamp,
            directive: state.tasks.get(event.agent.as_str()).map(|task| task.directive.clone()),
            agent_id: event.agent,
        })
    };
    newest.into_iter().map(report).collect()
}
