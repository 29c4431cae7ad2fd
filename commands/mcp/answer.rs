//! What the call of a tool is answered with.
//!
//! Rule: docs/spec/mcp.md, sections 5 and 6.

use mk::code::Code;

use super::body::Body;
use crate::cli::{Failure, line};

/// The result of a call that was answered: `report` is the JSON text of an object.
pub fn success(report: &str) -> Body {
    response(report, false)
}

/// The result of a call that a protocol of its own answered, which says itself whether it `is_refusal`.
pub fn response(response: &str, is_refusal: bool) -> Body {
    Body::new()
        .with_json("content", &blocks(&[response]))
        .with_json("structuredContent", response)
        .with("isError", &is_refusal)
}

/// The result of a call that was refused or failed.
///
/// It has no `structuredContent`: some clients would hold that against the schema of a success, and
/// throw the error away.
pub fn failure(failure: &Failure) -> Body {
    let hint = failure.next_step().map(|hint| line(&in_tools(hint)));
    let mut text = format!("{}: {}\n", failure.code.name, line(failure.message()));
    if let Some(hint) = &hint {
        text.push_str(&format!("hint: {hint}\n"));
    }
    text.push_str(match failure.code.retryable {
        true => "retryable: yes",
        false => "retryable: no",
    });
    if let Some(after) = failure.retry_after_ms() {
        text.push_str(&format!(", after {} s", after.div_ceil(1_000)));
    }
    Body::new()
        .with_json("content", &blocks(&[&text, &failure.json(hint.as_deref())]))
        .with("isError", &true)
}

fn blocks(texts: &[&str]) -> String {
    let mut json = String::from("[");
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        json.push_str(r#"{"type":"text","text":"#);
        mk::canon::write_string(&mut json, text);
        json.push('}');
    }
    json.push(']');
    json
}

/// How the commands that hints name are called here. Longer names come first.
const COMMANDS: &[(&str, &str)] = &[
    ("`mk lease acquire --wait`", "mk_lease_acquire with wait_s"),
    ("`mk lease acquire`", "mk_lease_acquire"),
    ("`mk fork --at`", "mk_fork with at"),
    ("`mk log`", "mk_log"),
    ("`mk show`", "mk_show"),
    ("`mk switch`", "mk_switch"),
    ("`mk verify`", "mk_verify"),
    ("`mk fold`", "mk_context"),
    ("`mk retract`", "a new mk_decide or mk_fact"),
    ("`mk rollback`", "mk_rollback"),
    ("--include-others", "include_others"),
    ("--from", "from"),
    ("--ours KEY, --theirs KEY or --set KEY=VALUE", "ours, theirs or set"),
    ("--dry-run", "dry_run"),
    ("`mk branch`", "the resource mk://branches"),
    ("`mk fork`", "mk_fork"),
];

fn in_tools(hint: &str) -> String {
    let replaced =
        COMMANDS.iter().fold(hint.to_owned(), |hint, (command, tool)| hint.replace(command, tool));
    replaced.replace(", or wait for it with", ", or call").replace("wait in turn with", "call")
}

/// That the call would write where nothing may be written.
pub fn read_only() -> Failure {
    Failure::new(Code::READ_ONLY, "this server was started with --read-only")
}
