//! `mk import memkernel`

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use sha2::Digest;

use crate::locks::start;
use crate::sandbox::Sandbox;

/// A sandbox with a project, and with a database of the peer at `old/sample.db`.
fn with_sample() -> Sandbox {
    with("memkernel-import/sample.db")
}

fn with(case: &str) -> Sandbox {
    let repo = Sandbox::new();
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(case);
    fs::create_dir(repo.path("old")).unwrap();
    repo.write("old/sample.db", fs::read(file).unwrap());
    repo
}

/// Everything that can be told of the files beside the source from outside.
fn trace(repo: &Sandbox) -> Vec<(String, String, [std::time::SystemTime; 2])> {
    let mut files: Vec<_> = fs::read_dir(repo.path("old"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            // Read first: the access time it sets is the one that must stay.
            let digest = mk::id::hex(&sha2::Sha256::digest(fs::read(entry.path()).unwrap()));
            let metadata = entry.metadata().unwrap();
            let times = [metadata.modified().unwrap(), metadata.accessed().unwrap()];
            (entry.file_name().into_string().unwrap(), digest, times)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_project_moves_in_with_its_branches_and_numbers() {
    let repo = with_sample();
    repo.session(
        "
        $ mk import memkernel old/sample.db --dry-run
        main: 10 events
        try/lru: 4 events
        leases: 1 counter
        would import 14 events
        $ mk rev-list --count
        0
        $ mk import memkernel old/sample.db
        main: 10 events
        try/lru: 4 events
        leases: 1 counter
        imported 14 events as 84642ef3899a1f87f4b4c8d76f9cd02b
        $ mk log --oneline -n 3 --branch try/lru | cut -d' ' -f2-
        10 bob ROLLBACK_TRIGGERED to sequence 8: disproven
        8 bob ARCHITECTURAL_DECISION cache.kind = none
        7 bob BRANCH_FORKED from main at sequence 6: other idea
        $ mk context | head -3
        TASK alice: cache the price list | constraints: no new service
        DECISION cache.kind = redis | two hosts need it (alice #3)
        FACT suite = green (alice #11)
        $ mk verify
        ok: 15 events, 3 branches
        $ mk import memkernel old/sample.db
        nothing to import, 14 events known
        $ mk note 'from here on with mk' > /dev/null
        $ mk import memkernel old/sample.db
        nothing to import, 14 events known
        $ mk verify
        ok: 16 events, 3 branches
        ",
    );
}

#[test]
fn a_project_with_events_takes_it_in_under_a_prefix() {
    let repo = with_sample();
    repo.mk("note 'mine'").success();
    repo.refuses(
        "import memkernel old/sample.db",
        1,
        "prefix-required",
        "error: the project has events of its own, so imported branches need a prefix\n\
         hint: name one with --prefix: branch b becomes PREFIX/b\n",
    );
    repo.mk("fork old/main").success();
    repo.refuses(
        "import memkernel old/sample.db --prefix old",
        1,
        "branch-exists",
        "error: a branch named 'old/main' exists\nhint: choose another --prefix\n",
    );
    repo.mk("import memkernel old/sample.db --prefix peer").success();
    repo.mk("import memkernel old/sample.db --prefix peer")
        .success()
        .stdout("nothing to import, 14 events known\n");
    let shown = repo.json("show peer/try/lru")["events"][0].take();
    assert_eq!(shown["payload"]["target_event_id"], 8);
    assert_eq!(shown["resolved"]["target_event_id"], 10);
    assert_eq!(shown["resolved"]["reverted_event_ids"], serde_json::json!([11]));
    assert_eq!(shown["metadata"]["import"]["event_id"], 10);
    repo.mk("verify").success();
}

#[test]
fn what_came_since_is_taken_in_and_what_diverged_is_not() {
    let repo = with("kernel/db/small.db");
    let peer = Connection::open(repo.path("old/sample.db")).unwrap();
    peer.pragma_update(None, "foreign_keys", false).unwrap();
    let cut = "DROP TRIGGER events_no_delete;
        DELETE FROM events WHERE event_id > 28;
        UPDATE branches SET head_event_id = 20, head_sequence = 18,
          head_hash = (SELECT hash FROM events WHERE event_id = 20) WHERE branch_id = 'main'";
    let whole = fs::read(repo.path("old/sample.db")).unwrap();
    peer.execute_batch(cut).unwrap();
    drop(peer);
    repo.mk("import memkernel old/sample.db").success();
    let shorter = fs::read(repo.path("old/sample.db")).unwrap();

    fs::remove_dir_all(repo.path("old")).unwrap();
    fs::create_dir(repo.path("old")).unwrap();
    repo.write("old/sample.db", &whole);
    repo.mk("note 'mine' --branch rescue").success();
    repo.mk("import memkernel old/sample.db --dry-run")
        .success()
        .stdout("main: 2 events, 18 known\nwould import 2 events\n");
    repo.mk("import memkernel old/sample.db").success();
    repo.mk("verify").success();
    repo.mk("rev-parse --short main@20").success();

    repo.write("old/sample.db", &shorter);
    repo.mk("import memkernel old/sample.db")
        .success()
        .stdout("nothing to import, 30 events known\n")
        .stderr(
            "warning: source_event_gone: 'main' at event 29: \
             it was imported, and is no longer in the source\n",
        );

    let other = with("kernel/db/small.db");
    other.write("old/sample.db", &shorter);
    other.mk("import memkernel old/sample.db").success();
    other.mk("note 'mine'").success();
    other.write("old/sample.db", &whole);
    other.refuses(
        "import memkernel old/sample.db",
        1,
        "import-diverged",
        "error: 'main' has events of its own since the last import, from event 32 back\n\
         hint: import the whole source again, under another --prefix\n",
    );
}

#[test]
fn what_is_not_in_the_main_file_yet_is_read_and_the_source_stays_as_it_is() {
    let repo = with_sample();
    let file = repo.path("old/sample.db");
    let peer = Connection::open(&file).unwrap();
    peer.pragma_update(None, "journal_mode", "WAL").unwrap();
    peer.execute_batch(
        "INSERT INTO coordination_notices VALUES ('n1', '{\"message\":\"mind the gap\"}', NULL)",
    )
    .unwrap();
    let trace_before = trace(&repo);
    assert!(
        trace_before
            .iter()
            .any(|(name, content, ..)| { name == "sample.db-wal" && !content.is_empty() })
    );
    repo.mk("import memkernel old/sample.db --dry-run").success();
    repo.sh("chmod 500 old && mk import memkernel old/sample.db; chmod 700 old").success();
    assert_eq!(trace(&repo), trace_before);
    let notice = repo.json("show 15")["events"][0].take();
    assert_eq!(notice["event_type"], "IMPORTED");
    assert_eq!(notice["branch_id"], "@import");
    assert_eq!(notice["payload"]["row"]["document"], "{\"message\":\"mind the gap\"}");
    let finished = repo.json("show 16")["events"][0].take();
    assert_eq!(finished["event_type"], "IMPORT_FINISHED");
    assert_eq!(
        finished["payload"]["counts"],
        serde_json::json!({"branches": 2, "events": 14, "rows": 1})
    );
}

#[test]
fn a_stranger_s_file_is_left_alone() {
    let repo = with_sample();
    let stranger = Connection::open(repo.path("old/app.db")).unwrap();
    stranger.execute_batch("CREATE TABLE app(x); INSERT INTO app VALUES (1)").unwrap();
    drop(stranger);
    let before = trace(&repo);
    repo.refuses(
        "import memkernel old/app.db",
        1,
        "not-memkernel",
        "error: '~/old/app.db' is no MemKernel database: it has no table 'branches'\n",
    );
    repo.refuses(
        "import memkernel old/none.db",
        128,
        "io",
        "fatal: cannot read 'old/none.db': No such file or directory (os error 2)\n",
    );
    assert_eq!(trace(&repo), before);
}

#[test]
fn a_dry_run_in_a_project_that_cannot_be_written_writes_nothing() {
    let repo = with_sample();
    let before = repo.files();
    let temporary = repo.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let script = "chmod 500 .mk && TMPDIR=tmp mk import memkernel old/sample.db --dry-run --json";
    let done = repo.sh(script).success();
    let plan: serde_json::Value =
        serde_json::from_slice(&done.get_output().stdout).expect("one JSON document");
    assert_eq!(plan["mode"], "dry_run");
    assert_eq!(plan["planned_actions"][0]["object"], "main");
    assert_eq!(plan["planned_actions"][0]["count"], 10);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    repo.sh("chmod 700 .mk && rmdir tmp").success();
    assert_eq!(repo.files(), before);
}

#[test]
fn a_broken_source_is_refused_unless_what_is_sound_of_it_is_enough() {
    let repo = with_sample();
    let peer = Connection::open(repo.path("old/sample.db")).unwrap();
    peer.pragma_update(None, "foreign_keys", false).unwrap();
    peer.execute_batch(
        "DROP TRIGGER events_no_update; UPDATE events SET agent_id = 'eve' WHERE event_id = 9",
    )
    .unwrap();
    drop(peer);
    repo.refuses(
        "import memkernel old/sample.db",
        1,
        "plan-blocked",
        "error: the source is broken: 'try/lru' at event 9: its hash is not that of its members\n\
         hint: see all of it with --dry-run, or import what is sound with --allow-corrupt\n",
    );
    repo.mk("import memkernel old/sample.db --dry-run").success().stdout(
        "main: 10 events\ntry/lru: 2 events\nleases: 1 counter\n\
         blocker: 'try/lru' at event 9: its hash is not that of its members\n\
         would import 12 events\n",
    );
    repo.mk("import memkernel old/sample.db --allow-corrupt").success().stderr(
        "warning: chain_broken: 'try/lru' at event 9: its hash is not that of its members\n\
         warning: event_ids_changed: 'main' at event 11: \
         ids are not kept from here on: it is event 9\n",
    );
    repo.mk("verify").success();
}

#[test]
fn an_importer_that_is_killed_leaves_nothing_or_everything() {
    let mut repo = with("kernel/db/medium.db");
    let temporary = repo.path("tmp");
    // The copy of an importer that runs, and directories that are not of one.
    let of_another = "mk-import-0123456789abcdef";
    let not_ours = ["mk-import-20261201-dumps", "mk-import-aaaaaaaaaaaaaaaa"];
    for name in not_ours.into_iter().chain([of_another]) {
        fs::create_dir_all(temporary.join(name)).unwrap();
        fs::set_permissions(temporary.join(name), Permissions::from_mode(0o700)).unwrap();
    }
    for name in not_ours {
        fs::write(temporary.join(name).join("all.ndjson"), "").unwrap();
    }
    let runs = fs::File::open(temporary.join(of_another)).unwrap();
    runs.lock().unwrap();
    repo.set("TMPDIR", temporary.to_str().unwrap());
    let mut imported = false;
    for delay in [2, 5, 10, 20, 30, 40, 60, 80, 120] {
        if imported {
            break;
        }
        let mut mk = start(&repo, "import memkernel old/sample.db");
        thread::sleep(Duration::from_millis(delay));
        let _ = kill_process(Pid::from_child(&mk), Signal::KILL);
        mk.wait().unwrap();
        let done = repo.mk("rev-list --count --all").success();
        let count = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        assert!(["0\n", "1027\n"].contains(&&*count), "{count} after {delay} ms");
        imported = count != "0\n";
        repo.mk("verify").success();
    }
    repo.mk("import memkernel old/sample.db").success();
    repo.mk("import memkernel old/sample.db")
        .success()
        .stdout("nothing to import, 1026 events known\n");
    let mut left: Vec<_> =
        fs::read_dir(&temporary).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [of_another, not_ours[0], not_ours[1]]);
    assert!(not_ours.iter().all(|name| temporary.join(name).join("all.ndjson").exists()));
    drop(runs);
    repo.mk("import memkernel old/sample.db").success();
    assert!(!temporary.join(of_another).exists());
}
