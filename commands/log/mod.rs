//! `mk log`

mod graph;

use std::collections::BTreeMap;
use std::io::{self, Write};

use mk::branch;
use mk::canon::Object;
use mk::event::{Event, EventType};
use mk::id::{BranchName, EventId};
use mk::store::{Engine, ReadTxn, StoreError};

use crate::Answer;
use crate::cli::{
    Context, EventReport, Failure, Format, Pager, WalkArgs, branch_name, lines, pager_colour,
    subject,
};
use graph::Graph;

/// Show what happened on a branch, newest first
///
/// With --graph it is drawn, a line for each event, what was rolled back too: a fork leaves its
/// branch, a merge joins what it took in, and what a rollback took off is a line that ends.
#[derive(Debug, clap::Args)]
pub struct Log {
    #[command(flatten)]
    walk: WalkArgs,
    /// A line for each event
    #[arg(long)]
    oneline: bool,
    /// Draw how the events follow each other
    #[arg(long, conflicts_with_all = ["reverse", "json"])]
    graph: bool,
    /// What to print of each event: text with %(hash) %(short) %(event_id) %(sequence) %(branch)
    /// %(agent) %(date) %(type) %(subject) %(parent) and %%
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["oneline", "json"])]
    format: Option<String>,
}

const FIELDS: &[&str] = &[
    "hash", "short", "event_id", "sequence", "branch", "agent", "date", "type", "subject", "parent",
];

pub fn run(args: &Log, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut walk = args.walk.clone();
    if args.graph && walk.filter.has_gaps() {
        let message = "--graph draws all events: not with --by, --type, --key or --grep";
        return Err(Failure::usage(message));
    }
    walk.lineage |= args.graph;
    let form = match &args.format {
        Some(format) => Form::Format(Format::read(format, FIELDS)?),
        None if args.oneline || args.graph => Form::Line,
        None => Form::Whole,
    };
    let mut store = ctx.open_to_read()?;
    let actor = store.read(|txn| ctx.actor(txn))?;
    let json = ctx.out.json;
    let style = Style { colour: pager_colour(ctx.global.color), form };
    let pager = if json { None } else { Some(Pager::start()?) };
    let out = ctx.out.writer();
    let done = store.read(|txn| {
        let mut drawing = match args.graph {
            true => Some(Drawing::new(txn)?),
            false => None,
        };
        let mut first = true;
        walk.walk(txn, &actor, |event| {
            if json {
                let report = EventReport::new(txn, event)?;
                serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
                return Ok(out.write_all(b"\n")?);
            }
            if let Some(drawing) = &mut drawing {
                return drawing.event(txn, event, &style, out);
            }
            if !first && matches!(style.form, Form::Whole) {
                writeln!(out)?;
            }
            first = false;
            style.entry(txn, event, out)
        })
    });
    // What is shown must be all there before the pager is waited for.
    let flushed = ctx.out.flush();
    drop(pager);
    done.and(flushed)?;
    Ok(Answer::Yes)
}

/// A graph, and what is said of events beside what they are.
struct Drawing {
    graph: Graph,
    /// The branches that an event is the head of.
    heads: BTreeMap<EventId, Vec<BranchName>>,
    /// The rollback that took an event off, of the newest of those that it took.
    taken_off: BTreeMap<EventId, EventId>,
}

impl Drawing {
    fn new(txn: &dyn ReadTxn) -> Result<Self, StoreError> {
        let mut heads: BTreeMap<EventId, Vec<BranchName>> = BTreeMap::new();
        for branch in txn.branches()? {
            if let Some(head) = branch.head {
                heads.entry(head).or_default().push(branch.name);
            }
        }
        Ok(Self { graph: Graph::default(), heads, taken_off: BTreeMap::new() })
    }

    fn event(
        &mut self,
        txn: &dyn ReadTxn,
        event: &Event,
        style: &Style,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let follows = txn.link(event.id)?.live_parent;
        let parents: Vec<EventId> = follows.into_iter().chain(merged(txn, event)?).collect();
        if let Some(parent) = event.parent.filter(|parent| Some(*parent) != follows) {
            self.taken_off.insert(parent, event.id);
        }
        let drawn = self.graph.event(event.id, &parents);
        for line in &drawn.before {
            writeln!(out, "{line}")?;
        }
        write!(out, "{} ", drawn.mark)?;
        style.line(txn, event, &self.names(event.id), out)?;
        for line in &drawn.after {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// What an event is called, in parentheses; nothing if it is the head of no branch, and of nothing
    /// that was rolled back.
    fn names(&self, event: EventId) -> String {
        let heads = self.heads.get(&event).into_iter().flatten().map(ToString::to_string);
        let taken = self.taken_off.get(&event).map(|by| format!("rolled back by {by}"));
        let names: Vec<String> = heads.chain(taken).collect();
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    }
}

/// The event that a merge took in, if it is here.
fn merged(txn: &dyn ReadTxn, event: &Event) -> Result<Option<EventId>, StoreError> {
    if event.kind != EventType::Merged {
        return Ok(None);
    }
    // Also of one that was erased.
    let members = event.structural();
    let source = members.as_ref().and_then(|members| members.get("source_hash")?.as_str());
    match source.and_then(|hash| hash.parse().ok()) {
        Some(hash) => txn.by_hash(&hash),
        None => Ok(None),
    }
}

/// What is printed of an event.
enum Form {
    Whole,
    Line,
    Format(Format),
}

struct Style {
    colour: bool,
    form: Form,
}

impl Style {
    /// An event on one line, with what it is called.
    fn line(
        &self,
        txn: &dyn ReadTxn,
        event: &Event,
        names: &str,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let payload = branch::reported_payload(txn, event)?;
        let text = subject(event, payload.as_ref());
        if let Form::Format(format) = &self.form {
            let branch = branch_name(txn, event)?;
            format.write(out, |name| match name {
                "hash" => event.hash.to_string(),
                "short" => event.hash.short(),
                "event_id" => event.id.to_string(),
                "sequence" => event.sequence.to_string(),
                "branch" => branch.to_string(),
                "agent" => event.agent.to_string(),
                "date" => event.timestamp.to_string(),
                "type" => event.kind.to_string(),
                "subject" => text.clone(),
                _ => event.parent.map_or(String::new(), |parent| parent.to_string()),
            })?;
            return Ok(writeln!(out)?);
        }
        let (on, off) = self.marks();
        let hash = event.hash.short();
        let gap = if text.is_empty() { "" } else { " " };
        let Event { id, agent, kind, .. } = event;
        Ok(writeln!(out, "{on}{hash}{off} {id} {agent} {kind}{gap}{text}{names}")?)
    }

    /// What begins and ends the colour of a hash.
    fn marks(&self) -> (&'static str, &'static str) {
        if self.colour { ("\x1b[33m", "\x1b[0m") } else { ("", "") }
    }

    fn entry(&self, txn: &dyn ReadTxn, event: &Event, out: &mut dyn Write) -> Result<(), Failure> {
        if !matches!(self.form, Form::Whole) {
            return self.line(txn, event, "", out);
        }
        let payload = branch::reported_payload(txn, event)?;
        let (on, off) = self.marks();
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
fn body(event: &Event, payload: Option<&Object>) -> Vec<String> {
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
