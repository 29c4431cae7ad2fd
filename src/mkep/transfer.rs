//! The log as the file that the reference keeps: lines in, lines out.
//!
//! Rule: docs/spec/mkep.md, section 21; docs/design.md, section 10.

use std::io::{self, BufRead, Write};

use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::Desk;
use super::event::{self, Line};
use super::query;
use crate::code::{Code, Coded};
use crate::id::{BranchName, hex};
use crate::log::Outside;
use crate::store::{ReadTxn, StoreError};

/// The setting that holds the origin id of a base whose log was taken over.
pub const ORIGIN: &str = "exec.origin";

/// The setting that says how many bytes of the base's own foreign log were imported.
pub const IMPORTED: &str = "exec.imported";

/// What an import found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    /// Records that are new here.
    pub records: u64,
    /// Lines that are no records, and new here.
    pub damaged: u64,
    /// Lines that were imported before.
    pub known: u64,
    /// Whether the last line was being written; it was left out.
    pub in_flight: bool,
}

/// Why a log was not imported or exported. Nothing was kept.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error("cannot read the log: {0}")]
    Read(io::Error),
    #[error("cannot write the log: {0}")]
    Write(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for TransferError {
    fn code(&self) -> Code {
        match self {
            Self::Read(error) | Self::Write(error) => Code::of_io(error),
            Self::Store(error) => error.code(),
        }
    }
}

/// Takes over the lines of `log` that were not taken over before. A line is known by `source`, by its
/// bytes, and by how many equal ones come before it there.
///
/// # Errors
/// If `log` cannot be read, or the store not written.
pub fn import(
    desk: &mut Desk<'_>,
    source: &str,
    mut log: impl BufRead,
    outside: &mut Outside<'_>,
) -> Result<Imported, TransferError> {
    let mut done = Imported::default();
    let mut before: FxHashMap<[u8; 32], u64> = FxHashMap::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if log.read_until(b'\n', &mut bytes).map_err(TransferError::Read)? == 0 {
            return Ok(done);
        }
        let is_whole = bytes.ends_with(b"\n");
        let text = strip(&bytes);
        if text.is_empty() {
            continue;
        }
        let line = Line::read(text);
        if !is_whole && matches!(line, Line::Damage) && text.starts_with(b"{") {
            done.in_flight = true;
            continue;
        }
        let digest: [u8; 32] = Sha256::digest(text).into();
        let nth = before.entry(digest).or_default();
        let item = Sha256::new()
            .chain_update(source)
            .chain_update([0])
            .chain_update(digest)
            .chain_update(nth.to_be_bytes());
        *nth += 1;
        let item = hex(&item.finalize());
        if desk.has_item(&item)? {
            done.known += 1;
            continue;
        }
        match line {
            Line::Record(_) => done.records += 1,
            Line::Damage => done.damaged += 1,
        }
        desk.take_over(text, &line, item, outside)?;
    }
}

/// Without white space of ASCII around, VT too, which `trim_ascii` leaves.
fn strip(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t'..=b'\r', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'..=b'\r'] = text {
        text = rest;
    }
    text
}

/// Writes all lines of the log. Answers how many there are.
///
/// # Errors
/// If `out` cannot be written, or the store not read.
pub fn export(txn: &dyn ReadTxn, out: &mut dyn Write) -> Result<u64, TransferError> {
    let mut lines = 0;
    each_line(txn, |line| {
        lines += 1;
        out.write_all(line)?;
        out.write_all(b"\n")
    })?;
    Ok(lines)
}

fn each_line(
    txn: &dyn ReadTxn,
    mut visit: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), TransferError> {
    let Some(branch) = txn.branch(BranchName::EXEC)? else { return Ok(()) };
    for sequence in 1..=branch.head_sequence {
        let Some(id) = txn.own_event(branch.id, sequence)? else {
            let what = format!("event {sequence} of {} is missing", BranchName::EXEC);
            return Err(StoreError::damaged(what).into());
        };
        let event = txn.known_event(id)?;
        // Of an erased line nothing is left to write.
        if let Some(line) = event.content.as_ref().and_then(|content| event::line(&content.payload))
        {
            visit(&line).map_err(TransferError::Write)?;
        }
    }
    Ok(())
}

/// What this base is known by in the handoffs that leave it: 32 hex digits.
///
/// # Errors
/// Those of the store.
pub fn origin_id(txn: &dyn ReadTxn) -> Result<String, StoreError> {
    query::origin_id(txn)
}

/// Takes over what another base is known by, unless something may have left this one before: an empty
/// log has nothing to hand over. Must come before the lines.
///
/// # Errors
/// Those of the store.
pub fn take_over_origin(desk: &mut Desk<'_>, origin: &str) -> Result<(), StoreError> {
    let (txn, _) = desk.parts();
    if super::check::is_id(origin) && txn.branch(BranchName::EXEC)?.is_none() {
        desk.set_setting(ORIGIN, origin)?;
    }
    Ok(())
}
