//! Leases: exclusive claims on resources that lapse by themselves.
//!
//! A lease belongs to the store and not to a branch: no rollback, fork or compaction touches it. Its
//! grant and its release are events on a branch; that it was renewed or lapsed is no event. The time
//! of leases is given to each verb as `now`, apart from the time of events.
//!
//! Rule: docs/spec/kernel.md, sections 12 and 13; docs/design.md, sections 5 and 10.

mod acquire;
mod claims;
mod fence;
pub(crate) mod report;
pub mod resource;
mod session;
mod turn;

use std::time::Duration;

use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use crate::event::EventType;
use crate::id::{AgentId, BranchName, shown};
use crate::log::{Draft, Log, LogError, Outside};
use crate::operation::OperationError;
use crate::store::{Lease, Leases, ReadTxn, StoreError, TOKEN_MAX, TTL_MAX, WriteTxn};
use crate::time::Timestamp;

pub use acquire::{Again, Claimant, Held, acquire, check_below, holding, overlapping};
pub use claims::{ClaimStatus, Claims, claims};
pub use fence::{Fence, pass};
pub use report::{Blocking, Grant, Granted, LeaseReport, Listing, Released, Renewed, Swept};
pub use resource::{KEY_MAX, Place, Resource, ResourceError};
pub use session::session_key;
pub use turn::{Ask, acquire_in_turn};

/// Time that a grant holds if nobody says otherwise.
///
/// Rule: docs/spec/kernel.md, section 12.
pub const DEFAULT_TTL: Ttl = Ttl(Duration::from_secs(30));

/// When a lease ended that is in force by no clock any more.
const LONG_AGO: Timestamp = Timestamp::EPOCH;

/// Most leases that one sweep gives back, and that one listing shows.
pub const AT_ONCE: usize = 1_000;

/// How long a grant holds: above 0 s, at most 24 h, in whole microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ttl(Duration);

/// A number of seconds that no lease can hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("a lease cannot last {seconds} s: above 0, at most {max} s", max = TTL_MAX.as_secs())]
pub struct TtlError {
    seconds: f64,
}

impl Coded for TtlError {
    fn code(&self) -> Code {
        Code::INVALID_ARGUMENT
    }
}

impl Ttl {
    /// # Errors
    /// Outside of 0 < `seconds` ≤ 86,400.
    pub fn from_seconds(seconds: f64) -> Result<Self, TtlError> {
        if !(seconds > 0.0 && seconds <= TTL_MAX.as_secs_f64()) {
            return Err(TtlError { seconds });
        }
        let micros = (seconds * 1e6).round().max(1.0);
        Ok(Self(Duration::from_micros(micros as u64)))
    }

    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0.as_secs_f64()
    }
}

/// Why a lease was not granted, or is not what its holder takes it for. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    #[error(transparent)]
    Resource(#[from] ResourceError),
    #[error("{0}")]
    Held(Box<Held>),
    #[error("'{}' is free, but {waiting} asked for it before and wait", shown(.resource.as_str()))]
    Queued { resource: Resource, waiting: usize },
    #[error("the lease of '{}' with token {token} is lost: {}", shown(.resource.as_str()), .lost.why())]
    Lost { resource: Resource, token: u64, lost: Lost },
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Operation(#[from] OperationError),
}

impl From<StoreError> for LeaseError {
    fn from(error: StoreError) -> Self {
        Self::Log(error.into())
    }
}

impl Coded for LeaseError {
    fn code(&self) -> Code {
        match self {
            Self::Resource(error) => error.code(),
            Self::Held(_) | Self::Queued { .. } => Code::LEASE_HELD,
            Self::Lost { .. } => Code::LEASE_LOST,
            Self::Log(error) => error.code(),
            Self::Operation(error) => error.code(),
        }
    }
}

/// Why a token does not stand for a lease that its bearer holds. The list is closed.
///
/// Rule: docs/spec/mcp.md, section 6.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Its time ran out, and nobody took it since.
    Expired,
    /// It was granted to another agent since.
    Taken,
    /// It is the bearer's, under another token; or no grant ever had this one.
    WrongToken,
    /// It is another agent's, with this token.
    WrongAgent,
    /// There is no such lease: never granted, or given back.
    Unknown,
}

impl Lost {
    pub const ALL: [Self; 5] =
        [Self::Expired, Self::Taken, Self::WrongToken, Self::WrongAgent, Self::Unknown];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Taken => "taken",
            Self::WrongToken => "wrong-token",
            Self::WrongAgent => "wrong-agent",
            Self::Unknown => "unknown",
        }
    }

    fn why(self) -> &'static str {
        match self {
            Self::Expired => "its time ran out",
            Self::Taken => "it was granted to another since",
            Self::WrongToken => "the current token is another",
            Self::WrongAgent => "it belongs to another agent",
            Self::Unknown => "there is no such lease",
        }
    }
}

/// Lets the lease of `resource` hold for its whole time again, from `now` on. No event.
///
/// A clock that was set back never makes it shorter.
///
/// # Errors
/// [`LeaseError::Lost`] if it is not in force, or not `agent`'s with this token.
pub fn renew(
    txn: &mut dyn WriteTxn,
    resource: &Resource,
    token: u64,
    agent: &AgentId,
    now: Timestamp,
) -> Result<Renewed, LeaseError> {
    let lease = held(txn, resource, token, agent, now)?;
    let ttl = lease.ttl;
    let lease = renewed(lease, ttl, now);
    txn.put_lease(&lease)?;
    Ok(Renewed::new(&lease, now))
}

fn renewed(lease: Lease, ttl: Duration, now: Timestamp) -> Lease {
    Lease { ttl, expires_at: lease.expires_at.max(after(now, ttl)), ..lease }
}

/// The lease of `resource`, if it is in force and `agent` holds it with this token.
///
/// # Errors
/// [`LeaseError::Lost`] with the first reason that applies.
pub fn held(
    txn: &dyn ReadTxn,
    resource: &Resource,
    token: u64,
    agent: &AgentId,
    now: Timestamp,
) -> Result<Lease, LeaseError> {
    let lease = last_of(txn, resource, token, agent)?;
    match lease.active(now) {
        Some(_) => Ok(lease),
        None => Err(LeaseError::Lost { resource: resource.clone(), token, lost: Lost::Expired }),
    }
}

/// The same of a lease that may have lapsed, as long as nobody took it since.
fn last_of(
    txn: &dyn ReadTxn,
    resource: &Resource,
    token: u64,
    agent: &AgentId,
) -> Result<Lease, LeaseError> {
    let lost = |lost| LeaseError::Lost { resource: resource.clone(), token, lost };
    let lease = txn.lease(resource.as_str())?.ok_or_else(|| lost(Lost::Unknown))?;
    let is_own = lease.holder.as_ref().is_some_and(|holder| holder.agent == *agent);
    match token.cmp(&lease.token) {
        std::cmp::Ordering::Greater => Err(lost(Lost::WrongToken)),
        std::cmp::Ordering::Less if is_own => Err(lost(Lost::WrongToken)),
        std::cmp::Ordering::Less => Err(lost(Lost::Taken)),
        std::cmp::Ordering::Equal if is_own => Ok(lease),
        std::cmp::Ordering::Equal if lease.holder.is_none() => Err(lost(Lost::Unknown)),
        std::cmp::Ordering::Equal => Err(lost(Lost::WrongAgent)),
    }
}

/// Gives the lease of `resource` back at `now` and records that on `branch`, or if that is none on
/// the branch that has its grant. One that lapsed can be given back while nobody took it.
///
/// # Errors
/// [`LeaseError::Lost`] if it is not `agent`'s with this token.
pub fn release(
    log: &mut Log<'_>,
    branch: Option<&BranchName>,
    (resource, token): (&Resource, u64),
    agent: &AgentId,
    metadata: &Object,
    (now, outside): (Timestamp, &mut Outside<'_>),
) -> Result<Released, LeaseError> {
    let lease = last_of(log.txn(), resource, token, agent)?;
    let branch = match branch {
        Some(branch) => branch.clone(),
        None => granted_on(log.txn(), &lease)?,
    };
    give_back(log, &branch, lease, (agent, None), metadata, (now, outside))
}

/// Gives back up to [`AT_ONCE`] leases that lapsed, and records that in the name of `agent` where
/// each was granted, so that their claims leave the state.
///
/// # Errors
/// Those of the log.
pub fn sweep(
    log: &mut Log<'_>,
    agent: &AgentId,
    metadata: &Object,
    (now, outside): (Timestamp, &mut Outside<'_>),
) -> Result<Swept, LeaseError> {
    let lapsed = lapsed(log.txn(), now)?;
    let more = lapsed.len() == AT_ONCE;
    let mut leases = Vec::with_capacity(lapsed.len());
    for lease in lapsed {
        let branch = granted_on(log.txn(), &lease)?;
        let by = (agent, Some("expired"));
        leases.push(give_back(log, &branch, lease, by, metadata, (now, &mut *outside))?);
    }
    Ok(Swept { leases, more })
}

/// The first [`AT_ONCE`] leases that had lapsed by `now` and were neither given back nor taken since.
///
/// # Errors
/// Those of the store.
pub fn lapsed(txn: &dyn ReadTxn, now: Timestamp) -> Result<Vec<Lease>, StoreError> {
    txn.leases(Leases::Lapsed(now), "", None, AT_ONCE)
}

/// Up to `limit` of the leases that are wanted, of resources after `after`: all, or those that are,
/// or lie below, `within`.
///
/// # Errors
/// Those of the store.
pub fn list(
    txn: &dyn ReadTxn,
    which: Leases,
    within: Option<&Resource>,
    after: Option<&str>,
    limit: usize,
    now: Timestamp,
) -> Result<Listing, StoreError> {
    // One more than is wanted tells whether there are more.
    let mut found = match within {
        None => txn.leases(which, "", after, limit + 1)?,
        Some(resource) => {
            let path = resource.path();
            let itself = txn.lease(path)?.filter(|lease| which.contains(lease));
            let itself = itself.filter(|_| after.is_none_or(|after| path > after));
            let below = txn.leases(which, &resource.below(), after, limit + 1)?;
            itself.into_iter().chain(below).collect()
        }
    };
    let is_last = found.len() <= limit;
    found.truncate(limit);
    let next_after = found.last().filter(|_| !is_last).map(|lease| lease.resource.clone());
    let leases = found.iter().map(|lease| LeaseReport::new(txn, lease, now));
    Ok(Listing { leases: leases.collect::<Result<_, _>>()?, next_after })
}

fn granted_on(txn: &dyn ReadTxn, lease: &Lease) -> Result<BranchName, StoreError> {
    let holder = lease.holder.as_ref().ok_or_else(|| {
        StoreError::damaged(format!("the lease of '{}' has no holder", lease.resource))
    })?;
    Ok(txn.lineage(holder.branch)?.name)
}

fn give_back(
    log: &mut Log<'_>,
    branch: &BranchName,
    lease: Lease,
    (agent, reason): (&AgentId, Option<&str>),
    metadata: &Object,
    (now, outside): (Timestamp, &mut Outside<'_>),
) -> Result<Released, LeaseError> {
    let mut payload: Object =
        [("resource", Value::from(lease.resource.as_str())), ("fencing_token", lease.token.into())]
            .into_iter()
            .collect();
    if let Some(reason) = reason {
        payload.insert("reason", reason);
    }
    let kind = EventType::ClaimReleased;
    let draft = Draft { kind, agent: agent.clone(), payload, metadata: metadata.clone() };
    let event = log.append(branch, draft, None, outside)?;
    let lease = Lease { holder: None, expires_at: now, ..lease };
    log.txn_mut().put_lease(&lease)?;
    Ok(Released::new(&lease, event))
}

/// Lets no grant of `resource`, a key, have a token of `least` or below, as an import needs that brings
/// the tokens of another store. Who holds it goes on doing so, and acquires it again for the new token.
///
/// # Errors
/// Those of the store.
pub fn raise_token(txn: &mut dyn WriteTxn, resource: &str, least: u64) -> Result<(), StoreError> {
    let token = least.min(TOKEN_MAX);
    let lease = match txn.lease(resource)? {
        Some(lease) if lease.token >= token => return Ok(()),
        Some(lease) => Lease { token, ..lease },
        None => Lease {
            resource: resource.to_owned(),
            token,
            ttl: Duration::ZERO,
            expires_at: LONG_AGO,
            holder: None,
        },
    };
    txn.put_lease(&lease)
}

pub(crate) fn after(now: Timestamp, ttl: Duration) -> Timestamp {
    let micros = i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.micros().saturating_add(micros))
}

fn between(now: Timestamp, then: Timestamp) -> Duration {
    let micros = then.micros().saturating_sub(now.micros());
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}
