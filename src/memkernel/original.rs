//! An event as the peer wrote it: what it means here, and what it was there.
//!
//! Rule: docs/spec/kernel.md, sections 3 and 20.

use sha2::{Digest, Sha256};

use crate::canon::{self, JsonErrorKind, Object, Value};
use crate::event::EventType;
use crate::id::{AgentId, Hash, hex};
use crate::store::memkernel::EventRow;
use crate::time::Timestamp;

/// The types that the peer writes. One of another name, `mk`'s own among them, is kept as text.
const TYPES: [EventType; 9] = [
    EventType::Task,
    EventType::Decision,
    EventType::ToolLog,
    EventType::Note,
    EventType::ClaimAcquired,
    EventType::ClaimReleased,
    EventType::Snapshot,
    EventType::Forked,
    EventType::RolledBack,
];

/// The one member that an import adds to metadata. It is no part of what the peer hashed.
pub const MEMBER: &str = "import";

/// An event of the peer, read.
pub(super) struct Original<'a> {
    pub row: &'a EventRow,
    pub agent: AgentId,
    pub timestamp: Timestamp,
    pub hash: Hash,
    /// None if canonical JSON cannot hold it.
    pub metadata: Option<Object>,
    pub form: Form,
}

/// What becomes of an event.
pub(super) enum Form {
    /// An event of this type with the same payload.
    Native(EventType, Object),
    /// The text of the payload, kept: canonical JSON cannot hold it, or the type is unknown.
    Text { why: &'static str },
}

impl<'a> Original<'a> {
    /// # Errors
    /// What no event of the peer can be, in words.
    pub(super) fn read(row: &'a EventRow) -> Result<Self, String> {
        let agent = row.agent.parse::<AgentId>().map_err(|error| error.to_string())?;
        let timestamp = row.timestamp.parse::<Timestamp>().map_err(|error| error.to_string())?;
        let hash = row.hash.parse::<Hash>().map_err(|error| error.to_string())?;
        let payload = object("payload", &row.payload)?;
        let metadata = object("metadata", &row.metadata)?;
        let kind = TYPES.into_iter().find(|kind| kind.as_str() == row.kind);
        let form = match (kind, payload) {
            (Some(kind), Some(payload)) => Form::Native(kind, payload),
            (Some(EventType::Forked | EventType::RolledBack), None) => {
                return Err("its payload holds what canonical JSON cannot".to_owned());
            }
            (Some(_), None) => Form::Text { why: "its payload holds what canonical JSON cannot" },
            (None, _) => Form::Text { why: "its type is none of MemKernel 0.3.0" },
        };
        Ok(Self { row, agent, timestamp, hash, metadata, form })
    }

    /// The type, unless the event is kept as text.
    pub(super) fn kind(&self) -> Option<EventType> {
        match &self.form {
            Form::Native(kind, _) => Some(*kind),
            Form::Text { .. } => None,
        }
    }

    /// The metadata of the imported event: the peer's, and where it comes from.
    pub(super) fn stamped_metadata(&self, import_id: &str) -> Object {
        let mut origin: Object = [
            ("id", Value::from(import_id)),
            ("event_id", self.row.id.into()),
            ("hash", self.row.hash.as_str().into()),
            ("parent_event_id", self.row.parent.into()),
            ("timestamp", self.row.timestamp.as_str().into()),
        ]
        .into_iter()
        .collect();
        let mut metadata = match &self.metadata {
            Some(metadata) => metadata.clone(),
            None => {
                origin.insert("metadata", self.row.metadata.as_str());
                Object::new()
            }
        };
        if let Some(replaced) = metadata.remove(MEMBER) {
            origin.insert("replaced", replaced);
        }
        metadata.insert(MEMBER, origin);
        metadata
    }

    /// The payload of an event that is kept as text.
    pub(super) fn text_payload(&self) -> Object {
        [("event_type", self.row.kind.as_str()), ("raw", self.row.payload.as_str())]
            .into_iter()
            .collect()
    }
}

/// Reads a stored text as a JSON object; none if it holds what canonical JSON cannot.
fn object(what: &str, text: &str) -> Result<Option<Object>, String> {
    match Value::parse(text.as_bytes()) {
        Ok(Value::Object(object)) if object.canonical() == text => Ok(Some(object)),
        Ok(Value::Object(_)) => Err(format!("its {what} is not canonical JSON")),
        Ok(other) => Err(format!("its {what} is {}, not an object", other.kind())),
        Err(error) => match error.kind {
            JsonErrorKind::NotFinite { .. }
            | JsonErrorKind::DoubleOverflow { .. }
            | JsonErrorKind::IntTooLong { .. }
            | JsonErrorKind::TooDeep => Ok(None),
            _ => Err(format!("its {what} is not JSON: {error}")),
        },
    }
}

/// The hash that the peer gives the event after one with the hash `prev`: over the stored texts as
/// they are, so that no number is read and printed again.
#[must_use]
pub fn peer_hash(row: &EventRow, prev: &Hash) -> Hash {
    let mut text = String::with_capacity(row.payload.len() + row.metadata.len() + 512);
    let string = |text: &mut String, name: &str, value: &str| {
        text.push_str(name);
        canon::write_string(text, value);
    };
    string(&mut text, "{\"agent_id\":", &row.agent);
    string(&mut text, ",\"branch_id\":", &row.branch);
    text.push_str(&format!(",\"event_id\":{}", row.id));
    string(&mut text, ",\"event_type\":", &row.kind);
    text.push_str(",\"metadata\":");
    text.push_str(&row.metadata);
    match row.parent {
        Some(parent) => text.push_str(&format!(",\"parent_event_id\":{parent}")),
        None => text.push_str(",\"parent_event_id\":null"),
    }
    text.push_str(",\"payload\":");
    text.push_str(&row.payload);
    text.push_str(&format!(",\"prev\":\"{}\",\"sequence\":{}", hex(&prev.0), row.sequence));
    string(&mut text, ",\"timestamp\":", &row.timestamp);
    text.push('}');
    Hash(Sha256::digest(text).into())
}
