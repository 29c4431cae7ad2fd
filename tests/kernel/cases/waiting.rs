//! What of the recorded cases waits for a part of `mk` that is still to come: all of it, by name, with
//! the part that it waits for. No scenario does.

/// Files that are no scenarios.
pub const FILES: &[(&str, &str)] = &[
    ("mcp/conversation.jsonl", "mk mcp"),
    ("mcp/tools.json", "mk mcp"),
    ("unit/attach.jsonl", "mk attach"),
];
