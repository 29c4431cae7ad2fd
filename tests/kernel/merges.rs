//! Merges against the obvious definition of them.

use std::collections::BTreeSet;

use mk::branch::{self, Act};
use mk::canon::Object;
use mk::event::{EventType, Retractable};
use mk::id::{AgentId, BranchName, EventId};
use mk::log::{Draft, Log, Outside};
use mk::merge::{self, MergeError, Merged, Other, Outcome, Settle, Settled};
use mk::revision::Revision;
use mk::store::memory::Memory;
use mk::store::{Engine, ReadTxn, StoreError};
use mk::time::Timestamp;
use mk::workspace::{self, event, fold::State};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::engines::{self, Salts};

const BRANCHES: [&str; 4] = ["main", "left", "right", "far"];
const AGENTS: [&str; 2] = ["ann", "bob"];
const KEYS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Step {
    Decide { key: &'static str, value: u8, why: u8 },
    Learn { key: &'static str, value: u8 },
    Begin { what: u8 },
    Note,
    Retract { what: Retractable, key: &'static str },
    RollBack { to: Index },
    Merge { from: &'static str, rest: Settle },
}

fn any_step() -> impl Strategy<Value = (&'static str, &'static str, Step)> {
    let key = || select(&KEYS[..]);
    let step = prop_oneof![
        4 => (key(), 0..3_u8, 0..2_u8).prop_map(|(key, value, why)| Step::Decide { key, value, why }),
        3 => (key(), 0..3_u8).prop_map(|(key, value)| Step::Learn { key, value }),
        1 => (0..3_u8).prop_map(|what| Step::Begin { what }),
        1 => Just(Step::Note),
        1 => (select(vec![Retractable::Decision, Retractable::Fact]), key())
            .prop_map(|(what, key)| Step::Retract { what, key }),
        1 => any::<Index>().prop_map(|to| Step::RollBack { to }),
        4 => (select(&BRANCHES[..]), select(vec![Settle::Ours, Settle::Theirs]))
            .prop_map(|(from, rest)| Step::Merge { from, rest }),
    ];
    (select(&BRANCHES[..]), select(&AGENTS[..]), step)
}

fn name(text: &str) -> BranchName {
    text.parse().unwrap()
}

/// A store with the branches, of which the last begins where the first began.
struct Play {
    store: Memory,
    salts: Salts,
}

impl Play {
    fn new() -> Self {
        let ann: AgentId = "ann".parse().unwrap();
        let store = engines::memory(Timestamp::from_micros(0), &ann);
        let mut play = Self { store, salts: Salts::default() };
        play.step("main", "ann", &Step::Note);
        for (fork, from) in [("far", "main"), ("left", "main"), ("right", "left")] {
            play.write("ann", |log, act, outside| {
                branch::fork(log, &name(fork), &name(from), None, act, outside)
                    .map(|_| ())
                    .unwrap();
            });
            play.step("main", "ann", &Step::Decide { key: "a", value: 0, why: 0 });
            play.step(fork, "bob", &Step::Learn { key: "a", value: 0 });
        }
        play
    }

    fn write<T>(
        &mut self,
        agent: &str,
        deed: impl FnOnce(&mut Log<'_>, Act<'_>, &mut Outside<'_>) -> T,
    ) -> T {
        let agent: AgentId = agent.parse().unwrap();
        let now = Timestamp::from_micros(1_000_000);
        let Self { store, salts } = self;
        let done = store.write(|txn| {
            let act = Act { agent: &agent, reason: "", metadata: Object::new() };
            let mut outside = Outside { now: &mut || now, salt: &mut || salts.next() };
            Ok::<_, StoreError>(deed(&mut Log::open(txn)?, act, &mut outside))
        });
        done.unwrap()
    }

    fn read<T>(&mut self, look: impl FnOnce(&dyn ReadTxn) -> T) -> T {
        self.store.read(|txn| Ok::<_, StoreError>(look(txn))).unwrap()
    }

    fn head(&mut self, of: &str) -> Option<EventId> {
        self.read(|txn| txn.branch(of).unwrap().and_then(|branch| branch.head))
    }

    fn step(&mut self, on: &str, agent: &str, step: &Step) {
        let head = self.head(on);
        if let Step::Merge { from, rest } = step {
            let rest = Settled { keys: Vec::new(), rest: Some(rest.clone()) };
            self.merge(on, from, &rest, agent).unwrap();
            return;
        }
        self.write(agent, |log, act, outside| {
            let (kind, payload) = match step {
                Step::Decide { key, value, why } => {
                    let payload = event::decision(key, &value.to_string(), &why.to_string());
                    (EventType::Decision, payload.unwrap())
                }
                Step::Learn { key, value } => {
                    let facts = [(*key, u64::from(*value))].into_iter().collect();
                    let payload = [("facts", mk::canon::Value::Object(facts))];
                    (EventType::ToolLog, payload.into_iter().collect())
                }
                Step::Begin { what } => {
                    (EventType::Task, event::task(&format!("task {what}"), &[]).unwrap())
                }
                Step::Note => (EventType::Note, event::note("")),
                Step::Retract { what, key } => {
                    // There may be none.
                    let _ = branch::retract(log, &name(on), *what, key, act, outside);
                    return;
                }
                Step::RollBack { to } => {
                    let live = branch::live(log.txn(), head, 0).unwrap();
                    let target: Revision = to.get(&live).to_string().parse().unwrap();
                    branch::rollback(log, &name(on), &target, true, act, outside).unwrap();
                    return;
                }
                Step::Merge { .. } => unreachable!("it is done above"),
            };
            let metadata = Object::new();
            let draft = Draft { kind, agent: act.agent.clone(), payload, metadata };
            log.append(&name(on), draft, None, outside).unwrap();
        });
    }

    fn merge(
        &mut self,
        on: &str,
        from: &str,
        settled: &Settled,
        agent: &str,
    ) -> Result<Merged, MergeError> {
        let (head, source) = (self.head(from), name(from));
        self.write(agent, |log, act, outside| {
            let other = Other { branch: &source, head };
            merge::merge(log, &name(on), &other, settled, &act, outside)
        })
    }

    fn state(&mut self, of: &str) -> State {
        let head = self.head(of);
        self.read(|txn| workspace::state(txn, head).unwrap())
    }
}

/// All that what ends at `head` has: its lineage, and what the heads have that its live merges name.
fn had(txn: &dyn ReadTxn, head: EventId) -> BTreeSet<EventId> {
    let mut had: BTreeSet<EventId> =
        branch::lineage(txn, Some(head), 0).unwrap().into_iter().collect();
    for id in branch::live(txn, Some(head), 0).unwrap() {
        let event = txn.known_event(id).unwrap();
        if event.kind == EventType::Merged {
            let hash =
                event.members().unwrap().get("source_hash").unwrap().as_str().unwrap().parse();
            had.extend(self::had(txn, txn.by_hash(&hash.unwrap()).unwrap().unwrap()));
        }
    }
    had
}

/// The events of both, newest first, that none of those before has.
fn newest_common(txn: &dyn ReadTxn, a: EventId, b: EventId) -> BTreeSet<EventId> {
    let (of_a, of_b) = (had(txn, a), had(txn, b));
    let mut newest = BTreeSet::new();
    for id in of_a.iter().rev().filter(|id| of_b.contains(*id)) {
        if !newest.iter().any(|other| had(txn, *other).contains(id)) {
            newest.insert(*id);
        }
    }
    newest
}

type Said = Option<(String, String)>;

/// What a state says of a key: what holds, and what goes with it.
fn said(state: &State, kind: Retractable, key: &str) -> Said {
    match kind {
        Retractable::Decision => {
            state.decisions.get(key).map(|it| (it.value.clone(), it.rationale.clone()))
        }
        Retractable::Fact => state.facts.get(key).map(|it| (it.value.canonical(), String::new())),
        Retractable::Task => state.tasks.get(key).map(|it| (it.directive.clone(), String::new())),
    }
}

fn holds(said: &Said) -> Option<&str> {
    said.as_ref().map(|(value, _)| value.as_str())
}

/// What must hold after a merge: ours, theirs, or none that is clear.
fn expected(bases: &[State], ours: &Said, theirs: &Said, kind: Retractable, key: &str) -> Outcome {
    let answers: Vec<Outcome> = bases
        .iter()
        .map(|base| {
            let base = said(base, kind, key);
            let (b, o, t) = (holds(&base), holds(ours), holds(theirs));
            if o == t {
                // Nobody changed what holds; only their reason may be a new one.
                if b == o && base == *ours && ours != theirs {
                    Outcome::Take
                } else {
                    Outcome::Keep
                }
            } else if t == b {
                Outcome::Keep
            } else if o == b {
                Outcome::Take
            } else {
                Outcome::Conflict
            }
        })
        .collect();
    match answers.iter().all(|answer| *answer == answers[0]) {
        true => answers[0],
        false if holds(ours) == holds(theirs) => Outcome::Keep,
        false => Outcome::Conflict,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_merge_takes_what_only_the_other_side_changed(
        steps in prop::collection::vec(any_step(), 0..40),
    ) {
        let mut play = Play::new();
        for (on, agent, step) in &steps {
            play.step(on, agent, step);
        }
        for (into, from) in [("main", "left"), ("right", "far"), ("left", "right")] {
            let (ours, theirs) = (play.head(into).unwrap(), play.head(from).unwrap());
            let bases = play.read(|txn| newest_common(txn, ours, theirs));
            let found = play.read(|txn| merge::bases(txn, ours, theirs).unwrap());
            prop_assert_eq!(found.iter().map(|event| event.id).collect::<BTreeSet<_>>(), bases.clone());
            let is_known = play.read(|txn| had(txn, ours).contains(&theirs));
            prop_assert_eq!(play.read(|txn| merge::has(txn, ours, theirs).unwrap()), is_known);

            let states: Vec<State> = found
                .iter()
                .map(|event| play.read(|txn| workspace::state(txn, Some(event.id)).unwrap()))
                .collect();
            let (before, there) = (play.state(into), play.state(from));
            let mut conflicts = 0;
            let mut after = Vec::new();
            for kind in [Retractable::Decision, Retractable::Fact, Retractable::Task] {
                for key in KEYS.iter().chain(&AGENTS) {
                    let (o, t) = (said(&before, kind, key), said(&there, kind, key));
                    let holds = match expected(&states, &o, &t, kind, key) {
                        _ if is_known => o,
                        Outcome::Keep => o,
                        Outcome::Take => t,
                        Outcome::Conflict => {
                            conflicts += 1;
                            t
                        }
                    };
                    after.push((kind, *key, holds));
                }
            }

            // A copy, since the other pairs begin from here too.
            let mut merged = Play { store: play.store.clone(), salts: Salts(1 << 64) };
            let refused = merged.merge(into, from, &Settled::default(), "cyd");
            match refused {
                Err(MergeError::Conflicts { conflicts: found, .. }) => {
                    prop_assert_eq!(found.len(), conflicts);
                    prop_assert_eq!(merged.head(into), Some(ours));
                    let rest = Settled { keys: Vec::new(), rest: Some(Settle::Theirs) };
                    merged.merge(into, from, &rest, "cyd").unwrap();
                }
                Ok(report) => {
                    prop_assert_eq!((conflicts, report.up_to_date), (0, is_known));
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
            let state = merged.state(into);
            for (kind, key, expected) in &after {
                prop_assert_eq!(&said(&state, *kind, key), expected, "{} {}", kind.as_str(), key);
            }

            // It is known now, and what was settled stays settled, in both directions.
            let head = merged.head(into);
            let again = merged.merge(into, from, &Settled::default(), "cyd").unwrap();
            prop_assert!(again.up_to_date && again.event.is_none() && merged.head(into) == head);
            merged.merge(from, into, &Settled::default(), "cyd").unwrap();
            let there = merged.state(from);
            if !is_known {
                for (kind, key, expected) in &after {
                    prop_assert_eq!(&said(&there, *kind, key), expected, "{}", key);
                }
            }
        }
    }
}
