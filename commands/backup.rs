//! `mk backup`

use std::io::{self, Write};
use std::path::PathBuf;

use mk::backup::{self, Made};
use mk::text::counted;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Copy the whole store to a file
///
/// The copy is of one moment, while others go on writing, and holds all that `mk export` leaves out:
/// leases, op ids, settings, current branches. FILE appears when the copy is safe on the disk and was
/// read again. It is a store itself: `mk --db FILE verify` checks all of it.
#[derive(Debug, clap::Args)]
pub struct Backup {
    /// Where to
    file: PathBuf,
    /// Replace FILE
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Backup, ctx: &mut Context) -> Result<Answer, Failure> {
    let made = backup::backup(&mut ctx.open_to_read()?, &args.file, args.force)?;
    ctx.print(&made)?;
    Ok(Answer::Yes)
}

impl Text for Made {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = crate::cli::line(&self.path);
        let (events, bytes) = (counted(self.events, "event"), counted(self.bytes, "byte"));
        writeln!(out, "{events} in '{path}', {bytes}")
    }
}
