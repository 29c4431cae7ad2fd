use serde_json::Value;

use crate::sandbox::Sandbox;

/// A place without a project, where temporary directories are made in `temporary`.
fn place() -> Sandbox {
    let mut sandbox = Sandbox::empty();
    std::fs::create_dir(sandbox.path("temporary")).unwrap();
    let temporary = sandbox.path("temporary").display().to_string();
    sandbox.set("TMPDIR", &temporary);
    sandbox
}

fn left_in(sandbox: &Sandbox) -> usize {
    sandbox.path("temporary").read_dir().unwrap().count()
}

#[test]
fn every_claim_of_the_demo_holds_and_it_cleans_up() {
    let sandbox = place();
    let done = sandbox.mk("demo").success().stderr("");
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(text.contains("\n$ mk --agent ann rollback "), "{text}");
    assert!(text.ends_with(" claims, all hold\n"), "{text}");
    assert_eq!(left_in(&sandbox), 0);
}

#[test]
fn the_demo_does_not_see_the_project_of_its_caller() {
    let mut sandbox = place();
    for (name, value) in [("MK_DB", "/nowhere"), ("MK_BRANCH", "none"), ("MK_AGENT", "someone")] {
        sandbox.set(name, value);
    }
    sandbox.mk("demo").success();
}

#[test]
fn the_demo_as_json_lists_steps_and_claims() {
    let sandbox = place();
    let report = sandbox.json("demo --keep");
    let story = report["story"].as_array().unwrap();
    let holds: Vec<&Value> =
        story.iter().filter_map(|item| item.get("claim")).map(|claim| &claim["holds"]).collect();
    assert_eq!(report["claims"], holds.len());
    assert!(holds.iter().all(|holds| **holds == true), "{report}");
    let exits = story.iter().filter_map(|item| item.get("step")).map(|step| &step["exit"]);
    assert_eq!(
        exits.filter(|exit| **exit != 0).collect::<Vec<_>>(),
        [1, 1, 1],
        "three are refused"
    );
    assert_eq!(left_in(&sandbox), 1);
    let kept = report["directory"].as_str().unwrap();
    sandbox.mk(&format!("-C {kept} log --oneline")).success();
}

#[test]
fn a_demo_without_a_place_for_its_project_fails() {
    let mut sandbox = place();
    sandbox.set("TMPDIR", "/nowhere");
    sandbox.mk("demo").code(128).stdout("");
}
