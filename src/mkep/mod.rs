//! The execution kernel: MKEP/0, a closed set of fifteen operations over one log of a project.
//!
//! It records what a team has settled about a piece of work: goals, the gates that must be settled
//! first, evidence, leases, handoffs. It never schedules, authorises or runs anything.
//!
//! Rule: docs/spec/mkep.md, whose known faults of the reference (section 27) are done right here.

pub mod assess;
pub mod canonical;
pub mod check;
pub mod describe;
pub mod error;
pub mod event;
mod facts;
pub mod fold;
pub mod gate;
pub mod goal;
pub mod handoff;
pub mod json;
pub mod kept;
pub mod lease;
pub mod leases;
pub mod ledger;
pub mod lint;
pub mod moment;
mod query;
pub mod record;
pub mod registry;
pub mod request;
pub mod response;
pub mod section;
#[cfg(test)]
mod tests;
pub mod transfer;
pub mod transition;
mod under_lock;

use error::{Code, Refusal, Stop};
use json::{Json, Members};
use ledger::Ledger;
use lint::Surroundings;
use registry::{Entity, Kind, Op};
use request::Request;
use response::{Done, Response, State};

use crate::id::AgentId;
use crate::log::Outside;
use crate::store::{Engine, ReadTxn, StoreError};

pub use under_lock::Desk;

/// A record that a request asks for, before the lock.
#[derive(Debug)]
pub struct Change {
    record: Members,
    /// The scope whose lease guards it.
    fence: Fence,
}

#[derive(Debug)]
enum Fence {
    Open,
    Scope(String),
    /// The scope that the gate was declared with.
    Gate,
}

/// What a request came to without the lock.
#[derive(Debug)]
pub enum Examined {
    Answered(Response),
    /// It goes on under the lock.
    Wanted(Change),
}

/// An answer, with the fault of the store that led to it if there was one.
pub type Called = (Response, Option<StoreError>);

/// Carries out a request on `store`, in one transaction if it writes.
pub fn call(
    store: &mut impl Engine,
    request: &Request,
    around: &Surroundings,
    agent: &AgentId,
    outside: &mut Outside<'_>,
) -> Called {
    let examined = store.read(|txn| examine(txn, &mut Ledger::default(), request, around));
    let change = match examined {
        Ok(Examined::Answered(response)) => return (response, None),
        Ok(Examined::Wanted(change)) => change,
        Err(error) => return failed(request, None, error),
    };
    let enacted = store.write(|txn| {
        let mut desk = Desk::open(txn, agent)?;
        let response = desk.enact(request, change, outside)?;
        desk.close()?;
        Ok::<_, StoreError>(response)
    });
    match enacted {
        Ok(response) => (response, None),
        Err(error) => {
            let state = store.read(|txn| state_after(txn, &mut Ledger::default(), request));
            failed(request, state.ok().flatten(), error)
        }
    }
}

/// The answer, with what the goal is now, to a request that the store could not carry out.
///
/// # Errors
/// Those of the store, if it cannot be read either.
pub fn refused(
    txn: &dyn ReadTxn,
    ledger: &mut Ledger,
    request: &Request,
    error: &StoreError,
) -> Result<Response, StoreError> {
    let state = state_after(txn, ledger, request)?;
    Ok(Response::new(&request.echo, Err(unborne(error)), state))
}

/// The answer to a request that the store could not bear.
fn failed(request: &Request, state: Option<State>, error: StoreError) -> Called {
    (Response::new(&request.echo, Err(unborne(&error)), state), Some(error))
}

/// The answer where the store could not be opened; busy if others kept it from that.
#[must_use]
pub fn unusable(request: &Request, is_busy: bool) -> Response {
    Response::new(&request.echo, Err(unusable_store(is_busy)), None)
}

fn unborne(error: &StoreError) -> Refusal {
    unusable_store(matches!(error, StoreError::Busy { .. }))
}

fn unusable_store(is_busy: bool) -> Refusal {
    let (code, message) = match is_busy {
        true => (Code::StoreBusy, "others keep the store to themselves"),
        false => (Code::StoreIo, "the store could not be read or written"),
    };
    Refusal::new(code, message, [])
}

/// Does all of a request that needs no lock: the whole of a query, the checks of any other.
///
/// # Errors
/// Those of the store.
///
/// Rule: docs/spec/mkep.md, section 6, C to F.
pub fn examine(
    txn: &dyn ReadTxn,
    ledger: &mut Ledger,
    request: &Request,
    around: &Surroundings,
) -> Result<Examined, StoreError> {
    let response = match request.entry.kind {
        Kind::Query => ask(txn, ledger, request, around)?,
        Kind::Apply => match wanted(txn, ledger, request) {
            Ok(change) => return Ok(Examined::Wanted(change)),
            Err(stop) => respond(txn, ledger, request, Err(stop))?,
        },
    };
    Ok(Examined::Answered(response))
}

/// Answers a query. A request that would write is answered [`Code::Internal`].
///
/// # Errors
/// Those of the store.
pub fn ask(
    txn: &dyn ReadTxn,
    ledger: &mut Ledger,
    request: &Request,
    around: &Surroundings,
) -> Result<Response, StoreError> {
    let answer = query::answer(txn, ledger, request, around);
    respond(txn, ledger, request, answer)
}

/// Puts the answer together, with what the goal is now.
fn respond(
    txn: &dyn ReadTxn,
    ledger: &mut Ledger,
    request: &Request,
    answer: Result<Done, Stop>,
) -> Result<Response, StoreError> {
    let answer = match answer {
        Ok(done) => Ok(done),
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Store(error)) => return Err(error),
    };
    let state = state_after(txn, ledger, request)?;
    Ok(Response::new(&request.echo, answer, state))
}

fn state_after(
    txn: &dyn ReadTxn,
    ledger: &mut Ledger,
    request: &Request,
) -> Result<Option<State>, StoreError> {
    let goal = request.target("goal_id").and_then(Json::as_str);
    match (goal, request.now()) {
        (Some(goal), Ok(_)) => ledger.state(txn, goal).map(Some),
        _ => Ok(None),
    }
}

fn wanted(txn: &dyn ReadTxn, ledger: &mut Ledger, request: &Request) -> Result<Change, Stop> {
    check_precondition(request)?;
    let is_retry = match request.operation_id() {
        Some(operation_id) => txn.exec_by_operation(operation_id)?.is_some(),
        None => false,
    };
    if !is_retry {
        check_state(txn, ledger, request)?;
    }
    let record = drafted(request)?;
    if request.entry.is_fenced {
        fence_token(request)?;
    }
    let fence = match request.entry.op {
        Op::GoalTransition => Fence::Scope(goal::SCOPE.to_owned()),
        Op::GateDeclare => Fence::Scope(record.text("scope_key").unwrap_or_default().to_owned()),
        Op::GateTransition | Op::ReceiptRecord => Fence::Gate,
        Op::HandoffDeclare | Op::HandoffImport => Fence::Scope(handoff::SCOPE.to_owned()),
        Op::HandoffTransition => {
            let id = record.text("handoff_id").unwrap_or_default();
            Fence::Scope(format!("{}:{id}", handoff::SCOPE))
        }
        _ => Fence::Open,
    };
    Ok(Change { record, fence })
}

fn drafted(request: &Request) -> Result<Members, Refusal> {
    match request.entry.op {
        Op::GoalDeclare => goal::declare(request),
        Op::GoalTransition => goal::transition(request),
        Op::GateDeclare => gate::declare(request),
        Op::GateTransition => gate::transition(request),
        Op::ReceiptRecord => gate::receipt(request),
        Op::LeaseAcquire => lease::acquire(request),
        Op::LeaseRelease => lease::release(request),
        Op::HandoffDeclare => handoff::declare(request),
        Op::HandoffTransition => handoff::transition(request),
        Op::HandoffImport => handoff::import(request),
        Op::AssessRecord => assess::record(request),
        Op::AssessRun | Op::StateRead | Op::HandoffExport | Op::Describe => {
            Err(Refusal::new(Code::Internal, "a query writes nothing", []))
        }
    }
}

/// Rule: docs/spec/mkep.md, section 8, list 1.
fn check_precondition(request: &Request) -> Result<(), Refusal> {
    let given = |key: &str| request.precondition(key).filter(|value| !value.is_null());
    if given("operation_id").is_some_and(|id| !id.as_str().is_some_and(check::is_digest)) {
        let path = "precondition.operation_id";
        return Err(Refusal::at(Code::Pattern, path, "is not 64 hex digits"));
    }
    if request.precondition("expect_state").is_some() && request.entry.state_of.is_none() {
        let path = "precondition.expect_state";
        return Err(Refusal::at(Code::UnknownField, path, "is for what has a state"));
    }
    if request.precondition("fence_token").is_some() && !request.entry.is_fenced {
        let path = "precondition.fence_token";
        return Err(Refusal::at(Code::UnknownField, path, "is for what a lease guards"));
    }
    if given("expect_execution_seq").is_some_and(|number| !number.is_int()) {
        let path = "precondition.expect_execution_seq";
        return Err(Refusal::at(Code::Type, path, "is not an integer"));
    }
    Ok(())
}

/// Rule: docs/spec/mkep.md, section 8, list 2.
fn check_state(txn: &dyn ReadTxn, ledger: &mut Ledger, request: &Request) -> Result<(), Stop> {
    let Some(state) = state_after(txn, ledger, request)? else { return Ok(()) };
    let skipped = ledger.totals(txn)?.damaged;
    let goal = ledger.seen(txn, request.target_text("goal_id"))?;
    if !state.is_consistent {
        let details =
            [("rejected_transitions", goal.rejected.len().into()), ("skipped", skipped.into())];
        let message = "the records of the goal contradict each other";
        return Err(Refusal::new(Code::ProjectionInconsistent, message, details).into());
    }
    if let Some(expected) = request.precondition("expect_state") {
        let actual = request.entry.state_of.and_then(|entity| match entity {
            Entity::Goal => goal.status,
            Entity::Gate => goal.status_of(entity, request.target_text("gate_id")),
            Entity::Handoff => goal.status_of(entity, request.target_text("handoff_id")),
        });
        let actual = Json::from(actual);
        if *expected != actual {
            let details = [("actual", actual), ("expected", expected.clone())];
            let message = "the state is not the one expected";
            return Err(Refusal::new(Code::PreconditionState, message, details).into());
        }
    }
    let expected = request.precondition("expect_execution_seq").filter(|seq| !seq.is_null());
    match expected {
        Some(expected) if expected.as_i64() != Some(state.execution_seq) => {
            let details = [("actual", state.execution_seq.into()), ("expected", expected.clone())];
            let message = "the goal has moved on";
            Err(Refusal::new(Code::PreconditionSeq, message, details).into())
        }
        _ => Ok(()),
    }
}

/// The fence token that the request presents.
fn fence_token(request: &Request) -> Result<Option<i64>, Refusal> {
    match request.precondition("fence_token") {
        None | Some(Json::Null) => Ok(None),
        Some(token) => check::integer("fence_token", token, 1, canonical::SAFE_MAX).map(Some),
    }
}
