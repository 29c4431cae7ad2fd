//! `log` and `show`.

use crate::porcelain::busy;
use crate::sandbox::Sandbox;

#[test]
fn the_log_tells_what_happened_newest_first() {
    busy().session(
        r#"
        $ mk log
        event 6 e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226
        Branch: main @6
        Agent:  ann
        Date:   2026-11-30T10:00:06.000000Z
        Type:   ARCHITECTURAL_DECISION

            db.engine = postgres

        event 5 b632c67c720c9d294a4dc68b586bcfb87374615017e53f322487411f30179cb9
        Branch: main @5
        Agent:  ann
        Date:   2026-11-30T10:00:05.000000Z
        Type:   AGENT_SCRATCHPAD

            the cache is \u{1b}[31mred

        event 4 dca57ac481cc0af04c466b62de3e6804d88133d1c7b6ab17e7f1e7a9429d22ce
        Branch: main @4
        Agent:  bob
        Date:   2026-11-30T10:00:04.000000Z
        Type:   TOOL_EXECUTION_LOG

            $ cargo test (exit 101)
            one
            two

        event 3 e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa
        Branch: main @3
        Agent:  bob
        Date:   2026-11-30T10:00:03.000000Z
        Type:   TOOL_EXECUTION_LOG

            ready=true tests=12

        event 2 ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1
        Branch: main @2
        Agent:  ann
        Date:   2026-11-30T10:00:02.000000Z
        Type:   ARCHITECTURAL_DECISION

            db.engine = sqlite
            one file
            nothing to run

        event 1 49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        Branch: main @1
        Agent:  ann
        Date:   2026-11-30T10:00:01.000000Z
        Type:   AGENT_TASK_INIT

            make login work
            - no new crates
            - keep the API
        $ mk log --oneline
        e25ecf0e 6 ann ARCHITECTURAL_DECISION db.engine = postgres
        b632c67c 5 ann AGENT_SCRATCHPAD the cache is \u{1b}[31mred
        dca57ac4 4 bob TOOL_EXECUTION_LOG $ cargo test (exit 101)
        e8155b53 3 bob TOOL_EXECUTION_LOG ready=true tests=12
        ecb5f6eb 2 ann ARCHITECTURAL_DECISION db.engine = sqlite
        49893a88 1 ann AGENT_TASK_INIT make login work
        $ mk log --oneline -n 2 --reverse
        b632c67c 5 ann AGENT_SCRATCHPAD the cache is \u{1b}[31mred
        e25ecf0e 6 ann ARCHITECTURAL_DECISION db.engine = postgres
        $ mk log --oneline --by bob --type TOOL_EXECUTION_LOG
        dca57ac4 4 bob TOOL_EXECUTION_LOG $ cargo test (exit 101)
        e8155b53 3 bob TOOL_EXECUTION_LOG ready=true tests=12
        $ mk log --oneline main~2..main
        e25ecf0e 6 ann ARCHITECTURAL_DECISION db.engine = postgres
        b632c67c 5 ann AGENT_SCRATCHPAD the cache is \u{1b}[31mred
        $ mk log -n 1 --json
        {"event_id":6,"hash":"e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226","sequence":6,"timestamp":"2026-11-30T10:00:06.000000Z","branch_id":"main","agent_id":"ann","parent_event_id":5,"event_type":"ARCHITECTURAL_DECISION","payload":{"decision_key":"db.engine","decision_value":"postgres","rationale":""},"metadata":{}}
        $ mk log --oneline -n 1 --color always | od -c | head -1
        0000000 033   [   3   3   m   e   2   5   e   c   f   0   e 033   [   0
        $ mk log --by nobody
        "#,
    );
}

#[test]
fn the_log_of_an_empty_branch_is_empty() {
    Sandbox::new().session(
        r#"
        $ mk log
        $ mk log --json
        $ mk log --all
        "#,
    );
}

#[test]
fn show_has_all_that_an_event_says() {
    let repo = busy();
    repo.mk("--agent ann fork try --at 2 -m 'another way'").success();
    repo.mk("--agent ann --branch try rollback 1").success();
    repo.session(
        r#"
        $ mk show
        event 6 e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226
        Branch: main @6
        Agent:  ann
        Date:   2026-11-30T10:00:06.000000Z
        Type:   ARCHITECTURAL_DECISION
        Parent: event 5
        Payload:
            decision_key: db.engine
            decision_value: postgres
            rationale:
        $ mk show 2 3 try~1
        event 2 ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1
        Branch: main @2
        Agent:  ann
        Date:   2026-11-30T10:00:02.000000Z
        Type:   ARCHITECTURAL_DECISION
        Parent: event 1
        Payload:
            decision_key: db.engine
            decision_value: sqlite
            rationale:
                one file
                nothing to run

        event 3 e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa
        Branch: main @3
        Agent:  bob
        Date:   2026-11-30T10:00:03.000000Z
        Type:   TOOL_EXECUTION_LOG
        Parent: event 2
        Payload:
            facts: {
              "ready": true,
              "tests": 12
            }
        Metadata:
            host: ci

        event 1 49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        Branch: main @1
        Agent:  ann
        Date:   2026-11-30T10:00:01.000000Z
        Type:   AGENT_TASK_INIT
        Payload:
            constraints: [
              "no new crates",
              "keep the API"
            ]
            directive: make login work
        $ mk show try 7
        event 8 449a22701771f21124466a54ebb844271670565443e9869abbf05ed394c66d9d
        Branch: try @4
        Agent:  ann
        Date:   2026-11-30T10:00:06.000000Z
        Type:   ROLLBACK_TRIGGERED
        Parent: event 7
        Payload:
            reason:
            reverted_count: 2
            target_hash: 49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
            target_sequence: 1
        Names:
            reverted_event_ids: [
              2,
              7
            ]
            target_event_id: 1

        event 7 71b176dd4a841ec2b046969f2c9d521714768a09ea65863cc967cae6d2884a08
        Branch: try @3
        Agent:  ann
        Date:   2026-11-30T10:00:06.000000Z
        Type:   BRANCH_FORKED
        Parent: event 2
        Payload:
            fork_point_hash: ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1
            fork_point_sequence: 2
            reason: another way
            source_branch: main
        Names:
            fork_point_event_id: 2
        $ mk show try --json
        {"events":[{"event_id":8,"hash":"449a22701771f21124466a54ebb844271670565443e9869abbf05ed394c66d9d","sequence":4,"timestamp":"2026-11-30T10:00:06.000000Z","branch_id":"try","agent_id":"ann","parent_event_id":7,"event_type":"ROLLBACK_TRIGGERED","payload":{"reason":"","reverted_count":2,"target_hash":"49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4","target_sequence":1},"metadata":{},"resolved":{"reverted_event_ids":[2,7],"target_event_id":1}}]}
        "#,
    );
}
