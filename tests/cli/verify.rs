//! `mk verify`: what the chains show by themselves, and what only an anchor shows.

use std::fs;

use rusqlite::Connection;

use crate::damage::checkpoint;
use crate::sandbox::Sandbox;

/// A project of some events on two branches, the newest of them on `try`.
fn project() -> Sandbox {
    let mut repo = Sandbox::new();
    repo.set("MK_AGENT", "ann");
    repo.mk("note one").success();
    repo.mk("decide db sqlite").success();
    repo.mk("note two").success();
    repo.mk("switch -c try").success();
    repo.mk("note three").success();
    repo
}

/// Changes the store behind its back.
fn tamper(repo: &Sandbox, sql: &str) {
    checkpoint(repo);
    let store = Connection::open(repo.store().join("mk.db")).unwrap();
    store.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    store.execute_batch(sql).unwrap();
    drop(store);
    checkpoint(repo);
}

/// Deletes events and leaves no trace of them, triggers and all.
fn cut(repo: &Sandbox, events: &str) {
    let triggers = "SELECT group_concat(sql, ';' || char(10)) FROM sqlite_schema \
                    WHERE type = 'trigger'";
    let store = Connection::open(repo.store().join("mk.db")).unwrap();
    let triggers: String = store.query_row(triggers, (), |row| row.get(0)).unwrap();
    drop(store);
    tamper(
        repo,
        &format!(
            "DROP TRIGGER event_is_never_deleted; DROP TRIGGER event_never_changes;
             DELETE FROM event WHERE {events}; DELETE FROM link WHERE {events};
             DELETE FROM branch WHERE id > 1 AND id NOT IN (SELECT lineage FROM event);
             DELETE FROM current_branch WHERE branch NOT IN (SELECT name FROM branch);
             UPDATE branch SET (head, head_sequence) =
                 (SELECT id, sequence FROM event WHERE lineage = branch.id ORDER BY id DESC LIMIT 1);
             {triggers};"
        ),
    );
}

const LOST: &str =
    "anchor-lost event 5: the log no longer has the event: it was cut, or is an old copy\n";

#[test]
fn a_cut_tail_is_found_by_an_anchor_alone() {
    let repo = project();
    repo.sh("mk anchor > kept; mk verify --anchor kept")
        .success()
        .stdout("ok: 5 events, 2 branches\n");
    cut(&repo, "id = 5");
    repo.mk("verify").success().stdout("ok: 4 events, 2 branches\n");
    let found = format!("{LOST}1 finding in 4 events, 2 branches\n");
    repo.mk("verify --anchor kept").code(1).stdout(found).stderr("");
    let report: serde_json::Value =
        serde_json::from_slice(&repo.mk("--json verify --anchor kept").get_output().stdout)
            .unwrap();
    assert_eq!(report["findings"][0]["kind"], "anchor-lost");
    assert_eq!(report["findings"][0]["event_id"], 5);
    // Written anew behind the cut, it is another log.
    repo.mk("note 'another three'").success();
    repo.mk("verify").success();
    repo.mk("verify --anchor kept").code(1).stdout(
        "anchor-differs event 5: the log up to the event is not the one that was anchored\n\
         1 finding in 5 events, 2 branches\n",
    );
}

#[test]
fn a_dropped_branch_is_found_by_the_log_or_if_it_was_newest_by_an_anchor() {
    let repo = project();
    repo.sh("mk anchor > kept").success();
    cut(&repo, "id IN (4, 5)");
    repo.mk("verify").success().stdout("ok: 3 events, 1 branch\n");
    let found = format!("{LOST}1 finding in 3 events, 1 branch\n");
    repo.mk("verify --anchor kept").code(1).stdout(found);

    let repo = project();
    repo.mk("switch main").success();
    repo.mk("note four").success();
    cut(&repo, "id IN (4, 5)");
    repo.mk("verify").code(1).stdout(
        "event-missing event 4: and all up to 5 are not in the log\n\
         1 finding in 4 events, 1 branch\n",
    );
}

#[test]
fn an_old_copy_of_the_main_file_without_its_wal_is_found_by_an_anchor_alone() {
    let repo = project();
    checkpoint(&repo);
    let old = fs::read(repo.store().join("mk.db")).unwrap();
    repo.mk("note four").success();
    repo.mk("note five").success();
    repo.sh("mk anchor > kept").success();
    repo.mk("verify --anchor kept").success();
    fs::write(repo.store().join("mk.db"), old).unwrap();
    for left in ["mk.db-wal", "mk.db-shm"] {
        let _ = fs::remove_file(repo.store().join(left));
    }
    repo.mk("verify").success().stdout("ok: 5 events, 2 branches\n");
    let found = format!("{}1 finding in 5 events, 2 branches\n", LOST.replace('5', "7"));
    repo.mk("verify --anchor kept").code(1).stdout(found);
}

#[test]
fn triggers_that_were_dropped_or_changed_are_found() {
    let repo = project();
    tamper(
        &repo,
        "DROP TRIGGER event_is_never_deleted; DROP TRIGGER event_never_changes;
         CREATE TRIGGER event_never_changes BEFORE UPDATE ON event BEGIN SELECT 1; END;",
    );
    repo.mk("verify").code(1).stdout(
        "schema: trigger event_is_never_deleted is missing\n\
         schema: trigger event_never_changes is not what it was made as\n\
         2 findings in 5 events, 2 branches\n",
    );
}

#[test]
fn rows_that_nothing_wrote_are_named() {
    let mut repo = project();
    repo.mk("lease acquire src/a.rs").success();
    repo.mk("note remembered --op-id once").success();
    repo.now_ms += 1_000;
    tamper(
        &repo,
        "UPDATE lease SET holder = 'mallory';
         UPDATE branch SET name = 'other' WHERE name = 'try';
         UPDATE current_branch SET branch = 'other';
         UPDATE operation SET report = replace(report, '\"ann\"', '\"bob\"');
         INSERT INTO setting VALUES ('gc.auto', 'maybe');",
    );
    repo.mk("verify").code(1).stdout(
        "branch-name branch other: was born as 'try', and nothing renamed it\n\
         lease: 'src/a.rs': no event says that it was granted so\n\
         setting: gc.auto: 'maybe' is not one of on, off\n\
         operation event 7: 'once': agent_id is not that of its event\n\
         4 findings in 7 events, 2 branches\n",
    );
}
