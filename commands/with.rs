//! `mk with`

use std::io::{self, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use mk::canon::Object;
use mk::code::Coded;
use mk::id::{AgentId, hex};
use mk::lease::{
    self, Again, Ask, Claimant, DEFAULT_TTL, Granted, LeaseError, Place, Resource, Ttl,
};
use mk::log::{Log, Outside};
use mk::store::{Engine, Sqlite};
use mk::time::Timestamp;
use rustix::process::Signal;

use crate::Answer;
use crate::cli::{
    Chance, Child, Context, Failure, exit_status, line, parse_ttl, parse_wait, warn_of_secrets,
};

/// How soon a renewal is tried again that could not be made.
const AGAIN: Duration = Duration::from_secs(1);

/// Run a command while holding leases on all of the paths
///
/// They are renewed for as long as it runs, and given back when it ends; its exit status is that of
/// `mk with`. It finds the first token in MK_LEASE_TOKEN, and PATH:TOKEN of each, a line each, in
/// MK_LEASES, as --fence takes them. If a lease is lost, it gets SIGTERM. If they are not granted, it is
/// not run. Without MK_SESSION or CLAUDE_CODE_SESSION_ID each `mk with` is a session of its own, and its
/// command finds that in MK_SESSION.
#[derive(Debug, clap::Args)]
pub struct With {
    /// What to lease
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// How long a lease holds if it is not renewed, above 0, at most 86400 [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = parse_ttl, allow_negative_numbers = true)]
    ttl: Option<Ttl>,
    /// How long to wait for them if others hold them, first come first served, at most 86400
    #[arg(long, value_name = "SECONDS", value_parser = parse_wait, allow_negative_numbers = true)]
    wait: Option<Duration>,
    /// Take over what another session of the same agent holds
    #[arg(long)]
    takeover: bool,
}

pub fn run(args: &With, ctx: &mut Context) -> Result<Answer, Failure> {
    let (mut store, actor) = ctx.open_to_write()?;
    // Without a session, two of these by one agent would be one holder and keep nobody out.
    let own_session = actor.session.is_empty().then(|| hex(&Chance::secret()));
    let (resources, place, session) = store.read(|txn| {
        let resources = actor.whereabouts.resources(txn, &args.paths)?;
        let session = match &own_session {
            Some(name) => lease::session_key(&txn.identity()?.project_id, name),
            None => actor.session.clone(),
        };
        Ok::<_, Failure>((resources, actor.whereabouts.place(txn)?, session))
    })?;
    let ttl = args.ttl.unwrap_or(DEFAULT_TTL);
    let ask = Ask {
        branch: &actor.branch,
        resources: &resources,
        who: Claimant { agent: &actor.agent, session: &session, origin: ctx.origin() },
        ttl,
        again: if args.takeover { Again::TakeOver } else { Again::Renew },
        metadata: &actor.metadata,
        op_id: None,
    };
    let mut chance = Chance::new();
    let mut outside = Outside { now: &mut || ctx.now(), salt: &mut || chance.draw() };
    let mut clock = || actor.lease_now();
    let patience = ctx.patience(args.wait.unwrap_or_default());
    let granted = lease::acquire_in_turn(&mut store, ask, patience, &mut clock, &mut outside)?;
    for event in granted.report.leases.iter().filter_map(|lease| lease.event.as_ref()) {
        warn_of_secrets(event.event_id, &event.redacted);
    }
    let ttl = Duration::from_secs_f64(ttl.as_seconds());
    let mut leases = Leases::new(&resources, &granted.report, ttl);
    let ran = leases.hold(&mut store, &actor.agent, &mut clock, |leases| {
        let (program, words) = args.command.split_first().expect("clap asks for one word at least");
        let mut command = Command::new(program);
        command.args(words);
        ctx.hand_on(&mut command)?;
        if let Some(name) = &own_session {
            command.env("MK_SESSION", name);
        }
        leases.tell(&mut command, &place);
        Child::start(&mut command)
    });
    // Whatever became of the command, and also if there is none.
    leases.give_back(&mut store, &actor.agent, &actor.metadata, &mut clock, &mut outside);
    let status = ran?;
    match leases.lost {
        Some(error) if status == 0 => Err(error.into()),
        _ => Ok(Answer::Status(status)),
    }
}

/// The leases that a command runs under.
struct Leases<'a> {
    held: Vec<(&'a Resource, u64)>,
    /// Those of them that were not the caller's before, and are given back.
    own: Vec<(&'a Resource, u64)>,
    ttl: Duration,
    /// By the clock that cannot be set, when they were granted or renewed last.
    since: Instant,
    lost: Option<LeaseError>,
}

impl<'a> Leases<'a> {
    fn new(resources: &'a [Resource], granted: &Granted, ttl: Duration) -> Self {
        let all = resources.iter().zip(&granted.leases);
        let held = all.clone().map(|(resource, lease)| (resource, lease.fencing_token)).collect();
        let own = all.filter(|(_, lease)| !lease.renewed);
        let own = own.map(|(resource, lease)| (resource, lease.fencing_token)).collect();
        #[expect(clippy::disallowed_methods, reason = "it measures how long they are held")]
        Self { held, own, ttl, since: Instant::now(), lost: None }
    }

    /// Puts the tokens into the environment of `command`.
    fn tell(&self, command: &mut Command, place: &Place) {
        if let Some((_, token)) = self.held.first() {
            command.env("MK_LEASE_TOKEN", token.to_string());
        }
        let fence =
            |(resource, token): &(&Resource, u64)| format!("{}:{token}", resource.spelt(place));
        let fences: Vec<String> = self.held.iter().map(fence).collect();
        command.env("MK_LEASES", fences.join("\n"));
    }

    /// Runs what `start` starts, and renews the leases until it has ended or they are lost.
    fn hold(
        &mut self,
        store: &mut Sqlite,
        agent: &AgentId,
        clock: &mut dyn FnMut() -> Timestamp,
        start: impl FnOnce(&Self) -> Result<Child, Failure>,
    ) -> Result<u8, Failure> {
        let mut child = start(self)?;
        let mut pause = self.ttl / 3;
        loop {
            // A lost lease is not renewed; the command may take its time to end.
            let pause_now = if self.lost.is_some() { self.ttl.max(AGAIN) } else { pause };
            if let Some(status) = child.wait(pause_now)? {
                return Ok(exit_status(status));
            }
            if self.lost.is_some() {
                continue;
            }
            pause = self.ttl / 3;
            #[expect(clippy::disallowed_methods, reason = "it measures how long they are held")]
            let now = Instant::now();
            match self.renew(store, agent, clock()) {
                Ok(()) => self.since = now,
                Err(error @ LeaseError::Lost { .. }) => self.lose(error, &child),
                Err(_) if self.since.elapsed() < self.ttl => pause = pause.min(AGAIN),
                Err(error) => self.lose(error, &child),
            }
        }
    }

    fn renew(&self, store: &mut Sqlite, agent: &AgentId, now: Timestamp) -> Result<(), LeaseError> {
        store.write(|txn| {
            for (resource, token) in &self.held {
                lease::renew(txn, resource, *token, agent, now)?;
            }
            Ok(())
        })
    }

    fn lose(&mut self, error: LeaseError, child: &Child) {
        warn(&format!("{error}; the command is told to end"));
        child.send(Signal::TERM);
        self.lost = Some(error);
    }

    /// Gives back what was not held before. What is lost already is nobody's loss now.
    fn give_back(
        &mut self,
        store: &mut Sqlite,
        agent: &AgentId,
        metadata: &Object,
        clock: &mut dyn FnMut() -> Timestamp,
        outside: &mut Outside<'_>,
    ) {
        for (resource, token) in &self.own {
            let released = store.write(|txn| {
                let (mut log, now) = (Log::open(txn)?, clock());
                let which = (*resource, *token);
                lease::release(&mut log, None, which, agent, metadata, (now, &mut *outside))
            });
            match released {
                Ok(_) => {}
                Err(error @ LeaseError::Lost { .. }) => {
                    if self.lost.is_none() {
                        warn(&error.to_string());
                        self.lost = Some(error);
                    }
                }
                Err(error) => warn(&format!(
                    "'{resource}' is not given back ({}: {error}); the lease ends by itself",
                    error.code().name
                )),
            }
        }
    }
}

fn warn(text: &str) {
    // There is nobody left to tell if stderr is closed.
    let _ = writeln!(io::stderr(), "warning: {}", line(text));
}
