//! `mk undo`

use std::io::{self, Write};

use mk::branch::{self, Act, RolledBack};
use mk::log::Log;
use mk::operation::{Once, OpId, once};
use mk::text::counted;

use crate::Answer;
use crate::cli::{Context, Failure, Text, request, warn_of_secrets};

/// Roll back your own last events
///
/// Only while nothing of others follows them; else take single records back with `mk retract`.
#[derive(Debug, clap::Args)]
pub struct Undo {
    /// How many events
    #[arg(default_value_t = 1, value_parser = count)]
    pub count: u64,
    /// Why
    #[arg(short = 'm', long = "message", value_name = "WHY", default_value = "")]
    pub why: String,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

fn count(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "not a number from 1 up".to_owned())
}

pub fn run(args: &Undo, ctx: &mut Context) -> Result<Answer, Failure> {
    let done = ctx.write(|txn, actor, outside| {
        let request = request([
            ("verb", "undo".into()),
            ("agent", actor.agent.as_str().into()),
            ("branch", actor.branch.as_str().into()),
            ("count", args.count.into()),
            ("reason", args.why.as_str().into()),
        ]);
        let act = Act { agent: &actor.agent, reason: &args.why, metadata: actor.metadata.clone() };
        once(txn, args.op_id.as_ref(), &request, |txn| {
            branch::undo(&mut Log::open(txn)?, &actor.branch, args.count, act, outside).map_err(
                |error| match error {
                    branch::BranchError::NothingToUndo { .. } => Failure::from(error)
                        .hint("take back a single record with `mk retract`, or see `mk rollback`"),
                    _ => error.into(),
                },
            )
        })
    })?;
    warn_of_secrets(done.report.event.event_id, &done.report.event.redacted);
    ctx.print(&done)?;
    Ok(Answer::Yes)
}

impl Text for Once<RolledBack> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let done = &self.report;
        writeln!(
            out,
            "{} rolled back to event {}: {} reverted",
            done.branch_id,
            done.target_event_id,
            counted(done.reverted_count, "event")
        )
    }
}
