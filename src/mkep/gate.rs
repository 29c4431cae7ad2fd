//! `gate.declare`, `gate.transition` and `receipt.record`.
//!
//! Gates are advisory: they make visible what was claimed, and stop nobody.
//!
//! Rule: docs/spec/mkep.md, sections 10 to 12.

use super::check;
use super::error::{Code, Refusal, Stop};
use super::facts::Facts;
use super::goal::{allowed, needs};
use super::json::{Json, Members, object};
use super::record;
use super::registry::Entity;
use super::request::Request;

/// Most gates of a goal.
pub const GATES_MAX: i64 = 64;

const VERDICTS: &[&str] = &["pass", "fail"];

pub(super) fn declare(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("gate_declared", request)?;
    let gate_id = check::pattern("gate_id", request.target("gate_id"), check::GATE_ID)?;
    record.set("gate_id", gate_id);
    record.set("description", check::text("description", request.arg("description"))?);
    let Some(Json::Object(verification)) = request.arg("verification") else {
        return Err(Refusal::at(Code::Type, "verification", "is not an object"));
    };
    let kind = check::text("verification.check_kind", verification.get("check_kind"))?;
    let reference = check::text("verification.check_ref", verification.get("check_ref"))?;
    record.set("verification", object([("check_kind", kind), ("check_ref", reference)]));
    match request.arg("required") {
        None => record.set("required", true),
        Some(Json::Bool(required)) => record.set("required", *required),
        Some(_) => return Err(Refusal::at(Code::Type, "required", "is not a boolean")),
    }
    let scope = match request.given("scope_key") {
        // The longest gate id is a scope key too.
        None => gate_id,
        given => check::pattern("scope_key", given, check::SCOPE_KEY)?,
    };
    record.set("scope_key", scope);
    Ok(record)
}

pub(super) fn transition(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("gate_transition", request)?;
    let gate_id = check::pattern("gate_id", request.target("gate_id"), check::GATE_ID)?;
    record.set("gate_id", gate_id);
    record.set("to_status", check::text("to_status", request.arg("to_status"))?);
    for name in ["reopen_reason", "receipt_id"] {
        if let given @ Some(_) = request.given(name) {
            record.set(name, check::text(name, given)?);
        }
    }
    Ok(record)
}

pub(super) fn receipt(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("evidence_receipt", request)?;
    let gate_id = check::pattern("gate_id", request.target("gate_id"), check::GATE_ID)?;
    record.set("gate_id", gate_id);
    record.set("verdict", check::choice("verdict", request.arg("verdict"), VERDICTS)?);
    let digest = request.arg("content_sha256");
    record.set("content_sha256", check::pattern("content_sha256", digest, check::DIGEST)?);
    record.set("summary", check::text("summary", request.arg("summary"))?);
    if let Some(given) = request.given("observed_at") {
        record.set("observed_at", super::moment::Moment::read(given)?);
    }
    for name in ["provenance_id", "artifact_path"] {
        if let given @ Some(_) = request.given(name) {
            record.set(name, check::text(name, given)?);
        }
    }
    Ok(record)
}

/// Whether the goal takes one gate more.
pub(super) fn may_declare(facts: &Facts<'_>) -> Result<(), Refusal> {
    let declared = facts.goal.gate_records;
    if declared < GATES_MAX {
        return Ok(());
    }
    let details = [("limit", GATES_MAX.into()), ("declared", declared.into())];
    Err(Refusal::new(Code::GateCap, "the goal has as many gates as it can", details))
}

/// Whether the gate may change as `record` says; answers whether it rests on a word alone.
pub(super) fn may_change(record: &Members, facts: &Facts<'_>) -> Result<bool, Stop> {
    let gate_id = record.text("gate_id").unwrap_or_default();
    let gate = facts.gate(gate_id)?;
    let details = [("gate_id", gate_id.into()), ("from_status", gate.status.into())];
    let change = allowed(Entity::Gate, Some(gate.status), record, details)?;
    needs(change, record)?;
    if change.waives && record.text("authority_claim") != Some("human") {
        let details = [("gate_id", gate_id.into())];
        let message = "to waive a gate takes the (unverified) claim of a human";
        return Err(Refusal::new(Code::AuthorityClaimRequired, message, details).into());
    }
    if let Some(verdict) = change.evidence {
        let receipt = facts.newest_receipt(gate_id, verdict, record.get("receipt_id"))?;
        check_evidence(receipt, gate_id, verdict, gate.reopened_at_seq)?;
    }
    Ok(change.waives)
}

fn check_evidence(
    receipt: Option<i64>,
    gate_id: &str,
    verdict: &'static str,
    watermark: i64,
) -> Result<(), Refusal> {
    let Some(receipt) = receipt else {
        let details = [("gate_id", gate_id.into()), ("verdict", verdict.into())];
        let message = format!("the change stands on a receipt with the verdict {verdict}");
        return Err(Refusal::new(Code::EvidenceRequired, message, details));
    };
    if receipt > watermark {
        return Ok(());
    }
    let details = [("receipt_event_seq", receipt.into()), ("reopened_at_seq", watermark.into())];
    Err(Refusal::new(Code::EvidenceStale, "the gate was reopened after the receipt", details))
}
