//! `mk switch`

use std::io::{self, Write};

use mk::branch::{self, Act};
use mk::id::{AgentId, BranchName};
use mk::log::Log;
use mk::revision::{self, Revision};
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Change the branch you work on
///
/// Each agent has a current branch of its own. Without NAME, prints it.
#[derive(Debug, clap::Args)]
pub struct Switch {
    /// The branch
    pub name: Option<BranchName>,
    /// Fork it from the current branch first
    #[arg(short, long, requires = "name")]
    pub create: bool,
    /// Fork point, with --create [default: the head of the current branch]
    #[arg(long, value_name = "EVENT", requires = "create")]
    pub at: Option<Revision>,
}

#[derive(Serialize)]
struct Report {
    agent_id: AgentId,
    branch_id: BranchName,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.branch_id)
    }
}

pub fn run(args: &Switch, ctx: &mut Context) -> Result<Answer, Failure> {
    let Some(name) = &args.name else {
        let actor = ctx.read(|txn| ctx.actor(txn))?;
        ctx.print(&Report { agent_id: actor.agent, branch_id: actor.branch })?;
        return Ok(Answer::Yes);
    };
    let report = ctx.write(|txn, actor, outside| {
        if args.create {
            let act = Act { agent: &actor.agent, reason: "", metadata: actor.metadata.clone() };
            let mut log = Log::open(txn)?;
            branch::fork(&mut log, name, &actor.branch, args.at.as_ref(), act, outside)?;
        }
        revision::branch(txn, name.as_str())?;
        txn.set_current_branch(&actor.agent, name)?;
        Ok(Report { agent_id: actor.agent.clone(), branch_id: name.clone() })
    })?;
    ctx.print(&report)?;
    Ok(Answer::Yes)
}
