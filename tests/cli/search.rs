//! `mk search`

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

#[test]
fn words_mean_themselves() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk note "We use C++ and a.py, see POL-358; don't \"quote\" * NEAR(x) snake_case"
        95dc8f8a3e8f1909890845b9c07f98e3f3bde3f647cedc07d3fc53f8ad85501a
        $ mk note '設定ファイルを読む'
        7fa8eda0d4383f25df6487a661e2ec9265542b7a212850fa3ad167705d737f2d
        $ mk decide zone UTC -m 'the 設定 says so'
        367190e683fb4858cf1c6d19171529586a3bdcdac55239a451ca72ffd613578b
        $ mk --agent bob run --record --exit-code 1 --output 'FAILED t\nfromtimestamp' --fact n=1 -- pytest
        5c5334319e1eb1b5f99bd890ee668bb909bfdf412936d981f8f26159661e484e
        $ mk fork try
        try forked from main at event 4
        $ mk --branch try note 'C++ on the fork'
        e6dacf2bc704b47b5167e1e6fe53cf9e28dc1daff97ecdcf80631cb8e4551f6f
        $ mk search C++
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search c+ POL-358
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search "don't"
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search '"'
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search '*'
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search NEAR
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search case
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search 設定
        367190e6 3 me ARCHITECTURAL_DECISION the 設定 says so
        7fa8eda0 2 me AGENT_SCRATCHPAD 設定ファイルを読む
        $ mk search 語
        [1]
        $ mk search timestamp
        5c533431 4 bob TOOL_EXECUTION_LOG FAILED t\nfromtimestamp
        $ mk search -- -358
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk search 'x OR y'
        [1]
        $ mk search pytest 1
        5c533431 4 bob TOOL_EXECUTION_LOG $ pytest
        $ mk search '' -n 1
        5c533431 4 bob TOOL_EXECUTION_LOG $ pytest
        there are more: see --limit
        $ mk search --by bob ''
        5c533431 4 bob TOOL_EXECUTION_LOG $ pytest
        $ mk search --type ARCHITECTURAL_DECISION 設
        367190e6 3 me ARCHITECTURAL_DECISION the 設定 says so
        $ mk search --all 'c++'
        e6dacf2b 6 try me AGENT_SCRATCHPAD C++ on the fork
        95dc8f8a 1 main me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk --branch try search 'c++'
        e6dacf2b 6 me AGENT_SCRATCHPAD C++ on the fork
        95dc8f8a 1 me AGENT_SCRATCHPAD We use C++ and a.py, see POL-358; don't "quote" * NEAR(x) snake_case
        $ mk rollback 1 --include-others
        main rolled back to event 1: 3 events reverted
        $ mk search --lineage 設定
        367190e6 3 me ARCHITECTURAL_DECISION (reverted) the 設定 says so
        7fa8eda0 2 me AGENT_SCRATCHPAD (reverted) 設定ファイルを読む
        $ mk search 設定
        [1]
        $ mk search --all 設定 --json
        {"branch_id":null,"hits":[{"event_id":3,"hash":"367190e683fb4858cf1c6d19171529586a3bdcdac55239a451ca72ffd613578b","sequence":3,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","event_type":"ARCHITECTURAL_DECISION","live":false,"text":"the 設定 says so"},{"event_id":2,"hash":"7fa8eda0d4383f25df6487a661e2ec9265542b7a212850fa3ad167705d737f2d","sequence":2,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","event_type":"AGENT_SCRATCHPAD","live":false,"text":"設定ファイルを読む"}],"more":false}
        $ mk search
        ! fatal: the following required arguments were not provided: <WORD>...
        ! hint: see `mk search --help`
        [129]
        $ mk search x -n 0
        ! fatal: invalid value '0' for '--limit <N>': 0 is not in 1..=1000
        ! hint: see `mk search --help`
        [129]
        $ mk search --branch nope x
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
    "#,
    );
    repo.refuses(
        &format!("search {}", "x".repeat(1_025)),
        129,
        "too-large",
        "fatal: the query has 1025 characters, 1024 are allowed\n",
    );
}

#[test]
fn a_long_line_is_shown_around_the_word() {
    let repo = Sandbox::new();
    repo.mk(&format!("note '{}needle{}'", "a ".repeat(200), " b".repeat(200))).success();
    let found = repo.json("search needle");
    let text = found["hits"][0]["text"].as_str().unwrap();
    assert!(text.starts_with('…') && text.ends_with('…') && text.contains(" needle "));
    assert_eq!(text.chars().count(), 162);
}

/// With more events than are looked at one by one, and an index.
fn indexed() -> Sandbox {
    let mut repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    repo.mk("note '☃ж♞ first'").success();
    let notes = (0..1_000).map(|n| format!("{{\"payload\":{{\"note\":\"note {n}\"}}}}\n"));
    repo.input = notes.collect::<String>().into_bytes();
    repo.mk("append --batch -q").success();
    repo.input.clear();
    repo.mk("search ☃ж♞").success();
    assert!(fs::metadata(repo.path(".mk/mk.db-search")).unwrap().len() > 10_000);
    repo
}

#[track_caller]
fn finds_both(repo: &Sandbox) {
    for (word, count) in [("☃ж♞", 1), ("'note 999'", 1), ("'note 99'", 19)] {
        let found = repo.json(&format!("search {word}"));
        assert_eq!(found["hits"].as_array().unwrap().len(), count, "{word}");
    }
}

#[test]
fn the_index_is_private_and_can_be_deleted_damaged_or_of_another_log() {
    let repo = indexed();
    let index = repo.path(".mk/mk.db-search");
    assert_eq!(fs::metadata(&index).unwrap().permissions().mode() & 0o777, 0o600);
    finds_both(&repo);
    fs::remove_file(&index).unwrap();
    finds_both(&repo);
    let whole = fs::read(&index).unwrap();
    for damaged in [&b""[..], b"not a database, but of some length", &whole[..8_192]] {
        fs::write(&index, damaged).unwrap();
        finds_both(&repo);
    }
    let mut zeroed = whole.clone();
    zeroed[8_192..].fill(0);
    fs::write(&index, &zeroed).unwrap();
    finds_both(&repo);
    fs::write(&index, &zeroed).unwrap();
    let note = "note: the index of searches was not sound; the next search makes it anew\n";
    repo.mk("verify").success().stderr(note);
    repo.mk("verify").success().stderr("");
    finds_both(&repo);
    // Another log with the same ids.
    repo.mk("backup before").success();
    repo.mk("note 'only here'").success();
    let other = Sandbox::new();
    other.mk("note other").success();
    fs::write(other.path(".mk/mk.db-search"), &whole).unwrap();
    other.mk("search ☃ж♞").code(1);
    other.mk("search other").success();
    repo.mk("restore before --force").success();
    repo.mk("search only here").code(1);
    finds_both(&repo);
}

#[test]
fn what_was_erased_is_in_no_byte_of_the_index() {
    let repo = indexed();
    let holds = |repo: &Sandbox| {
        let files = fs::read_dir(repo.store()).unwrap();
        let needle = "☃ж♞".as_bytes();
        files.into_iter().any(|file| {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            bytes.windows(needle.len()).any(|window| window == needle)
        })
    };
    let in_index = |repo: &Sandbox| {
        let bytes = fs::read(repo.path(".mk/mk.db-search")).unwrap();
        bytes.windows(8).any(|window| window == "☃ж♞".as_bytes())
    };
    assert!(in_index(&repo), "the index has no such bytes before");
    repo.mk("erase 1 -m x").success();
    assert!(!holds(&repo));
    repo.mk("search ☃ж♞").code(1);
    repo.mk("search 'note 999'").success();
    assert!(!holds(&repo));
    // Where an import erases, the same.
    repo.mk("export log").success();
    let other = indexed();
    assert!(in_index(&other));
    other.write("log", fs::read(repo.path("log")).unwrap());
    other.mk("import log").success();
    assert!(!holds(&other));
    other.mk("search ☃ж♞").code(1);
}

#[test]
fn a_store_that_cannot_be_written_is_searched_without_an_index() {
    let repo = indexed();
    fs::remove_file(repo.path(".mk/mk.db-search")).unwrap();
    fs::remove_file(repo.path(".mk/mk.db-search-lock")).unwrap();
    let store = repo.store();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o500)).unwrap();
    let before = repo.files();
    let is_root = fs::write(store.join("probe"), "").is_ok();
    let _ = fs::remove_file(store.join("probe"));
    repo.mk("search ☃ж♞").success();
    repo.mk("search 'note 999'").success();
    // Who may write everything makes an index all the same.
    if !is_root {
        assert_eq!(repo.files(), before);
    }
    fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).unwrap();
}
