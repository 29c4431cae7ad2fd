//! The text of an event, as a search sees it.

use unicode_normalization::UnicodeNormalization;

use crate::canon::{Object, Value};
use crate::event::{Event, EventType, Payload};

/// What `event` says, in lines; none if that was erased, or is said by other events already.
///
/// The index is made of it: a change of what is in it is a new version of the index.
#[must_use]
pub fn text(event: &Event) -> Option<String> {
    if event.kind == EventType::Snapshot {
        return None;
    }
    let mut rest = event.members()?;
    let mut lines = Vec::new();
    match Payload::read(event.kind, &rest) {
        Payload::Task { directive, constraints } => {
            lines.push(directive);
            lines.extend(constraints);
            leave_out(&mut rest, &["directive", "constraints"]);
        }
        Payload::Decision { key, value, rationale } => {
            lines.push(format!("{key} = {value}"));
            lines.push(rationale);
            leave_out(&mut rest, &["decision_key", "decision_value", "rationale"]);
        }
        Payload::ToolLog { command, facts, output, .. } => {
            if !command.is_empty() {
                lines.push(format!("$ {command}"));
            }
            lines.extend(facts.iter().map(|(key, value)| format!("{key} = {}", value.text())));
            lines.push(output);
            leave_out(&mut rest, &["command", "exit_code", "output", "facts", "duration_ms"]);
        }
        Payload::Note { note } => {
            lines.push(note);
            leave_out(&mut rest, &["note"]);
        }
        _ => {}
    }
    for (_, value) in rest.iter() {
        leaves(value, &mut lines);
    }
    lines.retain(|line| !line.is_empty());
    Some(lines.join("\n"))
}

fn leave_out(members: &mut Object, names: &[&str]) {
    for name in names {
        members.remove(name);
    }
}

/// All texts and numbers in `value`.
fn leaves(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, lines)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            lines.push(name.to_owned());
            leaves(value, lines);
        }),
        Value::Null | Value::Bool(_) => {}
        value => lines.push(value.text().into_owned()),
    }
}

/// `text` without what a search makes no difference of: letter case, and the ways to compose a
/// character.
#[must_use]
pub fn fold(text: &str) -> String {
    let lower = text.nfc().flat_map(char::to_lowercase);
    // NUL would end a text in the index.
    lower.nfc().map(|c| if c == '\0' { '\u{fffd}' } else { c }).collect()
}
