//! The recorded scenarios of the peer, replayed on both engines.
//!
//! How they are laid out and compared: tests/cases/kernel/README.md. Where `mk` is meant to answer
//! otherwise: [`exceptions`].

mod compare;
mod exceptions;
pub mod exchange;
mod leases;
mod notices;
mod replay;
mod scenario;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mk::id::AgentId;
use mk::store::Engine;

use crate::engines::{self, File};
use exceptions::EXCEPTIONS;
use replay::Replay;
use scenario::Scenario;
pub use scenario::read_lines;

/// Fewest operations that the sample in this repository must give to compare.
const COMPARED_AT_LEAST: usize = 3_138;

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
fn all_scenarios_answer_as_recorded() {
    let mut told = Told::default();
    let mut recorded = 0;
    for folder in ["hand", "random"] {
        for scenario in scenario::read_all(&directory().join(folder)) {
            recorded += scenario.operations.len();
            let peer = "memkernel".parse::<AgentId>().unwrap();
            let names = scenario.databases();
            let (shared, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let mut files: Vec<File> =
                names.values().map(|start| File::new(*start, &peer)).collect();
            let (policy, shared) = (&scenario.policy, shared.path());
            let replays = files.iter_mut().map(|file| Replay::of_file(file, policy, shared));
            told.hear(&scenario, "SQLite", names.keys().copied().zip(replays).collect());
            if !scenario.reopens() {
                let mut stores: Vec<_> =
                    names.values().map(|start| engines::memory(*start, &peer)).collect();
                let shared = other.path();
                let replays = stores.iter_mut().map(|store| Replay::new(store, policy, shared));
                told.hear(&scenario, "memory", names.keys().copied().zip(replays).collect());
            }
        }
    }
    println!("{} of {recorded} operations compared", told.compared);
    for exception in EXCEPTIONS {
        let times = told.exceptions.get(exception.name).copied().unwrap_or_default();
        println!("{times:4} times: {} ({})", exception.name, exception.rule);
        assert!(times > 0, "no operation meets the exception");
    }
    assert!(told.mismatches.is_empty(), "\n{}", told.mismatches.join("\n"));
    assert_eq!(told.compared, recorded);
    assert!(told.compared >= COMPARED_AT_LEAST, "only {} were compared", told.compared);
}

/// What the replays told.
#[derive(Default)]
struct Told {
    mismatches: Vec<String>,
    /// Operations that were compared on SQLite.
    compared: usize,
    /// How often each exception was met, by name.
    exceptions: BTreeMap<&'static str, usize>,
}

impl Told {
    /// Compares answers until one differs, since after that the rest means nothing.
    fn hear<E: Engine>(
        &mut self,
        scenario: &Scenario,
        engine: &str,
        mut replays: BTreeMap<&str, Replay<'_, E>>,
    ) {
        let once = usize::from(engine == "SQLite");
        for operation in &scenario.operations {
            let replay = replays.get_mut(operation.database()).unwrap();
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
                return;
            }
            self.compared += once;
        }
    }
}
