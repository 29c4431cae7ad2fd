//! `mk lease release` and `mk lease sweep`

use std::io::{self, Write};

use mk::lease::{self, Released, Swept};
use mk::log::Log;
use mk::operation::{Once, OpId, once};
use serde::Serialize;

use super::write_key;
use crate::Answer;
use crate::cli::{Context, Failure, Text, parse_token, request};

/// Give a lease back
///
/// It is recorded on --branch, else on the branch that has the grant.
#[derive(Debug, clap::Args)]
pub struct Release {
    /// What is leased
    pub path: String,
    /// The token that `mk lease acquire` printed
    #[arg(long, value_name = "N", value_parser = parse_token, allow_negative_numbers = true)]
    pub token: u64,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

impl Text for Once<Released> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        write_key(out, &self.report.resource)?;
        writeln!(out, " is free")
    }
}

pub fn release(args: &Release, ctx: &mut Context) -> Result<Answer, Failure> {
    let branch = ctx.named_branch()?;
    let released = ctx.write(|txn, actor, outside| {
        let resource = actor.whereabouts.resource(txn, &args.path)?;
        let request = request([
            ("verb", "lease release".into()),
            ("agent", actor.agent.as_str().into()),
            ("branch", branch.as_ref().map(ToString::to_string).into()),
            ("resource", resource.as_str().into()),
            ("token", args.token.into()),
        ]);
        once(txn, args.op_id.as_ref(), &request, |txn| {
            let (mut log, now) = (Log::open(txn)?, actor.lease_now());
            let which = (&resource, args.token);
            let (agent, metadata) = (&actor.agent, &actor.metadata);
            lease::release(&mut log, branch.as_ref(), which, agent, metadata, (now, outside))
                .map_err(Failure::from)
        })
    })?;
    ctx.print(&released)?;
    Ok(Answer::Yes)
}

/// Give back the leases whose time ran out
///
/// They block nobody; this takes their claims out of the state of the branches that record them. At
/// most 1000 at once.
#[derive(Debug, clap::Args)]
pub struct Sweep {
    /// Only say which
    #[arg(short = 'n', long)]
    dry_run: bool,
}

/// What would be swept.
#[derive(Serialize)]
struct Lapsed {
    resources: Vec<String>,
}

impl Text for Lapsed {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.resources.iter().try_for_each(|key| {
            write_key(out, key)?;
            writeln!(out, " ran out")
        })
    }
}

impl Text for Swept {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for lease in &self.leases {
            write_key(out, &lease.resource)?;
            writeln!(out, " is given back")?;
        }
        if self.more { writeln!(out, "there may be more: run it again") } else { Ok(()) }
    }
}

pub fn sweep(args: &Sweep, ctx: &mut Context) -> Result<Answer, Failure> {
    if args.dry_run {
        let lapsed = ctx.read(|txn| {
            let leases = lease::lapsed(txn, ctx.lease_now())?;
            Ok(Lapsed { resources: leases.into_iter().map(|lease| lease.resource).collect() })
        })?;
        ctx.print(&lapsed)?;
        return Ok(Answer::Yes);
    }
    let swept = ctx.write(|txn, actor, outside| {
        let (mut log, now) = (Log::open(txn)?, actor.lease_now());
        Ok(lease::sweep(&mut log, &actor.agent, &actor.metadata, (now, outside))?)
    })?;
    ctx.print(&swept)?;
    Ok(Answer::Yes)
}
