//! What a person and a script see when there is no answer.

use std::io::{self, Write};

use mk::code::{Code, Coded};
use serde_json::{Map, Value, json};

/// A command that could not, or may not, do what was asked.
#[derive(Debug)]
pub struct Failure {
    pub code: Code,
    message: String,
    hint: Option<String>,
    details: Map<String, Value>,
    closed_pipe: bool,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: Map::new(), closed_pipe: false }
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

    /// The same failure, with `place` before its message.
    pub fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Whether the reader of stdout has gone, which is no failure.
    pub fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// Whether it says that a branch or an event is not there.
    pub fn is_about_names(&self) -> bool {
        [Code::BRANCH_NOT_FOUND, Code::EVENT_NOT_FOUND, Code::AMBIGUOUS_EVENT].contains(&self.code)
    }

    /// Tells of it: in words on stderr, and as one JSON object on stdout under `--json`.
    pub fn tell(&self, as_json: bool) {
        // Refused (1, 75) is `error:`, impossible (128, 129) is `fatal:`, as in git.
        let level = if self.code.exit >= 128 { "fatal" } else { "error" };
        let mut text = format!("{level}: {}\n", self.message);
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
        // There is nobody left to tell if stderr is closed.
        let _ = io::stderr().write_all(text.as_bytes());
        if as_json {
            let mut error = json!({
                "code": self.code.name,
                "message": self.message,
                "hint": self.hint,
                "retryable": self.code.retryable,
            });
            if !self.details.is_empty() {
                error["details"] = Value::Object(self.details.clone());
            }
            let _ = writeln!(io::stdout(), "{}", json!({ "error": error }));
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::StorageFull => Code::DISK_FULL,
            _ => Code::IO,
        };
        let closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { closed_pipe, ..Self::new(code, format!("cannot write the answer: {error}")) }
    }
}

/// One message for each error of the library: its own words, its code, and what to do next.
macro_rules! failures {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let failure = Self::new(error.code(), error.to_string());
                hinted(failure, &error)
            }
        })*
    };
}

failures!(
    mk::store::StoreError,
    mk::log::LogError,
    mk::branch::BranchError,
    mk::revision::RevisionError,
    mk::operation::OperationError
);

fn hinted(failure: Failure, error: &(dyn std::error::Error + 'static)) -> Failure {
    use mk::branch::BranchError;
    let failure = match error.downcast_ref::<BranchError>() {
        Some(BranchError::OthersReverted(others)) => {
            let details = serde_json::to_value(others).expect("a report has string keys only");
            let details = details.as_object().cloned().unwrap_or_default();
            Failure { details, ..failure }
        }
        _ => failure,
    };
    let Some(hint) = hint(failure.code) else { return failure };
    failure.hint(hint)
}

/// The next step after a refusal with this code, where there is one for all of them.
fn hint(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NO_PROJECT => "make one with `mk init`",
        Code::STORE_MISSING => "make it with `mk init`, or name another with --db",
        Code::STORE_NEWER => "install the mk that wrote it, or a newer one",
        Code::STORE_DAMAGED => "see what is wrong with `mk verify`",
        Code::STORE_UNSUPPORTED_FS => "keep the project on a local disk, or name one with --db",
        Code::BRANCH_NOT_FOUND => "see `mk for-each-branch`",
        Code::EVENT_NOT_FOUND => "see `mk log`",
        Code::AMBIGUOUS_EVENT => "give more digits of the hash",
        Code::NOT_LIVE => "see `mk log`; a reverted event can still be forked with `mk fork --at`",
        Code::NOT_IN_LINEAGE => "name the branch that has the event with --from",
        Code::OTHERS_REVERTED => {
            "leave their work and use `mk retract`, or revert it too with --include-others"
        }
        Code::STALE_HEAD => "read what is new with `mk log`, then try again",
        Code::BUSY => "try again, or wait longer with --lock-timeout",
        Code::RETRACT_UNKNOWN => "see `mk fold`",
        Code::SECRET_REFUSED => "take it out; see `mk config core.secrets`",
        Code::OP_CONFLICT => "use another op id for another request",
        _ => return None,
    })
}

/// A fault in the arguments, in one line, from clap's several.
pub fn usage_failure(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut message = lines.next().unwrap_or("bad usage").trim_start_matches("error: ").to_owned();
    let mut hint = None;
    for line in lines {
        if let Some(tip) = line.strip_prefix("tip: ") {
            hint = Some(tip.to_owned());
        } else if line.starts_with("Usage:") || line.starts_with("For more") {
            hint.get_or_insert_with(|| format!("see {}", help_command(&text)));
        } else {
            message.push_str(if message.ends_with(':') { " " } else { ", " });
            message.push_str(line);
        }
    }
    let failure = Failure::usage(message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The command whose usage clap shows, with `--help`.
fn help_command(text: &str) -> String {
    let usage = text.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
    let words: Vec<&str> = usage
        .unwrap_or("mk")
        .split_whitespace()
        .take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    format!("`{} --help`", words.join(" "))
}
