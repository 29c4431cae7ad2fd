//! Each call of the file system in turn fails.

use std::collections::BTreeMap;

use mk::code::Code;

use crate::vfs::{self, Call, Fault};
use crate::workload::{self, Stage};

/// Which of the calls fail: with `MK_FAULT_STRIDE=N` every Nth, else every one.
fn stride() -> usize {
    std::env::var("MK_FAULT_STRIDE").map_or(1, |text| text.parse().expect("a number"))
}

/// The codes with which a step may fail when a call fails so.
fn codes(fault: Fault, call: Call) -> &'static [Code] {
    match (fault, call) {
        (Fault::NoSpace | Fault::ShortWrite, _) => &[Code::DISK_FULL],
        (Fault::Device, _) => &[Code::IO],
    }
}

#[derive(Default)]
struct Tally {
    points: usize,
    refused: usize,
    calls: BTreeMap<Call, usize>,
}

fn fail_each(stage: &Stage) -> Tally {
    let mut tally = Tally::default();
    let quiet = workload::copy(stage.directory.path());
    let ((done, failed), outcome) = vfs::with_plan(None, || stage.play(quiet.path(), |_| {}));
    assert!(failed.is_none() && done == stage.workload.steps.len());
    for fault in [Fault::Device, Fault::NoSpace, Fault::ShortWrite] {
        for number in (0..outcome.calls).step_by(stride()) {
            let copy = workload::copy(stage.directory.path());
            let plan = Some((number, fault));
            let ((done, failed), outcome) =
                vfs::with_plan(plan, || stage.play(copy.path(), |_| {}));
            // Calls that this fault does not concern.
            let Some(call) = outcome.failed else { continue };
            let about = format!("{}: {fault:?} at call {number}, {call:?}", stage.workload.name);
            tally.points += 1;
            *tally.calls.entry(call).or_default() += 1;
            if let Some(failed) = failed {
                tally.refused += 1;
                let expected = codes(fault, call);
                assert!(expected.contains(&failed.code), "{about}: {failed:?}");
            }
            stage.check_copies(copy.path(), &about);
            stage.check(copy.path(), done, &about);
            stage.go_on(copy.path(), &about);
        }
    }
    tally
}

fn run(workload: workload::Workload) {
    let name = workload.name;
    let Tally { points, refused, calls } = fail_each(&Stage::set(workload));
    println!("{name}: {points} faults, {refused} of them refused a step, {calls:?}");
    assert!(refused > 0);
}

#[test]
fn appends_survive_every_fault() {
    run(workload::appends());
}

#[test]
fn branches_survive_every_fault() {
    run(workload::branches());
}

#[test]
fn leases_survive_every_fault() {
    run(workload::leases());
}

#[test]
fn a_compaction_survives_every_fault() {
    run(workload::compaction());
}

#[test]
fn an_erasure_survives_every_fault() {
    run(workload::erasure());
}

#[test]
fn an_import_survives_every_fault() {
    run(workload::import());
}

#[test]
fn backups_and_restores_survive_every_fault() {
    run(workload::backups());
}

#[test]
fn a_wal_that_is_emptied_survives_every_fault() {
    run(workload::long_wal());
}

#[test]
fn a_store_is_made_whole_or_not_at_all() {
    let whole = tempfile::tempdir().unwrap();
    let (made, outcome) = vfs::with_plan(None, || workload::try_create(whole.path()));
    assert!(made.unwrap());
    for fault in [Fault::Device, Fault::NoSpace, Fault::ShortWrite] {
        for number in (0..outcome.calls).step_by(stride()) {
            let directory = tempfile::tempdir().unwrap();
            let (made, outcome) =
                vfs::with_plan(Some((number, fault)), || workload::try_create(directory.path()));
            let Some(call) = outcome.failed else { continue };
            let about = format!("{fault:?} at call {number}, {call:?}");
            match made {
                Ok(made) => assert!(made, "{about}"),
                Err(failed) => {
                    assert!(codes(fault, call).contains(&failed.code), "{about}: {failed:?}");
                    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
                    assert!(
                        left.iter()
                            .all(|entry| { entry.as_ref().unwrap().file_name() == "mk.db-lock" })
                    );
                    assert!(workload::try_create(directory.path()).unwrap(), "{about}");
                }
            }
            workload::open(directory.path()).unwrap();
        }
    }
}
