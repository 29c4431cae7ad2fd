//! `mk exec log`

use std::io::{self, Write};

use mk::id::{BranchName, EventId};
use mk::mkep::event::{self, Line};
use mk::mkep::json::{Json, Members};
use mk::mkep::record;
use mk::store::{Engine, ReadTxn, StoreError};

use super::base::{Base, BaseArgs};
use crate::Answer;
use crate::cli::{self, Context, Failure};

/// Records of a goal that are read at once.
const PAGE: usize = 256;

/// Print the records of the log, newest first
///
/// A line each: number, time, goal, type, and what it is about. With --json the lines themselves, as
/// MemKraft would store them. The whole log is in the order in which it was written and has its damaged
/// lines; that of a goal goes by number.
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
    let left = args.max_count.unwrap_or(u64::MAX);
    store.read(|txn| match &args.goal {
        Some(goal) => print_goal(txn, goal, left, json, out),
        None => print_all(txn, left, json, out),
    })?;
    Ok(Answer::Yes)
}

/// Prints records of a goal: the work is that of what is printed, however long the log.
fn print_goal(
    txn: &dyn ReadTxn,
    goal: &str,
    mut left: u64,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut before = None;
    while left > 0 {
        let limit = usize::try_from(left).map_or(PAGE, |left| left.min(PAGE));
        let page = txn.exec_latest(goal, before.as_ref(), limit)?;
        let Some(oldest) = page.last() else { break };
        before = Some(oldest.place.clone());
        left -= page.len() as u64;
        for entry in &page {
            let line = entry.payload.as_deref().and_then(event::line);
            print(txn, entry.place.event, line, json, out)?;
        }
    }
    Ok(())
}

/// Prints lines of the log, damaged ones too.
fn print_all(txn: &dyn ReadTxn, left: u64, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(branch) = txn.branch(BranchName::EXEC)? else { return Ok(()) };
    let count = branch.head_sequence.min(left);
    for sequence in (branch.head_sequence - count + 1..=branch.head_sequence).rev() {
        let Some(id) = txn.own_event(branch.id, sequence)? else {
            let what = format!("event {sequence} of {} is missing", BranchName::EXEC);
            return Err(StoreError::damaged(what).into());
        };
        let content = txn.known_event(id)?.content;
        let line = content.and_then(|content| event::line(&content.payload));
        print(txn, id, line, json, out)?;
    }
    Ok(())
}

/// Prints a line of the log; none is left of one that was erased.
fn print(
    txn: &dyn ReadTxn,
    id: EventId,
    line: Option<Vec<u8>>,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if json {
        out.write_all(line.as_deref().unwrap_or(b"null"))?;
        return Ok(out.write_all(b"\n")?);
    }
    let what = match line.as_deref().map(Line::read) {
        Some(Line::Record(record)) => return Ok(print_record(&record, out)?),
        Some(Line::Damage) => "[damaged line]",
        None => "[erased]",
    };
    Ok(writeln!(out, "     - {} {what}", txn.known_event(id)?.timestamp)?)
}

fn print_record(record: &Members, out: &mut dyn Write) -> io::Result<()> {
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
