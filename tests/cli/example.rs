//! examples/two-agents.sh checks its own claims.

use std::path::Path;

use crate::sandbox::Sandbox;

#[test]
fn two_agents_and_a_person_work_on_one_repository() {
    let repo = Sandbox::empty();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/two-agents.sh");
    let done = repo.sh(&format!("'{}'", script.display())).success();
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(text.ends_with("\nall claims hold\n"), "{text}");
    assert_eq!(text.matches("\nholds: ").count(), 21, "{text}");
}
