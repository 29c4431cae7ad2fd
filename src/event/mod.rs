//! The event: what it holds, what its payload means, and how it is chained.
//!
//! Format: docs/format.md.

mod blocker;
mod kind;
mod payload;

use sha2::{Digest, Sha256};

use crate::canon::{self, Object, Value};
use crate::code::{Code, Coded};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId, hex};
use crate::time::Timestamp;

pub use kind::{CONTENT_MAX, EventType, EventTypeError, SNAPSHOT_MAX};
pub use payload::{Payload, Retractable};

/// 16 random bytes before the content in its digest, so that erased text cannot be guessed from it.
pub type Salt = [u8; 16];

/// What an event says, as canonical JSON texts; gone once it is erased.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    pub salt: Salt,
    pub payload: String,
    pub metadata: String,
}

impl Content {
    /// `SHA-256(salt ‖ C({"metadata": …, "payload": …}))`
    #[must_use]
    pub fn digest(&self) -> Hash {
        let digest = Sha256::new()
            .chain_update(self.salt)
            .chain_update(b"{\"metadata\":")
            .chain_update(&self.metadata)
            .chain_update(b",\"payload\":")
            .chain_update(&self.payload)
            .chain_update(b"}")
            .finalize();
        Hash(digest.into())
    }
}

/// An event as it is stored. It never changes, but for an erasure, which takes `content` away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    /// The branch it was appended to.
    pub lineage: LineageId,
    /// The name that branch was born with.
    pub branch: BranchName,
    /// 1, 2, 3 … along the lineage; a fork continues its parent's count.
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub agent: AgentId,
    /// The event before it on the lineage; none for the first.
    pub parent: Option<EventId>,
    pub kind: EventType,
    /// The digest of the content, kept when the content is erased.
    pub body: Hash,
    pub hash: Hash,
    /// The log chain up to here: `SHA-256(previous ‖ hash)` over all events in id order.
    pub log: Hash,
    pub content: Option<Content>,
    /// What an erasure left of the payload: the members of [`EventType::structure`], as canonical
    /// JSON. The event that records the erasure holds them too.
    pub structure: Option<String>,
}

impl Event {
    /// The hash that its members give after `prev`, the hash of its parent ([`Hash::ZERO`] if none).
    #[must_use]
    pub fn expected_hash(&self, prev: &Hash) -> Hash {
        chain(prev, &self.body, self)
    }

    /// The members of the payload; none once erased.
    #[must_use]
    pub fn members(&self) -> Option<Object> {
        self.content.as_ref().map(|content| stored_object(&content.payload))
    }

    /// The members of the metadata; none once erased.
    #[must_use]
    pub fn metadata(&self) -> Option<Object> {
        self.content.as_ref().map(|content| stored_object(&content.metadata))
    }

    /// The members of the payload, or what an erasure left of them.
    #[must_use]
    pub fn structural(&self) -> Option<Object> {
        let left = || self.structure.as_deref().map(stored_object);
        self.members().or_else(left)
    }

    /// Takes the content away, but for its structural members.
    pub fn erase(&mut self) {
        let names = self.kind.structure();
        if let Some(mut members) = self.members().filter(|_| !names.is_empty()) {
            for (name, _) in members.clone() {
                if !names.contains(&name.as_str()) {
                    members.remove(&name);
                }
            }
            self.structure = Some(members.canonical());
        }
        self.content = None;
    }

    /// What the payload means; none once erased.
    #[must_use]
    pub fn payload(&self) -> Option<Payload> {
        Some(Payload::read(self.kind, &self.members()?))
    }

    /// The immutable form that travels: canonical JSON on one line, without local numbers.
    #[must_use]
    pub fn line(&self, prev: &Hash) -> String {
        let content = self.content.as_ref();
        let texts = content.map_or(0, |content| content.payload.len() + content.metadata.len());
        let mut out = String::with_capacity(512 + texts);
        let mut text = |name: &str, value: &str| {
            out.push_str(if out.is_empty() { "{\"" } else { ",\"" });
            out.push_str(name);
            out.push_str("\":\"");
            out.push_str(value);
            out.push('"');
        };
        text("agent_id", self.agent.as_str());
        if self.content.is_none() {
            text("body", &self.body.to_string());
        }
        text("branch_id", self.branch.as_str());
        text("event_type", self.kind.as_str());
        text("hash", &self.hash.to_string());
        if let Some(content) = &self.content {
            out.push_str(",\"metadata\":");
            out.push_str(&content.metadata);
            out.push_str(",\"payload\":");
            out.push_str(&content.payload);
        } else if let Some(structure) = &self.structure {
            out.push_str(",\"payload\":");
            out.push_str(structure);
        }
        let mut text = |name: &str, value: &str| {
            out.push_str(",\"");
            out.push_str(name);
            out.push_str("\":\"");
            out.push_str(value);
            out.push('"');
        };
        text("prev", &prev.to_string());
        if let Some(content) = &self.content {
            text("salt", &hex(&content.salt));
        }
        out.push_str(",\"sequence\":");
        out.push_str(&self.sequence.to_string());
        out.push_str(",\"timestamp\":\"");
        self.timestamp.write(&mut out);
        out.push_str("\",\"v\":1}");
        out
    }
}

/// Reads canonical JSON back from a store, which holds only what passed [`Value::parse`].
///
/// A damaged text reads as no members: `mk verify` names it, and a fold passes over it.
fn stored_object(text: &str) -> Object {
    match Value::parse(text.as_bytes()) {
        Ok(Value::Object(object)) => object,
        _ => Object::new(),
    }
}

/// `SHA-256(prev ‖ C({agent_id, body, branch_id, event_type, sequence, timestamp, v}))`
#[must_use]
pub fn chain(prev: &Hash, body: &Hash, event: &Event) -> Hash {
    // Names hold no character that JSON escapes, so the canonical text is put together as it is.
    let mut text = String::with_capacity(256);
    text.push_str("{\"agent_id\":\"");
    text.push_str(event.agent.as_str());
    text.push_str("\",\"body\":\"");
    text.push_str(&hex(&body.0));
    text.push_str("\",\"branch_id\":\"");
    text.push_str(event.branch.as_str());
    text.push_str("\",\"event_type\":\"");
    text.push_str(event.kind.as_str());
    text.push_str("\",\"sequence\":");
    text.push_str(&event.sequence.to_string());
    text.push_str(",\"timestamp\":\"");
    event.timestamp.write(&mut text);
    text.push_str("\",\"v\":1}");
    Hash(Sha256::new().chain_update(prev.0).chain_update(text).finalize().into())
}

/// The log chain after `hash`: `SHA-256(log ‖ hash)`.
#[must_use]
pub fn chain_log(log: &Hash, hash: &Hash) -> Hash {
    Hash(Sha256::new().chain_update(log.0).chain_update(hash.0).finalize().into())
}

/// Why a payload or metadata cannot be stored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ContentError {
    #[error("{what} is not JSON: {source}")]
    Json { what: &'static str, source: canon::JsonError },
    #[error("{what} is {found}, not a JSON object")]
    NotAnObject { what: &'static str, found: &'static str },
    #[error("{what} has {bytes} bytes as canonical JSON, {most} are allowed")]
    TooLarge { what: &'static str, bytes: usize, most: usize },
}

impl Coded for ContentError {
    fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } => Code::TOO_LARGE,
            Self::Json { .. } | Self::NotAnObject { .. } => Code::INVALID_ARGUMENT,
        }
    }
}

/// Reads `text`, the `what` of an event (its payload or metadata), as a JSON object.
///
/// # Errors
/// If it is no JSON, holds what canonical JSON cannot, or is no object.
pub fn read_object(what: &'static str, text: &[u8]) -> Result<Object, ContentError> {
    match Value::parse(text).map_err(|source| ContentError::Json { what, source })? {
        Value::Object(object) => Ok(object),
        other => Err(ContentError::NotAnObject { what, found: other.kind() }),
    }
}

/// Checks that the `what` of an event has at most `most` bytes as canonical JSON.
///
/// # Errors
/// What is wrong, in words.
pub fn within(what: &str, bytes: usize, most: usize) -> Result<(), String> {
    match bytes <= most {
        true => Ok(()),
        false => Err(format!("{what} has {bytes} bytes of {most}")),
    }
}

/// Bytes of `metadata`, whose canonical text is `text`, that count against [`CONTENT_MAX`]: what an
/// import notes there does not.
#[must_use]
pub fn counted_metadata(text: &str, metadata: Option<&Object>) -> usize {
    match metadata.filter(|_| text.len() > CONTENT_MAX) {
        None => text.len(),
        Some(metadata) => {
            let mut metadata = metadata.clone();
            metadata.remove("import");
            metadata.canonical().len()
        }
    }
}

/// The canonical text of `object`, the `what` of an event.
///
/// # Errors
/// Above `most` bytes.
pub fn canonical_content(
    what: &'static str,
    object: &Object,
    most: usize,
) -> Result<String, ContentError> {
    let text = object.canonical();
    if text.len() > most {
        return Err(ContentError::TooLarge { what, bytes: text.len(), most });
    }
    Ok(text)
}
