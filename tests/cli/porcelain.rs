//! `task`, `decide`, `fact`, `note`, `undo`, `retract`, `context`.

use crate::sandbox::Sandbox;

/// A project in which ann and bob did something of everything.
pub fn busy() -> Sandbox {
    let mut repo = Sandbox::new();
    let steps = [
        "--agent ann task 'make login work' -c 'no new crates' -c 'keep the API'",
        "--agent ann decide db.engine sqlite -m 'one file\nnothing to run'",
        "--agent bob fact tests=12 ready=true --meta '{\"host\":\"ci\"}'",
        "--agent bob append --type TOOL_EXECUTION_LOG --payload \
         '{\"command\":\"cargo test\",\"exit_code\":101,\"output\":\"one\\ntwo\\n\"}'",
        "--agent ann note 'the cache\tis \u{1b}[31mred'",
        "--agent ann decide db.engine postgres",
    ];
    for step in steps {
        repo.now_ms += 1_000;
        repo.mk(step).success();
    }
    repo
}

#[test]
fn each_kind_of_event_is_appended_and_answered_with_its_hash() {
    Sandbox::new().session(
        r#"
        $ mk --agent ann task 'make login work' -c 'no new crates' --constraint 'keep the API'
        657a667b21ec216e688b4bd1fe4cc9177f7acff429d2962652ecf1994df882e9
        $ mk --agent ann decide db.engine sqlite -m 'one file, nothing to run'
        31613821cd359735c7ced08f9398a550814bdf531e10b0e8b96652ee1c1fa74d
        $ mk fact tests=12 ready=true name=mk list='[1,2]' --agent ann
        f2b78def638595ad3b08b59cafab168ca55414880144ca49c9d45b8951248b5c
        $ mk fact --text tests=12 --agent ann
        ec2e04d86715c63b5e50566f8f0455016e62270eb519f2cdb0f1b5942df4be2e
        $ mk note 'the cache is cold'
        e4abd7617ffe3942f3e664c57e6c1f71ef5e7d7500c7adf5f5df5d6997ebf26f
        $ echo 'from a pipe' | mk note -
        9856d8d7d4f94b66caefd13eebebf23fca6a0827cd6fef079a8a213196c1e9cd
        $ mk rev-list --id
        6
        5
        4
        3
        2
        1
        $ mk cat-event HEAD~5 HEAD~4 HEAD~3 HEAD~2 HEAD~1 HEAD
        {"agent_id":"ann","branch_id":"main","event_type":"AGENT_TASK_INIT","hash":"657a667b21ec216e688b4bd1fe4cc9177f7acff429d2962652ecf1994df882e9","metadata":{},"payload":{"constraints":["no new crates","keep the API"],"directive":"make login work"},"prev":"0000000000000000000000000000000000000000000000000000000000000000","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":1,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        {"agent_id":"ann","branch_id":"main","event_type":"ARCHITECTURAL_DECISION","hash":"31613821cd359735c7ced08f9398a550814bdf531e10b0e8b96652ee1c1fa74d","metadata":{},"payload":{"decision_key":"db.engine","decision_value":"sqlite","rationale":"one file, nothing to run"},"prev":"657a667b21ec216e688b4bd1fe4cc9177f7acff429d2962652ecf1994df882e9","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":2,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        {"agent_id":"ann","branch_id":"main","event_type":"TOOL_EXECUTION_LOG","hash":"f2b78def638595ad3b08b59cafab168ca55414880144ca49c9d45b8951248b5c","metadata":{},"payload":{"facts":{"list":[1,2],"name":"mk","ready":true,"tests":12}},"prev":"31613821cd359735c7ced08f9398a550814bdf531e10b0e8b96652ee1c1fa74d","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":3,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        {"agent_id":"ann","branch_id":"main","event_type":"TOOL_EXECUTION_LOG","hash":"ec2e04d86715c63b5e50566f8f0455016e62270eb519f2cdb0f1b5942df4be2e","metadata":{},"payload":{"facts":{"tests":"12"}},"prev":"f2b78def638595ad3b08b59cafab168ca55414880144ca49c9d45b8951248b5c","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":4,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        {"agent_id":"me","branch_id":"main","event_type":"AGENT_SCRATCHPAD","hash":"e4abd7617ffe3942f3e664c57e6c1f71ef5e7d7500c7adf5f5df5d6997ebf26f","metadata":{},"payload":{"note":"the cache is cold"},"prev":"ec2e04d86715c63b5e50566f8f0455016e62270eb519f2cdb0f1b5942df4be2e","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":5,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        {"agent_id":"me","branch_id":"main","event_type":"AGENT_SCRATCHPAD","hash":"9856d8d7d4f94b66caefd13eebebf23fca6a0827cd6fef079a8a213196c1e9cd","metadata":{},"payload":{"note":"from a pipe\n"},"prev":"e4abd7617ffe3942f3e664c57e6c1f71ef5e7d7500c7adf5f5df5d6997ebf26f","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":6,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        "#,
    );
}

#[test]
fn under_json_an_append_answers_with_the_event_and_not_its_payload() {
    Sandbox::new().session(
        r#"
        $ mk task 'make login work' --json
        {"event_id":1,"hash":"fc0428ae047412c271390793b8b7ad4275aa56bac3c20010f1aa7a387c184ef8","sequence":1,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":null,"event_type":"AGENT_TASK_INIT"}
        $ mk --json decide db.engine sqlite
        {"event_id":2,"hash":"0278e47cb5957d01262c273531ecc2806370caced6acaba5cf92a7159e068ffc","sequence":2,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":1,"event_type":"ARCHITECTURAL_DECISION"}
        $ mk fact --json tests=12
        {"event_id":3,"hash":"c52357ebe0ee8f9d94a2949350ee6919a4c9d3b1e710659a52bb9f8166492340","sequence":3,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":2,"event_type":"TOOL_EXECUTION_LOG"}
        $ mk note --json hi
        {"event_id":4,"hash":"cefb41c9fd8e4149c866c80471864afa061ebaedb14e2ec3571b5598ffd7b490","sequence":4,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":3,"event_type":"AGENT_SCRATCHPAD"}
        "#,
    );
}

#[test]
fn undo_takes_back_ones_own_last_events() {
    busy().session(
        r#"
        $ mk --agent ann undo
        main rolled back to event 5: 1 event reverted
        $ mk --agent ann undo --json -m 'wrong ticket'
        {"branch_id":"main","target_event_id":4,"target_sequence":4,"target_hash":"dca57ac481cc0af04c466b62de3e6804d88133d1c7b6ab17e7f1e7a9429d22ce","reverted_count":2,"reverted_event_ids":[5,7],"event":{"event_id":8,"hash":"ee2a540ea10be7c0d4ac83c9e54276fdcfab6a63a435f8ae8282e3d0ee56a7a4","sequence":8,"timestamp":"2026-11-30T10:00:06.000000Z","branch_id":"main","agent_id":"ann","parent_event_id":7,"event_type":"ROLLBACK_TRIGGERED"}}
        $ mk --agent ann undo
        ! error: nothing to undo on 'main': event 4 of 'bob' comes after yours
        ! hint: take back a single record with `mk retract`, or see `mk rollback`
        [1]
        $ mk --agent bob undo 2
        ! error: nothing to undo on 'main': event 8 of 'ann' comes after yours
        ! hint: take back a single record with `mk retract`, or see `mk rollback`
        [1]
        $ mk log --oneline
        ee2a540e 8 ann ROLLBACK_TRIGGERED to sequence 4: wrong ticket
        dca57ac4 4 bob TOOL_EXECUTION_LOG $ cargo test (exit 101)
        e8155b53 3 bob TOOL_EXECUTION_LOG ready=true tests=12
        ecb5f6eb 2 ann ARCHITECTURAL_DECISION db.engine = sqlite
        49893a88 1 ann AGENT_TASK_INIT make login work
        $ mk undo 0
        ! fatal: invalid value '0' for '[COUNT]': not a number from 1 up
        ! hint: see `mk undo --help`
        [129]
        "#,
    );
}

#[test]
fn a_retracted_record_leaves_the_state_and_stays_known() {
    busy().session(
        r#"
        $ mk --agent bob retract decision db.engine -m 'not decided yet'
        decision 'db.engine' no longer holds on main
        $ mk --agent bob retract fact tests --json
        {"branch_id":"main","kind":"fact","key":"tests","event":{"event_id":8,"hash":"e0ab07c12fb92c5f3c9ba96ede3f08389b3d477dd06cd0402ba79d841eb8b5db","sequence":8,"timestamp":"2026-11-30T10:00:06.000000Z","branch_id":"main","agent_id":"bob","parent_event_id":7,"event_type":"RETRACTED"}}
        $ mk retract task ann
        task 'ann' no longer holds on main
        $ mk context
        FACT ready = true (bob #3)
        DEPRECATED decision db.engine: sqlite -> postgres (#6)
        DEPRECATED decision db.engine: postgres -> null (#7)
        DEPRECATED fact tests: 12 -> null (#8)
        DEPRECATED task ann: make login work -> null (#9)
        BLOCKER cargo test: two (exit 101, x1, bob #4)
        RAN cargo test last exit 101 (1 runs, 1 failed)
        [#1 seq=1 ann AGENT_TASK_INIT] {"constraints":["no new crates","keep the API"],"directive":"make login work"}
        [#2 seq=2 ann ARCHITECTURAL_DECISION] db.engine = sqlite | rationale: one file
            nothing to run
        [#3 seq=3 bob TOOL_EXECUTION_LOG] facts: {"ready":true,"tests":12}
        [#4 seq=4 bob TOOL_EXECUTION_LOG] $ cargo test (exit 101)
            one
            two
        [#5 seq=5 ann AGENT_SCRATCHPAD] the cache	is \u{1b}[31mred
        [#6 seq=6 ann ARCHITECTURAL_DECISION] db.engine = postgres | rationale: 
        [#7 seq=7 bob RETRACTED] {"key":"db.engine","kind":"decision","reason":"not decided yet","retracted_hash":"e25ecf0e74268781a5aa460eccb4de975f7550f9fa16b85ae8bbd89afa759226","retracted_sequence":6}
        [#8 seq=8 bob RETRACTED] {"key":"tests","kind":"fact","reason":"","retracted_hash":"e8155b53d3ca53ab560318e652db865fc911eeb65899159b7235748dcbd060aa","retracted_sequence":3}
        [#9 seq=9 me RETRACTED] {"key":"ann","kind":"task","reason":"","retracted_hash":"49893a889e16341be211f3f2cd2278c4e18e900f4cb4acf0d5097f5f33d05ea4","retracted_sequence":1}
        $ mk retract fact tests
        ! error: there is no fact 'tests' on 'main'
        ! hint: see `mk fold`
        [1]
        $ mk retract idea x
        ! fatal: invalid value 'idea' for '<decision|fact|task>': not one of decision, fact, task
        ! hint: see `mk retract --help`
        [129]
        "#,
    );
}

#[test]
fn context_is_what_holds_then_what_happened() {
    busy().session(
        r#"
        $ mk context
        TASK ann: make login work | constraints: no new crates; keep the API
        DECISION db.engine = postgres |  (ann #6)
        FACT ready = true (bob #3)
        FACT tests = 12 (bob #3)
        DEPRECATED decision db.engine: sqlite -> postgres (#6)
        BLOCKER cargo test: two (exit 101, x1, bob #4)
        RAN cargo test last exit 101 (1 runs, 1 failed)
        [#1 seq=1 ann AGENT_TASK_INIT] {"constraints":["no new crates","keep the API"],"directive":"make login work"}
        [#2 seq=2 ann ARCHITECTURAL_DECISION] db.engine = sqlite | rationale: one file
            nothing to run
        [#3 seq=3 bob TOOL_EXECUTION_LOG] facts: {"ready":true,"tests":12}
        [#4 seq=4 bob TOOL_EXECUTION_LOG] $ cargo test (exit 101)
            one
            two
        [#5 seq=5 ann AGENT_SCRATCHPAD] the cache	is \u{1b}[31mred
        [#6 seq=6 ann ARCHITECTURAL_DECISION] db.engine = postgres | rationale: 
        $ mk context main --budget 150
        TASK ann: mak […43 characters…] keep the API
        DECISION db.engine = postgres |  (ann #6)
        FACT ready = true (bob #3)
        FACT tests = 12 (bob #3)
        DEPRECATED decision db.engine: sqlite -> postgres (#6)
        BLOCKER ca […27 characters…] , bob #4)
        RAN cargo test last exit 101 (1 runs, 1 failed)
        [#6 seq=6 an […49 characters…] rationale: 
        [left out: 0 records of the state (mk fold main), 5 events (mk log main); 3 shown in part (mk show ID)]
        $ mk context --full
        [#1 seq=1 ann AGENT_TASK_INIT] {"constraints":["no new crates","keep the API"],"directive":"make login work"}
        [#2 seq=2 ann ARCHITECTURAL_DECISION] db.engine = sqlite | rationale: one file
        nothing to run
        [#3 seq=3 bob TOOL_EXECUTION_LOG] $  (exit 0)

        facts: {"ready":true,"tests":12}
        [#4 seq=4 bob TOOL_EXECUTION_LOG] $ cargo test (exit 101)
        one
        two

        [#5 seq=5 ann AGENT_SCRATCHPAD] the cache	is [31mred
        [#6 seq=6 ann ARCHITECTURAL_DECISION] db.engine = postgres | rationale: 
        $ mk context --budget 100 --json
        {"branch_id":"main","head_event_id":6,"tokens":91,"budget":100,"tokenizer":"estimate","left_out":{"records":3,"events":6,"notices":0,"cut":2},"text":"TASK ann: mak […43 characters…] keep the API\nDECISION db.engine = postgres |  (ann #6)\nFACT tests = 12 (bob #3)\nBLOCKER ca […27 characters…] , bob #4)\n[left out: 3 records of the state (mk fold main), 6 events (mk log main); 2 shown in part (mk show ID)]"}
        $ mk context --budget 99
        ! fatal: a budget of 99 tokens is below the least, 100
        [129]
        $ mk context --budget 200 --full
        ! fatal: the argument '--budget <TOKENS>' cannot be used with '--full'
        ! hint: see `mk context --help`
        [129]
        "#,
    );
    Sandbox::new().session(
        r#"
        $ mk context
        $ mk context --json
        {"branch_id":"main","head_event_id":null,"tokens":0,"budget":4000,"tokenizer":"estimate","left_out":{"records":0,"events":0,"notices":0,"cut":0},"text":""}
        "#,
    );
}

#[test]
fn blank_words_say_nothing_and_are_refused() {
    let repo = Sandbox::new();
    let blank = |what| format!("fatal: the {what} is blank\n");
    repo.refuses("task ' \t'", 129, "invalid-argument", &blank("directive"));
    repo.refuses("decide '' x", 129, "invalid-argument", &blank("key"));
    repo.refuses("fact x", 129, "invalid-argument", "fatal: 'x' is not KEY=VALUE\n");
    repo.refuses("fact =x", 129, "invalid-argument", "fatal: '=x' is not KEY=VALUE\n");
    repo.refuses("fact a=1 a=2", 129, "invalid-argument", "fatal: 'a' is given twice\n");
}
