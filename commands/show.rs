//! `mk show`

use std::io::{self, Write};

use mk::canon::Value;
use mk::revision::Revision;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, EventReport, Failure, Text, lines};

/// Show events with all that they say
#[derive(Debug, clap::Args)]
pub struct Show {
    /// The events [default: the newest of the current branch]
    #[arg(value_name = "REV")]
    pub revisions: Vec<Revision>,
}

#[derive(Serialize)]
struct Report {
    events: Vec<EventReport>,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (index, event) in self.events.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            writeln!(out, "event {} {}", event.event_id, event.hash)?;
            writeln!(out, "Branch: {} @{}", event.branch_id, event.sequence)?;
            writeln!(out, "Agent:  {}", event.agent_id)?;
            writeln!(out, "Date:   {}", event.timestamp)?;
            writeln!(out, "Type:   {}", event.event_type)?;
            if let Some(parent) = event.parent_event_id {
                writeln!(out, "Parent: event {parent}")?;
            }
            for (title, text) in [
                ("Payload", Some(&event.payload)),
                ("Names", event.resolved.as_ref()),
                ("Metadata", Some(&event.metadata)),
            ] {
                let Some(text) = text.map(|text| text.get()).filter(|text| *text != "{}") else {
                    continue;
                };
                writeln!(out, "{title}:")?;
                let value = Value::parse(text.as_bytes()).unwrap_or_default();
                members(&value, out)?;
            }
        }
        Ok(())
    }
}

/// The members of an object a line each; a text of several lines as it is, moved in.
fn members(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    let Value::Object(object) = value else {
        return writeln!(out, "    {}", if *value == Value::Null { "[erased]" } else { "" });
    };
    for (name, value) in object.iter() {
        let name = crate::cli::line(name);
        match value {
            Value::String(text) if text.contains('\n') => {
                writeln!(out, "    {name}:")?;
                for line in lines(text.strip_suffix('\n').unwrap_or(text)) {
                    writeln!(out, "        {line}")?;
                }
            }
            Value::String(text) if text.is_empty() => writeln!(out, "    {name}:")?,
            Value::String(text) => writeln!(out, "    {name}: {}", crate::cli::line(text))?,
            other => {
                let mut shown = other.to_pretty().lines().map(crate::cli::line).collect::<Vec<_>>();
                let first = shown.remove(0);
                writeln!(out, "    {name}: {first}")?;
                for line in shown {
                    writeln!(out, "    {line}")?;
                }
            }
        }
    }
    Ok(())
}

pub fn run(args: &Show, ctx: &mut Context) -> Result<Answer, Failure> {
    let events = ctx.read(|txn| {
        let current = ctx.actor(txn)?.branch;
        let head = [Revision::of_branch(&current)];
        let revisions = if args.revisions.is_empty() { &head[..] } else { &args.revisions };
        let show = |revision: &Revision| {
            let event = txn.known_event(revision.resolve(txn, &current)?)?;
            Ok::<_, Failure>(EventReport::new(txn, &event)?)
        };
        revisions.iter().map(show).collect::<Result<Vec<_>, _>>()
    })?;
    ctx.print(&Report { events })?;
    Ok(Answer::Yes)
}
