//! `mk context --goal G --exec-budget N`

use super::{call, called, gate_declared, goal_declared};
use crate::sandbox::Sandbox;

fn text(repo: &Sandbox, line: &str) -> String {
    String::from_utf8(repo.mk(line).success().get_output().stdout.clone()).unwrap()
}

#[test]
fn only_a_goal_and_a_budget_together_add_the_section() {
    let mut repo = Sandbox::new();
    repo.mk("decide a b -m why").success();
    called(&mut repo, goal_declared(1));
    for (number, gate) in (2..).zip(["build", "docs", "test"]) {
        called(&mut repo, gate_declared(number, gate));
    }
    let optional = gate_declared(9, "optional")
        .replace("\"verification\"", "\"required\":false,\"verification\"");
    called(&mut repo, optional);
    let plain = text(&repo, "context");
    assert_eq!(text(&repo, "context --goal team/alpha"), plain);
    assert_eq!(text(&repo, "context --goal team/alpha --exec-budget 0"), plain);
    assert_eq!(text(&repo, "context --exec-budget 300"), plain);
    assert_eq!(text(&repo, "context --goal team/none --exec-budget 300"), plain);
    let json = text(&repo, "--json context");
    assert_eq!(text(&repo, "--json context --goal team/alpha"), json);
    assert_eq!(text(&repo, "--json context --exec-budget 300"), json);
    let whole = text(&repo, "context --goal team/alpha --exec-budget 300");
    let gate = |name: &str| {
        format!(
            "    {{\"gate_id\":\"{name}\",\"reopened_at_seq\":0,\"required\":true,\"scope_key\":\"{name}\",\"status\":\"pending\"}}\n"
        )
    };
    let header = "EXECUTION team/alpha: required gates still pending (advisory)\n";
    assert_eq!(whole, format!("{plain}{header}{}{}{}", gate("build"), gate("docs"), gate("test")));
    // 41 bytes around, 94 of the first gate: 34 tokens.
    assert_eq!(text(&repo, "context --goal team/alpha --exec-budget 33"), plain);
    let one = text(&repo, "context --goal team/alpha --exec-budget 40");
    assert_eq!(one, format!("{plain}{header}{}", gate("build")));
    repo.refuses(
        "context --goal Team --exec-budget 5",
        129,
        "invalid-argument",
        "fatal: 'Team' is no goal id\n",
    );
    repo.refuses(
        "context --goal team/alpha --exec-budget 5000",
        129,
        "invalid-argument",
        "fatal: a budget of 5100 tokens is the least with that of --exec-budget\n",
    );
}

#[test]
fn the_section_has_eight_gates_at_most_and_never_breaks_the_budget() {
    let mut repo = Sandbox::new();
    called(&mut repo, goal_declared(1));
    for number in 0..20 {
        let (_, status) = call(&mut repo, gate_declared(10 + number, &format!("g{number:02}")));
        assert_eq!(status, 0);
    }
    for (budget, share) in [(100, 0), (200, 90), (400, 300), (4_000, 400), (4_000, 3_000)] {
        let line = format!("context --budget {budget} --goal team/alpha --exec-budget {share}");
        let context = repo.json(&line);
        assert!(context["tokens"].as_u64().unwrap() <= budget, "{context}");
        let gates = context["text"].as_str().unwrap().matches("gate_id").count();
        assert!(gates <= 8);
        assert_eq!(gates > 0, share > 0, "{context}");
    }
}
