//! What the verbs answer.
//!
//! Names and units are those of docs/spec/kernel.md, section 12: times are seconds since 1970.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Resource, between};
use crate::id::{AgentId, BranchName, EventId};
use crate::log::Appended;
use crate::store::{Lease, Leases, ReadTxn, StoreError};
use crate::time::Timestamp;

/// The leases that one request got, in the order they were asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Granted {
    pub leases: Vec<Grant>,
}

/// A lease that was got.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grant {
    pub resource: String,
    pub fencing_token: u64,
    /// Whether the claimant held it already: the token is then the one it had.
    pub renewed: bool,
    pub ttl_seconds: f64,
    pub expires_at: f64,
    pub expires_in_seconds: f64,
    /// The event that records it; none for one that was renewed.
    pub claim_event_id: Option<EventId>,
    pub event: Option<Appended>,
}

impl Grant {
    pub(super) fn new(lease: &Lease, event: Appended, now: Timestamp) -> Self {
        Self {
            resource: lease.resource.clone(),
            fencing_token: lease.token,
            renewed: false,
            ttl_seconds: lease.ttl.as_secs_f64(),
            expires_at: seconds(lease.expires_at),
            expires_in_seconds: rounded(between(now, lease.expires_at)),
            claim_event_id: Some(event.event_id),
            event: Some(event),
        }
    }

    pub(super) fn renewed(lease: &Lease, now: Timestamp) -> Self {
        let Renewed { resource, fencing_token, ttl_seconds, expires_at, expires_in_seconds } =
            Renewed::new(lease, now);
        Self {
            resource,
            fencing_token,
            renewed: true,
            ttl_seconds,
            expires_at,
            expires_in_seconds,
            claim_event_id: None,
            event: None,
        }
    }
}

/// A lease that was renewed.
#[derive(Debug, Clone, Serialize)]
pub struct Renewed {
    pub resource: String,
    pub fencing_token: u64,
    pub ttl_seconds: f64,
    pub expires_at: f64,
    pub expires_in_seconds: f64,
}

impl Renewed {
    pub(super) fn new(lease: &Lease, now: Timestamp) -> Self {
        Self {
            resource: lease.resource.clone(),
            fencing_token: lease.token,
            ttl_seconds: lease.ttl.as_secs_f64(),
            expires_at: seconds(lease.expires_at),
            expires_in_seconds: rounded(between(now, lease.expires_at)),
        }
    }
}

/// A lease that was given back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Released {
    pub resource: String,
    pub fencing_token: u64,
    pub event: Appended,
}

impl Released {
    pub(super) fn new(lease: &Lease, event: Appended) -> Self {
        Self { resource: lease.resource.clone(), fencing_token: lease.token, event }
    }
}

/// Leases that lapsed and were given back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Swept {
    pub leases: Vec<Released>,
    /// Whether there may be more of them.
    pub more: bool,
}

/// What is known of a resource that was ever leased.
#[derive(Debug, Clone, Serialize)]
pub struct LeaseReport {
    pub resource_key: String,
    /// None unless it is in force.
    pub holder_agent_id: Option<AgentId>,
    pub fencing_token: u64,
    pub ttl_seconds: f64,
    pub expires_at: f64,
    /// 0 unless it is in force.
    pub expires_in_seconds: f64,
    pub active: bool,
    /// How it was got; none once it was given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimReport>,
}

/// How a lease was got.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimReport {
    /// The branch that records it.
    pub branch_id: BranchName,
    pub agent_id: AgentId,
    /// The key of the session; empty without one.
    pub session: String,
    pub origin: &'static str,
    pub acquired_at: f64,
}

impl LeaseReport {
    /// # Errors
    /// Those of the store.
    pub fn new(txn: &dyn ReadTxn, lease: &Lease, now: Timestamp) -> Result<Self, StoreError> {
        let active = lease.active(now);
        let claim = match &lease.holder {
            None => None,
            Some(holder) => Some(ClaimReport {
                branch_id: txn.lineage(holder.branch)?.name,
                agent_id: holder.agent.clone(),
                session: holder.session.clone(),
                origin: holder.origin.as_str(),
                acquired_at: seconds(holder.acquired_at),
            }),
        };
        Ok(Self {
            resource_key: lease.resource.clone(),
            holder_agent_id: active.map(|holder| holder.agent.clone()),
            fencing_token: lease.token,
            ttl_seconds: lease.ttl.as_secs_f64(),
            expires_at: seconds(lease.expires_at),
            expires_in_seconds: active.map_or(0.0, |_| rounded(between(now, lease.expires_at))),
            active: active.is_some(),
            claim,
        })
    }
}

/// Leases, by key.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    pub leases: Vec<LeaseReport>,
    /// The key to list on from; none if these were the last.
    pub next_after: Option<String>,
}

/// Whether a resource could be had.
#[derive(Debug, Clone, Serialize)]
pub struct Blocking {
    pub resource: String,
    /// `free`, `own` if only leases of the same agent overlap with it, else `held`.
    pub state: &'static str,
    /// The leases in force that overlap with it.
    pub leases: Vec<LeaseReport>,
}

impl Blocking {
    /// What stands in the way of `agent` at `now`.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of(
        txn: &dyn ReadTxn,
        resource: &Resource,
        agent: &AgentId,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let leases = super::overlapping(txn, resource, Leases::Active(now))?;
        let is_own = |lease: &Lease| lease.active(now).is_some_and(|it| it.agent == *agent);
        let state = match leases.as_slice() {
            [] => "free",
            leases if leases.iter().all(is_own) => "own",
            _ => "held",
        };
        let leases = leases.iter().map(|lease| LeaseReport::new(txn, lease, now));
        let leases = leases.collect::<Result<_, _>>()?;
        Ok(Self { resource: resource.as_str().to_owned(), state, leases })
    }
}

/// Seconds since 1970.
pub(crate) fn seconds(at: Timestamp) -> f64 {
    at.micros() as f64 / 1e6
}

/// Seconds to three places.
pub(super) fn rounded(left: Duration) -> f64 {
    (left.as_secs_f64() * 1e3).round() / 1e3
}

/// Seconds as a person reads them, the last one begun counted whole.
pub(super) fn whole_seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}
