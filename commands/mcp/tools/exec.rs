//! What a team has settled, by the execution protocol. Only its queries are here: nothing is written.
//!
//! Rule: docs/spec/mkep.md, section 23.

use mk::canon::{Object, Value};
use mk::mkep::registry::Op;
use mk::mkep::request::Request;

use crate::Answer;
use crate::cli::{Context, Failure};
use crate::exec::call;
use crate::mcp::given::Given;
use crate::mcp::log::{Level, log};
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};

/// What can be asked for by name.
const OPS: &[&str] = &["state.read", "assess.run", "handoff.export"];

const REQUEST_ID: Param = Param::text("request_id", "32 hex digits, or a ULID").required();

const QUERY: Tool = Tool {
    name: "mk_exec_query",
    title: "Ask about a goal",
    about: "Ask about a goal of the execution protocol: read its state, get advice on what to do \
            next, or export a handoff. Advice authorises nothing: should_run is no permission to \
            run. Answers the response of MKEP/0.",
    words: "",
    at_once: false,
    set: Set::Exec,
    effect: Effect::Reads,
    params: &[
        REQUEST_ID,
        Param::new("op", Kind::OneOf(OPS), "what to ask for").required(),
        Param::new("target", Kind::Object, "goal_id; for handoff.export handoff_id too").required(),
        Param::new("args", Kind::Object, "for state.read: include").required(),
        Param::text("capabilities_digest", "of a description, to notice a change"),
        Param::new("now", Kind::PassedOver, "the server has its own clock"),
    ],
    output: Output::Response,
    run: |given, ctx| {
        let now = ctx.now().to_string();
        let mut request = request(given, given.text("op").unwrap_or_default());
        request.insert("now", now);
        for part in ["target", "args"] {
            request.insert(part, given.object(part).cloned().unwrap_or_default());
        }
        if let Some(digest) = given.text("capabilities_digest") {
            request.insert("capabilities_digest", digest);
        }
        let is_offered = |op| matches!(op, Op::StateRead | Op::AssessRun | Op::HandoffExport);
        ask(request, is_offered, ctx)
    },
    wait: at_once,
};

const DESCRIBE: Tool = Tool {
    name: "mk_exec_describe",
    title: "Describe the protocol",
    about: "Describe what of the execution protocol MKEP/0 is offered, its limits, and what it does \
            not promise. Reads no state.",
    words: "",
    at_once: false,
    set: Set::Exec,
    effect: Effect::Reads,
    params: &[REQUEST_ID],
    output: Output::Response,
    run: |given, ctx| ask(request(given, "describe"), |op| op == Op::Describe, ctx),
    wait: at_once,
};

pub const TOOLS: &[Tool] = &[QUERY, DESCRIBE];

/// The same, as MemKraft calls them.
pub const OF_MEMKRAFT: &[Tool] = &[
    Tool { name: "memkraft_execution_query", set: Set::Peer, ..QUERY },
    Tool { name: "memkraft_execution_describe", set: Set::Peer, ..DESCRIBE },
];

fn request(given: &Given, op: &str) -> Object {
    let mut request = Object::new();
    for (name, text) in [("mkep", "0"), ("kind", "query"), ("op", op)] {
        request.insert(name, text);
    }
    request.insert("request_id", given.needed("request_id"));
    for part in ["target", "args"] {
        request.insert(part, Object::new());
    }
    request
}

/// Prints the response, and answers whether it is a success.
fn ask(
    request: Object,
    is_offered: impl Fn(Op) -> bool,
    ctx: &mut Context,
) -> Result<Answer, Failure> {
    let text = Value::Object(request).canonical();
    let response = match Request::read_offered(text.as_bytes(), is_offered) {
        Err(response) => *response,
        Ok(request) => {
            let (response, why) = call::ask(&request, ctx);
            if let Some(failure) = why {
                log(Level::Warn, failure.message());
            }
            response
        }
    };
    writeln!(ctx.out.writer(), "{}", response.line())?;
    Ok(if response.exit_status == 0 { Answer::Yes } else { Answer::No })
}
