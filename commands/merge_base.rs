//! `mk merge-base`

use std::io::{self, Write};

use mk::branch;
use mk::id::{EventId, Hash};
use mk::revision::Revision;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Print the last event that two lineages share
///
/// Exit status 1, and nothing printed, if they share none. Rollbacks do not move it.
#[derive(Debug, clap::Args)]
pub struct MergeBase {
    /// One side: a branch or an event
    a: Revision,
    /// The other side
    b: Revision,
}

#[derive(Serialize)]
struct Report {
    merge_base_event_id: Option<EventId>,
    merge_base_sequence: u64,
    merge_base_hash: Option<Hash>,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.merge_base_hash.map_or(Ok(()), |hash| writeln!(out, "{hash}"))
    }
}

pub fn run(args: &MergeBase, ctx: &mut Context) -> Result<Answer, Failure> {
    let base = ctx.read(|txn| {
        let current = ctx.actor(txn)?.branch;
        let head = |side: &Revision| -> Result<Option<EventId>, Failure> {
            match side.branch(txn, &current)? {
                Some(branch) => Ok(branch.head),
                None => Ok(Some(side.resolve(txn, &current)?)),
            }
        };
        Ok(branch::merge_base(txn, head(&args.a)?, head(&args.b)?)?)
    })?;
    ctx.print(&Report {
        merge_base_event_id: base.as_ref().map(|event| event.id),
        merge_base_sequence: base.as_ref().map_or(0, |event| event.sequence),
        merge_base_hash: base.as_ref().map(|event| event.hash),
    })?;
    Ok(if base.is_some() { Answer::Yes } else { Answer::No })
}
