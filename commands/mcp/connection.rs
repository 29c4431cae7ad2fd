//! A connection: requests in, answers out, in an order that clients can rely on.
//!
//! Rule: docs/spec/mcp.md, sections 2 and 3.2.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mk::code::Code;
use mk::id::{AgentId, shown};
use mk::store::Patience;

use super::body::Body;
use super::lane::Lane;
use super::log;
use super::message::{self, Bad, Fault, Id, Members, Message, Request};
use super::progress::Progress;
use super::resources::{self, Uri};
use super::revision::{self, Client, Revision};
use super::server::{Call, HOUR_MS, Lookup, Order, Refused, Server, busy, no_cursor};
use super::subscriptions::Subscriptions;
use crate::cli::compact_now;

/// Requests of a connection that are in work at once, and that wait in line.
///
/// Rule: docs/spec/mcp.md, section 13.
const IN_WORK: usize = 64;
const IN_LINE: usize = 1_000;

/// Threads that read, beside the one that writes.
const READERS: usize = 4;

/// The server with the threads that work for it, whatever connections there are.
pub struct Office {
    pub server: Server,
    /// One thread: writes take effect in the order in which they were read.
    writes: Arc<Lane>,
    reads: Arc<Lane>,
    waits: Arc<Lane>,
}

impl Office {
    pub fn new(server: Server) -> Arc<Self> {
        let (writes, reads) = (Lane::new(1), Lane::new(READERS));
        let waits = Lane::new(IN_WORK - READERS - 1);
        Arc::new(Self { server, writes, reads, waits })
    }
}

/// Where messages to a client go, each a JSON text on one line.
pub type Outbox = Arc<dyn Fn(&str) + Send + Sync>;

pub struct Connection {
    office: Arc<Office>,
    outbox: Outbox,
    /// What the handshake settled, once there was one.
    handshake: Option<(Revision, Option<Client>)>,
    work: Arc<Work>,
    subscriptions: Arc<Subscriptions>,
    /// Who is at the other end, if that is known from elsewhere.
    pub agent: Option<AgentId>,
    /// What the session of who names none is called, if not as that of the process.
    pub session: Option<String>,
}

/// Requests that are not answered yet.
#[derive(Default)]
struct Work {
    requests: Mutex<Requests>,
    done: Condvar,
}

#[derive(Default)]
struct Requests {
    by_id: HashMap<Id, Arc<AtomicBool>>,
    /// Those whose answer is not written yet, cancelled ones included.
    open: usize,
}

/// How long what is in work may take once no more comes.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// From one answer to the next.
    Each(Duration),
    /// In all.
    All(Duration),
}

impl Work {
    /// Gives up what waits for others, and lets the rest finish. Answers how many requests did not.
    fn finish(&self, limit: Limit) -> usize {
        let (Limit::Each(time) | Limit::All(time)) = limit;
        let mut patience = Patience::new(time);
        let mut requests = self.requests();
        for given_up in requests.by_id.values() {
            given_up.store(true, Ordering::Relaxed);
        }
        while requests.open > 0 && !patience.left().is_zero() {
            let before = requests.open;
            let waited = self.done.wait_timeout(requests, patience.left());
            requests = waited.unwrap_or_else(PoisonError::into_inner).0;
            if requests.open < before && matches!(limit, Limit::Each(_)) {
                patience = Patience::new(time);
            }
        }
        requests.open
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that will be answered once.
pub struct Pending {
    pub id: Id,
    revision: Revision,
    given_up: Arc<AtomicBool>,
    work: Arc<Work>,
    outbox: Outbox,
}

impl Pending {
    fn is_cancelled(&self) -> bool {
        !self.is_in(&self.work.requests())
    }

    /// Whether the id still stands for this request, and not for a later one.
    fn is_in(&self, requests: &Requests) -> bool {
        requests.by_id.get(&self.id).is_some_and(|it| Arc::ptr_eq(it, &self.given_up))
    }

    /// Answers, unless the request was cancelled.
    pub fn answer(self, result: Result<Body, Fault>) {
        let mut requests = self.work.requests();
        let is_wanted = self.is_in(&requests);
        if is_wanted {
            // Before the answer is out, since with it the client may use the id again.
            requests.by_id.remove(&self.id);
        }
        drop(requests);
        log::debug(|| {
            let how = match (&result, is_wanted) {
                (_, false) => "cancelled".to_owned(),
                (Ok(_), true) => "answered".to_owned(),
                (Err(fault), true) => format!("refused, {}", fault.code),
            };
            format!("request {}: {how}", self.id)
        });
        if is_wanted {
            (self.outbox)(&response(&self.id, self.revision, result));
        }
        self.work.requests().open -= 1;
        self.work.done.notify_all();
    }
}

fn response(id: &Id, revision: Revision, result: Result<Body, Fault>) -> String {
    let envelope = Body::new().with("jsonrpc", &"2.0").with("id", id);
    match result {
        Ok(body) => envelope.with_json("result", &revision.completed(body).json()),
        Err(fault) => envelope.with("error", &fault),
    }
    .json()
}

impl Connection {
    pub fn new(office: Arc<Office>, outbox: Outbox) -> Self {
        let of = Arc::clone(&office);
        let context = move || of.server.own_context();
        let subscriptions = Subscriptions::new(Arc::clone(&outbox), context);
        let (handshake, work) = (None, Arc::default());
        let (agent, session) = (None, None);
        Self { office, outbox, handshake, work, subscriptions, agent, session }
    }

    /// Takes a line, and sees to it that it is answered; answers whether it was a message.
    pub fn receive(&mut self, line: &[u8]) -> bool {
        match message::read(line) {
            Ok(None) => true,
            Ok(Some(message)) => {
                self.take(message);
                true
            }
            Err(bad) => {
                self.refuse(bad);
                false
            }
        }
    }

    pub fn refuse(&self, Bad { id, fault }: Bad) {
        let mut envelope = Body::new().with("jsonrpc", &"2.0");
        if let Some(id) = id {
            envelope = envelope.with("id", &id);
        }
        (self.outbox)(&envelope.with("error", &fault).json());
    }

    pub fn take(&mut self, message: Message) {
        match message {
            Message::Response => {}
            Message::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Ok(members) = params.members()
                    && let Some(id) = members.get("requestId").and_then(Id::read)
                {
                    self.cancel(&id);
                }
            }
            Message::Request(request) => {
                let outbox = Arc::clone(&self.outbox);
                self.ask(request, &outbox);
            }
        }
    }

    pub fn cancel(&self, id: &Id) {
        let removed = self.work.requests().by_id.remove(id);
        if let Some(given_up) = removed {
            given_up.store(true, Ordering::Relaxed);
            self.subscriptions.cancel(id);
        }
    }

    /// What to end the connection with, from any thread.
    pub fn end(&self) -> impl Fn(Limit) -> usize + Send + 'static + use<> {
        let (work, subscriptions) = (Arc::clone(&self.work), Arc::clone(&self.subscriptions));
        move |limit| {
            subscriptions.end();
            work.finish(limit)
        }
    }

    /// Serves a request, of which the answer goes to `outbox`.
    pub fn ask(&mut self, Request { id, method, params }: Request, outbox: &Outbox) {
        let mut requests = self.work.requests();
        if requests.by_id.contains_key(&id) {
            drop(requests);
            let fault = Fault::new(Fault::NO_REQUEST, "a request with this id is in work");
            let envelope = Body::new().with("jsonrpc", &"2.0").with("id", &id);
            return outbox(&envelope.with("error", &fault).json());
        }
        let is_full = requests.open >= IN_WORK + IN_LINE;
        let given_up = Arc::new(AtomicBool::new(false));
        requests.by_id.insert(id.clone(), Arc::clone(&given_up));
        requests.open += 1;
        drop(requests);
        log::debug(|| format!("request {id}: {}", shown(&method)));
        let (work, outbox) = (Arc::clone(&self.work), Arc::clone(outbox));
        let revision = Revision::V2025November;
        let mut pending = Pending { id, revision, given_up, work, outbox };
        let (call, is_stated) = match params.members().and_then(|params| self.call(params)) {
            Ok(call) => call,
            Err(fault) => {
                let fault = if is_known(&method) { fault } else { no_method(&method) };
                return pending.answer(Err(fault));
            }
        };
        let revision = match (call, is_stated, method.as_str()) {
            (call, false, "initialize") => return self.initialize(pending, &call.params),
            (call, ..) => call,
        };
        let call = revision;
        pending.revision = call.revision;
        if !is_stated && self.handshake.is_none() {
            let result = match method.as_str() {
                "ping" => Ok(Body::new()),
                method if is_known(method) => Err(revision::unstated()),
                method => Err(no_method(method)),
            };
            return pending.answer(result);
        }
        let is_old = !call.revision.is_stateless();
        let server = &self.office.server;
        match method.as_str() {
            "ping" if is_old => pending.answer(Ok(Body::new())),
            "server/discover" if !is_old => pending.answer(Ok(server.discover())),
            "tools/list" => pending.answer(server.list_tools(&call)),
            "tools/call" => match server.order(call) {
                Err(Refused::ByProtocol(fault)) => pending.answer(Err(fault)),
                Err(Refused::ByTool(failure)) => {
                    pending.answer(Ok(server.failed(&failure)));
                }
                Ok(_) if is_full => pending.answer(Ok(server.failed(&busy()))),
                Ok(order) => self.begin(order, pending),
            },
            "prompts/list" => pending.answer(server.list_prompts(&call)),
            "resources/templates/list" => {
                let list = no_cursor(&call.params).map(|()| resources::templates());
                pending.answer(list.map(|list| call.revision.cached(list, HOUR_MS)));
            }
            "resources/list" => match no_cursor(&call.params) {
                Ok(()) => self.look_up(Lookup::Resources, call, pending),
                Err(fault) => pending.answer(Err(fault)),
            },
            "resources/read" => self.look_up(Lookup::Resource, call, pending),
            "prompts/get" => self.look_up(Lookup::Prompt, call, pending),
            "completion/complete" => self.look_up(Lookup::Completion, call, pending),
            "resources/subscribe" if is_old => {
                let done = watchable(&call)
                    .and_then(|(name, uri)| self.subscriptions.subscribe(&name, uri));
                pending.answer(done.map(|()| Body::new()));
            }
            "resources/unsubscribe" if is_old => {
                let done = call.params.required_text("uri");
                let done = done.map(|name| self.subscriptions.unsubscribe(&name));
                pending.answer(done.map(|()| Body::new()));
            }
            "subscriptions/listen" if !is_old => match filter(&call) {
                Ok((uris, list)) => self.subscriptions.listen(uris, list, pending),
                Err(fault) => pending.answer(Err(fault)),
            },
            method => pending.answer(Err(no_method(method))),
        }
    }

    /// Reads beside the writes.
    fn look_up(&self, wanted: Lookup, call: Call, pending: Pending) {
        let office = Arc::clone(&self.office);
        self.office.reads.put(move || {
            let found = catch_unwind(AssertUnwindSafe(|| office.server.look_up(wanted, &call)));
            pending.answer(found.unwrap_or_else(|_| Err(own_fault())));
        });
    }

    /// The request with all that it depends on, and whether it says its revision itself.
    fn call(&self, params: Members) -> Result<(Call, bool), Fault> {
        let meta = params.object("_meta")?;
        let stated = revision::stated(meta.as_ref())?;
        let is_stated = stated.is_some();
        let (revision, client) = match (stated, &self.handshake) {
            (Some(client), _) => (Revision::V2026, client),
            (None, Some((revision, client))) => (*revision, client.clone()),
            (None, None) => (Revision::V2025November, None),
        };
        let (agent, session) = (self.agent.clone(), self.session.clone());
        let meta = meta.unwrap_or_default();
        Ok((Call { revision, client, agent, session, meta, params }, is_stated))
    }

    fn initialize(&mut self, mut pending: Pending, params: &Members) {
        let result = params.required_text("protocolVersion").map(|version| {
            let revision = Revision::offered(&version);
            let client = Client::read(params.object("clientInfo").ok().flatten());
            self.handshake = Some((revision, client));
            pending.revision = revision;
            self.office.server.initialize(revision)
        });
        pending.answer(result);
    }

    /// Puts the call of a tool in line.
    fn begin(&self, order: Order, pending: Pending) {
        let office = Arc::clone(&self.office);
        match (order.reads(), order.wait()) {
            (true, wait) if wait.is_zero() => self.office.reads.put(move || {
                work(&office, &order, pending);
            }),
            (true, _) => self.office.waits.put(move || work(&office, &order, pending)),
            (false, wait) if wait.is_zero() => self.office.writes.put(move || {
                work(&office, &order, pending);
            }),
            // It has its turn among the writes once; what it cannot have then it waits for elsewhere.
            (false, _) => self.office.writes.put(move || {
                if let Some(pending) = attempt(&office, &order.at_once(), pending) {
                    let waits = Arc::clone(&office.waits);
                    waits.put(move || work(&office, &order, pending));
                }
            }),
        }
    }
}

/// Runs a call and answers it.
fn work(office: &Office, order: &Order, pending: Pending) {
    run(office, order, pending, |_| false);
}

/// The same, but gives the request back if somebody else holds what it wants.
fn attempt(office: &Office, order: &Order, pending: Pending) -> Option<Pending> {
    run(office, order, pending, |code| code == Code::LEASE_HELD)
}

fn run(
    office: &Office,
    order: &Order,
    pending: Pending,
    is_for_later: impl Fn(Code) -> bool,
) -> Option<Pending> {
    if pending.is_cancelled() {
        // A write that has not begun is not made, and nobody is told.
        pending.answer(Ok(Body::new()));
        return None;
    }
    let token = order.progress_token();
    let progress = token.map(|token| Progress::begin(token, Arc::clone(&pending.outbox)));
    let ran = catch_unwind(AssertUnwindSafe(|| office.server.run(order, &pending.given_up)));
    drop(progress);
    match ran {
        Ok(Ok((body, mut ctx))) => {
            pending.answer(Ok(body));
            let due = ctx.take_due();
            compact_now(&mut ctx, &due);
        }
        Ok(Err(failure)) if is_for_later(failure.code) => return Some(pending),
        Ok(Err(failure)) => {
            log::debug(|| {
                format!("request {}: {} answers {}", pending.id, order.name(), failure.code.name)
            });
            pending.answer(Ok(office.server.failed(&failure)));
        }
        Err(_) => pending.answer(Err(own_fault())),
    }
    None
}

/// That a request met a bug.
fn own_fault() -> Fault {
    Fault::new(Fault::INTERNAL, "a fault in mk itself")
}

/// The URI that a request wants to watch.
fn watchable(call: &Call) -> Result<(String, Uri), Fault> {
    let name = call.params.required_text("uri")?;
    match Uri::read(&name).filter(Uri::changes) {
        Some(uri) => Ok((name, uri)),
        None => Err(resources::unknown(&name, call.revision)),
    }
}

/// What a `subscriptions/listen` asks for, as far as it can be had.
fn filter(call: &Call) -> Result<(Vec<(String, Uri)>, bool), Fault> {
    let missing = || Fault::params("notifications is missing");
    let wanted = call.params.object("notifications")?.ok_or_else(missing)?;
    let names: Vec<String> = match wanted.get("resourceSubscriptions") {
        None => Vec::new(),
        Some(raw) => serde_json::from_str(raw.get())
            .map_err(|_| Fault::params("resourceSubscriptions is no list of strings"))?,
    };
    let known = names.into_iter().filter_map(|name| {
        let uri = Uri::read(&name).filter(Uri::changes)?;
        Some((name, uri))
    });
    let list = wanted.get("resourcesListChanged").is_some_and(|raw| raw.get() == "true");
    Ok((known.collect(), list))
}

/// Methods that are offered in any revision.
fn is_known(method: &str) -> bool {
    METHODS.contains(&method)
}

const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "completion/complete",
];

fn no_method(method: &str) -> Fault {
    Fault::new(Fault::NO_METHOD, format!("no method '{}' here", shown(method)))
}
