//! `mk diff`

use std::io::{self, Write};

use mk::canon::Value;
use mk::revision::Revision;
use mk::text::counted;
use mk::workspace::diff::{self, Ahead, Conflict, Diff};

use crate::Answer;
use crate::cli::{self, Context, Failure, Text, head_of, note_erased};

/// Show how two branches differ: events of each side, decisions and facts
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// One side: a branch or an event
    pub a: Revision,
    /// The other side [default: the current branch]
    pub b: Option<Revision>,
    /// Exit with 1 if they differ
    #[arg(long)]
    pub exit_code: bool,
}

pub fn run(args: &DiffArgs, ctx: &mut Context) -> Result<Answer, Failure> {
    let diff = ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        let (name_a, a) = head_of(txn, Some(&args.a), &actor)?;
        let (name_b, b) = head_of(txn, args.b.as_ref(), &actor)?;
        note_erased(txn, a)?;
        note_erased(txn, b)?;
        let label = |given: Option<&Revision>, name: &mk::id::BranchName| {
            given.map_or_else(|| name.to_string(), ToString::to_string)
        };
        let (label_a, label_b) = (label(Some(&args.a), &name_a), label(args.b.as_ref(), &name_b));
        Ok(diff::diff(txn, (&label_a, a), (&label_b, b))?)
    })?;
    ctx.print(&diff)?;
    Ok(if args.exit_code && !diff.is_empty() { Answer::No } else { Answer::Yes })
}

impl Text for Diff {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (a, b) = (&self.branch_a, &self.branch_b);
        match (self.merge_base_event_id, self.merge_base_hash) {
            (Some(event), Some(hash)) => writeln!(out, "merge base: event {event} {hash}")?,
            _ => writeln!(out, "merge base: none")?,
        }
        for (name, ahead) in [(a, &self.ahead_a), (b, &self.ahead_b)] {
            writeln!(out, "{name}: {} ahead", counted(ahead.len() as u64, "event"))?;
            for Ahead { event_id, agent_id, event_type, .. } in ahead {
                writeln!(out, "  {event_id} {agent_id} {event_type}")?;
            }
        }
        for (name, rollbacks) in
            [(a, &self.rollbacks_since_base.a), (b, &self.rollbacks_since_base.b)]
        {
            for rollback in rollbacks {
                let target =
                    rollback.target_event_id.map_or("none".to_owned(), |id| id.to_string());
                writeln!(out, "{name}: event {} rolled back to {target}", rollback.event_id)?;
            }
        }
        for (what, conflicts) in
            [("decision", &self.conflicting_decisions), ("fact", &self.conflicting_facts)]
        {
            for Conflict { key, a: of_a, b: of_b } in conflicts {
                writeln!(out, "conflict: {what} {}", cli::line(key))?;
                writeln!(out, "  {a}: {}", value(of_a))?;
                writeln!(out, "  {b}: {}", value(of_b))?;
            }
        }
        for (what, name, records) in [
            ("decision", a, &self.decisions_only_in_a),
            ("decision", b, &self.decisions_only_in_b),
            ("fact", a, &self.facts_only_in_a),
            ("fact", b, &self.facts_only_in_b),
        ] {
            for (key, record) in records {
                writeln!(out, "only in {name}: {what} {} = {}", cli::line(key), value(record))?;
            }
        }
        let equal = if self.identical_state { "equal" } else { "different" };
        writeln!(out, "states: {equal}")
    }
}

fn value(record: &Value) -> String {
    match record.get("value") {
        Some(Value::String(text)) => cli::line(text),
        Some(value) => value.canonical(),
        None => String::new(),
    }
}
