//! Who may write what just now.

use std::time::Duration;

use mk::lease::{AT_ONCE, Ttl};

use super::{BRANCH, MAX_TOKENS, OP_ID, WAIT_MAX};
use crate::cli::Failure;
use crate::lease::acquire;
use crate::lease::acquire::Acquire;
use crate::lease::check::{self, Check};
use crate::lease::give_back::{self, Release};
use crate::lease::list::{self, List};
use crate::lease::renew::{self, Renew};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};

const RESOURCE: Param = Param::text("resource", "the path").required();
const TOKEN: Param = Param::new("token", Kind::Token, "the fencing_token you got").required();
const LEASE: &[(&str, &str)] = &[("resource", "string"), ("fencing_token", "integer")];

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "mk_lease_acquire",
        title: "Lease files",
        about: "Claim files before you edit them, all or none. Gives a fencing_token each; keep it. \
                If held by another: do other work, or set wait_s.",
        words: "lock, reserve",
        at_once: true,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[
            Param::new("resources", Kind::Texts, "paths; dir/ is a subtree").required(),
            Param::int("ttl_s", (1, 86_400), "default 30"),
            Param::int("wait_s", (0, WAIT_MAX), "wait in line"),
            BRANCH,
            OP_ID,
        ],
        output: Output::Report(&[("leases", "array")]),
        run: |given, ctx| {
            let paths = given.texts("resources");
            if paths.is_empty() {
                return Err(Failure::usage("'resources' is empty"));
            }
            let ttl = given.number("ttl_s").map(|seconds| Ttl::from_seconds(seconds as f64));
            let ask = Acquire {
                paths,
                ttl: ttl.transpose()?,
                wait: Some(wait(given)?),
                takeover: false,
                op_id: given.parsed("op_id")?,
            };
            acquire::run(&ask, ctx)
        },
        wait,
    },
    Tool {
        name: "mk_lease_renew",
        title: "Renew a lease",
        about: "Extend a lease while you still edit. Refused once it ran out: acquire it anew.",
        words: "heartbeat",
        at_once: false,
        set: Set::Core,
        effect: Effect::WRITES,
        params: &[RESOURCE, TOKEN],
        output: Output::Report(LEASE),
        run: |given, ctx| {
            let token = given.number("token").expect("the tool requires it");
            renew::run(&Renew { path: given.needed("resource"), token }, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_lease_release",
        title: "Release a lease",
        about: "Give a lease back as soon as you are done with the file.",
        words: "unlock, free",
        at_once: false,
        set: Set::Core,
        effect: Effect::SETTLES,
        params: &[RESOURCE, TOKEN, BRANCH],
        output: Output::Report(LEASE),
        run: |given, ctx| {
            let token = given.number("token").expect("the tool requires it");
            let release = Release { path: given.needed("resource"), token, op_id: None };
            give_back::release(&release, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "mk_lease_check",
        title: "Check for leases",
        about: "See whether files are leased to others, without taking them.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::Reads,
        params: &[Param::new("resources", Kind::Texts, "paths").required(), MAX_TOKENS],
        output: Output::Report(&[("ok", "boolean"), ("resources", "array")]),
        run: |given, ctx| check::run(&Check { paths: given.texts("resources"), token: None }, ctx),
        wait: at_once,
    },
    Tool {
        name: "mk_lease_list",
        title: "List leases",
        about: "List the leases in force: resource, holder, token, time left.",
        words: "",
        at_once: false,
        set: Set::All,
        effect: Effect::Reads,
        params: &[
            Param::text("prefix", "only this path and what lies below"),
            Param::text("after", "start after this resource"),
            MAX_TOKENS,
        ],
        output: Output::Report(&[("leases", "array")]),
        run: |given, ctx| {
            let text = |name| given.text(name).map(str::to_owned);
            let (path, after) = (text("prefix"), text("after"));
            list::run(&List { path, all: false, after, nul: false, limit: AT_ONCE as u64 }, ctx)
        },
        wait: at_once,
    },
];

fn wait(given: &Given) -> Result<Duration, Failure> {
    Ok(Duration::from_secs(given.number("wait_s").unwrap_or(0)))
}
