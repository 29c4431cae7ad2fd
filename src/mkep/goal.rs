//! `goal.declare` and `goal.transition`.
//!
//! Rule: docs/spec/mkep.md, sections 10 and 11.

use super::check;
use super::error::{Code, Refusal};
use super::facts::Facts;
use super::json::{Json, Members};
use super::record;
use super::registry::Entity;
use super::request::Request;
use super::transition;

/// The scope whose lease guards changes of a goal.
pub const SCOPE: &str = "goal";

pub(super) fn declare(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("goal_declared", request)?;
    for name in ["title", "intent"] {
        record.set(name, check::text(name, request.arg(name))?);
    }
    for name in ["constraints", "success_criteria"] {
        record.set(name, check::texts(name, request.arg(name))?);
    }
    if let given @ Some(_) = request.given("owner_hint") {
        record.set("owner_hint", check::text("owner_hint", given)?);
    }
    if let given @ Some(_) = request.given("parent_goal_id") {
        let parent = check::pattern("parent_goal_id", given, check::GOAL_ID)?;
        record.set("parent_goal_id", parent);
    }
    Ok(record)
}

pub(super) fn transition(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("goal_transition", request)?;
    record.set("to_status", check::text("to_status", request.arg("to_status"))?);
    if let given @ Some(_) = request.given("reason") {
        record.set("reason", check::text("reason", given)?);
    }
    Ok(record)
}

/// Whether the goal may change as `record` says.
pub(super) fn may_change(record: &Members, facts: &Facts<'_>) -> Result<(), Refusal> {
    let from = facts.goal.status;
    let change = allowed(Entity::Goal, from, record, [("from_status", from.into())])?;
    needs(change, record)?;
    let blockers = if change.settles { facts.goal.blockers() } else { Vec::new() };
    if blockers.is_empty() {
        return Ok(());
    }
    let details = [("blockers", blockers.into()), ("from_status", from.into())];
    Err(Refusal::new(Code::InvalidTransition, "required gates are not settled", details))
}

/// The change that `record` asks for, if the table has it.
pub(super) fn allowed<const N: usize>(
    entity: Entity,
    from: Option<&str>,
    record: &Members,
    details: [(&str, Json); N],
) -> Result<&'static transition::Transition, Refusal> {
    let to = record.text("to_status").unwrap_or_default();
    let found = from.and_then(|from| transition::find(entity, from, to));
    found.ok_or_else(|| {
        let message = format!("a {} cannot change so", entity.as_str());
        Refusal::new(Code::InvalidTransition, message, details)
    })
}

/// Whether `record` has the argument that the change needs.
pub(super) fn needs(change: &transition::Transition, record: &Members) -> Result<(), Refusal> {
    match change.needs.filter(|field| !record.contains(field)) {
        None => Ok(()),
        Some(field) => Err(Refusal::at(Code::MissingField, field, "is needed for this change")),
    }
}
