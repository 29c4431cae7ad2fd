//! The one shape of every answer.
//!
//! Rule: docs/spec/mkep.md, section 20.

use super::canonical::{self, Arrays};
use super::error::Refusal;
use super::json::{Json, Members, object};

/// What a response repeats of its request.
#[derive(Debug, Clone, Default)]
pub struct Echo {
    pub request_id: Option<String>,
    pub op: Option<String>,
    /// The digest of the whole request; none if it has no canonical form.
    pub digest: Option<String>,
}

/// What a goal is after a request.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub execution_seq: i64,
    pub projection_digest: Option<String>,
    pub is_consistent: bool,
}

/// What came of a request that was carried out.
#[derive(Debug, Clone)]
pub struct Done {
    pub outcome: Outcome,
    pub result: Members,
    pub warnings: Vec<&'static str>,
}

/// How a request was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Applied,
    /// A record of the same operation was there.
    AlreadyApplied,
    Read,
}

impl Outcome {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::AlreadyApplied => "already_applied",
            Self::Read => "read",
        }
    }
}

impl Done {
    #[must_use]
    pub fn read(result: Members) -> Self {
        Self { outcome: Outcome::Read, result, warnings: Vec::new() }
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    pub members: Members,
    /// 0, or that of the class of the error.
    pub exit_status: u8,
}

impl Response {
    /// Puts an answer together.
    #[must_use]
    pub fn new(echo: &Echo, answer: Result<Done, Refusal>, state: Option<State>) -> Self {
        let mut members = object([
            ("mkep", "0".into()),
            ("request_id", echo.request_id.clone().into()),
            ("op", echo.op.clone().into()),
            ("ok", answer.is_ok().into()),
        ]);
        let exit_status = match answer {
            Ok(done) => {
                members.set("outcome", done.outcome.as_str());
                members.set("result", done.result);
                members.set("warnings", done.warnings);
                0
            }
            Err(refusal) => {
                members.set("error", refusal.report());
                refusal.code.class().exit_status()
            }
        };
        let state = state.map(|state| {
            object([
                ("execution_seq", state.execution_seq.into()),
                ("projection_digest", state.projection_digest.into()),
                ("consistent", state.is_consistent.into()),
            ])
        });
        members.set("state", state);
        members.set("request_digest", echo.digest.clone());
        let digest = canonical::digest(&members, Arrays::Message).ok();
        members.set("response_digest", Json::from(digest));
        Self { members, exit_status }
    }

    /// Whether it says that something was written.
    #[must_use]
    pub fn is_applied(&self) -> bool {
        self.members.text("outcome") == Some(Outcome::Applied.as_str())
    }

    /// The line of the answer, without its end.
    #[must_use]
    pub fn line(&self) -> String {
        self.members.sorted_line()
    }
}
