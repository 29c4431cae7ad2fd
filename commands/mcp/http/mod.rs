//! The server over streamable HTTP, for clients that cannot start processes.
//!
//! Rule: docs/spec/mcp.md, section 12.

mod guard;
mod message;
mod session;

use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use mk::code::Code;
use serde_json::Value;

use super::body::Body;
use super::connection::{Connection, Office, Outbox};
use super::log::{self, Level, Way, log};
use super::message::{Bad, Fault, Message, Request as Asked};
use super::revision::{self, Revision};
use super::stdio::{on_signals, tell_of_panics};
use crate::Answer;
use crate::cli::Failure;
use guard::{Guard, Sender};
use message::{BODY_MAX, Broken, Request, Response, end, stream_head};
use session::Sessions;

/// Connections that are served at once.
const CONNECTIONS: usize = 512;

/// How long a client may take to send a request, or to read an answer.
const SLOW: Duration = Duration::from_secs(60);

/// How often a stream without news says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How soon it is noticed that a client has gone that waits for an answer.
const GLANCE: Duration = Duration::from_millis(100);

/// How long requests in work may take once a signal came.
const AT_END: Duration = Duration::from_millis(1_900);

const PATH: &str = "/mcp";

/// How the server is reached.
pub struct Place {
    pub address: SocketAddr,
    /// Whether other machines may reach it.
    pub anywhere: bool,
    /// The file of tokens; none if nobody has to show one.
    pub tokens: Option<PathBuf>,
}

struct Shop {
    office: Arc<Office>,
    guard: Guard,
    sessions: Sessions,
    open: AtomicUsize,
}

pub fn serve(office: Arc<Office>, place: &Place) -> Result<Answer, Failure> {
    let is_loopback = place.address.ip().is_loopback();
    if !is_loopback && !place.anywhere {
        let message = format!("{} can be reached by other machines", place.address.ip());
        return Err(Failure::usage(message).hint("add --listen-anywhere if that is meant"));
    }
    let guard = match &place.tokens {
        Some(file) => Guard::read(file, !place.anywhere)?,
        None if is_loopback => Guard::open(),
        None => return Err(Failure::usage("--no-auth is for this machine only")),
    };
    if place.tokens.is_none() {
        log(Level::Warn, "--no-auth: whoever is on this machine can read and write the memory");
    }
    let listener = TcpListener::bind(place.address)
        .and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = listener.map_err(|error| {
        Failure::new(Code::of_io(&error), format!("cannot listen on {}: {error}", place.address))
    })?;
    tell_of_panics();
    let (sessions, open) = (Sessions::default(), AtomicUsize::new(0));
    let shop = Arc::new(Shop { office, guard, sessions, open });
    let ending = Arc::clone(&shop);
    on_signals(move || ending.sessions.end(AT_END))?;
    log(Level::Info, &format!("{} over HTTP", shop.office.server.account()));
    // Whoever started it reads where it is.
    writeln!(io::stderr(), "listening http://{address}{PATH}")?;
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        if shop.open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            shop.open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let shop = Arc::clone(&shop);
        thread::spawn(move || {
            // A client that is gone needs no answer.
            let _ = shop.attend(stream);
            shop.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
    process::exit(0)
}

impl Shop {
    /// Answers the requests of a connection, one after the other.
    fn attend(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLOW))?;
        stream.set_write_timeout(Some(SLOW))?;
        let mut input = BufReader::new(stream.try_clone()?);
        let mut out = stream;
        loop {
            let request = match Request::read(&mut input, &mut out) {
                Ok(request) => request,
                Err(Broken::Gone) => return Ok(()),
                Err(Broken::Refused(status)) => {
                    let response = match status {
                        413 => {
                            let what = format!("the body has more than {BODY_MAX} bytes");
                            let fault = Fault::new(Fault::NO_REQUEST, what);
                            refusal(status, Bad { id: None, fault })
                        }
                        _ => Response::new(status),
                    };
                    response.write(&mut out, false)?;
                    return end(&out, &mut input);
                }
            };
            match self.answer(&request, &mut out)? {
                Some(response) => response.write(&mut out, request.is_kept)?,
                // It was a stream, which ends with the connection.
                None => return Ok(()),
            }
            if !request.is_kept {
                return Ok(());
            }
        }
    }

    fn answer(&self, request: &Request, out: &mut TcpStream) -> io::Result<Option<Response>> {
        if request.path != PATH {
            return Ok(Some(Response::new(404)));
        }
        let sender = match self.guard.admit(request) {
            Ok(sender) => sender,
            Err(response) => return Ok(Some(response)),
        };
        if let Some(refused) = unknown_revision(request) {
            return Ok(Some(refused));
        }
        match request.method.as_str() {
            "POST" => self.post(request, &sender, out),
            "GET" => self.listen(request, &sender, out),
            "DELETE" => Ok(Some(match self.sessions.find(request, &sender) {
                Ok((name, _)) => {
                    self.sessions.close(&name);
                    Response::new(204)
                }
                Err(response) => response,
            })),
            _ => Ok(Some(Response::new(405).with("Allow", "GET, POST, DELETE"))),
        }
    }

    /// The stream of what a session is told without having asked.
    fn listen(
        &self,
        request: &Request,
        sender: &Sender,
        out: &mut TcpStream,
    ) -> io::Result<Option<Response>> {
        if !accepts(request, "text/event-stream") {
            return Ok(Some(Response::new(406)));
        }
        if request.header("mcp-session-id").ok().flatten().is_none() {
            return Ok(Some(Response::new(405).with("Allow", "POST")));
        }
        let session = match self.sessions.find(request, sender) {
            Ok((_, session)) => session,
            Err(response) => return Ok(Some(response)),
        };
        out.write_all(stream_head(&[]).as_bytes())?;
        while let Some(messages) = session.told(KEEP_ALIVE) {
            match messages.as_slice() {
                [] => out.write_all(b": still here\n\n")?,
                messages => {
                    messages.iter().try_for_each(|message| out.write_all(&event(message)))?;
                }
            }
        }
        Ok(None)
    }

    fn post(
        &self,
        request: &Request,
        sender: &Sender,
        out: &mut TcpStream,
    ) -> io::Result<Option<Response>> {
        let kind = request.header("content-type").ok().flatten().unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("application/json") {
            return Ok(Some(Response::new(415)));
        }
        if !accepts(request, "application/json") {
            return Ok(Some(Response::new(406)));
        }
        log::message(Way::In, &request.body);
        let asked = match super::message::read(&request.body) {
            Ok(Some(Message::Request(asked))) => asked,
            Ok(Some(message)) => {
                // A notification of a session may cancel a request of it.
                if let Ok((_, session)) = self.sessions.find(request, sender) {
                    session.connection().take(message);
                }
                return Ok(Some(Response::new(202)));
            }
            Ok(None) => {
                let fault = Fault::new(Fault::NOT_JSON, "the body is empty");
                return Ok(Some(refusal(400, Bad { id: None, fault })));
            }
            Err(bad) => return Ok(Some(refusal(400, bad))),
        };
        let (sender_end, answers) = channel();
        let outbox: Outbox = Arc::new(move |message: &str| {
            // Nobody takes it any more once the client has gone.
            let _ = sender_end.send(message.to_owned());
        });
        if is_stated(&asked) {
            if let Err(why) = headers_agree(request, &asked) {
                let fault = Fault::new(Fault::HEADER, why);
                return Ok(Some(refusal(400, Bad { id: Some(asked.id), fault })));
            }
            return self.stateless(asked, sender, outbox, &answers, out);
        }
        let (id, is_first) = (asked.id.clone(), asked.method == "initialize");
        let (name, session) = match is_first {
            true => self.sessions.open(&self.office, sender),
            false if request.header("mcp-session-id").ok().flatten().is_none() => {
                let bad = Bad { id: Some(asked.id), fault: revision::unstated() };
                return Ok(Some(refusal(400, bad)));
            }
            false => match self.sessions.find(request, sender) {
                Ok(found) => found,
                Err(response) => return Ok(Some(response)),
            },
        };
        session.connection().ask(asked, &outbox);
        let Some(answer) = first(&answers, out) else {
            session.connection().cancel(&id);
            return Ok(None);
        };
        let response = Response::json(200, answer);
        Ok(Some(if is_first { response.with("Mcp-Session-Id", name) } else { response }))
    }

    /// A request that says all that it depends on, and of which nothing is remembered.
    fn stateless(
        &self,
        asked: Asked,
        sender: &Sender,
        outbox: Outbox,
        answers: &Receiver<String>,
        out: &mut TcpStream,
    ) -> io::Result<Option<Response>> {
        let agent = match sender {
            Sender::Agent(agent) => Some(agent.clone()),
            Sender::Anybody => None,
        };
        let mut connection = Connection::new(Arc::clone(&self.office), Arc::clone(&outbox));
        connection.agent = agent;
        let (id, is_stream) = (asked.id.clone(), asked.method == "subscriptions/listen");
        connection.ask(asked, &outbox);
        let Some(answer) = first(answers, out) else {
            connection.cancel(&id);
            return Ok(None);
        };
        let fault = serde_json::from_str::<Value>(&answer).ok();
        let code = fault.as_ref().and_then(|answer| answer["error"]["code"].as_i64());
        if let Some(code) = code.and_then(|code| i32::try_from(code).ok()) {
            let is_meta = answer.contains("_meta lacks");
            let status = match code {
                Fault::VERSION | Fault::HEADER => 400,
                Fault::PARAMS if is_meta => 400,
                Fault::NO_METHOD => 404,
                _ => 200,
            };
            return Ok(Some(Response::json(status, answer)));
        }
        if !is_stream {
            return Ok(Some(Response::json(200, answer)));
        }
        let told = stream(&answer, answers, out);
        connection.cancel(&id);
        told.map(|()| None)
    }
}

/// The first message, unless the client goes before it is there.
fn first(answers: &Receiver<String>, out: &TcpStream) -> Option<String> {
    loop {
        match answers.recv_timeout(GLANCE) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Timeout) if is_gone(out) => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Whether the other end has closed the connection.
fn is_gone(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let restored = stream.set_nonblocking(false);
    match looked {
        Ok(count) => count == 0 || restored.is_err(),
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

/// Sends messages for as long as the client reads them.
fn stream(begin: &str, answers: &Receiver<String>, out: &mut TcpStream) -> io::Result<()> {
    out.write_all(stream_head(&[]).as_bytes())?;
    out.write_all(&event(begin))?;
    let mut quiet = Duration::ZERO;
    loop {
        match answers.recv_timeout(GLANCE) {
            Ok(message) => {
                quiet = Duration::ZERO;
                out.write_all(&event(&message))?;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if is_gone(out) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                quiet += GLANCE;
                if quiet >= KEEP_ALIVE {
                    quiet = Duration::ZERO;
                    out.write_all(b": still here\n\n")?;
                }
            }
        }
    }
}

/// A message as an event of a stream. It is one line.
fn event(message: &str) -> Vec<u8> {
    log::message(Way::Out, message.as_bytes());
    format!("event: message\ndata: {message}\n\n").into_bytes()
}

fn refusal(status: u16, Bad { id, fault }: Bad) -> Response {
    let mut body = Body::new().with("jsonrpc", &"2.0");
    if let Some(id) = id {
        body = body.with("id", &id);
    }
    Response::json(status, body.with("error", &fault).json())
}

/// What a request is refused with whose header names a revision that is not spoken here.
fn unknown_revision(request: &Request) -> Option<Response> {
    let fault = match request.header("mcp-protocol-version") {
        Ok(None) => return None,
        Ok(Some(value)) => {
            let name = decoded(value).unwrap_or_default();
            if Revision::ALL.iter().any(|known| known.name() == name) {
                return None;
            }
            revision::unknown(&name)
        }
        Err(why) => Fault::new(Fault::HEADER, why),
    };
    let id = match super::message::read(&request.body) {
        Ok(Some(Message::Request(asked))) => Some(asked.id),
        Ok(_) => None,
        Err(bad) => bad.id,
    };
    Some(refusal(400, Bad { id, fault }))
}

/// Whether a request names its revision itself.
fn is_stated(asked: &Asked) -> bool {
    let meta = asked.params.members().and_then(|params| params.object("_meta"));
    meta.is_ok_and(|meta| meta.is_some_and(|meta| meta.contains(revision::VERSION)))
}

/// Holds the headers that repeat what is in the body against it: what stands between may go by them.
fn headers_agree(request: &Request, asked: &Asked) -> Result<(), String> {
    let params = asked.params.members().unwrap_or_default();
    let meta = params.object("_meta").ok().flatten().unwrap_or_default();
    let of_body = |name: &str| params.text(name).ok().flatten();
    let name = match asked.method.as_str() {
        "tools/call" | "prompts/get" => of_body("name"),
        "resources/read" => of_body("uri"),
        _ => None,
    };
    let version = meta.text(revision::VERSION).ok().flatten();
    for (header, wanted) in [
        ("mcp-protocol-version", version),
        ("mcp-method", Some(asked.method.clone())),
        ("mcp-name", name),
    ] {
        let Some(wanted) = wanted else { continue };
        match request.header(header)? {
            None => return Err(format!("the header {header} is missing")),
            Some(value) if decoded(value).as_deref() != Some(wanted.as_str()) => {
                return Err(format!("the header {header} does not say what the body says"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A header's value: as it is, or between marks in Base64.
fn decoded(value: &str) -> Option<String> {
    let marked = value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?="));
    let Some(text) = marked else { return Some(value.to_owned()) };
    let digits = text.trim_end_matches('=').bytes().map(|byte| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    });
    let digits: Vec<u32> = digits.collect::<Option<_>>()?;
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let number = group.iter().fold(0, |number, digit| number << 6 | digit);
        let number = number << (6 * (4 - group.len()));
        bytes.extend_from_slice(&number.to_be_bytes()[1..group.len()]);
    }
    String::from_utf8(bytes).ok()
}

/// Whether the client takes an answer of that kind. Who does not say takes any.
fn accepts(request: &Request, kind: &str) -> bool {
    let Ok(Some(accept)) = request.header("accept") else { return true };
    accept.split(',').any(|part| {
        let part = part.split(';').next().unwrap_or_default().trim();
        part == "*/*" || part == kind || part == "application/*" && kind.starts_with("application/")
    })
}
