//! `anchor`, `fold` and `diff`.

use crate::plumbing::forked;
use crate::porcelain::busy;
use crate::sandbox::Sandbox;

#[test]
fn an_anchor_stands_for_the_whole_log() {
    let repo = busy();
    repo.session(
        r#"
        $ mk anchor
        mk-anchor 9511c6029c1f5a2575e66a5e11d6abb2 6 98a9d5bb13c4af773baeedada59ba27a76c6eb2e5354a68d2b98890bfb15f3fe
        $ mk anchor --json
        {"project_id":"9511c6029c1f5a2575e66a5e11d6abb2","event_id":6,"log_hash":"98a9d5bb13c4af773baeedada59ba27a76c6eb2e5354a68d2b98890bfb15f3fe"}
        "#,
    );
    Sandbox::new().session(
        r#"
        $ mk anchor
        mk-anchor 9511c6029c1f5a2575e66a5e11d6abb2 0 0000000000000000000000000000000000000000000000000000000000000000
        "#,
    );
}

#[test]
fn fold_prints_the_state_and_its_digest() {
    forked().session(
        r#"
        $ mk fold
        {
          "active_claims": {},
          "active_workspace_facts": {
            "ready": {
              "agent_id": "bob",
              "event_hash": "e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa",
              "event_id": 3,
              "event_sequence": 3,
              "value": true
            },
            "tests": {
              "agent_id": "bob",
              "event_hash": "e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa",
              "event_id": 3,
              "event_sequence": 3,
              "value": 12
            }
          },
          "decisions": {
            "db.engine": {
              "agent_id": "ann",
              "event_hash": "e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226",
              "event_id": 6,
              "event_sequence": 6,
              "key": "db.engine",
              "rationale": "",
              "supersedes_event_hash": "ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1",
              "supersedes_event_id": 2,
              "supersedes_event_sequence": 2,
              "value": "postgres"
            }
          },
          "deprecated_assumptions": [
            {
              "agent_id": "ann",
              "deprecated_by_event_hash": "e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226",
              "deprecated_by_event_id": 6,
              "deprecated_by_event_sequence": 6,
              "key": "db.engine",
              "kind": "decision",
              "replaced_by": "postgres",
              "value": "sqlite"
            }
          ],
          "execution_blockers": {
            "cargo test": {
              "agent_id": "bob",
              "description": "two",
              "exit_code": 101,
              "first_seen_event_hash": "dca57ac481cc0af04c466b62de3e6804d88133d1c7b6ab17e7f1e7a9429d22ce",
              "first_seen_event_id": 4,
              "first_seen_event_sequence": 4,
              "key": "cargo test",
              "last_seen_event_hash": "dca57ac481cc0af04c466b62de3e6804d88133d1c7b6ab17e7f1e7a9429d22ce",
              "last_seen_event_id": 4,
              "last_seen_event_sequence": 4,
              "occurrences": 1
            }
          },
          "execution_digest": {
            "cargo test": {
              "command": "cargo test",
              "failed_runs": 1,
              "last_agent_id": "bob",
              "last_event_hash": "dca57ac481cc0af04c466b62de3e6804d88133d1c7b6ab17e7f1e7a9429d22ce",
              "last_event_id": 4,
              "last_event_sequence": 4,
              "last_exit_code": 101,
              "runs": 1
            }
          },
          "insights": [],
          "tasks": {
            "ann": {
              "agent_id": "ann",
              "constraints": [
                "no new crates",
                "keep the API"
              ],
              "directive": "make login work",
              "event_hash": "49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4",
              "event_id": 1,
              "event_sequence": 1
            }
          }
        }
        $ mk fold --digest
        5da1768749e0198d41ab4bc43062f865320d5c529d930b18704c394007864bc7
        $ mk fold main~5 --json
        {"branch_id":"main","head_event_id":1,"head_hash":"49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4","digest":"64e628d0e965441e41d54739925cb61eef66ea4e9a64bb72895a8656f7a935a6","state":{"active_claims":{},"active_workspace_facts":{},"decisions":{},"deprecated_assumptions":[],"execution_blockers":{},"execution_digest":{},"insights":[],"tasks":{"ann":{"agent_id":"ann","constraints":["no new crates","keep the API"],"directive":"make login work","event_hash":"49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4","event_id":1,"event_sequence":1}}},"claim_status":{},"unclaimed_leases":[]}
        $ mk fold try --digest --json
        {"branch_id":"try","head_event_id":9,"head_hash":"97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a","digest":"4332a8f6473475f9bb79feab2b0a18fb08334adfce2478e0369cff038a2cf969"}
        "#,
    );
}

#[test]
fn diff_shows_what_each_side_has_alone() {
    forked().session(
        r#"
        $ mk diff main try
        merge base: event 2 ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1
        main: 4 events ahead
          3 bob TOOL_EXECUTION_LOG
          4 bob TOOL_EXECUTION_LOG
          5 ann AGENT_SCRATCHPAD
          6 ann ARCHITECTURAL_DECISION
        try: 3 events ahead
          7 ann BRANCH_FORKED
          8 ann ARCHITECTURAL_DECISION
          9 ann TOOL_EXECUTION_LOG
        conflict: decision db.engine
          main: postgres
          try: files
        conflict: fact tests
          main: 12
          try: 13
        only in main: fact ready = true
        only in try: fact lines = 900
        states: different
        $ mk diff try --exit-code > /dev/null
        [1]
        $ mk diff main main --exit-code
        merge base: event 6 e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226
        main: 0 events ahead
        main: 0 events ahead
        states: equal
        $ mk diff main try --json
        {"branch_a":"main","branch_b":"try","merge_base_event_id":2,"merge_base_sequence":2,"merge_base_hash":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1","ahead_a":[{"event_id":3,"sequence":3,"agent_id":"bob","event_type":"TOOL_EXECUTION_LOG"},{"event_id":4,"sequence":4,"agent_id":"bob","event_type":"TOOL_EXECUTION_LOG"},{"event_id":5,"sequence":5,"agent_id":"ann","event_type":"AGENT_SCRATCHPAD"},{"event_id":6,"sequence":6,"agent_id":"ann","event_type":"ARCHITECTURAL_DECISION"}],"ahead_b":[{"event_id":7,"sequence":3,"agent_id":"ann","event_type":"BRANCH_FORKED"},{"event_id":8,"sequence":4,"agent_id":"ann","event_type":"ARCHITECTURAL_DECISION"},{"event_id":9,"sequence":5,"agent_id":"ann","event_type":"TOOL_EXECUTION_LOG"}],"rollbacks_since_base":{"a":[],"b":[]},"conflicting_decisions":[{"key":"db.engine","a":{"agent_id":"ann","event_hash":"e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226","event_id":6,"event_sequence":6,"key":"db.engine","rationale":"","supersedes_event_hash":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1","supersedes_event_id":2,"supersedes_event_sequence":2,"value":"postgres"},"b":{"agent_id":"ann","event_hash":"e96a91475c7dfe1036439f841b84fe18e4acd86ec03e4942110295776702d708","event_id":8,"event_sequence":4,"key":"db.engine","rationale":"simpler","supersedes_event_hash":"ecb5f6eb36d33108a727cde79a6aa06116a1979322b6cb4d7c60e45bee1663e1","supersedes_event_id":2,"supersedes_event_sequence":2,"value":"files"}}],"decisions_only_in_a":{},"decisions_only_in_b":{},"conflicting_facts":[{"key":"tests","a":{"agent_id":"bob","event_hash":"e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa","event_id":3,"event_sequence":3,"value":12},"b":{"agent_id":"ann","event_hash":"97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a","event_id":9,"event_sequence":5,"value":13}}],"facts_only_in_a":{"ready":{"agent_id":"bob","event_hash":"e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa","event_id":3,"event_sequence":3,"value":true}},"facts_only_in_b":{"lines":{"agent_id":"ann","event_hash":"97b9aa0732b3e41066d60c3b6dbfa319c7c74c7eae92388681a3c18dd8114f3a","event_id":9,"event_sequence":5,"value":900}},"identical_state":false}
        $ mk diff 1 2
        merge base: event 1 49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4
        1: 0 events ahead
        2: 1 event ahead
          2 ann ARCHITECTURAL_DECISION
        only in 2: decision db.engine = sqlite
        states: different
        $ mk diff main nope
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        "#,
    );
}
