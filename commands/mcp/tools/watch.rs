//! Waiting for what others do.

use std::time::Duration;

use mk::id::{BranchName, EventId};
use mk::store::ReadTxn;
use mk::watch::Landed;
use serde::Serialize;
use serde_json::{Value, json};

use super::log::{self, entry};
use super::{BRANCH, MAX_TOKENS, WAIT_MAX};
use crate::Answer;
use crate::cli::{Context, Failure};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Output, Param, Set, Tool};
use crate::watch;

/// How long it waits if nobody says, in seconds: some clients give up after five.
const WAIT: u64 = 4;

pub const TOOLS: &[Tool] = &[Tool {
    name: "mk_watch",
    title: "Wait for events",
    about: "Wait until events land on a branch, and get them, oldest first, each as a line. next in \
            the answer goes on from there. Answers timeout if there are none.",
    words: "",
    at_once: false,
    set: Set::All,
    effect: Effect::Reads,
    params: &[
        Param::int("after", (1, i64::MAX), "also those since this event_id"),
        Param::int("wait_s", (0, WAIT_MAX), "how long to wait; default 4"),
        Param::text("resource", "only leases and fenced writes of this path"),
        BRANCH,
        MAX_TOKENS,
    ],
    output: Output::Report(&[("branch_id", "string"), ("events", "array"), ("next", "object")]),
    run,
    wait,
}];

#[derive(Serialize)]
struct Page {
    branch_id: BranchName,
    events: Vec<Value>,
    /// The arguments that go on from here.
    next: Value,
}

fn run(given: &Given, ctx: &mut Context) -> Result<Answer, Failure> {
    let after = given.number("after").map(|id| id.to_string());
    let after = after.map(|id| id.parse().expect("digits name an event"));
    let args = watch::Watch {
        all: false,
        after,
        resource: given.text("resource").map(str::to_owned),
        wait: Some(wait(given)?),
    };
    let landed = watch::first(&args, ctx)?;
    let page = ctx.read(|txn| page(txn, &landed, given.max_tokens, ctx))?;
    ctx.out.document(&page)?;
    Ok(Answer::Yes)
}

fn page(txn: &dyn ReadTxn, landed: &Landed, most: u64, ctx: &Context) -> Result<Page, Failure> {
    let tokenizer = txn.identity()?.tokenizer;
    let mut left = most.saturating_sub(log::AROUND);
    let (mut events, mut through) = (Vec::new(), landed.through);
    let mut last = EventId(0);
    for event in &landed.events {
        let entry = entry(txn, event, false)?;
        let tokens = tokenizer.count(&entry.to_string());
        if tokens > left && !events.is_empty() {
            through = last;
            break;
        }
        left = left.saturating_sub(tokens);
        last = event.id;
        events.push(entry);
    }
    let branch_id = ctx.actor(txn)?.branch;
    Ok(Page { branch_id, events, next: json!({ "after": through }) })
}

fn wait(given: &Given) -> Result<Duration, Failure> {
    Ok(Duration::from_secs(given.number("wait_s").unwrap_or(WAIT)))
}
