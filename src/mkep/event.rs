//! What the system writes: an `EXEC_RECORD` event on `@exec` for each line of the log.
//!
//! The payload holds the line exactly as the reference would store it, so that a log can be imported,
//! exported and read back with the same digests.
//!
//! Rule: docs/design.md, section 10.

use super::handoff;
use super::json::{self, Json, Members};
use super::record;
use crate::canon::{Object, Value};
use crate::event::Content;
use crate::id::EventId;
use crate::store::{ExecRecord, ReadTxn, StoreError};

/// A line of the log.
#[derive(Debug, Clone)]
pub enum Line {
    Record(Members),
    /// Not UTF-8, not JSON, or not an object: kept, counted, and of no effect.
    Damage,
}

impl Line {
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        match json::parse(bytes) {
            Some(Json::Object(members)) => Self::Record(members),
            _ => Self::Damage,
        }
    }
}

/// The members of a payload that hold a line.
const LINE: &[&str] = &["line", "line_b64"];

/// The payload that holds a line: as text, or in base 64 if it is not UTF-8. Beside it, as text too,
/// what the request was bound to: it is no part of the record, and its values can be anything.
#[must_use]
pub fn payload(line: &[u8], binding: Option<&Members>) -> Object {
    let mut payload = Object::new();
    match std::str::from_utf8(line) {
        Ok(text) => payload.insert("line", text),
        Err(_) => payload.insert("line_b64", base64(line)),
    };
    if let Some(binding) = binding {
        payload.insert("binding", binding.line());
    }
    payload
}

/// The metadata of a line: what it is known by if it was imported.
#[must_use]
pub fn metadata(item: Option<&str>) -> Object {
    let mut metadata = Object::new();
    if let Some(item) = item {
        metadata.insert("item", item);
    }
    metadata
}

/// What an imported line is known by; none for one that was written here.
#[must_use]
pub fn item(content: &Content) -> Option<String> {
    let Ok(Value::Object(metadata)) = Value::parse(content.metadata.as_bytes()) else {
        return None;
    };
    metadata.get("item")?.as_str().map(str::to_owned)
}

/// The line that a payload holds.
#[must_use]
pub fn line(payload: &str) -> Option<Vec<u8>> {
    let payload = json::pick(payload, LINE)?;
    match payload.text("line") {
        Some(text) => Some(text.as_bytes().to_owned()),
        None => from_base64(payload.text("line_b64")?),
    }
}

/// The record of an event; none if its line is damaged, or was erased.
///
/// # Errors
/// If there is no such event.
pub fn record(txn: &dyn ReadTxn, id: EventId) -> Result<Option<Members>, StoreError> {
    let event = txn.known_event(id)?;
    Ok(event.content.and_then(|content| record_in(&content.payload)))
}

/// The record of a payload; none if its line is damaged.
#[must_use]
pub fn record_in(payload: &str) -> Option<Members> {
    match Line::read(&line(payload)?) {
        Line::Record(record) => Some(record),
        Line::Damage => None,
    }
}

/// As much of the record of a payload as is folded; none if its line is damaged.
#[must_use]
pub fn folded_in(payload: &str) -> Option<Members> {
    let whole = json::pick(payload, LINE)?;
    match whole.text("line") {
        Some(line) => json::pick(line, record::FOLDED),
        None => record_in(payload),
    }
}

/// The row of the index for a line. `is_hidden` says whether a marker before hides it.
#[must_use]
pub fn row(event: EventId, line: &Line, item: Option<String>, is_hidden: bool) -> ExecRecord {
    let Line::Record(record) = line else {
        return ExecRecord::damaged(event, item);
    };
    let text = |key: &str| record.text(key).map(str::to_owned);
    let is_marker = is_marker(record);
    ExecRecord {
        event,
        goal: text("goal_id"),
        id: record::id(record).to_owned(),
        operation_id: text("operation_id"),
        event_seq: record::event_seq(record),
        receipt: (record.text("record_type") == Some("evidence_receipt")).then(|| {
            let part = |key: &str| record.text(key).unwrap_or_default();
            receipt_key(part("gate_id"), part("verdict"))
        }),
        origin: handoff::origin_key(record),
        hides: if is_marker { text("tombstone_of") } else { None },
        item,
        is_hidden: is_hidden || is_marker,
        is_damaged: false,
    }
}

/// Whether a record is a marker, which hides another and itself.
#[must_use]
pub fn is_marker(record: &Members) -> bool {
    record.get("tombstone").is_some_and(|flag| !flag.is_falsy())
}

/// What a receipt is looked up by. The colon is in neither part.
#[must_use]
pub fn receipt_key(gate_id: &str, verdict: &str) -> String {
    format!("{gate_id}:{verdict}")
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let digit = ALPHABET[(group >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').bytes();
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut bits) = (0_u32, 0);
    for digit in digits {
        let value = ALPHABET.iter().position(|known| *known == digit)?;
        group = group << 6 | u32::try_from(value).ok()?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((group >> bits & 0xff) as u8);
        }
    }
    Some(out)
}
