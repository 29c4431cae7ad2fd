//! Granting: all that is asked for, or nothing.
//!
//! Rule: docs/spec/kernel.md, section 12; docs/design.md, sections 5 and 10.

use std::fmt;
use std::time::Duration;

use super::{
    AT_ONCE, Grant, Granted, LONG_AGO, LeaseError, Resource, Ttl, after, between, renewed, report,
};
use crate::canon::{Object, Value};
use crate::event::EventType;
use crate::id::{AgentId, BranchName, shown};
use crate::log::{Draft, Log, Outside};
use crate::store::{Holder, Lease, Leases, Origin, ReadTxn, StoreError, TOKEN_MAX, WriteTxn};
use crate::time::Timestamp;

/// Who wants a lease.
#[derive(Debug, Clone, Copy)]
pub struct Claimant<'a> {
    pub agent: &'a AgentId,
    /// The incarnation of the agent, of [`session_key`]; empty if there is none.
    pub session: &'a str,
    pub origin: Origin,
}

/// What a claimant gets who asks for what the same agent holds already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// In the same session the lease, renewed, with the token it has; else a refusal.
    Renew,
    /// In any session a new grant, with a new token; what was granted before is lost.
    TakeOver,
    /// A refusal, always. The rule of the peer.
    Refuse,
}

/// The lease that stands in the way of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What was asked for.
    pub asked: Resource,
    /// What is leased: the same, or what overlaps with it.
    pub resource: String,
    pub holder: AgentId,
    /// Whether it is the claimant's own, but of another session.
    pub is_own: bool,
    pub token: u64,
    pub ttl: Duration,
    pub expires_at: Timestamp,
    /// From when it was asked for to when it lapses.
    pub left: Duration,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = shown(self.asked.as_str());
        if self.resource == self.asked.as_str() {
            write!(f, "'{asked}' is leased to '{}'", self.holder)?;
        } else {
            let resource = shown(&self.resource);
            write!(
                f,
                "'{asked}' overlaps with '{resource}', which is leased to '{}'",
                self.holder
            )?;
        }
        let session = if self.is_own { " in another session" } else { "" };
        write!(f, "{session} for {} s more", report::whole_seconds(self.left))
    }
}

/// Grants all of `resources` from `now` for `ttl`, or none, each with a token one above the last one
/// of its key, and records each grant on `branch`. Leases that the claimant holds are treated as
/// `again` says; they stand in nobody's own way.
///
/// # Errors
/// [`LeaseError::Held`] while another agent, or another session of the same, has one that overlaps.
pub fn acquire(
    log: &mut Log<'_>,
    branch: &BranchName,
    resources: &[Resource],
    who: Claimant<'_>,
    terms: (Ttl, Again),
    metadata: &Object,
    (now, outside): (Timestamp, &mut Outside<'_>),
) -> Result<Granted, LeaseError> {
    let (Ttl(ttl), again) = terms;
    let lineage = log.branch(branch)?;
    let mut own = Vec::with_capacity(resources.len());
    for resource in resources {
        let near = overlapping(log.txn(), resource, Leases::Active(now))?;
        own.push(check_free(near, resource, who, again, now)?);
    }
    // Last, so that a name that cannot be recorded keeps nobody from being told who is in the way.
    for resource in resources {
        log.check_name("the resource", resource.as_str())?;
    }
    let expires_at = after(now, ttl);
    let mut leases = Vec::with_capacity(resources.len());
    for (resource, own) in resources.iter().zip(own) {
        if let Some(lease) = own {
            let lease = renewed(lease, ttl, now);
            log.txn_mut().put_lease(&lease)?;
            leases.push(Grant::renewed(&lease, now));
            continue;
        }
        end_lapsed(log.txn_mut(), resource, now)?;
        let last = log.txn().lease(resource.as_str())?.map_or(0, |lease| lease.token);
        if last >= TOKEN_MAX {
            return Err(StoreError::damaged(format!("'{resource}' has no token left")).into());
        }
        let lease = Lease {
            resource: resource.as_str().to_owned(),
            token: last + 1,
            ttl,
            expires_at,
            holder: Some(Holder {
                agent: who.agent.clone(),
                session: who.session.to_owned(),
                origin: who.origin,
                branch: lineage.id,
                acquired_at: now,
            }),
        };
        let payload = [
            ("resource", Value::from(resource.as_str())),
            ("fencing_token", lease.token.into()),
            ("ttl_seconds", Value::Float(ttl.as_secs_f64())),
            ("expires_at", Value::Float(report::seconds(expires_at))),
        ];
        let draft = Draft {
            kind: EventType::ClaimAcquired,
            agent: who.agent.clone(),
            payload: payload.into_iter().collect(),
            metadata: metadata.clone(),
        };
        let event = log.append(branch, draft, None, outside)?;
        log.txn_mut().put_lease(&lease)?;
        leases.push(Grant::new(&lease, event, now));
    }
    Ok(Granted { leases })
}

/// That no subtree which `directory` lies in is held by another than `who`: for what lies below it and
/// cannot be leased itself.
///
/// # Errors
/// [`LeaseError::Held`] while another agent, or another session of the same, has one.
pub fn check_below(
    txn: &dyn ReadTxn,
    directory: &Resource,
    who: Claimant<'_>,
    now: Timestamp,
) -> Result<(), LeaseError> {
    let near = holding(txn, directory, Leases::Active(now))?;
    check_free(near, directory, who, Again::Renew, now).map(|_| ())
}

/// The lease on exactly `resource` that is to be renewed, if there is one among those `near` it and the
/// others do not stand in the way.
fn check_free(
    near: Vec<Lease>,
    resource: &Resource,
    who: Claimant<'_>,
    again: Again,
    now: Timestamp,
) -> Result<Option<Lease>, LeaseError> {
    let mut own = None;
    for lease in near {
        let Some(holder) = lease.active(now) else { continue };
        let is_own = holder.agent == *who.agent;
        let yields = match again {
            Again::Renew => is_own && holder.session == who.session,
            Again::TakeOver => is_own,
            Again::Refuse => false,
        };
        if !yields {
            return Err(LeaseError::Held(Box::new(Held {
                asked: resource.clone(),
                holder: holder.agent.clone(),
                is_own,
                token: lease.token,
                ttl: lease.ttl,
                expires_at: lease.expires_at,
                left: between(now, lease.expires_at),
                resource: lease.resource,
            })));
        }
        if again == Again::Renew && lease.resource == resource.as_str() {
            own = Some(lease);
        }
    }
    Ok(own)
}

/// Ends for good the leases that lapsed and overlap with `resource`, which is to be granted: once the
/// clock is set back, they would be in force beside it.
fn end_lapsed(
    txn: &mut dyn WriteTxn,
    resource: &Resource,
    now: Timestamp,
) -> Result<(), StoreError> {
    for lease in overlapping(txn, resource, Leases::Lapsed(now))? {
        if lease.expires_at > LONG_AGO && lease.resource != resource.as_str() {
            txn.put_lease(&Lease { expires_at: LONG_AGO, ..lease })?;
        }
    }
    Ok(())
}

/// Those of `which` on subtrees that all below `directory` belongs to, by key.
///
/// # Errors
/// Those of the store.
pub fn holding(
    txn: &dyn ReadTxn,
    directory: &Resource,
    which: Leases,
) -> Result<Vec<Lease>, StoreError> {
    let mut found = Vec::new();
    for key in directory.around().filter(|key| key.ends_with('/')).chain([&*directory.below()]) {
        found.extend(txn.lease(key)?.filter(|lease| which.contains(lease)));
    }
    Ok(found)
}

/// Those of `which` that have anything in common with `resource`, by key.
///
/// # Errors
/// Those of the store.
pub fn overlapping(
    txn: &dyn ReadTxn,
    resource: &Resource,
    which: Leases,
) -> Result<Vec<Lease>, StoreError> {
    let mut found = Vec::new();
    for key in resource.around() {
        found.extend(txn.lease(key)?.filter(|lease| which.contains(lease)));
    }
    // The subtree itself begins with what all below it begin with.
    let (below, mut after) = (resource.below(), None);
    if !resource.is_tree() {
        found.extend(txn.lease(&below)?.filter(|lease| which.contains(lease)));
        return Ok(found);
    }
    loop {
        let page = txn.leases(which, &below, after.as_deref(), AT_ONCE)?;
        let is_last = page.len() < AT_ONCE;
        found.extend(page);
        if is_last {
            return Ok(found);
        }
        after = found.last().map(|lease| lease.resource.clone());
    }
}
