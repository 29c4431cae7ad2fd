//! `append`: one event, batches, expected heads.

use crate::sandbox::Sandbox;

#[test]
fn an_event_comes_from_arguments_files_and_stdin() {
    let repo = Sandbox::new();
    repo.write("payload.json", "{\"note\": \"from a file\"}\n");
    repo.session(
        r#"
        $ mk append
        7b49334e59ca249b123dab018a79fea1087b7789bc01d4444fcce6dbd2558aba
        $ mk append --payload '{"note":"hi"}' --type AGENT_SCRATCHPAD
        bde18040d4e786046cab199cae4f4bec8c87c8c9c625e25e100558c9d4e66442
        $ mk append --payload @payload.json --meta '{"tool":"x"}'
        dbb44431347dda488a19475f910a0f91a0ee0ce757c016c871facf50a357ecc0
        $ echo '{"note":"from stdin"}' | mk append --payload -
        1c465d60dbac1bbe52cd8ca2322bdcada12756a135f06b1cfa2ff101cfa970c9
        $ echo '{"tool":"y"}' | mk append --meta - --json
        {"event_id":5,"hash":"9d6baae8ea84be5c46f3630ba83f0b94535e47b279ec16f0c7bf5c7db895e794","sequence":5,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":4,"event_type":"AGENT_SCRATCHPAD"}
        $ mk append --quiet
        $ mk append -q --json
        $ mk log --oneline
        ebadfbee 7 me AGENT_SCRATCHPAD
        80dc0baa 6 me AGENT_SCRATCHPAD
        9d6baae8 5 me AGENT_SCRATCHPAD
        1c465d60 4 me AGENT_SCRATCHPAD from stdin
        dbb44431 3 me AGENT_SCRATCHPAD from a file
        bde18040 2 me AGENT_SCRATCHPAD hi
        7b49334e 1 me AGENT_SCRATCHPAD
        $ mk append --payload - --meta -
        ! fatal: payload and metadata cannot both be read from stdin
        [129]
        $ mk append --payload @nowhere.json
        ! fatal: cannot read payload from 'nowhere.json': No such file or directory (os error 2)
        [128]
        $ mk append --type DECISION
        ! fatal: invalid value 'DECISION' for '--type <TYPE>': 'DECISION' is no event type
        ! hint: see `mk append --help`
        [129]
        $ mk append --type ROLLBACK_TRIGGERED
        ! error: events of type ROLLBACK_TRIGGERED are written by a rollback, not appended
        ! hint: use the command that writes them, see `mk help`
        [1]
        "#,
    );
}

#[test]
fn numbers_keep_all_their_digits() {
    Sandbox::new().session(
        r#"
        $ mk append --payload '{"big":123456789012345678901234567890,"small":-0.5e-7,"one":1.0}' -q
        $ mk show --json
        {"events":[{"event_id":1,"hash":"99a072cd09fce8976b8a45a260c92cac794715a37be526a81e5acb1bfacda9ea","sequence":1,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":null,"event_type":"AGENT_SCRATCHPAD","payload":{"big":123456789012345678901234567890,"one":1.0,"small":-5e-08},"metadata":{}}]}
        "#,
    );
}

#[test]
fn a_batch_is_appended_whole_and_answered_in_order() {
    let repo = Sandbox::new();
    repo.mk("fork try").success();
    repo.write(
        "events.ndjson",
        "{\"payload\":{\"note\":\"one\"}}\n\n\
         {\"event_type\":\"ARCHITECTURAL_DECISION\",\"agent_id\":\"bob\",\"branch_id\":\"try\",\
         \"payload\":{\"decision_key\":\"a\",\"decision_value\":\"b\"}}\r\n\
         {\"metadata\":{\"x\":1}}",
    );
    repo.session(
        r#"
        $ mk --agent ann append --batch < events.ndjson
        e9d7b1fd8134e9c035d3c651e4e529e8d24aeb55eaa703b77c4f534f91ebf034
        50e0c2c74b438417633fd9d528d0fd68940305ff87cd6f7c3432071178431a4a
        5f8b72b96bda2a2dad4133acaa4b3dc05f4d2eeb38a3765b15cc8178ded74a6b
        $ mk --agent ann append --batch --json < events.ndjson
        {"event_id":5,"hash":"c0adcf0868c8d3491fd183de1aa0a6696f3e3826eeb95352aca047a56bb01ebe","sequence":3}
        {"event_id":6,"hash":"98f3c60f616566f6e52a478f1a36015257ee912427c0386d7fbbd78da0f86088","sequence":3}
        {"event_id":7,"hash":"2ae25682316c67ab0e9b6daf4e36ad39b631c7b2d7d34da7b15f78ad90c220fc","sequence":4}
        $ mk append --batch -q < events.ndjson
        $ mk append --batch < /dev/null
        $ mk log --all --oneline
        b6487f24 10 me AGENT_SCRATCHPAD
        082163c3 9 bob ARCHITECTURAL_DECISION a = b
        8799e423 8 me AGENT_SCRATCHPAD one
        2ae25682 7 ann AGENT_SCRATCHPAD
        98f3c60f 6 bob ARCHITECTURAL_DECISION a = b
        c0adcf08 5 ann AGENT_SCRATCHPAD one
        5f8b72b9 4 ann AGENT_SCRATCHPAD
        50e0c2c7 3 bob ARCHITECTURAL_DECISION a = b
        e9d7b1fd 2 ann AGENT_SCRATCHPAD one
        fe48889e 1 me BRANCH_FORKED from main at sequence 0
        "#,
    );
}

#[test]
fn each_line_of_a_pipe_can_be_a_transaction_of_its_own() {
    Sandbox::new().session(
        r#"
        $ printf '{}\n{"payload":{"note":"b"}}\n{"payload":1}\n{}\n' | mk append --each
        7b49334e59ca249b123dab018a79fea1087b7789bc01d4444fcce6dbd2558aba
        e9d2b51dadbd044eef58a87f61c2a89c79a20b3aff15f658dea78a7b28d3a9d7
        ! fatal: line 3: payload is a number, not an object
        [129]
        $ mk log --oneline
        e9d2b51d 2 me AGENT_SCRATCHPAD b
        7b49334e 1 me AGENT_SCRATCHPAD
        $ echo '{}' | mk append --each --json
        {"event_id":3,"hash":"0aed50438696d02873890de790a4f11510a02f0b954b18b8904864bda8c749fb","sequence":3}
        $ echo '{}' | mk append --each --op-id x
        ! fatal: the argument '--each' cannot be used with '--op-id <ID>'
        ! hint: see `mk append --help`
        [129]
        $ echo '{}' | mk append --each --batch
        ! fatal: the argument '--each' cannot be used with '--batch'
        ! hint: see `mk append --help`
        [129]
        $ mk append --batch --payload '{}'
        ! fatal: the argument '--batch' cannot be used with '--payload <JSON>'
        ! hint: see `mk append --help`
        [129]
        "#,
    );
}

#[test]
fn a_bad_line_of_a_batch_is_named_and_none_of_it_is_kept() {
    let mut repo = Sandbox::new();
    let cases: [(&str, &str, &str); 10] = [
        (
            "{}\n{\"payload\":{}\n",
            "invalid-argument",
            "line 2: the event is not JSON: at $ (byte 13): the text ends where ',' or '}' should be",
        ),
        ("\n\n[1]\n", "invalid-argument", "line 3: the event is an array, not a JSON object"),
        ("{\"payload\":3}", "invalid-argument", "line 1: payload is a number, not an object"),
        ("{\"event_type\":\"X\"}", "invalid-argument", "line 1: 'X' is no event type"),
        ("{\"event_type\":1}", "invalid-argument", "line 1: event_type is a number, not a string"),
        ("{\"agent_id\":\"-\"}", "invalid-argument", "line 1: agent id '-' has '-' at character 1"),
        (
            "{\"branch_id\":\"@exec\"}",
            "invalid-argument",
            "line 1: branch name '@exec' has '@' at character 1",
        ),
        ("{}\n{\"branch_id\":\"nope\"}", "branch-not-found", "line 2: no branch 'nope'"),
        (
            "{\"event_type\":\"BRANCH_FORKED\"}",
            "reserved-type",
            "line 1: events of type BRANCH_FORKED are written by a fork, not appended",
        ),
        (
            "{\"payload\":{\"a\":1,\"a\":2}}",
            "invalid-argument",
            "line 1: the event is not JSON: at $.payload (byte 18): duplicate member 'a'",
        ),
    ];
    for (input, code, message) in cases {
        repo.input = input.into();
        let before = repo.files();
        let error = repo.refusal("append --batch");
        assert_eq!(
            (error["code"].as_str(), error["message"].as_str()),
            (Some(code), Some(message))
        );
        assert_eq!(repo.files(), before, "{input}");
    }
    repo.input = "{\"note\":\"x\"}".into();
    repo.refuses(
        "append --batch",
        129,
        "unknown-member",
        "fatal: line 1: unknown member 'note'\n\
         hint: the members are event_type, payload, metadata, branch_id, agent_id and fence\n",
    );
}

#[test]
fn an_append_can_depend_on_the_head() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk append --expect none -q
        $ mk append --expect 1 -q
        $ mk append --expect HEAD~1
        ! error: the head of 'main' is event 2, not event 1
        ! hint: read what is new with `mk log`, then try again
        [1]
        $ mk append --expect none --json
        {"error":{"code":"stale-head","message":"the head of 'main' is event 2, not no event (the branch is empty)","hint":"read what is new with `mk log`, then try again","retryable":true,"details":{"actual":2,"expected":null}}}
        ! error: the head of 'main' is event 2, not no event (the branch is empty)
        ! hint: read what is new with `mk log`, then try again
        [1]
        $ mk note x --expect main@1 --json
        {"error":{"code":"stale-head","message":"the head of 'main' is event 2, not event 1","hint":"read what is new with `mk log`, then try again","retryable":true,"details":{"actual":2,"expected":1}}}
        ! error: the head of 'main' is event 2, not event 1
        ! hint: read what is new with `mk log`, then try again
        [1]
        $ mk append --expect nope
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        $ mk append --expect main -q
        $ mk rev-list --count
        3
        "#,
    );
}
