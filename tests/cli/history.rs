//! `log --graph` and its filters, `blame`, `status`, `branch`, `stats`.

use crate::sandbox::Sandbox;

/// A project with two forks, a rollback, a retraction, a lease and a notice.
fn forked() -> Sandbox {
    let mut repo = Sandbox::new();
    let steps = [
        "--agent ann task 'store the results'",
        "--agent ann decide store files -m 'simple'",
        "--agent ann note 'try this'",
        "--agent ann note 'try harder'",
        "--agent bob fork try/sqlite --switch",
        "--agent bob decide store sqlite -m 'it is there'",
        "--agent ann rollback main@2 -m 'wrong way'",
        "--agent bob fork try/deep --from try/sqlite",
        "--agent cy --branch try/deep note deep",
        "--agent cy --branch main note later",
        "--agent ann fact port=80",
        "--agent ann fact port=81",
        "--agent ann append --type TOOL_EXECUTION_LOG --payload '{\"command\":\"cargo test\",\"exit_code\":101,\"output\":\"FAILED x\\n\"}'",
        "--agent ann retract decision store -m 'unclear'",
        "--agent ann lease acquire src/a.rs",
        "--agent ann notice post service:auth 'mind the gap'",
    ];
    for step in steps {
        repo.now_ms += 1_000;
        repo.mk(step).success();
    }
    repo
}

#[test]
fn a_graph_draws_forks_and_what_was_rolled_back() {
    forked().session(
        r#"
        $ mk log --graph
        * 0fe33960 15 ann FILE_CLAIM_ACQUIRED src/a.rs token 1 (main)
        * dafa01f1 14 ann RETRACTED decision store
        * 6976bae3 13 ann TOOL_EXECUTION_LOG $ cargo test (exit 101)
        * 84269b5b 12 ann TOOL_EXECUTION_LOG port=81
        * 97cf6f86 11 ann TOOL_EXECUTION_LOG port=80
        * f1298d05 10 cy AGENT_SCRATCHPAD later
        * e4f7c187 7 ann ROLLBACK_TRIGGERED to sequence 2: wrong way
        | * 6007c413 4 ann AGENT_SCRATCHPAD try harder (rolled back by 7)
        | * 57fb3765 3 ann AGENT_SCRATCHPAD try this
        |/
        * 6ef71f78 2 ann ARCHITECTURAL_DECISION store = files
        * 20e9903e 1 ann AGENT_TASK_INIT store the results
        $ mk log --graph --all
        * 0fe33960 15 ann FILE_CLAIM_ACQUIRED src/a.rs token 1 (main)
        * dafa01f1 14 ann RETRACTED decision store
        * 6976bae3 13 ann TOOL_EXECUTION_LOG $ cargo test (exit 101)
        * 84269b5b 12 ann TOOL_EXECUTION_LOG port=81
        * 97cf6f86 11 ann TOOL_EXECUTION_LOG port=80
        * f1298d05 10 cy AGENT_SCRATCHPAD later
        | * 0cce14bb 9 cy AGENT_SCRATCHPAD deep (try/deep)
        | * d7912d21 8 bob BRANCH_FORKED from try/sqlite at sequence 6
        * | e4f7c187 7 ann ROLLBACK_TRIGGERED to sequence 2: wrong way
        | * d43f19ac 6 bob ARCHITECTURAL_DECISION store = sqlite (try/sqlite)
        | * 7a6bc856 5 bob BRANCH_FORKED from main at sequence 4
        | * 6007c413 4 ann AGENT_SCRATCHPAD try harder (rolled back by 7)
        | * 57fb3765 3 ann AGENT_SCRATCHPAD try this
        |/
        * 6ef71f78 2 ann ARCHITECTURAL_DECISION store = files
        * 20e9903e 1 ann AGENT_TASK_INIT store the results
        $ mk log --graph --all -n 7
        * 0fe33960 15 ann FILE_CLAIM_ACQUIRED src/a.rs token 1 (main)
        * dafa01f1 14 ann RETRACTED decision store
        * 6976bae3 13 ann TOOL_EXECUTION_LOG $ cargo test (exit 101)
        * 84269b5b 12 ann TOOL_EXECUTION_LOG port=81
        * 97cf6f86 11 ann TOOL_EXECUTION_LOG port=80
        * f1298d05 10 cy AGENT_SCRATCHPAD later
        | * 0cce14bb 9 cy AGENT_SCRATCHPAD deep (try/deep)
        $ mk log --graph --format '%(short) %(branch)@%(sequence)' main@2
        * 6ef71f78 main@2
        * 20e9903e main@1
        "#,
    );
}

#[test]
fn a_log_is_filtered_by_time_key_and_text() {
    forked().session(
        r#"
        $ mk log --key port --format '%(event_id) %(agent) %(date) %(type): %(subject)'
        12 ann 2026-11-30T10:00:12.000000Z TOOL_EXECUTION_LOG: port=81
        11 ann 2026-11-30T10:00:11.000000Z TOOL_EXECUTION_LOG: port=80
        $ mk log --key store --lineage --all --oneline
        dafa01f1 14 ann RETRACTED decision store
        d43f19ac 6 bob ARCHITECTURAL_DECISION store = sqlite
        6ef71f78 2 ann ARCHITECTURAL_DECISION store = files
        $ mk log --oneline --grep FAILED
        6976bae3 13 ann TOOL_EXECUTION_LOG $ cargo test (exit 101)
        $ mk log --oneline --grep failed
        $ mk log --oneline --since 2026-11-30T10:00:14Z
        0fe33960 15 ann FILE_CLAIM_ACQUIRED src/a.rs token 1
        dafa01f1 14 ann RETRACTED decision store
        $ mk log --oneline --all --since @1796032808 --until @1796032809
        0cce14bb 9 cy AGENT_SCRATCHPAD deep
        d7912d21 8 bob BRANCH_FORKED from try/sqlite at sequence 6
        $ mk rev-list --count --until 2026-11-30T10:00:02Z
        2
        "#,
    );
}

#[test]
fn a_blame_goes_back_through_retractions() {
    forked().session(
        r#"
        $ mk blame store
        dafa01f1 14 ann 2026-11-30T10:00:14.000000Z [retracted] | unclear
        6ef71f78 2 ann 2026-11-30T10:00:02.000000Z files | simple
        $ mk blame store --at try/deep
        d43f19ac 6 bob 2026-11-30T10:00:06.000000Z sqlite | it is there
        6ef71f78 2 ann 2026-11-30T10:00:02.000000Z files | simple
        $ mk blame port -n 1
        84269b5b 12 ann 2026-11-30T10:00:12.000000Z 81
        [it goes back further: mk blame port --at 11]
        $ mk blame port --at 11
        97cf6f86 11 ann 2026-11-30T10:00:11.000000Z 80
        $ mk blame store --json -n 1
        {"branch_id":"main","kind":"decision","key":"store","values":[{"event_id":14,"hash":"dafa01f14db729b6fbba3a02452b963b4dac031ceee0a5bba2c5d619dd103079","sequence":10,"timestamp":"2026-11-30T10:00:14.000000Z","agent_id":"ann","branch_id":"main","act":"retracted","value":null,"rationale":"unclear"}],"next":{"at":2}}
        "#,
    );
}

#[test]
fn a_status_says_how_things_stand() {
    forked().session(
        r#"
        $ mk status
        On branch main, at event 15 (@11)
        Context: 310 tokens (estimate), shown in at most 4000
        Agents:
          ann on main, event 15 of 2026-11-30T10:00:15.000000Z: store the results
          cy on main, event 10 of 2026-11-30T10:00:10.000000Z
          bob on try/deep, event 8 of 2026-11-30T10:00:08.000000Z
        Leases:
          src/a.rs of ann, 29 s left
        Blockers:
          cargo test: FAILED x (exit 101, ann)
        Notices:
          service:auth ann: mind the gap (active)
        $ mk status try/deep -n 1
        On branch try/deep, at event 9 (@8)
        Context: 200 tokens (estimate), shown in at most 4000
        Agents:
          ann on main, event 15 of 2026-11-30T10:00:15.000000Z: store the results
          [2 more: mk log --all]
        Leases:
          src/a.rs of ann, 29 s left
        Decisions:
          store = sqlite (bob #6)
        Notices:
          service:auth ann: mind the gap (active)
        "#,
    );
}

#[test]
fn branches_are_listed_with_their_heads() {
    forked().session(
        r#"
        $ mk branch
        * main       0fe33960 event 15 (@11) by ann, 310 tokens (estimate)
          try/sqlite d43f19ac event 6 (@6) by bob, 144 tokens (estimate), from main at event 4
          try/deep   0cce14bb event 9 (@8) by cy, 200 tokens (estimate), from try/sqlite at event 6
        $ mk branch --agent bob --prefix try/
        * try/sqlite d43f19ac event 6 (@6) by bob, 144 tokens (estimate), from main at event 4
          try/deep   0cce14bb event 9 (@8) by cy, 200 tokens (estimate), from try/sqlite at event 6
        $ mk branch -n 1
        * main 0fe33960 event 15 (@11) by ann, 310 tokens (estimate)
        [2 more: mk branch --after main]
        $ mk branch --after main -n 1
          try/sqlite d43f19ac event 6 (@6) by bob, 144 tokens (estimate), from main at event 4
        [1 more: mk branch --after try/sqlite]
        $ mk branch -n 1 --json
        {"branches":[{"branch_id":"main","current":true,"parent_branch_id":null,"fork_event_id":null,"fork_sequence":0,"head":{"event_id":15,"hash":"0fe339609741053c37357e1f390e1e016bc11d1ebf71ee1d7abd4a3ca9a6a522","sequence":11,"agent_id":"ann","timestamp":"2026-11-30T10:00:15.000000Z","live":9,"tokens":310},"created_at":"2026-11-30T10:00:00.000000Z","created_by":"me"}],"omitted":2,"next":{"after":"main"},"tokenizer":"estimate"}
        "#,
    );
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let repo = forked();
    repo.refuses(
        "blame nothing",
        128,
        "key-not-found",
        "fatal: there is no decision or fact 'nothing' on 'main'\nhint: see `mk fold`\n",
    );
    repo.refuses(
        "blame store --fact",
        128,
        "key-not-found",
        "fatal: there is no fact 'store' on 'main'\nhint: see `mk fold`\n",
    );
    repo.mk("log --graph --by ann")
        .code(129)
        .stdout("")
        .stderr("fatal: --graph draws all events: not with --by, --type, --key or --grep\n");
    repo.mk("log --format '%(author)'").code(129).stdout("").stderr(
        "fatal: '%(author)' in --format names no field\n\
         hint: the fields are hash, short, event_id, sequence, branch, agent, date, type, subject, \
         parent\n",
    );
    repo.refuses(
        "branch --after nowhere",
        128,
        "branch-not-found",
        "fatal: no branch 'nowhere'\nhint: see `mk branch`, or make it with `mk fork`\n",
    );
}

#[test]
fn the_sizes_of_a_project_are_told_and_drawn() {
    let mut stats = forked().json("stats -n 2 --last 4");
    assert!(stats["database_bytes"].take().as_u64().unwrap() > 0);
    assert!(stats["wal_bytes"].take().as_u64().unwrap() > 0);
    let expected = r#"{"database_bytes":null,"wal_bytes":null,"events":15,"branch_count":3,
        "tokenizer":"estimate","branches":[
        {"branch_id":"main","live":9,"tokens":310,"context_tokens":310,"gain":0.0,"snapshot_event_id":null},
        {"branch_id":"try/deep","live":8,"tokens":200,"context_tokens":200,"gain":0.0,"snapshot_event_id":null}],
        "omitted_branches":1,"looked_at":4,"agents":[{"name":"ann","events":4}],"omitted_agents":0,
        "types":[{"name":"TOOL_EXECUTION_LOG","events":2},{"name":"FILE_CLAIM_ACQUIRED","events":1},
        {"name":"RETRACTED","events":1}]}"#;
    assert_eq!(stats, serde_json::from_str::<serde_json::Value>(expected).unwrap());
    let drawn = forked().mk("stats --plot --last 4").success().get_output().stdout.clone();
    let drawn = String::from_utf8(drawn).unwrap();
    let table = drawn.split_once("Tokens of contexts (estimate):\n").unwrap().1;
    assert_eq!(
        table,
        "\u{20} main            310 ████████████████████████████████████████\n\
         \u{20} try/deep        200 █████████████████████████▉\n\
         \u{20} try/sqlite      144 ██████████████████▋\n\
         Of the newest 4 events:\n\
         \u{20} ann        4 ████████████████████████████████████████\n\
         \u{20} TOOL_EXECUTION_LOG         2 ████████████████████████████████████████\n\
         \u{20} FILE_CLAIM_ACQUIRED        1 ████████████████████\n\
         \u{20} RETRACTED                  1 ████████████████████\n"
    );
}

#[test]
fn compaction_shows_in_the_sizes() {
    let repo = Sandbox::new();
    for number in 0..30 {
        repo.mk(&format!("note 'the thought number {number} goes on for a while and says little'"))
            .success();
    }
    repo.mk("gc --force").success();
    let branch = repo.json("stats")["branches"][0].take();
    let tokens = |name: &str| branch[name].as_f64().unwrap();
    assert!(tokens("context_tokens") < tokens("tokens") / 2.0, "{branch}");
    let gain = 1.0 - tokens("context_tokens") / tokens("tokens");
    assert!((tokens("gain") - gain).abs() < 1e-4, "{branch}");
    assert_eq!(branch["snapshot_event_id"], 31);
}

/// Runs `mk` on a terminal, and prints what came there.
const ON_A_TERMINAL: &str = "
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execvp('mk', ['mk'] + sys.argv[1:])
shown = b''
while True:
    try:
        read = os.read(terminal, 65536)
    except OSError:
        break
    if not read:
        break
    shown += read
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode().replace('\\r\\n', '\\n'))
sys.exit(os.waitstatus_to_exitcode(status))
";

#[test]
fn on_a_terminal_the_log_goes_through_the_pager() {
    let mut repo = forked();
    repo.write("terminal.py", ON_A_TERMINAL);
    let log = |repo: &Sandbox, more: &str| {
        let done = repo.sh(&format!("python3 terminal.py log --oneline -n 1{more}")).success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    let line = "0fe33960 15 ann FILE_CLAIM_ACQUIRED src/a.rs token 1\n";
    let coloured = line.replacen("0fe33960", "\u{1b}[33m0fe33960\u{1b}[0m", 1);
    repo.set("PAGER", "sed 's/^/paged: /'");
    assert_eq!(log(&repo, ""), format!("paged: {coloured}"));
    assert_eq!(log(&repo, " --color never"), format!("paged: {line}"));
    repo.set("NO_COLOR", "1");
    assert_eq!(log(&repo, ""), format!("paged: {line}"));
    repo.set("MK_PAGER", "cat");
    assert_eq!(log(&repo, ""), line);
    repo.set("MK_PAGER", "head -c 8; echo");
    assert_eq!(log(&repo, ""), "0fe33960\n");
    repo.unset("MK_PAGER");
    repo.unset("PAGER");
    // Where there is no `less`, nothing is between.
    let bin = repo.path("bin");
    std::fs::create_dir(&bin).unwrap();
    let python = repo
        .sh("python3 -c 'import sys; print(sys.executable)'")
        .success()
        .get_output()
        .stdout
        .clone();
    let python = String::from_utf8(python).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mk"), bin.join("mk")).unwrap();
    let bare = format!("PATH={} {} terminal.py log --oneline -n 1", bin.display(), python.trim());
    repo.sh(&bare).success().stdout(line);
    repo.set("PAGER", "sed 's/^/paged: /'");
    repo.mk("log --oneline -n 1").success().stdout(line);
}
