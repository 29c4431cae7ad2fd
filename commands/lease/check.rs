//! `mk lease check`

use std::io::{self, Write};

use mk::lease::{self, Blocking, LeaseReport};
use serde::Serialize;

use super::{lasting, write_key};
use crate::Answer;
use crate::cli::{Context, Failure, Text, parse_token};

/// Tell whether paths are leased to others: exit 0 if none is, 1 if one is
///
/// Asks for nothing and takes nothing, for hooks and scripts. Leases of the same agent do not count,
/// whatever their session. With --token, tells whether you hold the lease with that token.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// What is asked about
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// Whether this is the current token of your lease on exactly the one PATH
    #[arg(long, value_name = "N", value_parser = parse_token, allow_negative_numbers = true)]
    pub token: Option<u64>,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    resources: Vec<Blocking>,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for resource in &self.resources {
            if resource.leases.is_empty() {
                write_key(out, &resource.resource)?;
                writeln!(out, " is free")?;
            }
            for lease in &resource.leases {
                write_key(out, &resource.resource)?;
                if lease.resource_key != resource.resource {
                    out.write_all(b" overlaps with ")?;
                    write_key(out, &lease.resource_key)?;
                    out.write_all(b", which")?;
                }
                holding(out, lease)?;
            }
        }
        Ok(())
    }
}

fn holding(out: &mut dyn Write, lease: &LeaseReport) -> io::Result<()> {
    let holder = lease.holder_agent_id.as_ref().map_or("", |holder| holder.as_str());
    let left = lasting(lease.expires_in_seconds);
    writeln!(out, " is leased to '{holder}' for {left} more (token {})", lease.fencing_token)
}

pub fn run(args: &Check, ctx: &mut Context) -> Result<Answer, Failure> {
    if args.token.is_some() && args.paths.len() > 1 {
        return Err(Failure::usage("a token belongs to one path"));
    }
    let report = ctx.read(|txn| {
        let (actor, now) = (ctx.actor(txn)?, ctx.lease_now());
        let resources = actor.whereabouts.resources(txn, &args.paths)?;
        if let (Some(token), [resource]) = (args.token, resources.as_slice()) {
            lease::held(txn, resource, token, &actor.agent, now)?;
        }
        let resources: Vec<Blocking> = resources
            .iter()
            .map(|resource| Blocking::of(txn, resource, &actor.agent, now))
            .collect::<Result<_, _>>()?;
        let ok = resources.iter().all(|resource| resource.state != "held");
        Ok(Report { ok, resources })
    })?;
    ctx.print(&report)?;
    Ok(if report.ok { Answer::Yes } else { Answer::No })
}
