//! What agents understand as an answer of a hook.
//!
//! Rule: docs/spec/attach.md, section 6.2.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::Dialect;
use crate::lease::Held;

/// What is done about an edit of a file that another holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Enforce {
    #[default]
    Deny,
    Ask,
    Warn,
    Off,
}

impl Enforce {
    /// As `hook.enforce` says it.
    #[must_use]
    pub fn of(setting: Option<&str>) -> Self {
        match setting {
            Some("ask") => Self::Ask,
            Some("warn") => Self::Warn,
            Some("off") => Self::Off,
            _ => Self::Deny,
        }
    }
}

/// Text that the model gets to read after `event`.
#[must_use]
pub fn context(event: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
}

/// That an edit is not to be made, or not without asking where the agent can ask, and why.
#[must_use]
pub fn refusal(dialect: Dialect, enforce: Enforce, event: &str, why: &str) -> Option<Value> {
    let decided = |decision: &str| {
        json!({
            "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": decision,
                "permissionDecisionReason": why,
            }
        })
    };
    Some(match (enforce, dialect) {
        (Enforce::Off, _) => return None,
        (Enforce::Warn, _) => context(event, why),
        (Enforce::Deny | Enforce::Ask, Dialect::Gemini | Dialect::OpenCode) => {
            json!({ "decision": "deny", "reason": why })
        }
        (Enforce::Ask, Dialect::Claude) => decided("ask"),
        // Codex takes "ask" for a hook that failed, and makes the edit.
        (Enforce::Ask, Dialect::Codex) | (Enforce::Deny, _) => decided("deny"),
    })
}

/// Why a file cannot be edited now.
///
/// Rule: docs/spec/mcp.md, section 6.2.
#[must_use]
pub fn held(held: &Held) -> String {
    let seconds = whole_seconds(held.left);
    format!(
        "lease-held: {held}\n\
         hint: take other work, or call mk_lease_acquire with wait_s\n\
         retryable: yes, after {seconds} s"
    )
}

/// The last second begun counts whole.
fn whole_seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}
