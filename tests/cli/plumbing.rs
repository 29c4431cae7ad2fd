//! `cat-event`, `rev-parse`, `rev-list`, `merge-base`, `for-each-branch`.

use crate::porcelain::busy;
use crate::sandbox::Sandbox;

/// `busy` with a branch `try` on which the decision is another one.
pub fn forked() -> Sandbox {
    let repo = busy();
    repo.mk("--agent ann fork try --at 2").success();
    repo.mk("--agent ann --branch try decide db.engine files -m simpler").success();
    repo.mk("--agent ann --branch try fact tests=13 lines=900").success();
    repo
}

#[test]
fn cat_event_prints_what_is_hashed() {
    forked().session(
        r#"
        $ mk cat-event 1
        {"agent_id":"ann","branch_id":"main","event_type":"AGENT_TASK_INIT","hash":"49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4","metadata":{},"payload":{"constraints":["no new crates","keep the API"],"directive":"make login work"},"prev":"0000000000000000000000000000000000000000000000000000000000000000","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":1,"timestamp":"2026-11-30T10:00:01.000000Z","v":1}
        $ mk cat-event try@3 HEAD
        {"agent_id":"ann","branch_id":"try","event_type":"BRANCH_FORKED","hash":"4e7eab37a4169d19700b17cf80dfdbfe7c6f1caed8a285c2007c3c6abd083b09","metadata":{},"payload":{"fork_point_hash":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1","fork_point_sequence":2,"reason":"","source_branch":"main"},"prev":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":3,"timestamp":"2026-11-30T10:00:06.000000Z","v":1}
        {"agent_id":"ann","branch_id":"main","event_type":"ARCHITECTURAL_DECISION","hash":"e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226","metadata":{},"payload":{"decision_key":"db.engine","decision_value":"postgres","rationale":""},"prev":"b632c67c720c9d294a4dc68b586bcfb87374615017e53f322487411f30179cb9","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":6,"timestamp":"2026-11-30T10:00:06.000000Z","v":1}
        $ mk cat-event 1 --json
        {"agent_id":"ann","branch_id":"main","event_type":"AGENT_TASK_INIT","hash":"49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4","metadata":{},"payload":{"constraints":["no new crates","keep the API"],"directive":"make login work"},"prev":"0000000000000000000000000000000000000000000000000000000000000000","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":1,"timestamp":"2026-11-30T10:00:01.000000Z","v":1}
        $ mk cat-event nope
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        $ mk cat-event
        ! fatal: the following required arguments were not provided: <REV>...
        ! hint: see `mk cat-event --help`
        [129]
        "#,
    );
}

#[test]
fn cat_event_answers_a_revision_a_line() {
    forked().session(
        r#"
        $ printf '5\nnope\n\nmain~9\na b\r\ntry\n' | mk cat-event --batch-check
        b632c67c720c9d294a4dc68b586bcfb87374615017e53f322487411f30179cb9 AGENT_SCRATCHPAD 383
        nope missing
         missing
        main~9 missing
        a b missing
        97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a TOOL_EXECUTION_LOG 380
        $ printf '5' | mk cat-event --batch
        b632c67c720c9d294a4dc68b586bcfb87374615017e53f322487411f30179cb9 AGENT_SCRATCHPAD 383
        {"agent_id":"ann","branch_id":"main","event_type":"AGENT_SCRATCHPAD","hash":"b632c67c720c9d294a4dc68b586bcfb87374615017e53f322487411f30179cb9","metadata":{},"payload":{"note":"the cache\tis \u001b[31mred"},"prev":"dca57ac481cc0af04c466b62de3e6804d88133d1c7b6ab17e7f1e7a9429d22ce","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":5,"timestamp":"2026-11-30T10:00:05.000000Z","v":1}
        $ head -c 5000 /dev/zero | tr '\0' x | mk cat-event --batch-check | tail -c 30
        xxxxxxxxxxxxxxxxxx… missing
        $ printf '\377\n' | mk cat-event --batch-check
        � missing
        $ mk cat-event --batch 1
        ! fatal: the argument '--batch' cannot be used with '[REV]...'
        ! hint: see `mk cat-event --help`
        [129]
        "#,
    );
}

#[test]
fn rev_parse_answers_where_an_event_and_a_project_are() {
    forked().session(
        r#"
        $ mk rev-parse HEAD 1 main~5 main@1 refs/try 'main@{2026-11-30T10:00:02Z}'
        e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226
        49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a
        ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1
        $ mk rev-parse --short HEAD
        e25ecf0e
        $ mk rev-parse --id try
        9
        $ mk rev-parse try --json
        {"revisions":[{"revision":"try","event_id":9,"hash":"97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a","sequence":5,"branch_id":"try"}]}
        $ mk rev-parse --store
        ~/.mk/mk.db
        $ mk rev-parse --project
        9511c6029c1f5a2575e66a5e11d6abb2
        $ mk rev-parse --project --json
        {"store":"~/.mk/mk.db","project_id":"9511c6029c1f5a2575e66a5e11d6abb2"}
        $ mk rev-parse -q nope
        [1]
        $ mk rev-parse 99
        ! fatal: no event '99': ids go from 1 to 9
        ! hint: see `mk log`
        [128]
        $ mk rev-parse HEAD~x
        ! fatal: invalid value 'HEAD~x' for '[REV]...': 'HEAD~x' is no revision: only ~N, @N or @{TIME} may follow
        ! hint: see `mk rev-parse --help`
        [129]
        $ mk rev-parse
        ! fatal: the following required arguments were not provided: <REV>...
        ! hint: see `mk rev-parse --help`
        [129]
        "#,
    );
}

#[test]
fn rev_list_goes_through_a_branch_or_a_range() {
    forked().session(
        r#"
        $ mk rev-list
        e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226
        b632c67c720c9d294a4dc68b586bcfb87374615017e53f322487411f30179cb9
        dca57ac481cc0af04c466b62de3e6804d88133d1c7b6ab17e7f1e7a9429d22ce
        e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa
        ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1
        49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        $ mk rev-list try --id
        9
        8
        7
        2
        1
        $ mk rev-list main..try --id
        9
        8
        7
        $ mk rev-list try..main --count
        4
        $ mk rev-list --all --count --json
        {"count":9}
        $ mk rev-list --json -n 1 try
        {"event_id":9,"hash":"97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a"}
        $ mk rev-list --all main
        ! fatal: the argument '--all' cannot be used with '[RANGE]'
        ! hint: see `mk rev-list --help`
        [129]
        $ mk rev-list --id --count
        ! fatal: the argument '--id' cannot be used with '--count'
        ! hint: see `mk rev-list --help`
        [129]
        "#,
    );
}

#[test]
fn a_walk_of_the_lineage_finds_what_was_rolled_back() {
    let repo = busy();
    repo.mk("--agent ann rollback 5").success();
    repo.session(
        r#"
        $ mk rev-list --id
        7
        5
        4
        3
        2
        1
        $ mk rev-list --id --lineage
        7
        6
        5
        4
        3
        2
        1
        $ mk rev-list --id --lineage 5..main --reverse
        6
        7
        "#,
    );
}

#[test]
fn rev_list_counts_what_it_prints() {
    let repo = forked();
    repo.mk("--agent ann rollback 3 -m 'wrong way' --include-others").success();
    repo.mk("--agent bob --branch try note more").success();
    let ranges = ["", "main", "try", "3", "5", "main..try", "try..main", "3..main", "5..try"];
    for range in ranges
        .map(|range| format!("{range} --lineage"))
        .iter()
        .map(String::as_str)
        .chain(ranges)
        .chain(["--all"])
    {
        for filter in
            ["", "-n 2", "-n 0", "--by ann", "--by ann -n 1", "--since 2026-11-30T10:00:03Z"]
        {
            let words = format!("rev-list {range} {filter}");
            let printed = repo.mk(&words).success().get_output().stdout.clone();
            let count = printed.iter().filter(|byte| **byte == b'\n').count();
            repo.mk(&format!("{words} --count")).success().stdout(format!("{count}\n"));
        }
    }
}

#[test]
fn merge_base_is_the_last_event_of_both() {
    forked().session(
        r#"
        $ mk merge-base main try
        ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1
        $ mk merge-base main try --json
        {"merge_base_event_id":2,"merge_base_sequence":2,"merge_base_hash":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1"}
        $ mk merge-base 1 main
        49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        $ mk merge-base main nope
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        "#,
    );
    let repo = Sandbox::new();
    repo.mk("fork empty").success();
    repo.mk("note x").success();
    repo.session(
        r#"
        $ mk merge-base main empty
        [1]
        $ mk merge-base main empty --json
        {"merge_base_event_id":null,"merge_base_sequence":0,"merge_base_hash":null}
        [1]
        "#,
    );
}

#[test]
fn for_each_branch_prints_what_it_is_asked_for() {
    forked().session(
        r#"
        $ mk for-each-branch
        e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226	main
        97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a	try
        $ mk for-each-branch -z | tr '\0' ';'
        e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226	main;97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a	try;
        (no line break)
        $ mk for-each-branch --format '%(name) %(event_id) %(sequence) [%(parent)] [%(fork_point)] 100%%'
        main 6 6 [] [] 100%
        try 9 5 [main] [2] 100%
        $ mk for-each-branch --format '%(created_at) %(created_by)'
        2026-11-30T10:00:00.000000Z me
        2026-11-30T10:00:06.000000Z ann
        $ mk for-each-branch --json
        {"branches":[{"branch_id":"main","head_event_id":6,"head_hash":"e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226","head_sequence":6,"parent_branch_id":null,"fork_event_id":null,"fork_sequence":0,"snapshot_event_id":null,"created_at":"2026-11-30T10:00:00.000000Z","created_by":"me"},{"branch_id":"try","head_event_id":9,"head_hash":"97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a","head_sequence":5,"parent_branch_id":"main","fork_event_id":2,"fork_sequence":2,"snapshot_event_id":null,"created_at":"2026-11-30T10:00:06.000000Z","created_by":"ann"}]}
        $ mk for-each-branch --format '%(nmae)'
        ! fatal: '%(nmae)' in --format names no field
        ! hint: the fields are name, hash, event_id, sequence, parent, fork_point, created_at, created_by
        [129]
        $ mk for-each-branch --format 'x%'
        ! fatal: '%' in --format names no field
        ! hint: the fields are name, hash, event_id, sequence, parent, fork_point, created_at, created_by
        [129]
        $ mk for-each-branch --json --format x
        {"error":{"code":"invalid-argument","message":"the argument '--json' cannot be used with '--format <FORMAT>'","hint":"see `mk for-each-branch --help`","retryable":false}}
        ! fatal: the argument '--json' cannot be used with '--format <FORMAT>'
        ! hint: see `mk for-each-branch --help`
        [129]
        "#,
    );
    Sandbox::new().session(
        r#"
        $ mk for-each-branch --format '%(hash) %(event_id) %(sequence)'
        0000000000000000000000000000000000000000000000000000000000000000  0
        "#,
    );
}
