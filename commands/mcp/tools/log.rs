//! What happened on a branch, a page at a time.

use mk::event::Event;
use mk::id::{BranchName, EventId};
use mk::lineage::{self, Linked};
use mk::store::{ReadTxn, StoreError};
use serde::Serialize;
use serde_json::{Value, json};

use super::{BRANCH, MAX_TOKENS};
use crate::Answer;
use crate::cli::{Actor, Context, EventReport, Failure, Filter, head_of, subject};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};

/// Events of a page if nobody says otherwise, and at most.
const LIMIT: (u64, i64) = (20, 500);

/// Events that a search goes through before it says how far it came.
const LOOKED_AT: usize = 20_000;

/// Tokens of a page beside its events.
pub(super) const AROUND: u64 = 100;

pub const TOOLS: &[Tool] = &[Tool {
    name: "mk_log",
    title: "List what happened",
    about: "List events of a branch, newest first, each as a line; full gives whole payloads. next \
            in the answer continues it.",
    words: "history, who, when",
    at_once: false,
    set: Set::Core,
    effect: Effect::Reads,
    params: &[
        Param::int("limit", (1, LIMIT.1), "default 20"),
        Param::int("after", (0, i64::MAX), "newer than this event_id"),
        Param::int("before", (1, i64::MAX), "older than this event_id"),
        Param::text("agent", "by this one"),
        Param::text("type", "event type"),
        Param::text("key", "decision or fact key"),
        Param::text("grep", "text in it"),
        Param::new("full", Kind::Bool, "whole payloads"),
        BRANCH,
        MAX_TOKENS,
    ],
    output: Output::Report(&[("events", "array")]),
    run,
    wait: at_once,
}];

/// A page.
#[derive(Serialize)]
struct Page {
    branch_id: BranchName,
    events: Vec<Value>,
    /// How many more there are, where that is known without going through them.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<u64>,
    /// The arguments that continue it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Value>,
}

/// Prints the newest `limit` events of the current branch, whole.
pub fn newest(limit: u64, max_tokens: u64, ctx: &mut Context) -> Result<(), Failure> {
    let text = format!(r#"{{"limit":{limit},"full":true}}"#);
    let given = Given::read(&TOOLS[0], Some(&text), max_tokens)?;
    run(&given, ctx).map(drop)
}

fn run(given: &Given, ctx: &mut Context) -> Result<Answer, Failure> {
    let filter = Filter {
        by: given.parsed("agent")?,
        kind: given.parsed("type")?,
        since: None,
        until: None,
        key: given.text("key").map(str::to_owned),
        grep: given.text("grep").map(str::to_owned),
    };
    let page = ctx.read(|txn| page(txn, given, &filter, &ctx.actor(txn)?))?;
    ctx.out.document(&page)?;
    Ok(Answer::Yes)
}

fn page(txn: &dyn ReadTxn, given: &Given, filter: &Filter, actor: &Actor) -> Result<Page, Failure> {
    let (branch_id, head) = head_of(txn, None, actor)?;
    let tokenizer = txn.identity()?.tokenizer;
    let budget = given.max_tokens.saturating_sub(AROUND);
    let after = given.number("after").unwrap_or(0);
    let limit = given.number("limit").unwrap_or(LIMIT.0) as usize;
    let mut at = head;
    if let (Some(head), Some(before)) = (head, given.number("before")) {
        let is_older = |(id, _): &Linked| Ok::<_, StoreError>(id.0.unsigned_abs() < before);
        let found = lineage::first_reached(txn.linked(head)?, |id| txn.link(id), is_older)?;
        at = found.map(|(id, _)| id);
    }
    let mut page = Page { branch_id, events: Vec::new(), omitted: None, next: None };
    let (mut tokens, mut looked_at, mut last) = (0, 0, None);
    while let Some(id) = at.filter(|id| id.0.unsigned_abs() > after) {
        let (event, link) = (txn.known_event(id)?, txn.link(id)?);
        looked_at += 1;
        let mut is_full = looked_at > LOOKED_AT;
        if !is_full && filter.fits(&event) {
            let entry = entry(txn, &event, given.flag("full"))?;
            tokens += tokenizer.count(&entry.to_string());
            // The first is shown whatever it takes; the server cuts it.
            is_full = page.events.len() == limit || tokens > budget && !page.events.is_empty();
            if !is_full {
                page.events.push(entry);
            }
        }
        if is_full {
            page.next = last.map(|last: EventId| json!({ "before": last }));
            page.omitted = (after == 0 && !filter.has_gaps()).then_some(link.depth);
            break;
        }
        (last, at) = (Some(id), link.live_parent);
    }
    Ok(page)
}

pub(super) fn entry(txn: &dyn ReadTxn, event: &Event, full: bool) -> Result<Value, Failure> {
    if full {
        let report = EventReport::new(txn, event)?;
        return Ok(serde_json::to_value(report).expect("a report has string keys only"));
    }
    let payload = mk::branch::reported_payload(txn, event)?;
    Ok(json!({
        "event_id": event.id,
        "timestamp": event.timestamp,
        "agent_id": event.agent,
        "event_type": event.kind,
        "text": subject(event, payload.as_ref()),
    }))
}
