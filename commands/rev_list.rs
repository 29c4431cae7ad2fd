//! `mk rev-list`

use mk::store::Engine;

use crate::Answer;
use crate::cli::{Context, Failure, WalkArgs};

/// Print the hashes of the events of a branch or a range, newest first
#[derive(Debug, clap::Args)]
pub struct RevList {
    #[command(flatten)]
    walk: WalkArgs,
    /// Print how many there are instead
    #[arg(long)]
    count: bool,
    /// Print event ids instead
    #[arg(long, conflicts_with = "count")]
    id: bool,
}

pub fn run(args: &RevList, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut store = ctx.open_to_read()?;
    let json = ctx.out.json;
    let actor = store.read(|txn| ctx.actor(txn))?;
    let out = ctx.out.writer();
    if args.count {
        let count = store.read(|txn| args.walk.count(txn, &actor))?;
        match json {
            true => writeln!(out, "{{\"count\":{count}}}")?,
            false => writeln!(out, "{count}")?,
        }
        return Ok(Answer::Yes);
    }
    store.read(|txn| {
        args.walk.walk(txn, &actor, |event| {
            match (json, args.id) {
                (true, _) => {
                    writeln!(out, "{{\"event_id\":{},\"hash\":\"{}\"}}", event.id, event.hash)?;
                }
                (_, true) => writeln!(out, "{}", event.id)?,
                _ => writeln!(out, "{}", event.hash)?,
            }
            Ok(())
        })
    })?;
    Ok(Answer::Yes)
}
