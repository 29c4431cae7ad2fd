//! What an agent does, decides and finds out.

use mk::canon::Object;

use super::{APPENDED, APPENDED_ALL, BRANCH, FENCE, OP_ID, write_args};
use crate::mcp::tool::{Effect, Kind, Param, Set, Tool, at_once};
use crate::{decide, fact, note, task};

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_task",
        title: "State your task",
        about: "Say what you are working on, at the start of a task. Others see it; it holds until \
                you state another.",
        words: "goal, plan, start work",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[
            Param::text("directive", "what is to be done").required(),
            Param::new("constraints", Kind::Texts, "conditions to keep"),
            BRANCH,
            OP_ID,
        ],
        output: APPENDED,
        required: APPENDED_ALL,
        run: |given, ctx| {
            let (directive, constraints) = (given.needed("directive"), given.texts("constraints"));
            task::run(&task::Task { directive, constraints, write: write_args(given)? }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_decide",
        title: "Record a decision",
        about: "Record a decision that other agents must follow, with the reason why. Replaces the \
                decision of the same key.",
        words: "choose, decision, why, architecture, convention",
        at_once: true,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[
            Param::text("key", "what, such as database").required(),
            Param::text("value", "how it is decided").required(),
            Param::text("rationale", "why"),
            FENCE,
            BRANCH,
            OP_ID,
        ],
        output: APPENDED,
        required: APPENDED_ALL,
        run: |given, ctx| {
            let (key, value) = (given.needed("key"), given.needed("value"));
            let why = given.text("rationale").unwrap_or_default().to_owned();
            decide::run(&decide::Decide { key, value, why, write: write_args(given)? }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_fact",
        title: "Record facts",
        about: "Remember facts you found out about the workspace, so that no agent has to find them \
                again. A changed fact stays known as refuted.",
        words: "remember, found out, knowledge, memory",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[Param::new("facts", Kind::Object, "key: value").required(), FENCE, BRANCH, OP_ID],
        output: APPENDED,
        required: APPENDED_ALL,
        run: |given, ctx| {
            let facts = given.object("facts").map_or_else(Object::new, Clone::clone);
            fact::record(facts, &write_args(given)?, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_note",
        title: "Note a thought",
        about: "Note a passing thought or a finding that is neither a decision nor a fact.",
        words: "scratchpad, remember, thought",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[Param::text("note", "the text").required(), BRANCH, OP_ID],
        output: APPENDED,
        required: APPENDED_ALL,
        run: |given, ctx| note::record(&given.needed("note"), &write_args(given)?, ctx),
        wait: at_once,
    },
];
