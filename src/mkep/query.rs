//! `state.read`, `assess.run`, `handoff.export` and `describe`. They write nothing.
//!
//! Rule: docs/spec/mkep.md, sections 15, 16, 18 and 19.

use sha2::{Digest, Sha256};

use super::canonical::{self, Arrays};
use super::error::{Code, Refusal, Stop};
use super::json::{Json, Members, object};
use super::ledger::Ledger;
use super::lint::{self, Surroundings};
use super::moment::Moment;
use super::registry::Op;
use super::request::Request;
use super::response::Done;
use super::transfer::ORIGIN;
use super::{assess, check, describe, event, handoff};
use crate::id::hex;
use crate::store::{ReadTxn, StoreError};

const PARTS: &[&str] = &["gates", "handoffs", "leases"];

pub(super) fn answer(
    txn: &dyn ReadTxn,
    ledger: &mut Ledger,
    request: &Request,
    around: &Surroundings,
) -> Result<Done, Stop> {
    let result = match request.entry.op {
        Op::StateRead => state_read(txn, ledger, request)?,
        Op::AssessRun => assess_run(txn, ledger, request)?,
        Op::HandoffExport => handoff_export(txn, request, around)?,
        Op::Describe => describe::capabilities(),
        _ => return Err(Refusal::new(Code::Internal, "only a query can be asked", []).into()),
    };
    Ok(Done::read(result))
}

fn goal_and_now(request: &Request) -> Result<(&str, Moment), Refusal> {
    let goal_id = check::pattern("goal_id", request.target("goal_id"), check::GOAL_ID)?;
    Ok((goal_id, request.now()?))
}

fn state_read(txn: &dyn ReadTxn, ledger: &mut Ledger, request: &Request) -> Result<Members, Stop> {
    let parts = parts(request)?;
    let (goal_id, now) = goal_and_now(request)?;
    let state = ledger.state(txn, goal_id)?;
    let skipped = ledger.totals(txn)?.damaged;
    let goal = ledger.seen(txn, goal_id)?;
    let mut result = object([
        ("execution_schema", 1.into()),
        ("goal_id", goal_id.into()),
        ("goal_status", goal.status.into()),
        ("execution_seq", goal.execution_seq.into()),
        ("unverified_waivers", goal.unverified_waivers.into()),
        ("receipts_without_provenance", goal.receipts_without_provenance.into()),
        ("skipped", skipped.into()),
        ("rejected_transitions", goal.rejected.len().into()),
        ("consistent", goal.is_consistent().into()),
        ("projection_digest", state.projection_digest.into()),
        ("evaluated_at", now.into()),
    ]);
    if parts.contains(&"gates") {
        result.set("gates", goal.gate_list());
    }
    if parts.contains(&"handoffs") {
        result.set("handoffs", goal.handoff_list());
    }
    if parts.contains(&"leases") {
        let highest = goal.highest_fence;
        let mut active = Members::new();
        for (scope, lease) in ledger.open_leases(txn, goal_id)? {
            if lease.is_active(now) {
                active.set(scope, lease.report());
            }
        }
        result.set("leases", active);
        result.set("max_fence_token", highest);
    }
    Ok(result)
}

fn parts(request: &Request) -> Result<Vec<&'static str>, Refusal> {
    let items = match request.given("include") {
        None => return Ok(PARTS.to_vec()),
        Some(Json::List(items)) => items,
        Some(_) => return Err(Refusal::at(Code::Type, "args.include", "is not an array")),
    };
    let part = |(index, item): (usize, &Json)| {
        let known = PARTS.iter().find(|part| item.as_str() == Some(part));
        known.copied().ok_or_else(|| {
            let path = format!("args.include[{index}]");
            let details = [("path", path.as_str().into()), ("supported", PARTS.to_vec().into())];
            Refusal::new(Code::Pattern, format!("{path} is no part of a goal"), details)
        })
    };
    items.iter().enumerate().map(part).collect()
}

fn assess_run(txn: &dyn ReadTxn, ledger: &mut Ledger, request: &Request) -> Result<Members, Stop> {
    let (goal_id, now) = goal_and_now(request)?;
    if ledger.seen(txn, goal_id)?.status.is_none() {
        return Err(handoff::not_declared("goal_declared").into());
    }
    let (mut active, mut stale) = (Vec::new(), Vec::new());
    for (scope, lease) in ledger.open_leases(txn, goal_id)? {
        if lease.is_active(now) { active.push(scope) } else { stale.push(scope) }
    }
    let goal = ledger.seen(txn, goal_id)?;
    Ok(assess::advice(goal_id, goal, active, stale, now)?)
}

fn handoff_export(
    txn: &dyn ReadTxn,
    request: &Request,
    around: &Surroundings,
) -> Result<Members, Stop> {
    let goal_id = check::pattern("goal_id", request.target("goal_id"), check::GOAL_ID)?;
    let handoff_id = check::pattern("handoff_id", request.target("handoff_id"), check::ID)?;
    let declared = declaration(txn, goal_id, handoff_id)?;
    let declared = declared.ok_or_else(|| handoff::not_declared("handoff_declared"))?;
    let now = request.now()?;
    let origin = origin_id(txn)?;
    let mut envelope = handoff::envelope(&declared, &origin, now);
    lint::check(&envelope, around)?;
    let digest = canonical::digest(&envelope, Arrays::Record)?;
    envelope.set("envelope_digest", digest);
    Ok(object([("envelope", envelope.into()), ("origin_instance_id", origin.into())]))
}

/// The record that declares a handoff, if it can be seen.
fn declaration(
    txn: &dyn ReadTxn,
    goal_id: &str,
    handoff_id: &str,
) -> Result<Option<Members>, StoreError> {
    for row in txn.exec_by_id(handoff_id)? {
        if row.is_hidden || row.goal.as_deref() != Some(goal_id) {
            continue;
        }
        let declares = |record: &Members| {
            matches!(record.text("record_type"), Some("handoff_declared" | "handoff_imported"))
        };
        if let Some(record) = event::record(txn, row.event)?.filter(declares) {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

/// What a base is known by where its handoffs go: random since the key of the store is.
pub(super) fn origin_id(txn: &dyn ReadTxn) -> Result<String, StoreError> {
    if let Some(origin) = txn.setting(ORIGIN)? {
        return Ok(origin);
    }
    let digest = Sha256::new().chain_update("mk exec origin").chain_update(txn.identity()?.key);
    Ok(hex(&digest.finalize()[..16]))
}
