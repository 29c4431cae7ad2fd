//! Branches: fork, check out, roll back, compare, list, compact.

use std::collections::BTreeMap;

use mk::canon::{Object, Value};
use mk::id::{BranchName, EventId, Hash};
use mk::revision::{self, Revision};
use mk::store::{Branch, ReadTxn};
use mk::time::Timestamp;
use mk::workspace::diff::{self, Ahead, Conflict, Diff, Rollback};
use serde::Serialize;

use super::{named, record, report, say};
use crate::Answer;
use crate::cli::{Context, Failure};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Output, Param, Set, Tool, at_once};
use crate::{fork, gc, rollback, switch};

const SENTENCE: Output = Output::Value("string");

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "memkernel_fork_investigation",
        title: "Fork a branch",
        about: "Start a branch at the head of the active one and work on it from now on, to try a \
                risky idea unseen by others.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[Param::text("fork_branch_name", "of the new branch").required()],
        output: SENTENCE,
        run: investigate,
        wait: at_once,
    },
    Tool {
        name: "memkernel_checkout",
        title: "Switch branch",
        about: "Change the branch that you work on from now on. It has to exist.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::Moves,
        params: &[Param::text("branch_id", "its name").required()],
        output: SENTENCE,
        run: check_out,
        wait: at_once,
    },
    Tool {
        name: "memkernel_rollback",
        title: "Roll back",
        about: "Take everything after an event off the active branch, what others wrote there too. \
                Nothing is deleted. See memkernel_history for the ids.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::DESTROYS,
        params: &[
            Param::int("target_event_id", (1, i64::MAX), "the last one that stays").required()
        ],
        output: SENTENCE,
        run: roll_back,
        wait: at_once,
    },
    Tool {
        name: "memkernel_diff_branches",
        title: "Compare branches",
        about: "Compare two branches: where they parted, events ahead on each side, decisions and \
                facts that differ.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::Reads,
        params: &[
            Param::text("branch_a", "one").required(),
            Param::text("branch_b", "the other").required(),
        ],
        output: Output::Report(&[("branch_a", "string"), ("branch_b", "string")]),
        run: |given, ctx| {
            let compared = ctx.read(|txn| compared(txn, given))?;
            say(compared, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_list_branches",
        title: "List branches",
        about: "List the branches, with where each left its parent and its head, and which one is \
                active.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::Reads,
        params: &[],
        output: Output::Report(&[("active_branch", "string"), ("branches", "array")]),
        run: |_, ctx| {
            let branches = ctx.read(|txn| {
                let mut all = txn.branches()?;
                all.sort_unstable_by_key(|branch| branch.id);
                let all = all.iter().filter(|branch| !branch.name.is_reserved());
                let branches = all.map(|branch| row(txn, branch)).collect::<Result<_, _>>()?;
                Ok(Branches { active_branch: ctx.actor(txn)?.branch, branches })
            })?;
            say(branches, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_trigger_gc",
        title: "Compact a branch",
        about: "Let a snapshot take the place of older events where a branch is read. Writes do this \
                on their own; nothing is deleted.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::SETTLES,
        params: &[Param::text("target_branch", "its name").or(r#""main""#)],
        output: Output::Report(&[("branch_id", "string"), ("triggered", "boolean")]),
        run: |given, ctx| {
            let name = given.parsed("target_branch")?.unwrap_or_else(BranchName::main);
            let branch_name = Some(name);
            gc::run(&gc::Gc { branch_name, all: false, force: true, dry_run: false }, ctx)
        },
        wait: at_once,
    },
];

/// Stands on `name` from now on. Where the store does not decide it, or cannot be told, the server
/// keeps it.
fn stand(name: &BranchName, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.is_read_only() || ctx.named_branch()?.is_some() {
        ctx.move_to(name.clone());
    }
    if !ctx.is_read_only() {
        switch::run(&switch::Switch { name: Some(name.clone()), create: false, at: None }, ctx)?;
        ctx.out.take();
    }
    Ok(())
}

fn investigate(given: &Given, ctx: &mut Context) -> Result<Answer, Failure> {
    let args = fork::Fork {
        name: given.needed_as("fork_branch_name")?,
        from: None,
        at: None,
        why: "investigation".to_owned(),
        switch: true,
        op_id: None,
    };
    fork::run(&args, ctx)?;
    let report = report(ctx);
    if ctx.named_branch()?.is_some() {
        ctx.move_to(args.name.clone());
    }
    let (name, point) = (&args.name, report.get("fork_point_event_id").and_then(Value::as_i64));
    let parent = report.get("parent_branch_id").and_then(Value::as_str).unwrap_or_default();
    let point = named(point.map(EventId));
    say(
        format!("Forked '{parent}' at event {point} into '{name}'; active branch is now '{name}'."),
        ctx,
    )
}

fn check_out(given: &Given, ctx: &mut Context) -> Result<Answer, Failure> {
    let name: BranchName = given.needed_as("branch_id")?;
    let head = ctx.read(|txn| Ok(revision::branch(txn, name.as_str())?.head))?;
    stand(&name, ctx)?;
    say(format!("Active branch is now '{name}' (head event {}).", named(head)), ctx)
}

fn roll_back(given: &Given, ctx: &mut Context) -> Result<Answer, Failure> {
    let target = given.integer("target_event_id").expect("the tool requires it");
    let args = rollback::Rollback {
        event: target.to_string().parse::<Revision>().expect("a number is a revision"),
        why: "requested via MCP".to_owned(),
        include_others: true,
        op_id: None,
    };
    rollback::run(&args, ctx)?;
    let report = report(ctx);
    let number = |name: &str| report.get(name).map(Value::canonical).unwrap_or_default();
    let branch = report.get("branch_id").and_then(Value::as_str).unwrap_or_default();
    let reverted = match report.get("reverted_event_ids").and_then(Value::as_array) {
        Some(ids) => ids.iter().map(Value::canonical).collect::<Vec<_>>().join(", "),
        // More than a sentence holds.
        None => {
            format!("{} … {}", number("first_reverted_event_id"), number("last_reverted_event_id"))
        }
    };
    let event = report.get("event").and_then(|event| event.get("event_id"));
    let event = event.map(Value::canonical).unwrap_or_default();
    say(
        format!(
            "Rolled back '{branch}' to event {target}; reverted {} event(s) [{reverted}]. Rollback \
             recorded as event {event}.",
            number("reverted_count"),
        ),
        ctx,
    )
}

/// A comparison in which the sides are called by their branches.
#[derive(Serialize)]
struct Compared {
    branch_a: String,
    branch_b: String,
    merge_base_event_id: Option<EventId>,
    merge_base_sequence: u64,
    ahead_a: Vec<Ahead>,
    ahead_b: Vec<Ahead>,
    rollbacks_since_base: BTreeMap<String, Vec<Rollback>>,
    conflicting_decisions: Vec<Value>,
    decisions_only_in_a: BTreeMap<String, Value>,
    decisions_only_in_b: BTreeMap<String, Value>,
    conflicting_facts: Vec<Value>,
    identical_state: bool,
}

fn compared(txn: &dyn ReadTxn, given: &Given) -> Result<Compared, Failure> {
    let (a, b): (BranchName, BranchName) =
        (given.needed_as("branch_a")?, given.needed_as("branch_b")?);
    let head = |name: &BranchName| revision::branch(txn, name.as_str()).map(|branch| branch.head);
    let (head_a, head_b) = (head(&a)?, head(&b)?);
    let Diff {
        branch_a,
        branch_b,
        merge_base_event_id,
        merge_base_sequence,
        ahead_a,
        ahead_b,
        rollbacks_since_base,
        conflicting_decisions,
        decisions_only_in_a,
        decisions_only_in_b,
        conflicting_facts,
        identical_state,
        ..
    } = diff::diff(txn, (a.as_str(), head_a), (b.as_str(), head_b))?;
    let sides = |found: Vec<Conflict>| {
        let entry = |it: Conflict| {
            let (a, b) = (record(&it.a), record(&it.b));
            let mut entry = Object::from_iter([(branch_a.as_str(), a), (branch_b.as_str(), b)]);
            // Also where a branch is called so.
            entry.insert("key", it.key);
            entry.into()
        };
        found.into_iter().map(entry).collect()
    };
    let records = |found: BTreeMap<String, Value>| {
        found.into_iter().map(|(key, it)| (key, record(&it))).collect()
    };
    Ok(Compared {
        merge_base_event_id,
        merge_base_sequence,
        ahead_a,
        ahead_b,
        rollbacks_since_base: BTreeMap::from([
            (branch_a.clone(), rollbacks_since_base.a),
            (branch_b.clone(), rollbacks_since_base.b),
        ]),
        conflicting_decisions: sides(conflicting_decisions),
        decisions_only_in_a: records(decisions_only_in_a),
        decisions_only_in_b: records(decisions_only_in_b),
        conflicting_facts: sides(conflicting_facts),
        identical_state,
        branch_a,
        branch_b,
    })
}

#[derive(Serialize)]
struct Branches {
    active_branch: BranchName,
    branches: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    branch_id: BranchName,
    parent_branch_id: Option<BranchName>,
    fork_event_id: Option<EventId>,
    fork_sequence: u64,
    head_event_id: Option<EventId>,
    head_sequence: u64,
    head_hash: Option<Hash>,
    snapshot_event_id: Option<EventId>,
    created_at: Timestamp,
    created_by: String,
}

fn row(txn: &dyn ReadTxn, branch: &Branch) -> Result<Row, Failure> {
    let parent = branch.parent.map(|parent| txn.lineage(parent)).transpose()?;
    let (head_hash, snapshot_event_id) = match branch.head {
        Some(head) => (Some(txn.known_event(head)?.hash), txn.link(head)?.snapshot),
        None => (None, None),
    };
    Ok(Row {
        branch_id: branch.name.clone(),
        parent_branch_id: parent.map(|parent| parent.name),
        fork_event_id: branch.fork_point.map(|point| point.event),
        fork_sequence: branch.fork_sequence(),
        head_event_id: branch.head,
        head_sequence: branch.head_sequence,
        head_hash,
        snapshot_event_id,
        created_at: branch.created_at,
        created_by: branch.created_by.to_string(),
    })
}
