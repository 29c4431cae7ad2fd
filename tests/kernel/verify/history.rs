//! A fresh history verifies clean, whatever it is.

use mk::branch::{self, Act};
use mk::canon::Object;
use mk::event::{EventType, Retractable};
use mk::id::{AgentId, BranchName};
use mk::log::{Draft, Log, Outside};
use mk::store::{Engine, StoreError};
use mk::time::Timestamp;
use mk::verify::verify;
use proptest::prelude::*;

use super::store::{agent, create, draft, name, object, snapshot_payload};

/// One operation. Numbers are taken modulo what there is.
#[derive(Debug, Clone)]
enum Op {
    Append { branch: u8, agent: u8, kind: u8, times: u16 },
    Fork { branch: u8, agent: u8, back: u16 },
    Rollback { branch: u8, agent: u8, back: u16 },
    Undo { branch: u8, agent: u8, count: u8 },
    Retract { branch: u8, agent: u8, key: u8 },
    Snapshot { branch: u8 },
}

fn any_op() -> impl Strategy<Value = Op> {
    let (branch, agent) = (any::<u8>(), any::<u8>());
    prop_oneof![
        6 => (branch, agent, any::<u8>(), 1..90_u16)
            .prop_map(|(branch, agent, kind, times)| Op::Append { branch, agent, kind, times }),
        2 => (branch, agent, 0..60_u16)
            .prop_map(|(branch, agent, back)| Op::Fork { branch, agent, back }),
        2 => (branch, agent, 0..60_u16)
            .prop_map(|(branch, agent, back)| Op::Rollback { branch, agent, back }),
        1 => (branch, agent, 1..4_u8)
            .prop_map(|(branch, agent, count)| Op::Undo { branch, agent, count }),
        1 => (branch, agent, any::<u8>())
            .prop_map(|(branch, agent, key)| Op::Retract { branch, agent, key }),
        1 => branch.prop_map(|branch| Op::Snapshot { branch }),
    ]
}

struct Run {
    branches: Vec<BranchName>,
}

impl Run {
    fn branch(&self, number: u8) -> BranchName {
        self.branches[usize::from(number) % self.branches.len()].clone()
    }

    /// Carries `op` out; what is refused, for instance a rollback on an empty branch, changes nothing.
    fn act(&mut self, op: &Op, log: &mut Log<'_>, outside: &mut Outside<'_>) {
        let by = |number: u8| agent(["ann", "bob", "cy"][usize::from(number) % 3]);
        let act = |agent| Act { agent, reason: "because", metadata: Object::new() };
        match *op {
            Op::Append { branch, agent, kind, times } => {
                for time in 0..times {
                    let draft = any_draft(&by(agent), kind.wrapping_add(time as u8), time);
                    log.append(&self.branch(branch), draft, None, outside).unwrap();
                }
            }
            Op::Fork { branch, agent, back } => {
                let (from, new) = (self.branch(branch), name(&format!("b{}", self.branches.len())));
                let at = format!("{from}~{back}").parse().unwrap();
                if branch::fork(log, &new, &from, Some(&at), act(&by(agent)), outside).is_ok() {
                    self.branches.push(new);
                }
            }
            Op::Rollback { branch, agent, back } => {
                let at = format!("{}~{back}", self.branch(branch)).parse().unwrap();
                let _ = branch::rollback(
                    log,
                    &self.branch(branch),
                    &at,
                    true,
                    act(&by(agent)),
                    outside,
                );
            }
            Op::Undo { branch, agent, count } => {
                let _ =
                    branch::undo(log, &self.branch(branch), count.into(), act(&by(agent)), outside);
            }
            Op::Retract { branch, agent, key } => {
                let (what, key) = (Retractable::Decision, format!("k{}", key % 5));
                let _ = branch::retract(
                    log,
                    &self.branch(branch),
                    what,
                    &key,
                    act(&by(agent)),
                    outside,
                );
            }
            Op::Snapshot { branch } => {
                let branch = self.branch(branch);
                if let Some(payload) = snapshot_payload(log.txn(), branch.as_str()) {
                    let snapshot = Draft { payload, ..draft(EventType::Snapshot, "mk-gc", "{}") };
                    log.append(&branch, snapshot, None, outside).unwrap();
                }
            }
        }
    }
}

fn any_draft(by: &AgentId, kind: u8, time: u16) -> Draft {
    let (kind, payload) = match kind % 6 {
        0 => (
            EventType::Decision,
            format!(r#"{{"decision_key":"k{}","decision_value":{time}}}"#, time % 5),
        ),
        1 => (
            EventType::ToolLog,
            format!(r#"{{"command":"run {}","exit_code":{}}}"#, time % 3, time % 2),
        ),
        2 => (EventType::ToolLog, format!(r#"{{"facts":{{"f{}":{time}}}}}"#, time % 4)),
        3 => (EventType::Task, format!(r#"{{"directive":"{time}"}}"#)),
        _ => (EventType::Note, format!(r#"{{"note":"{}"}}"#, "word ".repeat(40))),
    };
    Draft { kind, agent: by.clone(), payload: object(&payload), metadata: Object::new() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_fresh_history_verifies_clean(
        ops in proptest::collection::vec(any_op(), 1..30),
        ticks in proptest::collection::vec(-5_000..20_000_i64, 1..20),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut store = create(&directory.path().join("mk.db"));
        let mut run = Run { branches: vec![BranchName::main()] };
        // A clock that is set back now and then.
        let (mut clock, mut ticks, mut salts) = (super::store::DATE, ticks.iter().cycle(), 0_u128);
        let mut outside = Outside {
            now: &mut || {
                clock += ticks.next().unwrap();
                Timestamp::from_micros(clock)
            },
            salt: &mut || {
                salts += 1;
                salts.to_be_bytes()
            },
        };
        for ops in ops.chunks(5) {
            store
                .write(|txn| {
                    let mut log = Log::open(txn)?;
                    ops.iter().for_each(|op| run.act(op, &mut log, &mut outside));
                    Ok::<_, StoreError>(())
                })
                .unwrap();
        }
        let report = verify(&mut store, &[], &|_, _| ()).unwrap();
        prop_assert_eq!(report.findings, []);
    }
}
