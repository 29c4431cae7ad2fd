//! `mk merge`

use crate::sandbox::Sandbox;

#[test]
fn what_only_the_other_branch_changed_is_taken_over_with_its_author() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk decide rounding half-even -m 'the ledger does'
        693733de81b6c6e5a2d3a0c69019baee061c6f99ea84c5e1e8b17b859f6067ff
        $ mk fact tests=12 suspect=rounding
        89c8f47036bef0b86aad597805ed9a0bbd2517244ab2603e2b31afa0774014d0
        $ mk decide zone UTC
        ac66ee064de6a627f88d66d9ae87fda6c3bda24d502a0a97a6fd6457cb75b0f8
        $ mk fork try --switch
        try forked from main at event 3
        $ mk --agent bob --branch try decide rounding half-up -m 'what Decimal does'
        5851eed1e9639040848e70d30c935e05a29564b19dc6864209b070096c3547ad
        $ mk --agent bob --branch try fact tests=13 slow='["a","b"]'
        a13cf81f31a2f5697e597dd6e74d6de43d035cac18061b58986fb08dbc149517
        $ mk retract decision zone -m 'the shop has its own'
        decision 'zone' no longer holds on try
        $ mk --agent bob --branch try task 'Exact sums' -c 'no floats'
        1b5ba4b05bfae20ac507372c3a55a64b7190eb860cba2ad4fd04748624b567b0
        $ mk note 'stays on the branch'
        97bb1253cb0cb49ad5f3b1ad17f1d57c44ed0735544c2d53366529b1b1a425ab
        $ mk switch main
        main
        $ mk note 'meanwhile'
        f837d8ea1346a4110ec2afdbf5fa7fe3ef5f5cc14d7f452f080249909a7067b2
        $ mk merge try --dry-run
        taken: decision rounding = half-up
        taken: fact slow = ["a", "b"]
        taken: fact tests = 13
        taken: task bob = Exact sums
        taken: decision zone is taken back
        $ mk merge try -m 'decimal it is'
        taken: decision rounding = half-up
        taken: fact slow = ["a", "b"]
        taken: fact tests = 13
        taken: task bob = Exact sums
        taken: decision zone is taken back
        try is merged into main
        $ mk log --oneline
        165b1595 15 me BRANCH_MERGED try at sequence 9: decimal it is
        15306b11 14 me RETRACTED decision zone
        857c15cf 13 bob AGENT_TASK_INIT Exact sums
        280d713c 12 bob TOOL_EXECUTION_LOG slow=["a", "b"] tests=13
        72ac6430 11 bob ARCHITECTURAL_DECISION rounding = half-up
        f837d8ea 10 me AGENT_SCRATCHPAD meanwhile
        ac66ee06 3 me ARCHITECTURAL_DECISION zone = UTC
        89c8f470 2 me TOOL_EXECUTION_LOG suspect=rounding tests=12
        693733de 1 me ARCHITECTURAL_DECISION rounding = half-even
        $ mk cat-event HEAD | grep -o '"payload":.*,"prev"'
        "payload":{"applied_count":5,"reason":"decimal it is","settled":{},"source_branch":"try","source_hash":"97bb1253cb0cb49ad5f3b1ad17f1d57c44ed0735544c2d53366529b1b1a425ab","source_sequence":9,"target_hash":"f837d8ea1346a4110ec2afdbf5fa7fe3ef5f5cc14d7f452f080249909a7067b2","target_sequence":4},"prev"
        $ mk cat-event HEAD~2 | grep -o '"metadata":.*,"prev"'
        "metadata":{"merged_by":"me","origin":{"hash":"1b5ba4b05bfae20ac507372c3a55a64b7190eb860cba2ad4fd04748624b567b0"}},"payload":{"constraints":["no floats"],"directive":"Exact sums"},"prev"
        $ mk merge try
        main has all of try already
        $ mk verify
        ok: 15 events, 2 branches
        $ mk rollback HEAD~6 --include-others
        main rolled back to event 3: 6 events reverted
        $ mk merge try --dry-run
        taken: decision rounding = half-up
        taken: fact slow = ["a", "b"]
        taken: fact tests = 13
        taken: task bob = Exact sums
        taken: decision zone is taken back
    "#,
    );
}

#[test]
fn a_conflict_is_refused_until_each_key_is_settled() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk decide db sqlite
        1cb27a5b5e238a33d46ceeeee2600d4508d211036b6500d2ba6238ea04e2ebe0
        $ mk fact db=1
        98c343a61d0b7c10939bdf4654b031823319e79dd366397721202bb8724f2a25
        $ mk fork try
        try forked from main at event 2
        $ mk decide db postgres
        ad37b005c3cbd87854d7fdd09e4c47662e7ddec3fc818911e36b79814d60064d
        $ mk --branch try decide db mysql -m 'they know it'
        cebf2c0dcd0adf848b23e3be93ca976848b59cbb17a40cf319007568cdb039e2
        $ mk --branch try fact db=2 port=3306
        f8e4049b5963daac51121c954dd415522625b1e8eb671958874bbbc9e5351672
        $ mk fact db=3
        4fa8bcbbe155eb01de1ad9e36f1fd695b81d1315592448bdf811b6fc6f5a2941
        $ mk merge try
        ! error: 2 conflicts with 'try': decision 'db', fact 'db'
        ! hint: settle each with --ours KEY, --theirs KEY or --set KEY=VALUE; --dry-run shows them
        [1]
        $ mk merge try --json 2>/dev/null
        {"error":{"code":"merge-conflict","message":"2 conflicts with 'try': decision 'db', fact 'db'","hint":"settle each with --ours KEY, --theirs KEY or --set KEY=VALUE; --dry-run shows them","retryable":false,"details":{"keys":[{"base":{"agent_id":"me","event_hash":"1cb27a5b5e238a33d46ceeeee2600d4508d211036b6500d2ba6238ea04e2ebe0","event_id":1,"value":"sqlite"},"key":"db","kind":"decision","ours":{"agent_id":"me","event_hash":"ad37b005c3cbd87854d7fdd09e4c47662e7ddec3fc818911e36b79814d60064d","event_id":4,"value":"postgres"},"theirs":{"agent_id":"me","event_hash":"cebf2c0dcd0adf848b23e3be93ca976848b59cbb17a40cf319007568cdb039e2","event_id":5,"value":"mysql"}},{"base":{"agent_id":"me","event_hash":"98c343a61d0b7c10939bdf4654b031823319e79dd366397721202bb8724f2a25","event_id":2,"value":1},"key":"db","kind":"fact","ours":{"agent_id":"me","event_hash":"4fa8bcbbe155eb01de1ad9e36f1fd695b81d1315592448bdf811b6fc6f5a2941","event_id":7,"value":3},"theirs":{"agent_id":"me","event_hash":"f8e4049b5963daac51121c954dd415522625b1e8eb671958874bbbc9e5351672","event_id":6,"value":2}}],"omitted":0}}}
        [1]
        $ mk merge try --dry-run
        taken: fact port = 3306
        conflict: decision db
          base: sqlite (me #1)
          main: postgres (me #4)
          try: mysql (me #5)
        conflict: fact db
          base: 1 (me #2)
          main: 3 (me #7)
          try: 2 (me #6)
        [1]
        $ mk merge try --ours db
        ! fatal: 'db' is the key of a decision (decision:db) and of a fact (fact:db)
        [129]
        $ mk merge try --ours decision:db
        ! error: a conflict with 'try': fact 'db'
        ! hint: settle each with --ours KEY, --theirs KEY or --set KEY=VALUE; --dry-run shows them
        [1]
        $ mk merge try --ours decision:db --theirs decision:db
        ! fatal: 'decision:db' is settled twice
        [129]
        $ mk merge try --ours decision:db --set port=1
        ! fatal: there is no conflict about 'port'
        [129]
        $ mk merge try --set db
        ! fatal: 'db' is not KEY=VALUE
        [129]
        $ mk merge try --theirs decision:db --set fact:db=4 -m both --op-id 1
        theirs: decision db = mysql
        taken: fact port = 3306
        set: fact db = 4
        try is merged into main
        $ mk merge try --theirs decision:db --set fact:db=4 -m both --op-id 1
        theirs: decision db = mysql
        taken: fact port = 3306
        set: fact db = 4
        try is merged into main
        $ mk merge try --theirs decision:db --set fact:db=4 -m both
        main has all of try already
        $ mk merge try --ours db
        main has all of try already
        $ mk merge try --theirs decision:db --ours port
        ! fatal: there is no conflict about 'port'
        [129]
        $ mk merge try --set fact:typo=4 --dry-run
        ! fatal: there is no conflict about 'fact:typo'
        [129]
        $ mk log --oneline -n 5
        385bffb0 11 me BRANCH_MERGED try at sequence 5: both
        ca970ea8 10 me TOOL_EXECUTION_LOG db=4
        d847d9bb 9 me TOOL_EXECUTION_LOG port=3306
        30a59d3c 8 me ARCHITECTURAL_DECISION db = mysql
        4fa8bcbb 7 me TOOL_EXECUTION_LOG db=3
        $ mk --branch try merge main
        taken: fact db = 4
        main is merged into try
        $ mk diff main try | grep -v ' [a-z0-9]* [A-Z]'
        merge base: event 2 98c343a61d0b7c10939bdf4654b031823319e79dd366397721202bb8724f2a25
        main: 6 events ahead
        try: 5 events ahead
        states: different
    "#,
    );
}

#[test]
fn one_side_is_preferred_for_all_that_is_not_named() {
    let repo = Sandbox::new();
    repo.session(
        r#"
              $ mk fact a=1 b=1 c=1
              39477854b24962a7337e3ffaba804580ba635363bbc7f71d29c4000b6164618f
              $ mk fork try
              try forked from main at event 1
              $ mk fact a=2 b=2 c=2
              7fd47c3115f524d71df6c1e8a44dd89419b0aff4e1b3feb2ebb525d5a00d37ff
              $ mk --branch try fact a=3 b=3
              b00771483805c69fa317fa12571eb7d4cf55161f00db1d84e5db2fb6a6949ebb
              $ mk --branch try retract fact c
              fact 'c' no longer holds on try
              $ mk merge try -X theirs --ours b
              theirs: fact a = 3
              theirs: fact c is taken back
              try is merged into main
              $ mk merge try -X theirs
              main has all of try already
              $ mk fold | grep '"value"'
                    "value": 3
                    "value": 2
                    "value": 1
                    "value": 1
                    "value": 1
                    "value": 2
                    "value": 2
    "#,
    );
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk note x
        b37935f09daa31ffd40bb5b82c017e0a89a993a7f611d4adddd78c2e4b37ff5b
        $ mk erase 1 -m x
        erased event 1 (b37935f0 AGENT_SCRATCHPAD)
        $ mk merge nope
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        $ mk merge @erase
        ! error: '@erase' belongs to mk; it cannot be merged
        [1]
        $ mk --branch @erase merge main
        ! fatal: invalid value '@erase' for '--branch <NAME>': branch name '@erase' has '@' at character 1
        ! hint: see `mk merge --help`
        [129]
        $ mk merge main
        main has all of main already
        $ mk merge 1 --ours x
        ! fatal: there is no conflict about 'x'
        [129]
        $ mk merge
        ! fatal: the following required arguments were not provided: <BRANCH>
        ! hint: see `mk merge --help`
        [129]
        $ mk append --type BRANCH_MERGED
        ! error: events of type BRANCH_MERGED are written by a merge, not appended
        ! hint: use the command that writes them, see `mk help`
        [1]
    "#,
    );
}

#[test]
fn a_merge_travels_and_can_be_erased_and_still_counts() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk fact a=1
        c4ada38d7d52a3a570fb3d7fae749cc17f8900aa1f2d67fb32e3e390d4c08dd5
        $ mk fork try
        try forked from main at event 1
        $ mk --branch try fact a=secret-name
        3a04e0b3f6667fb250d96962b99eea7b40ec515cac731f335ca93d91345e6fd7
        $ mk merge try -m 'of secret-name'
        taken: fact a = secret-name
        try is merged into main
        $ mk --branch try fact b=1
        7bfe3d9df73e2f709c50e451d8a3f499b0b3f6af7649da3c10a9c3211eeba9d1
        $ mk erase HEAD -m 'the reason named it'
        erased event 5 (c58d24a9 BRANCH_MERGED)
        $ mk erase 3 --copies -m 'it is a name' | cut -d ' ' -f 1-3
        erased event 3
        erased event 4
        $ mk verify
        ok: 9 events, 3 branches
        $ mk merge try
        taken: fact b = 1
        try is merged into main
        $ mk export log
        $ mkdir other && mk init other >/dev/null
        $ mk -C other import ../log | tail -n 1
        new try @4 7bfe3d9d
        $ mk -C other merge try
        main has all of try already
        $ mk -C other verify
        ok: 11 events, 3 branches
        $ grep -c secret-name log
        0
        [1]
    "#,
    );
}
