//! What of the recorded cases waits for a part of `mk` that is still to come: all of it, by name, with
//! the part that it waits for.

use super::scenario::{Operation, Scenario};

const EXCHANGE: &str = "the signed exchange of notices";

/// What is posted where notices are exchanged, and by whom, is ruled by the policy of the exchange.
const NOTICES: &str = "notices beside a signed exchange";

/// Operations of scenarios. They append no event, so what follows them is replayed.
pub const OPERATIONS: &[(&str, &str)] = &[
    (NOTICES, EXCHANGE),
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
pub fn name(scenario: &Scenario, operation: &Operation) -> Option<&'static str> {
    let is_exchange = |operation: &Operation| operation.name().starts_with("sync_");
    if operation.name().starts_with("notice_") && scenario.operations.iter().any(is_exchange) {
        return Some(NOTICES);
    }
    let named = OPERATIONS.iter().find(|(name, _)| *name == operation.name());
    named.map(|(name, _)| *name)
}
