//! `--branch`, `--agent`, `--db`, `-C`, their variables, and `MK_DATE`.

use crate::sandbox::Sandbox;

#[test]
fn options_of_every_command_go_before_and_after_its_name() {
    let repo = Sandbox::new();
    repo.mk("fork try").success();
    for line in ["--agent ann --branch try note x", "note x --agent ann --branch try"] {
        let answer = repo.json(line);
        assert_eq!((&answer["agent_id"], &answer["branch_id"]), (&"ann".into(), &"try".into()));
    }
    std::fs::create_dir(repo.path("elsewhere")).unwrap();
    let place = repo.path("elsewhere/.mk/mk.db").display().to_string();
    repo.mk("-C elsewhere init --db .mk.db").success();
    repo.mk("init elsewhere").success();
    for line in ["-C elsewhere rev-parse --store", "rev-parse --store -C elsewhere"] {
        repo.mk(line).success().stdout(format!("{place}\n"));
    }
    for line in ["--db elsewhere/.mk.db anchor", "anchor --db elsewhere/.mk.db"] {
        repo.mk(line).success();
    }
    let named = repo.path("elsewhere/.mk.db").display().to_string();
    assert_eq!(repo.json("-C elsewhere --db .mk.db rev-parse --store")["store"], named);
}

#[test]
fn an_option_wins_over_a_variable_and_a_variable_over_a_setting() {
    let mut repo = Sandbox::new();
    repo.mk("fork try").success();
    repo.mk("fork other").success();
    let who = |repo: &Sandbox, line: &str| {
        let answer = repo.json(line);
        format!("{} on {}", answer["agent_id"], answer["branch_id"]).replace('"', "")
    };
    assert_eq!(who(&repo, "note x"), "me on main");
    repo.mk("config agent.id set").success();
    assert_eq!(who(&repo, "note x"), "set on main");
    repo.set("MK_AGENT", "env");
    repo.set("MK_BRANCH", "try");
    assert_eq!(who(&repo, "note x"), "env on try");
    assert_eq!(who(&repo, "note x --agent opt --branch other"), "opt on other");
    repo.set("MK_AGENT", "");
    repo.set("MK_BRANCH", "");
    assert_eq!(who(&repo, "note x"), "set on main");
}

#[test]
fn variables_are_checked_like_options_and_named() {
    let mut repo = Sandbox::new();
    repo.set("MK_AGENT", "a b");
    let stderr = "fatal: MK_AGENT: agent id 'a b' has U+0020 at character 2\n";
    repo.refuses("note x", 129, "invalid-argument", stderr);
    repo.set("MK_AGENT", "ann");
    repo.set("MK_BRANCH", "a..\n");
    let stderr = "fatal: MK_BRANCH: branch name 'a..\\n' has U+000A at character 4\n";
    repo.refuses("note x", 129, "invalid-argument", stderr);
    repo.set("MK_BRANCH", "nope");
    let stderr = "fatal: no branch 'nope'\nhint: see `mk branch`, or make it with `mk fork`\n";
    repo.refuses("note x", 128, "branch-not-found", stderr);
}

#[test]
fn the_store_can_be_named() {
    let mut repo = Sandbox::empty();
    repo.mk("init --db here.db").success();
    repo.session(
        r#"
        $ mk note x
        ! fatal: not a mk project (or any of the parent directories): ~
        ! hint: make one with `mk init`
        [128]
        $ MK_DB=here.db mk note x --json
        {"event_id":1,"hash":"b37935f09daa31ffd40bb5b82c017e0a89a993a7f611d4adddd78c2e4b37ff5b","sequence":1,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":null,"event_type":"AGENT_SCRATCHPAD"}
        $ MK_DB=nowhere.db mk --db here.db rev-list --count
        1
        $ MK_DB=nowhere.db mk log
        ! fatal: no store at 'nowhere.db'
        ! hint: make it with `mk init`, or name another with --db
        [128]
        $ mk --db nowhere.db note x
        ! fatal: no store at 'nowhere.db'
        ! hint: make it with `mk init`, or name another with --db
        [128]
        $ mk --db '' note x
        ! fatal: '--db <FILE>' needs a value
        ! hint: see `mk note --help`
        [129]
        $ MK_DB= mk log
        ! fatal: not a mk project (or any of the parent directories): ~
        ! hint: make one with `mk init`
        [128]
        $ mk --db . log
        ! fatal: cannot read '.': Is a directory (os error 21)
        [128]
        "#,
    );
    repo.set("MK_DB", "here.db");
    repo.mk("anchor").success();
}

#[test]
fn the_time_of_events_is_what_mk_date_says_but_never_runs_back() {
    Sandbox::new().session(
        r#"
        $ MK_DATE=2026-12-24T18:00:00+01:00 mk note x --json
        {"event_id":1,"hash":"8024f49563572d7e03f8c106cb684c3fd44f64543dfa5e0c303f4494a692034e","sequence":1,"timestamp":"2026-12-24T17:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":null,"event_type":"AGENT_SCRATCHPAD"}
        $ MK_DATE=@0 mk note x --json
        {"event_id":2,"hash":"d85964a0ec73da2c2c9e998edb1639ce9a22d10279b499d6179c7804da1a9cb0","sequence":2,"timestamp":"2026-12-24T17:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":1,"event_type":"AGENT_SCRATCHPAD"}
        $ MK_DATE=yesterday mk note x
        ! fatal: MK_DATE: 'yesterday' is no time: use 2026-11-30T10:00:00Z (RFC 3339) or @SECONDS since 1970
        [129]
        $ MK_DATE='2026-12-24T18:00' mk note x --json
        {"error":{"code":"invalid-argument","message":"MK_DATE: '2026-12-24T18:00' is no time: use 2026-11-30T10:00:00Z (RFC 3339) or @SECONDS since 1970","hint":null,"retryable":false}}
        ! fatal: MK_DATE: '2026-12-24T18:00' is no time: use 2026-11-30T10:00:00Z (RFC 3339) or @SECONDS since 1970
        [129]
        $ MK_DATE=9999-12-31T23:59:60Z mk note x
        ! fatal: MK_DATE: '9999-12-31T23:59:60Z' is no time: use 2026-11-30T10:00:00Z (RFC 3339) or @SECONDS since 1970
        [129]
        $ mk rev-list --count
        2
        "#,
    );
}

#[test]
fn without_a_pinned_clock_the_real_one_is_used() {
    let mut repo = Sandbox::new();
    repo.set("MK_DATE", "");
    let answer = repo.json("note x");
    let year: i32 = answer["timestamp"].as_str().unwrap()[..4].parse().unwrap();
    assert!(year >= 2024, "{answer}");
}
