//! What is done under the write lock: the rules that need the log as it is then, and the append.
//!
//! Rule: docs/spec/mkep.md, section 6, H.

use super::error::{Code, Refusal, Stop};
use super::event::{self, Line};
use super::facts::Facts;
use super::json::{Json, Members, object};
use super::ledger::Ledger;
use super::registry::Op;
use super::request::Request;
use super::response::{Done, Outcome, Response};
use super::{Change, Fence, canonical, gate, goal, handoff, lease, record};
use crate::branch;
use crate::canon::Object;
use crate::event::EventType;
use crate::id::{AgentId, BranchName, EventId, hex};
use crate::log::{Draft, Log, LogError, Outside, SecretPolicy};
use crate::secret;
use crate::store::{Branch, ReadTxn, StoreError, WriteTxn};
use crate::time::Timestamp;

/// A write transaction that requests are carried out in.
pub struct Desk<'t> {
    log: Log<'t>,
    ledger: Ledger,
    agent: AgentId,
}

/// The fields of a result that a stored record gives, and the others.
struct Settled {
    outcome: Outcome,
    stored: Members,
    /// None for an envelope that was imported under another key.
    fingerprint: Option<String>,
    is_waiver: bool,
}

impl<'t> Desk<'t> {
    /// # Errors
    /// Those of the store.
    pub fn open(txn: &'t mut dyn WriteTxn, agent: &AgentId) -> Result<Self, StoreError> {
        Ok(Self { log: Log::open(txn)?, ledger: Ledger::default(), agent: agent.clone() })
    }

    /// The transaction and what is known of it, to examine a request with.
    pub fn parts(&mut self) -> (&dyn ReadTxn, &mut Ledger) {
        (self.log.txn(), &mut self.ledger)
    }

    /// Whether an imported line is there.
    pub(super) fn has_item(&self, item: &str) -> Result<bool, StoreError> {
        self.log.txn().exec_has_item(item)
    }

    /// Appends an imported line, which `item` names, as it is.
    pub(super) fn take_over(
        &mut self,
        text: &[u8],
        line: &Line,
        item: String,
        outside: &mut Outside<'_>,
    ) -> Result<(), StoreError> {
        let at = (outside.now)();
        let (payload, metadata) = (event::payload(text, None), event::metadata(Some(&item)));
        let event = self.write(payload, metadata, at, outside)?;
        self.ledger.keep(self.log.txn_mut(), event, line, Some(item))
    }

    /// Sets a setting of the store.
    ///
    /// # Errors
    /// Those of the store.
    pub fn set_setting(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.log.txn_mut().set_setting(key, Some(value))
    }

    /// Stores what is kept of the goals. The transaction must not be committed without.
    ///
    /// # Errors
    /// Those of the store.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.ledger.store(self.log.txn_mut())
    }

    /// Carries out what a request asks for, or refuses it. A refusal has written nothing.
    ///
    /// # Errors
    /// Those of the store.
    pub fn enact(
        &mut self,
        request: &Request,
        change: Change,
        outside: &mut Outside<'_>,
    ) -> Result<Response, StoreError> {
        let settled = self.settle(request, change, outside);
        let answer = settled.map(|settled| done(request, settled));
        let (txn, ledger) = self.parts();
        super::respond(txn, ledger, request, answer)
    }

    fn settle(
        &mut self,
        request: &Request,
        change: Change,
        outside: &mut Outside<'_>,
    ) -> Result<Settled, Stop> {
        let Change { mut record, fence } = change;
        let goal_id = record.text("goal_id").unwrap_or_default().to_owned();
        let now = request.now()?;
        let txn = self.log.txn();
        let highest_seq = self.ledger.totals(txn)?.highest_seq;
        let goal = self.ledger.whole(txn, &goal_id)?;
        let facts = Facts { txn, goal_id: &goal_id, goal, now, highest_seq };
        check_fence(request, &record, &fence, &facts)?;
        if request.entry.op == Op::GateTransition {
            let gate = facts.gate(record.text("gate_id").unwrap_or_default())?;
            record.set("observed_reopened_at_seq", gate.reopened_at_seq);
        }
        let operation_id = match request.operation_id() {
            Some(operation_id) => operation_id.to_owned(),
            None => canonical::digest(&record, canonical::Arrays::Record)?,
        };
        record.set("operation_id", operation_id.as_str());
        let fingerprint = record::fingerprint(&record)?;
        if let Some(event) = txn.exec_by_operation(&operation_id)? {
            let stored = event::record(txn, event)?.unwrap_or_default();
            return replayed(&mut record, stored);
        }
        super::check_state(txn, &mut self.ledger, request)?;
        let txn = self.log.txn();
        let highest_seq = self.ledger.totals(txn)?.highest_seq;
        let goal = self.ledger.whole(txn, &goal_id)?;
        let facts = Facts { txn, goal_id: &goal_id, goal, now, highest_seq };
        check_declared(request.entry.op, &record, &facts)?;
        if request.entry.op == Op::HandoffImport
            && let Some(stored) = handoff::imported_before(&record, &facts)?
        {
            let outcome = Outcome::AlreadyApplied;
            return Ok(Settled { outcome, stored, fingerprint: None, is_waiver: false });
        }
        let is_waiver = add_fields(request, &mut record, &facts)?;
        if self.log.rules().secrets == SecretPolicy::Refuse {
            refuse_secrets(&record, "")?;
            request.binding().map_or(Ok(()), |it| refuse_secrets(it, "binding."))?;
        }
        let stored = self.append(&goal_id, record, request.binding(), outside)?;
        Ok(Settled { outcome: Outcome::Applied, stored, fingerprint: Some(fingerprint), is_waiver })
    }

    fn append(
        &mut self,
        goal_id: &str,
        mut record: Members,
        binding: Option<&Members>,
        outside: &mut Outside<'_>,
    ) -> Result<Members, StoreError> {
        let highest = self.ledger.totals(self.log.txn())?.highest_seq;
        // What was kept of the goal is looked up before the record is there.
        self.ledger.whole(self.log.txn(), goal_id)?;
        let at = self.stamp((outside.now)())?;
        record.set("event_seq", highest + 1);
        record.set("id", hex(&(outside.salt)()));
        record.set("created_at", created_at(at));
        let payload = event::payload(record.line().as_bytes(), binding);
        let event = self.write(payload, event::metadata(None), at, outside)?;
        let line = Line::Record(record);
        self.ledger.keep(self.log.txn_mut(), event, &line, None)?;
        match line {
            Line::Record(record) => Ok(record),
            Line::Damage => Ok(Members::new()),
        }
    }

    /// When a line would be stamped that is appended now.
    fn stamp(&mut self, now: Timestamp) -> Result<Timestamp, StoreError> {
        let branch = self.branch(now)?;
        self.log.stamp(&branch, now)
    }

    /// Appends a line as it is.
    fn write(
        &mut self,
        payload: Object,
        metadata: Object,
        at: Timestamp,
        outside: &mut Outside<'_>,
    ) -> Result<EventId, StoreError> {
        let branch = self.branch(at)?;
        let draft =
            Draft { kind: EventType::ExecRecord, agent: self.agent.clone(), payload, metadata };
        match self.log.write_exact(&branch, draft, (outside.salt)(), at) {
            Ok(appended) => Ok(appended.event_id),
            Err(LogError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::damaged(format!("a record was refused: {error}"))),
        }
    }

    /// The branch of the log, made if it is the first time.
    fn branch(&mut self, now: Timestamp) -> Result<Branch, StoreError> {
        let name = BranchName::stored(BranchName::EXEC);
        branch::own(self.log.txn_mut(), name.clone(), now, &self.agent)?;
        self.log.branch(&name).map_err(|error| match error {
            LogError::Store(error) => error,
            error => StoreError::damaged(error.to_string()),
        })
    }
}

/// The stamp of a record, as the reference writes it.
fn created_at(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{}+00:00", &text[..19])
}

fn check_fence(
    request: &Request,
    record: &Members,
    fence: &Fence,
    facts: &Facts<'_>,
) -> Result<(), Stop> {
    let scope = match fence {
        Fence::Open => return Ok(()),
        Fence::Scope(scope) => Some(scope.as_str()),
        Fence::Gate => {
            let gate = facts.goal.gates.get(record.text("gate_id").unwrap_or_default());
            gate.and_then(|gate| gate.scope_key.as_str())
        }
    };
    match scope {
        // A gate that was never declared guards nothing; a later check says so.
        None => Ok(()),
        Some(scope) => lease::check_fence(scope, super::fence_token(request)?, facts),
    }
}

/// Answers a request whose key a stored record has.
fn replayed(record: &mut Members, stored: Members) -> Result<Settled, Stop> {
    // A retry is held against the watermark that the first attempt saw.
    if record.contains("observed_reopened_at_seq")
        && let Some(seen) = stored.get("observed_reopened_at_seq")
    {
        record.set("observed_reopened_at_seq", seen.clone());
    }
    let (before, now) = (record::fingerprint(&stored)?, record::fingerprint(record)?);
    if before == now {
        let outcome = Outcome::AlreadyApplied;
        return Ok(Settled { outcome, stored, fingerprint: Some(now), is_waiver: false });
    }
    let mut keys = record::differing_keys(&stored, record);
    keys.retain(|key| key != "observed_reopened_at_seq");
    let details = [
        ("stored_fingerprint", before.into()),
        ("request_fingerprint", now.into()),
        ("differing_keys", keys.into()),
    ];
    let message = "the operation id was used before for something else";
    Err(Refusal::new(Code::IdempotencyMismatch, message, details).into())
}

/// What must be there, then what must not.
fn check_declared(op: Op, record: &Members, facts: &Facts<'_>) -> Result<(), Refusal> {
    let again = |record_type: &'static str| {
        let details = [("record_type", record_type.into())];
        let message = format!("there is a {record_type} for it");
        Err(Refusal::new(Code::AlreadyDeclared, message, details))
    };
    let gate_id = record.text("gate_id").unwrap_or_default();
    let has_goal = facts.goal.status.is_some();
    match op {
        Op::GoalDeclare if has_goal => again("goal_declared"),
        Op::GoalDeclare => Ok(()),
        Op::GateTransition | Op::ReceiptRecord => facts.gate(gate_id).map(|_| ()),
        _ if !has_goal => Err(handoff::not_declared("goal_declared")),
        Op::GateDeclare if facts.goal.gates.contains_key(gate_id) => again("gate_declared"),
        _ => Ok(()),
    }
}

/// The operation's own rules, and the members that are added under the lock; answers whether a gate is
/// waived.
fn add_fields(request: &Request, record: &mut Members, facts: &Facts<'_>) -> Result<bool, Stop> {
    match request.entry.op {
        Op::GoalTransition => goal::may_change(record, facts)?,
        Op::GateDeclare => gate::may_declare(facts)?,
        Op::GateTransition => return gate::may_change(record, facts),
        Op::ReceiptRecord => {
            record.set("observed_seq", facts.highest_seq);
        }
        Op::LeaseAcquire => {
            let expected = request.given("expected_fence").and_then(Json::as_i64);
            for (name, value) in lease::grant(record, expected, facts)?.iter() {
                record.set(name.shown().to_owned(), value.clone());
            }
        }
        Op::LeaseRelease => lease::may_release(record, facts)?,
        Op::HandoffDeclare | Op::HandoffImport => handoff::may_declare(facts)?,
        Op::HandoffTransition => handoff::may_change(record, facts)?,
        Op::GoalDeclare | Op::AssessRecord => {}
        Op::AssessRun | Op::StateRead | Op::HandoffExport | Op::Describe => {}
    }
    Ok(false)
}

/// Refuses a record with what looks like a secret. Nothing is ever taken out of one: the digests of
/// the protocol cover what was sent.
fn refuse_secrets(record: &Members, path: &str) -> Result<(), Refusal> {
    for (key, value) in record.iter() {
        let path = format!("{path}{}", key.shown());
        match value {
            Json::Object(members) => refuse_secrets(members, &format!("{path}."))?,
            value if !secret::find(&value.to_string()).is_empty() => {
                return Err(Refusal::at(Code::Pattern, &path, "holds what looks like a secret"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Rule: docs/spec/mkep.md, section 10.
fn done(request: &Request, settled: Settled) -> Done {
    let Settled { outcome, stored, fingerprint, is_waiver } = settled;
    let member = |key: &str| stored.get(key).cloned().unwrap_or(Json::Null);
    let mut result = object([
        ("record_id", member("id")),
        ("event_seq", member("event_seq")),
        ("operation_id", member("operation_id")),
        ("record_fingerprint", fingerprint.into()),
    ]);
    let arg = |key: &str| request.arg(key).cloned().unwrap_or(Json::Null);
    let mut warnings = Vec::new();
    match request.entry.op {
        Op::GoalTransition => result.set("goal_status", arg("to_status")),
        Op::GateTransition => {
            result.set("gate_status", arg("to_status"));
            if is_waiver {
                warnings.push("W_WAIVER_UNVERIFIED");
            }
        }
        Op::ReceiptRecord => {
            result.set("receipt_id", member("id"));
            if request.given("provenance_id").is_none() {
                warnings.push("W_RECEIPT_UNPROVENANCED");
            }
        }
        Op::LeaseAcquire | Op::LeaseRelease => {
            result.set("scope_key", request.target_text("scope_key"));
            let is_release = stored.text("record_type") == Some("lease_release");
            result.set("lease_id", member(if is_release { "lease_id" } else { "id" }));
            for name in ["fence_token", "expires_at", "supersedes_lease_id", "supersede_reason"] {
                result.set(name, member(name));
            }
        }
        Op::HandoffDeclare | Op::HandoffImport => {
            result.set("handoff_id", member("id"));
            result.set("payload_digest", member("payload_digest"));
            if request.entry.op == Op::HandoffImport {
                result.set("imported_from", member("imported_from"));
            }
        }
        Op::HandoffTransition => {
            result.set("handoff_id", request.target_text("handoff_id"));
            result.set("handoff_status", arg("to_state"));
        }
        Op::GoalDeclare | Op::GateDeclare | Op::AssessRecord => {}
        Op::AssessRun | Op::StateRead | Op::HandoffExport | Op::Describe => {}
    }
    Done { outcome, result, warnings }
}
