//! A state as the peer writes it: with the numbers of events in the place of their hashes.
//!
//! Rule: docs/spec/kernel.md, sections 8 and 9.

use std::collections::BTreeMap;

use crate::canon::{Object, Value};
use crate::id::EventId;
use crate::workspace::fold::State;
use crate::workspace::snapshot::{self, Optional};

const OPTIONAL: &[Optional] = &[
    ("tasks", "constraints", || Value::Array(Vec::new())),
    ("decisions", "supersedes_event_id", || Value::Null),
    ("execution_blockers", "occurrences", || 1_i64.into()),
    ("execution_digest", "runs", || 0_i64.into()),
    ("execution_digest", "failed_runs", || 0_i64.into()),
];

/// `state` in the peer's form; `number` is what the peer calls an event.
#[must_use]
pub fn peer_state(state: &State, number: &dyn Fn(EventId) -> Option<i64>) -> Object {
    let id = |event: EventId| Value::from(number(event));
    let sections = [
        (
            "tasks",
            section(&state.tasks, |it| {
                let constraints = it.constraints.iter().map(|text| text.as_str().into()).collect();
                vec![
                    ("agent_id", it.agent.as_str().into()),
                    ("directive", it.directive.as_str().into()),
                    ("constraints", Value::Array(constraints)),
                    ("event_id", id(it.event.id)),
                ]
            }),
        ),
        (
            "decisions",
            section(&state.decisions, |it| {
                vec![
                    ("key", it.key.as_str().into()),
                    ("value", it.value.as_str().into()),
                    ("rationale", it.rationale.as_str().into()),
                    ("agent_id", it.agent.as_str().into()),
                    ("event_id", id(it.event.id)),
                    ("supersedes_event_id", it.supersedes.map_or(Value::Null, |old| id(old.id))),
                ]
            }),
        ),
        (
            "active_workspace_facts",
            section(&state.facts, |it| {
                vec![
                    ("value", it.value.clone()),
                    ("agent_id", it.agent.as_str().into()),
                    ("event_id", id(it.event.id)),
                ]
            }),
        ),
        (
            "execution_blockers",
            section(&state.blockers, |it| {
                vec![
                    ("key", it.key.as_str().into()),
                    ("description", it.description.as_str().into()),
                    ("exit_code", Value::Int(it.exit_code.clone())),
                    ("agent_id", it.agent.as_str().into()),
                    ("first_seen_event_id", id(it.first_seen.id)),
                    ("last_seen_event_id", id(it.last_seen.id)),
                    ("occurrences", it.occurrences.into()),
                ]
            }),
        ),
        (
            "active_claims",
            section(&state.claims, |it| {
                vec![
                    ("resource", it.resource.as_str().into()),
                    ("agent_id", it.agent.as_str().into()),
                    ("fencing_token", Value::Int(it.token.clone())),
                    ("event_id", id(it.event.id)),
                ]
            }),
        ),
        (
            "execution_digest",
            section(&state.digest, |it| {
                vec![
                    ("command", it.command.as_str().into()),
                    ("runs", it.runs.into()),
                    ("failed_runs", it.failed_runs.into()),
                    ("last_exit_code", Value::Int(it.last_exit_code.clone())),
                    ("last_agent_id", it.last_agent.as_str().into()),
                    ("last_event_id", id(it.last.id)),
                ]
            }),
        ),
        (
            "deprecated_assumptions",
            Value::Array(
                state
                    .deprecated
                    .iter()
                    .map(|it| {
                        record(vec![
                            ("kind", it.kind.as_str().into()),
                            ("key", it.key.as_str().into()),
                            ("value", it.value.clone()),
                            ("replaced_by", it.replaced_by.clone()),
                            ("deprecated_by_event_id", id(it.deprecated_by.id)),
                            ("agent_id", it.agent.as_str().into()),
                        ])
                    })
                    .collect(),
            ),
        ),
        (
            "insights",
            Value::Array(state.insights.iter().map(|text| text.as_str().into()).collect()),
        ),
    ];
    sections.into_iter().collect()
}

fn section<T>(
    records: &BTreeMap<String, T>,
    members: impl Fn(&T) -> Vec<(&'static str, Value)>,
) -> Value {
    let records = records.iter().map(|(key, it)| (key.clone(), record(members(it))));
    Value::Object(records.collect())
}

fn record(members: Vec<(&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().collect())
}

/// The first section of a snapshot of the peer, insights apart, that does not say what `fold`, in the
/// peer's form, does.
pub(super) fn differing(snapshot: &Object, fold: &Object) -> Option<String> {
    let mut sections = fold.iter().filter(|(name, _)| *name != "insights");
    let agrees = |name: &str, expected: &Value| match snapshot.get(name) {
        None => expected.is_falsy(),
        Some(given) => snapshot::filled(name, given, OPTIONAL).same(expected),
    };
    sections.find(|(name, expected)| !agrees(name, expected)).map(|(name, _)| name.to_owned())
}
