//! What the events of a branch add up to.
//!
//! Rule: docs/spec/kernel.md, section 8.

use std::collections::{BTreeMap, VecDeque};

use sha2::{Digest, Sha256};

use crate::canon::{Int, Object, Value};
use crate::event::{Event, Payload, Retractable};
use crate::id::{EventId, Hash};
use crate::text;

/// Most records of a kind; the oldest make room.
pub const DEPRECATED_MAX: usize = 50;
pub const BLOCKERS_MAX: usize = 50;
pub const DIGEST_MAX: usize = 20;

/// The event a record comes from. Its identity is the hash; its id is local and beside the point of
/// any comparison.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub id: EventId,
    pub sequence: u64,
    pub hash: Hash,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl From<&Event> for Source {
    fn from(event: &Event) -> Self {
        Self { id: event.id, sequence: event.sequence, hash: event.hash }
    }
}

/// What an agent is at.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub agent: String,
    pub directive: String,
    pub constraints: Vec<String>,
    pub event: Source,
}

/// A decision that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub key: String,
    pub value: String,
    pub rationale: String,
    pub agent: String,
    pub event: Source,
    pub supersedes: Option<Source>,
}

/// Something found out about the workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub value: Value,
    pub agent: String,
    pub event: Source,
}

/// A command that fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocker {
    pub key: String,
    pub description: String,
    pub exit_code: Int,
    pub agent: String,
    pub first_seen: Source,
    pub last_seen: Source,
    pub occurrences: u64,
}

/// A resource an agent says it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub resource: String,
    pub agent: String,
    pub token: Int,
    pub event: Source,
}

/// What became of a command that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub command: String,
    pub runs: u64,
    pub failed_runs: u64,
    pub last_exit_code: Int,
    pub last_agent: String,
    pub last: Source,
}

/// A decision, fact or task that no longer holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Deprecated {
    pub kind: String,
    pub key: String,
    pub value: Value,
    /// Null if it was retracted.
    pub replaced_by: Value,
    pub deprecated_by: Source,
    pub agent: String,
}

/// The state of a timeline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// By agent.
    pub tasks: BTreeMap<String, Task>,
    pub decisions: BTreeMap<String, Decision>,
    pub facts: BTreeMap<String, Fact>,
    /// By command.
    pub blockers: BTreeMap<String, Blocker>,
    /// By resource.
    pub claims: BTreeMap<String, Claim>,
    /// By command.
    pub digest: BTreeMap<String, Run>,
    /// Oldest first.
    pub deprecated: VecDeque<Deprecated>,
    /// Oldest first.
    pub insights: Vec<String>,
}

impl State {
    /// The state after `event`, the next live one. Total: an event of no concern, and one that was
    /// erased, changes nothing.
    pub fn apply(&mut self, event: &Event) {
        if let Some(payload) = event.payload() {
            self.apply_payload(event, &payload);
        }
    }

    /// As [`State::apply`], with the payload of `event` already read.
    pub fn apply_payload(&mut self, event: &Event, payload: &Payload) {
        let agent = event.agent.as_str();
        let source = Source::from(event);
        match payload {
            Payload::Task { directive, constraints } => {
                let task = Task {
                    agent: agent.to_owned(),
                    directive: directive.clone(),
                    constraints: constraints.clone(),
                    event: source,
                };
                self.tasks.insert(agent.to_owned(), task);
            }
            Payload::Decision { key, value, rationale } => {
                if key.is_empty() {
                    return;
                }
                let old = self.decisions.get(key);
                let supersedes = old.map(|old| old.event);
                if let Some(old) = old.filter(|old| old.value != *value) {
                    let (old, new) = (Value::from(old.value.clone()), Value::from(value.clone()));
                    self.deprecate("decision", key, old, new, event);
                }
                let agent = agent.to_owned();
                let decision = Decision {
                    key: key.clone(),
                    value: value.clone(),
                    rationale: rationale.clone(),
                    agent,
                    event: source,
                    supersedes,
                };
                self.decisions.insert(key.clone(), decision);
            }
            Payload::ToolLog { command, exit_code, failure, facts, .. } => {
                for (key, value) in facts {
                    self.learn(key, value, event);
                }
                let command = text::trim(command);
                if !command.is_empty() {
                    self.ran(command, exit_code, failure.as_deref(), event);
                }
            }
            Payload::ClaimAcquired { resource, token: Some(token) } if !resource.is_empty() => {
                let agent = agent.to_owned();
                let (resource, token) = (resource.clone(), token.clone());
                let claim = Claim { resource: resource.clone(), agent, token, event: source };
                self.claims.insert(resource, claim);
            }
            Payload::ClaimReleased { resource, token: Some(token) } => {
                if self.claims.get(resource).is_some_and(|claim| claim.token == *token) {
                    self.claims.remove(resource);
                }
            }
            Payload::Snapshot { insights } => self.insights.clone_from(insights),
            Payload::Retracted { what, key } => self.retract(*what, key, event),
            Payload::ClaimAcquired { .. }
            | Payload::ClaimReleased { .. }
            | Payload::Note { .. }
            | Payload::Forked { .. }
            | Payload::RolledBack { .. }
            | Payload::Merged
            | Payload::Erased
            | Payload::Imported
            | Payload::ImportFinished
            | Payload::ExecRecord => {}
        }
    }

    fn learn(&mut self, key: &str, value: &Value, event: &Event) {
        if let Some(old) = self.facts.get(key).filter(|old| !old.value.same(value)) {
            let old = old.value.clone();
            self.deprecate("fact", key, old, value.clone(), event);
        }
        let agent = event.agent.as_str().to_owned();
        let fact = Fact { value: value.clone(), agent, event: event.into() };
        self.facts.insert(key.to_owned(), fact);
    }

    fn ran(&mut self, command: &str, exit_code: &Int, failure: Option<&str>, event: &Event) {
        let agent = event.agent.as_str().to_owned();
        let source = Source::from(event);
        match self.digest.get_mut(command) {
            Some(run) => {
                run.runs += 1;
                run.failed_runs += u64::from(failure.is_some());
                run.last_exit_code = exit_code.clone();
                run.last_agent.clone_from(&agent);
                run.last = source;
            }
            None => {
                let run = Run {
                    command: command.to_owned(),
                    runs: 1,
                    failed_runs: u64::from(failure.is_some()),
                    last_exit_code: exit_code.clone(),
                    last_agent: agent.clone(),
                    last: source,
                };
                self.digest.insert(command.to_owned(), run);
                evict(&mut self.digest, DIGEST_MAX, |run| run.last.sequence);
            }
        }
        let Some(failure) = failure else {
            self.blockers.remove(command);
            return;
        };
        let old = self.blockers.get(command);
        let blocker = Blocker {
            key: command.to_owned(),
            description: failure.to_owned(),
            exit_code: exit_code.clone(),
            agent,
            first_seen: old.map_or(source, |old| old.first_seen),
            last_seen: source,
            occurrences: old.map_or(0, |old| old.occurrences) + 1,
        };
        self.blockers.insert(command.to_owned(), blocker);
        evict(&mut self.blockers, BLOCKERS_MAX, |blocker| blocker.last_seen.sequence);
    }

    fn retract(&mut self, what: Retractable, key: &str, event: &Event) {
        let old = match what {
            Retractable::Decision => self.decisions.remove(key).map(|old| old.value.into()),
            Retractable::Fact => self.facts.remove(key).map(|old| old.value),
            Retractable::Task => self.tasks.remove(key).map(|old| old.directive.into()),
        };
        if let Some(old) = old {
            self.deprecate(what.as_str(), key, old, Value::Null, event);
        }
    }

    fn deprecate(&mut self, kind: &str, key: &str, old: Value, new: Value, event: &Event) {
        self.deprecated.push_back(Deprecated {
            kind: kind.to_owned(),
            key: key.to_owned(),
            value: old,
            replaced_by: new,
            deprecated_by: event.into(),
            agent: event.agent.as_str().to_owned(),
        });
        if self.deprecated.len() > DEPRECATED_MAX {
            self.deprecated.pop_front();
        }
    }

    /// The state as JSON, without local numbers: what the digest and snapshots are made of.
    #[must_use]
    pub fn canonical(&self) -> Value {
        self.to_value(Ids::Left)
    }

    /// The state as JSON with the local number of each event beside its hash.
    #[must_use]
    pub fn report(&self) -> Value {
        self.to_value(Ids::Given)
    }

    /// SHA-256 of the canonical form: equal on every machine that holds the same events.
    #[must_use]
    pub fn digest(&self) -> Hash {
        Hash(Sha256::digest(self.canonical().canonical()).into())
    }

    fn to_value(&self, ids: Ids) -> Value {
        fn section<T>(records: &BTreeMap<String, T>, value: impl Fn(&T) -> Value) -> Value {
            Value::Object(
                records.iter().map(|(key, record)| (key.clone(), value(record))).collect(),
            )
        }
        let source = |object: &mut Object, prefix: &str, source: Option<&Source>| {
            let member = |name: &str| [prefix, "_", name].concat();
            object.insert(member("hash"), source.map(|source| source.hash.to_string()));
            object.insert(member("sequence"), source.map(|source| source.sequence));
            if ids == Ids::Given {
                object.insert(member("id"), source.map(|source| source.id.0));
            }
        };
        let record = |members: Vec<(&str, Value)>, sources: &[(&str, Option<&Source>)]| {
            let mut object: Object =
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            for (prefix, from) in sources {
                source(&mut object, prefix, *from);
            }
            Value::Object(object)
        };
        let text = |text: &String| Value::from(text.as_str());
        let texts = |texts: &[String]| Value::Array(texts.iter().map(text).collect());
        let sections = [
            (
                "tasks",
                section(&self.tasks, |task| {
                    record(
                        vec![
                            ("agent_id", text(&task.agent)),
                            ("directive", text(&task.directive)),
                            ("constraints", texts(&task.constraints)),
                        ],
                        &[("event", Some(&task.event))],
                    )
                }),
            ),
            (
                "decisions",
                section(&self.decisions, |decision| {
                    record(
                        vec![
                            ("key", text(&decision.key)),
                            ("value", text(&decision.value)),
                            ("rationale", text(&decision.rationale)),
                            ("agent_id", text(&decision.agent)),
                        ],
                        &[
                            ("event", Some(&decision.event)),
                            ("supersedes_event", decision.supersedes.as_ref()),
                        ],
                    )
                }),
            ),
            (
                "active_workspace_facts",
                section(&self.facts, |fact| {
                    record(
                        vec![("value", fact.value.clone()), ("agent_id", text(&fact.agent))],
                        &[("event", Some(&fact.event))],
                    )
                }),
            ),
            (
                "execution_blockers",
                section(&self.blockers, |blocker| {
                    record(
                        vec![
                            ("key", text(&blocker.key)),
                            ("description", text(&blocker.description)),
                            ("exit_code", Value::Int(blocker.exit_code.clone())),
                            ("agent_id", text(&blocker.agent)),
                            ("occurrences", blocker.occurrences.into()),
                        ],
                        &[
                            ("first_seen_event", Some(&blocker.first_seen)),
                            ("last_seen_event", Some(&blocker.last_seen)),
                        ],
                    )
                }),
            ),
            (
                "active_claims",
                section(&self.claims, |claim| {
                    record(
                        vec![
                            ("resource", text(&claim.resource)),
                            ("agent_id", text(&claim.agent)),
                            ("fencing_token", Value::Int(claim.token.clone())),
                        ],
                        &[("event", Some(&claim.event))],
                    )
                }),
            ),
            (
                "execution_digest",
                section(&self.digest, |run| {
                    record(
                        vec![
                            ("command", text(&run.command)),
                            ("runs", run.runs.into()),
                            ("failed_runs", run.failed_runs.into()),
                            ("last_exit_code", Value::Int(run.last_exit_code.clone())),
                            ("last_agent_id", text(&run.last_agent)),
                        ],
                        &[("last_event", Some(&run.last))],
                    )
                }),
            ),
            (
                "deprecated_assumptions",
                Value::Array(
                    self.deprecated
                        .iter()
                        .map(|old| {
                            record(
                                vec![
                                    ("kind", text(&old.kind)),
                                    ("key", text(&old.key)),
                                    ("value", old.value.clone()),
                                    ("replaced_by", old.replaced_by.clone()),
                                    ("agent_id", text(&old.agent)),
                                ],
                                &[("deprecated_by_event", Some(&old.deprecated_by))],
                            )
                        })
                        .collect(),
                ),
            ),
            ("insights", texts(&self.insights)),
        ];
        Value::Object(sections.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Ids {
    Given,
    Left,
}

/// Removes the record whose event is oldest while there are more than `most`.
fn evict<T>(records: &mut BTreeMap<String, T>, most: usize, age: impl Fn(&T) -> u64) {
    while records.len() > most {
        let oldest = records.iter().min_by_key(|(_, record)| age(record));
        let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
        records.remove(&key);
    }
}
