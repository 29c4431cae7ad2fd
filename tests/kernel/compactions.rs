//! Compaction changes what is read first, and nothing of what is read.

use mk::canon::Object;
use mk::compaction::{self, Collected, Order, Policy, Reason};
use mk::event::{CONTENT_MAX, EventType};
use mk::id::{AgentId, BranchName};
use mk::log::{Draft, Log, LogError, Outside};
use mk::store::memory::Memory;
use mk::store::{Engine, ReadTxn, StoreError, WriteTxn};
use mk::verify;
use mk::workspace::{self, context, snapshot};
use proptest::prelude::*;

use crate::engines::{self, File, Salts};
use crate::history::{any_history, any_long_history, beginning, branches, play, take_notes};

/// Small enough for histories of some hundred events to be compacted.
fn any_policy() -> impl Strategy<Value = Policy> {
    let numbers = (1..600_u64, 0..600_u64, 0..7_u64, 0..400_u64, 0..60_u64);
    numbers.prop_map(|(threshold, low_water, retain_events, retain_tokens, min_gain)| Policy {
        low_water,
        retain_events,
        retain_tokens,
        min_gain,
        ..Policy::with_threshold(threshold)
    })
}

fn collect<E: Engine>(
    store: &mut E,
    branch: &BranchName,
    policy: &Policy,
    force: bool,
) -> Result<Collected, LogError> {
    let agent: AgentId = compaction::AGENT.parse()?;
    let mut salts = Salts::default();
    let mut outside = Outside { now: &mut beginning, salt: &mut || salts.next() };
    let order = Order { branch, policy, force, dry_run: false, agent: &agent };
    compaction::collect(store, &order, None, &mut outside)
}

/// Compacts every branch and tells of each.
fn collect_all<E: Engine>(store: &mut E, policy: &Policy, force: bool) -> Vec<String> {
    let all = store.read(|txn| branches(txn)).unwrap();
    let collected = all.iter().map(|branch| {
        let collected = collect(store, &branch.name, policy, force).unwrap();
        serde_json::to_string(&collected).unwrap()
    });
    collected.collect()
}

/// Compacts `branch` and holds the report and the store against the definitions.
fn collected_rightly(
    store: &mut Memory,
    branch: &BranchName,
    policy: &Policy,
    force: bool,
) -> Result<(), TestCaseError> {
    let context = |store: &Memory| {
        let branch = store.branch(branch.as_str()).unwrap().unwrap();
        context::full(store, &branch).unwrap().tokens
    };
    let state = |store: &Memory| {
        let head = store.branch(branch.as_str()).unwrap().unwrap().head;
        let mut state = workspace::state(store, head).unwrap();
        let folded = workspace::state_from_events(store, head).unwrap();
        assert_eq!(state.report(), folded.report());
        state.insights.clear();
        state.report()
    };
    let (before, last, held) = (context(store), store.log_head().unwrap(), state(store));
    let collected = collect(store, branch, policy, force).unwrap();
    prop_assert_eq!(collected.tokens_before, before);
    prop_assert_eq!(collected.tokens_after, context(store));
    prop_assert_eq!(state(store), held);
    prop_assert_eq!(collected.triggered, collected.reason == Reason::Compacted);
    if !collected.triggered {
        prop_assert_eq!(store.log_head().unwrap(), last);
        prop_assert!(
            force || before <= policy.threshold || collected.reason != Reason::BelowThreshold
        );
        return Ok(());
    }
    prop_assert!(force || before > policy.threshold);
    prop_assert!(collected.retained_event_count <= policy.retain_events);
    let is_low = collected.tokens_after <= policy.low_water + 4;
    prop_assert!(is_low || collected.retained_event_count == 0, "{collected:?}");
    // It reads from the new snapshot on.
    let head = store.branch(branch.as_str()).unwrap().unwrap().head.unwrap();
    let base = snapshot::base(store, head).unwrap().unwrap();
    prop_assert_eq!(Some(base.event.id), collected.snapshot_event_id);
    let delta = snapshot::delta(store, Some(head), Some(&base)).unwrap();
    prop_assert_eq!(delta.len() as u64, collected.retained_event_count);
    let mut all = base.state;
    delta.iter().for_each(|event| all.apply(event));
    prop_assert_eq!(all.report(), workspace::state(store, Some(head)).unwrap().report());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Among rollbacks, forks and snapshots by hand, and once more on top of its own snapshots.
    #[test]
    fn a_compaction_keeps_the_state_and_tells_what_it_did(
        first in any_history(),
        second in any_history(),
        policy in any_policy(),
        force in any::<bool>(),
    ) {
        let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
        for history in [&first, &second] {
            play(&mut store, history);
            for branch in branches(&store).unwrap() {
                collected_rightly(&mut store, &branch.name, &policy, force)?;
            }
        }
    }

    #[test]
    fn both_engines_compact_alike_and_what_they_hold_verifies(
        history in any_history(),
        policy in any_policy(),
    ) {
        let agent = "mk".parse().unwrap();
        let mut memory = engines::memory(beginning(), &agent);
        let mut file = File::new(beginning(), &agent);
        for force in [false, true] {
            play(&mut memory, &history);
            play(&mut *file, &history);
            let collected = collect_all(&mut memory, &policy, force);
            prop_assert_eq!(collected, collect_all(&mut *file, &policy, force));
        }
        let report = verify::verify(&mut file, &[], &|_, _| {}).unwrap();
        prop_assert!(report.ok, "{:?}", report.findings);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn so_it_is_where_there_are_checkpoints(history in any_long_history(), policy in any_policy()) {
        let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
        play(&mut store, &history);
        for branch in branches(&store).unwrap() {
            collected_rightly(&mut store, &branch.name, &policy, false)?;
        }
    }
}

fn append<E: Engine>(store: &mut E, kind: EventType, payload: Object) -> Result<(), LogError> {
    let mut salts = Salts::default();
    store.write(|txn| {
        let mut outside = Outside { now: &mut beginning, salt: &mut || salts.next() };
        let agent = "ann".parse()?;
        let draft = Draft { kind, agent, payload, metadata: Object::new() };
        Log::open(txn)?.append(&BranchName::main(), draft, None, &mut outside).map(|_| ())
    })
}

#[test]
fn a_snapshot_may_be_larger_than_a_payload() {
    let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
    let why = "reasons and measurements were compared before this. ".repeat(8);
    for number in 0..900 {
        let decision = workspace::event::decision(&format!("area-{number}"), "x", &why).unwrap();
        append(&mut store, EventType::Decision, decision).unwrap();
    }
    for _ in 0..50 {
        append(&mut store, EventType::Note, workspace::event::note(&why)).unwrap();
    }
    let policy = Policy::with_threshold(4_000);
    let collected = collect(&mut store, &BranchName::main(), &policy, false).unwrap();
    assert_eq!(collected.reason, Reason::Compacted);
    let event = store.known_event(collected.snapshot_event_id.unwrap()).unwrap();
    assert!(event.content.unwrap().payload.len() > CONTENT_MAX);
    // What is kept of so large a state is still the fold.
    collected_rightly(&mut store, &BranchName::main(), &policy, true).unwrap();
}

/// A store on which someone else is faster: before each of so many writes there is another.
struct Racing {
    store: Memory,
    left: u32,
}

impl Engine for Racing {
    fn read<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&dyn ReadTxn) -> Result<T, E>,
    ) -> Result<T, E> {
        self.store.read(body)
    }

    fn write<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&mut dyn WriteTxn) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.left > 0 {
            self.left -= 1;
            append(&mut self.store, EventType::Note, workspace::event::note("faster")).unwrap();
        }
        self.store.write(body)
    }
}

#[test]
fn it_is_begun_again_when_the_head_moves_but_not_for_ever() {
    for (others, reason) in [
        (0, Reason::Compacted),
        (2, Reason::Compacted),
        (3, Reason::Contention),
        (9, Reason::Contention),
    ] {
        let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
        for _ in 0..40 {
            append(&mut store, EventType::Note, workspace::event::note("a thought")).unwrap();
        }
        let mut store = Racing { store, left: others };
        let policy = Policy::with_threshold(100);
        let collected = collect(&mut store, &BranchName::main(), &policy, false).unwrap();
        assert_eq!(collected.reason, reason, "{others} others");
        assert_eq!(collected.triggered, reason == Reason::Compacted);
        let (last, _) = store.store.log_head().unwrap().unwrap();
        let events = 40 + i64::from(others.min(3)) + i64::from(collected.triggered);
        assert_eq!(last.0, events, "{others} others");
    }
}

#[test]
fn a_branch_that_is_not_there_is_not_compacted() {
    let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
    take_notes(&mut store, "side", 3).unwrap();
    let policy = Policy::with_threshold(1);
    let error = collect(&mut store, &"ghost".parse().unwrap(), &policy, true).unwrap_err();
    assert!(matches!(error, LogError::Revision(_)), "{error}");
    let empty = collect(&mut store, &BranchName::main(), &policy, true).unwrap();
    assert_eq!(empty.reason, Reason::NothingToCompact);
}
