//! Events and state as text for an agent to read.
//!
//! Rule: docs/spec/kernel.md, section 10.

use std::borrow::Cow;

use super::fold::State;
use crate::canon::{Object, Value};
use crate::event::{Event, EventType};
use crate::text;
use crate::tokens::Tokenizer;

/// Characters of tool output that a block keeps, from its end.
const OUTPUT_MAX: usize = 4_000;

/// What stands in the place of what an event said, once that is erased.
pub const ERASED: &str = "[erased]";

/// The block of an event that is no snapshot. `payload` is its payload as reports show it, with
/// local ids; `None` if it was erased.
#[must_use]
pub fn block(event: &Event, payload: Option<&Object>) -> String {
    let mut out = header(event);
    match payload {
        Some(payload) => out.push_str(&body(event.kind, payload)),
        None => out.push_str(ERASED),
    }
    out
}

/// As [`block`], but without the line of a command where there was none: only facts were recorded.
#[must_use]
pub fn short_block(event: &Event, payload: Option<&Object>) -> String {
    match payload.filter(|payload| event.kind == EventType::ToolLog && is_facts_alone(payload)) {
        Some(payload) => header(event) + &facts(payload),
        None => block(event, payload),
    }
}

/// Tokens of the block of an event that is no snapshot: of its header, and of what it says.
#[must_use]
pub fn block_tokens(tokenizer: Tokenizer, event: &Event, payload: &Object) -> u64 {
    tokenizer.count(&header(event)) + tokenizer.count(&body(event.kind, payload))
}

/// Tokens of the block of an event whose content was erased; none for a snapshot, which has no block
/// of its own then.
#[must_use]
pub fn erased_tokens(tokenizer: Tokenizer, event: &Event) -> u64 {
    match event.kind {
        EventType::Snapshot => 0,
        _ => tokenizer.count(&header(event)) + tokenizer.count(ERASED),
    }
}

/// What a block says after its header.
#[must_use]
pub fn body(kind: EventType, payload: &Object) -> Cow<'_, str> {
    let member = |name| payload.get(name).map_or(Cow::Borrowed(""), Value::text);
    match kind {
        EventType::ToolLog => tool_log(payload, &member("command"), &member("output")).into(),
        EventType::Decision => {
            let [key, value] = [member("decision_key"), member("decision_value")];
            [&key, " = ", &value, " | rationale: ", &member("rationale")].concat().into()
        }
        EventType::Note => member("note"),
        // No context is made of the execution log.
        EventType::ExecRecord => Cow::Borrowed(""),
        _ => payload.canonical().into(),
    }
}

/// The block of a snapshot of `state`, which is that after the live event `covers`.
#[must_use]
pub fn snapshot_block(event: &Event, covers: i64, state: &State) -> String {
    let covers = covers.to_string();
    format!("{}{}\n{}", header(event), covering(&covers), section_lines(state))
}

/// What the first line of the block of a snapshot says after its header.
#[must_use]
pub fn covering(covers: &str) -> String {
    format!("covers events through #{covers}")
}

/// All records of `state`, a line each, as the block of a snapshot of it has them.
#[must_use]
pub fn section_lines(state: &State) -> String {
    let lines: Vec<String> = sections(state).into_iter().map(|line| line.text).collect();
    lines.join("\n")
}

/// What a block starts with.
#[must_use]
pub fn header(event: &Event) -> String {
    // Once for each event of a batch, so without the machinery of `format!`.
    let mut out = String::with_capacity(96);
    out.push_str("[#");
    out.push_str(&event.id.0.to_string());
    out.push_str(" seq=");
    out.push_str(&event.sequence.to_string());
    out.push(' ');
    out.push_str(event.agent.as_str());
    out.push(' ');
    out.push_str(event.kind.as_str());
    out.push_str("] ");
    out
}

fn tool_log(payload: &Object, command: &str, output: &str) -> String {
    let exit_code = payload.get("exit_code").map_or("0".into(), Value::text);
    let mut out = ["$ ", command, " (exit ", &exit_code, ")\n"].concat();
    let kept = text::tail_chars(output, OUTPUT_MAX);
    if kept.len() < output.len() {
        out.push_str("...[truncated]\n");
    }
    out.push_str(kept);
    if has_facts(payload) {
        out.push('\n');
        out.push_str(&facts(payload));
    }
    out
}

fn facts(payload: &Object) -> String {
    format!("facts: {}", payload.get("facts").map_or(String::new(), Value::canonical))
}

fn has_facts(payload: &Object) -> bool {
    payload.get("facts").is_some_and(|facts| !facts.is_falsy())
}

fn is_facts_alone(payload: &Object) -> bool {
    let is_blank = |name: &str| payload.get(name).is_none_or(|value| value.text().is_empty());
    has_facts(payload) && is_blank("command") && is_blank("output")
}

/// The parts of a state, and what a context tells beside it, in the order they are printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    Task,
    Decision,
    Fact,
    Deprecated,
    Blocker,
    Claim,
    Run,
    Insight,
    Notice,
}

/// A record of a state as a line.
#[derive(Debug, Clone)]
pub struct Line {
    pub section: Section,
    /// The sequence of its event, and its place among those of one event: what is newer is larger.
    pub age: (u64, usize),
    pub text: String,
}

/// All records of `state`, a line each.
#[must_use]
pub fn sections(state: &State) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |section, sequence, text| {
        let place = lines.len();
        lines.push(Line { section, age: (sequence, place), text });
    };
    for (agent, task) in &state.tasks {
        let mut text = format!("TASK {agent}: {}", task.directive);
        if !task.constraints.is_empty() {
            text.push_str(&format!(" | constraints: {}", task.constraints.join("; ")));
        }
        add(Section::Task, task.event.sequence, text);
    }
    for (key, it) in &state.decisions {
        let text = format!(
            "DECISION {key} = {} | {} ({} #{})",
            it.value, it.rationale, it.agent, it.event.id
        );
        add(Section::Decision, it.event.sequence, text);
    }
    for (key, it) in &state.facts {
        let text = format!("FACT {key} = {} ({} #{})", plain(&it.value), it.agent, it.event.id);
        add(Section::Fact, it.event.sequence, text);
    }
    for it in &state.deprecated {
        let text = format!(
            "DEPRECATED {} {}: {} -> {} (#{})",
            it.kind,
            it.key,
            plain(&it.value),
            plain(&it.replaced_by),
            it.deprecated_by.id
        );
        add(Section::Deprecated, it.deprecated_by.sequence, text);
    }
    for (key, it) in &state.blockers {
        let text = format!(
            "BLOCKER {key}: {} (exit {}, x{}, {} #{})",
            it.description, it.exit_code, it.occurrences, it.agent, it.last_seen.id
        );
        add(Section::Blocker, it.last_seen.sequence, text);
    }
    for (resource, it) in &state.claims {
        let text = format!("CLAIM {resource} by {} token {}", it.agent, it.token);
        add(Section::Claim, it.event.sequence, text);
    }
    for (command, it) in &state.digest {
        let text = format!(
            "RAN {command} last exit {} ({} runs, {} failed)",
            it.last_exit_code, it.runs, it.failed_runs
        );
        add(Section::Run, it.last.sequence, text);
    }
    for insight in &state.insights {
        add(Section::Insight, 0, format!("INSIGHT {insight}"));
    }
    lines
}

/// A string as it is, anything else as canonical JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.canonical(), str::to_owned)
}
