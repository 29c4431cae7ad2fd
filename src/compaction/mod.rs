//! Compaction: a snapshot takes the place of older events where a branch is read.
//!
//! Nothing is deleted. What is slow, reading and folding, is done in a read transaction; under the
//! write lock it is only seen to that the head is still the one that was read.
//!
//! Rule: docs/spec/kernel.md, sections 9 and 11. How it is used: docs/compaction.md.

pub mod insight;
mod plan;
mod policy;

use serde::Serialize;

use crate::canon::{Object, Value};
use crate::event::EventType;
use crate::id::{AgentId, BranchName, EventId};
use crate::log::{Draft, Growth, Log, LogError, Outside, Prepared, Rules, SecretPolicy};
use crate::revision;
use crate::secret;
use crate::store::{Engine, ReadTxn, StoreError};
use crate::time::Timestamp;
use crate::workspace::snapshot;
use plan::{Compact, Plan, Step};

pub use policy::{DEFAULT_RETAIN_EVENTS, DEFAULT_THRESHOLD, NUMBER_MAX, Policy};

/// Who writes snapshots.
pub const AGENT: &str = "mk-gc";

/// The name of what makes insights of notes.
pub const BUILT_IN: &str = "built-in";

/// How often it is begun again when the head has moved meanwhile.
const ATTEMPTS: usize = 3;

/// Why a branch was compacted or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Compacted,
    /// The context text is not over the threshold.
    BelowThreshold,
    /// All events that are not covered yet stay.
    NothingToCompact,
    /// Too few tokens would be won.
    NoGain,
    /// Others appended meanwhile, each time.
    Contention,
}

/// What came of a compaction.
#[derive(Debug, Clone, Serialize)]
pub struct Collected {
    pub branch_id: BranchName,
    /// Whether there is a new snapshot.
    pub triggered: bool,
    pub reason: Reason,
    /// Tokens of the context text.
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// The share that was won, to four places.
    pub reduction_ratio: f64,
    pub compacted_event_count: u64,
    pub retained_event_count: u64,
    pub snapshot_event_id: Option<EventId>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What made the insights.
    pub summarizer: String,
    pub tokenizer: &'static str,
    /// Why the built-in summarizer had to stand in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarizer_failure: Option<String>,
    /// Whether it was only tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// What a snapshot covers.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Coverage {
    pub covers_through_event_id: EventId,
    pub covers_through_sequence: u64,
    pub base_snapshot_event_id: Option<EventId>,
    pub compacted_first_event_id: EventId,
}

/// What is to be compacted, by which rules.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    pub branch: &'a BranchName,
    pub policy: &'a Policy,
    /// Whatever the threshold and the minimal gain are.
    pub force: bool,
    /// Write nothing.
    pub dry_run: bool,
    /// Who writes the snapshot: [`AGENT`].
    pub agent: &'a AgentId,
}

/// A summarizer from outside. What it answers is not trusted: it is cleaned and cut, and becomes
/// insights and nothing else.
pub struct Summarizer<'a> {
    pub name: &'a str,
    /// The insights of what is compacted, or why there are none.
    pub run: &'a mut dyn FnMut(&Summary) -> Result<Vec<String>, String>,
}

/// What a summarizer is given.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub schema: &'static str,
    pub branch_id: BranchName,
    /// The newest of the events that are compacted, oldest first.
    pub events: Vec<SummaryEvent>,
    /// Older ones that were left out.
    pub omitted_event_count: u64,
    /// The insights there are.
    pub insights: Vec<String>,
    pub new_insights_max: usize,
    pub insight_length_max: usize,
}

/// An event as a summarizer is given it.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryEvent {
    pub event_id: EventId,
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub agent_id: AgentId,
    pub event_type: EventType,
    /// What its block says after the header.
    pub text: String,
}

/// The branches whose context texts grew so much in a transaction that an attempt is worth it.
///
/// # Errors
/// Those of the store.
pub fn due(txn: &dyn ReadTxn, growth: Vec<Growth>) -> Result<Vec<BranchName>, StoreError> {
    // All else is read only where this one number leaves it open, which after a short write it does not.
    let threshold = policy::threshold(txn)?;
    let long = |growth: &Growth| growth.after > threshold && !growth.branch.is_reserved();
    let grown: Vec<Growth> = growth.into_iter().filter(long).collect();
    if grown.is_empty() {
        return Ok(Vec::new());
    }
    let policy = Policy::read(txn)?;
    let mut due = Vec::new();
    for Growth { branch, before, after, snapshot } in grown {
        let left = snapshot.map_or(Ok(0), |snapshot| Ok(txn.link(snapshot)?.context))?;
        if policy.is_due(before, after, left) {
            due.push(branch);
        }
    }
    Ok(due)
}

/// The branches that can be compacted: all but those of `mk`'s own.
///
/// # Errors
/// Those of the store.
pub fn branches(txn: &dyn ReadTxn) -> Result<Vec<BranchName>, StoreError> {
    let names = txn.branches()?.into_iter().map(|branch| branch.name);
    Ok(names.filter(|name| !name.is_reserved()).collect())
}

/// Compacts a branch if its context text is over the threshold and enough is won.
///
/// # Errors
/// If there is no such branch, or it is one of `mk`'s own; a snapshot that is too large; those of the
/// store.
pub fn collect<E: Engine>(
    store: &mut E,
    order: &Order<'_>,
    mut summarizer: Option<Summarizer<'_>>,
    outside: &mut Outside<'_>,
) -> Result<Collected, LogError> {
    let name = order.branch;
    if name.is_reserved() {
        return Err(LogError::ReservedBranch(name.clone()));
    }
    let mut insights = Insights { by: BUILT_IN.to_owned(), given: None, failure: None };
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let (plan, rules, seen) = store.read(|txn| {
            let branch = revision::branch(txn, name.as_str())?;
            let summarized = summarizer.is_some();
            let (policy, agent) = (order.policy, order.agent);
            let plan = plan::plan(txn, &branch, policy, agent, order.force, summarized)?;
            let seen = txn.log_head()?.map_or(EventId(0), |(id, _)| id);
            Ok::<_, LogError>((plan, Rules::read(txn)?, seen))
        })?;
        let Plan { head, tokenizer, before, step } = plan;
        let report = |reason| Collected {
            branch_id: name.clone(),
            triggered: false,
            reason,
            tokens_before: before,
            tokens_after: before,
            reduction_ratio: 0.0,
            compacted_event_count: 0,
            retained_event_count: 0,
            snapshot_event_id: None,
            coverage: None,
            summarizer: BUILT_IN.to_owned(),
            tokenizer: tokenizer.name(),
            summarizer_failure: None,
            dry_run: order.dry_run,
        };
        let mut compact = match step {
            Step::Not(reason) => return Ok(report(reason)),
            Step::Compact(compact) => compact,
        };
        let mut estimate = compact.estimate(tokenizer, order.agent);
        let wins = |estimate: u64| {
            estimate < before && (order.force || before - estimate >= order.policy.min_gain)
        };
        if !wins(estimate) {
            return Ok(report(Reason::NoGain));
        }
        // Asked once: a second answer would be as old as the first when the head has moved again.
        if let Some(summarizer) = summarizer.take() {
            insights.ask(summarizer, compact.summary.as_ref(), rules.secrets);
        }
        if let Some(given) = &insights.given {
            let old = std::mem::take(&mut compact.old_insights);
            compact.state.insights = insight::join(old, given.iter().map(String::as_str));
            estimate = compact.estimate(tokenizer, order.agent);
            if !wins(estimate) {
                return Ok(insights.tell(report(Reason::NoGain)));
            }
        }
        let cover = compact.cover(tokenizer);
        let done = Collected {
            tokens_after: estimate,
            reduction_ratio: reduction(before, estimate),
            compacted_event_count: compact.count,
            retained_event_count: compact.retained,
            coverage: Some(coverage(&compact)),
            ..insights.tell(report(Reason::Compacted))
        };
        if order.dry_run {
            return Ok(done);
        }
        let draft = draft(order, &compact, &insights.by, tokenizer.name(), before);
        let prepared = Prepared::snapshot(draft, cover, rules, (outside.salt)())?;
        match commit(store, name, prepared, (head, seen), outside)? {
            Committed::Snapshot(event, after) => {
                return Ok(Collected {
                    triggered: true,
                    tokens_after: after,
                    reduction_ratio: reduction(before, after),
                    snapshot_event_id: Some(event),
                    ..done
                });
            }
            Committed::Not { erased } => {
                if erased {
                    insights.forget();
                }
                last = Some(insights.tell(report(Reason::Contention)));
            }
        }
    }
    Ok(last.expect("there is at least one attempt"))
}

/// What came of the attempt to append a snapshot.
enum Committed {
    /// Its id, and the tokens of the context text then.
    Snapshot(EventId, u64),
    /// It does not fit what is there now; `erased` says whether it may hold what is erased by now.
    Not { erased: bool },
}

/// Appends the snapshot if `head` is still the head, and nothing was erased since the log ended with
/// `seen`: what was folded before may stand in it.
fn commit<E: Engine>(
    store: &mut E,
    name: &BranchName,
    prepared: Prepared,
    (head, seen): (EventId, EventId),
    outside: &mut Outside<'_>,
) -> Result<Committed, LogError> {
    store.write(|txn| {
        if !txn.of_type_after(EventType::Erased, seen)?.is_empty() {
            return Ok(Committed::Not { erased: true });
        }
        let mut log = Log::open(txn)?;
        match log.append_snapshot(name, prepared, head, (outside.now)())? {
            Some(event) => {
                let tokens = log.txn().link(event.event_id)?.context;
                Ok(Committed::Snapshot(event.event_id, tokens))
            }
            None => Ok(Committed::Not { erased: false }),
        }
    })
}

/// Where the insights of a snapshot come from.
struct Insights {
    by: String,
    given: Option<Vec<String>>,
    failure: Option<String>,
}

impl Insights {
    fn ask(&mut self, of: Summarizer<'_>, summary: Option<&Summary>, secrets: SecretPolicy) {
        let Some(summary) = summary else { return };
        match (of.run)(summary) {
            Ok(mut given) => {
                given.truncate(insight::NEW_MAX);
                if secrets != SecretPolicy::Off {
                    given = given.into_iter().map(without_secrets).collect();
                }
                (self.by, self.given) = (of.name.to_owned(), Some(given));
            }
            Err(failure) => self.failure = Some(failure),
        }
    }

    /// Drops what was made of events that may be erased by now.
    fn forget(&mut self) {
        if self.given.take().is_some() {
            self.by = BUILT_IN.to_owned();
            self.failure = Some("events were erased while it ran".to_owned());
        }
    }

    fn tell(&self, report: Collected) -> Collected {
        let failure = self.failure.clone();
        Collected { summarizer: self.by.clone(), summarizer_failure: failure, ..report }
    }
}

fn without_secrets(text: String) -> String {
    secret::redact(&text).map_or(text, |(clean, _)| clean)
}

fn coverage(compact: &Compact) -> Coverage {
    Coverage {
        covers_through_event_id: compact.last.id,
        covers_through_sequence: compact.last.sequence,
        base_snapshot_event_id: compact.base.as_ref().map(|base| base.id),
        compacted_first_event_id: compact.first.id,
    }
}

fn draft(
    order: &Order<'_>,
    compact: &Compact,
    summarizer: &str,
    tokenizer: &'static str,
    before: u64,
) -> Draft {
    let mut payload = compact.state.canonical().as_object().cloned().unwrap_or_default();
    let base = compact.base.as_ref().map(|base| base.hash.to_string());
    payload.insert("schema", snapshot::SCHEMA);
    payload.insert("covers_through_sequence", compact.last.sequence);
    payload.insert("covers_through_hash", compact.last.hash.to_string());
    payload.insert("base_snapshot_hash", base);
    payload.insert("compacted_event_count", compact.count);
    payload.insert("compacted_first_hash", compact.first.hash.to_string());
    let metadata = Object::from_iter([
        ("summarizer", Value::from(summarizer)),
        ("tokenizer", tokenizer.into()),
        ("tokens_before", before.into()),
    ]);
    Draft { kind: EventType::Snapshot, agent: order.agent.clone(), payload, metadata }
}

/// `1 − after ÷ before`, rounded to four places; 0 if there was nothing before.
fn reduction(before: u64, after: u64) -> f64 {
    if before == 0 {
        return 0.0;
    }
    let ratio = 1.0 - after as f64 / before as f64;
    (ratio * 10_000.0).round() / 10_000.0
}
