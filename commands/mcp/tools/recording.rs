//! What an agent does, decides and finds out.

use mk::canon::Object;
use mk::workspace::event::Run;
use mk::workspace::output;

use super::{APPENDED, BRANCH, FENCE, OP_ID, write_args};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};
use crate::{decide, fact, note, run, task};

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_task",
        title: "State your task",
        about: "Say what you are working on, at the start of a task. Others see it; it holds until \
                you state another.",
        words: "goal, plan",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[
            Param::text("directive", "what is to be done").required(),
            Param::new("constraints", Kind::Texts, "conditions to keep"),
            BRANCH,
            OP_ID,
        ],
        output: Output::Report(APPENDED),
        run: |given, ctx| {
            let (directive, constraints) = (given.needed("directive"), given.texts("constraints"));
            task::run(&task::Task { directive, constraints, write: write_args(given)? }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_decide",
        title: "Record a decision",
        about: "Record a decision that other agents must follow, with the reason why. Replaces that \
                of the same key.",
        words: "choose, architecture, convention",
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
        output: Output::Report(APPENDED),
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
        about: "Remember facts you found out, so that no agent has to find them again. A changed fact \
                stays known as refuted.",
        words: "knowledge, memory",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[Param::new("facts", Kind::Object, "key: value").required(), FENCE, BRANCH, OP_ID],
        output: Output::Report(APPENDED),
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
        words: "scratchpad, remember",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[Param::text("note", "the text").required(), BRANCH, OP_ID],
        output: Output::Report(APPENDED),
        run: |given, ctx| note::record(&given.needed("note"), &write_args(given)?, ctx),
        wait: at_once,
    },
    Tool {
        name: "mk_record_run",
        title: "Record a run",
        about: "Record a command that you ran and that matters, such as a test: exit code, output, \
                facts.",
        words: "test, build",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[
            Param::text("command", "the command line").required(),
            Param::int("exit_code", (0, 255), "0 is success").required(),
            Param::text("output", "what it printed"),
            Param::new("facts", Kind::Object, "key: value"),
            Param::int("duration_ms", (0, i64::MAX), "how long it took"),
            BRANCH,
            OP_ID,
        ],
        output: Output::Report(APPENDED),
        run: |given, ctx| run::record(&ran(given), &write_args(given)?, false, ctx),
        wait: at_once,
    },
];

/// The run that a tool was told of. One that does not ask how long it took knows nothing of that.
pub(super) fn ran(given: &Given) -> Run {
    Run {
        command: given.needed("command"),
        exit_code: given.integer("exit_code").expect("the tool requires it"),
        output: output::Output::of(given.text("output").unwrap_or_default()),
        facts: given.object("facts").cloned().unwrap_or_default(),
        duration_ms: given.number("duration_ms"),
    }
}
