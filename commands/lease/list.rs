//! `mk lease list`

use std::io::{self, Write};

use mk::lease::{self, AT_ONCE, Listing};
use mk::store::Leases;
use serde::Serialize;

use super::lasting;
use crate::Answer;
use crate::cli::{Context, Failure, Text, line};

/// List the leases in force, by resource: resource, holder, token, time left
#[derive(Debug, clap::Args)]
pub struct List {
    /// Only what it is and what lies below
    pub path: Option<String>,
    /// Also those that are over: what was ever leased, with its last token
    #[arg(long)]
    pub all: bool,
    /// Start after this resource
    #[arg(long, value_name = "KEY")]
    pub after: Option<String>,
    /// Print resources only, each with a NUL at its end
    #[arg(short = 'z', conflicts_with = "json")]
    pub nul: bool,
    /// Most that are listed, 1 to 1000
    #[arg(short = 'n', long, value_name = "N", default_value_t = AT_ONCE as u64,
          value_parser = clap::value_parser!(u64).range(1..=AT_ONCE as u64))]
    pub limit: u64,
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    listing: Listing,
    #[serde(skip)]
    nul: bool,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for lease in &self.listing.leases {
            if self.nul {
                write!(out, "{}\0", lease.resource_key)?;
                continue;
            }
            let key = line(&lease.resource_key);
            let (holder, left) = match &lease.holder_agent_id {
                Some(holder) => (holder.as_str(), lasting(lease.expires_in_seconds)),
                None => ("-", "-".to_owned()),
            };
            writeln!(out, "{key}\t{holder}\t{}\t{left}", lease.fencing_token)?;
        }
        match &self.listing.next_after {
            Some(after) if !self.nul => {
                writeln!(out, "[there are more: mk lease list --after {}]", line(after))
            }
            _ => Ok(()),
        }
    }
}

pub fn run(args: &List, ctx: &mut Context) -> Result<Answer, Failure> {
    let listing = ctx.read(|txn| {
        let (actor, now) = (ctx.actor(txn)?, ctx.lease_now());
        let which = if args.all { Leases::All } else { Leases::Active(now) };
        let within = args.path.as_deref().map(|path| actor.whereabouts.resource(txn, path));
        let within = within.transpose()?;
        let after = args.after.as_deref();
        Ok(lease::list(txn, which, within.as_ref(), after, args.limit as usize, now)?)
    })?;
    ctx.print(&Report { listing, nul: args.nul })?;
    Ok(Answer::Yes)
}
