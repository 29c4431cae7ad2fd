//! `mk append --batch` and `--each`: events from a pipe.
//!
//! One thread reads and parses, the other appends and hands back what the first is to free. The write lock
//! is not taken before the input has ended or some of it has piled up, so that a slow producer keeps nobody
//! waiting.

use std::cell::OnceCell;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use mk::canon::Value;
use mk::code::Code;
use mk::compaction;
use mk::event::EventType;
use mk::id::{BranchName, EventId, Hash};
use mk::lease::{self, Fence, LeaseError, Place};
use mk::lines::{self, Next};
use mk::log::{Appended, Draft, EVENT_LINE_MAX, EventLine, Log, Prepared, Rules};
use mk::operation::{self, Request};
use mk::store::{Engine, ReadTxn, Sqlite, StoreError, WriteTxn};
use serde::{Deserialize, Serialize};

use super::Append;
use crate::Answer;
use crate::cli::{Actor, Chance, Context, Failure, FenceArg, compact_due, warn_of_secrets};

/// Bytes of input that are read before the write lock is taken.
const HELD_BACK: usize = 1 << 20;

/// Most bytes of input of a batch with an op id, which is compared as a whole.
const OPERATION_MAX: usize = 256 << 20;

/// Lines that go from one thread to the other at once, and how many times as many are under way. So few that
/// the appending thread finds them in the cache of the processor: with thirty times as many a batch takes an
/// eighth longer.
const CHUNK: usize = 64;
const UNDER_WAY: usize = 8;

/// An event to append, from one line.
struct Line {
    number: u64,
    bytes: usize,
    branch: BranchName,
    event: Prepared,
    /// What it depends on.
    fences: Vec<Fence>,
    /// What makes it the same as another, if that will be asked.
    request: Option<Value>,
}

/// What a line is read with: what it need not say, and the rules of the store.
struct Reader {
    kind: EventType,
    actor: Actor,
    /// The root that the store has recorded.
    root: String,
    /// Where paths of resources are spelt from, once there was one.
    place: OnceCell<Place>,
    rules: Rules,
    chance: Chance,
    under_op_id: bool,
}

type Chunk = Result<Vec<Line>, Failure>;

/// The end of the appending thread.
struct Lines {
    chunks: Receiver<Chunk>,
    /// For chunks whose lines are appended.
    back: Sender<Vec<Line>>,
}

pub fn run(args: &Append, ctx: &mut Context) -> Result<Answer, Failure> {
    let (mut store, actor) = ctx.open_to_write()?;
    let (sender, chunks) = mpsc::sync_channel(UNDER_WAY);
    let (back, used) = mpsc::channel();
    let lines = Lines { chunks, back };
    let (rules, root) =
        store.read(|txn| Ok::<_, StoreError>((Rules::read(txn)?, txn.identity()?.root)))?;
    let reader = Reader {
        kind: args.kind,
        actor,
        root,
        place: OnceCell::new(),
        rules,
        chance: Chance::new(),
        under_op_id: args.write.op_id.is_some(),
    };
    let input = BufReader::with_capacity(1 << 17, io::stdin());
    // Not joined: on a failure the process ends with the thread, whatever its input does.
    thread::spawn(move || reader.send_lines(input, &sender, &used));
    if args.each {
        each(args, ctx, &mut store, &lines)?;
    } else {
        batch(args, ctx, &mut store, &lines)?;
    }
    Ok(Answer::Yes)
}

fn each(
    args: &Append,
    ctx: &mut Context,
    store: &mut Sqlite,
    lines: &Lines,
) -> Result<(), Failure> {
    let mut unread = false;
    while let Ok(chunk) = lines.chunks.recv() {
        for mut line in chunk? {
            let (appended, due) = store.write(|txn| {
                let mut log = Log::open(txn)?;
                let appended = append(&mut log, &mut line, ctx)?;
                Ok::<_, Failure>((appended, compaction::due(log.txn(), log.growth())))
            })?;
            ctx.note_written();
            warn_of_secrets(appended.event_id, &appended.redacted);
            // Once nobody reads the answers any more, the events still come in and are kept.
            if !args.quiet && !unread {
                match print(ctx, &Row::from(appended)).and_then(|()| ctx.out.flush()) {
                    Err(failure) if failure.is_closed_pipe() => unread = true,
                    answered => answered?,
                }
            }
            compact_due(ctx, due);
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
    lines: &Lines,
) -> Result<(), Failure> {
    let mut held = Vec::new();
    let mut bytes = 0;
    let limit = if args.write.op_id.is_some() { OPERATION_MAX } else { HELD_BACK };
    let mut more = true;
    while more && bytes < limit {
        match lines.chunks.recv() {
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
    let Stored { rows, due } = store.write(|txn| {
        let Some(id) = &args.write.op_id else {
            let held = held.into_iter().map(Ok);
            return append_all(txn, ctx, held.chain(lines.chunks.iter()), &lines.back);
        };
        let mut request = Request::new(txn)?;
        held.iter().flatten().filter_map(|line| line.request.as_ref()).for_each(|line| {
            request.add(line);
        });
        let digest = request.digest();
        if let Some(done) = operation::applied::<Done>(txn, id, digest)? {
            return Ok(Stored { rows: already(txn, done)?, due: Ok(Vec::new()) });
        }
        let stored = append_all(txn, ctx, held.into_iter().map(Ok), &lines.back)?;
        let first = stored.rows.first().map_or(EventId(0), |row| row.event_id);
        let done = Done { first_event_id: first, count: stored.rows.len() as u64 };
        operation::remember(txn, id, digest, &done)?;
        Ok(stored)
    })?;
    if store.has_written() {
        ctx.note_written();
    }
    rows.iter().for_each(|row| warn_of_secrets(row.event_id, &row.redacted));
    if !args.quiet {
        rows.iter().try_for_each(|row| print(ctx, row))?;
        ctx.out.flush()?;
    }
    compact_due(ctx, due);
    Ok(())
}

/// What a batch appended, and the branches to compact after it.
struct Stored {
    rows: Vec<Row>,
    due: Result<Vec<BranchName>, StoreError>,
}

fn append_all(
    txn: &mut dyn WriteTxn,
    ctx: &Context,
    chunks: impl Iterator<Item = Chunk>,
    back: &Sender<Vec<Line>>,
) -> Result<Stored, Failure> {
    let mut log = Log::open(txn)?;
    let mut rows = Vec::new();
    for chunk in chunks {
        let mut chunk = chunk?;
        for line in &mut chunk {
            let appended = append(&mut log, line, ctx)?;
            rows.push(Row::from(appended));
        }
        // After the last line was read, nobody takes it back.
        let _ = back.send(chunk);
    }
    Ok(Stored { rows, due: compaction::due(log.txn(), log.growth()) })
}

fn append(log: &mut Log<'_>, line: &mut Line, ctx: &Context) -> Result<Appended, Failure> {
    let mut appended = || {
        lease::pass(log, &line.fences, line.event.agent(), ctx.lease_now())?;
        Ok::<_, LeaseError>(log.append_prepared(&line.branch, &mut line.event, None, ctx.now())?)
    };
    appended().map_err(|error| Failure::from(error).at(&format!("line {}", line.number)))
}

fn already(txn: &dyn ReadTxn, done: Done) -> Result<Vec<Row>, Failure> {
    let row = |index: u64| {
        let id = EventId(done.first_event_id.0 + i64::try_from(index).unwrap_or(i64::MAX));
        let event = txn.known_event(id)?;
        let redacted = Vec::new();
        Ok(Row { event_id: id, hash: event.hash, sequence: event.sequence, redacted })
    };
    (0..done.count).map(row).collect()
}

/// What is answered for each event.
#[derive(Serialize)]
struct Row {
    event_id: EventId,
    hash: Hash,
    sequence: u64,
    /// Told of on stderr.
    #[serde(skip)]
    redacted: Vec<String>,
}

impl From<Appended> for Row {
    fn from(appended: Appended) -> Self {
        let Appended { event_id, hash, sequence, redacted, .. } = appended;
        Self { event_id, hash, sequence, redacted }
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

impl Reader {
    /// Sends the lines of `input` in chunks until it ends, a line is no event, or nobody listens.
    fn send_lines(
        mut self,
        mut input: BufReader<impl Read>,
        sender: &SyncSender<Chunk>,
        used: &Receiver<Vec<Line>>,
    ) {
        let mut chunk = Vec::new();
        let mut number = 0;
        let mut line = Vec::new();
        loop {
            number += 1;
            let read = next_line(&mut input, &mut line).and_then(|any| match any {
                // A line that is blank separates, as in files put together by hand.
                true if line.iter().all(u8::is_ascii_whitespace) => Ok((true, None)),
                true => self.parse(&line, number).map(|event| (true, Some(event))),
                false => Ok((false, None)),
            });
            let more = match read {
                Ok((more, event)) => {
                    chunk.extend(event);
                    more
                }
                Err(failure) => {
                    let _ = sender.send(Ok(std::mem::take(&mut chunk)));
                    let _ = sender.send(Err(failure.at(&format!("line {number}"))));
                    return;
                }
            };
            // When the next line may have to be waited for, what is there goes off.
            let goes_on = more && input.buffer().contains(&b'\n') && chunk.len() < CHUNK;
            used.try_iter().for_each(drop);
            let sent = goes_on || sender.send(Ok(std::mem::take(&mut chunk))).is_ok();
            if !more || !sent {
                return;
            }
        }
    }

    fn parse(&mut self, bytes: &[u8], number: u64) -> Result<Line, Failure> {
        let line = EventLine::read(bytes)?;
        let branch = line.branch.unwrap_or_else(|| self.actor.branch.clone());
        let mut draft = Draft {
            kind: line.kind.unwrap_or(self.kind),
            agent: line.agent.unwrap_or_else(|| self.actor.agent.clone()),
            payload: line.payload,
            metadata: line.metadata,
        };
        let fences = line.fence.as_ref().map_or(Ok(Vec::new()), |fence| self.fences(fence))?;
        draft.metadata = Fence::stamped(&fences, draft.metadata);
        let request = self.under_op_id.then(|| {
            crate::cli::request([
                ("branch", branch.as_str().into()),
                ("agent", draft.agent.as_str().into()),
                ("type", draft.kind.as_str().into()),
                ("payload", draft.payload.clone().into()),
                ("metadata", draft.metadata.clone().into()),
            ])
        });
        draft.metadata = self.actor.stamped(draft.metadata);
        let event = Prepared::new(draft, self.rules, self.chance.draw())?;
        Ok(Line { number, bytes: bytes.len(), branch, event, fences, request })
    }

    fn fences(&self, value: &Value) -> Result<Vec<Fence>, Failure> {
        let given = FenceArg::read(value)?;
        let place = match self.place.get() {
            Some(place) => place,
            None => {
                let place = self.actor.whereabouts.place_in(self.root.clone())?;
                self.place.get_or_init(|| place)
            }
        };
        given.iter().map(|fence| fence.locate(place)).collect()
    }
}

/// Reads the next line; answers whether there was one.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, Failure> {
    match lines::next(input, line, EVENT_LINE_MAX) {
        Ok(Next::Line) => Ok(true),
        Ok(Next::End) => Ok(false),
        Ok(Next::TooLong) => {
            let message = format!("it has more than {EVENT_LINE_MAX} bytes");
            Err(Failure::new(Code::TOO_LARGE, message))
        }
        Err(error) => Err(Failure::new(Code::of_io(&error), format!("cannot read stdin: {error}"))),
    }
}
