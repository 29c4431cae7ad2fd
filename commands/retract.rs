//! `mk retract`

use std::io::{self, Write};

use mk::branch::{self, Act, Retracted};
use mk::event::Retractable;
use mk::log::Log;
use mk::operation::{Once, OpId, once};

use crate::Answer;
use crate::cli::{Context, Failure, Text, request, warn_of_secrets};

/// Take back a decision, a fact or a task, whoever recorded it
///
/// The record leaves the state; that it held once stays known as a deprecated assumption.
#[derive(Debug, clap::Args)]
pub struct Retract {
    /// What it is
    #[arg(value_parser = what, value_name = "decision|fact|task")]
    what: Retractable,
    /// Its key; of a task, the agent
    key: String,
    /// Why
    #[arg(short = 'm', long = "message", value_name = "WHY", default_value = "")]
    why: String,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    op_id: Option<OpId>,
}

fn what(text: &str) -> Result<Retractable, String> {
    text.parse().map_err(|()| "not one of decision, fact, task".to_owned())
}

pub fn run(args: &Retract, ctx: &mut Context) -> Result<Answer, Failure> {
    let done = ctx.write(|txn, actor, outside| {
        let request = request([
            ("verb", "retract".into()),
            ("agent", actor.agent.as_str().into()),
            ("branch", actor.branch.as_str().into()),
            ("kind", args.what.as_str().into()),
            ("key", args.key.as_str().into()),
            ("reason", args.why.as_str().into()),
        ]);
        let act = Act { agent: &actor.agent, reason: &args.why, metadata: actor.metadata.clone() };
        once(txn, args.op_id.as_ref(), &request, |txn| {
            let mut log = Log::open(txn)?;
            branch::retract(&mut log, &actor.branch, args.what, &args.key, act, outside)
                .map_err(Failure::from)
        })
    })?;
    warn_of_secrets(done.report.event.event_id, &done.report.event.redacted);
    ctx.print(&done)?;
    Ok(Answer::Yes)
}

impl Text for Once<Retracted> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let done = &self.report;
        let key = crate::cli::line(&done.key);
        writeln!(out, "{} '{key}' no longer holds on {}", done.kind, done.branch_id)
    }
}
