//! `mk exec call --batch`: requests from a pipe.
//!
//! One thread reads and checks envelopes, the other carries the requests out, all that are there in one
//! transaction. A refused request has written nothing, so nothing of it has to be taken back.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use mk::mkep::ledger::Ledger;
use mk::mkep::lint::Surroundings;
use mk::mkep::registry::{Kind, Op};
use mk::mkep::request::Request;
use mk::mkep::response::Response;
use mk::mkep::{self, Desk, Examined};
use mk::store::{Engine, ReadTxn, Sqlite, StoreError};

use super::NO_ANSWER;
use super::base::{Base, BaseArgs, empty_store, lock_timeout};
use super::call::{INPUT_MAX, read, unusable};
use crate::Answer;
use crate::cli::{Context, Failure};

/// Most requests that are handed over at once.
const GROUP: usize = 256;

/// How many requests are enough for a transaction.
const TOGETHER: usize = 16 * GROUP;

/// How long a transaction goes on before it is committed.
const GROUP_TIME: Duration = Duration::from_millis(100);

type Line = Result<Request, Box<Response>>;

pub fn run(args: &BaseArgs, ctx: &mut Context) -> Result<Answer, Failure> {
    let (sender, groups) = mpsc::sync_channel(16);
    let input = BufReader::with_capacity(1 << 17, io::stdin());
    // Not joined: on a failure the process ends with the thread, whatever its input does.
    thread::spawn(move || send_groups(input, &sender));
    let base = Base::find(args, ctx)?;
    let around = base.surroundings();
    let mut store = None;
    while let Ok(group) = groups.recv() {
        let mut rest = group.map_err(|failure| failure.exit(NO_ANSWER))?;
        // What came in while the last ones were written is written together.
        let mut failed = None;
        while failed.is_none() && rest.len() < TOGETHER {
            match groups.try_recv() {
                Ok(Ok(group)) => rest.extend(group),
                Ok(Err(failure)) => failed = Some(failure.exit(NO_ANSWER)),
                Err(_) => break,
            }
        }
        while !rest.is_empty() {
            let answers = answer(&mut rest, &base, &around, &mut store, ctx);
            let answers = answers.map_err(|failure| failure.exit(NO_ANSWER))?;
            for response in answers {
                writeln!(ctx.out.writer(), "{}", response.line())?;
            }
            ctx.out.flush()?;
        }
        if let Some(failure) = failed {
            return Err(failure);
        }
    }
    Ok(Answer::Yes)
}

/// Answers requests from the front of `group`, as many as go into one transaction.
fn answer(
    group: &mut Vec<Line>,
    base: &Base,
    around: &Surroundings,
    store: &mut Option<Sqlite>,
    ctx: &mut Context,
) -> Result<Vec<Response>, Failure> {
    let writes = |line: &Line| line.as_ref().is_ok_and(|line| line.entry.kind == Kind::Apply);
    let wants_lock = group.iter().any(writes);
    if let Err(failure) = prepare(base, wants_lock, store, ctx) {
        failure.tell(false);
        return empty_store(ctx)?.read(|txn| Ok(without_store(group, txn, &failure)?));
    }
    let Some(store) = store else {
        return empty_store(ctx)?.read(|txn| Ok(without_lock(group, txn, around)?));
    };
    if !wants_lock {
        return Ok(store.read(|txn| without_lock(group, txn, around))?);
    }
    let agent = store.read(|txn| ctx.agent(txn))?;
    #[expect(clippy::disallowed_methods, reason = "it measures how long others wait")]
    let begun = Instant::now();
    let written = ctx.with_outside(|outside| {
        store.write(|txn| {
            let mut desk = Desk::open(txn, &agent)?;
            let mut answers = Vec::new();
            for line in group.iter().take_while(|_| begun.elapsed() < GROUP_TIME) {
                answers.push(match line {
                    Err(response) => (**response).clone(),
                    Ok(request) => match examine(&mut desk, request, around)? {
                        Examined::Answered(response) => response,
                        Examined::Wanted(change) => desk.enact(request, change, outside)?,
                    },
                });
            }
            desk.close()?;
            Ok::<_, StoreError>(answers)
        })
    });
    match written {
        Ok(answers) => {
            group.drain(..answers.len());
            if answers.iter().any(Response::is_applied) {
                ctx.note_written();
            }
            Ok(answers)
        }
        Err(error) => {
            let answers = store.read(|txn| without_write(group, txn, around, &error));
            group.clear();
            Ok(answers?)
        }
    }
}

fn examine(
    desk: &mut Desk<'_>,
    request: &Request,
    around: &Surroundings,
) -> Result<Examined, StoreError> {
    let (txn, ledger) = desk.parts();
    mkep::examine(txn, ledger, request, around)
}

/// Opens the store, unless the base has none and nothing is to be written.
fn prepare(
    base: &Base,
    wants_lock: bool,
    store: &mut Option<Sqlite>,
    ctx: &mut Context,
) -> Result<(), Failure> {
    if let Some(store) = store {
        return store.read(|txn| base.check_foreign(txn));
    }
    let wait = lock_timeout(ctx);
    if !base.has_store()? {
        empty_store(ctx)?.read(|txn| base.check_foreign(txn))?;
        if !wants_lock {
            return Ok(());
        }
        base.create(ctx, wait)?;
    }
    let store = store.insert(base.open_to_write(wait)?);
    store.read(|txn| base.check_foreign(txn))
}

/// Answers what needs no store, from an empty one; all else with `why`.
fn without_store(
    group: &mut Vec<Line>,
    empty: &dyn ReadTxn,
    why: &Failure,
) -> Result<Vec<Response>, StoreError> {
    let answer = |line: Line| match line {
        Err(response) => Ok(*response),
        Ok(request) if request.entry.op == Op::Describe => {
            mkep::ask(empty, &mut Ledger::default(), &request, &Surroundings::default())
        }
        Ok(request) => Ok(unusable(&request, why)),
    };
    group.drain(..).map(answer).collect()
}

fn without_lock(
    group: &mut Vec<Line>,
    txn: &dyn ReadTxn,
    around: &Surroundings,
) -> Result<Vec<Response>, StoreError> {
    let busy = StoreError::Busy { waited_ms: 0 };
    let answers = without_write(group, txn, around, &busy);
    group.clear();
    answers
}

/// Answers what can be answered without writing; all else with `error`.
fn without_write(
    group: &[Line],
    txn: &dyn ReadTxn,
    around: &Surroundings,
    error: &StoreError,
) -> Result<Vec<Response>, StoreError> {
    let mut ledger = Ledger::default();
    let answer = |line: &Line| match line {
        Err(response) => Ok((**response).clone()),
        Ok(request) => match mkep::examine(txn, &mut ledger, request, around)? {
            Examined::Answered(response) => Ok(response),
            Examined::Wanted(_) => mkep::refused(txn, &mut ledger, request, error),
        },
    };
    group.iter().map(answer).collect()
}

/// Sends the requests of `input` in groups until it ends or nobody listens.
fn send_groups(mut input: BufReader<impl Read>, sender: &SyncSender<Result<Vec<Line>, Failure>>) {
    let mut group = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let more = match next_line(&mut input, &mut line) {
            Ok(more) => more,
            Err(error) => {
                let failure = Failure::new(
                    mk::code::Code::of_io(&error),
                    format!("cannot read stdin: {error}"),
                );
                let _ = sender.send(Ok(group));
                let _ = sender.send(Err(failure));
                return;
            }
        };
        if !line.iter().all(u8::is_ascii_whitespace) {
            group.push(read(&line));
        }
        // When the next line may have to be waited for, what is there goes off.
        let goes_on = more && input.buffer().contains(&b'\n') && group.len() < GROUP;
        let sent =
            goes_on || group.is_empty() || sender.send(Ok(std::mem::take(&mut group))).is_ok();
        if !more || !sent {
            return;
        }
    }
}

/// Reads a line without its end into `line`, a byte too many at most; answers whether there was any.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let mut any = false;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        // What is beyond the largest request is read and dropped.
        let room = usize::try_from(INPUT_MAX + 1).unwrap_or(usize::MAX) - line.len();
        line.extend_from_slice(&buffer[..taken.min(room)]);
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}
