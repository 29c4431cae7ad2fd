//! `lease.acquire`, `lease.release`, and the fence that a lease puts around its scope.
//!
//! These are leases of a goal's scopes. The leases of a workspace (`mk lease`) are others, with tokens
//! of their own.
//!
//! Rule: docs/spec/mkep.md, sections 13 and 14.

use super::canonical::{self, Arrays, SAFE_MAX};
use super::check;
use super::error::{Code, Refusal, Stop};
use super::facts::Facts;
use super::json::{Json, Members, object};
use super::leases::Lease;
use super::record;
use super::request::Request;

/// Most active leases of a goal.
pub const ACTIVE_MAX: usize = 16;
/// Longest time that a grant holds, in seconds.
pub const TTL_MAX: i64 = 86_400;

pub(super) fn acquire(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("lease_grant", request)?;
    let scope = check::pattern("scope_key", request.target("scope_key"), check::SCOPE_KEY)?;
    record.set("scope_key", scope);
    record.set("holder", check::holder("holder", request.arg("holder"))?);
    let ttl = request.arg("ttl_seconds").unwrap_or(&Json::Null);
    let ttl = check::integer("ttl_seconds", ttl, 1, TTL_MAX)?;
    record.set("ttl_seconds", ttl);
    record.set("expires_at", request.now()?.plus(ttl)?);
    if let Some(expected) = request.given("expected_fence") {
        check::integer("expected_fence", expected, 1, SAFE_MAX)?;
    }
    Ok(record)
}

pub(super) fn release(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("lease_release", request)?;
    let scope = check::pattern("scope_key", request.target("scope_key"), check::SCOPE_KEY)?;
    record.set("scope_key", scope);
    record.set("lease_id", check::text("lease_id", request.arg("lease_id"))?);
    if let given @ Some(_) = request.given("released_by") {
        record.set("released_by", check::holder("released_by", given)?);
    }
    Ok(record)
}

/// The members that a grant gets under the lock, if the scope may be leased.
pub(super) fn grant(
    record: &Members,
    expected: Option<i64>,
    facts: &Facts<'_>,
) -> Result<Members, Stop> {
    let scope = record.text("scope_key").unwrap_or_default();
    let previous = facts.lease(scope)?;
    let highest = facts.goal.highest_fence;
    if let Some(expected) = expected
        && previous.as_ref().map(|lease| lease.fence_token) != Some(expected)
    {
        let message = "the last lease of the scope has another token";
        return Err(stale(scope, highest, Some(expected), message).into());
    }
    let active = previous.as_ref().filter(|lease| lease.is_active(facts.now));
    let reason = match (active, &previous) {
        (Some(held), _) if Some(&held.holder) != record.get("holder") => {
            let mut refusal = held_by_another(scope, held, highest)?;
            refusal.details.set("expires_at", held.expires_at.clone());
            return Err(refusal.into());
        }
        (Some(_), _) => Some("released_by_holder"),
        (None, previous) => {
            check_cap(facts)?;
            previous.as_ref().map(|lease| match lease.is_released {
                true => "released_by_holder",
                false => "expired",
            })
        }
    };
    let superseded = previous.map(|lease| lease.lease_id);
    Ok(object([
        ("fence_token", (highest + 1).into()),
        ("supersedes_lease_id", superseded.into()),
        ("supersede_reason", reason.into()),
    ]))
}

fn check_cap(facts: &Facts<'_>) -> Result<(), Stop> {
    let active = facts.active_leases()?;
    if active < ACTIVE_MAX {
        return Ok(());
    }
    let details = [("limit", ACTIVE_MAX.into()), ("active", active.into())];
    let message = "the goal has as many active leases as it can";
    Err(Refusal::new(Code::LeaseCap, message, details).into())
}

/// Whether the lease may be given back as `record` says.
pub(super) fn may_release(record: &Members, facts: &Facts<'_>) -> Result<(), Stop> {
    let scope = record.text("scope_key").unwrap_or_default();
    let conflict = |message| Refusal::new(Code::Conflict, message, [("scope_key", scope.into())]);
    let Some(lease) = facts.lease(scope)? else {
        return Err(conflict("the scope was never leased").into());
    };
    let highest = facts.goal.highest_fence;
    if Some(&lease.lease_id) != record.get("lease_id") {
        return Err(stale(scope, highest, None, "the lease has been superseded").into());
    }
    if lease.is_released {
        return Err(conflict("the lease was released before").into());
    }
    if record.get("released_by").is_some_and(|by| *by != lease.holder) {
        return Err(held_by_another(scope, &lease, highest)?.into());
    }
    Ok(())
}

/// Lets a write with `token` into `scope`, or not.
///
/// The token is held against the highest of the *goal*, whatever scope that was granted for.
pub(super) fn check_fence(scope: &str, token: Option<i64>, facts: &Facts<'_>) -> Result<(), Stop> {
    let is_leased = facts.lease(scope)?.is_some_and(|lease| lease.is_active(facts.now));
    let highest = facts.goal.highest_fence;
    let refusal = match (is_leased, token) {
        (false, None) => return Ok(()),
        (false, Some(_)) => {
            let details = [("path", "fence_token".into()), ("scope_key", scope.into())];
            Refusal::new(Code::UnknownField, "the scope has no active lease", details)
        }
        (true, None) => {
            let details = [("scope_key", scope.into()), ("current_fence_token", highest.into())];
            let message = "the scope is leased: a write needs a fence token";
            Refusal::new(Code::FenceRequired, message, details)
        }
        (true, Some(token)) if token < highest => {
            stale(scope, highest, Some(token), "the fence token has been superseded")
        }
        (true, Some(_)) => return Ok(()),
    };
    Err(refusal.into())
}

fn stale(scope: &str, highest: i64, presented: Option<i64>, message: &str) -> Refusal {
    let details = [("scope_key", scope.into()), ("current_fence_token", highest.into())];
    let mut refusal = Refusal::new(Code::FenceStale, message, details);
    if let Some(presented) = presented {
        refusal.details.set("presented_fence_token", presented);
    }
    refusal
}

/// The holder is never shown, only its digest.
fn held_by_another(scope: &str, lease: &Lease, highest: i64) -> Result<Refusal, Refusal> {
    let holder = object([("holder", lease.holder.clone())]);
    let details = [
        ("scope_key", scope.into()),
        ("holder_digest", canonical::digest(&holder, Arrays::Record)?.into()),
        ("current_fence_token", highest.into()),
    ];
    Ok(Refusal::new(Code::LeaseHeld, "the scope is leased to another holder", details))
}
