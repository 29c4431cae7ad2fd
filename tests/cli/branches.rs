//! `fork`, `switch`, `rollback`.

use crate::porcelain::busy;
use crate::sandbox::Sandbox;

#[test]
fn a_fork_shares_its_parents_past() {
    busy().session(
        r#"
        $ mk fork try
        try forked from main at event 6
        $ mk --agent ann fork early --at 2 -m 'another way' --json
        {"branch_id":"early","parent_branch_id":"main","fork_point_event_id":2,"fork_point_sequence":2,"fork_point_hash":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1","event":{"event_id":8,"hash":"5dc80f2175dd3da429351d8150c62cb6257bac6ec52ceeda6b27b854701374cf","sequence":3,"timestamp":"2026-11-30T10:00:06.000000Z","branch_id":"early","agent_id":"ann","parent_event_id":2,"event_type":"BRANCH_FORKED"}}
        $ mk fork late --from early --switch
        late forked from early at event 8
        $ mk switch
        late
        $ mk log --oneline
        a8fe7ef0 9 me BRANCH_FORKED from early at sequence 3
        5dc80f21 8 ann BRANCH_FORKED from main at sequence 2: another way
        ecb5f6eb 2 ann ARCHITECTURAL_DECISION db.engine = sqlite
        49893a88 1 ann AGENT_TASK_INIT make login work
        $ mk fork late
        ! error: a branch named 'late' exists
        ! hint: take another name, or work on it with `mk switch`
        [1]
        $ mk fork LATE
        ! error: a branch named 'late' exists, which differs from 'LATE' in letter case only
        ! hint: take another name, or work on it with `mk switch`
        [1]
        $ mk fork x --from nope
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        $ mk fork x --from early --at 5
        ! error: event 5 is not in the lineage of 'early'
        ! hint: name the branch that has the event with --from
        [1]
        $ mk fork x --at early@3 --from main
        ! error: event 8 is not in the lineage of 'main'
        ! hint: name the branch that has the event with --from
        [1]
        "#,
    );
    Sandbox::new().session(
        r#"
        $ mk fork try
        try forked from main, which is empty
        $ mk fork other --json
        {"branch_id":"other","parent_branch_id":"main","fork_point_event_id":null,"fork_point_sequence":0,"fork_point_hash":null,"event":{"event_id":2,"hash":"18ad4a5fbd1b1d1f675faaa953937bd870dba4bb4ea2971a94fa95f5aaa7c679","sequence":1,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"other","agent_id":"me","parent_event_id":null,"event_type":"BRANCH_FORKED"}}
        "#,
    );
}

#[test]
fn the_current_branch_is_each_agents_own() {
    busy().session(
        r#"
        $ mk --agent ann switch --create try
        try
        $ mk --agent ann switch
        try
        $ mk --agent bob switch
        main
        $ mk --agent ann note 'on try'
        ab99a39b0c40d00c1fb6a716c614e2ecaed09a98ab6739ea4cb274ab5a3ec2a5
        $ mk --agent ann --branch main note 'on main'
        a52cba941fb639b824f93090d57fc30cd0938972b591e7309ff1f4935f5765c0
        $ mk log try --oneline -n 2
        ab99a39b 8 ann AGENT_SCRATCHPAD on try
        b5c639d1 7 ann BRANCH_FORKED from main at sequence 6
        $ mk log main --oneline -n 1
        a52cba94 9 ann AGENT_SCRATCHPAD on main
        $ mk --agent ann switch main --json
        {"agent_id":"ann","branch_id":"main"}
        $ mk --agent ann switch --json
        {"agent_id":"ann","branch_id":"main"}
        $ mk switch trye
        ! fatal: no branch 'trye', did you mean 'try'?
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        $ mk switch --at 2
        ! fatal: the following required arguments were not provided: --create, <NAME>
        ! hint: see `mk switch --help`
        [129]
        $ mk switch --create early --at 2
        early
        "#,
    );
}

#[test]
fn a_rollback_takes_events_off_the_timeline_and_deletes_none() {
    busy().session(
        r#"
        $ mk --agent ann rollback 4 -m 'sqlite was fine'
        main rolled back to event 4: 2 events reverted
        $ mk log --oneline
        41d00bae 7 ann ROLLBACK_TRIGGERED to sequence 4: sqlite was fine
        dca57ac4 4 bob TOOL_EXECUTION_LOG $ cargo test (exit 101)
        e8155b53 3 bob TOOL_EXECUTION_LOG ready=true tests=12
        ecb5f6eb 2 ann ARCHITECTURAL_DECISION db.engine = sqlite
        49893a88 1 ann AGENT_TASK_INIT make login work
        $ mk show 6 --json
        {"events":[{"event_id":6,"hash":"e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226","sequence":6,"timestamp":"2026-11-30T10:00:06.000000Z","branch_id":"main","agent_id":"ann","parent_event_id":5,"event_type":"ARCHITECTURAL_DECISION","payload":{"decision_key":"db.engine","decision_value":"postgres","rationale":""},"metadata":{}}]}
        $ mk --agent ann rollback 6
        ! error: event 6 is not live on 'main': it was rolled back
        ! hint: see `mk log`; a reverted event can still be forked with `mk fork --at`
        [1]
        $ mk --agent ann rollback 2
        ! error: this would revert 2 events of 'bob' (4, 3)
        ! hint: leave their work and use `mk retract`, or revert it too with --include-others
        [1]
        $ mk --agent ann rollback 2 --json
        {"error":{"code":"others-reverted","message":"this would revert 2 events of 'bob' (4, 3)","hint":"leave their work and use `mk retract`, or revert it too with --include-others","retryable":false,"details":{"agents":["bob"],"count":2,"events":[4,3],"more":false}}}
        ! error: this would revert 2 events of 'bob' (4, 3)
        ! hint: leave their work and use `mk retract`, or revert it too with --include-others
        [1]
        $ mk --agent ann rollback 2 --include-others --json
        {"branch_id":"main","target_event_id":2,"target_sequence":2,"target_hash":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1","reverted_count":3,"reverted_event_ids":[3,4,7],"event":{"event_id":8,"hash":"1a56176774981745f891ace812f9487ed62b9718f5387c9f578c06c1b612e549","sequence":8,"timestamp":"2026-11-30T10:00:06.000000Z","branch_id":"main","agent_id":"ann","parent_event_id":7,"event_type":"ROLLBACK_TRIGGERED"}}
        $ mk fork old --at 6
        old forked from main at event 6
        $ mk --agent ann rollback 99
        ! fatal: no event '99': ids go from 1 to 9
        ! hint: see `mk log`
        [128]
        "#,
    );
    let repo = busy();
    repo.mk("fork try --at 1").success();
    repo.session(
        r#"
        $ mk rollback try
        ! error: event 7 is not live on 'main': it belongs to another branch
        ! hint: see `mk log`; a reverted event can still be forked with `mk fork --at`
        [1]
        $ mk --branch try rollback 2
        ! error: event 2 is not live on 'try': it belongs to another branch
        ! hint: see `mk log`; a reverted event can still be forked with `mk fork --at`
        [1]
        $ mk --branch try rollback try
        try rolled back to event 7: 0 events reverted
        "#,
    );
}

#[test]
fn an_empty_branch_has_nothing_to_roll_back() {
    Sandbox::new().session(
        r#"
        $ mk undo
        ! error: nothing to undo on 'main': the branch is empty
        ! hint: take back a single record with `mk retract`, or see `mk rollback`
        [1]
        $ mk rollback HEAD
        ! fatal: no event 'HEAD': the branch is empty
        ! hint: see `mk log`
        [128]
        $ mk show
        ! fatal: no event 'main': the branch is empty
        ! hint: see `mk log`
        [128]
        $ mk rev-parse HEAD
        ! fatal: no event 'HEAD': the branch is empty
        ! hint: see `mk log`
        [128]
        $ mk cat-event HEAD
        ! fatal: no event 'HEAD': the branch is empty
        ! hint: see `mk log`
        [128]
        $ mk fold --digest
        dbad5562bfb9eb513894ed77d398e941d52ab3601692f0834aec52c6c6618ff0
        $ mk diff main main
        merge base: none
        main: 0 events ahead
        main: 0 events ahead
        states: equal
        "#,
    );
}
