//! `mk import memkernel`

use std::io::{self, Write};
use std::path::PathBuf;

use mk::code::Code;
use mk::id::BranchName;
use mk::memkernel::{ImportError, MemKernel, Options, Plan};
use mk::text::counted;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Import the database of a MemKernel project
///
/// Every branch is verified by MemKernel's own rules first. All events come over as they are, with
/// their branches, forks and rollbacks; of leases only the counters. Nothing of the source is touched.
/// Importing again takes in what is new.
#[derive(Debug, clap::Args)]
pub struct Memkernel {
    /// The database, as a rule .memkernel/memkernel.db
    file: PathBuf,
    /// Name branch `b` of the source `PREFIX/b`; needed where the project has events of its own
    #[arg(long)]
    prefix: Option<BranchName>,
    /// Of a broken branch, import the events before the first bad one
    #[arg(long)]
    allow_corrupt: bool,
    /// Show what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Memkernel, ctx: &mut Context) -> Result<Answer, Failure> {
    // The project is looked for first: without one the source need not be read.
    let mut project = ctx.open_to_read()?;
    let source = MemKernel::open(&args.file)?;
    let options = Options { prefix: args.prefix.clone(), allow_corrupt: args.allow_corrupt };
    let plan = match args.dry_run {
        true => mk::store::Engine::read(&mut project, |txn| {
            let actor = ctx.actor(txn)?;
            let place = actor.whereabouts.place(txn)?;
            source.rehearse(txn, &options, &place, &actor.agent).map_err(failure)
        })?,
        false => {
            drop(project);
            ctx.write(|txn, actor, outside| {
                let place = actor.whereabouts.place(txn)?;
                source.import(txn, &options, &place, &actor.agent, outside).map_err(failure)
            })?
        }
    };
    warn(&plan);
    ctx.print(&plan)?;
    Ok(Answer::Yes)
}

fn failure(error: ImportError) -> Failure {
    let failure = Failure::from(error);
    match failure.code {
        Code::BRANCH_EXISTS => failure.hint("choose another --prefix"),
        _ => failure,
    }
}

fn warn(plan: &Plan) {
    let warnings = &plan.warnings;
    let mut text = String::new();
    for warning in &warnings.listed {
        text.push_str(&format!("warning: {warning}\n"));
    }
    let total: u64 = warnings.by_kind.values().sum();
    let more = total.saturating_sub(warnings.listed.len() as u64);
    if more > 0 {
        let kinds: Vec<String> =
            warnings.by_kind.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        text.push_str(&format!("warning: {more} more; of all: {}\n", kinds.join(", ")));
    }
    // The import stands, whether stderr can be written or not.
    let _ = io::stderr().write_all(text.as_bytes());
}

impl Text for Plan {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for action in &self.planned_actions {
            let noun = if action.kind == "raise_counters" { "counter" } else { "event" };
            let events = counted(action.count, noun);
            let known = match action.known {
                0 => String::new(),
                known => format!(", {known} known"),
            };
            writeln!(out, "{}: {events}{known}", mk::id::shown(&action.object))?;
        }
        for finding in &self.blockers {
            writeln!(out, "blocker: {finding}")?;
        }
        let more = self.blockers_total - self.blockers.len() as u64;
        if more > 0 {
            writeln!(out, "{}", counted(more, "more blocker"))?;
        }
        let count = self
            .planned_actions
            .iter()
            .filter(|action| action.kind != "raise_counters")
            .map(|action| action.count)
            .sum();
        let events = counted(count, "event");
        match (&self.import_id, self.planned_actions.is_empty()) {
            (Some(id), _) => writeln!(out, "imported {events} as {id}"),
            (None, true) => {
                writeln!(out, "nothing to import, {} known", counted(self.known, "event"))
            }
            (None, false) => writeln!(out, "would import {events}"),
        }
    }
}
