//! The hooks of agents.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mk::code::{Code, Coded};
use mk::hook::answer::{self, Enforce};
use mk::hook::{self, Call, Caller, Dialect, Occasion, Which};
use mk::id::EventId;
use mk::lease::{LeaseError, Resource, ResourceError};
use mk::log::Log;
use mk::revision;
use mk::store::ReadTxn;
use mk::{compaction, store};
use serde_json::Value;

use crate::Answer;
use crate::cli::{Actor, Context, Failure, Seen, Whereabouts, compact_now, forget};

/// Most bytes that an agent may send. What a file holds is among them, and is not kept.
const INPUT_MAX: u64 = 64 << 20;

/// How long a hook waits for other writers: the agent waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

pub fn run(name: &str, dialect: Dialect, ctx: &mut Context) -> Result<Answer, Failure> {
    std::panic::set_hook(Box::new(|panic| {
        let fault = format!("a fault in mk itself: {panic}").replace('\n', " ");
        Failure::new(Code::INTERNAL, fault).tell_in_a_line("mk hook");
        std::process::exit(0);
    }));
    let mut input = BufReader::new(io::stdin().lock().take(INPUT_MAX));
    let answered = match Call::read(&mut input, dialect) {
        Ok(call) => act(name, &call, dialect, ctx),
        Err(unread) => {
            let failure = match input.get_ref().limit() {
                0 => {
                    Failure::new(Code::TOO_LARGE, format!("stdin has more than {INPUT_MAX} bytes"))
                }
                _ => Failure::new(unread.code(), unread.to_string()),
            };
            strictly(unread.before_edit.as_deref(), dialect, ctx, failure)
        }
    };
    match answered {
        Ok(Some(value)) => {
            serde_json::to_writer(ctx.out.writer(), &value).map_err(io::Error::from)?;
            ctx.out.writer().write_all(b"\n")?;
        }
        Ok(None) => {}
        Err(failure) => failure.tell_in_a_line("mk hook"),
    }
    Ok(Answer::Yes)
}

/// What the agent gets to read, if anything.
fn act(
    name: &str,
    call: &Call,
    dialect: Dialect,
    ctx: &mut Context,
) -> Result<Option<Value>, Failure> {
    ctx.act_for(name, &call.session)?;
    ctx.global.lock_timeout.get_or_insert(PATIENCE);
    if let Some(directory) = call.directory.as_deref().map(Path::new).filter(|it| it.is_dir()) {
        std::env::set_current_dir(directory).map_err(|error| {
            Failure::new(
                Code::of_io(&error),
                format!("cannot change to '{}': {error}", directory.display()),
            )
        })?;
    }
    let before_edit = matches!(call.occasion, Occasion::BeforeEdit(_)).then_some(&*call.event);
    answer(call, dialect, ctx).or_else(|failure| strictly(before_edit, dialect, ctx, failure))
}

/// Does what the call is for, and makes what the agent gets to read, if anything.
fn answer(call: &Call, dialect: Dialect, ctx: &mut Context) -> Result<Option<Value>, Failure> {
    match &call.occasion {
        Occasion::Other => Ok(None),
        Occasion::Prompt => news(call, ctx),
        Occasion::SessionStart => {
            let text = ctx.read(|txn| {
                let actor = ctx.actor(txn)?;
                let branch = revision::branch(txn, actor.branch.as_str())?;
                Ok(hook::greeting(txn, &branch, caller(&actor), ctx.lease_now())?)
            })?;
            // From here on what others do is new.
            news(call, ctx)?;
            Ok(Some(answer::context(&call.event, &text)))
        }
        Occasion::BeforeEdit(files) => before_edit(call, files, dialect, ctx),
        Occasion::AfterEdit(files) => {
            let taken = take(files, ctx)?;
            Ok(taken.err().map(|held| answer::context(&call.event, &answer::held(&held))))
        }
        Occasion::AfterCommand(ran) => {
            let which = ctx.read(|txn| Ok(txn.setting("hook.record")?))?;
            if !Which::of(which.as_deref()).has(&ran.command, ran.exit_code) {
                return news(call, ctx);
            }
            let due = ctx.write(|txn, actor, outside| {
                let mut log = Log::open(txn)?;
                let id = call.tool_use_id.as_deref();
                hook::record(&mut log, ran, id, caller(actor), outside)?;
                Ok(compaction::due(log.txn(), log.growth()))
            })?;
            compact_now(ctx, &due?);
            news(call, ctx)
        }
        Occasion::SessionEnd => {
            ctx.write(|txn, actor, outside| {
                let (mut log, now) = (Log::open(txn)?, actor.lease_now());
                Ok(hook::give_back(&mut log, caller(actor), (now, outside))?)
            })?;
            forget(ctx)?;
            Ok(None)
        }
    }
}

/// What others did since the session was told last; the first time, nothing.
fn news(call: &Call, ctx: &Context) -> Result<Option<Value>, Failure> {
    let last = ctx.read(|txn| Ok(txn.log_head()?))?.map_or(EventId(0), |(id, _)| id);
    let news = Seen::default().news(ctx, last, true)?;
    Ok(news.map(|news| answer::context(&call.event, &news.text())))
}

fn before_edit(
    call: &Call,
    files: &[String],
    dialect: Dialect,
    ctx: &mut Context,
) -> Result<Option<Value>, Failure> {
    let enforce = ctx.read(|txn| Ok(Enforce::of(txn.setting("hook.enforce")?.as_deref())))?;
    if enforce == Enforce::Off {
        return Ok(None);
    }
    let taken = take(files, ctx)?;
    Ok(taken
        .err()
        .and_then(|held| answer::refusal(dialect, enforce, &call.event, &answer::held(&held))))
}

/// Leases the files of the project among `files`; or tells who stands in the way.
fn take(files: &[String], ctx: &mut Context) -> Result<Result<(), Box<mk::lease::Held>>, Failure> {
    let store = ctx.store_path()?;
    let resources = ctx.read(|txn| resources(txn, files, &store, ctx))?;
    if resources.is_empty() {
        return Ok(Ok(()));
    }
    let taken = ctx.write(|txn, actor, outside| {
        let (mut log, now) = (Log::open(txn)?, actor.lease_now());
        Ok(match hook::take(&mut log, &resources, caller(actor), (now, outside)) {
            Err(LeaseError::Held(held)) => Err(held),
            taken => Ok(taken?),
        })
    })?;
    Ok(taken)
}

/// With `hook.strict`, an edit is refused where the memory cannot be asked. `before_edit` is the event, if it
/// is one before an edit.
fn strictly(
    before_edit: Option<&str>,
    dialect: Dialect,
    ctx: &Context,
    failure: Failure,
) -> Result<Option<Value>, Failure> {
    let Some(event) = before_edit else { return Err(failure) };
    let strict = ctx.read(|txn| Ok(txn.setting("hook.strict")?));
    match strict {
        Ok(Some(value)) if value == "true" => {
            let why = format!("{}: {}", failure.code.name, failure.message());
            Ok(answer::refusal(dialect, Enforce::Deny, event, &why))
        }
        _ => Err(failure),
    }
}

fn caller(actor: &Actor) -> Caller<'_> {
    Caller {
        agent: &actor.agent,
        session: &actor.session,
        branch: &actor.branch,
        metadata: &actor.metadata,
    }
}

/// What `files` are to the project that has its store at `store`; those outside of it are nothing.
///
/// A file that is reached through a link counts by both names, so that who spells it as it is meets who
/// came by the link.
fn resources(
    txn: &dyn ReadTxn,
    files: &[String],
    store: &Path,
    ctx: &Context,
) -> Result<Vec<Resource>, Failure> {
    let (here, named) = (ctx.directory()?, ctx.named_store()?);
    let mut found = Vec::new();
    for file in files {
        let path = here.join(file);
        for path in [Some(path.clone()), resolved(&path)].into_iter().flatten() {
            let directory = path.ancestors().skip(1).find(|it| it.is_dir()).unwrap_or(&here);
            if named.is_none() && !is_of(directory, store) {
                continue;
            }
            let whereabouts = Whereabouts { here: directory.to_owned(), named: named.clone() };
            let Some(text) = path.to_str() else { continue };
            match Resource::locate(text, &whereabouts.place(txn)?) {
                Ok(resource) if !found.contains(&resource) => found.push(resource),
                Ok(_) | Err(ResourceError::Outside { .. } | ResourceError::Root(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(found)
}

/// Whether `directory` lies in the project that has its store at `store`.
fn is_of(directory: &Path, store: &Path) -> bool {
    let same = |other: &Path| match (other.canonicalize(), store.canonicalize()) {
        (Ok(other), Ok(store)) => other == store,
        _ => other == store,
    };
    store::location::discover(directory).is_ok_and(|found| same(&found))
}

/// `path` with its links followed, as far as it exists.
fn resolved(path: &Path) -> Option<PathBuf> {
    let there = path.ancestors().find(|it| it.symlink_metadata().is_ok())?;
    let rest = path.strip_prefix(there).ok()?;
    let real = there.canonicalize().ok()?;
    Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}
