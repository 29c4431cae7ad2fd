//! `mk rollback`

use mk::branch::{self, Act};
use mk::log::Log;
use mk::operation::{OpId, once};
use mk::revision::Revision;

use crate::Answer;
use crate::cli::{Context, Failure, request, warn_of_secrets};

/// Take everything after an event off the live timeline
///
/// Nothing is deleted: what was rolled back can still be read, and forked from. The events of other
/// agents are not reverted unless you say so.
#[derive(Debug, clap::Args)]
pub struct Rollback {
    /// The last event that stays live
    pub event: Revision,
    /// Why
    #[arg(short = 'm', long = "message", value_name = "WHY", default_value = "")]
    pub why: String,
    /// Revert the events of other agents too
    #[arg(long)]
    pub include_others: bool,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

pub fn run(args: &Rollback, ctx: &mut Context) -> Result<Answer, Failure> {
    let done = ctx.write(|txn, actor, outside| {
        let request = request([
            ("verb", "rollback".into()),
            ("agent", actor.agent.as_str().into()),
            ("branch", actor.branch.as_str().into()),
            ("event", args.event.to_string().into()),
            ("reason", args.why.as_str().into()),
            ("include_others", args.include_others.into()),
        ]);
        let act = Act { agent: &actor.agent, reason: &args.why, metadata: actor.metadata.clone() };
        once(txn, args.op_id.as_ref(), &request, |txn| {
            let mut log = Log::open(txn)?;
            let others = args.include_others;
            branch::rollback(&mut log, &actor.branch, &args.event, others, act, outside)
                .map_err(Failure::from)
        })
    })?;
    warn_of_secrets(done.report.event.event_id, &done.report.event.redacted);
    ctx.print(&done)?;
    Ok(Answer::Yes)
}
