//! docs/exec.md: what it shows is what happens.

use crate::sandbox::Sandbox;

const PAGE: &str = include_str!("../../../docs/exec.md");

/// The first block of `language`.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_goal_of_the_page_goes_from_start_to_end() {
    let repo = Sandbox::new();
    let done = repo.sh(&format!("set -e\n{}", block("sh"))).success().stderr("");
    let said = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let (answers, rest): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| line.starts_with('{'));
    assert_eq!(answers.len(), 5);
    assert!(answers.iter().all(|answer| answer.contains("\"outcome\":\"applied\"")), "{said}");
    let expected = "team/release: open (record 2)
advice, not permission: wait (blocking_gate_pending)
held up by: tests

GATE                     STATUS   REQUIRED SCOPE        EVIDENCE
tests                    pending  yes      tests        -
     5 2026-11-30T10:00:00Z team/release goal_transition satisfied
     4 2026-11-30T10:00:00Z team/release gate_transition tests passed
     3 2026-11-30T10:00:00Z team/release evidence_receipt tests pass
     2 2026-11-30T10:00:00Z team/release gate_declared tests tests
     1 2026-11-30T10:00:00Z team/release goal_declared Ship 2.0";
    assert_eq!(rest.join("\n"), expected);
    // The answer that is shown, but for its digests and ids.
    let shape = |answer: &str| {
        let is_id = |word: &str| word.len() >= 32 && word.bytes().all(|it| it.is_ascii_hexdigit());
        let words = answer.split('"').map(|word| if is_id(word) { "…" } else { word });
        words.collect::<Vec<_>>().join("\"")
    };
    let shown: String = block("json").lines().map(str::trim_start).collect();
    assert_eq!(shape(answers[0]), shape(&shown));
}
