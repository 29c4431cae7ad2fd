//! What of the recorded cases waits for a part of `mk` that is still to come: all of it, by name, with
//! the part that it waits for.

use mk::canon::{Object, Value};

use super::scenario::Operation;

const NOTICES: &str = "notices";
const EXCHANGE: &str = "the signed exchange of notices";

/// Operations of scenarios. They append no event, so what follows them is replayed.
pub const OPERATIONS: &[(&str, &str)] = &[
    ("notice_clear", NOTICES),
    ("notice_export", NOTICES),
    ("notice_import", NOTICES),
    ("notice_list", NOTICES),
    ("notice_page", NOTICES),
    ("notice_post", NOTICES),
    ("sync_audit", EXCHANGE),
    ("sync_enable", EXCHANGE),
    ("sync_put", EXCHANGE),
    ("sync_read", EXCHANGE),
    ("sync_remove", EXCHANGE),
    ("sync_run", EXCHANGE),
    ("sync_status", EXCHANGE),
];

/// Files that are no scenarios.
pub const FILES: &[(&str, &str)] = &[
    ("mcp/conversation.jsonl", "mk mcp"),
    ("mcp/tools.json", "mk mcp"),
    ("unit/attach.jsonl", "mk attach"),
    ("unit/sync_config.jsonl", EXCHANGE),
];

/// The name under which `operation` waits, if it does.
pub fn name(operation: &Operation) -> Option<&'static str> {
    let named = OPERATIONS.iter().find(|(name, _)| *name == operation.name());
    // Refused for its budget of notices, and for nothing else.
    let is_page = operation.integer("notice_token_budget").is_some_and(|budget| budget < 128);
    named.map(|(name, _)| *name).or_else(|| is_page.then_some("notice_page"))
}

/// What the peer would have answered to `operation` if there were no notices.
///
/// Rule: docs/spec/kernel.md, section 14, "Paging for context", and section 16.
pub fn without_notices(operation: &Operation) -> Value {
    let Value::Object(mut answer) = operation.expected().clone() else {
        panic!("an answer is an object")
    };
    match operation.name() {
        "query" if answer.contains_key("notice_page") => {
            let number = |name: &str| answer.get(name).and_then(Value::as_i64).unwrap();
            // The block of notices begins with an empty line, and tokens add up over lines.
            let own = number("context_tokens") - number("coordination_notice_tokens");
            answer.insert("context_tokens", own);
            answer.insert("coordination_notice_tokens", 0_u64);
            answer.insert("coordination_notices", Value::Array(Vec::new()));
            answer.remove("notice_page");
        }
        "context" => {
            let Some((text, block)) = answer.get("text").and_then(|text| {
                let (own, _) = text.as_str()?.split_once("\n\nCOORDINATION NOTICES")?;
                Some((own.to_owned(), text.as_str()?[own.len()..].to_owned()))
            }) else {
                return answer.into();
            };
            let all = answer.get("tokens").and_then(Value::as_i64).unwrap();
            let of_block = mk::tokens::Tokenizer::Heuristic.count(&block);
            answer.insert("tokens", all - i64::try_from(of_block).unwrap());
            answer.insert("text", text);
        }
        _ => {}
    }
    Object::into(answer)
}
