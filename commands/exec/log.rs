//! `mk exec log`

use std::io::{self, Write};

use mk::event::Event;
use mk::id::BranchName;
use mk::mkep::event::{self, Line};
use mk::mkep::json::{Json, Members};
use mk::mkep::record;
use mk::store::{Engine, StoreError};

use super::base::{Base, BaseArgs};
use crate::Answer;
use crate::cli::{self, Context, Failure};

/// Print the records of the log, newest first
///
/// A line each: number, time, goal, type, and what it is about. With --json the lines themselves, as
/// MemKraft would store them.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct Log {
    /// Only records of this goal
    goal: Option<String>,
    /// At most N records
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<u64>,
    #[command(flatten)]
    base: BaseArgs,
}

pub fn run(args: &Log, ctx: &mut Context) -> Result<Answer, Failure> {
    let base = Base::find(&args.base, ctx)?;
    let json = ctx.out.json;
    let mut store = base.open_to_read(ctx)?;
    let out = ctx.out.writer();
    let mut left = args.max_count.unwrap_or(u64::MAX);
    store.read(|txn| {
        let Some(branch) = txn.branch(BranchName::EXEC)? else { return Ok(()) };
        for sequence in (1..=branch.head_sequence).rev() {
            if left == 0 {
                break;
            }
            let Some(id) = txn.own_event(branch.id, sequence)? else {
                let what = format!("event {sequence} of {} is missing", BranchName::EXEC);
                return Err(StoreError::damaged(what).into());
            };
            let found = txn.known_event(id)?;
            let line = found.content.as_ref().and_then(event::line);
            let record = line.as_deref().map(Line::read);
            let wanted = match (&args.goal, &record) {
                (None, _) => true,
                (Some(goal), Some(Line::Record(record))) => record.text("goal_id") == Some(goal),
                (Some(_), _) => false,
            };
            if !wanted {
                continue;
            }
            left -= 1;
            match (json, line) {
                (true, Some(line)) => {
                    out.write_all(&line)?;
                    out.write_all(b"\n")?;
                }
                (true, None) => writeln!(out, "null")?,
                (false, _) => print(out, &found, record.as_ref())?,
            }
        }
        Ok::<_, Failure>(())
    })?;
    Ok(Answer::Yes)
}

fn print(out: &mut dyn Write, event: &Event, record: Option<&Line>) -> io::Result<()> {
    let record = match record {
        None => return writeln!(out, "     - {} [erased]", event.timestamp),
        Some(Line::Damage) => return writeln!(out, "     - {} [damaged line]", event.timestamp),
        Some(Line::Record(record)) => record,
    };
    let word = |key: &str| cli::line(record.text(key).unwrap_or("-"));
    let when = word("emitted_at");
    let (goal, kind) = (word("goal_id"), word("record_type"));
    let about = cli::line(&about(record));
    writeln!(out, "{:>6} {when} {goal} {kind} {about}", record::event_seq(record))
}

/// What a record is about, in the words of its members.
fn about(record: &Members) -> String {
    let keys = [
        "title",
        "gate_id",
        "scope_key",
        "handoff_id",
        "to_actor",
        "to_status",
        "verdict",
        "holder",
        "fence_token",
        "recommendation",
        "reason_code",
        "tombstone_of",
    ];
    let shown = |key: &str| match record.given(key)? {
        Json::Text(text) => Some(text.shown().to_owned()),
        other => Some(other.to_string()),
    };
    keys.into_iter().filter_map(shown).collect::<Vec<_>>().join(" ")
}
