//! `mk restore`

use std::io::{self, Write};
use std::path::PathBuf;

use mk::backup::{self, Restored};
use mk::text::counted;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Put a backup in the place of the store
///
/// The backup is checked as by `mk verify` first. Processes that have the store open see all of it, or
/// all of what was before. Leases get tokens that none was granted before, so whoever held one must
/// acquire it anew. Events that the backup does not hold are not thrown away unless you say so.
#[derive(Debug, clap::Args)]
pub struct Restore {
    /// The backup
    file: PathBuf,
    /// Restore even if events are lost, or the store cannot be read; it is kept in a file beside
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Restore, ctx: &mut Context) -> Result<Answer, Failure> {
    let stamp: String = ctx.now().to_string().chars().filter(char::is_ascii_digit).collect();
    let store = ctx.store_path()?;
    let wait = ctx.lock_timeout();
    let restored = backup::restore(&args.file, &store, args.force, &stamp, wait)?;
    ctx.note_written();
    ctx.print(&restored)?;
    Ok(Answer::Yes)
}

impl Text for Restored {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "restored {}", counted(self.events, "event"))?;
        match &self.before {
            Some(path) => writeln!(out, "the store before is in '{}'", crate::cli::line(path)),
            None => Ok(()),
        }
    }
}
