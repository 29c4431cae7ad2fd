//! An event to append, as a line of NDJSON: the form in which programs hand in many.

use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use crate::event::{self, ContentError, EventType, EventTypeError};
use crate::id::{AgentId, BranchName, IdError, shown};

/// Longest line, in bytes: content of the allowed size fits with every character escaped.
pub const EVENT_LINE_MAX: usize = 4 << 20;

/// What a line says. What it leaves out is for the reader to fill in.
#[derive(Debug, Clone, PartialEq)]
pub struct EventLine {
    pub kind: Option<EventType>,
    pub branch: Option<BranchName>,
    pub agent: Option<AgentId>,
    pub payload: Object,
    pub metadata: Object,
    /// The leases it depends on, as they were given: what a path means depends on who says it.
    pub fence: Option<Value>,
}

/// Why a line is no event.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EventLineError {
    #[error(transparent)]
    Content(#[from] ContentError),
    #[error("{member} is {found}, not {wanted}")]
    Kind { member: String, found: &'static str, wanted: &'static str },
    #[error(transparent)]
    Type(#[from] EventTypeError),
    #[error(transparent)]
    Name(#[from] IdError),
    #[error("unknown member '{}'", shown(.0))]
    UnknownMember(String),
}

impl Coded for EventLineError {
    fn code(&self) -> Code {
        match self {
            Self::Content(error) => error.code(),
            Self::Kind { .. } | Self::Type(_) | Self::Name(_) => Code::INVALID_ARGUMENT,
            Self::UnknownMember(_) => Code::UNKNOWN_MEMBER,
        }
    }
}

impl EventLine {
    /// Reads a line without its line break.
    ///
    /// # Errors
    /// If it is no JSON object, or has a member that means nothing or is not what it must be.
    pub fn read(line: &[u8]) -> Result<Self, EventLineError> {
        let mut read = Self {
            kind: None,
            branch: None,
            agent: None,
            payload: Object::new(),
            metadata: Object::new(),
            fence: None,
        };
        for (member, value) in event::read_object("the event", line)? {
            match member.as_str() {
                "payload" => read.payload = object(member, value)?,
                "metadata" => read.metadata = object(member, value)?,
                "event_type" => read.kind = Some(text(member, value)?.parse()?),
                "branch_id" => read.branch = Some(text(member, value)?.parse()?),
                "agent_id" => read.agent = Some(text(member, value)?.parse()?),
                "fence" => read.fence = Some(value),
                _ => return Err(EventLineError::UnknownMember(member)),
            }
        }
        Ok(read)
    }
}

fn object(member: String, value: Value) -> Result<Object, EventLineError> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(EventLineError::Kind { member, found: other.kind(), wanted: "an object" }),
    }
}

fn text(member: String, value: Value) -> Result<String, EventLineError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(EventLineError::Kind { member, found: other.kind(), wanted: "a string" }),
    }
}
