//! The closed registry of error codes, and a request that was answered with one.
//!
//! Rule: docs/spec/mkep.md, section 20.

use super::json::{Json, Members, object};
use crate::store::StoreError;

/// What kind of thing went wrong. The exit status of `mk exec call` follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Input,
    Negotiation,
    Limits,
    State,
    Evidence,
    Idempotency,
    Lease,
    Integrity,
    Io,
}

impl Class {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Negotiation => "negotiation",
            Self::Limits => "limits",
            Self::State => "state",
            Self::Evidence => "evidence",
            Self::Idempotency => "idempotency",
            Self::Lease => "lease",
            Self::Integrity => "integrity",
            Self::Io => "io",
        }
    }

    /// Rule: docs/spec/mkep.md, section 22.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Input | Self::Negotiation | Self::Limits => 1,
            Self::State | Self::Evidence | Self::Idempotency | Self::Lease | Self::Integrity => 2,
            Self::Io => 3,
        }
    }
}

macro_rules! codes {
    ($($variant:ident = $name:literal, $class:ident $(, $retryable:ident)?;)*) => {
        /// An error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($variant,)* }

        impl Code {
            /// All codes, sorted by name.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            #[must_use]
            pub fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class),* }
            }

            /// Whether the same request may succeed later.
            #[must_use]
            pub fn is_retryable(self) -> bool {
                match self { $(Self::$variant => false $(|| codes!(@$retryable))?),* }
            }
        }
    };
    (@retryable) => { true };
}

codes! {
    AlreadyDeclared = "E_ALREADY_DECLARED", State;
    AuthorityClaimRequired = "E_AUTHORITY_CLAIM_REQUIRED", Evidence;
    AuthorityVerifiedForbidden = "E_AUTHORITY_VERIFIED_FORBIDDEN", Evidence;
    CapabilityDrift = "E_CAPABILITY_DRIFT", Negotiation;
    Conflict = "E_CONFLICT", State;
    DigestMismatch = "E_DIGEST_MISMATCH", Integrity;
    EvidenceRequired = "E_EVIDENCE_REQUIRED", Evidence;
    EvidenceStale = "E_EVIDENCE_STALE", Evidence;
    FenceRequired = "E_FENCE_REQUIRED", Lease;
    FenceStale = "E_FENCE_STALE", Lease;
    GateCap = "E_GATE_CAP", Limits;
    HandoffExpired = "E_HANDOFF_EXPIRED", State;
    IdempotencyMismatch = "E_IDEMPOTENCY_MISMATCH", Idempotency;
    Internal = "E_INTERNAL", Io, retryable;
    InvalidTransition = "E_INVALID_TRANSITION", State;
    LeaseCap = "E_LEASE_CAP", Lease;
    LeaseHeld = "E_LEASE_HELD", Lease, retryable;
    LimitExceeded = "E_LIMIT_EXCEEDED", Limits;
    MalformedJson = "E_MALFORMED_JSON", Input;
    MissingField = "E_MISSING_FIELD", Input;
    NotDeclared = "E_NOT_DECLARED", State;
    Pattern = "E_PATTERN", Input;
    PreconditionSeq = "E_PRECONDITION_SEQ", State;
    PreconditionState = "E_PRECONDITION_STATE", State;
    ProjectionInconsistent = "E_PROJECTION_INCONSISTENT", State;
    StoreBusy = "E_STORE_BUSY", Io, retryable;
    StoreIo = "E_STORE_IO", Io, retryable;
    TimeFormat = "E_TIME_FORMAT", Input;
    TimeNaive = "E_TIME_NAIVE", Input;
    Type = "E_TYPE", Input;
    UnknownField = "E_UNKNOWN_FIELD", Input;
    UnknownOp = "E_UNKNOWN_OP", Negotiation;
    VersionUnsupported = "E_VERSION_UNSUPPORTED", Negotiation;
}

/// Why a request was not carried out. Nothing was written.
///
/// Neither the message nor the details hold a path, a holder or a text of the log.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub code: Code,
    /// For people; no two implementations need agree on it.
    pub message: String,
    pub details: Members,
}

impl Refusal {
    #[must_use]
    pub fn new<const N: usize>(
        code: Code,
        message: impl Into<String>,
        details: [(&str, Json); N],
    ) -> Self {
        Self { code, message: message.into(), details: object(details) }
    }

    /// One about the field at `path`.
    #[must_use]
    pub fn at(code: Code, path: &str, what: &str) -> Self {
        Self::new(code, format!("{path} {what}"), [("path", path.into())])
    }

    /// The member `error` of a response.
    #[must_use]
    pub fn report(&self) -> Members {
        object([
            ("code", self.code.as_str().into()),
            ("message", self.message.as_str().into()),
            ("class", self.code.class().as_str().into()),
            ("retryable", self.code.is_retryable().into()),
            ("details", self.details.clone().into()),
        ])
    }
}

/// Why a request came to no end: its own fault, or the store's.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}
