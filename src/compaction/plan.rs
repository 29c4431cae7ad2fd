//! What would be compacted of a branch, from one state of the store.

use std::collections::VecDeque;

use super::insight::{self, NOTES};
use super::{Policy, Reason, Summary, SummaryEvent};
use crate::event::{Event, EventType, Payload};
use crate::id::{AgentId, EventId};
use crate::lineage::{self, Link, Linked};
use crate::store::{Branch, ReadTxn, StoreError};
use crate::tokens::Tokenizer;
use crate::workspace::fold::State;
use crate::workspace::snapshot::{self, Cover, INSIGHT_LENGTH_MAX, Newest};
use crate::workspace::{self, render};

/// Most events, and most bytes of their text, that a summarizer is given.
const SUMMARY_EVENTS: usize = 2_000;
const SUMMARY_BYTES: usize = 1 << 20;

/// What a compaction of a branch begins with.
pub(super) struct Plan {
    pub head: EventId,
    pub tokenizer: Tokenizer,
    /// Tokens of the context text.
    pub before: u64,
    pub step: Step,
}

pub(super) enum Step {
    /// There is nothing to do.
    Not(Reason),
    Compact(Box<Compact>),
}

/// Events to compact, and what they come to.
pub(super) struct Compact {
    /// The snapshot that is replaced.
    pub base: Option<Event>,
    /// The first and the last event that is compacted, and how many there are.
    pub first: Event,
    pub last: Event,
    pub count: u64,
    /// Tokens of all live events up to the last.
    link: Link,
    /// The state after the last, with the insights of `base` and of the newest notes.
    pub state: State,
    /// The insights of `base`.
    pub old_insights: Vec<String>,
    /// What insights say of the newest of the compacted notes, oldest first.
    notes: VecDeque<String>,
    /// Events that stay, and their tokens.
    pub retained: u64,
    pub retained_tokens: u64,
    pub summary: Option<Summary>,
}

impl Compact {
    pub fn cover(&self, tokenizer: Tokenizer) -> Cover {
        Cover::new((self.last.id, self.link), &self.state, tokenizer)
    }

    /// Takes in one more event, the one after the last.
    fn take(&mut self, event: Event, link: Link) {
        self.state.apply(&event);
        self.notes.extend(note(&event));
        self.notes.drain(..self.notes.len().saturating_sub(NOTES));
        (self.last, self.link) = (event, link);
        self.set_insights();
    }

    fn set_insights(&mut self) {
        let notes = self.notes.iter().map(String::as_str);
        self.state.insights = insight::join(self.old_insights.clone(), notes);
    }

    /// Tokens of the context text afterwards, before the snapshot has an id and a sequence.
    pub fn estimate(&self, tokenizer: Tokenizer, agent: &AgentId) -> u64 {
        let header = format!("[#None seq=None {agent} {}] ", EventType::Snapshot);
        let live = self.link.tokens + self.retained_tokens;
        self.cover(tokenizer).context(tokenizer, &header, live)
    }
}

/// Reads what there is to compact on `branch`. `forced`: whatever the threshold says. `summarized`:
/// with what a summarizer is to be given.
pub(super) fn plan(
    txn: &dyn ReadTxn,
    branch: &Branch,
    policy: &Policy,
    agent: &AgentId,
    forced: bool,
    summarized: bool,
) -> Result<Plan, StoreError> {
    let tokenizer = txn.identity()?.tokenizer;
    let not = |head, before, reason| Plan { head, tokenizer, before, step: Step::Not(reason) };
    let idle = if forced { Reason::NothingToCompact } else { Reason::BelowThreshold };
    let Some(head) = branch.head else { return Ok(not(EventId(0), 0, idle)) };
    let before = txn.link(head)?.context;
    if !forced && before <= policy.threshold {
        return Ok(not(head, before, Reason::BelowThreshold));
    }
    let base = snapshot::newest(txn, head)?;
    let floor = base.as_ref().map_or(0, |base| base.covers.1.depth);
    let (mut tail, last) = tail(txn, head, floor, policy)?;
    let Some((last, link)) = last else {
        return Ok(not(head, before, Reason::NothingToCompact));
    };
    let mut compact = Compact {
        first: first_after(txn, (last, link), floor)?,
        last: txn.known_event(last)?,
        count: 0,
        link,
        state: workspace::state(txn, Some(last))?,
        old_insights: base.as_ref().map(Newest::insights).unwrap_or_default(),
        notes: notes(txn, last, floor)?,
        retained: tail.len() as u64,
        retained_tokens: tail.iter().map(|(_, tokens)| tokens).sum(),
        summary: None,
        base: base.map(|base| base.event),
    };
    compact.set_insights();
    // What is to stay gives way, oldest first, until the text is down to the low-water mark.
    while compact.estimate(tokenizer, agent) > policy.low_water {
        let Some((oldest, tokens)) = tail.pop() else { break };
        compact.take(txn.known_event(oldest)?, txn.link(oldest)?);
        compact.retained -= 1;
        compact.retained_tokens -= tokens;
    }
    compact.count = count(txn, compact.link, floor)?;
    if summarized {
        compact.summary =
            Some(summary(txn, branch, compact.last.id, floor, &compact.old_insights)?);
    }
    Ok(Plan { head, tokenizer, before, step: Step::Compact(Box::new(compact)) })
}

/// An event that stays, and its tokens.
type Retained = (EventId, u64);

/// The events above `floor` that stay, newest first, and the newest event that does not.
fn tail(
    txn: &dyn ReadTxn,
    head: EventId,
    floor: u64,
    policy: &Policy,
) -> Result<(Vec<Retained>, Option<Linked>), StoreError> {
    let (mut tail, mut sum) = (Vec::new(), 0);
    let mut at = Some(head);
    while let Some(id) = at {
        let link = txn.link(id)?;
        if link.depth <= floor {
            break;
        }
        at = link.live_parent;
        if link.snapshot == Some(id) {
            continue;
        }
        let before = link.live_parent.map_or(Ok(0), |parent| Ok(txn.link(parent)?.tokens))?;
        let tokens = link.tokens.saturating_sub(before);
        let fits =
            (tail.len() as u64) < policy.retain_events && sum + tokens <= policy.retain_tokens;
        if !fits {
            return Ok((tail, Some((id, link))));
        }
        tail.push((id, tokens));
        sum += tokens;
    }
    Ok((tail, None))
}

/// The first live event above depth `floor` that is no snapshot, on the way to `last`.
fn first_after(txn: &dyn ReadTxn, last: Linked, floor: u64) -> Result<Event, StoreError> {
    for depth in floor + 1..=last.1.depth {
        let found = lineage::at_depth(last, depth, |id| txn.link(id))?;
        let Some((id, link)) = found else { break };
        if link.snapshot != Some(id) {
            return txn.known_event(id);
        }
    }
    txn.known_event(last.0)
}

/// Live events above depth `floor` up to the one with `link`, snapshots not counted.
fn count(txn: &dyn ReadTxn, link: Link, floor: u64) -> Result<u64, StoreError> {
    let mut count = link.depth.saturating_sub(floor);
    let mut at = link.snapshot;
    while let Some(id) = at {
        let snapshot = txn.link(id)?;
        if snapshot.depth <= floor {
            break;
        }
        count = count.saturating_sub(1);
        at = snapshot.live_parent.map_or(Ok(None), |parent| Ok(txn.link(parent)?.snapshot))?;
    }
    Ok(count)
}

/// The newest notes up to `last` above depth `floor`, oldest first.
fn notes(txn: &dyn ReadTxn, last: EventId, floor: u64) -> Result<VecDeque<String>, StoreError> {
    let mut notes = VecDeque::new();
    let mut at = Some(last);
    while let Some(id) = at.filter(|_| notes.len() < NOTES) {
        let link = txn.link(id)?;
        if link.depth <= floor {
            break;
        }
        at = link.live_parent;
        if let Some(note) = note(&txn.known_event(id)?) {
            notes.push_front(note);
        }
    }
    Ok(notes)
}

/// What an insight says of a note; none of another event, or of an empty one.
fn note(event: &Event) -> Option<String> {
    if event.kind != EventType::Note {
        return None;
    }
    match event.payload()? {
        Payload::Note { note } if !note.is_empty() => Some(format!("[{}] {note}", event.agent)),
        _ => None,
    }
}

/// What a summarizer is given: the newest events that are compacted, oldest first.
fn summary(
    txn: &dyn ReadTxn,
    branch: &Branch,
    last: EventId,
    floor: u64,
    insights: &[String],
) -> Result<Summary, StoreError> {
    let (mut events, mut bytes, mut omitted) = (VecDeque::new(), 0, 0);
    let mut at = Some(last);
    while let Some(id) = at {
        let link = txn.link(id)?;
        if link.depth <= floor {
            break;
        }
        at = link.live_parent;
        if link.snapshot == Some(id) {
            continue;
        }
        if events.len() == SUMMARY_EVENTS || bytes > SUMMARY_BYTES {
            omitted = count(txn, link, floor)?;
            break;
        }
        let event = txn.known_event(id)?;
        let payload = crate::branch::reported_payload(txn, &event)?;
        let text = payload.map_or("[erased]".to_owned(), |payload| {
            render::body(event.kind, &payload).into_owned()
        });
        bytes += text.len();
        events.push_front(SummaryEvent {
            event_id: id,
            sequence: event.sequence,
            timestamp: event.timestamp,
            agent_id: event.agent,
            event_type: event.kind,
            text,
        });
    }
    Ok(Summary {
        schema: "mk.summarize/v1",
        branch_id: branch.name.clone(),
        events: events.into(),
        omitted_event_count: omitted,
        insights: insights.to_owned(),
        new_insights_max: insight::NEW_MAX,
        insight_length_max: INSIGHT_LENGTH_MAX,
    })
}
