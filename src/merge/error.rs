//! Why nothing is merged.

use super::Conflict;
use crate::code::{Code, Coded};
use crate::id::{BranchName, shown};
use crate::log::LogError;
use crate::store::StoreError;
use crate::text::counted;

/// Why nothing was merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("'{0}' belongs to mk; it cannot be merged")]
    Reserved(BranchName),
    #[error("{} with '{source_branch}': {}", how_many(conflicts.len()), listed(conflicts))]
    Conflicts { source_branch: BranchName, conflicts: Vec<Conflict> },
    #[error("there is no conflict about '{}'", shown(.0))]
    NoConflict(String),
    #[error("'{}' is the key of {}", shown(key), kinds.join(" and of "))]
    Ambiguous { key: String, kinds: Vec<String> },
    #[error("'{}' is settled twice", shown(.0))]
    Twice(String),
    #[error(transparent)]
    Log(#[from] LogError),
}

fn how_many(count: usize) -> String {
    if count == 1 { "a conflict".to_owned() } else { counted(count as u64, "conflict") }
}

/// Conflicts that a refusal names.
const NAMED: usize = 10;

fn listed(conflicts: &[Conflict]) -> String {
    let named = conflicts.iter().take(NAMED);
    let mut named: Vec<String> =
        named.map(|it| format!("{} '{}'", it.kind, shown(&it.key))).collect();
    if conflicts.len() > NAMED {
        named.push(format!("and {} more", conflicts.len() - NAMED));
    }
    named.join(", ")
}

impl From<StoreError> for MergeError {
    fn from(error: StoreError) -> Self {
        Self::Log(error.into())
    }
}

impl Coded for MergeError {
    fn code(&self) -> Code {
        match self {
            Self::Reserved(_) => Code::RESERVED_BRANCH,
            Self::Conflicts { .. } => Code::MERGE_CONFLICT,
            Self::NoConflict(_) | Self::Ambiguous { .. } | Self::Twice(_) => Code::INVALID_ARGUMENT,
            Self::Log(error) => error.code(),
        }
    }
}
