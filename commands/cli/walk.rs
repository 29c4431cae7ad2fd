//! The events that `log` and `rev-list` go through.

use mk::canon::Value;
use mk::event::{Event, EventType, Payload};
use mk::id::{AgentId, BranchName, EventId};
use mk::lineage;
use mk::revision::Range;
use mk::store::{ReadTxn, StoreError};
use mk::time::Timestamp;

use super::{Actor, Failure, head_of};

/// Which events to go through.
#[derive(Debug, Clone, clap::Args)]
pub struct WalkArgs {
    /// A branch, an event, or A..B for what is live on B and not on A [default: the current branch]
    pub range: Option<Range>,
    /// All events of all branches, the newest first
    #[arg(long, conflicts_with = "range")]
    pub all: bool,
    /// Reverted events too
    #[arg(long)]
    pub lineage: bool,
    /// At most N events
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    pub max_count: Option<u64>,
    /// Oldest first
    #[arg(long)]
    pub reverse: bool,
    #[command(flatten)]
    pub filter: Filter,
}

/// Which of the events to show.
#[derive(Debug, Clone, clap::Args)]
pub struct Filter {
    /// Only events by this agent
    #[arg(long = "by", visible_alias = "author", value_name = "AGENT")]
    pub by: Option<AgentId>,
    /// Only events of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<EventType>,
    /// Only events at or after this time: 2026-11-30T10:00Z or @SECONDS since 1970
    #[arg(long, value_name = "TIME")]
    pub since: Option<Timestamp>,
    /// Only events at or before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<Timestamp>,
    /// Only events that decide, find out or retract this key
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Only events with this text in a value of their payload, letter case observed
    #[arg(long, value_name = "TEXT")]
    pub grep: Option<String>,
}

impl Filter {
    /// Whether it passes over events between others, and not only at the ends.
    pub fn has_gaps(&self) -> bool {
        self.by.is_some() || self.kind.is_some() || self.key.is_some() || self.grep.is_some()
    }

    /// Whether it passes over nothing.
    fn fits_all(&self) -> bool {
        !self.has_gaps() && self.since.is_none() && self.until.is_none()
    }

    pub fn fits(&self, event: &Event) -> bool {
        self.by.as_ref().is_none_or(|agent| *agent == event.agent)
            && self.kind.is_none_or(|kind| kind == event.kind)
            && self.since.is_none_or(|since| since <= event.timestamp)
            && self.until.is_none_or(|until| event.timestamp <= until)
            && self.key.as_ref().is_none_or(|key| is_about(event, key))
            && self.grep.as_ref().is_none_or(|text| {
                event.members().is_some_and(|payload| holds(&payload.into(), text))
            })
    }
}

/// Whether an event decides, finds out or retracts `key`.
fn is_about(event: &Event, key: &str) -> bool {
    match event.payload() {
        Some(Payload::Decision { key: own, .. } | Payload::Retracted { key: own, .. }) => {
            own == key
        }
        Some(Payload::ToolLog { facts, .. }) => facts.contains_key(key),
        _ => false,
    }
}

/// Whether `text` stands in a value, or in one within it.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| holds(item, text)),
        Value::Object(members) => members.iter().any(|(_, member)| holds(member, text)),
        value => value.text().contains(text),
    }
}

impl WalkArgs {
    /// Gives `visit` each event, newest first, without holding all of them.
    pub fn walk(
        &self,
        txn: &dyn ReadTxn,
        actor: &Actor,
        mut visit: impl FnMut(&Event) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut path = self.path(txn, actor)?;
        if self.reverse {
            // The newest N are chosen first, then turned round; their ids alone are kept.
            let mut ids = Vec::new();
            self.each(txn, &mut path, |event| {
                ids.push(event.id);
                Ok(())
            })?;
            for id in ids.into_iter().rev() {
                visit(&txn.known_event(id)?)?;
            }
            return Ok(());
        }
        self.each(txn, &mut path, visit)
    }

    /// How many events there are to go through. O(log n) without a filter.
    pub fn count(&self, txn: &dyn ReadTxn, actor: &Actor) -> Result<u64, Failure> {
        if self.filter.fits_all() {
            let length = self.path(txn, actor)?.length(txn)?;
            return Ok(length.min(self.max_count.unwrap_or(u64::MAX)));
        }
        let mut count = 0;
        self.each(txn, &mut self.path(txn, actor)?, |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    fn each(
        &self,
        txn: &dyn ReadTxn,
        path: &mut Path,
        mut visit: impl FnMut(&Event) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut left = self.max_count.unwrap_or(u64::MAX);
        while left > 0 {
            let Some(event) = path.next(txn)? else { break };
            // Stamps never fall along a lineage, only from one branch to another.
            let is_over = self.filter.since.is_some_and(|since| event.timestamp < since);
            if is_over && !matches!(path.step, Step::Log) {
                break;
            }
            if self.filter.fits(&event) {
                visit(&event)?;
                left -= 1;
            }
        }
        Ok(())
    }

    fn path(&self, txn: &dyn ReadTxn, actor: &Actor) -> Result<Path, Failure> {
        if self.all {
            let last = txn.log_head()?.map_or(0, |(id, _)| id.0);
            return Ok(Path { at: Some(EventId(last)), step: Step::Log, stop: None });
        }
        let step = if self.lineage { Step::Parent } else { Step::LiveParent };
        let (from, to) = match &self.range {
            None => (None, None),
            Some(Range::Upto(to)) => (None, Some(to)),
            Some(Range::Between(from, to)) => (Some(from), Some(to)),
        };
        let at = head_of(txn, to, actor)?.1;
        let from =
            from.map_or(Ok(None), |from| head_of(txn, Some(from), actor).map(|(_, id)| id))?;
        let stop = match (from, at) {
            (Some(from), Some(at)) if self.lineage => {
                mk::branch::merge_base(txn, Some(from), Some(at))?.map(|event| event.id)
            }
            (Some(from), Some(at)) => {
                let (from, at) = (txn.linked(from)?, txn.linked(at)?);
                lineage::live_base(from, at, |id| txn.link(id))?.map(|(id, _)| id)
            }
            _ => None,
        };
        Ok(Path { at, step, stop })
    }
}

/// A way through the log, from an event backwards.
struct Path {
    at: Option<EventId>,
    step: Step,
    /// Where the way ends; not gone through.
    stop: Option<EventId>,
}

enum Step {
    Log,
    Parent,
    LiveParent,
}

impl Path {
    /// How many events it goes through.
    fn length(&self, txn: &dyn ReadTxn) -> Result<u64, StoreError> {
        let place = |id: EventId| match self.step {
            Step::Log => Ok(id.0.unsigned_abs()),
            Step::Parent => Ok(txn.known_event(id)?.sequence),
            Step::LiveParent => Ok(txn.link(id)?.depth),
        };
        let [at, stop] = [self.at, self.stop].map(|id| id.map_or(Ok(0), place));
        Ok(at?.saturating_sub(stop?))
    }

    fn next(&mut self, txn: &dyn ReadTxn) -> Result<Option<Event>, StoreError> {
        let Some(id) = self.at.filter(|id| id.0 > 0 && Some(*id) != self.stop) else {
            return Ok(None);
        };
        let event = txn.known_event(id)?;
        self.at = match self.step {
            Step::Log => Some(EventId(id.0 - 1)),
            Step::Parent => event.parent,
            Step::LiveParent => txn.link(id)?.live_parent,
        };
        Ok(Some(event))
    }
}

/// The name under which an event's branch is known here.
pub fn branch_name(txn: &dyn ReadTxn, event: &Event) -> Result<BranchName, StoreError> {
    Ok(txn.lineage(event.lineage)?.name)
}
