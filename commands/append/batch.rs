//! `mk append --batch` and `--each`: events from a pipe.
//!
//! One thread reads and parses, the other appends. The write lock is not taken before the input has
//! ended or some of it has piled up, so that a slow producer keeps nobody waiting.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use mk::canon::{Object, Value};
use mk::code::Code;
use mk::event::EventType;
use mk::id::{AgentId, BranchName, EventId, Hash};
use mk::log::{Appended, Draft, Log, Outside};
use mk::operation::{self, Request};
use mk::store::{Engine, ReadTxn, Sqlite, WriteTxn};
use serde::{Deserialize, Serialize};

use super::Append;
use crate::Answer;
use crate::cli::{Actor, Context, Failure, warn_of_secrets};

/// Longest line, in bytes: content of the allowed size fits with every character escaped.
const LINE_MAX: usize = 4 << 20;

/// Bytes of input that are read before the write lock is taken.
const HELD_BACK: usize = 4 << 20;

/// Most bytes of input of a batch with an op id, which is compared as a whole.
const OPERATION_MAX: usize = 256 << 20;

/// Lines that go from one thread to the other at once.
const CHUNK: usize = 256;

/// An event to append, from one line.
struct Line {
    number: u64,
    bytes: usize,
    kind: EventType,
    branch: Option<BranchName>,
    agent: Option<AgentId>,
    payload: Object,
    metadata: Object,
}

type Chunk = Result<Vec<Line>, Failure>;

pub fn run(args: &Append, ctx: &mut Context) -> Result<Answer, Failure> {
    let (mut store, actor) = ctx.open_to_write()?;
    let (sender, receiver) = sync_channel(64);
    let kind = args.kind;
    // Not joined: on a failure the process ends with the thread, whatever its input does.
    thread::spawn(move || {
        read_lines(BufReader::with_capacity(1 << 17, io::stdin()), kind, &sender)
    });
    if args.each {
        each(args, ctx, &mut store, &actor, &receiver)?;
    } else {
        batch(args, ctx, &mut store, &actor, &receiver)?;
    }
    Ok(Answer::Yes)
}

fn each(
    args: &Append,
    ctx: &mut Context,
    store: &mut Sqlite,
    actor: &Actor,
    lines: &Receiver<Chunk>,
) -> Result<(), Failure> {
    while let Ok(chunk) = lines.recv() {
        for line in chunk? {
            let appended = ctx.outside(|outside| {
                store.write(|txn| append(&mut Log::open(txn)?, actor, line, outside))
            })?;
            warn_of_secrets(&appended);
            if !args.quiet {
                print(ctx, &Row::from(&appended))?;
                ctx.out.flush()?;
            }
        }
    }
    Ok(())
}

/// What a batch under an op id is remembered by. Its events have consecutive ids.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Done {
    first_event_id: EventId,
    count: u64,
}

fn batch(
    args: &Append,
    ctx: &mut Context,
    store: &mut Sqlite,
    actor: &Actor,
    lines: &Receiver<Chunk>,
) -> Result<(), Failure> {
    let mut held = Vec::new();
    let mut bytes = 0;
    let limit = if args.write.op_id.is_some() { OPERATION_MAX } else { HELD_BACK };
    let mut more = true;
    while more && bytes < limit {
        match lines.recv() {
            Ok(chunk) => {
                let chunk = chunk?;
                bytes += chunk.iter().map(|line| line.bytes).sum::<usize>();
                held.push(chunk);
            }
            Err(_) => more = false,
        }
    }
    if more && args.write.op_id.is_some() {
        let message = format!("a batch with an op id has more than {OPERATION_MAX} bytes");
        return Err(Failure::new(Code::TOO_LARGE, message));
    }
    let rows = ctx.outside(|outside| {
        store.write(|txn| {
            let Some(id) = &args.write.op_id else {
                let held = held.into_iter().map(Ok);
                return append_all(txn, actor, held.chain(lines.iter()), outside);
            };
            let digest = digest(txn, actor, &held)?;
            if let Some(done) = operation::applied::<Done>(txn, id, digest)? {
                return already(txn, done);
            }
            let rows = append_all(txn, actor, held.into_iter().map(Ok), outside)?;
            let first = rows.first().map_or(EventId(0), |row| row.event_id);
            let done = Done { first_event_id: first, count: rows.len() as u64 };
            operation::remember(txn, id, digest, &done)?;
            Ok(rows)
        })
    })?;
    if !args.quiet {
        rows.iter().try_for_each(|row| print(ctx, row))?;
    }
    Ok(())
}

fn append_all(
    txn: &mut dyn WriteTxn,
    actor: &Actor,
    chunks: impl Iterator<Item = Chunk>,
    outside: &mut Outside<'_>,
) -> Result<Vec<Row>, Failure> {
    let mut log = Log::open(txn)?;
    let mut rows = Vec::new();
    for chunk in chunks {
        for line in chunk? {
            let appended = append(&mut log, actor, line, outside)?;
            warn_of_secrets(&appended);
            rows.push(Row::from(&appended));
        }
    }
    Ok(rows)
}

fn append(
    log: &mut Log<'_>,
    actor: &Actor,
    line: Line,
    outside: &mut Outside<'_>,
) -> Result<Appended, Failure> {
    let branch = line.branch.unwrap_or_else(|| actor.branch.clone());
    let draft = Draft {
        kind: line.kind,
        agent: line.agent.unwrap_or_else(|| actor.agent.clone()),
        payload: line.payload,
        metadata: actor.stamped(line.metadata),
    };
    log.append(&branch, draft, None, outside)
        .map_err(|error| Failure::from(error).at(&format!("line {}", line.number)))
}

fn digest(txn: &dyn ReadTxn, actor: &Actor, chunks: &[Vec<Line>]) -> Result<Hash, Failure> {
    let mut request = Request::new(txn)?;
    for line in chunks.iter().flatten() {
        let name = |given: Option<&str>, default: &str| Value::from(given.unwrap_or(default));
        request.add(&crate::cli::request([
            ("branch", name(line.branch.as_ref().map(BranchName::as_str), actor.branch.as_str())),
            ("agent", name(line.agent.as_ref().map(AgentId::as_str), actor.agent.as_str())),
            ("type", line.kind.as_str().into()),
            ("payload", line.payload.clone().into()),
            ("metadata", line.metadata.clone().into()),
        ]));
    }
    Ok(request.digest())
}

fn already(txn: &dyn ReadTxn, done: Done) -> Result<Vec<Row>, Failure> {
    let row = |index: u64| {
        let id = EventId(done.first_event_id.0 + i64::try_from(index).unwrap_or(i64::MAX));
        let event = txn.known_event(id)?;
        Ok(Row { event_id: id, hash: event.hash, sequence: event.sequence })
    };
    (0..done.count).map(row).collect()
}

/// What is answered for each event.
#[derive(Serialize)]
struct Row {
    event_id: EventId,
    hash: Hash,
    sequence: u64,
}

impl From<&Appended> for Row {
    fn from(appended: &Appended) -> Self {
        Self { event_id: appended.event_id, hash: appended.hash, sequence: appended.sequence }
    }
}

fn print(ctx: &mut Context, row: &Row) -> Result<(), Failure> {
    let json = ctx.out.json;
    let out = ctx.out.writer();
    if json {
        serde_json::to_writer(&mut *out, row).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    } else {
        writeln!(out, "{}", row.hash)?;
    }
    Ok(())
}

/// Sends the lines of `input` in chunks until it ends, a line is no event, or nobody listens.
fn read_lines(mut input: BufReader<impl Read>, kind: EventType, sender: &SyncSender<Chunk>) {
    let mut chunk = Vec::new();
    let mut number = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let failed = match next_line(&mut input, &mut line) {
            Ok(false) => break,
            Ok(true) => {
                number += 1;
                // A line that is blank separates, as in files put together by hand.
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                match parse(&line, number, kind) {
                    Ok(event) => {
                        chunk.push(event);
                        None
                    }
                    Err(failure) => Some(failure.at(&format!("line {number}"))),
                }
            }
            Err(failure) => {
                number += 1;
                Some(failure.at(&format!("line {number}")))
            }
        };
        if let Some(failure) = failed {
            let _ = sender.send(Ok(std::mem::take(&mut chunk)));
            let _ = sender.send(Err(failure));
            return;
        }
        // When the next line may have to be waited for, what is there goes off.
        let pending = input.buffer().contains(&b'\n') && chunk.len() < CHUNK;
        if !pending && sender.send(Ok(std::mem::take(&mut chunk))).is_err() {
            return;
        }
    }
    let _ = sender.send(Ok(chunk));
}

/// Reads up to a line break into `line`; answers whether there was anything.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, Failure> {
    let failed = |error: io::Error| Failure::new(Code::IO, format!("cannot read stdin: {error}"));
    let mut any = false;
    loop {
        let buffer = input.fill_buf().map_err(failed)?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        if line.len() + taken > LINE_MAX {
            let message = format!("it has more than {LINE_MAX} bytes");
            return Err(Failure::new(Code::TOO_LARGE, message));
        }
        line.extend_from_slice(&buffer[..taken]);
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn parse(bytes: &[u8], number: u64, kind: EventType) -> Result<Line, Failure> {
    let members = mk::event::read_object("the event", bytes)
        .map_err(|error| crate::cli::content_failure(&error))?;
    let mut line = Line {
        number,
        bytes: bytes.len(),
        kind,
        branch: None,
        agent: None,
        payload: Object::new(),
        metadata: Object::new(),
    };
    for (name, value) in members {
        match (name.as_str(), value) {
            ("payload", Value::Object(payload)) => line.payload = payload,
            ("metadata", Value::Object(metadata)) => line.metadata = metadata,
            ("payload" | "metadata", other) => {
                return Err(Failure::usage(format!("{name} is {}, not an object", other.kind())));
            }
            ("event_type", Value::String(text)) => line.kind = parsed(&text)?,
            ("branch_id", Value::String(text)) => line.branch = Some(parsed(&text)?),
            ("agent_id", Value::String(text)) => line.agent = Some(parsed(&text)?),
            ("event_type" | "branch_id" | "agent_id", other) => {
                return Err(Failure::usage(format!("{name} is {}, not a string", other.kind())));
            }
            _ => {
                let message = format!("unknown member '{}'", mk::id::shown(&name));
                return Err(Failure::new(Code::UNKNOWN_MEMBER, message).hint(
                    "the members are event_type, payload, metadata, branch_id and agent_id",
                ));
            }
        }
    }
    Ok(line)
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error: T::Err| Failure::usage(error.to_string()))
}
