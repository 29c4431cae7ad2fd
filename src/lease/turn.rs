//! Waiting for a lease, first come first served.

use std::time::Duration;

use super::{Again, Claimant, Granted, LeaseError, Resource, Ttl, acquire};
use crate::canon::{Object, Value};
use crate::id::BranchName;
use crate::log::{Log, Outside};
use crate::operation::{Once, OpId, once};
use crate::store::{Engine, Patience, ReadTxn, Sqlite, StoreError, Ticket, Waiter};
use crate::time::Timestamp;

/// What is asked for, as [`acquire`] takes it.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub branch: &'a BranchName,
    pub resources: &'a [Resource],
    pub who: Claimant<'a>,
    pub ttl: Ttl,
    pub again: Again,
    pub metadata: &'a Object,
    pub op_id: Option<&'a OpId>,
}

impl Ask<'_> {
    /// What makes two requests under one op id the same.
    fn request(&self) -> Value {
        let resources = self.resources.iter().map(|resource| Value::from(resource.as_str()));
        let members = [
            ("verb", Value::from("lease acquire")),
            ("agent", self.who.agent.as_str().into()),
            ("branch", self.branch.as_str().into()),
            ("resources", Value::Array(resources.collect())),
            ("ttl_seconds", Value::Float(self.ttl.as_seconds())),
            ("take_over", Value::Bool(self.again == Again::TakeOver)),
        ];
        Value::Object(members.into_iter().collect())
    }

    /// Whether something of it is not the agent's already, so that others may have been first.
    fn needs_turn(&self, txn: &dyn ReadTxn, now: Timestamp) -> Result<bool, StoreError> {
        for resource in self.resources {
            let lease = txn.lease(resource.as_str())?;
            let holder = lease.as_ref().and_then(|lease| lease.active(now));
            if holder.is_none_or(|holder| holder.agent != *self.who.agent) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_behind(&self, waiter: &Waiter, ticket: Option<&Ticket>) -> bool {
        let is_earlier = ticket.is_none_or(|ticket| waiter.number < ticket.number());
        let wants = waiter.wants.iter().filter_map(|key| Resource::of_key(key).ok());
        is_earlier && wants.into_iter().any(|it| self.resources.iter().any(|own| own.overlaps(&it)))
    }
}

/// Grants what is asked for, as [`acquire`] does, in a transaction of its own; if it is held, waits
/// as long as there is `patience`.
///
/// Of those that wait for resources with anything in common, the first is the first to get them; who
/// does not wait is refused while somebody does. A waiter wakes when a lease is given back, when the
/// one in its way lapses, and when one before it is served, gives up or dies; it writes nothing
/// meanwhile, and has nothing until it has all.
///
/// # Errors
/// Those of [`acquire`]; when the patience runs out the last one.
pub fn acquire_in_turn(
    store: &mut Sqlite,
    ask: Ask<'_>,
    patience: Patience<'_>,
    clock: &mut dyn FnMut() -> Timestamp,
    outside: &mut Outside<'_>,
) -> Result<Once<Granted>, LeaseError> {
    let (room, request) = (store.waiting_room(), ask.request());
    let mut ticket: Option<Ticket> = None;
    loop {
        let mut ahead = None;
        let attempt = store.write(|txn| {
            // Not before: while others wrote, time went on, and what is granted must not be over already.
            let now = clock();
            let granted = once(txn, ask.op_id, &request, |txn| {
                let needs_turn = ask.needs_turn(txn, now)?;
                let terms = (ask.ttl, ask.again);
                let granted = acquire(
                    &mut Log::open(txn)?,
                    ask.branch,
                    ask.resources,
                    ask.who,
                    terms,
                    ask.metadata,
                    (now, outside),
                )?;
                if needs_turn {
                    let mut queue = room.queue()?;
                    queue.retain(|waiter| ask.is_behind(waiter, ticket.as_ref()));
                    let waiting = queue.len();
                    ahead = queue.pop();
                    if ahead.is_some() {
                        // What was granted above is not kept.
                        let resource = ask.resources[0].clone();
                        return Err(LeaseError::Queued { resource, waiting });
                    }
                }
                Ok(granted)
            });
            let is_refused =
                matches!(granted, Err(LeaseError::Held(_) | LeaseError::Queued { .. }));
            if is_refused && ticket.is_none() && !patience.left().is_zero() {
                let wants: Vec<&str> = ask.resources.iter().map(Resource::as_str).collect();
                ticket = Some(room.enter(&wants)?);
            }
            granted
        });
        let lapses_in = match &attempt {
            Err(LeaseError::Held(held)) => held.left,
            Err(LeaseError::Queued { .. }) => Duration::MAX,
            _ => return attempt,
        };
        match (&ticket, ahead) {
            (Some(_), _) if patience.left().is_zero() => return attempt,
            (Some(_), Some(waiter)) => waiter.wait_until_gone(&patience)?,
            (Some(ticket), None) => ticket.wait(lapses_in, &patience)?,
            (None, _) => return attempt,
        }
        if patience.is_given_up() {
            // It may be free now, but nobody wants it any more.
            return attempt;
        }
    }
}
