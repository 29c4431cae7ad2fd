//! The tools of MemKernel's server, for prompts that know those: its names, its arguments, its answers.
//!
//! Each does what a command does. Where the peer answers in prose, so do these.
//!
//! Rule: docs/spec/kernel.md, section 17; docs/spec/mcp.md, section 4.7.

mod branches;
mod leases;
mod notices;
mod query;
mod recording;

use mk::canon::{Object, Value};
use mk::id::EventId;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, WriteArgs};
use crate::mcp::tool::Tool;

pub fn tools() -> impl Iterator<Item = &'static Tool> {
    let groups = [branches::TOOLS, leases::TOOLS, notices::TOOLS, query::TOOLS, recording::TOOLS];
    groups.into_iter().flatten()
}

/// What the commands that append one event are given here beside the event.
const PLAIN: WriteArgs = WriteArgs { meta: None, expect: None, fence: Vec::new(), op_id: None };

/// The report that a command printed, to be told otherwise.
fn report(ctx: &mut Context) -> Object {
    match Value::parse(&ctx.out.take()) {
        Ok(Value::Object(report)) => report,
        other => unreachable!("a report is an object: {other:?}"),
    }
}

/// Answers with a value that is no object.
fn say(value: impl Serialize, ctx: &mut Context) -> Result<Answer, Failure> {
    ctx.out.document(&value)?;
    Ok(Answer::Yes)
}

/// An event in a sentence, as the peer says it.
fn named(event: Option<EventId>) -> String {
    event.map_or("None".to_owned(), |event| event.to_string())
}

/// A record of a state, with the events in it named by their ids only: `mk` says their hashes and
/// sequences too.
fn record(record: &Value) -> Value {
    let Value::Object(record) = record else { return record.clone() };
    let is_of_mk = |name: &str| name.ends_with("event_hash") || name.ends_with("event_sequence");
    let kept = record.iter().filter(|(name, _)| !is_of_mk(name));
    Object::from_iter(kept.map(|(name, member)| (name, member.clone()))).into()
}

/// The same of all records of a state.
fn state(state: &Value) -> Value {
    let sections = state.as_object().into_iter().flat_map(Object::iter);
    let shown = sections.map(|(name, section)| {
        let section = match section {
            Value::Object(records) => {
                Object::from_iter(records.iter().map(|(key, it)| (key, record(it)))).into()
            }
            Value::Array(records) => Value::Array(records.iter().map(record).collect()),
            other => other.clone(),
        };
        (name, section)
    });
    Object::from_iter(shown).into()
}
