//! The events that `log` and `rev-list` go through.

use mk::event::{Event, EventType};
use mk::id::{AgentId, BranchName, EventId};
use mk::lineage;
use mk::revision::Range;
use mk::store::{ReadTxn, StoreError};

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
    /// Only events by this agent
    #[arg(long = "by", value_name = "AGENT")]
    pub by: Option<AgentId>,
    /// Only events of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<EventType>,
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

    fn each(
        &self,
        txn: &dyn ReadTxn,
        path: &mut Path,
        mut visit: impl FnMut(&Event) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut left = self.max_count.unwrap_or(u64::MAX);
        while left > 0 {
            let Some(event) = path.next(txn)? else { break };
            let fits = self.by.as_ref().is_none_or(|agent| *agent == event.agent)
                && self.kind.is_none_or(|kind| kind == event.kind);
            if fits {
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
