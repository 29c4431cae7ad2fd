//! Answers that are given again.
//!
//! What the memory says becomes another thing when somebody writes, and when the time of a lease or of a
//! notice runs out. While no lease is in force and no notice open, what was answered holds until the next
//! commit, and whoever asks the same is spared the fold. There is no news either: it was told with the
//! answer, which is not kept then.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mk::id::{AgentId, BranchName};
use mk::notice;
use mk::store::sqlite::Version;
use mk::store::{Leases, ReadTxn};
use mk::time::Timestamp;

use super::body::Body;
use super::given::Given;
use super::server::Order;
use crate::cli::{Context, Failure, Session};

/// The tools whose answers are kept: what they say comes from the store alone, and takes a fold.
const TOOLS: &[&str] = &["mk_context", "memkernel_query_state"];

/// Most answers that are kept, each of at most the tokens that an answer may have.
const MOST: usize = 8;

/// All that an answer depends on beside what the store holds.
#[derive(PartialEq)]
pub struct Question {
    tool: &'static str,
    given: Given,
    /// Who asks: as the connection says, as the client calls itself, and in which session.
    agent: Option<AgentId>,
    client: Option<String>,
    session: Session,
    branch: Option<BranchName>,
}

/// A question at a moment: what the store held, and what time it was for leases.
pub struct Asked {
    question: Question,
    version: Version,
    at: Timestamp,
}

impl Asked {
    /// None if answers to it are not kept.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of(order: &Order, session: Session, ctx: &Context) -> Result<Option<Self>, Failure> {
        let (Some(tool), Ok(given)) =
            (TOOLS.iter().find(|name| **name == order.name()), &order.given)
        else {
            return Ok(None);
        };
        let question = Question {
            tool,
            given: given.clone(),
            agent: order.call.agent.clone(),
            client: order.call.client.as_ref().map(|client| client.name.clone()),
            session,
            branch: ctx.global.branch.clone(),
        };
        Ok(Some(Self { question, version: ctx.version()?, at: ctx.lease_now() }))
    }
}

#[derive(Default)]
pub struct Answers(Mutex<VecDeque<(Asked, Body)>>);

impl Answers {
    fn kept(&self) -> MutexGuard<'_, VecDeque<(Asked, Body)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was answered to the same when the store held the same.
    pub fn find(&self, asked: &Asked) -> Option<Body> {
        let kept = self.kept();
        let (_, answer) = kept.iter().find(|(then, _)| {
            // A lease that had run out is in force again where the clock was set back.
            then.version == asked.version && then.at <= asked.at && then.question == asked.question
        })?;
        Some(answer.clone())
    }

    /// Keeps `answer`, if it is known not to change with time.
    pub fn keep(&self, asked: Asked, answer: &Body, ctx: &Context) {
        if !matches!(ctx.read(|txn| is_at_rest(txn, asked.at)), Ok(true)) {
            return;
        }
        let mut kept = self.kept();
        kept.retain(|(then, _)| then.question != asked.question);
        kept.truncate(MOST - 1);
        kept.push_front((asked, answer.clone()));
    }
}

/// Whether what `txn` holds says the same at any time from `now` on.
fn is_at_rest(txn: &dyn ReadTxn, now: Timestamp) -> Result<bool, Failure> {
    let is_held = || txn.leases(Leases::Active(now), "", None, 1).map(|held| !held.is_empty());
    let is_told = || notice::newest(txn, None, 1, now).map(|(_, open)| open > 0);
    // What others say over an exchange goes by a policy, which is a file.
    Ok(txn.binding()?.is_none() && !is_held()? && !is_told()?)
}
