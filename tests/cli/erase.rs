//! `mk erase`: the bytes are gone, and the log holds.

use std::fs;

use crate::sandbox::Sandbox;

/// How often `needle` stands in the files of the store.
fn found(sandbox: &Sandbox, needle: &str) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(sandbox.store()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        count += bytes.windows(needle.len()).filter(|window| *window == needle.as_bytes()).count();
    }
    count
}

#[test]
fn no_byte_of_what_was_erased_is_left_in_any_file() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MK_AGENT", "ann");
    sandbox.mk("config gc.auto off").success();
    // Content of some pages, and enough around it for pages to be split and merged.
    let secret = "hunter2-".repeat(900);
    for number in 0..40 {
        sandbox.mk(&format!("note 'before {number} {}'", "x".repeat(300))).success();
    }
    // Else all events have one salt here.
    sandbox.set("MK_SALT_SEED", "of its own");
    sandbox.mk(&format!("fact 'password={secret}' --op-id once")).success();
    sandbox.set("MK_SALT_SEED", "sandbox");
    sandbox
        .mk("append --meta '{\"why\":\"metadata-hunter2\"}' --payload '{\"note\":\"n\"}'")
        .success();
    for number in 0..40 {
        sandbox.mk(&format!("fact key-{number}={}", "y".repeat(300))).success();
    }
    let event = sandbox.json("show 41")["events"][0].clone();
    let line = sandbox.mk("cat-event 41").success().get_output().stdout.clone();
    let salt = String::from_utf8(line).unwrap();
    let salt = salt.split("\"salt\":\"").nth(1).unwrap()[..32].to_owned();
    assert!(found(&sandbox, "hunter2") > 0);
    sandbox.mk("erase 41 42 -m 'it was a password'").success();
    assert_eq!(found(&sandbox, "hunter2"), 0);
    let salt = mk::id::unhex(&salt).unwrap();
    for entry in fs::read_dir(sandbox.store()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(16).any(|window| window == salt));
    }
    assert_eq!(fs::metadata(sandbox.store().join("mk.db-wal")).map_or(0, |wal| wal.len()), 0);
    sandbox.mk("verify").success();
    sandbox.mk("backup copy.db").success();
    sandbox.mk("export copy.ndjson").success();
    for name in ["copy.db", "copy.ndjson"] {
        let bytes = fs::read(sandbox.path(name)).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"hunter2"), "{name}");
    }
    let after = sandbox.json("show 41")["events"][0].clone();
    assert_eq!(after["hash"], event["hash"]);
    assert!(after["payload"].is_null() && after["metadata"].is_null());
    // The op id is free again, and the fact is gone.
    let state = sandbox.json("fold");
    assert!(!state.to_string().contains("password"), "{state}");
    sandbox.mk("fact other=1 --op-id once").success();
}

#[test]
fn what_a_killed_restore_left_is_erased_too() {
    let sandbox = Sandbox::new();
    sandbox.mk("note hunter2").success();
    sandbox.mk("backup copy.db").success();
    // As a restore has it when it is killed while it checks the backup.
    sandbox.sh("cp copy.db .mk/mk.db-restore; cp copy.db .mk/mk.db-restore-wal").success();
    sandbox.mk("erase 1 -m 'it was a password'").success();
    assert_eq!(found(&sandbox, "hunter2"), 0);
    sandbox.mk("restore copy.db --force").success();
}

#[test]
fn what_cannot_be_erased_is_refused() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MK_AGENT", "ann");
    sandbox.mk("decide db sqlite").success();
    sandbox.mk("note x").success();
    sandbox.mk("erase 2 -m why").success();
    sandbox.refuses(
        "erase 2 -m why",
        1,
        "not-erasable",
        "error: event 2 cannot be erased: it is erased\nhint: see `mk show`\n",
    );
    sandbox.refuses(
        "erase 3 -m why",
        1,
        "not-erasable",
        "error: event 3 cannot be erased: it belongs to mk\nhint: see `mk show`\n",
    );
    sandbox.refuses(
        "erase 99 -m why",
        128,
        "event-not-found",
        "fatal: no event '99': ids go from 1 to 3\nhint: see `mk log`\n",
    );
    sandbox.mk("erase 1").code(129);
    sandbox.mk("erase -m why").code(129);
}

#[test]
fn a_snapshot_goes_with_what_it_holds_and_cannot_go_alone() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MK_AGENT", "ann");
    sandbox.mk("decide db hunter2 -m why").success();
    let mut state = sandbox.json("fold --branch main");
    let hash = sandbox.mk("rev-parse main").success().get_output().stdout.clone();
    let hash = String::from_utf8(hash).unwrap().trim().to_owned();
    let snapshot = state.as_object_mut().unwrap();
    if let Some(inner) = snapshot.remove("state") {
        *snapshot = inner.as_object().unwrap().clone();
    }
    for section in ["decisions"] {
        for record in snapshot[section].as_object_mut().unwrap().values_mut() {
            record
                .as_object_mut()
                .unwrap()
                .retain(|name, _| !name.ends_with("_id") || name == "agent_id");
        }
    }
    snapshot.insert("schema".to_owned(), "mk.snapshot/v1".into());
    snapshot.insert("covers_through_sequence".to_owned(), 1.into());
    snapshot.insert("covers_through_hash".to_owned(), hash.into());
    sandbox.write("snapshot.json", serde_json::to_string(&snapshot).unwrap());
    sandbox.mk("append --type SEMANTIC_SNAPSHOT --payload @snapshot.json").success();
    sandbox.mk("note after").success();
    sandbox.refuses(
        "erase 2 -m why",
        1,
        "not-erasable",
        "error: event 2 cannot be erased: a snapshot goes with the events it stands for; erase those\n\
         hint: see `mk show`\n",
    );
    let report = sandbox.json("erase 1 -m why");
    assert_eq!(report["erased"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(report["erased"][1]["event_id"], 2);
    assert_eq!(found(&sandbox, "hunter2"), 0);
    sandbox.mk("verify").success().stdout("ok: 5 events, 2 branches\n");
    sandbox.mk("context").success();
}

#[test]
fn copies_are_named_and_erased_on_request() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MK_AGENT", "ann");
    sandbox.mk("note hunter2").success();
    let hash = sandbox.mk("rev-parse main").success().get_output().stdout.clone();
    let hash = String::from_utf8(hash).unwrap().trim().to_owned();
    let copy =
        format!("append --payload '{{\"note\":\"hunter2\"}}' --meta '{{\"origin\":\"{hash}\"}}'");
    sandbox.mk(&copy).success();
    let plain = sandbox.mk("erase 1 -m why").success();
    assert_eq!(
        String::from_utf8_lossy(&plain.get_output().stderr),
        "warning: event 2 repeats what was erased; erase it too with --copies\n"
    );
    assert_eq!(found(&sandbox, "hunter2"), 1);
    sandbox.mk("erase 2 -m why --copies").success();
    assert_eq!(found(&sandbox, "hunter2"), 0);
}

#[test]
fn a_reader_that_holds_the_wal_is_told_of_and_the_rest_done_later() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MK_AGENT", "ann");
    sandbox.mk("note hunter2").success();
    let reader = rusqlite::Connection::open(sandbox.store().join("mk.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    let error = sandbox.refusal("erase 1 -m why --lock-timeout 0.2");
    assert_eq!(error["code"], "busy", "{error}");
    let said = error["message"].as_str().unwrap();
    assert!(said.starts_with("it is erased, but its bytes are still in the file: "), "{said}");
    assert_eq!(
        error["hint"],
        "finish with `mk erase --finish` when nobody reads and there is room"
    );
    assert!(found(&sandbox, "hunter2") > 0);
    drop(reader);
    sandbox.mk("erase --finish").success().stdout("");
    assert_eq!(found(&sandbox, "hunter2"), 0);
    sandbox.mk("verify").success();
}

/// Whatever prints what events say, of events 2 and 3, of `main` and of its fork `try`.
const READERS: [&str; 13] = [
    "show 2 3",
    "log",
    "log --oneline",
    "cat-event 2",
    "fold",
    "fold --branch try",
    "context",
    "context --full --branch try",
    "diff main try",
    "diff main~1 main",
    "blame db",
    "export",
    "status",
];

/// No reader says `needle`, nor is it in any file of the store.
#[track_caller]
fn is_nowhere(repo: &Sandbox, needle: &str) {
    for line in READERS {
        for line in [line.to_owned(), format!("--json {line}")] {
            let done = repo.mk(&line);
            let output = done.get_output();
            for bytes in [&output.stdout, &output.stderr] {
                let said = String::from_utf8_lossy(bytes);
                assert!(!said.contains(needle), "mk {line}: {said}");
            }
        }
    }
    repo.mk(&format!("search {needle}")).code(1).stdout("");
    assert_eq!(found(repo, needle), 0);
    repo.mk("verify").success();
}

#[test]
fn whatever_reads_passes_over_what_was_erased_here_and_in_what_is_made_of_it() {
    let mut repo = Sandbox::new();
    repo.set("MK_AGENT", "ann");
    repo.mk("config gc.auto off").success();
    repo.mk("decide db sqlite -m 'one file'").success();
    repo.mk("decide db hunter2 -m 'since hunter2 is short'").success();
    repo.mk("note 'hunter2 again' --meta '{\"seen\":\"hunter2\"}'").success();
    repo.mk("switch -c try").success();
    // So many that the search has an index.
    repo.input = "{\"payload\":{\"note\":\"another\"}}\n".repeat(600).into_bytes();
    repo.mk("append --batch -q").success();
    repo.input.clear();
    repo.mk("switch main").success();
    repo.mk("note after").success();
    let hits = repo.json("search hunter2");
    assert_eq!(hits["hits"].as_array().unwrap().len(), 2, "{hits}");
    assert!(repo.store().join("mk.db-search").exists());
    let said = |repo: &Sandbox| READERS.map(|line| repo.mk(line).get_output().stdout.clone());
    assert!(said(&repo).iter().all(|said| !said.is_empty()));

    repo.mk("erase 2 3 -m 'it was a password'").success();
    is_nowhere(&repo, "hunter2");
    repo.session(
        "
        $ mk log --oneline
        0d31c0f4 605 ann AGENT_SCRATCHPAD after
        47903fb2 3 ann AGENT_SCRATCHPAD [erased]
        d4541566 2 ann ARCHITECTURAL_DECISION [erased]
        7feb9793 1 ann ARCHITECTURAL_DECISION db = sqlite
        $ mk blame db
        7feb9793 1 ann 2026-11-30T10:00:00.000000Z sqlite | one file
        $ mk context
        DECISION db = sqlite | one file (ann #1)
        [#1 seq=1 ann ARCHITECTURAL_DECISION] db = sqlite | rationale: one file
        [#2 seq=2 ann ARCHITECTURAL_DECISION] [erased]
        [#3 seq=3 ann AGENT_SCRATCHPAD] [erased]
        [#605 seq=4 ann AGENT_SCRATCHPAD] after
        ! note: 2 events are erased and left out
        ",
    );

    // A backup, and what is restored of it.
    repo.mk("backup copy.db").success();
    let mut restored = Sandbox::new();
    restored.set("MK_AGENT", "ann");
    restored.write("copy.db", fs::read(repo.path("copy.db")).unwrap());
    restored.mk("restore copy.db --force").success();
    is_nowhere(&restored, "hunter2");
    assert_eq!(said(&restored), said(&repo));

    // An export, and where it is imported.
    let export = repo.mk("export").success().get_output().stdout.clone();
    let mut other = Sandbox::new();
    other.set("MK_AGENT", "ann");
    other.input.clone_from(&export);
    other.mk("import -").success();
    other.input.clear();
    is_nowhere(&other, "hunter2");
    other.mk("export").success().stdout(export);
    let value = |repo: &Sandbox| repo.json("fold")["state"]["decisions"]["db"]["value"].clone();
    assert_eq!((value(&repo), value(&other)), ("sqlite".into(), "sqlite".into()));
}
