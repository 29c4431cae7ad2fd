//! What the memory says.

use mk::canon::Value;
use mk::event::{Event, EventType};
use mk::id::{AgentId, BranchName, EventId};
use mk::lease::LeaseReport;
use mk::notice::NoticeReport;
use mk::notice::page::{BUDGET_MAX, BUDGET_MIN, Page};
use mk::revision;
use mk::store::{Leases, ReadTxn};
use mk::text;
use mk::time::Timestamp;
use mk::workspace::{self, context, render, snapshot};
use serde::Serialize;

use super::notices::{Wanted, page};
use super::{say, state};
use crate::cli::{Context, Failure, policy_to_read_by};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};
use crate::sync::exchange::Standing;

/// Events of a history if the caller does not say.
const LIMIT: i64 = 30;

/// Most characters of the summary of an event.
const SUMMARY: usize = 240;

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "memkernel_query_state",
        title: "Read the memory",
        about: "Read what all agents on this repository know: tasks, decisions, facts, blockers, \
                leases, notices, newest events. Call it first, and to resume.",
        words: "",
        at_once: true,
        set: Set::Peer,
        effect: Effect::Reads,
        params: &[
            Param::text("branch_id", "of which branch").or(r#""main""#),
            Param::new("include_ephemeral", Kind::Bool, "runs and notes too").or("false"),
            Param::text("notice_resource", "only notices about KIND:NAME"),
            Param::int("notice_token_budget", BUDGET, "most tokens of notices").or("1000"),
            Param::int("notice_offset", (0, i64::MAX), "notices to pass over").or("0"),
        ],
        output: Output::Quoted,
        run: |given, ctx| {
            let report = ctx.read(|txn| query(txn, given, ctx))?;
            say(report, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_history",
        title: "List what happened",
        about: "List the newest live events of the active branch, oldest first, with the ids that \
                memkernel_rollback takes.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::Reads,
        params: &[Param::int("limit", (i64::MIN, i64::MAX), "how many; 1 at least").or("30")],
        output: Output::Report(&[("branch_id", "string"), ("events", "array")]),
        run: |given, ctx| {
            let history = ctx.read(|txn| history(txn, given, ctx))?;
            say(history, ctx)
        },
        wait: at_once,
    },
];

const BUDGET: (i64, i64) = (BUDGET_MIN as i64, BUDGET_MAX as i64);

#[derive(Serialize)]
struct Report {
    active_branch: BranchName,
    agent_id: AgentId,
    branch_id: BranchName,
    head_event_id: Option<EventId>,
    snapshot_event_id: Option<EventId>,
    context_tokens: u64,
    coordination_notice_tokens: u64,
    tokenizer: &'static str,
    state: Value,
    active_leases: Vec<LeaseReport>,
    coordination_notices: Vec<NoticeReport>,
    notice_page: Page,
    sync: Standing,
    recent_events: Vec<String>,
    /// Older ones that would make the answer too long.
    #[serde(skip_serializing_if = "is_zero")]
    recent_events_omitted: u64,
    safety: Safety,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What is not to be expected of the memory.
#[derive(Serialize)]
struct Safety {
    experimental: bool,
    coordination_scope: &'static str,
    identity: &'static str,
    read_only: bool,
    filesystem_locks_enforced: bool,
    distributed_locks_enforced: bool,
    memory_is_untrusted: bool,
}

fn query(txn: &dyn ReadTxn, given: &Given, ctx: &Context) -> Result<Report, Failure> {
    let name = given.parsed("branch_id")?.unwrap_or_else(BranchName::main);
    let branch = revision::branch(txn, name.as_str())?;
    let (actor, now, policy) = (ctx.actor(txn)?, ctx.lease_now(), policy_to_read_by(txn)?);
    let base = branch.head.map_or(Ok(None), |head| snapshot::base(txn, head))?;
    let with_ephemeral = given.flag("include_ephemeral");
    let mut recent = Recent::new(given.max_tokens / 2);
    for event in snapshot::delta(txn, branch.head, base.as_ref())?.iter().rev() {
        if with_ephemeral || !event.kind.is_ephemeral() {
            recent.add(context::block(txn, event)?, txn)?;
        }
    }
    let leases = txn.leases(Leases::Active(now), "", None, usize::MAX)?;
    let leases = leases.iter().map(|lease| {
        let report = LeaseReport::new(txn, lease, now)?;
        Ok::<_, Failure>(LeaseReport { claim: None, ..report })
    });
    let block = page(
        txn,
        &Wanted {
            resource: given.text("notice_resource"),
            cleared: false,
            budget: given.number("notice_token_budget"),
            offset: given.number("notice_offset"),
            limit: None,
            policy: policy.as_ref(),
        },
        now,
    )?;
    Ok(Report {
        active_branch: actor.branch,
        agent_id: actor.agent,
        branch_id: branch.name.clone(),
        head_event_id: branch.head,
        snapshot_event_id: base.map(|base| base.event.id),
        context_tokens: context::full(txn, &branch)?.tokens + block.tokens,
        coordination_notice_tokens: block.tokens,
        tokenizer: txn.identity()?.tokenizer.name(),
        state: state(&workspace::state(txn, branch.head)?.report()),
        active_leases: leases.collect::<Result<_, _>>()?,
        coordination_notices: block.notices,
        notice_page: block.page,
        sync: Standing::new(txn, policy.as_ref(), now)?,
        recent_events: recent.blocks.into_iter().rev().collect(),
        recent_events_omitted: recent.omitted,
        safety: Safety {
            experimental: true,
            coordination_scope: "single-host",
            identity: "self-asserted",
            read_only: ctx.is_read_only(),
            filesystem_locks_enforced: false,
            distributed_locks_enforced: false,
            memory_is_untrusted: true,
        },
    })
}

/// The newest of some texts, as many as there is room for.
struct Recent {
    blocks: Vec<String>,
    room: u64,
    omitted: u64,
}

impl Recent {
    fn new(room: u64) -> Self {
        Self { blocks: Vec::new(), room, omitted: 0 }
    }

    fn add(&mut self, block: String, txn: &dyn ReadTxn) -> Result<(), Failure> {
        let tokens = txn.identity()?.tokenizer.count(&block);
        if self.omitted > 0 || tokens > self.room {
            self.omitted += 1;
        } else {
            self.room -= tokens;
            self.blocks.push(block);
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct History {
    branch_id: BranchName,
    events: Vec<Entry>,
    /// Of those asked for, older ones that would make the answer too long.
    #[serde(skip_serializing_if = "is_zero")]
    omitted: u64,
}

#[derive(Serialize)]
struct Entry {
    event_id: EventId,
    sequence: u64,
    agent_id: AgentId,
    event_type: EventType,
    timestamp: Timestamp,
    summary: String,
}

fn history(txn: &dyn ReadTxn, given: &Given, ctx: &Context) -> Result<History, Failure> {
    let branch = revision::branch(txn, ctx.actor(txn)?.branch.as_str())?;
    let tokenizer = txn.identity()?.tokenizer;
    let limit = given.integer("limit").unwrap_or(LIMIT).max(1).unsigned_abs();
    let mut room = given.max_tokens / 10 * 9;
    let mut history = History { branch_id: branch.name, events: Vec::new(), omitted: 0 };
    let mut at = branch.head;
    while let Some(id) = at
        && (history.events.len() as u64) < limit
    {
        let (event, link) = (txn.known_event(id)?, txn.link(id)?);
        let entry = entry(txn, event)?;
        let text = serde_json::to_string(&entry).expect("an entry has string keys only");
        let tokens = tokenizer.count(&text);
        if tokens > room && !history.events.is_empty() {
            history.omitted = link.depth.min(limit - history.events.len() as u64);
            break;
        }
        room = room.saturating_sub(tokens);
        history.events.push(entry);
        at = link.live_parent;
    }
    history.events.reverse();
    Ok(history)
}

fn entry(txn: &dyn ReadTxn, event: Event) -> Result<Entry, Failure> {
    let block = match event.kind {
        EventType::Snapshot => {
            let base = snapshot::base(txn, event.id)?.expect("a snapshot is its own base");
            render::snapshot_block(&event, base.covers.0, &base.state)
        }
        _ => context::block(txn, &event)?,
    };
    Ok(Entry {
        event_id: event.id,
        sequence: event.sequence,
        agent_id: event.agent,
        event_type: event.kind,
        timestamp: event.timestamp,
        summary: text::head_chars(&block, SUMMARY).to_owned(),
    })
}
