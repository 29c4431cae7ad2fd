//! The execution log, for any requests, on both engines: what is kept of it is what its records add up
//! to, in whatever order they are read.

use mk::id::{AgentId, BranchName};
use mk::log::Outside;
use mk::mkep::event::Line;
use mk::mkep::fold::Goal;
use mk::mkep::json::Members;
use mk::mkep::kept::Seal;
use mk::mkep::leases::Leases;
use mk::mkep::ledger::{self, Ledger};
use mk::mkep::lint::Surroundings;
use mk::mkep::request::Request;
use mk::mkep::{self, Desk, record, transfer};
use mk::store::{Engine, ExecEntry, ReadTxn, StoreError};
use mk::time::Timestamp;
use proptest::prelude::*;

use crate::engines::{File, Salts, memory};

const GOALS: [&str; 2] = ["team/alpha", "team/beta"];

/// A request: what, of which goal, about which gate or scope, and how.
type Act = (u8, u8, u8, u8);

fn request(number: usize, (what, goal, name, how): Act) -> String {
    let goal = GOALS[usize::from(goal) % 2];
    let name = ["build", "test", "docs"][usize::from(name) % 3];
    let status = ["passed", "failed", "waived", "pending"][usize::from(how) % 4];
    let verdict = ["pass", "fail"][usize::from(how) % 2];
    let gate = format!(r#"{{"goal_id":"{goal}","gate_id":"{name}"}}"#);
    let own = format!(r#"{{"goal_id":"{goal}"}}"#);
    let scope = format!(r#"{{"goal_id":"{goal}","scope_key":"{name}"}}"#);
    let (op, target, args) = match what % 8 {
        0 => (
            "goal.declare",
            own,
            r#"{"title":"t","intent":"i","constraints":[],"success_criteria":[]}"#.to_owned(),
        ),
        1 => (
            "gate.declare",
            gate,
            r#"{"description":"d","verification":{"check_kind":"c","check_ref":"r"}}"#.to_owned(),
        ),
        2 | 3 => (
            "gate.transition",
            gate,
            format!(r#"{{"to_status":"{status}","reopen_reason":"r","authority_claim":"human"}}"#),
        ),
        4 => (
            "receipt.record",
            gate,
            format!(
                r#"{{"verdict":"{verdict}","content_sha256":"{:064}","summary":"s","observed_at":null}}"#,
                0
            ),
        ),
        5 => (
            "lease.acquire",
            scope,
            format!(r#"{{"holder":"w{}","ttl_seconds":{}}}"#, how % 2, 1 + u32::from(how) * 10),
        ),
        6 => ("handoff.declare", own, r#"{"to_actor":"bob","payload":{"note":"n"}}"#.to_owned()),
        _ => ("goal.transition", own, r#"{"to_status":"satisfied","reason":null}"#.to_owned()),
    };
    format!(
        r#"{{"mkep":"0","kind":"apply","request_id":"{number:032x}","op":"{op}","now":"2026-08-04T11:{:02}:{:02}Z","target":{target},"args":{args},"precondition":{{}}}}"#,
        number / 60 % 60,
        number % 60
    )
}

fn agent() -> AgentId {
    "ann".parse().unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_796_032_800_000_000)
}

/// Carries the requests out, each in a transaction of its own; answers the responses.
fn carry_out(store: &mut impl Engine, acts: &[Act]) -> Vec<String> {
    let mut salts = Salts::default();
    let mut responses = Vec::new();
    for (number, act) in acts.iter().enumerate() {
        let request = Request::read(request(number, *act).as_bytes()).expect("a sound request");
        let mut outside = Outside { now: &mut now, salt: &mut || salts.next() };
        let around = Surroundings::default();
        let (response, error) = mkep::call(store, &request, &around, &agent(), &mut outside);
        assert!(error.is_none(), "{error:?}");
        responses.push(response.line());
    }
    responses
}

/// The lines of the log.
fn lines(txn: &dyn ReadTxn) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    transfer::export(txn, &mut out).unwrap();
    out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

/// The folds and leases that are kept, which must be those of the records.
fn kept(txn: &dyn ReadTxn) -> Vec<(Goal, Leases)> {
    let mut all = Vec::new();
    for goal in GOALS {
        let (fold, leases) = ledger::refold(txn, goal, false).unwrap();
        let row = txn.exec_goal(goal).unwrap();
        match row {
            Some(row) => assert_eq!(row, Seal::of(txn).unwrap().row(goal, &fold, None)),
            None => assert_eq!(fold, Goal::default()),
        }
        let open = Ledger::default().open_leases(txn, goal).unwrap();
        let mut expected = leases.clone();
        expected.retain(|_, lease| !lease.is_released);
        assert_eq!(open, expected);
        all.push((fold, leases));
    }
    all
}

/// The slow definition: all records of a goal, sorted, one after the other.
fn folded(lines: &[Vec<u8>], goal: &str) -> Goal {
    let read = |line: &Vec<u8>| match Line::read(line) {
        Line::Record(record) => Some(record),
        Line::Damage => None,
    };
    let mut records: Vec<Members> = lines.iter().filter_map(read).collect();
    records.retain(|record| record.text("goal_id") == Some(goal));
    records.sort_by_key(|it| (record::event_seq(it), record::id(it).to_owned()));
    let mut fold = Goal::default();
    records.iter().for_each(|record| fold.apply(record));
    fold
}

fn imported(lines: &[Vec<u8>]) -> Result<Vec<(Goal, Leases)>, StoreError> {
    let mut store = memory(now(), &agent());
    let mut salts = Salts::default();
    let mut salt = || salts.next();
    let mut clock = now;
    let mut outside = Outside { now: &mut clock, salt: &mut salt };
    store.write(|txn| {
        let mut desk = Desk::open(txn, &agent())?;
        let log = lines.join(&b'\n');
        transfer::import(&mut desk, "here", &log[..], &mut outside).expect("it is read");
        desk.close()
    })?;
    store.read(|txn| Ok(kept(txn)))
}

/// All records of a goal, a page of `size` at a time, in their order and against it.
fn paged(txn: &dyn ReadTxn, goal: &str, size: usize) -> [Vec<ExecEntry>; 2] {
    let (mut forward, mut back) = (Vec::new(), Vec::new());
    loop {
        let after = forward.last().map(|entry: &ExecEntry| entry.place.clone());
        let page = txn.exec_entries(goal, after.as_ref(), size).unwrap();
        forward.extend_from_slice(&page);
        if page.is_empty() {
            break;
        }
    }
    loop {
        let before = back.last().map(|entry: &ExecEntry| entry.place.clone());
        let page = txn.exec_latest(goal, before.as_ref(), size).unwrap();
        back.extend_from_slice(&page);
        if page.is_empty() {
            return [forward, back];
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_kept_is_what_the_records_add_up_to(
        acts in prop::collection::vec(any::<Act>(), 0..60),
        seed in any::<u64>(),
    ) {
        let mut plain = memory(now(), &agent());
        let mut file = File::new(now(), &agent());
        let responses = carry_out(&mut plain, &acts);
        prop_assert_eq!(&responses, &carry_out(&mut *file, &acts));
        let of = |txn: &dyn ReadTxn| Ok::<_, StoreError>((kept(txn), lines(txn)));
        let (goals, log) = plain.read(of).unwrap();
        let (in_file, log_in_file) = file.read(of).unwrap();
        prop_assert_eq!(&log, &log_in_file);
        prop_assert_eq!(&goals, &in_file);
        for goal in GOALS {
            let [all, mut back] = file.read(|txn| Ok::<_, StoreError>(paged(txn, goal, 1_000))).unwrap();
            back.reverse();
            prop_assert_eq!(&all, &back);
            for size in [1, 3] {
                let pages = file.read(|txn| Ok::<_, StoreError>(paged(txn, goal, size))).unwrap();
                let in_memory = plain.read(|txn| Ok::<_, StoreError>(paged(txn, goal, size))).unwrap();
                prop_assert_eq!(&pages, &in_memory);
                prop_assert_eq!(&pages[0], &all);
            }
        }
        for (goal, (fold, _)) in GOALS.iter().zip(&goals) {
            prop_assert_eq!(fold, &folded(&log, goal));
            let decoded = Goal::decode(&fold.encoded());
            prop_assert_eq!(decoded.as_ref(), Some(fold));
        }
        // In any order of the lines.
        let mut shuffled = log.clone();
        shuffled.sort_by_key(|line| {
            let mut mixed = seed;
            line.iter().for_each(|byte| mixed = mixed.rotate_left(5) ^ u64::from(*byte));
            mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        prop_assert_eq!(imported(&shuffled).unwrap(), goals);
        let has_branch = plain.read(|txn| txn.branch(BranchName::EXEC)).unwrap().is_some();
        prop_assert_eq!(has_branch, !log.is_empty());
    }
}
