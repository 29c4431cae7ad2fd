//! Sessions: connections of the revisions with a handshake, over many requests.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mk::id::hex;
use mk::store::Patience;

use super::guard::Sender;
use super::message::{Request, Response};
use crate::cli::Chance;
use crate::mcp::connection::{Connection, Limit, Office, Outbox};

/// Sessions that are remembered; of more the oldest is forgotten.
const SESSIONS: usize = 1_000;

/// Messages that wait for a stream; of more the oldest is dropped. Each only says that something reads
/// otherwise now.
const MESSAGES: usize = 200;

#[derive(Default)]
pub struct Sessions(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_name: HashMap<String, Arc<Session>>,
    /// Names, the oldest first.
    order: VecDeque<String>,
}

pub struct Session {
    sender: Sender,
    connection: Mutex<Connection>,
    end: Box<dyn Fn(Limit) -> usize + Send + Sync>,
    told: Arc<Told>,
}

/// What a session is told without having asked.
#[derive(Default)]
struct Told {
    messages: Mutex<Messages>,
    more: Condvar,
}

#[derive(Default)]
struct Messages {
    waiting: VecDeque<String>,
    is_over: bool,
}

impl Told {
    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    pub fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be told, waiting for it at most so long; none once the session is over.
    pub fn told(&self, at_most: Duration) -> Option<Vec<String>> {
        let patience = Patience::new(at_most);
        let mut messages = self.told.messages();
        while messages.waiting.is_empty() && !messages.is_over && !patience.left().is_zero() {
            let waited = self.told.more.wait_timeout(messages, patience.left());
            messages = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if messages.is_over {
            return None;
        }
        Some(messages.waiting.drain(..).collect())
    }

    fn close(&self, limit: Duration) {
        (self.end)(Limit::All(limit));
        self.told.messages().is_over = true;
        self.told.more.notify_all();
    }
}

impl Sessions {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens one for `sender`.
    pub fn open(&self, office: &Arc<Office>, sender: &Sender) -> (String, Arc<Session>) {
        let name = hex(&Chance::secret());
        let told = Arc::new(Told::default());
        let into = Arc::clone(&told);
        let outbox: Outbox = Arc::new(move |message: &str| {
            let mut messages = into.messages();
            if messages.waiting.len() >= MESSAGES {
                messages.waiting.pop_front();
            }
            messages.waiting.push_back(message.to_owned());
            into.more.notify_all();
        });
        let mut connection = Connection::new(Arc::clone(office), outbox);
        if let Sender::Agent(agent) = sender {
            connection.agent = Some(agent.clone());
        }
        connection.session = Some(name.clone());
        let end = Box::new(connection.end());
        let connection = Mutex::new(connection);
        let session = Arc::new(Session { sender: sender.clone(), connection, end, told });
        let mut known = self.known();
        known.by_name.insert(name.clone(), Arc::clone(&session));
        known.order.push_back(name.clone());
        let forgotten = match known.order.len() > SESSIONS {
            true => known.order.pop_front().and_then(|oldest| known.by_name.remove(&oldest)),
            false => None,
        };
        drop(known);
        if let Some(forgotten) = forgotten {
            forgotten.close(Duration::ZERO);
        }
        (name, session)
    }

    /// The session that a request names, if it is that of its sender.
    ///
    /// # Errors
    /// The response if it names none, or none that is known.
    pub fn find(
        &self,
        request: &Request,
        sender: &Sender,
    ) -> Result<(String, Arc<Session>), Response> {
        let name = request.header("mcp-session-id").map_err(|_| Response::new(400))?;
        let name = name.ok_or_else(|| Response::new(400))?;
        let known = self.known();
        let session = known.by_name.get(name).filter(|session| session.sender == *sender);
        let session = session.ok_or_else(|| Response::new(404))?;
        Ok((name.to_owned(), Arc::clone(session)))
    }

    pub fn close(&self, name: &str) {
        let mut known = self.known();
        known.order.retain(|other| other != name);
        let session = known.by_name.remove(name);
        drop(known);
        if let Some(session) = session {
            session.close(Duration::ZERO);
        }
    }

    /// Ends all of them, for which it takes at most `limit`.
    pub fn end(&self, limit: Duration) {
        let patience = Patience::new(limit);
        let sessions: Vec<Arc<Session>> = self.known().by_name.values().cloned().collect();
        for session in sessions {
            session.close(patience.left());
        }
    }
}
