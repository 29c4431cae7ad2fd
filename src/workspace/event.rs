//! What agents write: the payloads of tasks, decisions, tool logs and notes.
//!
//! Rule: docs/spec/kernel.md, section 3, "Convenience writes".

use super::output::Output;
use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use crate::text;

/// A text that must say something is blank.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {0} is blank")]
pub struct BlankError(pub &'static str);

impl Coded for BlankError {
    fn code(&self) -> Code {
        Code::INVALID_ARGUMENT
    }
}

/// A task; the directive is kept untrimmed.
///
/// # Errors
/// If the directive is blank.
pub fn task(directive: &str, constraints: &[String]) -> Result<Object, BlankError> {
    if text::trim(directive).is_empty() {
        return Err(BlankError("directive"));
    }
    let constraints = constraints.iter().map(|text| text.as_str().into()).collect();
    Ok([("directive", directive.into()), ("constraints", Value::Array(constraints))]
        .into_iter()
        .collect())
}

/// A decision; the key is trimmed.
///
/// # Errors
/// If the key is blank.
pub fn decision(key: &str, value: &str, rationale: &str) -> Result<Object, BlankError> {
    let key = text::trim(key);
    if key.is_empty() {
        return Err(BlankError("key"));
    }
    let members = [("decision_key", key), ("decision_value", value), ("rationale", rationale)];
    Ok(members.into_iter().collect())
}

/// A command that ran, as it was typed, and the facts learnt from it, if any.
#[must_use]
pub fn tool_log(command: &str, exit_code: i64, output: &str, facts: Object) -> Object {
    let mut payload = Object::new();
    payload.insert("command", command);
    payload.insert("exit_code", exit_code);
    payload.insert("output", output);
    if !facts.is_empty() {
        payload.insert("facts", facts);
    }
    payload
}

/// A command that ran, and what became of it.
#[derive(Debug, Clone)]
pub struct Run {
    /// As it would be typed.
    pub command: String,
    /// As a shell gives it: 128 and more if a signal ended it.
    pub exit_code: i64,
    pub output: Output,
    pub facts: Object,
    pub duration_ms: Option<u64>,
}

/// A run: a tool log with `duration_ms` if that is known, and with `output_bytes`, how many bytes were
/// printed, if some were left out.
#[must_use]
pub fn run(run: &Run) -> Object {
    let text = &run.output.text;
    let mut payload = tool_log(&run.command, run.exit_code, text, run.facts.clone());
    if let Some(duration) = run.duration_ms {
        payload.insert("duration_ms", duration);
    }
    if run.output.left_out > 0 {
        payload.insert("output_bytes", run.output.bytes);
    }
    payload
}

/// A passing thought.
#[must_use]
pub fn note(text: &str) -> Object {
    [("note", text)].into_iter().collect()
}
