//! How things stand, and how they came to.

use super::{BRANCH, MAX_TOKENS};
use crate::mcp::tool::{Effect, Output, Param, Set, Tool, at_once};
use crate::{blame, branch, stats, status};

const LIMIT: Param = Param::int("limit", (1, 100), "most of each kind; default 10");

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_status",
        title: "See who is here",
        about: "See how things stand: agents, leases, blockers, decisions, notices, and the size of \
                the context.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::Reads,
        params: &[LIMIT, BRANCH, MAX_TOKENS],
        output: Output::Report(&[
            ("branch_id", "string"),
            ("agents", "object"),
            ("leases", "object"),
        ]),
        run: |given, ctx| {
            let limit = given.number("limit").unwrap_or(10);
            status::run(&status::Status { branch_name: None, limit, exit_code: false }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_branch",
        title: "List branches",
        about: "List the branches, with where each left its parent, its head and its tokens.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::Reads,
        params: &[
            Param::text("prefix", "only names that begin so"),
            Param::text("after", "start after this one"),
            Param::int("limit", (1, 1_000), "default 100"),
            MAX_TOKENS,
        ],
        output: Output::Report(&[("branches", "array")]),
        run: |given, ctx| {
            let args = branch::BranchArgs {
                prefix: given.text("prefix").unwrap_or_default().to_owned(),
                all: false,
                after: given.parsed("after")?,
                limit: given.number("limit").unwrap_or(100),
            };
            branch::run(&args, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_blame",
        title: "See who decided",
        about: "See who decided a key or found it out, when and why, and what that took the place \
                of, newest first.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::Reads,
        params: &[
            Param::text("key", "of a decision or fact").required(),
            Param::text("at", "start at this event"),
            LIMIT,
            BRANCH,
            MAX_TOKENS,
        ],
        output: Output::Report(&[("branch_id", "string"), ("key", "string"), ("values", "array")]),
        run: |given, ctx| {
            let args = blame::Blame {
                key: given.needed("key"),
                fact: false,
                at: given.parsed("at")?,
                limit: given.number("limit").unwrap_or(10),
            };
            blame::run(&args, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_stats",
        title: "See sizes",
        about: "See how large the project is, what compaction gains, and who writes most.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::Reads,
        params: &[LIMIT, MAX_TOKENS],
        output: Output::Report(&[("database_bytes", "integer")]),
        run: |given, ctx| {
            let limit = given.number("limit").unwrap_or(10);
            stats::run(&stats::Stats { plot: false, last: 1_000, limit }, ctx)
        },
        wait: at_once,
    },
];
