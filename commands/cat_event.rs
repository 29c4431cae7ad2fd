//! `mk cat-event`

use std::io;

use mk::lookup::{self, LookupError};
use mk::revision::Revision;
use mk::store::Engine;

use crate::Answer;
use crate::cli::{Context, Failure};

/// Print events as they are stored and travel: canonical JSON, a line each, with salt and hashes
///
/// With --batch, a revision a line is read from stdin, and answered at once with a line
/// `HASH TYPE SIZE`, the event in SIZE bytes, and a line break; or with a line `REVISION missing` or
/// `REVISION ambiguous`.
#[derive(Debug, clap::Args)]
pub struct CatEvent {
    /// The events
    #[arg(required_unless_present_any = ["batch", "batch_check"], value_name = "REV")]
    revisions: Vec<Revision>,
    /// Answer revisions from stdin, with the event
    #[arg(long, conflicts_with_all = ["revisions", "batch_check", "json"])]
    batch: bool,
    /// Answer revisions from stdin, without the event
    #[arg(long, conflicts_with_all = ["revisions", "json"])]
    batch_check: bool,
}

pub fn run(args: &CatEvent, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut store = ctx.open_to_read()?;
    if !args.batch && !args.batch_check {
        let lines = store.read(|txn| {
            let current = ctx.actor(txn)?.branch;
            let line = |revision: &Revision| {
                let event = txn.known_event(revision.resolve(txn, &current)?)?;
                Ok::<_, Failure>(lookup::line(txn, &event)?)
            };
            args.revisions.iter().map(line).collect::<Result<Vec<_>, _>>()
        })?;
        for line in lines {
            writeln!(ctx.out.writer(), "{line}")?;
        }
        return Ok(Answer::Yes);
    }
    let current = store.read(|txn| Ok::<_, Failure>(ctx.actor(txn)?.branch))?;
    let mut input = io::stdin().lock();
    match lookup::serve(&mut store, &current, args.batch, &mut input, ctx.out.writer()) {
        Ok(()) => Ok(Answer::Yes),
        Err(LookupError::Write(error)) => Err(error.into()),
        Err(error) => Err(Failure::from(error)),
    }
}
