//! `mk fork`

use std::io::{self, Write};

use mk::branch::{self, Act, Forked};
use mk::id::BranchName;
use mk::log::Log;
use mk::operation::{Once, OpId, once};
use mk::revision::Revision;

use crate::Answer;
use crate::cli::{Context, Failure, Text, request, warn_of_secrets};

/// Start a branch at an event of another branch
///
/// No event is copied: the new branch shares its parent's lineage up to there. An event that was
/// rolled back can be forked from, too.
#[derive(Debug, clap::Args)]
pub struct Fork {
    /// Name of the new branch
    pub name: BranchName,
    /// Branch to fork from [default: the current one]
    #[arg(long, value_name = "BRANCH")]
    pub from: Option<BranchName>,
    /// Fork point [default: the head of BRANCH]
    #[arg(long, value_name = "EVENT")]
    pub at: Option<Revision>,
    /// Why
    #[arg(short = 'm', long = "message", value_name = "WHY", default_value = "")]
    pub why: String,
    /// Make it the current branch
    #[arg(long)]
    pub switch: bool,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

pub fn run(args: &Fork, ctx: &mut Context) -> Result<Answer, Failure> {
    let forked = ctx.write(|txn, actor, outside| {
        let from = args.from.as_ref().unwrap_or(&actor.branch);
        let request = request([
            ("verb", "fork".into()),
            ("agent", actor.agent.as_str().into()),
            ("name", args.name.as_str().into()),
            ("from", from.as_str().into()),
            ("at", args.at.as_ref().map(ToString::to_string).into()),
            ("reason", args.why.as_str().into()),
        ]);
        let act = Act { agent: &actor.agent, reason: &args.why, metadata: actor.metadata.clone() };
        let forked = once(txn, args.op_id.as_ref(), &request, |txn| {
            branch::fork(&mut Log::open(txn)?, &args.name, from, args.at.as_ref(), act, outside)
                .map_err(Failure::from)
        })?;
        if args.switch {
            txn.set_current_branch(&actor.agent, &args.name)?;
        }
        Ok(forked)
    })?;
    warn_of_secrets(forked.report.event.event_id, &forked.report.event.redacted);
    ctx.print(&forked)?;
    Ok(Answer::Yes)
}

impl Text for Once<Forked> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let forked = &self.report;
        let (name, parent) = (&forked.branch_id, &forked.parent_branch_id);
        match forked.fork_point_event_id {
            Some(event) => writeln!(out, "{name} forked from {parent} at event {event}"),
            None => writeln!(out, "{name} forked from {parent}, which is empty"),
        }
    }
}
