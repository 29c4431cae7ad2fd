//! What a person and a script see when there is no answer.

mod details;
mod usage;

use std::io::{self, Write};

use mk::backup::BackupError;
use mk::branch::BranchError;
use mk::code::{Code, Coded};
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
use mk::setting::SettingError;
use mk::store::memkernel::SourceError;
use mk::store::{FolderError, StoreError};
use mk::sync::{PolicyError, SyncError};
use mk::transfer::{self, ExportError};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::line;
use details::Detailed;

pub use usage::usage_failure;

/// A command that could not, or may not, do what was asked.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: Code,
    message: Box<str>,
    hint: Option<String>,
    details: Map<String, Value>,
    retry_after_ms: Option<u32>,
    closed_pipe: bool,
    /// Whether it is the answer that could not be written.
    unanswered: bool,
    exit_status: u8,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into().into_boxed_str(),
            hint: None,
            details: Map::new(),
            retry_after_ms: None,
            closed_pipe: false,
            unanswered: false,
            exit_status: code.exit,
        }
    }

    /// A fault in an argument that its type did not catch.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::INVALID_ARGUMENT, message)
    }

    /// What to do next. Names a command.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn retry_after_ms(&self) -> Option<u32> {
        self.retry_after_ms
    }

    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The members of `error` that `--json` prints, with `hint` in the place of its own.
    ///
    /// Rule: docs/spec/mcp.md, section 6.2.
    pub fn json(&self, hint: Option<&str>) -> String {
        let message = line(&self.message);
        let error = Report {
            code: self.code.name,
            message: &message,
            hint,
            retryable: self.code.retryable,
            retry_after_ms: self.retry_after_ms,
            details: &self.details,
        };
        serde_json::to_string(&Answer { error }).expect("a report has string keys only")
    }

    /// The same failure, with an exit status of the command's own.
    pub fn exit(self, exit_status: u8) -> Self {
        Self { exit_status, ..self }
    }

    pub fn exit_status(&self) -> u8 {
        self.exit_status
    }

    /// The same failure, with `place` before its message.
    pub fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message).into_boxed_str();
        self
    }

    /// Whether the reader of stdout has gone, which is no failure.
    pub fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// Whether it is only the answer that is missing.
    pub fn is_unanswered(&self) -> bool {
        self.unanswered
    }

    /// Whether it says that a branch or an event is not there.
    pub fn is_about_names(&self) -> bool {
        [Code::BRANCH_NOT_FOUND, Code::EVENT_NOT_FOUND, Code::AMBIGUOUS_EVENT].contains(&self.code)
    }

    /// The same failure, telling that what was asked for is done if only the answer is missing.
    pub fn after_write(self, has_written: bool) -> Self {
        if !has_written || !self.unanswered {
            return self;
        }
        let message = format!("it is done and stored, but {}", self.message).into_boxed_str();
        let hint = self.hint.unwrap_or_else(|| "do not repeat it; see `mk log`".to_owned());
        Self { message, hint: Some(hint), ..self }
    }

    /// Tells of it in one line on stderr, and nowhere else.
    pub fn tell_in_a_line(&self, who: &str) {
        // There is nobody left to tell if stderr is closed.
        let _ = writeln!(io::stderr(), "{who}: {}", line(&self.message));
    }

    /// Tells of it: in words on stderr, and as one JSON object on stdout under `--json`.
    pub fn tell(&self, as_json: bool) {
        // Refused (1, 75) is `error:`, impossible (128, 129) is `fatal:`, as in git.
        let level = if self.code.exit >= 128 { "fatal" } else { "error" };
        // A path or a value that the caller gave may hold anything.
        let (message, hint) = (line(&self.message), self.hint.as_deref().map(line));
        let mut text = format!("{level}: {message}\n");
        if let Some(hint) = &hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
        // There is nobody left to tell if stderr is closed.
        let _ = io::stderr().write_all(text.as_bytes());
        if as_json {
            let _ = writeln!(io::stdout(), "{}", self.json(hint.as_deref()));
        }
    }
}

/// What `--json` prints for a failure.
///
/// Rule: docs/design.md, section 7.
#[derive(Serialize)]
struct Answer<'a> {
    error: Report<'a>,
}

#[derive(Serialize)]
struct Report<'a> {
    code: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u32>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    details: &'a Map<String, Value>,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        let failure = Self::new(Code::of_io(&error), format!("cannot write the answer: {error}"));
        Self { closed_pipe, unanswered: true, ..failure }
    }
}

/// One message for each error of the library: its own words, its code, its facts, what to do next.
macro_rules! failures {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let code = error.code();
                let hint = hint(code).map(str::to_owned);
                Self { hint, details: error.details(), ..Self::new(code, error.to_string()) }
            }
        })*
    };
}

failures!(
    StoreError,
    LogError,
    NoticeError,
    BranchError,
    RevisionError,
    OperationError,
    SourceError,
    ImportError,
    ResourceError,
    TtlError,
    SyncError,
    PolicyError,
    FolderError,
    ContentError,
    EraseError,
    EventLineError,
    ExportError,
    LookupError,
    MergeError,
    transfer::ImportError,
    TransferError
);

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        let code = error.code();
        let (hint, retry_after_ms) = match &error {
            LeaseError::Held(held) => {
                let hint = match held.is_own {
                    true => "if that session has ended, take it over with --takeover",
                    false => "take other work, or wait for it with `mk lease acquire --wait`",
                };
                (Some(hint), Some(u32::try_from(held.left.as_millis()).unwrap_or(u32::MAX)))
            }
            LeaseError::Queued { .. } => {
                (Some("wait in turn with `mk lease acquire --wait`"), None)
            }
            _ => (hint(code), None),
        };
        let hint = hint.map(str::to_owned);
        Self {
            hint,
            retry_after_ms,
            details: error.details(),
            ..Self::new(code, error.to_string())
        }
    }
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Self {
        let code = error.code();
        let hint = match &error {
            // What helps with a store does not help with a backup.
            BackupError::Missing { .. } | BackupError::Foreign(_) => None,
            BackupError::Unsound { .. } | BackupError::Damaged { .. } => {
                Some("see what is wrong with `mk --db FILE verify`")
            }
            _ => hint(code),
        };
        let hint = hint.map(str::to_owned);
        Self { hint, details: error.details(), ..Self::new(code, error.to_string()) }
    }
}

impl From<SettingError> for Failure {
    fn from(error: SettingError) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        match error {
            SettingError::Unknown { nearest: Some(nearest), .. } => {
                failure.hint(format!("did you mean {nearest}?"))
            }
            SettingError::Unknown { nearest: None, .. } => failure.hint("see `mk config --help`"),
            _ => failure,
        }
    }
}

/// The next step after a refusal with this code, where there is one for all of them.
fn hint(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NO_PROJECT => "make one with `mk init`",
        Code::STORE_MISSING => "make it with `mk init`, or name another with --db",
        Code::STORE_OLDER => "name another with --db, or move it away and run `mk init`",
        Code::STORE_NEWER => "install the mk that wrote it, or a newer one",
        Code::STORE_DAMAGED => "see what is wrong with `mk verify`",
        Code::STORE_UNSUPPORTED_FS => "keep the project on a local disk, or name one with --db",
        Code::BRANCH_NOT_FOUND => "see `mk branch`, or make it with `mk fork`",
        Code::BRANCH_EXISTS => "take another name, or work on it with `mk switch`",
        Code::EVENT_NOT_FOUND => "see `mk log`",
        Code::AMBIGUOUS_EVENT => "give more digits of the hash",
        Code::NOT_LIVE => "see `mk log`; a reverted event can still be forked with `mk fork --at`",
        Code::NOT_IN_LINEAGE => "name the branch that has the event with --from",
        Code::OTHERS_REVERTED => {
            "leave their work and use `mk retract`, or revert it too with --include-others"
        }
        Code::MERGE_CONFLICT => {
            "settle each with --ours KEY, --theirs KEY or --set KEY=VALUE; --dry-run shows them"
        }
        Code::STALE_HEAD => "read what is new with `mk log`, then try again",
        Code::FILE_EXISTS => "take another name, or replace it with --force",
        Code::EVENTS_LOST => {
            "export them first, or restore with --force, which keeps the store aside"
        }
        Code::NOT_ERASABLE => "see `mk show`",
        Code::UNKNOWN_MEMBER => {
            "the members are event_type, payload, metadata, branch_id, agent_id and fence"
        }
        Code::BAD_LINE => "export again where it came from, or mend the line",
        Code::BUSY => "try again, or wait longer with --lock-timeout",
        Code::RETRACT_UNKNOWN => "see `mk fold`",
        Code::RESERVED_TYPE => "use the command that writes them, see `mk help`",
        Code::LEASE_LOST => "do not write what it was for; take it anew with `mk lease acquire`",
        Code::NOTICE_NOT_FOUND => "see `mk notice list --cleared`",
        Code::AUTHOR_NOT_ALLOWED => "see `mk sync status`",
        Code::UNSIGNED_IMPORT_DISABLED => "see `mk sync run`",
        Code::SYNC_OFF => "join one with `mk sync enable POLICY`",
        Code::NOTICE_CONFLICT => "leave it out with `mk notice export ID…` where it came from",
        Code::SECRET_REFUSED => "take it out; see `mk config core.secrets`",
        Code::PREFIX_REQUIRED => "name one with --prefix: branch b becomes PREFIX/b",
        Code::PLAN_BLOCKED => {
            "see all of it with --dry-run, or import what is sound with --allow-corrupt"
        }
        Code::IMPORT_DIVERGED => "import the whole source again, under another --prefix",
        Code::SOURCE_CHANGED => "try again when nobody writes to it",
        Code::OP_CONFLICT => "use another op id for another request",
        _ => return None,
    })
}
