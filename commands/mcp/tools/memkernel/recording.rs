//! What an agent does, decides and finds out.

use mk::canon::{Object, Value};
use mk::event::Payload;
use mk::id::EventId;
use mk::store::ReadTxn;
use mk::workspace;

use super::{PLAIN, report, say};
use crate::cli::{Failure, FenceArg, WriteArgs};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};
use crate::mcp::tools::recording::ran;
use crate::{decide, note, run, task};

const APPENDED: &[(&str, &str)] = &[("event_id", "integer"), ("branch_id", "string")];

const KEY: Param = Param::text("decision_key", "what, such as auth.method").required();
const VALUE: Param = Param::text("decision_value", "how it is decided").required();
const RATIONALE: Param = Param::text("rationale", "why").required();

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "memkernel_append_decision",
        title: "Record a decision",
        about: "Record a decision that other agents must follow, with the reason why. Takes the \
                place of that of the same key, which is told as superseded_value.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[KEY, VALUE, RATIONALE],
        output: Output::Report(&[
            ("event_id", "integer"),
            ("branch_id", "string"),
            ("decision_key", "string"),
            ("decision_value", "string"),
        ]),
        run: |given, ctx| {
            decide::run(&decision(given, PLAIN), ctx)?;
            let mut report = report(ctx);
            let id = report.get("event_id").and_then(Value::as_i64);
            let id = EventId(id.expect("the report names the event"));
            let settled = ctx.read(|txn| settled(txn, id))?;
            for (name, value) in settled {
                report.insert(name, value);
            }
            say(Value::from(report), ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_fenced_append_decision",
        title: "Record a decision under a lease",
        about: "Record a decision only while you hold the lease of a file with this fencing_token. \
                Refused, and nothing written, once it ran out: acquire it anew.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[
            Param::text("file_path", "what is leased").required(),
            Param::new("fencing_token", Kind::Token, "the one you got").required(),
            KEY,
            VALUE,
            RATIONALE,
        ],
        output: Output::Report(&[
            ("event_id", "integer"),
            ("branch_id", "string"),
            ("resource", "string"),
        ]),
        run: |given, ctx| {
            let path = given.needed("file_path");
            let token = given.number("fencing_token").expect("the tool requires it");
            let fence = FenceArg::new(&path, &token.to_string()).map_err(Failure::usage)?;
            decide::run(&decision(given, WriteArgs { fence: vec![fence], ..PLAIN }), ctx)?;
            let mut report = report(ctx);
            let resource = ctx.read(|txn| ctx.actor(txn)?.whereabouts.resource(txn, &path))?;
            report.insert("resource", resource.as_str());
            say(Value::from(report), ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_init_task",
        title: "State your task",
        about: "Say what you are working on and under which constraints, at the start of a task. It \
                holds until you state another.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[
            Param::text("directive", "what is to be done").required(),
            Param::new("constraints", Kind::Texts, "conditions to keep"),
        ],
        output: Output::Report(APPENDED),
        run: |given, ctx| {
            let (directive, constraints) = (given.needed("directive"), given.texts("constraints"));
            task::run(&task::Task { directive, constraints, write: PLAIN }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_log_execution",
        title: "Record a run",
        about: "Record a command that you ran: exit code, output, and facts it showed. A failure is \
                a blocker until the same command succeeds; a changed fact stays known as refuted.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[
            Param::text("command", "the command line").required(),
            Param::int("exit_code", (i64::MIN, i64::MAX), "0 is success").required(),
            Param::text("output", "what it printed").or(r#""""#),
            Param::new("facts", Kind::Object, "key: value"),
        ],
        output: Output::Report(APPENDED),
        run: |given, ctx| run::record(&ran(given), &PLAIN, false, ctx),
        wait: at_once,
    },
    Tool {
        name: "memkernel_note",
        title: "Note a thought",
        about: "Note a passing thought; compaction folds it away in time.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[Param::text("note", "the text").required()],
        output: Output::Report(APPENDED),
        run: |given, ctx| note::record(&given.needed("note"), &PLAIN, ctx),
        wait: at_once,
    },
];

fn decision(given: &Given, write: WriteArgs) -> decide::Decide {
    let (key, value) = (given.needed("decision_key"), given.needed("decision_value"));
    decide::Decide { key, value, why: given.needed("rationale"), write }
}

/// What a decision says, and what it took the place of, if that was something else. Both are read as
/// of its event, whatever came after.
fn settled(txn: &dyn ReadTxn, id: EventId) -> Result<Object, Failure> {
    let (key, value) = said(txn, id)?;
    let state = workspace::state(txn, Some(id))?.report();
    let record = state.get("decisions").and_then(|decisions| decisions.get(&key));
    let before = record.and_then(|record| record.get("supersedes_event_id")?.as_i64());
    let superseded = match before {
        Some(before) => Some(said(txn, EventId(before))?.1).filter(|before| *before != value),
        None => None,
    };
    let members = [("decision_key", Value::from(key)), ("decision_value", Value::from(value))];
    let mut settled = Object::from_iter(members);
    settled.insert("superseded_value", superseded);
    Ok(settled)
}

/// The key and the value of a decision; empty if it was erased.
fn said(txn: &dyn ReadTxn, id: EventId) -> Result<(String, String), Failure> {
    let event = txn.known_event(id)?;
    Ok(match event.members().map(|members| Payload::read(event.kind, &members)) {
        Some(Payload::Decision { key, value, .. }) => (key, value),
        _ => (String::new(), String::new()),
    })
}
