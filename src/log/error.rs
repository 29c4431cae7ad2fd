//! Why an event is not appended.

use crate::code::{Code, Coded};
use crate::event::{ContentError, EventType, EventTypeError};
use crate::id::{BranchName, EventId, IdError};
use crate::revision::RevisionError;
use crate::store::StoreError;

/// Why an event was not appended. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error(transparent)]
    Type(#[from] EventTypeError),
    #[error(transparent)]
    Name(#[from] IdError),
    #[error(transparent)]
    Content(#[from] ContentError),
    #[error("events of type {0} are written by {by}, not appended", by = writer(*.0))]
    ReservedType(EventType),
    #[error("'{0}' belongs to mk; nothing can be appended to it")]
    ReservedBranch(BranchName),
    #[error("the head of '{branch}' is {}, not {}", head(.actual), head(.expected))]
    StaleHead { branch: BranchName, expected: Option<EventId>, actual: Option<EventId> },
    #[error("the snapshot is refused: {why}")]
    InvalidSnapshot { why: String },
    #[error("{place} holds what looks like a secret ({rule})")]
    Secret { place: String, rule: &'static str },
    #[error(transparent)]
    Revision(#[from] RevisionError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn head(id: &Option<EventId>) -> String {
    id.map_or("no event (the branch is empty)".to_owned(), |id| format!("event {id}"))
}

fn writer(kind: EventType) -> &'static str {
    match kind {
        EventType::Forked => "a fork",
        EventType::RolledBack => "a rollback",
        EventType::Merged => "a merge",
        EventType::Retracted => "a retraction",
        EventType::Erased => "an erasure",
        EventType::Imported | EventType::ImportFinished => "an import",
        EventType::ExecRecord => "`mk exec`",
        EventType::Task
        | EventType::Decision
        | EventType::ToolLog
        | EventType::Note
        | EventType::ClaimAcquired
        | EventType::ClaimReleased
        | EventType::Snapshot => "their callers",
    }
}

impl Coded for LogError {
    fn code(&self) -> Code {
        match self {
            Self::Type(_) | Self::Name(_) => Code::INVALID_ARGUMENT,
            Self::Content(ContentError::TooLarge { .. }) => Code::TOO_LARGE,
            Self::Content(_) => Code::INVALID_ARGUMENT,
            Self::ReservedType(_) => Code::RESERVED_TYPE,
            Self::ReservedBranch(_) => Code::RESERVED_BRANCH,
            Self::StaleHead { .. } => Code::STALE_HEAD,
            Self::InvalidSnapshot { .. } => Code::INVALID_SNAPSHOT,
            Self::Secret { .. } => Code::SECRET_REFUSED,
            Self::Revision(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}
