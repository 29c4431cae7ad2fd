//! The recipes of docs/scripting.md do what it says.

use std::fs;
use std::path::Path;

use assert_cmd::assert::Assert;

use crate::sandbox::Sandbox;

/// The recipe whose first line is the comment `name`.
fn recipe(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scripting.md");
    let page = fs::read_to_string(page).unwrap();
    let start =
        page.find(&format!("```sh\n# {name}\n")).unwrap_or_else(|| panic!("no recipe {name}"));
    let recipe = &page[start + "```sh\n".len()..];
    recipe[..recipe.find("```\n").unwrap()].to_owned()
}

/// A project with the recipe `name` as a script.
fn with_recipe(name: &str) -> Sandbox {
    let repo = Sandbox::new();
    repo.write(&format!("{name}.sh"), recipe(name));
    repo
}

fn stderr(done: &Assert) -> String {
    String::from_utf8(done.get_output().stderr.clone()).unwrap()
}

#[test]
fn every_recipe_has_a_test() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scripting.md"))
        .unwrap();
    let names = page.split("```sh\n# ").skip(1).map(|block| block.lines().next().unwrap());
    let tests = include_str!("recipes.rs");
    for name in names {
        assert!(tests.contains(&format!("with_recipe(\"{name}\")")), "{name} has no test");
    }
}

#[test]
fn one_deploy_at_a_time_and_none_that_lost_its_lease_is_recorded() {
    let mut repo = with_recipe("lease-around-a-deploy");
    repo.write("VERSION", "1.4.2\n");
    repo.sh("printf '#!/bin/sh\\nmk lease list\\n' > deploy.sh; chmod +x deploy.sh").success();
    let run = "MK_AGENT=ci sh lease-around-a-deploy.sh";
    let done = repo.sh(run).success();
    let shown = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(shown.starts_with("service:deploy\tci\t1\t900 s\n"), "{shown}");
    repo.mk("log --oneline -n 1").success();
    repo.mk("lease list").success().stdout("");
    repo.mk("--agent bob lease acquire service:deploy --ttl 60").success();
    let refused = repo.sh(run).code(1);
    assert!(stderr(&refused).contains("'service:deploy' is leased to 'bob' for 60 s more"));
    repo.now_ms += 60_000;
    // Another run of the same user, while the first is at it.
    repo.sh("printf '#!/bin/sh\\n! sh lease-around-a-deploy.sh\\n' > deploy.sh").success();
    let nested = repo.sh(run).success();
    let said = "error: 'service:deploy' is leased to 'ci' in another session for 900 s more\n";
    assert!(stderr(&nested).starts_with(said), "{}", stderr(&nested));
    // The deploy takes longer than its lease, and another one begins.
    repo.sh(
        "printf '#!/bin/sh\\nMK_LEASE_DATE=@1900000000 mk --agent bob lease acquire service:deploy\\n' > deploy.sh",
    )
    .success();
    let late = repo.sh(run).code(1);
    assert!(
        stderr(&late).contains("the lease of 'service:deploy' with token 4 is lost"),
        "{}",
        stderr(&late)
    );
}

#[test]
fn a_merge_waits_for_open_blockers() {
    let repo = with_recipe("gate-on-blockers");
    repo.sh("sh gate-on-blockers.sh").success().stderr("");
    let log = |code: u8| {
        let payload =
            format!(r#"{{"command":"make","exit_code":{code},"output":"FAILED test_a"}}"#);
        repo.mk_words(&["append", "--type", "TOOL_EXECUTION_LOG", "--payload", &payload]).success();
    };
    log(2);
    let blocked = repo.sh("sh gate-on-blockers.sh").code(1).stderr("");
    let told = String::from_utf8(blocked.get_output().stdout.clone()).unwrap();
    assert!(told.contains("make: FAILED test_a (exit 2, me)"), "{told}");
    log(0);
    repo.sh("sh gate-on-blockers.sh").success();
}

#[test]
fn a_job_fails_if_main_moved_away_from_a_fork() {
    let repo = with_recipe("fail-if-diverged");
    repo.mk("note one").success();
    repo.mk("fork try").success();
    repo.mk("--branch try note two").success();
    repo.sh("sh fail-if-diverged.sh try").success();
    repo.mk("note three").success();
    let told = stderr(&repo.sh("sh fail-if-diverged.sh try").code(1));
    assert!(told.starts_with("main has moved since try was forked:\n"), "{told}");
    assert!(told.trim_end().ends_with("three") && !told.contains("two"), "{told}");
}

#[test]
fn a_release_script_posts_a_decision_once() {
    let repo = with_recipe("post-a-decision");
    repo.write("VERSION", "1.4.2\n");
    repo.sh("sh post-a-decision.sh").success();
    repo.sh("sh post-a-decision.sh").success();
    // Another checkout, another user: still the same release.
    repo.sh("mkdir ci; cp post-a-decision.sh ci/release; MK_AGENT=runner-7 sh ./ci/release")
        .success();
    repo.mk("rev-list --count main").success().stdout("1\n");
    repo.mk("context").success();
    // Under the same id another decision would be a mistake.
    repo.sh("sed -i 's/tagged/built/' post-a-decision.sh; sh post-a-decision.sh").code(1);
}

#[test]
fn nothing_is_appended_after_what_was_not_read() {
    let repo = with_recipe("append-if-unmoved");
    repo.mk("note one").success();
    repo.sh("sh append-if-unmoved.sh").success();
    repo.sh("sed 's/^state=.*/&; mk note other/' append-if-unmoved.sh > moved.sh; sh moved.sh")
        .code(1);
    repo.mk("rev-list --count main").success().stdout("3\n");
}

#[test]
fn changed_files_are_asked_for() {
    let repo = with_recipe("check-leases");
    repo.sh(
        "git init -q . && git config user.name me && git config user.email me@x && touch 'a b' c && git add . \
         && git commit -qm x && echo x > 'a b'",
    )
    .success();
    repo.sh("sh check-leases.sh").success().stdout("'a b' is free\n".replace('\'', ""));
    repo.mk("--agent bob lease acquire 'a b' --ttl 60").success();
    repo.sh("sh check-leases.sh").failure();
    // Wherever one stands, and where git cannot say what changed.
    repo.sh("mkdir sub; cd sub; sh ../check-leases.sh").failure();
    repo.mk("--agent bob lease release 'a b' --token 1").success();
    repo.sh("cd sub; sh ../check-leases.sh").success();
    repo.sh("sh check-leases.sh no-such-revision").failure();
}

#[test]
fn a_job_of_ci_leaves_its_log_to_the_next_one_also_if_it_fails() {
    let repo = Sandbox::empty();
    repo.sh(
        "mkdir bin; printf '#!/bin/sh\necho FAILED one; exit 1\n' > bin/make; chmod +x bin/make",
    )
    .success();
    repo.sh("mkdir job1 job2; mk hook --recipe ci > ci.sh").success();
    let job = "PATH=$HOME/bin:$PATH sh ../ci.sh";
    repo.sh(&format!("cd job1; {job}")).code(1);
    repo.sh("cp job1/memory.ndjson job2; printf '#!/bin/sh\n' > bin/make").success();
    // What the job before noted as broken is mended by this one.
    repo.sh(
        "cd job2; mk init >/dev/null; mk import memory.ndjson >/dev/null; mk status --exit-code",
    )
    .code(1);
    repo.sh(&format!("cd job2; {job}")).success();
}

#[test]
fn busy_is_tried_again_and_no_is_an_answer() {
    let repo = with_recipe("retry-while-busy");
    repo.sh("sed -i 's/0 1 2 4/0 0/; s/-timeout 2/-timeout 0/' retry-while-busy.sh").success();
    repo.sh("sh retry-while-busy.sh hello").success();
    let store = rusqlite::Connection::open(repo.store().join("mk.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = repo.sh("sh retry-while-busy.sh hello").code(75);
    assert_eq!(stderr(&busy).matches("error: ").count(), 2);
    store.execute_batch("ROLLBACK").unwrap();
    let refused = repo.sh("MK_BRANCH=gone sh retry-while-busy.sh hello").code(128);
    assert_eq!(stderr(&refused).matches("fatal: ").count(), 1);
}
