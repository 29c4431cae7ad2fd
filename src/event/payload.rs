//! What payloads mean.

use std::str::FromStr;

use super::{EventType, blocker};
use crate::canon::{Int, Object, Value};

/// The members of a payload that a state is made of; unknown members are kept in the event and
/// passed over here.
///
/// Rule: docs/spec/kernel.md, sections 3 and 8.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    Task {
        directive: String,
        constraints: Vec<String>,
    },
    Decision {
        key: String,
        value: String,
        rationale: String,
    },
    ToolLog {
        command: String,
        exit_code: Int,
        output: String,
        /// The line that tells why the command failed, if it did.
        failure: Option<String>,
        facts: Object,
    },
    Note {
        note: String,
    },
    ClaimAcquired {
        resource: String,
        token: Option<Int>,
    },
    ClaimReleased {
        resource: String,
        token: Option<Int>,
    },
    Snapshot {
        insights: Vec<String>,
    },
    Forked {
        reason: String,
    },
    RolledBack {
        target_sequence: u64,
        reason: String,
    },
    Merged,
    Retracted {
        what: Retractable,
        key: String,
    },
    Erased,
    Imported,
    ImportFinished,
    ExecRecord,
}

/// What can be retracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retractable {
    Decision,
    Fact,
    Task,
}

impl Retractable {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Fact => "fact",
            Self::Task => "task",
        }
    }
}

impl FromStr for Retractable {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Decision, Self::Fact, Self::Task]
            .into_iter()
            .find(|what| what.as_str() == name)
            .ok_or(())
    }
}

impl Payload {
    /// Reads `payload` as one of `kind`. Total: what is missing or odd takes the defaults of
    /// docs/spec/kernel.md, section 8.
    #[must_use]
    pub fn read(kind: EventType, payload: &Object) -> Self {
        let text =
            |name: &str| payload.get(name).map_or(String::new(), |value| value.text().into());
        match kind {
            EventType::Task => {
                let constraints = match payload.get("constraints") {
                    None => Vec::new(),
                    Some(value) if value.is_falsy() => Vec::new(),
                    Some(Value::Array(items)) => {
                        items.iter().map(|item| item.text().into()).collect()
                    }
                    Some(value) => vec![value.text().into()],
                };
                Self::Task { directive: text("directive"), constraints }
            }
            EventType::Decision => Self::Decision {
                key: text("decision_key"),
                value: text("decision_value"),
                rationale: text("rationale"),
            },
            EventType::ToolLog => {
                let exit_code = match payload.get("exit_code") {
                    Some(Value::Int(code)) => code.clone(),
                    _ => Int::from(0_i64),
                };
                let output = text("output");
                let failed = exit_code != Int::from(0_i64);
                let failure = failed.then(|| blocker::describe(&output, &exit_code.to_string()));
                let facts = payload.get("facts").and_then(Value::as_object).cloned();
                let facts = facts.unwrap_or_default();
                Self::ToolLog { command: text("command"), exit_code, output, failure, facts }
            }
            EventType::Note => Self::Note { note: text("note") },
            EventType::ClaimAcquired => {
                Self::ClaimAcquired { resource: text("resource"), token: token(payload) }
            }
            EventType::ClaimReleased => {
                Self::ClaimReleased { resource: text("resource"), token: token(payload) }
            }
            EventType::Snapshot => Self::Snapshot {
                insights: payload
                    .get("insights")
                    .and_then(Value::as_array)
                    .map(|items| items.iter().map(|item| item.text().into()).collect())
                    .unwrap_or_default(),
            },
            EventType::Forked => Self::Forked { reason: text("reason") },
            EventType::RolledBack => Self::RolledBack {
                target_sequence: payload
                    .get("target_sequence")
                    .and_then(Value::as_i64)
                    .and_then(|sequence| u64::try_from(sequence).ok())
                    .unwrap_or_default(),
                reason: text("reason"),
            },
            EventType::Merged => Self::Merged,
            EventType::Retracted => match text("kind").parse() {
                Ok(what) => Self::Retracted { what, key: text("key") },
                // Only `mk retract` writes these, with a kind it checked.
                Err(()) => Self::Retracted { what: Retractable::Task, key: String::new() },
            },
            EventType::Erased => Self::Erased,
            EventType::Imported => Self::Imported,
            EventType::ImportFinished => Self::ImportFinished,
            EventType::ExecRecord => Self::ExecRecord,
        }
    }
}

fn token(payload: &Object) -> Option<Int> {
    match payload.get("fencing_token") {
        Some(Value::Int(token)) => Some(token.clone()),
        _ => None,
    }
}
