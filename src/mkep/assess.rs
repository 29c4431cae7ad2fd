//! `assess.run` and `assess.record`: advice, which authorises nothing.
//!
//! Rule: docs/spec/mkep.md, section 15.

use super::canonical::{self, Arrays};
use super::check;
use super::error::{Code, Refusal};
use super::fold::Goal;
use super::json::{Json, Members, object};
use super::moment::Moment;
use super::record;
use super::request::Request;

const MEMBERS: &[&str] = &["advisory", "recommendation", "reason_code", "inputs_digest", "caveats"];

/// The recommendations, each with the reasons that may go with it.
const REASONS: &[(&str, &[&str])] = &[
    ("should_run", &["gates_open", "lease_acquired"]),
    ("wait", &["lease_held_by_other", "blocking_gate_pending", "cooldown_not_elapsed"]),
    ("ask_human", &["waiver_required", "constraint_conflict", "evidence_inconclusive"]),
    ("stop", &["goal_satisfied", "goal_abandoned", "quota_exhausted", "max_runs_exceeded"]),
    (
        "repair",
        &[
            "stale_lease_detected",
            "projection_inconsistent",
            "handoff_incomplete",
            "phases_incomplete",
        ],
    ),
];

/// The reasons that a waived gate may have led to.
const GATE_DERIVED: &[&str] =
    &["goal_satisfied", "evidence_inconclusive", "blocking_gate_pending", "gates_open"];

pub(super) fn record(request: &Request) -> Result<Members, Refusal> {
    let Some(Json::Object(given)) = request.arg("assessment") else {
        return Err(Refusal::at(Code::Type, "assessment", "is not an object"));
    };
    check::closed("assessment.", given, MEMBERS)?;
    if given.get("advisory") != Some(&Json::Bool(true)) {
        return Err(Refusal::at(Code::Pattern, "assessment.advisory", "is not true"));
    }
    let inputs = given.given("inputs_digest");
    if inputs.is_none() {
        return Err(Refusal::at(Code::MissingField, "assessment.inputs_digest", "is missing"));
    }
    let mut record = record::common("run_assessment", request)?;
    let names: Vec<&'static str> = REASONS.iter().map(|(name, _)| *name).collect();
    let chosen = given.get("recommendation");
    let recommendation = check::choice("assessment.recommendation", chosen, &names)?;
    let reasons = REASONS.iter().find(|(name, _)| *name == recommendation);
    let reasons = reasons.map_or(&[][..], |(_, reasons)| reasons);
    let reason = check::choice("assessment.reason_code", given.get("reason_code"), reasons)?;
    record.set("advisory", true);
    record.set("recommendation", recommendation);
    record.set("reason_code", reason);
    let inputs = check::pattern("assessment.inputs_digest", inputs, check::DIGEST)?;
    record.set("inputs_digest", inputs);
    let none = Json::List(Vec::new());
    let caveats = given.get("caveats").filter(|caveats| !caveats.is_falsy()).unwrap_or(&none);
    record.set("caveats", check::texts("assessment.caveats", Some(caveats))?);
    Ok(record)
}

/// The advice for a goal whose leases on `active` scopes are in force, and on `stale` ones have lapsed
/// without being given back. Both are sorted.
pub(super) fn advice(
    goal_id: &str,
    goal: &Goal,
    active: Vec<String>,
    stale: Vec<String>,
    now: Moment,
) -> Result<Members, Refusal> {
    let (recommendation, reason) = first_signal(goal, &active, &stale);
    let is_waived = goal.gates.values().any(|gate| gate.status == "waived");
    let caveats = match is_waived && GATE_DERIVED.contains(&reason) {
        true => vec!["waiver_unverified"],
        false => Vec::new(),
    };
    let inputs = object([
        ("execution_schema", 1.into()),
        ("goal_id", goal_id.into()),
        ("now", now.into()),
        ("projection_digest", goal.digest(goal_id, 0).into()),
        ("active_scopes", active.into()),
        ("stale_scopes", stale.into()),
    ]);
    Ok(object([
        ("execution_schema", 1.into()),
        ("goal_id", goal_id.into()),
        ("advisory", true.into()),
        ("recommendation", recommendation.into()),
        ("reason_code", reason.into()),
        ("caveats", caveats.into()),
        ("blockers", goal.blockers().into()),
        ("inputs_digest", canonical::digest(&inputs, Arrays::Unbounded)?.into()),
        ("evaluated_at", now.into()),
    ]))
}

fn first_signal(goal: &Goal, active: &[String], stale: &[String]) -> (&'static str, &'static str) {
    let is_accepted = goal.handoffs.values().any(|handoff| handoff.status == "accepted");
    let mut required = goal.gates.values().filter(|gate| gate.is_required());
    let has_failed = required.any(|gate| gate.status == "failed");
    let signals = [
        (!goal.is_consistent(), ("repair", "projection_inconsistent")),
        (goal.status == Some("satisfied"), ("stop", "goal_satisfied")),
        (goal.status == Some("abandoned"), ("stop", "goal_abandoned")),
        (is_accepted, ("repair", "handoff_incomplete")),
        (!stale.is_empty(), ("repair", "stale_lease_detected")),
        (!active.is_empty(), ("wait", "lease_held_by_other")),
        (has_failed, ("ask_human", "evidence_inconclusive")),
        (!goal.blockers().is_empty(), ("wait", "blocking_gate_pending")),
    ];
    let first = signals.into_iter().find(|(holds, _)| *holds);
    first.map_or(("should_run", "gates_open"), |(_, advice)| advice)
}
