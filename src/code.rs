//! The stable codes of everything that `mk` can answer instead of a result.

use std::io::{self, ErrorKind};

/// What a refusal or a failure is, for scripts: its name, exit status, and whether the same call may
/// succeed later. Names never change their meaning.
///
/// Source: docs/spec/mcp.md, section 6.2, and docs/design.md, section 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    pub name: &'static str,
    /// 1: a sound request, answered no. 75: busy. 128: could not be done. 129: bad usage.
    pub exit: u8,
    pub retryable: bool,
    pub meaning: &'static str,
}

macro_rules! codes {
    ($($constant:ident = $name:literal, $exit:literal, $retryable:literal, $meaning:literal;)*) => {
        impl Code {
            $(pub const $constant: Self =
                Self { name: $name, exit: $exit, retryable: $retryable, meaning: $meaning };)*
            /// All codes, as `mk help codes` prints them.
            pub const ALL: &[Self] = &[$(Self::$constant),*];
        }
    };
}

codes! {
    INVALID_ARGUMENT = "invalid-argument", 129, false, "an argument is not of the form it must have";
    UNKNOWN_MEMBER = "unknown-member", 129, false, "an input object has a member that means nothing";
    TOO_LARGE = "too-large", 129, false, "an input is larger than its limit";
    BRANCH_NOT_FOUND = "branch-not-found", 128, false, "no branch has this name";
    BRANCH_EXISTS = "branch-exists", 1, false, "the name of a new branch is taken";
    EVENT_NOT_FOUND = "event-not-found", 128, false, "no event has this id, hash, sequence or time";
    AMBIGUOUS_EVENT = "ambiguous-event", 128, false, "a hash prefix fits more than one event";
    NOT_IN_LINEAGE = "not-in-lineage", 1, false, "the event does not belong to the branch";
    NOT_LIVE = "not-live", 1, false, "the event is not on the live timeline of the branch";
    RESERVED_BRANCH = "reserved-branch", 1, false, "branches that begin with @ belong to mk";
    RESERVED_TYPE = "reserved-type", 1, false, "events of this type are written by their own verb";
    OP_CONFLICT = "op-conflict", 1, false, "the op id was used before for another request";
    STALE_HEAD = "stale-head", 1, true, "the head of the branch is not the expected one";
    OTHERS_REVERTED = "others-reverted", 1, false, "a rollback would revert events of other agents";
    MERGE_CONFLICT = "merge-conflict", 1, false, "both branches changed the same key, each in its own way";
    INVALID_SNAPSHOT = "invalid-snapshot", 1, false, "a snapshot is not the fold of what it covers";
    RETRACT_UNKNOWN = "retract-unknown", 1, false, "there is nothing of that name to retract";
    KEY_NOT_FOUND = "key-not-found", 128, false, "no decision or fact has this key";
    PREFIX_REQUIRED = "prefix-required", 1, false, "the project has events of its own, so an import needs a prefix";
    PLAN_BLOCKED = "plan-blocked", 1, false, "the source is not sound";
    IMPORT_DIVERGED = "import-diverged", 1, false, "an imported branch has events of its own since";
    SOURCE_VERSION = "source-version", 1, false, "the source has a format that is not known";
    SOURCE_CHANGED = "source-changed", 1, true, "the source was written to while it was read";
    SOURCE_DAMAGED = "source-damaged", 128, false, "the file of the source cannot be read through";
    NOT_MEMKERNEL = "not-memkernel", 1, false, "the file is no MemKernel database";
    LEASE_HELD = "lease-held", 1, true, "another holds a lease on it, or was first to wait for one";
    LEASE_LOST = "lease-lost", 1, false, "the token is not the current one of a lease that you hold";
    NOTICE_NOT_FOUND = "notice-not-found", 128, false, "no notice has this id";
    NOT_AUTHOR = "not-author", 1, false, "a notice is cleared by its author alone";
    AUTHOR_NOT_ALLOWED = "author-not-allowed", 1, false, "the policy of the exchange lets this agent post and clear nothing here";
    UNSIGNED_IMPORT_DISABLED = "unsigned-import-disabled", 1, false, "notices come here by the signed exchange alone";
    SYNC_OFF = "sync-off", 1, false, "the project takes part in no signed exchange";
    NOTICE_CONFLICT = "notice-conflict", 1, false, "a notice of a document says something else here";
    TIMEOUT = "timeout", 1, true, "a wait ended without what was waited for";
    SECRET_REFUSED = "secret-refused", 1, false, "the input holds what looks like a secret";
    NOT_ERASABLE = "not-erasable", 1, false, "the content of the event is gone, or cannot be taken alone";
    BAD_LINE = "bad-line", 128, false, "a line of an import is not one that an export wrote";
    FILE_EXISTS = "file-exists", 1, false, "there is a file of that name";
    EVENTS_LOST = "events-lost", 1, false, "a restore would lose events that the backup does not hold";
    BUSY = "busy", 75, true, "another process held the write lock for the whole wait";
    READ_ONLY = "read-only", 128, false, "the store cannot be written by this user";
    NO_PROJECT = "no-project", 128, false, "no project here or in any parent directory";
    STORE_MISSING = "store-missing", 128, false, "the store of the project is not there";
    STORE_NEWER = "store-newer", 128, false, "the store was written by a newer mk";
    STORE_OLDER = "store-older", 128, false, "the store is none, or of a format no longer read";
    STORE_DAMAGED = "store-damaged", 128, false, "the store contradicts itself";
    STORE_UNSUPPORTED_FS = "store-unsupported-fs", 128, false, "file locks are not reliable there";
    DISK_FULL = "disk-full", 128, true, "there is no space left for the store";
    IO = "io", 128, true, "the operating system refused a file operation";
    INTERNAL = "internal", 128, false, "a fault in mk itself";
}

impl Code {
    /// What it is that the operating system refused a file operation with `error`. Some refusals stand
    /// until somebody changes what is there: those are not to be repeated.
    #[must_use]
    pub fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull => Self::DISK_FULL,
            ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput => Self { retryable: false, ..Self::IO },
            _ => Self::IO,
        }
    }
}

/// An error with a stable code.
pub trait Coded: std::error::Error {
    fn code(&self) -> Code;
}
