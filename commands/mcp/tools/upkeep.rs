//! Whether the store is sound, and how large it is.

use super::{BRANCH, MAX_TOKENS};
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};
use crate::{gc, verify};

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_verify",
        title: "Check the store",
        about: "Compute every chain, index and head again and say what is wrong. Takes seconds on a \
                large store.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::Reads,
        params: &[MAX_TOKENS],
        output: Output::Report(&[("ok", "boolean"), ("findings", "array")]),
        run: |_, ctx| verify::run(&verify::Verify { anchor: None }, ctx),
        wait: at_once,
    },
    Tool {
        name: "mk_gc",
        title: "Compact a branch",
        about: "Let a snapshot take the place of older events where the branch is read. Writes do \
                this on their own; nothing is deleted.",
        words: "",
        at_once: false,
        set: Set::Repair,
        effect: Effect::SETTLES,
        params: &[Param::new("dry_run", Kind::Bool, "only say what would come of it"), BRANCH],
        output: Output::Report(&[("branch_id", "string"), ("triggered", "boolean")]),
        run: |given, ctx| {
            let dry_run = given.flag("dry_run");
            gc::run(&gc::Gc { branch_name: None, all: false, force: false, dry_run }, ctx)
        },
        wait: at_once,
    },
];
