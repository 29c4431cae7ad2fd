//! `mk context`

use std::io::{self, Write};

use mk::code::Code;
use mk::id::BranchName;
use mk::revision;
use mk::workspace::context::{self, BUDGET_MIN, DEFAULT_BUDGET};

use crate::Answer;
use crate::cli::{self, Failure, Text, note_erased};

/// Print what an agent should read: what holds now, then what happened last
///
/// Never above the budget. What does not fit is left out in this order: the oldest events, then
/// insights, runs, deprecated assumptions, claims, facts, blockers, decisions, tasks, the oldest
/// first. The last line says how much was left out, and how to get it.
#[derive(Debug, clap::Args)]
pub struct Context {
    /// The branch [default: the current one]
    branch_name: Option<BranchName>,
    /// Most tokens, at least 100 [default: 4000]
    #[arg(long, value_name = "TOKENS", conflicts_with = "full")]
    budget: Option<u64>,
    /// Print the newest snapshot and every event after it, however long, and as they were written:
    /// not meant for a terminal
    #[arg(long)]
    full: bool,
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
    let context = ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        let name = args.branch_name.as_ref().unwrap_or(&actor.branch);
        let branch = revision::branch(txn, name.as_str())?;
        note_erased(txn, branch.head)?;
        Ok(match args.full {
            true => context::full(txn, &branch)?,
            false => {
                let budget = args.budget.unwrap_or(DEFAULT_BUDGET);
                context::compose(txn, &branch, budget, ctx.lease_now())?
            }
        })
    })?;
    ctx.print(&context)?;
    Ok(Answer::Yes)
}
