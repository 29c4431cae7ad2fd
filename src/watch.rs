//! Events as they land.

use std::time::Duration;

use crate::branch;
use crate::canon::Value;
use crate::event::{Event, EventType};
use crate::id::{BranchName, EventId, LineageId};
use crate::lease::Resource;
use crate::revision::{self, RevisionError};
use crate::store::{Changes, Engine, Patience, PollFd, ReadTxn, Woken};

/// Most events that are told of at once.
pub const AT_ONCE: usize = 1_000;

/// Which events are wanted.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those in the lineage of this branch; of all branches if it is none.
    pub branch: Option<BranchName>,
    /// Grants, releases and fenced writes of what overlaps with this.
    pub resource: Option<Resource>,
}

/// What landed after an event.
#[derive(Debug, Clone)]
pub struct Landed {
    /// In the order of the log, at most [`AT_ONCE`].
    pub events: Vec<Event>,
    /// The log was read up to here; to go on, ask for what is after.
    pub through: EventId,
}

/// Why there is nothing to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The other file descriptor is ready, or its other end is closed.
    Other,
    TimedOut,
}

/// What landed after the event `after`, as far as `filter` wants it. O(events after it).
///
/// # Errors
/// If the branch is not there.
pub fn landed(txn: &dyn ReadTxn, after: EventId, filter: &Filter) -> Result<Landed, RevisionError> {
    let last = txn.log_head()?.map_or(EventId(0), |(id, _)| id);
    let stretches = match &filter.branch {
        Some(name) => Some(stretches(txn, name)?),
        None => None,
    };
    let mut landed = Landed { events: Vec::new(), through: after };
    while landed.through < last && landed.events.len() < AT_ONCE {
        landed.through = EventId(landed.through.0 + 1);
        let event = txn.known_event(landed.through)?;
        let is_there = stretches.as_ref().is_none_or(|stretches| {
            let holds = |(lineage, last): &(LineageId, EventId)| {
                *lineage == event.lineage && event.id <= *last
            };
            stretches.iter().any(holds)
        });
        let is_wanted = filter.resource.as_ref().is_none_or(|resource| concerns(&event, resource));
        if is_there && is_wanted {
            landed.events.push(event);
        }
    }
    Ok(landed)
}

/// The same, once there is something: waits for it up to `wait`, and no longer than until `other` is
/// ready. `after` is moved on by what was looked at in vain.
///
/// # Errors
/// Those of [`landed`] and of [`Changes::wait`].
pub fn wait(
    changes: &mut Changes,
    after: &mut EventId,
    filter: &Filter,
    wait: Duration,
    other: Option<PollFd<'_>>,
) -> Result<Result<Landed, Ended>, RevisionError> {
    let patience = Patience::new(wait);
    loop {
        let found = changes.store().read(|txn| landed(txn, *after, filter))?;
        *after = found.through;
        if !found.events.is_empty() {
            return Ok(Ok(found));
        }
        match changes.wait(patience.left(), other.clone())? {
            Woken::Changed => {}
            Woken::Other => return Ok(Err(Ended::Other)),
            Woken::TimedOut => return Ok(Err(Ended::TimedOut)),
        }
    }
}

fn stretches(
    txn: &dyn ReadTxn,
    name: &BranchName,
) -> Result<Vec<(LineageId, EventId)>, RevisionError> {
    match revision::branch(txn, name.as_str())?.head {
        Some(head) => Ok(branch::stretches(txn, &txn.known_event(head)?)?),
        None => Ok(Vec::new()),
    }
}

/// Whether `event` grants, gives back or was fenced by what overlaps with `resource`.
fn concerns(event: &Event, resource: &Resource) -> bool {
    let overlaps = |value: &Value| {
        let key = value.get("resource").and_then(Value::as_str);
        key.and_then(|key| Resource::of_key(key).ok()).is_some_and(|it| it.overlaps(resource))
    };
    if let EventType::ClaimAcquired | EventType::ClaimReleased = event.kind {
        return event.members().is_some_and(|members| overlaps(&Value::Object(members)));
    }
    let fences = event.metadata().and_then(|metadata| metadata.get("lease").cloned());
    match fences {
        Some(Value::Array(fences)) => fences.iter().any(overlaps),
        Some(fence) => overlaps(&fence),
        None => false,
    }
}
