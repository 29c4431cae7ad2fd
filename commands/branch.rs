//! `mk branch`

use std::io::{self, Write};

use mk::branch::{self, BranchReport, Branches, Listed};
use mk::id::BranchName;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// List the branches, the oldest first, with where each left its parent, its head and its tokens
///
/// `*` marks the current one. `mk fork` makes a branch; none is ever removed.
#[derive(Debug, clap::Args)]
pub struct BranchArgs {
    /// Only those whose names begin so
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub prefix: String,
    /// Those of mk itself too, whose names begin with @
    #[arg(short = 'a', long)]
    pub all: bool,
    /// Start after this one
    #[arg(long, value_name = "NAME")]
    pub after: Option<BranchName>,
    /// Most that are listed, 1 to 1000
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub limit: u64,
}

impl Text for Branches {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = self.branches.iter().map(|it| it.branch_id.as_str().len()).max();
        for branch in &self.branches {
            let mark = if branch.current { '*' } else { ' ' };
            let (name, width) = (branch.branch_id.as_str(), width.unwrap_or_default());
            writeln!(out, "{mark} {name:<width$} {}", account(branch, self.tokenizer))?;
        }
        match &self.next {
            Some(next) => {
                writeln!(out, "[{} more: mk branch --after {}]", self.omitted, next.after)
            }
            None => Ok(()),
        }
    }
}

fn account(branch: &BranchReport, tokenizer: &str) -> String {
    let head = match &branch.head {
        None => "empty".to_owned(),
        Some(head) => {
            let (hash, agent) = (head.hash.short(), &head.agent_id);
            let (id, sequence, tokens) = (head.event_id, head.sequence, head.tokens);
            format!("{hash} event {id} (@{sequence}) by {agent}, {tokens} tokens ({tokenizer})")
        }
    };
    match (&branch.parent_branch_id, branch.fork_event_id) {
        (None, _) => head,
        (Some(parent), None) => format!("{head}, from {parent} when it was empty"),
        (Some(parent), Some(point)) => format!("{head}, from {parent} at event {point}"),
    }
}

pub fn run(args: &BranchArgs, ctx: &mut Context) -> Result<Answer, Failure> {
    let branches = ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        if let Some(after) = &args.after {
            mk::revision::branch(txn, after.as_str())?;
        }
        let listed = Listed {
            prefix: &args.prefix,
            reserved: args.all,
            after: args.after.as_ref(),
            limit: args.limit as usize,
        };
        Ok(branch::list(txn, listed, &actor.branch)?)
    })?;
    ctx.print(&branches)?;
    Ok(Answer::Yes)
}
