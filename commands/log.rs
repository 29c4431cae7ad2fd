//! `mk log`

use std::io::{self, Write};

use mk::branch;
use mk::event::Event;
use mk::store::{Engine, ReadTxn};

use crate::Answer;
use crate::cli::{
    Context, EventReport, Failure, WalkArgs, branch_name, lines, pager_colour, subject,
};

/// Show what happened on a branch, newest first
#[derive(Debug, clap::Args)]
pub struct Log {
    #[command(flatten)]
    walk: WalkArgs,
    /// A line for each event
    #[arg(long)]
    oneline: bool,
}

pub fn run(args: &Log, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut store = ctx.open_to_read()?;
    let actor = store.read(|txn| ctx.actor(txn))?;
    let json = ctx.out.json;
    let style = Style { colour: pager_colour(ctx.global.color), oneline: args.oneline };
    let out = ctx.out.writer();
    store.read(|txn| {
        let mut first = true;
        args.walk.walk(txn, &actor, |event| {
            if json {
                let report = EventReport::new(txn, event)?;
                serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
                return Ok(out.write_all(b"\n")?);
            }
            if !first && !style.oneline {
                writeln!(out)?;
            }
            first = false;
            style.entry(txn, event, out)
        })
    })?;
    Ok(Answer::Yes)
}

struct Style {
    colour: bool,
    oneline: bool,
}

impl Style {
    fn entry(&self, txn: &dyn ReadTxn, event: &Event, out: &mut dyn Write) -> Result<(), Failure> {
        let payload = branch::reported_payload(txn, event)?;
        let (on, off) = if self.colour { ("\x1b[33m", "\x1b[0m") } else { ("", "") };
        if self.oneline {
            let text = subject(event, payload.as_ref());
            let hash = event.hash.short();
            let gap = if text.is_empty() { "" } else { " " };
            let Event { id, agent, kind, .. } = event;
            writeln!(out, "{on}{hash}{off} {id} {agent} {kind}{gap}{text}")?;
            return Ok(());
        }
        writeln!(out, "{on}event {} {}{off}", event.id, event.hash)?;
        writeln!(out, "Branch: {} @{}", branch_name(txn, event)?, event.sequence)?;
        writeln!(out, "Agent:  {}", event.agent)?;
        writeln!(out, "Date:   {}", event.timestamp)?;
        writeln!(out, "Type:   {}", event.kind)?;
        let body = body(event, payload.as_ref());
        if body.iter().all(String::is_empty) {
            return Ok(());
        }
        writeln!(out)?;
        for line in body {
            let gap = if line.is_empty() { "" } else { "    " };
            writeln!(out, "{gap}{line}")?;
        }
        Ok(())
    }
}

/// Lines of an output that the log shows; `mk show` has all of it.
const OUTPUT_LINES: usize = 10;

/// What an event says, in full but for long outputs.
fn body(event: &Event, payload: Option<&mk::canon::Object>) -> Vec<String> {
    use mk::event::Payload;
    let mut text = vec![subject(event, payload)];
    let Some(payload) = payload else { return text };
    match Payload::read(event.kind, payload) {
        Payload::Decision { rationale, .. } if !rationale.is_empty() => {
            text.extend(lines(&rationale));
        }
        Payload::Task { constraints, .. } => {
            text.extend(constraints.iter().map(|text| format!("- {}", crate::cli::line(text))));
        }
        Payload::ToolLog { output, .. } if !output.is_empty() => {
            let all: Vec<String> = lines(output.trim_end_matches('\n')).collect();
            let hidden = all.len().saturating_sub(OUTPUT_LINES);
            if hidden > 0 {
                text.push(format!("[… {hidden} lines, see mk show {}]", event.id));
            }
            text.extend(all.into_iter().skip(hidden));
        }
        Payload::Note { note } if note.trim().contains('\n') => text = lines(&note).collect(),
        _ => {}
    }
    text
}
