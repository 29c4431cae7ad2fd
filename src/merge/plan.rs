//! What becomes of each key: three records, one answer.

use std::collections::BTreeSet;

use crate::canon::Value;
use crate::event::Retractable;
use crate::workspace::fold::{Source, State};

/// A decision, a fact or a task, as far as two of them can differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// What holds: the value; of a task the directive.
    pub value: Value,
    /// What goes with it: a rationale, or the constraints of a task.
    pub more: Value,
    pub agent: String,
    pub event: Source,
}

/// A key that is not the same on both sides, or was not.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub kind: Retractable,
    pub key: String,
    /// At the first merge base.
    pub base: Option<Record>,
    pub ours: Option<Record>,
    pub theirs: Option<Record>,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Ours stays.
    Keep,
    /// Theirs comes in its place.
    Take,
    /// Both sides changed it, each in its own way.
    Conflict,
}

pub const KINDS: [Retractable; 3] = [Retractable::Task, Retractable::Decision, Retractable::Fact];

/// What becomes of each key that is on a side, by kind and key; those that nothing happens to are left
/// out. Of several bases each must give the same answer.
#[must_use]
pub fn plan(bases: &[State], ours: &State, theirs: &State) -> Vec<Entry> {
    let empty = [State::default()];
    let bases = if bases.is_empty() { &empty[..] } else { bases };
    let mut entries = Vec::new();
    for kind in KINDS {
        let mut keys = BTreeSet::new();
        for state in bases.iter().chain([ours, theirs]) {
            keys.extend(keys_of(state, kind));
        }
        for key in keys {
            let of = |state: &State| record(state, kind, key);
            let (ours, theirs) = (of(ours), of(theirs));
            let mut outcomes = bases.iter().map(|base| outcome(of(base), &ours, &theirs));
            let first = outcomes.next().expect("there is one base at least");
            let agreed = outcomes.all(|outcome| outcome == first);
            let outcome = match (agreed, is_same(&ours, &theirs)) {
                (true, _) => first,
                (false, true) => Outcome::Keep,
                (false, false) => Outcome::Conflict,
            };
            if outcome != Outcome::Keep {
                let base = of(&bases[0]);
                entries.push(Entry { kind, key: key.to_owned(), base, ours, theirs, outcome });
            }
        }
    }
    entries
}

fn outcome(base: Option<Record>, ours: &Option<Record>, theirs: &Option<Record>) -> Outcome {
    match (is_same(&base, ours), is_same(&base, theirs), is_same(ours, theirs)) {
        // The same still holds; only they may have said more about it.
        (true, true, _) if more(&base) == more(ours) && more(ours) != more(theirs) => Outcome::Take,
        (_, true, _) | (_, _, true) => Outcome::Keep,
        (true, false, false) => Outcome::Take,
        (false, false, false) => Outcome::Conflict,
    }
}

fn more(record: &Option<Record>) -> Option<&Value> {
    record.as_ref().map(|record| &record.more)
}

fn is_same(a: &Option<Record>, b: &Option<Record>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.value.same(&b.value),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn keys_of(state: &State, kind: Retractable) -> Vec<&str> {
    match kind {
        Retractable::Task => state.tasks.keys().map(String::as_str).collect(),
        Retractable::Decision => state.decisions.keys().map(String::as_str).collect(),
        Retractable::Fact => state.facts.keys().map(String::as_str).collect(),
    }
}

/// The record of that key.
#[must_use]
pub fn record(state: &State, kind: Retractable, key: &str) -> Option<Record> {
    match kind {
        Retractable::Task => state.tasks.get(key).map(|task| Record {
            value: task.directive.as_str().into(),
            more: Value::Array(task.constraints.iter().map(|text| text.as_str().into()).collect()),
            agent: task.agent.clone(),
            event: task.event,
        }),
        Retractable::Decision => state.decisions.get(key).map(|decision| Record {
            value: decision.value.as_str().into(),
            more: decision.rationale.as_str().into(),
            agent: decision.agent.clone(),
            event: decision.event,
        }),
        Retractable::Fact => state.facts.get(key).map(|fact| Record {
            value: fact.value.clone(),
            more: Value::Null,
            agent: fact.agent.clone(),
            event: fact.event,
        }),
    }
}
