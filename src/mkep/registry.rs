//! The closed registry of operations: eleven that apply, four that ask.
//!
//! Rule: docs/spec/mkep.md, section 10.

/// Whether an operation writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Apply,
    Query,
}

impl Kind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Query => "query",
        }
    }
}

/// What has a status that a caller can expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    Goal,
    Gate,
    Handoff,
}

impl Entity {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Gate => "gate",
            Self::Handoff => "handoff",
        }
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    AssessRecord,
    AssessRun,
    Describe,
    GateDeclare,
    GateTransition,
    GoalDeclare,
    GoalTransition,
    HandoffDeclare,
    HandoffExport,
    HandoffImport,
    HandoffTransition,
    LeaseAcquire,
    LeaseRelease,
    ReceiptRecord,
    StateRead,
}

/// What a request for an operation must look like.
#[derive(Debug)]
pub struct Entry {
    pub op: Op,
    pub name: &'static str,
    pub kind: Kind,
    /// The keys of `target`, all needed.
    pub target: &'static [&'static str],
    /// The keys of `args` that must be there.
    pub required: &'static [&'static str],
    pub optional: &'static [&'static str],
    /// Whether a lease can guard it.
    pub is_fenced: bool,
    /// Whose status `expect_state` is about.
    pub state_of: Option<Entity>,
}

impl Entry {
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.name == name)
    }
}

const fn apply(op: Op, name: &'static str, target: &'static [&'static str]) -> Entry {
    Entry {
        op,
        name,
        kind: Kind::Apply,
        target,
        required: &[],
        optional: &[],
        is_fenced: false,
        state_of: None,
    }
}

const fn query(op: Op, name: &'static str, target: &'static [&'static str]) -> Entry {
    Entry { kind: Kind::Query, ..apply(op, name, target) }
}

/// All operations, sorted by name.
pub const ENTRIES: &[Entry] = &[
    Entry { required: &["assessment"], ..apply(Op::AssessRecord, "assess.record", &["goal_id"]) },
    query(Op::AssessRun, "assess.run", &["goal_id"]),
    query(Op::Describe, "describe", &[]),
    Entry {
        required: &["description", "verification"],
        optional: &["required", "scope_key"],
        is_fenced: true,
        ..apply(Op::GateDeclare, "gate.declare", &["goal_id", "gate_id"])
    },
    Entry {
        required: &["to_status"],
        optional: &["receipt_id", "reopen_reason", "authority_claim"],
        is_fenced: true,
        state_of: Some(Entity::Gate),
        ..apply(Op::GateTransition, "gate.transition", &["goal_id", "gate_id"])
    },
    Entry {
        required: &["title", "intent", "constraints", "success_criteria"],
        optional: &["owner_hint", "parent_goal_id", "privacy"],
        ..apply(Op::GoalDeclare, "goal.declare", &["goal_id"])
    },
    Entry {
        required: &["to_status", "reason"],
        optional: &["authority_claim"],
        is_fenced: true,
        state_of: Some(Entity::Goal),
        ..apply(Op::GoalTransition, "goal.transition", &["goal_id"])
    },
    Entry {
        required: &["to_actor", "payload"],
        optional: &["payload_schema", "expires_at"],
        is_fenced: true,
        ..apply(Op::HandoffDeclare, "handoff.declare", &["goal_id"])
    },
    query(Op::HandoffExport, "handoff.export", &["goal_id", "handoff_id"]),
    Entry {
        required: &["envelope"],
        is_fenced: true,
        ..apply(Op::HandoffImport, "handoff.import", &["goal_id"])
    },
    Entry {
        required: &["to_state"],
        is_fenced: true,
        state_of: Some(Entity::Handoff),
        ..apply(Op::HandoffTransition, "handoff.transition", &["goal_id", "handoff_id"])
    },
    Entry {
        required: &["holder", "ttl_seconds"],
        optional: &["expected_fence"],
        ..apply(Op::LeaseAcquire, "lease.acquire", &["goal_id", "scope_key"])
    },
    Entry {
        required: &["lease_id"],
        optional: &["released_by"],
        ..apply(Op::LeaseRelease, "lease.release", &["goal_id", "scope_key"])
    },
    Entry {
        required: &["verdict", "content_sha256", "summary", "observed_at"],
        optional: &["provenance_id", "artifact_path"],
        is_fenced: true,
        ..apply(Op::ReceiptRecord, "receipt.record", &["goal_id", "gate_id"])
    },
    Entry { optional: &["include"], ..query(Op::StateRead, "state.read", &["goal_id"]) },
];
