//! `mk context`

use std::io::{self, Write};

use mk::code::Code;
use mk::id::BranchName;
use mk::mkep::check::is_goal_id;
use mk::mkep::section::{self, Share};
use mk::notice::Topic;
use mk::revision;
use mk::workspace::context::{self, BUDGET_MIN, DEFAULT_BUDGET};

use crate::Answer;
use crate::cli::{self, Failure, Text, note_erased};

/// Print what an agent should read: what holds now, then what happened last
///
/// Never above the budget. What does not fit is left out in this order: the oldest events, then
/// insights, runs, deprecated assumptions, claims, facts, notices, blockers, decisions, tasks, the
/// oldest first. The last line says how much was left out, and how to get it. Notices are those that
/// are not cleared; they get at most a quarter.
#[derive(Debug, clap::Args)]
pub struct Context {
    /// The branch [default: the current one]
    pub branch_name: Option<BranchName>,
    /// Most tokens, at least 100 [default: 4000]
    #[arg(long, value_name = "TOKENS", conflicts_with = "full")]
    pub budget: Option<u64>,
    /// Print the newest snapshot and every event after it, however long, and as they were written,
    /// then up to 1000 tokens of notices: not meant for a terminal
    #[arg(long)]
    pub full: bool,
    /// Of the notices only those about exactly this
    #[arg(long, value_name = "KIND:NAME")]
    pub resource: Option<Topic>,
    /// A goal of `mk exec`, of which to tell what is still pending; only with --exec-budget
    #[arg(long, value_name = "GOAL", conflicts_with = "full")]
    pub goal: Option<String>,
    /// Most tokens for that, at most 400 of them used, taken from the budget; only with --goal
    #[arg(long, value_name = "TOKENS", default_value_t = 0, hide_default_value = true)]
    pub exec_budget: u64,
}

impl Text for context::Context {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.text.is_empty() { Ok(()) } else { writeln!(out, "{}", self.text) }
    }
}

pub fn run(args: &Context, ctx: &mut cli::Context) -> Result<Answer, Failure> {
    if let Some(budget) = args.budget.filter(|budget| *budget < BUDGET_MIN) {
        let message = format!("a budget of {budget} tokens is below the least, {BUDGET_MIN}");
        return Err(Failure::new(Code::INVALID_ARGUMENT, message));
    }
    let least = BUDGET_MIN.saturating_add(args.exec_budget);
    if args.goal.is_some() && args.budget.unwrap_or(DEFAULT_BUDGET) < least {
        let message = format!("a budget of {least} tokens is the least with that of --exec-budget");
        return Err(Failure::new(Code::INVALID_ARGUMENT, message));
    }
    if let Some(goal) = args.goal.as_deref().filter(|goal| !is_goal_id(goal)) {
        return Err(Failure::usage(format!("'{}' is no goal id", mk::id::shown(goal))));
    }
    let context = ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        let name = args.branch_name.as_ref().unwrap_or(&actor.branch);
        let branch = revision::branch(txn, name.as_str())?;
        note_erased(txn, branch.head)?;
        let (topic, now) = (args.resource.as_ref(), ctx.lease_now());
        Ok(match args.full {
            true => {
                let policy = cli::policy_to_read_by(txn)?;
                context::full_with_notices(txn, &branch, (topic, policy.as_ref()), now)?
            }
            false => {
                let budget = args.budget.unwrap_or(DEFAULT_BUDGET);
                match args.goal.as_deref().filter(|_| args.exec_budget > 0) {
                    None => context::compose(txn, &branch, budget, topic, now)?,
                    Some(goal) => {
                        let share = Share { goal, budget: args.exec_budget };
                        section::compose(txn, &branch, budget, share, topic, now)?
                    }
                }
            }
        })
    })?;
    ctx.print(&context)?;
    Ok(Answer::Yes)
}
