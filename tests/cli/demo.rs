use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// `mk demo` with `temporary` as the place for its project.
fn demo(temporary: &TempDir) -> Command {
    let mut mk = Command::cargo_bin("mk").unwrap();
    mk.arg("demo").env("TMPDIR", temporary.path());
    mk
}

fn left_in(directory: &TempDir) -> usize {
    directory.path().read_dir().unwrap().count()
}

#[test]
fn every_claim_of_the_demo_holds_and_it_cleans_up() {
    let temporary = TempDir::new().unwrap();
    let done = demo(&temporary).assert().success().stderr("");
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(text.contains("\n$ mk --agent ann rollback "), "{text}");
    assert!(text.ends_with(" claims, all hold\n"), "{text}");
    assert_eq!(left_in(&temporary), 0);
}

#[test]
fn the_demo_does_not_see_the_project_of_its_caller() {
    let temporary = TempDir::new().unwrap();
    let of_caller = [("MK_DB", "/nowhere"), ("MK_BRANCH", "none"), ("MK_AGENT", "someone")];
    demo(&temporary).envs(of_caller).assert().success();
}

#[test]
fn the_demo_as_json_lists_steps_and_claims() {
    let temporary = TempDir::new().unwrap();
    let done = demo(&temporary).args(["--json", "--keep"]).assert().success();
    let report: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    let story = report["story"].as_array().unwrap();
    let holds: Vec<&Value> =
        story.iter().filter_map(|item| item.get("claim")).map(|claim| &claim["holds"]).collect();
    assert_eq!(report["claims"], holds.len());
    assert!(holds.iter().all(|holds| **holds == true), "{report}");
    let exits = story.iter().filter_map(|item| item.get("step")).map(|step| &step["exit"]);
    assert_eq!(exits.filter(|exit| **exit != 0).collect::<Vec<_>>(), [1], "one is refused");
    assert_eq!(left_in(&temporary), 1);
    let kept = report["directory"].as_str().unwrap();
    let mut log = Command::cargo_bin("mk").unwrap();
    log.args(["-C", kept, "log", "--oneline"]).assert().success();
}

#[test]
fn a_demo_without_a_place_for_its_project_fails() {
    let temporary = TempDir::new().unwrap();
    let nowhere = temporary.path().join("none");
    demo(&temporary).env("TMPDIR", nowhere).assert().code(128).stdout("");
}
