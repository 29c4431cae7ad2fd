//! `mk lease renew`

use std::io::{self, Write};

use mk::lease::{self, Renewed};

use super::{lasting, write_key};
use crate::Answer;
use crate::cli::{Context, Failure, Text, parse_token};

/// Let a lease hold for its whole time again, from now on
///
/// Only while it is in force: one that ran out has to be acquired anew, since somebody else may have
/// had it meanwhile.
#[derive(Debug, clap::Args)]
pub struct Renew {
    /// What is leased
    pub path: String,
    /// The token that `mk lease acquire` printed
    #[arg(long, value_name = "N", value_parser = parse_token, allow_negative_numbers = true)]
    pub token: u64,
}

impl Text for Renewed {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        write_key(out, &self.resource)?;
        writeln!(out, " holds for {} more", lasting(self.expires_in_seconds))
    }
}

pub fn run(args: &Renew, ctx: &mut Context) -> Result<Answer, Failure> {
    let renewed = ctx.write(|txn, actor, _| {
        let resource = actor.whereabouts.resource(txn, &args.path)?;
        Ok(lease::renew(txn, &resource, args.token, &actor.agent, actor.lease_now())?)
    })?;
    ctx.print(&renewed)?;
    Ok(Answer::Yes)
}
