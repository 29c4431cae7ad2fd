//! `mk watch`

use std::io;
use std::time::Duration;

use mk::branch;
use mk::code::Code;
use mk::event::Event;
use mk::id::EventId;
use mk::lease::Resource;
use mk::revision::Revision;
use mk::store::{Changes, Engine, ReadTxn};
use mk::watch::{self, Ended, Filter, Landed};
use rustix::event::{PollFd, PollFlags};

use crate::Answer;
use crate::cli::{Context, EventReport, Failure, branch_name, pager_colour, parse_wait, subject};

/// How long one wait lasts if nobody says how long to wait.
const LONG: Duration = Duration::from_secs(86_400);

/// Print events as they land
///
/// Those of the current branch, each on a line of its own at once, until it is interrupted or nobody
/// reads any more.
#[derive(Debug, clap::Args)]
pub struct Watch {
    /// Events of all branches
    #[arg(long, conflicts_with = "branch")]
    pub all: bool,
    /// Also those since this event
    #[arg(long, value_name = "EVENT")]
    pub after: Option<Revision>,
    /// Only grants, releases and fenced writes of PATH, or of a subtree it is in; with a / at its end,
    /// of all that is in it
    #[arg(long, value_name = "PATH")]
    pub resource: Option<String>,
    /// End with the first that land, or with exit status 1 when there are none for so long
    #[arg(long, value_name = "SECONDS", value_parser = parse_wait, allow_negative_numbers = true)]
    pub wait: Option<Duration>,
}

pub fn run(args: &Watch, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut changes = Changes::of(&ctx.store_path()?)?;
    let (filter, mut after) = changes.store().read(|txn| args.read(txn, ctx))?;
    let style = Style { colour: pager_colour(ctx.global.color), all: args.all };
    let stdout = io::stdout();
    loop {
        // Nothing is read from it, but that its reader has gone is told of.
        let gone = PollFd::new(&stdout, PollFlags::empty());
        let wait = args.wait.unwrap_or(LONG);
        let landed = watch::wait(&mut changes, &mut after, &filter, wait, Some(gone))?;
        match (landed, args.wait) {
            (Ok(landed), _) => {
                changes.store().read(|txn| {
                    landed.events.iter().try_for_each(|event| style.print(txn, event, ctx))
                })?;
                ctx.out.flush()?;
                if args.wait.is_some() {
                    return Ok(Answer::Yes);
                }
            }
            (Err(Ended::Other), _) => return Ok(Answer::Yes),
            (Err(Ended::TimedOut), None) => {}
            (Err(Ended::TimedOut), Some(wait)) => return Err(nothing_for(wait)),
        }
    }
}

/// How soon it is noticed that a caller gave up.
const STEP: Duration = Duration::from_millis(100);

/// The events that land first, for a caller that may give up waiting for them.
///
/// # Errors
/// [`Code::TIMEOUT`] if there are none for as long as `args` say.
pub fn first(args: &Watch, ctx: &Context) -> Result<Landed, Failure> {
    let mut changes = Changes::of(&ctx.store_path()?)?;
    let (filter, mut after) = changes.store().read(|txn| args.read(txn, ctx))?;
    let wait = args.wait.unwrap_or(LONG);
    let patience = ctx.patience(wait);
    loop {
        let step = patience.left().min(STEP);
        if let Ok(landed) = watch::wait(&mut changes, &mut after, &filter, step, None)? {
            return Ok(landed);
        }
        if patience.left().is_zero() {
            return Err(nothing_for(wait));
        }
    }
}

fn nothing_for(wait: Duration) -> Failure {
    Failure::new(Code::TIMEOUT, format!("nothing landed for {} s", wait.as_secs_f64()))
}

impl Watch {
    fn read(&self, txn: &dyn ReadTxn, ctx: &Context) -> Result<(Filter, EventId), Failure> {
        let actor = ctx.actor(txn)?;
        // To be told at once that there is none.
        let branch = mk::revision::branch(txn, actor.branch.as_str())?.name;
        let resource = match &self.resource {
            Some(path) => Some(Resource::locate(path, &actor.whereabouts.place(txn)?)?),
            None => None,
        };
        let after = match &self.after {
            Some(revision) => revision.resolve(txn, &branch)?,
            None => txn.log_head()?.map_or(EventId(0), |(id, _)| id),
        };
        Ok((Filter { branch: (!self.all).then_some(branch), resource }, after))
    }
}

struct Style {
    colour: bool,
    all: bool,
}

impl Style {
    fn print(&self, txn: &dyn ReadTxn, event: &Event, ctx: &mut Context) -> Result<(), Failure> {
        let json = ctx.out.json;
        let out = ctx.out.writer();
        if json {
            let report = EventReport::new(txn, event)?;
            serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
            return Ok(out.write_all(b"\n")?);
        }
        let payload = branch::reported_payload(txn, event)?;
        let (on, off) = if self.colour { ("\x1b[33m", "\x1b[0m") } else { ("", "") };
        let branch = match self.all {
            true => format!("{} ", branch_name(txn, event)?),
            false => String::new(),
        };
        let text = subject(event, payload.as_ref());
        let gap = if text.is_empty() { "" } else { " " };
        let Event { id, agent, kind, hash, .. } = event;
        Ok(writeln!(out, "{on}{}{off} {id} {branch}{agent} {kind}{gap}{text}", hash.short())?)
    }
}
