//! Histories drawn at random, and how they are played on a store.

use mk::branch::{self, Act, BranchError};
use mk::canon::{Object, Value};
use mk::code::Coded;
use mk::event::{EventType, Retractable};
use mk::id::{AgentId, BranchName, EventId};
use mk::log::{Draft, Log, Outside};
use mk::revision::Revision;
use mk::store::{Branch, Engine, ReadTxn, StoreError};
use mk::time::Timestamp;
use mk::workspace::{self, snapshot};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::Serialize;

use crate::engines::Salts;

pub const AGENTS: [&str; 4] = ["ann", "bob", "cyd", "dan"];

/// A branch that no step touches, for what must not depend on the rest of the store.
pub const APART: &str = "apart";

/// Transactions, and what is done in each.
#[derive(Debug, Clone)]
pub struct History(Vec<Vec<Step>>);

/// Something that an agent does on a branch.
#[derive(Debug, Clone)]
struct Step {
    /// The newest if none.
    branch: Option<Index>,
    agent: &'static str,
    /// Seconds since the step before; a clock may be set back.
    clock: i64,
    deed: Deed,
}

#[derive(Debug, Clone)]
enum Deed {
    Append { kind: EventType, payload: Object },
    Snapshot { covers: Index, insights: Vec<String> },
    Fork { at: Option<Index>, long_name: bool },
    RollBack { target: Index, include_others: bool },
    Undo { count: u64 },
    Retract { what: Retractable, key: String },
}

/// Up to some hundred events on several branches.
pub fn any_history() -> impl Strategy<Value = History> {
    vec(any_transaction(), 1..50).prop_map(History)
}

/// More than 256 events on `main` in one transaction, sometimes more than 512, a few of them
/// rollbacks, before anything else happens. There are checkpoints then.
pub fn any_long_history() -> impl Strategy<Value = History> {
    let deed = || prop_oneof![60 => append(40, 4_000..8_000), 1 => any_certain_rollback()];
    let begin = prop_oneof![3 => vec(step(deed()), 260..300), 1 => vec(step(deed()), 520..560)];
    (begin, vec(any_transaction(), 10..40))
        .prop_map(|(begin, rest)| History([begin].into_iter().chain(rest).collect()))
}

fn any_certain_rollback() -> impl Strategy<Value = Deed> {
    any::<Index>().prop_map(|target| Deed::RollBack { target, include_others: true })
}

fn any_transaction() -> impl Strategy<Value = Vec<Step>> {
    let certain = || {
        prop_oneof![
            8 => append(4, 0..60),
            1 => append(40, 300..500),
            1 => (any::<Index>(), vec("[a-z ]{1,20}", 0..3))
                .prop_map(|(covers, insights)| Deed::Snapshot { covers, insights }),
            2 => (any::<Option<Index>>(), prop::bool::weighted(0.1))
                .prop_map(|(at, long_name)| Deed::Fork { at, long_name }),
            2 => any_certain_rollback(),
        ]
    };
    let refusable = prop_oneof![
        any::<Index>().prop_map(|target| Deed::RollBack { target, include_others: false }),
        (0..4_u64).prop_map(|count| Deed::Undo { count }),
        (any_retractable(), any_key(4)).prop_map(|(what, key)| Deed::Retract { what, key }),
    ];
    prop_oneof![
        3 => vec(step(certain()), 1..6),
        2 => vec(step(refusable), 1),
    ]
}

fn step(deed: impl Strategy<Value = Deed>) -> impl Strategy<Value = Step> {
    (any::<Option<Index>>(), select(&AGENTS[..]), -2..4_i64, deed)
        .prop_map(|(branch, agent, clock, deed)| Step { branch, agent, clock, deed })
}

fn any_retractable() -> impl Strategy<Value = Retractable> {
    select(vec![Retractable::Decision, Retractable::Fact, Retractable::Task])
}

fn any_key(keys: usize) -> impl Strategy<Value = String> {
    prop_oneof![9 => (0..keys).prop_map(|key| format!("k{key}")), 1 => select(&AGENTS[..]).prop_map(Into::into)]
}

/// An event of any open type but a snapshot, with keys out of a few and notes of a given length.
fn append(keys: usize, note: std::ops::Range<usize>) -> impl Strategy<Value = Deed> {
    fn of<const N: usize>(kind: EventType, members: [(&str, Value); N]) -> Deed {
        Deed::Append { kind, payload: members.into_iter().collect() }
    }
    let key = move || any_key(keys).prop_map(Value::from);
    let text = || "[a-c=: é\n\u{1f642}]{0,12}".prop_map(Value::from);
    let token = || (1..4_i64).prop_map(Value::from);
    prop_oneof![
        1 => (text(), vec(text(), 0..3)).prop_map(|(directive, constraints)| of(
            EventType::Task,
            [("directive", directive), ("constraints", constraints.into())],
        )),
        3 => (key(), text(), text()).prop_map(|(key, value, why)| of(
            EventType::Decision,
            [("decision_key", key), ("decision_value", value), ("rationale", why)],
        )),
        3 => (key(), 0..3_i64, text(), key(), any_value()).prop_map(|(command, code, output, fact, value)| {
            let facts = Object::from_iter([(fact.text(), value)].map(|(key, value)| (key.to_string(), value)));
            of(EventType::ToolLog, [
                ("command", command),
                ("exit_code", code.into()),
                ("output", output),
                ("facts", facts.into()),
            ])
        }),
        3 => note.prop_flat_map(|length| vec("[a-z]{1,9} ", length / 6)).prop_map(|words| of(
            EventType::Note,
            [("note", words.concat().into())],
        )),
        1 => (key(), token()).prop_map(|(resource, token)| of(
            EventType::ClaimAcquired,
            [("resource", resource), ("fencing_token", token)],
        )),
        1 => (key(), token()).prop_map(|(resource, token)| of(
            EventType::ClaimReleased,
            [("resource", resource), ("fencing_token", token)],
        )),
        1 => (select(OPEN), any_value()).prop_map(|(kind, odd)| of(
            kind,
            [("decision_key", odd.clone()), ("command", odd.clone()), ("facts", odd.clone()), ("note", odd)],
        )),
    ]
}

const OPEN: &[EventType] = &[
    EventType::Task,
    EventType::Decision,
    EventType::ToolLog,
    EventType::Note,
    EventType::ClaimAcquired,
    EventType::ClaimReleased,
];

fn any_value() -> impl Strategy<Value = Value> {
    let texts = [
        "null",
        "true",
        "3",
        "3.0",
        "-0.5",
        r#""3""#,
        r#"["a",1]"#,
        r#"{"k":[]}"#,
        "12345678901234567890",
    ];
    select(texts.to_vec()).prop_map(|text| Value::parse(text.as_bytes()).unwrap())
}

/// When every history begins.
pub fn beginning() -> Timestamp {
    "2026-03-02T09:00:00Z".parse().unwrap()
}

/// Carries out `history` on a store and tells what each transaction was answered: its reports, or the
/// refusal that undid it.
pub fn play<E: Engine>(store: &mut E, history: &History) -> Vec<String> {
    let (mut now, mut salts) = (beginning(), Salts::default());
    let mut answers = Vec::new();
    for transaction in &history.0 {
        let answer = store.write(|txn| {
            let mut log = Log::open(txn)?;
            let mut reports = String::new();
            for step in transaction {
                now = Timestamp::from_micros(now.micros() + step.clock * 1_000_000);
                let mut outside = Outside { now: &mut || now, salt: &mut || salts.next() };
                reports.push_str(&step.carry_out(&mut log, &mut outside)?);
            }
            Ok(reports)
        });
        let refusal = |error: BranchError| format!("{}: {error}", error.code().name);
        answers.push(answer.unwrap_or_else(refusal));
    }
    answers
}

impl Step {
    fn carry_out(
        &self,
        log: &mut Log<'_>,
        outside: &mut Outside<'_>,
    ) -> Result<String, BranchError> {
        let agent: AgentId = self.agent.parse().expect("agents have names");
        let branches = branches(log.txn())?;
        let branch = match self.branch {
            Some(index) => index.get(&branches),
            None => branches.last().expect("there is main"),
        };
        let act = Act { agent: &agent, reason: "", metadata: Object::new() };
        match &self.deed {
            Deed::Append { kind, payload } => {
                let (payload, metadata) = (payload.clone(), Object::new());
                let draft = Draft { kind: *kind, agent: agent.clone(), payload, metadata };
                Ok(told(&log.append(&branch.name, draft, None, outside)?))
            }
            Deed::Snapshot { covers, insights } => {
                let live = branch::live(log.txn(), branch.head, 0)?;
                let Some(covers) = pick(covers, &live) else { return Ok(String::new()) };
                let payload = snapshot_of(log.txn(), covers, insights)?;
                let (kind, metadata) = (EventType::Snapshot, Object::new());
                let draft = Draft { kind, agent: agent.clone(), payload, metadata };
                Ok(told(&log.append(&branch.name, draft, None, outside)?))
            }
            Deed::Fork { at, long_name } => {
                let lineage = branch::lineage(log.txn(), branch.head, 0)?;
                let at = at.and_then(|index| pick(&index, &lineage));
                let at = at.map(|id| named(log.txn(), id)).transpose()?;
                let mut name = format!("b{}", branches.len());
                if *long_name {
                    name.push_str(&".x".repeat(60));
                }
                let name: BranchName = name.parse().expect("it is a name");
                Ok(told(&branch::fork(log, &name, &branch.name, at.as_ref(), act, outside)?))
            }
            Deed::RollBack { target, include_others } => {
                let live = branch::live(log.txn(), branch.head, 0)?;
                let Some(target) = pick(target, &live) else { return Ok(String::new()) };
                let target = named(log.txn(), target)?;
                let done =
                    branch::rollback(log, &branch.name, &target, *include_others, act, outside);
                Ok(told(&done?))
            }
            Deed::Undo { count } => {
                Ok(told(&branch::undo(log, &branch.name, *count, act, outside)?))
            }
            Deed::Retract { what, key } => {
                Ok(told(&branch::retract(log, &branch.name, *what, key, act, outside)?))
            }
        }
    }
}

fn pick(index: &Index, events: &[EventId]) -> Option<EventId> {
    (!events.is_empty()).then(|| *index.get(events))
}

fn named(txn: &dyn ReadTxn, id: EventId) -> Result<Revision, StoreError> {
    Ok(txn.known_event(id)?.hash.to_string().parse().expect("a hash is a revision"))
}

fn told(report: &impl Serialize) -> String {
    serde_json::to_string(report).expect("a report has string keys only")
}

/// The branches that steps may touch, oldest first.
pub fn branches(txn: &dyn ReadTxn) -> Result<Vec<Branch>, StoreError> {
    let mut branches = txn.branches()?;
    branches.retain(|branch| branch.name.as_str() != APART);
    branches.sort_by_key(|branch| branch.id);
    Ok(branches)
}

/// A valid snapshot of what is live at `covers`.
fn snapshot_of(
    txn: &dyn ReadTxn,
    covers: EventId,
    insights: &[String],
) -> Result<Object, StoreError> {
    let event = txn.known_event(covers)?;
    let state = workspace::state_from_events(txn, Some(covers))?.canonical();
    let mut payload = state.as_object().cloned().unwrap_or_default();
    payload.insert("schema", snapshot::SCHEMA);
    payload.insert("covers_through_hash", event.hash.to_string());
    payload.insert("covers_through_sequence", event.sequence);
    let insights: Vec<Value> = insights.iter().map(|text| text.as_str().into()).collect();
    payload.insert("insights", insights);
    Ok(payload)
}

/// Makes the root branch `name` with so many notes on it.
pub fn take_notes<E: Engine>(store: &mut E, name: &str, count: usize) -> Result<(), BranchError> {
    let agent: AgentId = "ann".parse()?;
    let mut salts = Salts::default();
    store.write(|txn| {
        let mut outside = Outside { now: &mut beginning, salt: &mut || salts.next() };
        let (mut log, name) = (Log::open(txn)?, name.parse()?);
        branch::create_root(&mut log, &name, &agent, &mut outside)?;
        for _ in 0..count {
            let (kind, payload) = (EventType::Note, workspace::event::note("a thought"));
            let draft = Draft { kind, agent: agent.clone(), payload, metadata: Object::new() };
            log.append(&name, draft, None, &mut outside)?;
        }
        Ok(())
    })
}
