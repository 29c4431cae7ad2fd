//! Telling a client that something it watches reads otherwise now, whichever process wrote.
//!
//! What a URI's content depends on is taken down, its *mark*, when the subscription is read; after each
//! commit marks are taken anew and compared. So no change between the two is missed, and only the store
//! is asked, never a table gone through.
//!
//! Rule: docs/spec/mcp.md, section 7.2.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mk::event::EventType;
use mk::id::EventId;
use mk::store::{Changes, Engine, Leases, Notices, ReadTxn, StoreError};
use mk::time::Timestamp;
use serde_json::{Value, json};

use super::body::Body;
use super::connection::{Outbox, Pending};
use super::message::{Fault, Id};
use super::resources::Uri;
use crate::cli::Context;

/// Most URIs that a connection watches.
///
/// Rule: docs/spec/mcp.md, section 13.
pub const URIS_MAX: usize = 100;

/// Changes of one URI within this time are one notification.
const TOGETHER: Duration = Duration::from_millis(100);

/// At most so often is one URI told of.
const APART: Duration = Duration::from_millis(250);

/// How often it is looked whether leases lapsed, whether there is still something to watch, and whether
/// the file is still the same.
const GLANCE: Duration = Duration::from_millis(100);

/// Events whose types are looked at to find forks and rollbacks; of more it is taken for granted.
const LOOKED_AT: i64 = 1_000;

/// Most leases and notices that are told apart.
const LISTED_MAX: usize = 1_000;

/// What the subscriptions of a connection watch.
pub struct Subscriptions {
    state: Mutex<State>,
    outbox: Outbox,
    /// Makes what a command runs with, to find the store.
    context: Box<dyn Fn() -> Context + Send + Sync>,
}

#[derive(Default)]
struct State {
    /// By `resources/subscribe`.
    plain: BTreeSet<String>,
    /// By `subscriptions/listen`.
    listens: Vec<Listen>,
    marks: BTreeMap<String, Watched>,
    /// The branches that there were, if anybody is to be told of new ones.
    branches: Option<u64>,
    is_watching: bool,
}

struct Listen {
    id: Id,
    uris: BTreeSet<String>,
    /// Whether it wants to know of new resources.
    list: bool,
    pending: Pending,
}

struct Watched {
    uri: Uri,
    mark: Mark,
    /// When the first change came that nobody has been told of.
    changed: Option<Instant>,
    told: Option<Instant>,
}

/// What the content of a URI depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    /// There is none: no store, no branch.
    Nothing,
    Head(Option<EventId>),
    Leases(Vec<(String, u64, Timestamp)>),
    /// Open notices, each with whether it is active.
    Notices(Vec<(String, bool)>),
    /// How many branches, and the last event looked at; a change of structure counts up.
    Branches {
        count: u64,
        looked_to: i64,
        changes: u64,
    },
}

impl State {
    fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.listens.is_empty()
    }

    /// Drops the marks that nobody needs any more.
    fn tidy(&mut self) {
        let wanted = |uri: &String| {
            self.plain.contains(uri) || self.listens.iter().any(|listen| listen.uris.contains(uri))
        };
        self.marks.retain(|uri, _| wanted(uri));
    }
}

impl Subscriptions {
    pub fn new(outbox: Outbox, context: impl Fn() -> Context + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), outbox, context: Box::new(context) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `resources/subscribe`: from now on.
    ///
    /// # Errors
    /// If it is one too many.
    pub fn subscribe(self: &Arc<Self>, name: &str, uri: Uri) -> Result<(), Fault> {
        let mut state = self.state();
        if !state.marks.contains_key(name) && state.marks.len() >= URIS_MAX {
            return Err(Fault::params(format!("a connection watches at most {URIS_MAX} URIs")));
        }
        self.mark_branches(&mut state);
        self.mark(&mut state, name, uri);
        state.plain.insert(name.to_owned());
        self.watch(&mut state);
        Ok(())
    }

    pub fn unsubscribe(&self, name: &str) {
        let mut state = self.state();
        state.plain.remove(name);
        state.tidy();
    }

    /// `subscriptions/listen`: from now on, until it is cancelled. The acknowledgement is its first
    /// message.
    pub fn listen(self: &Arc<Self>, wanted: Vec<(String, Uri)>, list: bool, pending: Pending) {
        let mut state = self.state();
        if list {
            self.mark_branches(&mut state);
        }
        let mut uris = BTreeSet::new();
        for (name, uri) in wanted {
            if state.marks.contains_key(&name) || state.marks.len() < URIS_MAX {
                self.mark(&mut state, &name, uri);
                uris.insert(name);
            }
        }
        let mut accepted = json!({});
        if !uris.is_empty() {
            accepted["resourceSubscriptions"] = json!(uris);
        }
        if list {
            accepted["resourcesListChanged"] = true.into();
        }
        let params = json!({ "_meta": meta(&pending.id), "notifications": accepted });
        self.notify("notifications/subscriptions/acknowledged", &params);
        state.listens.push(Listen { id: pending.id.clone(), uris, list, pending });
        self.watch(&mut state);
    }

    /// Ends the subscription of a request that was cancelled.
    pub fn cancel(&self, id: &Id) {
        let mut state = self.state();
        while let Some(at) = state.listens.iter().position(|listen| listen.id == *id) {
            let listen = state.listens.remove(at);
            // It is answered to nobody, and counted as done.
            listen.pending.answer(Ok(Body::new()));
        }
        state.tidy();
    }

    /// Ends all subscriptions, and answers those that are requests.
    pub fn end(&self) {
        let mut state = self.state();
        state.plain.clear();
        for Listen { id, pending, .. } in state.listens.drain(..) {
            pending.answer(Ok(Body::new().with_meta(SUBSCRIPTION, &id)));
        }
        state.marks.clear();
    }

    fn mark_branches(&self, state: &mut State) {
        if state.branches.is_none() {
            state.branches = (self.context)().read(|txn| Ok(count(txn)?)).ok();
        }
    }

    fn mark(&self, state: &mut State, name: &str, uri: Uri) {
        if !state.marks.contains_key(name) {
            let ctx = (self.context)();
            let mark = ctx.read(|txn| Ok(mark(txn, &uri, None, ctx.lease_now())?));
            let mark = mark.unwrap_or(Mark::Nothing);
            let watched = Watched { uri, mark, changed: None, told: None };
            state.marks.insert(name.to_owned(), watched);
        }
    }

    /// Sees to it that somebody watches.
    fn watch(self: &Arc<Self>, state: &mut State) {
        if !state.is_watching {
            state.is_watching = true;
            let own = Arc::clone(self);
            thread::spawn(move || own.work());
        }
    }

    /// Watches for as long as there is something to watch.
    fn work(&self) {
        let mut changes: Option<(Changes, (u64, u64))> = None;
        loop {
            let ctx = (self.context)();
            // A store that was replaced, or is not there, is looked for again.
            let file = ctx.store_path().ok().and_then(|path| file_id(&path));
            if changes.as_ref().map(|(_, id)| *id) != file {
                changes =
                    ctx.store_path().ok().and_then(|path| Some((Changes::of(&path).ok()?, file?)));
            }
            let mut state = self.state();
            if state.is_empty() {
                state.is_watching = false;
                return;
            }
            if let Some((changes, _)) = &mut changes {
                let now = ctx.lease_now();
                // What cannot be read now is compared when it can.
                let _ = changes.store().read(|txn| self.compare(&mut state, txn, now));
            }
            self.tell(&mut state);
            drop(state);
            let waited = match &mut changes {
                Some((changes, _)) => {
                    changes.store().can_be_kept() && changes.wait(GLANCE, None).is_ok()
                }
                None => false,
            };
            if !waited {
                changes = None;
                thread::sleep(GLANCE);
            }
        }
    }

    fn compare(
        &self,
        state: &mut State,
        txn: &dyn ReadTxn,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if let Some(before) = state.branches {
            let branches = count(txn)?;
            if branches != before {
                state.branches = Some(branches);
                self.tell_of_list(state);
            }
        }
        for watched in state.marks.values_mut() {
            let mark = mark(txn, &watched.uri, Some(&watched.mark), now)?;
            if mark.differs(&watched.mark) {
                watched.changed.get_or_insert_with(clock);
            }
            watched.mark = mark;
        }
        Ok(())
    }

    fn tell_of_list(&self, state: &State) {
        let method = "notifications/resources/list_changed";
        if !state.plain.is_empty() {
            self.notify(method, &json!({}));
        }
        for listen in state.listens.iter().filter(|listen| listen.list) {
            self.notify(method, &json!({ "_meta": meta(&listen.id) }));
        }
    }

    /// Sends what is due.
    fn tell(&self, state: &mut State) {
        let method = "notifications/resources/updated";
        let now = clock();
        for (name, watched) in &mut state.marks {
            let is_due = watched.changed.is_some_and(|at| now.duration_since(at) >= TOGETHER)
                && watched.told.is_none_or(|at| now.duration_since(at) >= APART);
            if !is_due {
                continue;
            }
            (watched.changed, watched.told) = (None, Some(now));
            if state.plain.contains(name) {
                self.notify(method, &json!({ "uri": name }));
            }
            for listen in state.listens.iter().filter(|listen| listen.uris.contains(name)) {
                self.notify(method, &json!({ "_meta": meta(&listen.id), "uri": name }));
            }
        }
    }

    fn notify(&self, method: &str, params: &Value) {
        let message =
            Body::new().with("jsonrpc", &"2.0").with("method", &method).with("params", params);
        (self.outbox)(&message.json());
    }
}

fn clock() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "notifications are kept apart by it")]
    Instant::now()
}

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn meta(id: &Id) -> Value {
    json!({ SUBSCRIPTION: id })
}

fn file_id(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn count(txn: &dyn ReadTxn) -> Result<u64, StoreError> {
    Ok(txn.branches()?.len() as u64)
}

impl Mark {
    /// Whether content with this mark reads otherwise than with the one before.
    fn differs(&self, before: &Self) -> bool {
        match (self, before) {
            (
                Self::Branches { count, changes, .. },
                Self::Branches { count: before, changes: changes_before, .. },
            ) => count != before || changes != changes_before,
            _ => self != before,
        }
    }
}

fn mark(
    txn: &dyn ReadTxn,
    uri: &Uri,
    before: Option<&Mark>,
    now: Timestamp,
) -> Result<Mark, StoreError> {
    if let Some(name) = uri.branch() {
        let branch = txn.branch(name.as_str())?;
        return Ok(branch.map_or(Mark::Nothing, |branch| Mark::Head(branch.head)));
    }
    Ok(match uri {
        Uri::Leases => {
            let leases = txn.leases(Leases::Active(now), "", None, LISTED_MAX)?;
            let held = leases.into_iter().map(|it| (it.resource, it.token, it.expires_at));
            Mark::Leases(held.collect())
        }
        Uri::Notices => {
            let open = txn.notices(Notices { resource: None, cleared: false }, None, LISTED_MAX)?;
            let marks = open.into_iter().map(|it| (it.is_active(now), it.id));
            Mark::Notices(marks.map(|(is_active, id)| (id, is_active)).collect())
        }
        Uri::Branches => {
            let last = txn.log_head()?.map_or(0, |(id, _)| id.0);
            let (from, mut changes) = match before {
                Some(Mark::Branches { looked_to, changes, .. }) => (*looked_to, *changes),
                _ => (last, 0),
            };
            let is_structure = |id: i64| {
                let event = txn.event(EventId(id))?;
                let kinds = [EventType::Forked, EventType::RolledBack, EventType::Merged];
                Ok::<_, StoreError>(event.is_some_and(|event| kinds.contains(&event.kind)))
            };
            if last - from > LOOKED_AT {
                changes += 1;
            } else {
                for id in from + 1..=last {
                    changes += u64::from(is_structure(id)?);
                }
            }
            Mark::Branches { count: count(txn)?, looked_to: last, changes }
        }
        _ => Mark::Nothing,
    })
}
