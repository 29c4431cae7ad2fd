//! Why a branch is left as it is.

use std::fmt;

use crate::code::{Code, Coded};
use crate::event::Retractable;
use crate::id::{AgentId, BranchName, EventId, IdError, shown};
use crate::log::LogError;
use crate::revision::RevisionError;
use crate::store::StoreError;

/// Why a branch was left as it was. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    #[error(transparent)]
    Name(#[from] IdError),
    #[error("a branch named '{0}' exists")]
    Exists(BranchName),
    #[error("a branch named '{like}' exists, which differs from '{name}' in letter case only")]
    ExistsLike { name: BranchName, like: BranchName },
    #[error("event {event} is not in the lineage of '{branch}'")]
    NotInLineage { event: EventId, branch: BranchName },
    #[error("event {event} is not live on '{branch}': {why}")]
    NotLive { event: EventId, branch: BranchName, why: &'static str },
    #[error("{0}")]
    OthersReverted(Others),
    #[error("nothing to undo on '{branch}': {why}")]
    NothingToUndo { branch: BranchName, why: String },
    #[error("there is no {} '{}' on '{branch}'", what.as_str(), shown(key))]
    RetractUnknown { what: Retractable, key: String, branch: BranchName },
    #[error(transparent)]
    Log(#[from] LogError),
}

impl From<StoreError> for BranchError {
    fn from(error: StoreError) -> Self {
        Self::Log(error.into())
    }
}

impl From<RevisionError> for BranchError {
    fn from(error: RevisionError) -> Self {
        Self::Log(error.into())
    }
}

impl Coded for BranchError {
    fn code(&self) -> Code {
        match self {
            Self::Name(_) => Code::INVALID_ARGUMENT,
            Self::Exists(_) | Self::ExistsLike { .. } => Code::BRANCH_EXISTS,
            Self::NotInLineage { .. } => Code::NOT_IN_LINEAGE,
            Self::NotLive { .. } | Self::NothingToUndo { .. } => Code::NOT_LIVE,
            Self::OthersReverted(_) => Code::OTHERS_REVERTED,
            Self::RetractUnknown { .. } => Code::RETRACT_UNKNOWN,
            Self::Log(error) => error.code(),
        }
    }
}

/// Live events of other agents that a rollback would revert.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Others {
    pub agents: Vec<AgentId>,
    /// The newest, at most 20.
    pub events: Vec<EventId>,
    pub count: u64,
    /// Whether there are more than `count`, since only so many events were looked at.
    pub more: bool,
}

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<String> = self.agents.iter().map(|agent| format!("'{agent}'")).collect();
        let events: Vec<String> = self.events.iter().map(ToString::to_string).collect();
        let plus = if self.more { "more than " } else { "" };
        let noun = if self.count == 1 && !self.more { "event" } else { "events" };
        let dots = if self.count as usize > self.events.len() { ", …" } else { "" };
        write!(
            f,
            "this would revert {plus}{} {noun} of {} ({}{dots})",
            self.count,
            agents.join(", "),
            events.join(", ")
        )
    }
}
