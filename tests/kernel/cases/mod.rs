//! The recorded scenarios of the peer, replayed on both engines.
//!
//! How they are laid out and compared: tests/cases/kernel/README.md. Where `mk` is meant to answer
//! otherwise: [`exceptions`].

mod compare;
mod exceptions;
mod leases;
mod replay;
mod scenario;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use mk::id::AgentId;
use mk::store::Engine;

use crate::engines::{self, File};
use exceptions::EXCEPTIONS;
use replay::Replay;
use scenario::Scenario;
pub use scenario::read_lines;

/// The scenarios written by hand whose operations are all replayed.
const WHOLE: &[&str] = &[
    "blocker-cap",
    "blocker-description",
    "context-text",
    "deep-forks",
    "deprecated-cap",
    "diff-identical",
    "diff-report",
    "digest-cap",
    "envelope-basics",
    "expected-head",
    "facade-writes",
    "fenced-appends",
    "fold-blockers",
    "fold-claims",
    "fold-decisions",
    "fold-facts",
    "fold-tasks",
    "fork-points",
    "gc-after-rollback",
    "gc-and-forks",
    "gc-automatic",
    "gc-insights",
    "gc-no-tail",
    "gc-over-budget-state",
    "gc-tail",
    "gc-threshold",
    "history-listing",
    "id-rules",
    "lease-basics",
    "lease-claims-and-branches",
    "lease-double-slash",
    "lease-expiry",
    "lease-limits",
    "reserved-types",
    "rollback-across-forks",
    "rollback-and-snapshots",
    "rollback-of-rollback",
    "rollback-simple",
    "size-cap",
    "snapshot-forged",
    "snapshot-validation",
];

/// Fewest operations that the sample in this repository must give to compare.
const COMPARED_AT_LEAST: usize = 2_174;

/// `MK_CASES`, else the complete set beside the repository, else the sample in it.
pub fn directory() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let complete = root.join("../shared/cases/kernel");
    match std::env::var_os("MK_CASES") {
        Some(given) => given.into(),
        None if complete.is_dir() => complete,
        None => root.join("tests/cases/kernel"),
    }
}

#[test]
fn all_scenarios_answer_as_recorded_up_to_the_first_operation_that_is_still_to_come() {
    let mut told = Told::default();
    let (mut compared, mut whole, mut recorded) = (0, BTreeSet::new(), 0);
    for folder in ["hand", "random"] {
        for scenario in scenario::read_all(&directory().join(folder)) {
            recorded += scenario.operations.len();
            let operations = scenario.replayable();
            let Some(first) = operations.first() else { continue };
            let (now, peer) = (first.time(), "memkernel".parse::<AgentId>().unwrap());
            let mut memory = engines::memory(now, &peer);
            let mut file = File::new(now, &peer);
            compared += told.hear(&scenario, "memory", Replay::new(&mut memory, &scenario.policy));
            told.hear(&scenario, "SQLite", Replay::new(&mut *file, &scenario.policy));
            if folder == "hand" && operations.len() == scenario.operations.len() {
                whole.insert(scenario.name);
            }
        }
    }
    println!("{compared} of {recorded} operations compared on both engines");
    for exception in EXCEPTIONS {
        let times = told.exceptions.get(exception.name).copied().unwrap_or_default();
        println!("{times:4} times: {} ({})", exception.name, exception.rule);
        assert!(times > 0, "no operation meets the exception");
    }
    assert!(told.mismatches.is_empty(), "\n{}", told.mismatches.join("\n"));
    assert_eq!(whole, WHOLE.iter().map(ToString::to_string).collect());
    assert!(compared >= COMPARED_AT_LEAST, "only {compared} operations were compared");
}

/// What the replays told.
#[derive(Default)]
struct Told {
    mismatches: Vec<String>,
    /// How often each exception was met, by name.
    exceptions: BTreeMap<&'static str, usize>,
}

impl Told {
    /// Compares answers until one differs, since after that the rest means nothing. The number of
    /// those that were compared.
    fn hear<E: Engine>(
        &mut self,
        scenario: &Scenario,
        engine: &str,
        mut replay: Replay<'_, E>,
    ) -> usize {
        for (index, operation) in scenario.replayable().iter().enumerate() {
            let expected = match exceptions::find(scenario, operation, replay.last_event()) {
                None => operation.expected().clone(),
                Some((exception, answer)) => {
                    *self.exceptions.entry(exception.name).or_default() += 1;
                    answer
                }
            };
            let actual = replay.answer(operation);
            if let Some(difference) = compare::difference(&expected, &actual) {
                let (name, at) = (&scenario.name, operation.number());
                self.mismatches.push(format!("{name}, {at}, on {engine}: {difference}"));
                return index;
            }
        }
        scenario.replayable().len()
    }
}
