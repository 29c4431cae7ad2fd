//! `mk search`

use std::io::{self, Write};

use mk::code::Code;
use mk::event::EventType;
use mk::id::AgentId;
use mk::search::{self, Among, Found, Hit, QUERY_MAX, Query, Scope};

use crate::Answer;
use crate::cli::{Context, Failure, Text, head_of, line};

/// Find the events that say all of the words, newest first
///
/// A word is what stands between white space, and means itself: there are no wildcards and no operators.
/// It is found anywhere, also within longer words; letter case does not matter. Searched are the live
/// events of the current branch.
#[derive(Debug, clap::Args)]
pub struct Search {
    /// The words
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,
    /// All events of all branches, reverted ones too
    #[arg(long, conflicts_with_all = ["lineage", "branch"])]
    pub all: bool,
    /// Reverted events too
    #[arg(long)]
    pub lineage: bool,
    /// Only events by this agent
    #[arg(long = "by", value_name = "AGENT")]
    pub by: Option<AgentId>,
    /// Only events of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<EventType>,
    /// At most N events, 1 to 1000
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
}

pub fn run(args: &Search, ctx: &mut Context) -> Result<Answer, Failure> {
    let text = args.words.join(" ");
    let length = text.chars().count();
    if length > QUERY_MAX {
        let message = format!("the query has {length} characters, {QUERY_MAX} are allowed");
        return Err(Failure::new(Code::TOO_LARGE, message));
    }
    let mut store = ctx.open_to_read()?;
    let among = |txn: &dyn mk::store::ReadTxn| -> Result<Among, Failure> {
        let actor = ctx.actor(txn)?;
        let (branch, head) = head_of(txn, None, &actor)?;
        let scope = match (args.all, args.lineage) {
            (true, _) => Scope::All,
            (false, true) => Scope::Lineage(branch, head),
            (false, false) => Scope::Live(branch, head),
        };
        Ok(Among { scope, by: args.by.clone(), kind: args.kind })
    };
    let found = search::search(&mut store, &Query::new(&text), among, args.limit.into())?;
    ctx.print(&found)?;
    Ok(if found.hits.is_empty() { Answer::No } else { Answer::Yes })
}

impl Text for Found {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for hit in &self.hits {
            let Hit { event_id, branch_id, agent_id, event_type, text, .. } = hit;
            let branch = match self.branch_id {
                Some(_) => String::new(),
                None => format!("{branch_id} "),
            };
            let reverted = if hit.live { "" } else { " (reverted)" };
            let gap = if text.is_empty() { "" } else { " " };
            let (hash, text) = (hit.hash.short(), line(text));
            writeln!(
                out,
                "{hash} {event_id} {branch}{agent_id} {event_type}{reverted}{gap}{text}"
            )?;
        }
        if self.more { writeln!(out, "there are more: see --limit") } else { Ok(()) }
    }
}
