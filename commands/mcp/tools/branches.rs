//! Fork, switch, undo, roll back.

use mk::id::BranchName;

use super::{BRANCH, OP_ID};
use crate::mcp::tool::{Effect, Kind, Param, Set, Tool, at_once};
use crate::{fork, rollback, switch, undo};

const ROLLED_BACK: &[(&str, &str)] = &[("branch_id", "string"), ("reverted_count", "integer")];

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_fork",
        title: "Fork a branch",
        about: "Start a branch of the memory to try a risky idea unseen by others. Copies nothing; \
                with switch you work on it from now on.",
        words: "branch, experiment, investigate",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[
            Param::text("name", "of the new branch").required(),
            Param::text("from", "branch; default: your current one"),
            Param::text("at", "event; default: its newest"),
            Param::new("switch", Kind::Bool, "work on it"),
            OP_ID,
        ],
        output: &[("branch_id", "string"), ("parent_branch_id", "string")],
        required: &["branch_id", "parent_branch_id"],
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
        output: &[("agent_id", "string"), ("branch_id", "string")],
        required: &["agent_id", "branch_id"],
        run: |given, ctx| {
            let name: BranchName = given.needed_as("branch")?;
            switch::run(&switch::Switch { name: Some(name), create: false, at: None }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_undo",
        title: "Undo your last entries",
        about: "Take back your own newest entries in the memory, files stay as they are. Refused \
                once others wrote after them.",
        words: "revert, rollback, mistake",
        at_once: false,
        set: Set::Core,
        effect: Effect::DESTROYS,
        params: &[Param::int("count", (1, i64::MAX), "how many; default 1"), BRANCH, OP_ID],
        output: ROLLED_BACK,
        required: &["branch_id", "reverted_count"],
        run: |given, ctx| {
            let count = given.number("count").unwrap_or(1);
            undo::run(&undo::Undo { count, why: String::new(), op_id: given.parsed("op_id")? }, ctx)
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
        output: ROLLED_BACK,
        required: &["branch_id", "reverted_count"],
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
