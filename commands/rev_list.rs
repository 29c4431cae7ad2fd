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
    let mut count = 0_u64;
    store.read(|txn| {
        args.walk.walk(txn, &actor, |event| {
            count += 1;
            match (args.count, json, args.id) {
                (true, ..) => {}
                (_, true, _) => {
                    writeln!(out, "{{\"event_id\":{},\"hash\":\"{}\"}}", event.id, event.hash)?;
                }
                (_, _, true) => writeln!(out, "{}", event.id)?,
                _ => writeln!(out, "{}", event.hash)?,
            }
            Ok(())
        })
    })?;
    match (args.count, json) {
        (true, true) => writeln!(out, "{{\"count\":{count}}}")?,
        (true, false) => writeln!(out, "{count}")?,
        _ => {}
    }
    Ok(Answer::Yes)
}
