//! The hooks of agents.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mk::code::{Code, Coded};
use mk::hook::answer::{self, Enforce};
use mk::hook::{self, Call, Caller, Dialect, Occasion, Which};
use mk::id::EventId;
use mk::lease::{Held, LeaseError, Resource, ResourceError};
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
    let answered = ctx.directory().and_then(|here| {
        if dialect == Dialect::Claude {
            enter_project(&here, ctx)?;
        }
        answer(call, &here, dialect, ctx)
    });
    answered.or_else(|failure| strictly(before_edit, dialect, ctx, failure))
}

/// Goes to the project that Claude Code works on, as its server does, if `here` is none of its directories.
fn enter_project(here: &Path, ctx: &Context) -> Result<(), Failure> {
    if let Some(directory) = ctx.claude_project()?
        && let Ok(store) = store::location::discover(&directory)
        && !is_of(here, &store)
    {
        // If it cannot be entered, the project is looked for from here.
        let _ = std::env::set_current_dir(&directory);
    }
    Ok(())
}

/// Does what the call is for, and makes what the agent gets to read, if anything. Names of files are relative
/// to `here`.
fn answer(
    call: &Call,
    here: &Path,
    dialect: Dialect,
    ctx: &mut Context,
) -> Result<Option<Value>, Failure> {
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
        Occasion::BeforeEdit(files) => before_edit(&call.event, (files, here), dialect, ctx),
        Occasion::AfterEdit(files) => {
            let taken = take(files, here, ctx)?;
            match (taken.held, taken.unleased) {
                (Some(held), _) => Ok(Some(answer::context(&call.event, &answer::held(&held)))),
                (None, Some(failure)) => Err(failure),
                (None, None) => Ok(None),
            }
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
    event: &str,
    (files, here): (&[String], &Path),
    dialect: Dialect,
    ctx: &mut Context,
) -> Result<Option<Value>, Failure> {
    let enforce = ctx.read(|txn| Ok(Enforce::of(txn.setting("hook.enforce")?.as_deref())))?;
    if enforce == Enforce::Off {
        return Ok(None);
    }
    let taken = take(files, here, ctx)?;
    match (taken.held, taken.unleased) {
        // A warning lets the edit pass, which strictness may not.
        (held, Some(failure)) if held.is_none() || enforce == Enforce::Warn => Err(failure),
        (held, _) => {
            Ok(held.and_then(|held| answer::refusal(dialect, enforce, event, &answer::held(&held))))
        }
    }
}

/// What came of leasing the files of an edit.
struct Taken {
    /// What stands in the way: then nothing was leased.
    held: Option<Box<Held>>,
    /// Why a file cannot be leased.
    unleased: Option<Failure>,
}

/// Leases the files of the project among `files`; or tells who stands in the way.
fn take(files: &[String], here: &Path, ctx: &mut Context) -> Result<Taken, Failure> {
    let store = ctx.store_path()?;
    let Named { resources, above, unleased } =
        ctx.read(|txn| named(txn, files, here, &store, ctx))?;
    if resources.is_empty() && above.is_empty() {
        return Ok(Taken { held: None, unleased });
    }
    let held = ctx.write(|txn, actor, outside| {
        let (mut log, now) = (Log::open(txn)?, actor.lease_now());
        Ok(match hook::take(&mut log, (&resources, &above), caller(actor), (now, outside)) {
            Err(LeaseError::Held(held)) => Some(held),
            taken => taken.map(|()| None)?,
        })
    })?;
    Ok(Taken { held, unleased })
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

/// What the files of an edit are to a project.
#[derive(Default)]
struct Named {
    resources: Vec<Resource>,
    /// Directories with files whose own names cannot be leased.
    above: Vec<Resource>,
    /// Why the first of these cannot.
    unleased: Option<Failure>,
}

/// What `files` are to the project that has its store at `store`; those outside of it are nothing.
///
/// A file that is reached through a link counts by both names, so that who spells it as it is meets who
/// came by the link.
fn named(
    txn: &dyn ReadTxn,
    files: &[String],
    here: &Path,
    store: &Path,
    ctx: &Context,
) -> Result<Named, Failure> {
    let store_given = ctx.named_store()?;
    let mut found = Named::default();
    let keep = |resources: &mut Vec<Resource>, resource: Resource| {
        if !resources.contains(&resource) {
            resources.push(resource);
        }
    };
    for file in files {
        let path = here.join(file);
        for path in [Some(path.clone()), resolved(&path)].into_iter().flatten() {
            let directory = path.ancestors().skip(1).find(|it| it.is_dir()).unwrap_or(here);
            if store_given.is_none() && !is_of(directory, store) {
                continue;
            }
            let whereabouts =
                Whereabouts { here: directory.to_owned(), named: store_given.clone() };
            let place = whereabouts.place(txn)?;
            let located = path.to_str().map(|text| Resource::locate(text, &place));
            match located {
                Some(Ok(resource)) => keep(&mut found.resources, resource),
                Some(Err(ResourceError::Outside { .. } | ResourceError::Root(_))) => {}
                None | Some(Err(_)) => {
                    if let Some(above) = Resource::above(&path.to_string_lossy(), &place) {
                        keep(&mut found.above, above);
                    }
                    if let Some(Err(error)) = located {
                        found.unleased.get_or_insert(error.into());
                    }
                }
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

/// Most links that lead from one to the next, as Linux follows them.
const LINKS_MAX: usize = 40;

/// `path` with its links followed, as far as it exists, and where they lead to if nothing is there yet.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let there = path.ancestors().find(|it| it.symlink_metadata().is_ok())?;
        let rest = path.strip_prefix(there).ok()?;
        let join = |real: PathBuf| if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        if let Ok(real) = there.canonicalize() {
            return Some(join(real));
        }
        let target = there.read_link().ok()?;
        path = join(there.parent()?.canonicalize().ok()?.join(target));
    }
    None
}
