//! The types of events, and what holds of each.

use std::fmt;
use std::str::FromStr;

use crate::id::{BranchName, shown};

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
