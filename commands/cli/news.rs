//! What others did since an agent last looked, told with each answer: agents do not see notifications.
//!
//! Rule: docs/spec/mcp.md, section 5.3.

use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mk::branch;
use mk::event::{Event, EventType};
use mk::id::EventId;
use mk::lease::{self, AT_ONCE};
use mk::store::location;
use mk::store::{Leases, ReadTxn, StoreError};
use mk::text::counted;
use serde::Serialize;

use super::{Actor, Context, Failure, head_of, line, subject};

/// Lines that are told at most, and how long each is.
const LINES: usize = 5;
const LINE_MAX: usize = 160;

/// Newest events among which those lines are chosen; more are only counted.
const LOOKED_AT: usize = 40;

/// The share of a lease's time below which it is told that it runs out, as its divisor.
const EXPIRING: f64 = 3.0;

#[derive(Debug, Serialize)]
pub struct News {
    count: u64,
    latest: Vec<Line>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leases_expiring: Vec<Expiring>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<String>,
    /// What lists all of it.
    #[serde(skip)]
    all: String,
}

impl News {
    /// The same, of a server on which this tool lists what happened.
    pub fn with_more_in(self, tool: &str) -> Self {
        Self { more: self.more.map(|_| tool.to_owned()), all: tool.to_owned(), ..self }
    }

    /// Leaves out a line, the last, and says where it is to be found; answers whether there was one.
    pub fn shorten(&mut self) -> bool {
        let was_there = self.latest.pop().is_some();
        if was_there {
            self.more = Some(self.all.clone());
        }
        was_there
    }

    /// What a hook tells: a line each, and how many there are beside.
    pub fn text(&self) -> String {
        let told = self
            .latest
            .iter()
            .map(|it| format!("NEWS event {} of {}: {}", it.event_id, it.agent_id, line(&it.text)));
        let more = self.count - self.latest.len() as u64;
        let more = (more > 0).then(|| format!("NEWS {}: see mk_log", counted(more, "more event")));
        let expiring = self.leases_expiring.iter().map(|it| {
            format!("YOUR LEASE of {} ends in {} s", line(&it.resource), it.expires_in_s.ceil())
        });
        told.chain(more).chain(expiring).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, Serialize)]
struct Line {
    event_id: EventId,
    agent_id: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct Expiring {
    resource: String,
    expires_in_s: f64,
}

/// The last event that each session was told of.
///
/// It is kept in memory and, where that can be written, in a file that the hooks of the agent share:
/// `seen/AGENT.SESSION` beside the store, the id in decimal digits.
#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<(String, String), EventId>>);

impl Seen {
    /// What `actor` has not been told of; from now on it has been.
    ///
    /// # Errors
    /// Those of the store. They are no reason for a call to fail.
    pub fn news(&self, ctx: &Context, start: EventId, keep: bool) -> Result<Option<News>, Failure> {
        // Before anything is read: of two calls at once the later one has read as much as the earlier.
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ctx.read(|txn| {
            let actor = ctx.actor(txn)?;
            let (_, head) = head_of(txn, None, &actor)?;
            let last = txn.log_head()?.map_or(EventId(0), |(id, _)| id);
            let who = (actor.agent.to_string(), actor.session.clone());
            let file = seen_file(ctx, &actor)?;
            let kept = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
            // What is beyond the last was told of a store that was put back since, or is not read here yet.
            let is_here = |id: &EventId| *id <= last;
            let known = seen.get(&who).copied().filter(is_here);
            let known = known.max(kept.map(EventId).filter(is_here));
            let since = known.unwrap_or(start.min(last));
            let found = found(txn, &actor, head, since)?;
            let expiring = expiring(txn, ctx, &actor)?;
            if known != Some(last) && keep {
                keep_in(&file, last);
            }
            seen.insert(who, last);
            let Found { count, latest } = found;
            if count == 0 && expiring.is_empty() {
                return Ok(None);
            }
            let all = format!("mk_log after={since}");
            let more = (count > latest.len() as u64).then(|| all.clone());
            Ok(Some(News { count, latest, leases_expiring: expiring, more, all }))
        })
    }
}

/// Forgets what the session of the caller was told, as far as a file says it.
pub fn forget(ctx: &Context) -> Result<(), Failure> {
    let file = ctx.read(|txn| seen_file(ctx, &ctx.actor(txn)?))?;
    // It may never have come to be.
    let _ = fs::remove_file(file);
    Ok(())
}

fn seen_file(ctx: &Context, actor: &Actor) -> Result<PathBuf, Failure> {
    let name = format!("{}.{}", actor.agent, actor.session);
    Ok(ctx.store_path()?.with_file_name(location::SEEN).join(name))
}

/// How long a file of a session is kept that nobody writes any more.
const KEPT: Duration = Duration::from_secs(7 * 86_400);

/// Keeps the id in a file, as far as that can be done: without it an agent is told something twice.
fn keep_in(file: &Path, id: EventId) {
    let Some(directory) = file.parent() else { return };
    if !file.exists() {
        let _ = DirBuilder::new().mode(0o700).create(directory);
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|it| it.modified()).ok();
            if age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > KEPT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
    let _ = fs::write(file, format!("{id}\n"));
}

struct Found {
    count: u64,
    latest: Vec<Line>,
}

/// The events of others on the lineage that ends at `head`, after `since`.
fn found(
    txn: &dyn ReadTxn,
    actor: &Actor,
    head: Option<EventId>,
    since: EventId,
) -> Result<Found, Failure> {
    let mut chosen: Vec<(bool, Event)> = Vec::new();
    let (mut count, mut looked_at, mut at) = (0, 0, head);
    while let Some(id) = at.filter(|id| *id > since) {
        if looked_at == LOOKED_AT {
            // Own events are near the newest, if any is among them: the cursor moves with each call.
            count += after(txn, id, since)?;
            break;
        }
        let event = txn.known_event(id)?;
        at = event.parent;
        if is_own(&event, actor) {
            continue;
        }
        count += 1;
        looked_at += 1;
        chosen.push((weighs_less(&event), event));
    }
    // A stable order: within each kind the newest stay first.
    chosen.sort_by_key(|(weighs_less, _)| *weighs_less);
    let lines = chosen.into_iter().take(LINES).map(|(_, event)| {
        let payload = branch::reported_payload(txn, &event)?;
        let text = format!("{} {}", event.kind, subject(&event, payload.as_ref()));
        let text = text.chars().take(LINE_MAX).collect();
        Ok::<_, Failure>(Line { event_id: event.id, agent_id: event.agent.to_string(), text })
    });
    let latest = lines.collect::<Result<_, _>>()?;
    Ok(Found { count, latest })
}

/// How many events of the lineage that ends at `last` come after `since` in the log. O(log n) for each
/// branch on the way.
fn after(txn: &dyn ReadTxn, last: EventId, since: EventId) -> Result<u64, StoreError> {
    let event = txn.known_event(last)?;
    let (mut lineage, mut sequence, mut count) = (event.lineage, event.sequence, 0);
    loop {
        let own = txn.lineage(lineage)?;
        let (mut told, mut new) = (own.fork_sequence(), sequence + 1);
        while told + 1 < new {
            let middle = told.midpoint(new);
            match txn.own_event(lineage, middle)?.is_some_and(|id| id > since) {
                true => new = middle,
                false => told = middle,
            }
        }
        count += sequence + 1 - new;
        match own.fork_point.filter(|point| told == own.fork_sequence() && point.event > since) {
            Some(point) => (lineage, sequence) = (point.lineage, point.sequence),
            None => return Ok(count),
        }
    }
}

/// Whether the session of `actor` wrote it. What does not say its session was typed in a shell by the
/// agent itself.
fn is_own(event: &Event, actor: &Actor) -> bool {
    event.agent == actor.agent
        && event.metadata().is_none_or(|metadata| {
            let session = metadata.get("session").and_then(mk::canon::Value::as_str);
            session.is_none_or(|session| session == actor.session)
        })
}

fn weighs_less(event: &Event) -> bool {
    matches!(
        event.kind,
        EventType::Note | EventType::ToolLog | EventType::Snapshot | EventType::Task
    )
}

/// The own leases that run out soon.
fn expiring(txn: &dyn ReadTxn, ctx: &Context, actor: &Actor) -> Result<Vec<Expiring>, Failure> {
    let now = ctx.lease_now();
    let held = lease::list(txn, Leases::Active(now), None, None, AT_ONCE, now)?.leases;
    let is_own = |it: &&lease::LeaseReport| {
        it.claim
            .as_ref()
            .is_some_and(|claim| claim.agent_id == actor.agent && claim.session == actor.session)
    };
    let soon = held
        .iter()
        .filter(is_own)
        .filter(|it| it.expires_in_seconds < it.ttl_seconds / EXPIRING)
        .map(|it| Expiring {
            resource: it.resource_key.clone(),
            expires_in_s: it.expires_in_seconds,
        });
    Ok(soon.take(LINES).collect())
}
