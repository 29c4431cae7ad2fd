//! `mk cat-event`

use std::io::{self, BufRead};

use mk::code::Code;
use mk::event::Event;
use mk::id::{BranchName, Hash};
use mk::revision::{Revision, RevisionError};
use mk::store::{Engine, ReadTxn, StoreError};

use crate::Answer;
use crate::cli::{Context, Failure};

/// Longest line that `--batch` reads, in bytes.
const LINE_MAX: usize = 4_096;

/// Print events as they are stored and travel: canonical JSON, a line each, with salt and hashes
///
/// With --batch, a revision a line is read from stdin, and answered at once with a line
/// `HASH TYPE SIZE`, the event in SIZE bytes, and a line break; or with a line `REVISION missing` or
/// `REVISION ambiguous`.
#[derive(Debug, clap::Args)]
pub struct CatEvent {
    /// The events
    #[arg(required_unless_present_any = ["batch", "batch_check"], value_name = "REV")]
    revisions: Vec<Revision>,
    /// Answer revisions from stdin, with the event
    #[arg(long, conflicts_with_all = ["revisions", "batch_check", "json"])]
    batch: bool,
    /// Answer revisions from stdin, without the event
    #[arg(long, conflicts_with_all = ["revisions", "json"])]
    batch_check: bool,
}

pub fn run(args: &CatEvent, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut store = ctx.open_to_read()?;
    if !args.batch && !args.batch_check {
        let lines = store.read(|txn| {
            let current = ctx.actor(txn)?.branch;
            let line = |revision: &Revision| {
                let event = txn.known_event(revision.resolve(txn, &current)?)?;
                Ok::<_, Failure>(line(txn, &event)?)
            };
            args.revisions.iter().map(line).collect::<Result<Vec<_>, _>>()
        })?;
        for line in lines {
            writeln!(ctx.out.writer(), "{line}")?;
        }
        return Ok(Answer::Yes);
    }
    let current = store.read(|txn| Ok::<_, Failure>(ctx.actor(txn)?.branch))?;
    let mut input = io::stdin().lock();
    while let Some(name) = next_line(&mut input)
        .map_err(|error| Failure::new(Code::IO, format!("cannot read stdin: {error}")))?
    {
        // A transaction a line: events that land meanwhile are seen, and no reader holds up the WAL.
        let answer = match name {
            Ok(name) => store.read(|txn| answer(txn, &current, &name, args.batch))?,
            Err(start) => format!("{start} missing\n"),
        };
        ctx.out.writer().write_all(answer.as_bytes())?;
        ctx.out.flush()?;
    }
    Ok(Answer::Yes)
}

fn line(txn: &dyn ReadTxn, event: &Event) -> Result<String, StoreError> {
    let prev = match event.parent {
        Some(parent) => txn.known_event(parent)?.hash,
        None => Hash::ZERO,
    };
    Ok(event.line(&prev))
}

fn answer(
    txn: &dyn ReadTxn,
    current: &BranchName,
    name: &str,
    with_event: bool,
) -> Result<String, Failure> {
    let found = match name.parse::<Revision>() {
        Ok(revision) => revision.resolve(txn, current),
        Err(_) => return Ok(format!("{name} missing\n")),
    };
    let id = match found {
        Ok(id) => id,
        Err(RevisionError::Ambiguous { .. }) => return Ok(format!("{name} ambiguous\n")),
        Err(RevisionError::Store(error)) => return Err(error.into()),
        Err(RevisionError::BranchNotFound { .. } | RevisionError::EventNotFound { .. }) => {
            return Ok(format!("{name} missing\n"));
        }
    };
    let event = txn.known_event(id)?;
    let text = line(txn, &event)?;
    let mut answer = format!("{} {} {}\n", event.hash, event.kind, text.len());
    if with_event {
        answer.push_str(&text);
        answer.push('\n');
    }
    Ok(answer)
}

/// The next line of `input`; its start, if it is too long or no UTF-8; none at the end.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Result<String, String>>> {
    let mut line = Vec::new();
    let mut length = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            if length == 0 {
                return Ok(None);
            }
            break;
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        let room = LINE_MAX.saturating_sub(line.len());
        line.extend_from_slice(&buffer[..taken.min(room)]);
        length += taken + usize::from(end.is_some());
        let used = taken + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    let complete = length <= LINE_MAX;
    let start = |line: &[u8]| mk::id::shown(&String::from_utf8_lossy(line));
    Ok(Some(match String::from_utf8(line) {
        Ok(text) if complete => Ok(text.trim_end_matches('\r').to_owned()),
        Ok(text) => Err(start(text.as_bytes())),
        Err(error) => Err(start(error.as_bytes())),
    }))
}
