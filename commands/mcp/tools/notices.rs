//! What agents tell all others about a resource.

use mk::notice::{AT_ONCE, Ttl};

use super::{MAX_TOKENS, OP_ID};
use crate::cli::Failure;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};
use crate::notice::clear::{self, Clear};
use crate::notice::list::{self, List};
use crate::notice::post;

const NOTICE: &[(&str, &str)] = &[("notice_id", "string"), ("resource", "string")];

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_notice_post",
        title: "Post a notice",
        about: "Tell all agents something about a resource, on every branch, until it is cleared or \
                its time runs out.",
        words: "",
        at_once: false,
        set: Set::Notice,
        effect: Effect::WRITES,
        params: &[
            Param::text("resource", "KIND:NAME, such as service:auth").required(),
            Param::text("message", "what to tell").required(),
            Param::int("ttl_s", (1, 604_800), "default 3600"),
            OP_ID,
        ],
        output: Output::Report(NOTICE),
        run: |given, ctx| {
            let seconds = given.number("ttl_s").and_then(|seconds| i64::try_from(seconds).ok());
            let ttl = seconds.map(Ttl::from_seconds).transpose();
            let ttl = ttl.map_err(|error| Failure::usage(error.to_string()))?.unwrap_or_default();
            let (resource, op_id) = (given.needed_as("resource")?, given.parsed("op_id")?);
            post::post(&resource, &given.needed("message"), ttl, op_id.as_ref(), ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_notice_clear",
        title: "Clear a notice",
        about: "Say that a notice of yours no longer holds.",
        words: "",
        at_once: false,
        set: Set::Notice,
        effect: Effect::SETTLES,
        params: &[Param::text("notice_id", "of the notice").required(), OP_ID],
        output: Output::Report(NOTICE),
        run: |given, ctx| {
            let (id, op_id) = (given.needed_as("notice_id")?, given.parsed("op_id")?);
            clear::run(&Clear { id, op_id }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_notice_list",
        title: "List notices",
        about: "List what agents told about resources and did not clear. A notice that is stale is \
                not therefore done.",
        words: "",
        at_once: false,
        set: Set::Notice,
        effect: Effect::Reads,
        params: &[
            Param::text("resource", "only about exactly this"),
            Param::new("cleared", Kind::Bool, "cleared ones too"),
            Param::int("limit", (1, AT_ONCE as i64), "default 100"),
            Param::text("after", "start after this id"),
            MAX_TOKENS,
        ],
        output: Output::Report(&[("notices", "array"), ("omitted", "integer")]),
        run: |given, ctx| {
            let list = List {
                resource: given.parsed("resource")?,
                cleared: given.flag("cleared"),
                after: given.parsed("after")?,
                limit: given.number("limit").unwrap_or(100),
            };
            list::run(&list, ctx)
        },
        wait: at_once,
    },
];
