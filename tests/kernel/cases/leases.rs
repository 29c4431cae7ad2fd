//! Leases of the peer as calls of the library, under the peer's rules: its keys, and no lease is ever
//! granted again to its holder.

use mk::canon::{Object, Value};
use mk::code::Code;
use mk::lease::{
    self, Again, Claimant, DEFAULT_TTL, Fence, LeaseError, LeaseReport, Resource, Ttl,
};
use mk::store::{Engine, Leases, Origin, ReadTxn};
use mk::time::Timestamp;

use super::replay::{Refusal, Replay, agent, branch_name, id, object, reported};
use super::scenario::Operation;

impl<E: Engine> Replay<'_, E> {
    pub(super) fn acquire(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (branch, agent, resource) = (branch_name(of, "branch")?, agent(of)?, resource(of)?);
        let ttl = match of.get("ttl") {
            None => DEFAULT_TTL,
            Some(Value::Float(seconds)) => Ttl::from_seconds(*seconds)?,
            Some(Value::Int(seconds)) => {
                Ttl::from_seconds(seconds.as_i64().unwrap_or(i64::MAX) as f64)?
            }
            Some(_) => return Err(Refusal::new(Code::INVALID_ARGUMENT)),
        };
        let who = Claimant { agent: &agent, session: "", origin: Origin::Command };
        let (wanted, terms) = (std::slice::from_ref(&resource), (ttl, Again::Refuse));
        let granted = self.write(of, |log, outside| {
            let none = Object::new();
            let at = (of.time(), outside);
            Ok(lease::acquire(log, &branch, wanted, who, terms, &none, at))
        })?;
        let asked = ttl.as_seconds();
        match granted {
            Ok(granted) => {
                let Value::Object(mut grant) = reported(&granted.leases[0]) else { unreachable!() };
                grant.insert("acquired", true);
                grant.insert("holder_agent_id", agent.as_str());
                Ok(grant.into())
            }
            Err(LeaseError::Held(held)) => Ok(object([
                ("acquired", false.into()),
                ("resource", resource.as_str().into()),
                ("fencing_token", Value::Null),
                ("ttl_seconds", Value::Float(asked)),
                ("expires_at", Value::Float(held.expires_at.micros() as f64 / 1e6)),
                ("holder_agent_id", held.holder.as_str().into()),
                ("expires_in_seconds", Value::Float(to_three_places(held.left.as_secs_f64()))),
                ("claim_event_id", Value::Null),
            ])),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn renew(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (agent, Fence { resource, token }) = (agent(of)?, fence(of)?);
        let renewed: Result<_, LeaseError> =
            self.store.write(|txn| lease::renew(txn, &resource, token, &agent, of.time()));
        Ok(object([("ok", is_held(renewed)?.is_some().into())]))
    }

    pub(super) fn release(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (branch, agent) = (branch_name(of, "branch")?, agent(of)?);
        let Fence { resource, token } = fence(of)?;
        let released = self.write(of, |log, outside| {
            let (which, none) = ((&resource, token), Object::new());
            Ok(lease::release(log, Some(&branch), which, &agent, &none, (of.time(), outside)))
        })?;
        let event = is_held(released)?.map(|released| released.event.event_id);
        Ok(object([("ok", event.is_some().into()), ("event_id", id(event))]))
    }
}

pub(super) fn get(txn: &dyn ReadTxn, of: &Operation) -> Result<Value, Refusal> {
    let lease = txn.lease(resource(of)?.as_str())?;
    let lease = lease.map_or(Ok(Value::Null), |lease| row(txn, &lease, of.time()));
    Ok(object([("lease", lease?)]))
}

pub(super) fn list(txn: &dyn ReadTxn, of: &Operation) -> Result<Value, Refusal> {
    let which = match of.get("active_only") {
        Some(Value::Bool(false)) => Leases::All,
        _ => Leases::Active(of.time()),
    };
    Ok(object([("leases", rows(txn, which, of.time())?)]))
}

pub(super) fn active(txn: &dyn ReadTxn, now: Timestamp) -> Result<Value, Refusal> {
    rows(txn, Leases::Active(now), now)
}

pub(super) fn check(txn: &dyn ReadTxn, of: &Operation) -> Result<Value, Refusal> {
    let Fence { resource, token } = fence(of)?;
    let lease = txn.lease(resource.as_str())?.filter(|lease| lease.token == token);
    let holder = lease.as_ref().and_then(|lease| lease.active(of.time()));
    let named = of.get("agent").and_then(Value::as_str);
    let ok = holder.is_some_and(|holder| named.is_none_or(|agent| holder.agent.as_str() == agent));
    Ok(object([("ok", ok.into())]))
}

/// The `resource` and the `token` of an operation.
pub(super) fn fence(of: &Operation) -> Result<Fence, Refusal> {
    let token = match of.get("token") {
        Some(Value::Int(token)) => token.as_i64().and_then(|token| u64::try_from(token).ok()),
        _ => None,
    };
    match token.filter(|token| *token > 0) {
        Some(token) => Ok(Fence { resource: resource(of)?, token }),
        None => Err(Refusal::new(Code::INVALID_ARGUMENT)),
    }
}

fn resource(of: &Operation) -> Result<Resource, Refusal> {
    Ok(Resource::of_peer(of.text("resource"))?)
}

/// What was done, or nothing because the lease is lost: the peer answers that with `false`.
fn is_held<T>(done: Result<T, LeaseError>) -> Result<Option<T>, Refusal> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(LeaseError::Lost { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn rows(txn: &dyn ReadTxn, which: Leases, now: Timestamp) -> Result<Value, Refusal> {
    let leases = txn.leases(which, "", None, usize::MAX)?;
    let rows = leases.iter().map(|lease| row(txn, lease, now));
    Ok(Value::Array(rows.collect::<Result<_, _>>()?))
}

/// Without the members that only `mk` has.
fn row(txn: &dyn ReadTxn, lease: &mk::store::Lease, now: Timestamp) -> Result<Value, Refusal> {
    let Value::Object(mut row) = reported(&LeaseReport::new(txn, lease, now)?) else {
        unreachable!("a report is an object")
    };
    row.remove("claim");
    Ok(row.into())
}

fn to_three_places(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}
