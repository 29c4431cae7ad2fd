//! What the memory says.

use super::{BRANCH, MAX_TOKENS, TOKENS};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Output, Param, Set, Tool, at_once};
use crate::{context, diff, search, show};

/// Tokens of a context's report beside its text, and what its line breaks cost in JSON at least.
const AROUND: u64 = 120;

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_context",
        title: "Read the memory",
        about: "Read what all agents on this repository know: tasks, decisions, facts, blockers, \
                newest events. Call it first, and to resume.",
        words: "remember, history, state, status",
        at_once: true,
        set: Set::Core,
        effect: Effect::Reads,
        params: &[
            Param::int("budget", (100, TOKENS.2), "most tokens of the text"),
            Param::text("resource", "only notices about KIND:NAME"),
            BRANCH,
            MAX_TOKENS,
        ],
        output: Output::Report(&[("branch_id", "string"), ("text", "string")]),
        run: |given, ctx| {
            let args = context::Context {
                branch_name: None,
                budget: Some(budget(given)),
                full: false,
                resource: given.parsed("resource")?,
                goal: None,
                exec_budget: 0,
            };
            context::run(&args, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_show",
        title: "Show an event",
        about: "Show one event with all that it says.",
        words: "detail, payload",
        at_once: false,
        set: Set::Core,
        effect: Effect::Reads,
        params: &[Param::text("event", "id, hash, or main~2").required(), BRANCH, MAX_TOKENS],
        output: Output::Report(&[("events", "array")]),
        run: |given, ctx| {
            show::run(&show::Show { revisions: vec![given.needed_as("event")?] }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_search",
        title: "Search the memory",
        about: "Find events that say all of the words, newest first.",
        words: "grep",
        at_once: false,
        set: Set::Core,
        effect: Effect::Reads,
        params: &[
            Param::text("query", "words").required(),
            Param::int("limit", (1, 1_000), "default 20"),
            BRANCH,
            MAX_TOKENS,
        ],
        output: Output::Report(&[("hits", "array"), ("more", "boolean")]),
        run: |given, ctx| {
            let args = search::Search {
                words: vec![given.needed("query")],
                all: false,
                lineage: false,
                by: None,
                kind: None,
                limit: given.number("limit").and_then(|it| u16::try_from(it).ok()).unwrap_or(20),
            };
            search::run(&args, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_diff",
        title: "Compare branches",
        about: "Compare two branches: events ahead, decisions and facts that differ.",
        words: "conflict",
        at_once: false,
        set: Set::Core,
        effect: Effect::Reads,
        params: &[
            Param::text("a", "branch or event").required(),
            Param::text("b", "default: current"),
            MAX_TOKENS,
        ],
        output: Output::Report(&[("branch_a", "string"), ("branch_b", "string")]),
        run: |given, ctx| {
            let (a, b) = (given.needed_as("a")?, given.parsed("b")?);
            diff::run(&diff::DiffArgs { a, b, exit_code: false }, ctx)
        },
        wait: at_once,
    },
];

/// Tokens that the text of a context may have, so that the whole answer keeps its bound.
fn budget(given: &Given) -> u64 {
    // In JSON each line break is a token more, and a line has eight at least.
    let text = given.max_tokens.saturating_sub(AROUND) / 8 * 7;
    given.number("budget").unwrap_or(TOKENS.1).min(text).max(100)
}
