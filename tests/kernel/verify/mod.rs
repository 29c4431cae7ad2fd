//! Law 4: one changed byte anywhere in an event row, a lost row, a swapped pair, a forged derived
//! column: verify names it.

mod every;
mod expected;
mod forged;
mod history;
mod store;
mod tampered;

use std::collections::BTreeSet;

use mk::id::EventId;
use mk::verify::{Anchor, Kind, Report};
use store::Copy;

/// Asserts that there is a finding of `kind` about `event` (none: about the store or a branch).
#[track_caller]
fn assert_finds(report: &Report, kind: Kind, event: Option<i64>, tamper: &str) {
    let hit = |finding: &&mk::verify::Finding| {
        finding.kind == kind && finding.event_id == event.map(EventId)
    };
    assert!(
        report.findings.iter().any(|finding| hit(&finding)),
        "{tamper}: no {kind} at {event:?} among {:#?}",
        report.findings
    );
    assert!(!report.ok);
}

/// Asserts that what is found is all about `events`, but for events that cannot be checked because
/// of them.
#[track_caller]
fn assert_only(report: &Report, kinds: &[Kind], events: &[i64], tamper: &str) {
    let events: BTreeSet<EventId> = events.iter().copied().map(EventId).collect();
    for finding in &report.findings {
        let is_named = finding.event_id.is_none_or(|id| events.contains(&id));
        let is_expected = is_named && kinds.contains(&finding.kind);
        assert!(is_expected || finding.kind == Kind::Unreadable, "{tamper}: {finding:#?}");
    }
}

#[test]
fn an_untouched_store_has_no_findings() {
    let copy = Copy::new();
    let report = copy.verify();
    assert_eq!(report.findings, []);
    assert!(report.ok);
    assert!(report.checkpoints >= 3, "{} checkpoints", report.checkpoints);
    assert_eq!((report.events, report.branches), (copy.last(), 7));
}

#[test]
fn a_cut_tail_is_found_by_its_anchor_alone() {
    let copy = Copy::new();
    let anchor = copy.anchor();
    copy.cut_tail(3);
    assert_eq!(copy.verify().findings, []);
    let report = copy.verify_against(std::slice::from_ref(&anchor));
    assert_finds(&report, Kind::AnchorLost, Some(anchor.event.0), "three events cut");
    copy.append_notes(5);
    assert_eq!(copy.verify().findings, []);
    let report = copy.verify_against(std::slice::from_ref(&anchor));
    assert_finds(&report, Kind::AnchorDiffers, Some(anchor.event.0), "cut and written anew");
}

#[test]
fn an_old_copy_put_back_is_found_by_its_anchor_alone() {
    let copy = Copy::new();
    let old = Copy::new();
    copy.append_notes(1);
    let anchor = copy.anchor();
    assert!(copy.verify_against(&[old.anchor(), anchor.clone()]).ok);
    assert_eq!(old.verify().findings, []);
    let report = old.verify_against(&[old.anchor(), anchor.clone()]);
    assert_finds(&report, Kind::AnchorLost, Some(anchor.event.0), "an old copy");
    assert_eq!(report.findings_total, 1);
}

#[test]
fn an_anchor_is_of_one_project() {
    let copy = Copy::new();
    let anchor = Anchor { project_id: "0".repeat(32), ..copy.anchor() };
    let report = copy.verify_against(std::slice::from_ref(&anchor));
    assert_finds(&report, Kind::AnchorProject, Some(anchor.event.0), "another project");
}

#[test]
fn a_store_in_a_directory_that_cannot_be_written_is_verified() {
    use std::os::unix::fs::PermissionsExt;
    let copy = Copy::new();
    let directory = copy.path.parent().unwrap();
    let set = |mode| {
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o500);
    let report = copy.verify();
    set(0o700);
    assert_eq!(report.findings, []);
}

#[test]
fn events_that_are_appended_meanwhile_do_not_disturb() {
    let copy = Copy::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..40).for_each(|_| copy.append_notes(1)));
        while !writer.is_finished() {
            assert_eq!(copy.verify().findings, []);
        }
    });
}

#[test]
fn findings_are_bounded_and_counted() {
    let copy = Copy::new();
    copy.run("UPDATE event SET log = zeroblob(32)");
    let report = copy.verify();
    assert_eq!(report.findings.len(), mk::verify::LISTED);
    assert_eq!(report.findings_by_kind["log"], copy.last());
    let ids: Vec<_> = report.findings.iter().map(|finding| finding.event_id).collect();
    assert_eq!(ids, (1..=100).map(|id| Some(EventId(id))).collect::<Vec<_>>());
}

#[test]
fn the_documentation_has_all_kinds() {
    let page = include_str!("../../../docs/verify.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let names: Vec<&str> = rows.map(|row| row.split('`').next().unwrap()).collect();
    assert_eq!(names, Kind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
}
