//! The event: what it holds, what its payload means, and how it is chained.
//!
//! Format: docs/format.md.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::canon::{self, Int, Object, Value};
use crate::code::{Code, Coded};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId, hex, shown};
use crate::time::Timestamp;

/// Most bytes of a payload, and of metadata, as canonical JSON.
pub const CONTENT_MAX: usize = 262_144;

/// Most bytes of the payload of a snapshot, in which a whole state stands, and of a line of the
/// execution log, which may be imported.
///
/// Rule: docs/design.md, section 10.
pub const SNAPSHOT_MAX: usize = 64 << 20;

/// Most bytes of the payload of an event that keeps content of another program as a text: in a string,
/// `"` and `\\` take two bytes.
const TEXT_MAX: usize = 3 * CONTENT_MAX;

macro_rules! event_types {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What happened. The names are those of docs/spec/kernel.md, section 3, and of
        /// docs/design.md, sections 1 and 2.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventType { $($(#[$doc])* $variant,)* }

        impl EventType {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl FromStr for EventType {
            type Err = EventTypeError;

            fn from_str(name: &str) -> Result<Self, EventTypeError> {
                match name {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(EventTypeError(name.to_owned())),
                }
            }
        }
    };
}

event_types! {
    /// An agent starts on a task.
    Task = "AGENT_TASK_INIT",
    /// A decision that others should follow.
    Decision = "ARCHITECTURAL_DECISION",
    /// A command that ran, and facts learnt from it.
    ToolLog = "TOOL_EXECUTION_LOG",
    /// A passing thought.
    Note = "AGENT_SCRATCHPAD",
    /// A lease was granted.
    ClaimAcquired = "FILE_CLAIM_ACQUIRED",
    /// A lease was given back.
    ClaimReleased = "FILE_CLAIM_RELEASED",
    /// A fold of what lies before it.
    Snapshot = "SEMANTIC_SNAPSHOT",
    /// The first own event of a forked branch.
    Forked = "BRANCH_FORKED",
    /// Everything after its target is no longer live.
    RolledBack = "ROLLBACK_TRIGGERED",
    /// A branch was merged into this one.
    Merged = "BRANCH_MERGED",
    /// A decision, fact or task no longer holds.
    Retracted = "RETRACTED",
    /// The payload of another event was erased.
    Erased = "PAYLOAD_ERASED",
    /// Something of another program that `mk` has no system for, kept as it was.
    Imported = "IMPORTED",
    /// What came before it was imported.
    ImportFinished = "IMPORT_FINISHED",
    /// A line of the execution log.
    ExecRecord = "EXEC_RECORD",
}

/// A text that is no event type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is no event type", shown(.0))]
pub struct EventTypeError(pub String);

impl EventType {
    /// Whether a caller may append it; the others are written by the verbs they record.
    #[must_use]
    pub fn is_open(self) -> bool {
        match self {
            Self::Task
            | Self::Decision
            | Self::ToolLog
            | Self::Note
            | Self::ClaimAcquired
            | Self::ClaimReleased
            | Self::Snapshot => true,
            Self::Forked
            | Self::RolledBack
            | Self::Merged
            | Self::Retracted
            | Self::Erased
            | Self::Imported
            | Self::ImportFinished
            | Self::ExecRecord => false,
        }
    }

    /// Whether `mk` writes events of this type to `branch`: what systems of its own record stands on
    /// their branches, all else on those that agents work on.
    #[must_use]
    pub fn stands_on(self, branch: &BranchName) -> bool {
        match self {
            Self::Erased => branch.as_str() == BranchName::ERASE,
            Self::ExecRecord => branch.as_str() == BranchName::EXEC,
            Self::ImportFinished => branch.as_str() == BranchName::IMPORT,
            // A row of another program, or an event of a type that only that program knows.
            Self::Imported => branch.as_str() == BranchName::IMPORT || !branch.is_reserved(),
            Self::Task
            | Self::Decision
            | Self::ToolLog
            | Self::Note
            | Self::ClaimAcquired
            | Self::ClaimReleased
            | Self::Snapshot
            | Self::Forked
            | Self::RolledBack
            | Self::Merged
            | Self::Retracted => !branch.is_reserved(),
        }
    }

    /// Most bytes of its payload, as canonical JSON.
    #[must_use]
    pub fn payload_max(self) -> usize {
        match self {
            Self::Snapshot | Self::ExecRecord => SNAPSHOT_MAX,
            Self::Imported => TEXT_MAX,
            _ => CONTENT_MAX,
        }
    }

    /// The members of its payload that other events are understood by. An erasure leaves them: the
    /// shape of the log outlives what was said in it.
    #[must_use]
    pub fn structure(self) -> &'static [&'static str] {
        match self {
            Self::Forked => {
                &["fork_point_event_id", "fork_point_hash", "fork_point_sequence", "source_branch"]
            }
            Self::RolledBack => {
                &["reverted_count", "target_event_id", "target_hash", "target_sequence"]
            }
            Self::Merged => &[
                "source_branch",
                "source_hash",
                "source_sequence",
                "target_hash",
                "target_sequence",
            ],
            _ => &[],
        }
    }

    /// Whether reading leaves it out of recent events unless asked.
    #[must_use]
    pub fn is_ephemeral(self) -> bool {
        matches!(self, Self::ToolLog | Self::Note)
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

crate::serde_as_text!(EventType);

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
        let mut out = String::with_capacity(512);
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

/// The members of a payload that a state is made of; unknown members are kept in the event and
/// passed over here.
///
/// Rule: docs/spec/kernel.md, sections 3 and 8.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    Task { directive: String, constraints: Vec<String> },
    Decision { key: String, value: String, rationale: String },
    ToolLog { command: String, exit_code: Int, output: String, facts: Object },
    Note { note: String },
    ClaimAcquired { resource: String, token: Option<Int> },
    ClaimReleased { resource: String, token: Option<Int> },
    Snapshot { insights: Vec<String> },
    Forked { reason: String },
    RolledBack { target_sequence: u64, reason: String },
    Merged,
    Retracted { what: Retractable, key: String },
    Erased,
    Imported,
    ImportFinished,
    ExecRecord,
}

/// What can be retracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retractable {
    Decision,
    Fact,
    Task,
}

impl Retractable {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Fact => "fact",
            Self::Task => "task",
        }
    }
}

impl FromStr for Retractable {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Decision, Self::Fact, Self::Task]
            .into_iter()
            .find(|what| what.as_str() == name)
            .ok_or(())
    }
}

impl Payload {
    /// Reads `payload` as one of `kind`. Total: what is missing or odd takes the defaults of
    /// docs/spec/kernel.md, section 8.
    #[must_use]
    pub fn read(kind: EventType, payload: &Object) -> Self {
        let text =
            |name: &str| payload.get(name).map_or(String::new(), |value| value.text().into());
        match kind {
            EventType::Task => {
                let constraints = match payload.get("constraints") {
                    None => Vec::new(),
                    Some(value) if value.is_falsy() => Vec::new(),
                    Some(Value::Array(items)) => {
                        items.iter().map(|item| item.text().into()).collect()
                    }
                    Some(value) => vec![value.text().into()],
                };
                Self::Task { directive: text("directive"), constraints }
            }
            EventType::Decision => Self::Decision {
                key: text("decision_key"),
                value: text("decision_value"),
                rationale: text("rationale"),
            },
            EventType::ToolLog => Self::ToolLog {
                command: text("command"),
                exit_code: match payload.get("exit_code") {
                    Some(Value::Int(code)) => code.clone(),
                    _ => Int::from(0_i64),
                },
                output: text("output"),
                facts: payload.get("facts").and_then(Value::as_object).cloned().unwrap_or_default(),
            },
            EventType::Note => Self::Note { note: text("note") },
            EventType::ClaimAcquired => {
                Self::ClaimAcquired { resource: text("resource"), token: token(payload) }
            }
            EventType::ClaimReleased => {
                Self::ClaimReleased { resource: text("resource"), token: token(payload) }
            }
            EventType::Snapshot => Self::Snapshot {
                insights: payload
                    .get("insights")
                    .and_then(Value::as_array)
                    .map(|items| items.iter().map(|item| item.text().into()).collect())
                    .unwrap_or_default(),
            },
            EventType::Forked => Self::Forked { reason: text("reason") },
            EventType::RolledBack => Self::RolledBack {
                target_sequence: payload
                    .get("target_sequence")
                    .and_then(Value::as_i64)
                    .and_then(|sequence| u64::try_from(sequence).ok())
                    .unwrap_or_default(),
                reason: text("reason"),
            },
            EventType::Merged => Self::Merged,
            EventType::Retracted => match text("kind").parse() {
                Ok(what) => Self::Retracted { what, key: text("key") },
                // Only `mk retract` writes these, with a kind it checked.
                Err(()) => Self::Retracted { what: Retractable::Task, key: String::new() },
            },
            EventType::Erased => Self::Erased,
            EventType::Imported => Self::Imported,
            EventType::ImportFinished => Self::ImportFinished,
            EventType::ExecRecord => Self::ExecRecord,
        }
    }
}

fn token(payload: &Object) -> Option<Int> {
    match payload.get("fencing_token") {
        Some(Value::Int(token)) => Some(token.clone()),
        _ => None,
    }
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
