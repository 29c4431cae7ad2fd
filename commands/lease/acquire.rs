//! `mk lease acquire`

use std::io::{self, Write};
use std::time::Duration;

use mk::lease::{self, Again, Ask, Claimant, DEFAULT_TTL, Granted, Resource, Ttl};
use mk::log::Outside;
use mk::operation::{Once, OpId};
use mk::store::Engine;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Chance, Context, Failure, Text, parse_ttl, parse_wait, warn_of_secrets};

/// Get leases on all of the paths, or on none, and print the token of each
///
/// A line for each PATH, in their order; spellings of one file have one lease, and the same token.
/// The token goes with `mk lease renew`, `mk lease release` and --fence. A lease that this agent and
/// session hold already is renewed and keeps its token.
#[derive(Debug, clap::Args)]
pub struct Acquire {
    /// What to lease
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// How long they hold, above 0, at most 86400 [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = parse_ttl, allow_negative_numbers = true)]
    pub ttl: Option<Ttl>,
    /// How long to wait for them if others hold them, first come first served, at most 86400
    #[arg(long, value_name = "SECONDS", value_parser = parse_wait, allow_negative_numbers = true)]
    pub wait: Option<Duration>,
    /// Take over what another session of the same agent holds: it gets a new token
    #[arg(long)]
    pub takeover: bool,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

#[derive(Serialize)]
struct Acquired {
    #[serde(flatten)]
    granted: Once<Granted>,
    /// What each path is.
    #[serde(skip)]
    resources: Vec<Resource>,
}

impl Text for Acquired {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        // Two spellings of one file have one lease: its token stands in the place of both.
        let leases = &self.granted.report.leases;
        self.resources.iter().try_for_each(|resource| {
            let lease = leases.iter().find(|lease| lease.resource == resource.as_str());
            lease.map_or(Ok(()), |lease| writeln!(out, "{}", lease.fencing_token))
        })
    }
}

pub fn run(args: &Acquire, ctx: &mut Context) -> Result<Answer, Failure> {
    let (mut store, actor) = ctx.open_to_write()?;
    let (distinct, resources) = store.read(|txn| {
        let each = args.paths.iter().map(|path| actor.whereabouts.resource(txn, path));
        let each = each.collect::<Result<Vec<_>, _>>()?;
        Ok::<_, Failure>((actor.whereabouts.resources(txn, &args.paths)?, each))
    })?;
    let ask = Ask {
        branch: &actor.branch,
        resources: &distinct,
        who: Claimant { agent: &actor.agent, session: &actor.session, origin: ctx.origin() },
        ttl: args.ttl.unwrap_or(DEFAULT_TTL),
        again: if args.takeover { Again::TakeOver } else { Again::Renew },
        metadata: &actor.metadata,
        op_id: args.op_id.as_ref(),
    };
    let mut chance = Chance::new();
    let mut outside = Outside { now: &mut || ctx.now(), salt: &mut || chance.draw() };
    let mut clock = || actor.lease_now();
    let patience = ctx.patience(args.wait.unwrap_or_default());
    let granted = lease::acquire_in_turn(&mut store, ask, patience, &mut clock, &mut outside)?;
    ctx.note_written();
    for event in granted.report.leases.iter().filter_map(|lease| lease.event.as_ref()) {
        warn_of_secrets(event.event_id, &event.redacted);
    }
    ctx.print(&Acquired { granted, resources })?;
    Ok(Answer::Yes)
}
