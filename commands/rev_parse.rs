//! `mk rev-parse`

use std::io::{self, Write};

use mk::id::{BranchName, EventId, Hash};
use mk::revision::Revision;
use mk::store::{Engine, StoreError};
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Print the hash that a revision stands for, or where the project is
///
/// A revision is an event id (42), a branch (main), a hash prefix of 4 digits or more, HEAD, or one
/// of these followed by ~N (N live events back), @N (sequence N of the lineage) or @{TIME} (the last
/// live event at or before).
#[derive(Debug, clap::Args)]
pub struct RevParse {
    /// The revisions
    #[arg(required_unless_present_any = ["store", "project"], value_name = "REV")]
    revisions: Vec<Revision>,
    /// Print event ids instead
    #[arg(long, conflicts_with = "short")]
    id: bool,
    /// Print the first 8 digits
    #[arg(long)]
    short: bool,
    /// Say nothing if there is no such event, and exit with 1
    #[arg(short, long)]
    quiet: bool,
    /// Print the path of the store
    #[arg(long, conflicts_with_all = ["revisions", "project"])]
    store: bool,
    /// Print the id of the project
    #[arg(long, conflicts_with = "revisions")]
    project: bool,
}

#[derive(Serialize)]
struct Parsed {
    revision: String,
    event_id: EventId,
    hash: Hash,
    sequence: u64,
    branch_id: BranchName,
}

#[derive(Serialize)]
struct Report {
    revisions: Vec<Parsed>,
    #[serde(skip)]
    form: Form,
}

enum Form {
    Hash,
    Short,
    Id,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for parsed in &self.revisions {
            match self.form {
                Form::Hash => writeln!(out, "{}", parsed.hash)?,
                Form::Short => writeln!(out, "{}", parsed.hash.short())?,
                Form::Id => writeln!(out, "{}", parsed.event_id)?,
            }
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Place {
    store: String,
    project_id: String,
    #[serde(skip)]
    wants_store: bool,
}

impl Text for Place {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", if self.wants_store { &self.store } else { &self.project_id })
    }
}

pub fn run(args: &RevParse, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut store = ctx.open_to_read()?;
    if args.store || args.project {
        let project_id = store.read(|txn| Ok::<_, StoreError>(txn.identity()?.project_id))?;
        let path = ctx.directory()?.join(store.path()).display().to_string();
        ctx.print(&Place { store: path, project_id, wants_store: args.store })?;
        return Ok(Answer::Yes);
    }
    let parsed = store.read(|txn| {
        let current = ctx.actor(txn)?.branch;
        let parse = |revision: &Revision| {
            let event = txn.known_event(revision.resolve(txn, &current)?)?;
            Ok::<_, Failure>(Parsed {
                revision: revision.to_string(),
                event_id: event.id,
                hash: event.hash,
                sequence: event.sequence,
                branch_id: txn.lineage(event.lineage)?.name,
            })
        };
        args.revisions.iter().map(parse).collect::<Result<Vec<_>, _>>()
    });
    let revisions = match parsed {
        Ok(revisions) => revisions,
        Err(failure) if args.quiet && failure.is_about_names() => return Ok(Answer::No),
        Err(failure) => return Err(failure),
    };
    let form = if args.id {
        Form::Id
    } else if args.short {
        Form::Short
    } else {
        Form::Hash
    };
    ctx.print(&Report { revisions, form })?;
    Ok(Answer::Yes)
}
