//! Events by name, over a pipe: a revision a line, and an answer to each at once.
//!
//! The answer is a line `HASH TYPE SIZE` and, if it was asked for, the event in SIZE bytes and a line
//! break; or a line `REVISION missing` or `REVISION ambiguous`.

use std::io::{self, BufRead, Write};

use crate::code::{Code, Coded};
use crate::event::Event;
use crate::id::{BranchName, Hash, shown};
use crate::lines::{self, Next};
use crate::revision::{Revision, RevisionError};
use crate::store::{Engine, ReadTxn, StoreError};

/// Longest line that is read, in bytes.
pub const NAME_MAX: usize = 4_096;

/// Why no more is answered.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    #[error("cannot read stdin: {0}")]
    Read(io::Error),
    #[error(transparent)]
    Write(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for LookupError {
    fn code(&self) -> Code {
        match self {
            Self::Read(error) | Self::Write(error) => Code::of_io(error),
            Self::Store(error) => error.code(),
        }
    }
}

/// Answers the names on `input` until it ends; `current` is the branch that `HEAD` stands for.
///
/// Of a line that is too long or no UTF-8, the start is answered as missing.
///
/// # Errors
/// Those of the streams and of the store.
pub fn serve<E: Engine>(
    store: &mut E,
    current: &BranchName,
    with_event: bool,
    input: &mut impl BufRead,
    out: &mut (impl Write + ?Sized),
) -> Result<(), LookupError> {
    let mut line = Vec::new();
    loop {
        let next = lines::next(input, &mut line, NAME_MAX).map_err(LookupError::Read)?;
        if next == Next::TooLong {
            lines::skip(input).map_err(LookupError::Read)?;
        }
        let answer = match (next, std::str::from_utf8(&line)) {
            (Next::End, _) => return Ok(()),
            // A transaction a line: events that land meanwhile are seen, and no reader holds up the WAL.
            (Next::Line, Ok(name)) => {
                let name = name.trim_end_matches('\r');
                store.read(|txn| answer(txn, current, name, with_event))?
            }
            _ => format!("{} missing\n", shown(&String::from_utf8_lossy(&line))),
        };
        out.write_all(answer.as_bytes()).and_then(|()| out.flush()).map_err(LookupError::Write)?;
    }
}

fn answer(
    txn: &dyn ReadTxn,
    current: &BranchName,
    name: &str,
    with_event: bool,
) -> Result<String, StoreError> {
    let Ok(revision) = name.parse::<Revision>() else { return Ok(format!("{name} missing\n")) };
    let id = match revision.resolve(txn, current) {
        Ok(id) => id,
        Err(RevisionError::Ambiguous { .. }) => return Ok(format!("{name} ambiguous\n")),
        Err(RevisionError::Store(error)) => return Err(error),
        Err(RevisionError::BranchNotFound { .. } | RevisionError::EventNotFound { .. }) => {
            return Ok(format!("{name} missing\n"));
        }
    };
    let event = txn.known_event(id)?;
    let text = line(txn, &event)?;
    let mut answer = format!("{} {} {}\n", event.hash, event.kind, text.len());
    if with_event {
        answer.push_str(&text);
        answer.push('\n');
    }
    Ok(answer)
}

/// `event` as it is stored and travels.
///
/// # Errors
/// Those of the store.
pub fn line(txn: &dyn ReadTxn, event: &Event) -> Result<String, StoreError> {
    let prev = match event.parent {
        Some(parent) => txn.known_event(parent)?.hash,
        None => Hash::ZERO,
    };
    Ok(event.line(&prev))
}
