//! What agents tell all others about a resource, and the exchange of that with other projects.

use mk::canon::Value;
use mk::notice::page::{self, Block, Page, Want};
use mk::notice::{NoticeId, NoticeReport, Topic, Ttl};
use mk::store::ReadTxn;
use mk::sync::Policy;
use mk::time::Timestamp;
use serde::Serialize;

use super::{report, say};
use crate::Answer;
use crate::cli::{Context, Failure, policy, policy_to_read_by};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};
use crate::notice::clear::{self, Clear};
use crate::notice::{post, transfer};
use crate::sync::exchange;

const NOTICE: Output = Output::Report(&[("notice_id", "string"), ("resource", "string")]);

/// Notices of a page if the caller does not say, and at most.
const LIMIT: (u64, i64) = (50, 100);

/// Tokens of a page if the caller does not say.
const TOKENS: u64 = 4_000;

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "memkernel_post_notice",
        title: "Post a notice",
        about: "Tell all agents something about a resource, on every branch, until you clear it. When \
                its time runs out it is stale, which does not mean done. It is no lock.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[
            Param::text("resource", "KIND:NAME, such as service:auth").required(),
            Param::text("message", "what to tell").required(),
            Param::int("ttl_seconds", (1, 604_800), "how long it is active").or("3600"),
        ],
        output: NOTICE,
        run: |given, ctx| {
            let ttl = given.integer("ttl_seconds").map(Ttl::from_seconds).transpose();
            let ttl = ttl.map_err(|error| Failure::usage(error.to_string()))?.unwrap_or_default();
            let resource = given.needed_as("resource")?;
            post::post(&resource, &given.needed("message"), ttl, None, ctx)?;
            published(ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_clear_notice",
        title: "Clear a notice",
        about: "Take back a notice that you posted: what it told of is over.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::SETTLES,
        params: &[Param::text("notice_id", "the id").required()],
        output: NOTICE,
        run: |given, ctx| {
            clear::run(&Clear { id: given.needed_as("notice_id")?, op_id: None }, ctx)?;
            published(ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_list_notices",
        title: "List notices",
        about: "List what agents told about resources, a page at a time: next_offset continues it. A \
                notice that is stale is not therefore done.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::Reads,
        params: &[
            Param::text("resource", "only about exactly this"),
            Param::new("include_cleared", Kind::Bool, "cleared ones too").or("false"),
            Param::int("offset", (0, i64::MAX), "how many to pass over").or("0"),
            Param::int("limit", (1, LIMIT.1), "most that are listed").or("50"),
            Param::int("max_tokens", (128, 32_768), "most tokens of them").or("4000"),
        ],
        output: Output::Report(&[("notices", "array")]),
        run: |given, ctx| {
            let listed = ctx.read(|txn| listed(txn, given, ctx.lease_now()))?;
            say(listed, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_export_notices",
        title: "Export notices",
        about: "Give out notices, or all of them, cleared ones too, as a document that \
                memkernel_import_notices takes in elsewhere. Nothing else is in it.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::Reads,
        params: &[Param::new("notice_ids", Kind::Texts, "which; default: all")],
        output: Output::Document(&[("schema", "string"), ("notices", "array")]),
        run: |given, ctx| {
            let ids = given.texts("notice_ids");
            let ids = ids.iter().map(|id| id.parse::<NoticeId>()).collect::<Result<Vec<_>, _>>();
            let ids = ids.map_err(|error| Failure::usage(format!("'notice_ids': {error}")))?;
            let ids = given.contains("notice_ids").then_some(ids.as_slice());
            transfer::give_out(ids, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_import_notices",
        title: "Import notices",
        about: "Take in the notices of a document that somebody you trust exported, all of it or \
                nothing. Refused where the exchange is signed.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::SETTLES,
        params: &[Param::text("document", "the document, as JSON text").required()],
        output: Output::Report(&[("changed", "integer")]),
        run: |given, ctx| transfer::take_in(given.needed("document").as_bytes(), ctx),
        wait: at_once,
    },
    Tool {
        name: "memkernel_sync_now",
        title: "Exchange notices",
        about: "Publish the notices of this project and take in those of its peers, by the policy \
                that a person set. Look at errors before you rely on it.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::SETTLES,
        params: &[],
        output: Output::Report(&[("published", "boolean"), ("errors", "object")]),
        run: |_, ctx| {
            let run = exchange::run_now(ctx)?;
            say(run, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_sync_status",
        title: "See the exchange",
        about: "See the peers of the exchange, how fresh what each published is, and what went wrong.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::Reads,
        params: &[],
        output: Output::Report(&[("enabled", "boolean")]),
        run: |_, ctx| exchange::status(&exchange::Status {}, ctx),
        wait: at_once,
    },
];

/// The report of a notice; where there is an exchange, the notice is published and the report says how
/// that went.
fn published(ctx: &mut Context) -> Result<Answer, Failure> {
    let mut report = report(ctx);
    if ctx.read(|txn| Ok(policy(txn)?.is_some()))? {
        let went = match exchange::run_now(ctx) {
            Ok(run) => serde_json::to_string(&run).expect("a report has string keys only"),
            Err(failure) => failure.json(None),
        };
        report.insert("sync", Value::parse(went.as_bytes()).expect("it is JSON"));
    }
    say(Value::from(report), ctx)
}

/// Which notices, as a call asks for them.
pub struct Wanted<'a> {
    pub resource: Option<&'a str>,
    pub cleared: bool,
    pub budget: Option<u64>,
    pub offset: Option<u64>,
    pub limit: Option<u64>,
    pub policy: Option<&'a Policy>,
}

/// The page that is wanted. About what can be no resource there is nothing.
pub fn page(txn: &dyn ReadTxn, wanted: &Wanted<'_>, now: Timestamp) -> Result<Block, Failure> {
    let resource = wanted.resource.map(str::parse::<Topic>);
    let count = |given: Option<u64>, usual: u64| {
        usize::try_from(given.unwrap_or(usual)).unwrap_or(usize::MAX)
    };
    let offset = count(wanted.offset, 0);
    if let (Some(text), Some(Err(_))) = (wanted.resource, &resource) {
        let page = Page {
            resource: Some(text.to_owned()),
            total: 0,
            omitted: 0,
            offset: offset as u64,
            next_offset: None,
            requires_larger_budget: false,
        };
        return Ok(Block { page, notices: Vec::new(), text: String::new(), tokens: 0 });
    }
    let resource = resource.and_then(Result::ok);
    let want = Want {
        resource: resource.as_ref(),
        cleared: wanted.cleared,
        budget: wanted.budget.unwrap_or(page::BUDGET),
        offset,
        limit: count(wanted.limit, u64::MAX),
        policy: wanted.policy,
    };
    Ok(page::page(txn, want, now)?)
}

#[derive(Serialize)]
struct Listed {
    notices: Vec<NoticeReport>,
    /// Where this is not all there is.
    #[serde(flatten)]
    page: Option<Page>,
}

fn listed(txn: &dyn ReadTxn, given: &Given, now: Timestamp) -> Result<Listed, Failure> {
    let policy = policy_to_read_by(txn)?;
    let wanted = Wanted {
        resource: given.text("resource"),
        cleared: given.flag("include_cleared"),
        budget: Some(given.number("max_tokens").unwrap_or(TOKENS)),
        offset: given.number("offset"),
        limit: Some(given.number("limit").unwrap_or(LIMIT.0)),
        policy: policy.as_ref(),
    };
    let Block { page, notices, .. } = page(txn, &wanted, now)?;
    let is_part = page.offset > 0 || page.omitted > 0;
    Ok(Listed { notices, page: is_part.then_some(page) })
}
