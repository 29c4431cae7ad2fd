//! Who may write what just now.

use std::time::Duration;

use mk::code::Code;
use mk::lease::{AT_ONCE, Ttl};
use serde_json::Value;

use super::{BRANCH, MAX_TOKENS, OP_ID, WAIT_MAX};
use crate::cli::{Context, Failure};
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
            check_count(&paths, given.max_tokens, ctx)?;
            let ttl = given.number("ttl_s").map(|seconds| Ttl::from_seconds(seconds as f64));
            let ask = Acquire {
                paths,
                ttl: ttl.transpose()?,
                wait: Some(wait(given)?),
                takeover: false,
                op_id: given.parsed("op_id")?,
            };
            let answer = acquire::run(&ask, ctx)?;
            shorten(given.max_tokens, ctx)?;
            Ok(answer)
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

/// Tokens of what is told of a lease beside its path if it is said in short, and of all that is told
/// beside the leases, at most.
const GRANT: u64 = 40;
const AROUND: u64 = 600;

/// What is told of a lease in short.
const SHORT: [&str; 3] = ["resource", "fencing_token", "expires_in_seconds"];

/// Refuses more paths than an answer of `most` tokens has room for: it may not leave out a token.
fn check_count(paths: &[String], most: u64, ctx: &Context) -> Result<(), Failure> {
    let tokenizer = ctx.read(|txn| Ok(txn.identity()?.tokenizer))?;
    let mut tokens = AROUND;
    let fits = |path: &&String| {
        tokens += tokenizer.count(path) + GRANT;
        tokens <= most
    };
    let (count, fit) = (paths.len(), paths.iter().take_while(fits).count().max(1));
    if count <= fit {
        return Ok(());
    }
    let message = format!(
        "'resources' has {count} paths, and an answer of {most} tokens has room for {fit} of them"
    );
    let hint = "lease fewer at once, or a directory with all that is in it: dir/";
    Err(Failure::new(Code::TOO_LARGE, message).hint(hint))
}

/// Says of each lease less if the answer would have more than `most` tokens.
fn shorten(most: u64, ctx: &mut Context) -> Result<(), Failure> {
    let mut report = ctx.out.take();
    // No token is shorter than a byte.
    if report.len() as u64 + AROUND > most {
        let tokenizer = ctx.read(|txn| Ok(txn.identity()?.tokenizer))?;
        let mut members: Value = serde_json::from_slice(&report).expect("a report is JSON");
        let leases = members["leases"].as_array_mut();
        if tokenizer.count(&String::from_utf8_lossy(&report)) + AROUND > most
            && let Some(leases) = leases
        {
            for lease in leases.iter_mut().filter_map(Value::as_object_mut) {
                lease.retain(|name, _| SHORT.contains(&name.as_str()));
            }
            report = members.to_string().into_bytes();
        }
    }
    Ok(ctx.out.writer().write_all(&report)?)
}

fn wait(given: &Given) -> Result<Duration, Failure> {
    Ok(Duration::from_secs(given.number("wait_s").unwrap_or(0)))
}
