//! `mk erase`

use std::io::{self, Write};

use mk::branch::Act;
use mk::erase::{self, Report};
use mk::revision::Revision;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Take out for good what events say
///
/// Payload, metadata and salt go from every page of the store; hash, place, author and time stay, so
/// that all chains hold, and an event on the branch @erase says who erased what, and why. Snapshots
/// that stand for an erased event are erased with it. Nobody can undo this. Copies outside the store,
/// as in backups and older exports, are not reached; see docs/erasure.md.
#[derive(Debug, clap::Args)]
pub struct Erase {
    /// The events
    #[arg(required_unless_present = "finish", value_name = "EVENT")]
    events: Vec<Revision>,
    /// Why; it stays readable
    #[arg(
        short = 'm',
        long = "message",
        value_name = "REASON",
        required_unless_present = "finish",
        default_value_if("finish", "true", "")
    )]
    reason: Option<String>,
    /// Erase the events that repeat them, too
    #[arg(long)]
    copies: bool,
    /// Erase nothing; take out the last bytes of what was erased when somebody was reading
    #[arg(long, conflicts_with_all = ["events", "reason", "copies"])]
    finish: bool,
}

pub fn run(args: &Erase, ctx: &mut Context) -> Result<Answer, Failure> {
    if args.finish {
        ctx.scrub()?;
        return Ok(Answer::Yes);
    }
    let reason = args.reason.as_deref().unwrap_or_default();
    let report = ctx.write(|txn, actor, outside| {
        let act = Act { agent: &actor.agent, reason, metadata: actor.metadata.clone() };
        Ok(erase::erase(txn, &args.events, &actor.branch, args.copies, &act, outside)?)
    })?;
    ctx.scrub()?;
    ctx.print(&report)?;
    for copy in &report.copies {
        eprintln!(
            "warning: event {} repeats what was erased; erase it too with --copies",
            copy.event_id
        );
    }
    Ok(Answer::Yes)
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for erased in &self.erased {
            write!(
                out,
                "erased event {} ({} {})",
                erased.event_id,
                erased.hash.short(),
                erased.event_type
            )?;
            match erased.erased_with {
                Some(with) => writeln!(out, ", which held {}", with.short())?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }
}
