//! What is known of a failure beside its words.

use mk::backup::BackupError;
use mk::branch::BranchError;
use mk::erase::EraseError;
use mk::event::ContentError;
use mk::lease::{LeaseError, ResourceError, TtlError};
use mk::log::{EventLineError, LogError};
use mk::lookup::LookupError;
use mk::memkernel::ImportError;
use mk::merge::MergeError;
use mk::mkep::transfer::TransferError;
use mk::notice::NoticeError;
use mk::operation::OperationError;
use mk::revision::RevisionError;
use mk::store::memkernel::SourceError;
use mk::store::{FolderError, StoreError};
use mk::sync::{PolicyError, SyncError};
use mk::transfer::{self, ExportError};
use serde_json::{Map, Value, json};

/// Conflicts of a merge that a refusal lists.
const CONFLICTS_LISTED: usize = 50;

/// What a program needs to know of a refusal beside its code.
///
/// Rule: docs/spec/mcp.md, section 6.2.
pub trait Detailed {
    fn details(&self) -> Map<String, Value>;
}

impl Detailed for StoreError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for MergeError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::Conflicts { conflicts, .. } => {
                let listed = &conflicts[..conflicts.len().min(CONFLICTS_LISTED)];
                let omitted = conflicts.len() - listed.len();
                members(json!({ "keys": listed, "omitted": omitted }))
            }
            Self::Log(error) => error.details(),
            _ => Map::new(),
        }
    }
}

impl Detailed for TransferError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for OperationError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for BackupError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::EventsLost { events, first } => {
                members(json!({ "events": events, "first_event_id": first }))
            }
            _ => Map::new(),
        }
    }
}

impl Detailed for EraseError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::NotErasable { event, .. } => members(json!({ "event_id": event })),
            Self::Revision(error) => error.details(),
            Self::Log(_) | Self::Store(_) => Map::new(),
        }
    }
}

impl Detailed for ExportError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::Revision(error) => error.details(),
            Self::Write(_) | Self::Store(_) => Map::new(),
        }
    }
}

impl Detailed for transfer::ImportError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::BadLine { line, .. } | Self::Diverged { line, .. } => {
                members(json!({ "line": line }))
            }
            Self::Read(_) | Self::Log(_) | Self::Store(_) => Map::new(),
        }
    }
}

impl Detailed for RevisionError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::BranchNotFound { nearest: Some(nearest), .. } => {
                members(json!({ "nearest": nearest }))
            }
            Self::Ambiguous { candidates, .. } => members(json!({ "candidates": candidates })),
            Self::BranchNotFound { nearest: None, .. }
            | Self::EventNotFound { .. }
            | Self::Store(_) => Map::new(),
        }
    }
}

impl Detailed for LogError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::StaleHead { expected, actual, .. } => {
                members(json!({ "expected": expected, "actual": actual }))
            }
            Self::Revision(error) => error.details(),
            _ => Map::new(),
        }
    }
}

impl Detailed for BranchError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::OthersReverted(others) => members(json!(others)),
            Self::Log(error) => error.details(),
            _ => Map::new(),
        }
    }
}

impl Detailed for NoticeError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::NotAuthor { id, author } => members(json!({ "notice_id": id, "author": author })),
            Self::Conflict { id } => members(json!({ "notice_id": id })),
            Self::Log(error) => error.details(),
            _ => Map::new(),
        }
    }
}

impl Detailed for SyncError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::Bound { bound, .. } => {
                members(json!({ "workspace_id": bound.workspace, "peer_id": bound.peer }))
            }
            _ => Map::new(),
        }
    }
}

impl Detailed for PolicyError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for FolderError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for SourceError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for ContentError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for EventLineError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for LookupError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for ImportError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::Blocked { findings, count } => {
                members(json!({ "blockers": findings, "blockers_total": count }))
            }
            Self::Log(error) => error.details(),
            _ => Map::new(),
        }
    }
}

impl Detailed for ResourceError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for TtlError {
    fn details(&self) -> Map<String, Value> {
        Map::new()
    }
}

impl Detailed for LeaseError {
    fn details(&self) -> Map<String, Value> {
        match self {
            Self::Held(held) => members(json!({
                "resource": held.resource,
                "holder": held.holder,
                "expires_in_s": held.left.as_secs_f64(),
                "token": held.token,
            })),
            Self::Queued { resource, waiting } => {
                members(json!({ "resource": resource.as_str(), "waiting": waiting }))
            }
            Self::Lost { resource, token, lost } => members(json!({
                "resource": resource.as_str(),
                "token": token,
                "reason": lost.as_str(),
            })),
            Self::Log(error) => error.details(),
            Self::Resource(_) | Self::Operation(_) => Map::new(),
        }
    }
}

fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
