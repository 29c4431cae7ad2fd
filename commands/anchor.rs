//! `mk anchor`

use std::io::{self, Write};

use mk::id::{EventId, Hash};
use mk::verify;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Print one line that stands for the whole log
///
/// Kept outside the store, it lets `mk verify --anchor` find a log that was cut, or an old copy put
/// back, which no chain of hashes can show from inside.
#[derive(Debug, clap::Args)]
pub struct Anchor {}

#[derive(Serialize)]
struct Report {
    project_id: String,
    event_id: EventId,
    log_hash: Hash,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { project_id, event_id: event, log_hash: log } = self;
        writeln!(
            out,
            "{}",
            verify::Anchor { project_id: project_id.clone(), event: *event, log: *log }
        )
    }
}

pub fn run(_: &Anchor, ctx: &mut Context) -> Result<Answer, Failure> {
    let report = ctx.read(|txn| {
        let (event_id, log_hash) = txn.log_head()?.unwrap_or((EventId(0), Hash::ZERO));
        Ok(Report { project_id: txn.identity()?.project_id, event_id, log_hash })
    })?;
    ctx.print(&report)?;
    Ok(Answer::Yes)
}
