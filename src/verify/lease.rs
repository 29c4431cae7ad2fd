//! The rows of leases, each held against the event that says that it was granted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use super::report::{About, Findings, Kind};
use crate::canon::{Object, Value};
use crate::event::{Event, EventType};
use crate::id::{AgentId, LineageId, shown, unhex};
use crate::lease::report;
use crate::store::audit::Audit;
use crate::store::{Branch, Holder, Lease, RESOURCE_MAX, StoreError, TTL_MAX};
use crate::time::Timestamp;

/// By resource.
pub(super) type Held = HashMap<String, (Lease, Holder)>;

/// Checks the rows alone; answers with those that have a holder.
pub(super) fn verify(
    audit: &Audit<'_>,
    branches: &BTreeMap<LineageId, Branch>,
    findings: &mut Findings,
) -> Result<Held, StoreError> {
    let mut held = Held::new();
    audit.leases(|row| {
        let wrong = match row {
            Ok(lease) => match misfit(&lease, branches) {
                Some(why) => Some(format!("'{}': {why}", shown(&lease.resource))),
                None => {
                    let holder = lease.holder.clone();
                    held.extend(holder.map(|holder| (lease.resource.clone(), (lease, holder))));
                    None
                }
            },
            Err(misfit) => Some(misfit.why),
        };
        if let Some(why) = wrong {
            findings.add(Kind::Lease, About::STORE, why);
        }
    })?;
    Ok(held)
}

/// What is wrong with a lease.
fn misfit(lease: &Lease, branches: &BTreeMap<LineageId, Branch>) -> Option<String> {
    if !(1..=RESOURCE_MAX).contains(&lease.resource.chars().count()) {
        return Some(format!("resource is not 1 to {RESOURCE_MAX} characters"));
    }
    if lease.ttl > TTL_MAX {
        return Some(format!("ttl is above {} s", TTL_MAX.as_secs()));
    }
    let holder = lease.holder.as_ref()?;
    if lease.token == 0 || lease.ttl.is_zero() {
        return Some("it is held and was never granted".to_owned());
    }
    if !branches.contains_key(&holder.branch) {
        return Some(format!("branch {} is missing", holder.branch.0));
    }
    let is_key = holder.session.len() == 12 && unhex(&holder.session).is_some();
    if !holder.session.is_empty() && !is_key {
        return Some("session is not 12 hex digits".to_owned());
    }
    holder.agent.as_str().parse::<AgentId>().err().map(|error| error.to_string())
}

/// What the events say of the leases that are held.
#[derive(Default)]
pub(super) struct Grants {
    granted: HashSet<String>,
    /// Who granted what cannot be read any more.
    erased: HashSet<(LineageId, AgentId)>,
}

impl Grants {
    pub(super) fn note(&mut self, event: &Event, payload: Option<&Object>, held: &Held) {
        if event.kind != EventType::ClaimAcquired || held.is_empty() {
            return;
        }
        let Some(payload) = payload.filter(|_| event.content.is_some()) else {
            self.erased.insert((event.lineage, event.agent.clone()));
            return;
        };
        let resource = payload.get("resource").and_then(Value::as_str);
        let lease = resource.and_then(|resource| held.get_key_value(resource));
        if let Some((resource, (lease, holder))) = lease
            && is_grant(event, payload, lease, holder)
        {
            self.granted.insert(resource.clone());
        }
    }

    pub(super) fn join(&mut self, other: Self) {
        self.granted.extend(other.granted);
        self.erased.extend(other.erased);
    }

    /// Names the leases that no event tells of.
    pub(super) fn conclude(&self, held: &Held, findings: &mut Findings) {
        for (resource, (_, holder)) in held {
            let may_be = self.erased.contains(&(holder.branch, holder.agent.clone()));
            if !self.granted.contains(resource) && !may_be {
                let why = format!("'{}': no event says that it was granted so", shown(resource));
                findings.add(Kind::Lease, About::STORE, why);
            }
        }
    }
}

/// Whether `event` says that `holder` was granted `lease`, which may have been renewed since, and its
/// token raised.
fn is_grant(event: &Event, payload: &Object, lease: &Lease, holder: &Holder) -> bool {
    let number = |name| payload.get(name).and_then(double);
    let token = payload.get("fencing_token").and_then(Value::as_i64);
    let (Some(token), Some(ttl), Some(until)) =
        (token, number("ttl_seconds"), number("expires_at"))
    else {
        return false;
    };
    let Ok(ttl) = Duration::try_from_secs_f64(ttl) else { return false };
    let granted_until = crate::lease::after(holder.acquired_at, ttl);
    // One that only a neighbour ended has 0 there.
    let is_later = lease.expires_at >= granted_until || lease.expires_at == Timestamp::EPOCH;
    (event.lineage, &event.agent) == (holder.branch, &holder.agent)
        && (1..=lease.token.cast_signed()).contains(&token)
        && report::seconds(granted_until) == until
        && is_later
}

fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        value => value.as_i64().map(|number| number as f64),
    }
}
