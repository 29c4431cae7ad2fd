//! The server on stdin and stdout.
//!
//! Rule: docs/spec/mcp.md, sections 3 and 15.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::os::fd::AsFd;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use mk::code::Code;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::connection::{Connection, Limit, Office, Outbox};
use super::lines::{self, LINE_MAX, Line};
use super::log::{self, Level, Way, log};
use super::message::{self, Bad, Fault};
use crate::Answer;
use crate::cli::Failure;

/// Bad lines in a row after which this is taken for no client.
const BAD_MAX: usize = 100;

/// What is in work when the input has ended is finished, if each answer comes within this time; when a
/// signal came, if all do.
const AT_END: Limit = Limit::Each(Duration::from_secs(2));
const AT_SIGNAL: Limit = Limit::All(Duration::from_millis(400));

pub fn serve(office: &Arc<Office>) -> Result<Answer, Failure> {
    tell_of_panics();
    let out = Mutex::new(own(io::stdout().as_fd())?);
    let outbox: Outbox = Arc::new(move |message: &str| {
        log::message(Way::Out, message.as_bytes());
        let mut text = String::with_capacity(message.len() + 1);
        text.push_str(message);
        text.push('\n');
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = out.write_all(text.as_bytes()) {
            if error.kind() == io::ErrorKind::BrokenPipe {
                process::exit(0);
            }
            log(Level::Error, &format!("cannot write to stdout: {error}"));
            process::exit(Code::IO.exit.into());
        }
    });
    log(Level::Info, &format!("{} on stdin and stdout", office.server.account()));
    let mut connection = Connection::new(Arc::clone(office), outbox);
    let end = connection.end();
    let at_signal = connection.end();
    on_signals(move || {
        at_signal(AT_SIGNAL);
    })?;
    let mut input = BufReader::with_capacity(1 << 16, own(io::stdin().as_fd())?);
    let mut bad = 0;
    loop {
        let line = lines::next(&mut input).map_err(|error| {
            Failure::new(Code::of_io(&error), format!("cannot read stdin: {error}"))
        })?;
        let is_message = match line {
            None => {
                tell_of_rest(end(AT_END));
                log(Level::Info, "ended with its input");
                return Ok(Answer::Yes);
            }
            Some(Line::Whole(line)) => {
                log::message(Way::In, &line);
                connection.receive(&line)
            }
            Some(Line::Rest(rest)) => {
                log::message(Way::In, &rest);
                // A message that was cut off is not one any more, for it is an object.
                match message::read(&rest) {
                    Ok(Some(message)) => connection.take(message),
                    Ok(None) => {}
                    Err(bad) if bad.fault.code == Fault::NOT_JSON => {}
                    Err(bad) => connection.refuse(bad),
                }
                true
            }
            Some(Line::TooLong { start, end }) => {
                log::message(Way::In, &start);
                connection.refuse(Bad::too_long(&start, &end, LINE_MAX));
                false
            }
        };
        bad = if is_message { 0 } else { bad + 1 };
        if bad >= BAD_MAX {
            tell_of_rest(end(AT_END));
            let message = format!("{BAD_MAX} lines in a row were no messages");
            return Err(Failure::new(Code::IO, message)
                .hint("this is a server for agents: see `mk mcp --help`"));
        }
    }
}

/// Requests without an answer may have been done, or not.
fn tell_of_rest(requests: usize) {
    if requests > 0 {
        log(Level::Warn, &format!("ended with {requests} requests not answered"));
    }
}

/// A file of one's own on an open descriptor, which no lock or buffer of the library stands before.
fn own(descriptor: impl AsFd) -> Result<File, Failure> {
    let own = descriptor.as_fd().try_clone_to_owned();
    own.map(File::from).map_err(|error| {
        Failure::new(Code::of_io(&error), format!("stdin or stdout is closed: {error}"))
    })
}

/// Ends the process on a signal once requests in work are done, at a second one at once.
pub fn on_signals(end: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|error| {
        Failure::new(Code::of_io(&error), format!("cannot await signals: {error}"))
    })?;
    thread::spawn(move || {
        let mut came = signals.forever();
        came.next();
        thread::spawn(move || {
            end();
            log(Level::Info, "ended by a signal");
            process::exit(0);
        });
        came.next();
        process::exit(0);
    });
    Ok(())
}

/// A panic of one request is told of and does not end the others.
pub fn tell_of_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let trace = std::backtrace::Backtrace::force_capture();
        log(Level::Error, &format!("a fault in mk itself, please report it: {panic}"));
        let _ = writeln!(io::stderr(), "{trace}");
    }));
}
