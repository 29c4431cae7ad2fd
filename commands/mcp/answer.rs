//! What the call of a tool is answered with.
//!
//! Rule: docs/spec/mcp.md, sections 5 and 6.

use mk::code::Code;

use super::Compat;
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

/// The result of a call that was answered with a value: `value` is its JSON text, `beside` that of the
/// object with what the server adds.
pub fn value(value: &str, beside: &str) -> Body {
    let text = serde_json::from_str::<String>(value);
    let text = text.as_deref().unwrap_or(value);
    let mut structured = format!("{{\"result\":{value}");
    if beside != "{}" {
        structured.push(',');
        structured.push_str(&beside[1..beside.len() - 1]);
    }
    structured.push('}');
    plain(&[text], beside, &structured)
}

/// The result of a call that was answered with a document to hand on, to which nothing is added.
pub fn document(document: &str, beside: &str) -> Body {
    plain(&[document], beside, document)
}

/// The result of a call that was answered with a report as text.
pub fn quoted(report: &str) -> Body {
    plain(&[report], "{}", &Body::new().with("result", &report).json())
}

/// What is beside the text is a block of its own, for who reads no structured content.
fn plain(texts: &[&str], beside: &str, structured: &str) -> Body {
    let mut texts = texts.to_vec();
    if beside != "{}" {
        texts.push(beside);
    }
    Body::new()
        .with_json("content", &blocks(&texts))
        .with_json("structuredContent", structured)
        .with("isError", &false)
}

/// That a document would be larger than an answer may be, and cannot be cut.
pub fn too_large(tokens: u64, most: u64) -> Failure {
    let message = format!("the document has {tokens} tokens, and an answer has at most {most}");
    Failure::new(Code::TOO_LARGE, message).hint("name some in notice_ids")
}

/// The result of a call that was refused or failed.
///
/// It has no `structuredContent`: some clients would hold that against the schema of a success, and
/// throw the error away.
pub fn failure(failure: &Failure, compat: Option<Compat>) -> Body {
    let hint = failure.next_step().map(|hint| line(&in_tools(hint, compat)));
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

/// What no tool does: to an agent, its own other sessions are others.
const TAKEOVER: &str = "take it over with --takeover";

/// How the commands that hints name are called here. Longer names come first.
const COMMANDS: &[(&str, &str)] = &[
    (TAKEOVER, "it lapses by itself: call mk_lease_acquire with wait_s"),
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

/// The same on a server of MemKernel's tools, as far as they differ.
const MEMKERNEL: &[(&str, &str)] = &[
    (TAKEOVER, "it lapses by itself: try again"),
    (", or wait for it with `mk lease acquire --wait`", ""),
    ("`mk lease acquire`", "memkernel_acquire_lease"),
    ("`mk log`", "memkernel_history"),
    ("`mk show`", "memkernel_history"),
    ("`mk switch`", "memkernel_checkout"),
    ("`mk fold`", "memkernel_query_state"),
    ("`mk retract`", "a new memkernel_append_decision"),
    ("`mk rollback`", "memkernel_rollback"),
    ("`mk branch`", "memkernel_list_branches"),
    ("`mk fork`", "memkernel_fork_investigation"),
];

fn in_tools(hint: &str, compat: Option<Compat>) -> String {
    let commands = match compat {
        Some(Compat::Memkernel) => MEMKERNEL,
        Some(Compat::Memkraft) | None => COMMANDS,
    };
    let replaced =
        commands.iter().fold(hint.to_owned(), |hint, (command, tool)| hint.replace(command, tool));
    replaced.replace(", or wait for it with", ", or call").replace("wait in turn with", "call")
}

/// That the call would write where nothing may be written.
pub fn read_only() -> Failure {
    Failure::new(Code::READ_ONLY, "this server was started with --read-only")
}
