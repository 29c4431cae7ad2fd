//! Fork, switch, undo, roll back.

use mk::id::BranchName;

use super::{BRANCH, OP_ID};
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};
use crate::{fork, merge, rollback, switch, undo};

const ROLLED_BACK: &[(&str, &str)] = &[("branch_id", "string"), ("reverted_count", "integer")];

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_fork",
        title: "Fork a branch",
        about: "Start a branch of the memory to try a risky idea unseen by others; \
                with switch you work on it at once.",
        words: "experiment, investigate",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[
            Param::text("name", "of the new branch").required(),
            Param::text("from", "default: current"),
            Param::text("at", "default: its newest"),
            Param::new("switch", Kind::Bool, "work on it"),
            OP_ID,
        ],
        output: Output::Report(&[("branch_id", "string"), ("parent_branch_id", "string")]),
        run: |given, ctx| {
            let args = fork::Fork {
                name: given.needed_as("name")?,
                from: given.parsed("from")?,
                at: given.parsed("at")?,
                why: String::new(),
                switch: given.flag("switch"),
                op_id: given.parsed("op_id")?,
            };
            fork::run(&args, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_switch",
        title: "Switch branch",
        about: "Change the branch that you read and write from now on.",
        words: "checkout",
        at_once: false,
        set: Set::Core,
        effect: Effect::SETTLES,
        params: &[Param::text("branch", "its name").required()],
        output: Output::Report(&[("agent_id", "string"), ("branch_id", "string")]),
        run: |given, ctx| {
            let name: BranchName = given.needed_as("branch")?;
            switch::run(&switch::Switch { name: Some(name), create: false, at: None }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_undo",
        title: "Undo entries",
        about: "Take back your own newest entries; files stay as they are. Refused once others \
                wrote after them.",
        words: "revert, rollback",
        at_once: false,
        set: Set::Core,
        effect: Effect::DESTROYS,
        params: &[Param::int("count", (1, i64::MAX), "how many; default 1"), BRANCH, OP_ID],
        output: Output::Report(ROLLED_BACK),
        run: |given, ctx| {
            let count = given.number("count").unwrap_or(1);
            undo::run(&undo::Undo { count, why: String::new(), op_id: given.parsed("op_id")? }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_merge",
        title: "Merge a branch",
        about: "Take over what another branch decided and found out into your current one. What both \
                changed is a conflict: nothing is written until each key is settled with ours, theirs \
                or set.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::WRITES,
        params: &[
            Param::text("branch", "the one to take over").required(),
            Param::new("ours", Kind::Texts, "keys that stay as they are here"),
            Param::new("theirs", Kind::Texts, "keys that become as they are there"),
            Param::new("set", Kind::Texts, "KEY=VALUE that settles it otherwise"),
            Param::new("dry_run", Kind::Bool, "only say what would be done"),
            OP_ID,
        ],
        output: Output::Report(&[
            ("branch_id", "string"),
            ("applied", "array"),
            ("conflicts", "array"),
        ]),
        run: |given, ctx| {
            let args = merge::MergeArgs {
                source: given.needed_as("branch")?,
                ours: given.texts("ours"),
                theirs: given.texts("theirs"),
                set: given.texts("set"),
                prefer: None,
                why: String::new(),
                dry_run: given.flag("dry_run"),
                op_id: given.parsed("op_id")?,
            };
            merge::run(&args, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_rollback",
        title: "Roll a branch back",
        about: "Take everything after an event off the live timeline. Nothing is deleted. Refused \
                if it would revert others' events, unless include_others.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::DESTROYS,
        params: &[
            Param::text("event", "the last one that stays").required(),
            Param::text("reason", "why"),
            Param::new("include_others", Kind::Bool, "revert others' too"),
            BRANCH,
            OP_ID,
        ],
        output: Output::Report(ROLLED_BACK),
        run: |given, ctx| {
            let args = rollback::Rollback {
                event: given.needed_as("event")?,
                why: given.text("reason").unwrap_or_default().to_owned(),
                include_others: given.flag("include_others"),
                op_id: given.parsed("op_id")?,
            };
            rollback::run(&args, ctx)
        },
        wait: at_once,
    },
];
