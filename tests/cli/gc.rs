//! `gc`, compaction after writes, and the command that summarizes.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Twelve notes of 30 tokens and one decision, with a threshold of 200.
fn noted() -> Sandbox {
    let mut repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    repo.mk("config gc.threshold 200").success();
    let note = |number: u64| {
        let words = format!("{number} of twelve thoughts, each with some words more than needed");
        format!("{{\"payload\":{{\"note\":\"{words}, so that it has weight\"}}}}\n")
    };
    repo.input = (1..=12).map(note).collect::<String>().into_bytes();
    repo.mk("append --batch -q").success();
    repo.input.clear();
    repo.mk("decide db sqlite -m 'one file'").success();
    repo
}

/// The insights that a reader is given.
fn insights(repo: &Sandbox) -> Vec<String> {
    let state = repo.json("fold");
    let insights = state["state"]["insights"].as_array().unwrap().iter();
    insights.map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_branch_is_compacted_and_its_state_stays() {
    noted().session(
        r#"
        $ mk gc -n
        main: 419 -> 107 tokens (estimate), 13 events would be compacted, 0 events kept
        $ mk gc --json
        {"branch_id":"main","triggered":true,"reason":"compacted","tokens_before":419,"tokens_after":108,"reduction_ratio":0.7422,"compacted_event_count":13,"retained_event_count":0,"snapshot_event_id":14,"covers_through_event_id":13,"covers_through_sequence":13,"base_snapshot_event_id":null,"compacted_first_event_id":1,"summarizer":"built-in","tokenizer":"estimate"}
        $ mk gc
        main: 108 tokens (estimate), below the threshold
        $ mk context --full
        [#14 seq=14 mk-gc SEMANTIC_SNAPSHOT] covers events through #13
        DECISION db = sqlite | one file (me #13)
        INSIGHT [me] 10 of twelve thoughts, each with some words more than needed, so that it has weight
        INSIGHT [me] 11 of twelve thoughts, each with some words more than needed, so that it has weight
        INSIGHT [me] 12 of twelve thoughts, each with some words more than needed, so that it has weight
        $ mk log --oneline -n 1
        b1f02fb8 14 mk-gc SEMANTIC_SNAPSHOT covers up to sequence 13
        $ mk rev-list --count
        14
        $ mk verify
        ok: 14 events, 1 branch
        "#,
    );
}

#[test]
fn what_compacts_is_no_agent_that_is_here() {
    let repo = noted();
    repo.mk("gc").success();
    assert_eq!(repo.json("log -n 1")["agent_id"], "mk-gc");
    let agents = repo.json("status")["agents"]["shown"].take();
    let ids: Vec<&str> =
        agents.as_array().unwrap().iter().map(|it| it["agent_id"].as_str().unwrap()).collect();
    assert_eq!((ids, &agents[0]["last_event_id"]), (vec!["me"], &13.into()));
}

#[test]
fn all_branches_are_compacted_one_by_one() {
    let repo = noted();
    repo.mk("fork side --at 3").success();
    repo.session(
        r#"
        $ mk gc --all --dry-run
        main: 419 -> 107 tokens (estimate), 13 events would be compacted, 0 events kept
        side: 137 tokens (estimate), below the threshold
        $ mk gc --all --json | tr '{' '\n' | grep -o '"branch_id":"[a-z]*","triggered":[a-z]*'
        "branch_id":"main","triggered":true
        "branch_id":"side","triggered":false
        $ mk gc side --force
        side: 137 -> 95 tokens (estimate), 4 events compacted, 0 events kept
        "#,
    );
}

#[test]
fn where_there_is_nothing_to_compact_it_says_why() {
    let repo = Sandbox::new();
    repo.session(
        "
        $ mk gc
        main: 0 tokens (estimate), below the threshold
        $ mk gc --force
        main: 0 tokens (estimate), nothing to compact
        $ mk decide a b > /dev/null
        $ mk gc --force
        main: 21 tokens (estimate), nothing to compact
        ",
    );
    let fatal = "fatal: no branch 'ghost'\nhint: see `mk branch`, or make it with `mk fork`\n";
    repo.refuses("gc ghost", 128, "branch-not-found", fatal);
    let fatal = "fatal: invalid value '@exec' for '[BRANCH_NAME]': branch name '@exec' has '@' at \
                 character 1\nhint: see `mk gc --help`\n";
    repo.refuses("gc @exec", 129, "invalid-argument", fatal);
    let fatal = "fatal: the argument '[BRANCH_NAME]' cannot be used with '--all'\nhint: see `mk gc --help`\n";
    repo.refuses("gc main --all", 129, "invalid-argument", fatal);
}

#[test]
fn a_setting_out_of_its_range_is_refused() {
    let repo = Sandbox::new();
    for (setting, value, range) in [
        ("gc.threshold", "0", "1 to 1000000000"),
        ("gc.threshold", "many", "1 to 1000000000"),
        ("gc.low-water", "1e3", "0 to 1000000000"),
        ("gc.retain-events", "1000000001", "0 to 1000000000"),
        ("gc.retain-tokens", "2.5", "0 to 1000000000"),
        ("gc.min-gain", "", "0 to 1000000000"),
        ("gc.summarizer-timeout", "0", "1 to 3600"),
        ("gc.summarizer-timeout", "3601", "1 to 3600"),
    ] {
        let fatal = format!("fatal: {setting}: '{value}' is no whole number from {range}\n");
        let line = format!("config {setting} '{value}'");
        repo.refuses(&line, 129, "invalid-argument", &fatal);
    }
    let fatal = "fatal: gc.auto: 'yes' is not one of on, off\n";
    repo.refuses("config gc.auto yes", 129, "invalid-argument", fatal);
    let fatal = "fatal: gc.summarizer: a command has 1 to 4096 characters and no NUL\n";
    repo.refuses("config gc.summarizer ' '", 129, "invalid-argument", fatal);
}

#[test]
fn writes_compact_a_branch_once_it_is_over_the_threshold() {
    let mut repo = noted();
    let snapshots = |repo: &Sandbox| {
        let log = repo.mk("log --oneline").success().get_output().stdout.clone();
        String::from_utf8(log).unwrap().matches("SEMANTIC_SNAPSHOT").count()
    };
    repo.mk("note 'gc.auto is off'").success();
    assert_eq!(snapshots(&repo), 0);
    repo.mk("config gc.auto on").success();
    repo.mk("gc").success();
    assert_eq!(snapshots(&repo), 1);
    // Once at the end, however many events a batch has.
    let line = "{\"payload\":{\"note\":\"a thought that takes up some room in a context\"}}\n";
    repo.input = line.repeat(60).into_bytes();
    repo.mk("append --batch -q").success().stdout("").stderr("");
    assert_eq!(snapshots(&repo), 2);
    // Each when it is due.
    repo.mk("append --each -q").success().stdout("").stderr("");
    assert!((3..30).contains(&snapshots(&repo)), "{}", snapshots(&repo));
    // A fork, a rollback and an undo never are.
    repo.input.clear();
    let before = snapshots(&repo);
    repo.mk("fork side --at 12").success();
    repo.mk("undo").success();
    assert!(snapshots(&repo) <= before);
    repo.mk("verify").success();
}

#[test]
fn a_compaction_that_fails_leaves_the_write_as_it_is() {
    let repo = noted();
    repo.mk("config gc.auto on").success();
    let store = rusqlite::Connection::open(repo.store().join("mk.db")).unwrap();
    store.execute("UPDATE setting SET value = 'x' WHERE key = 'gc.threshold'", ()).unwrap();
    drop(store);
    let done = repo.mk("note 'one more'").success();
    let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert_eq!(
        stderr,
        "warning: the event is stored, but not compacted: the store is damaged: the setting \
         gc.threshold is 'x'\n"
    );
    repo.mk("rev-list --count").success().stdout("14\n");
}

#[test]
fn a_summarizer_is_given_the_events_and_its_insights_are_cleaned() {
    let repo = noted();
    repo.write(
        "sum.sh",
        "cat > input.json\nprintf '%s' '{\"insights\": [\"  sqlite\\tit is \\u001b[1m\", \"b\", \"b\", \
         \"c\", \"d\", \"the sixth is too much\"]}'\n",
    );
    repo.mk("config gc.summarizer 'sh sum.sh'").success();
    let report = repo.json("gc");
    assert_eq!(report["summarizer"], "gc.summarizer");
    assert_eq!(report.get("summarizer_failure"), None);
    assert_eq!(insights(&repo), ["sqlite it is [1m", "b", "c", "d"]);
    let input = std::fs::read(repo.path("input.json")).unwrap();
    let input: Value = serde_json::from_slice(&input).unwrap();
    assert_eq!(input["schema"], "mk.summarize/v1");
    let events = input["events"].as_array().unwrap();
    assert_eq!(events.len() as u64, report["compacted_event_count"].as_u64().unwrap());
    assert_eq!(events[0]["event_id"], 1);
    assert_eq!(events[0]["event_type"], "AGENT_SCRATCHPAD");
    assert!(events[0]["text"].as_str().unwrap().starts_with("1 of twelve thoughts"));
    repo.mk("verify").success();
}

#[test]
fn a_secret_that_a_summarizer_makes_up_is_not_stored() {
    let repo = noted();
    let token = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    repo.write("answer.json", format!("[\"the token is {token}\"]"));
    repo.mk("config gc.summarizer 'cat answer.json'").success();
    repo.mk("gc").success();
    assert_eq!(insights(&repo).len(), 1);
    assert!(!insights(&repo)[0].contains(&token), "{:?}", insights(&repo));
}

#[test]
fn a_summarizer_that_fails_is_replaced_by_the_built_in_one() {
    for (command, why) in [
        ("sleep 60", "it did not end within 1 s"),
        ("cat > /dev/null; echo '[]'; sleep 60", "it did not end within 1 s"),
        ("trap '' TERM INT; sleep 60 & sleep 60", "it did not end within 1 s"),
        ("yes | head -c 1000000000", "it printed more than 65536 bytes"),
        ("echo 'here you are: insight'", "it printed no JSON array of texts"),
        ("echo '[1, 2]'", "it printed no JSON array of texts"),
        ("echo '{\"answers\": []}'", "it printed no JSON array of texts"),
        ("printf '[\"\\377\"]'", "it printed no JSON array of texts"),
        ("true", "it printed no JSON array of texts"),
        ("echo '[\"x\"]'; exit 1", "it ended with exit status: 1"),
        ("./no-such-program", "it ended with exit status: 127"),
        ("kill -9 $$", "it ended with signal: 9 (SIGKILL)"),
    ] {
        let repo = noted();
        repo.mk("config gc.summarizer-timeout 1").success();
        repo.mk_words(&["config", "gc.summarizer", command]).success();
        let begun = Instant::now();
        let done = repo.mk("gc --json").success();
        assert!(begun.elapsed() < Duration::from_secs(20), "{command}: {:?}", begun.elapsed());
        let output = done.get_output();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["triggered"], true, "{command}");
        assert_eq!(report["summarizer"], "built-in", "{command}");
        assert_eq!(report["summarizer_failure"], why, "{command}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            stderr,
            format!("warning: gc.summarizer: {why}; the built-in one stood in\n"),
            "{command}"
        );
        assert!(insights(&repo).iter().all(|insight| insight.starts_with("[me] ")), "{command}");
    }
}

#[test]
fn what_a_summarizer_leaves_running_is_ended_and_its_answer_taken() {
    // With its output open, and without.
    for left in ["(sleep 2; touch survived) &", "(sleep 2; touch survived) >/dev/null &"] {
        let repo = noted();
        repo.write("left.sh", format!("{left}\necho '[\"said before\"]'\n"));
        repo.mk("config gc.summarizer 'sh left.sh'").success();
        let begun = Instant::now();
        assert_eq!(repo.json("gc")["summarizer"], "gc.summarizer");
        assert_eq!(insights(&repo), ["said before"]);
        std::thread::sleep(Duration::from_millis(2_500).saturating_sub(begun.elapsed()));
        assert!(!repo.path("survived").exists(), "{left}");
    }
}

#[test]
fn a_summarizer_that_compacts_does_not_run_itself() {
    let repo = noted();
    repo.write("again.sh", "echo x >>runs; mk gc --force -n >/dev/null; echo '[\"of one\"]'\n");
    repo.mk("config gc.summarizer 'sh again.sh'").success();
    assert_eq!(repo.json("gc")["summarizer"], "gc.summarizer");
    assert_eq!(std::fs::read_to_string(repo.path("runs")).unwrap(), "x\n");
}

#[test]
fn what_is_erased_meanwhile_is_in_no_snapshot() {
    let repo = noted();
    repo.mk("decide key topsecret -m why").success();
    repo.write(
        "slow.sh",
        "cat >/dev/null; mk erase main@14 main@3 -m leaked >/dev/null; echo '[\"it is topsecret\"]'\n",
    );
    repo.mk("config gc.summarizer 'sh slow.sh'").success();
    let done = repo.mk("gc --json").success().stderr(
        "warning: gc.summarizer: events were erased while it ran; the built-in one stood in\n",
    );
    let report: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["triggered"], true);
    assert_eq!(report["summarizer"], "built-in");
    assert_eq!(report["compacted_event_count"], 14);
    repo.mk("verify").success().stdout("ok: 17 events, 2 branches\n");
    for file in std::fs::read_dir(repo.store()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        assert!(!bytes.windows(9).any(|it| it == b"topsecret"), "{}", path.display());
    }
    // Whatever else is missing, the state holds without it.
    let state = repo.json("fold")["state"].to_string();
    assert!(state.contains("sqlite") && !state.contains("topsecret"), "{state}");
}

#[test]
fn a_snapshot_that_still_holds_what_was_erased_is_erased_by_asking_again() {
    let repo = noted();
    repo.mk("gc").success();
    let place = repo.store().join("mk.db");
    let open = || rusqlite::Connection::open(&place).unwrap();
    let trigger: String = open()
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'event_never_changes'", (), |row| {
            row.get(0)
        })
        .unwrap();
    let said: (Vec<u8>, String, String) = open()
        .query_row("SELECT salt, payload, metadata FROM event WHERE id = 14", (), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    repo.mk("erase 13 -m leaked").success();
    let store = open();
    store.execute_batch("DROP TRIGGER event_never_changes").unwrap();
    let sql = "UPDATE event SET salt = ?1, payload = ?2, metadata = ?3 WHERE id = 14";
    assert_eq!(store.execute(sql, said).unwrap(), 1);
    store.execute_batch(&trigger).unwrap();
    drop(store);
    assert!(repo.json("show 14").to_string().contains("sqlite"));
    repo.mk("erase 13 -m again").success();
    assert!(!repo.json("show 14").to_string().contains("sqlite"));
    repo.mk("erase 13 -m again").code(1);
    repo.mk("verify").success();
}

#[test]
fn a_summarizer_is_not_run_where_nothing_is_won() {
    let repo = Sandbox::new();
    repo.mk("config gc.summarizer 'touch ran'").success();
    for line in ["note x", "gc", "gc --force", "gc --all"] {
        repo.mk(line).success();
    }
    assert!(!repo.path("ran").exists());
}

#[test]
fn compactions_and_appends_of_many_processes_lose_nothing() {
    let repo = Sandbox::new();
    repo.mk("config core.durability normal").success();
    repo.mk("config gc.threshold 120").success();
    let line = "{\"payload\":{\"note\":\"some words that take up room in the context of all\"}}\n";
    repo.write("events.jsonl", line.repeat(40));
    let writers =
        (0..4).map(|number| format!("mk --agent w{number} append --each -q < events.jsonl"));
    let script = writers.map(|line| format!("{line} &\n")).collect::<String>();
    let collector =
        "for i in 1 2 3 4 5 6 7 8 9 10; do mk gc --force -q; mk gc --force > out; done &\n";
    let collector = collector.replace("mk gc --force -q; ", "");
    repo.sh(&format!("{script}{collector}wait")).success().stderr("");
    let log = repo.mk("log --oneline -n 1000").success().get_output().stdout.clone();
    let log = String::from_utf8(log).unwrap();
    assert_eq!(log.matches("AGENT_SCRATCHPAD").count(), 160);
    assert!(log.contains("SEMANTIC_SNAPSHOT"));
    repo.mk("verify").success();
    repo.mk("gc").success();
    let state = repo.json("gc --dry-run");
    assert!(state["tokens_before"].as_u64().unwrap() < 400, "{state}");
}
