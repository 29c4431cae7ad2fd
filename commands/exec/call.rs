//! `mk exec call`

use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;

use mk::mkep::error::{Code, Refusal};
use mk::mkep::ledger::Ledger;
use mk::mkep::lint::Surroundings;
use mk::mkep::registry::{Kind, Op};
use mk::mkep::request::Request;
use mk::mkep::response::{Echo, Response};
use mk::mkep::{self, Called};
use mk::store::{Engine, ReadTxn, Sqlite, StoreError};

use super::base::{Base, BaseArgs, empty_store, lock_timeout};
use super::{NO_ANSWER, batch};
use crate::Answer;
use crate::cli::{Context, Failure};

/// Most bytes that are read before a request counts as too large whatever it is.
pub const INPUT_MAX: u64 = 16 << 20;

/// Answer a request of MKEP/0: one JSON object on stdin, one on stdout
///
/// Gates are advisory, claims are unverified, and advice is not permission. The leases here are those
/// of a goal's scopes, not those of `mk lease`.
///
/// Exit status 0: carried out. 1: the request is at fault. 2: refused for the state of the goal. 3: the
/// store is at fault or busy; try again. 64: arguments that make no sense. 70: no answer at all.
/// --lock-timeout is 2 seconds if not given.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct Call {
    #[command(flatten)]
    base: BaseArgs,
    /// Answer many requests, one a line: exit status 0 however they are answered
    ///
    /// Answers come in the order of the lines, after what they say is durable. All lines that are
    /// waiting are written together, some 4,000 or 100 ms of them at most. Blank lines are passed over.
    #[arg(long, visible_alias = "jsonl")]
    batch: bool,
}

pub fn run(args: &Call, ctx: &mut Context) -> Result<Answer, Failure> {
    if args.batch {
        return batch::run(&args.base, ctx);
    }
    let mut input = Vec::new();
    io::stdin().take(INPUT_MAX + 1).read_to_end(&mut input).map_err(|error| {
        Failure::new(mk::code::Code::of_io(&error), format!("cannot read stdin: {error}"))
            .exit(NO_ANSWER)
    })?;
    let (response, why) = match read(&input) {
        Err(response) => (*response, None),
        Ok(request) => answer(&request, &args.base, ctx)?,
    };
    if response.is_applied() {
        ctx.note_written();
    }
    writeln!(ctx.out.writer(), "{}", response.line())?;
    match response.exit_status {
        0 => Ok(Answer::Yes),
        status => {
            ctx.out.flush()?;
            tell(&response, why.as_ref());
            Ok(Answer::Status(status))
        }
    }
}

/// The request, or the answer that it is none.
pub fn read(input: &[u8]) -> Result<Request, Box<Response>> {
    if input.len() as u64 <= INPUT_MAX {
        return Request::read(input);
    }
    let message = "the request is far larger than one may be";
    let details = [("limit", mkep::request::REQUEST_MAX.into())];
    let refusal = Refusal::new(Code::LimitExceeded, message, details);
    Err(Box::new(Response::new(&Echo::default(), Err(refusal), None)))
}

/// Says on stderr what the answer says, and what of the store led to it.
pub fn tell(response: &Response, why: Option<&Failure>) {
    match why {
        Some(failure) => failure.tell(false),
        None => {
            let error = response.members.get("error").and_then(|error| error.as_object());
            let word = |key| error.and_then(|error| error.text(key)).unwrap_or_default();
            // There is nobody left to tell if stderr is closed.
            let _ = writeln!(io::stderr(), "error: {} ({})", word("message"), word("code"));
        }
    }
}

type Told = (Response, Option<Failure>);

fn answer(request: &Request, args: &BaseArgs, ctx: &mut Context) -> Result<Told, Failure> {
    if request.entry.op == Op::Describe {
        let around = Surroundings::default();
        return Ok((examined(&mut empty_store(ctx)?, request, &around, ctx)?.0, None));
    }
    let base = match Base::find(args, ctx) {
        Ok(base) => base,
        Err(failure) => return Ok((unusable(request, &failure), Some(failure))),
    };
    match in_base(request, &base, ctx) {
        Ok((response, None)) => Ok((response, None)),
        Ok((response, Some(error))) => Ok((response, Some(error.into()))),
        Err(failure) => Ok((unusable(request, &failure), Some(failure))),
    }
}

/// The answer where there is no store to ask.
pub fn unusable(request: &Request, why: &Failure) -> Response {
    mkep::unusable(request, why.code == mk::code::Code::BUSY)
}

/// Answers a query in the project around. Nothing is made and nothing is written.
pub fn ask(request: &Request, ctx: &Context) -> (Response, Option<Failure>) {
    match asked(request, ctx) {
        Ok(response) => (response, None),
        Err(failure) => (unusable(request, &failure), Some(failure)),
    }
}

fn asked(request: &Request, ctx: &Context) -> Result<Response, Failure> {
    let look = |txn: &dyn ReadTxn, around: &Surroundings| {
        Ok(mkep::ask(txn, &mut Ledger::default(), request, around)?)
    };
    if request.entry.op == Op::Describe {
        return empty_store(ctx)?.read(|txn| look(txn, &Surroundings::default()));
    }
    let base = Base::find(&BaseArgs::default(), ctx)?;
    let look = |txn: &dyn ReadTxn| {
        base.check_foreign(txn)?;
        look(txn, &base.surroundings())
    };
    match base.has_store()? {
        true => ctx.read(look),
        false => empty_store(ctx)?.read(look),
    }
}

fn in_base(request: &Request, base: &Base, ctx: &mut Context) -> Result<Called, Failure> {
    let around = base.surroundings();
    let wait = lock_timeout(ctx);
    if !base.has_store()? {
        let mut empty = empty_store(ctx)?;
        empty.read(|txn| base.check_foreign(txn))?;
        let (response, error) = examined(&mut empty, request, &around, ctx)?;
        // Only a request that would write makes the store.
        if !response.is_applied() {
            return Ok((response, error));
        }
        base.create(ctx, wait)?;
    }
    let opened = match request.entry.kind {
        Kind::Query => Sqlite::open_to_read(&base.store),
        // What cannot be written may still be read, to say what is wrong with the request.
        Kind::Apply => base.open_to_write(wait).or_else(|error| match error {
            StoreError::ReadOnly { .. } => Sqlite::open_to_read(&base.store),
            error => Err(error),
        }),
    };
    // The end of the process closes it faster than it is taken apart.
    let mut store = ManuallyDrop::new(opened?);
    store.read(|txn| base.check_foreign(txn))?;
    examined(&mut *store, request, &around, ctx)
}

fn examined(
    store: &mut impl Engine,
    request: &Request,
    around: &Surroundings,
    ctx: &mut Context,
) -> Result<Called, Failure> {
    let agent = match request.entry.kind {
        Kind::Query => ctx.founder()?,
        Kind::Apply => store.read(|txn| ctx.agent(txn))?,
    };
    Ok(ctx.with_outside(|outside| mkep::call(store, request, around, &agent, outside)))
}
