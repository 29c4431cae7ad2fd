//! The story: two agents, one red test suite, one wrong suspicion.

use mk::canon::{Object, Value};
use serde_json::Value as Json;

use super::stage::{Halt, Stage};

const RED: &str = include_str!("../../tests/fixtures/pytest-verbose-red.txt");
const STILL_RED: &str = include_str!("../../tests/fixtures/pytest-red.txt");
const GREEN: &str = include_str!("../../tests/fixtures/pytest-green.txt");

/// The commands those came from.
const ALL_TESTS: &str = "python -m pytest -v";
const SESSION_TESTS: &str = "python -m pytest --tb=short tests/test_session.py";

pub fn play(stage: &mut Stage) -> Result<(), Halt> {
    record(stage, "red.json", ALL_TESTS, 1, RED)?;
    record(stage, "still-red.json", SESSION_TESTS, 1, STILL_RED)?;
    record(stage, "green.json", ALL_TESTS, 0, GREEN)?;
    two_agents_share_a_memory(stage)?;
    a_test_run_fails(stage)?;
    a_suspicion_is_tried_on_a_fork(stage)?;
    a_fact_is_disproved(stage)?;
    a_wrong_turn_is_rolled_back(stage)?;
    the_work_of_others_is_safe(stage)?;
    one_at_a_time(stage)?;
    less_is_taken_back(stage)?;
    the_tests_pass(stage)?;
    each_agent_reads(stage)?;
    super::compaction::play(stage)?;
    nothing_was_lost(stage)
}

fn two_agents_share_a_memory(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("Two agents share a memory");
    stage.run(&["init", "."])?;
    let constraint = "signatures stay as they are";
    stage.by("ann", &["task", "Make the tests of the gate pass", "-c", constraint])?;
    stage.by("bob", &["task", "Find out why expired sessions are let in"])?;
    let why = "counters stay whole numbers";
    stage.by("ann", &["decide", "refill", "by whole seconds", "-m", why])?;
    Ok(())
}

fn a_test_run_fails(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("A test run fails; the log keeps what it printed");
    log_run(stage, "ann", "red.json")?;
    stage.by("ann", &["fact", "suspect=clock of the test machine"])?;
    let state = state(stage, "main")?;
    let blocker = state["execution_blockers"][ALL_TESTS]["description"].as_str().unwrap_or("");
    stage.claim(
        format!("the failing run is a blocker, told by a line of its own: {blocker}"),
        blocker.starts_with("FAILED ") && RED.contains(blocker),
    );
    Ok(())
}

fn a_suspicion_is_tried_on_a_fork(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("Bob tries the suspicion on a fork, and it fails");
    let before = digest(stage, "main")?;
    stage.by("bob", &["fork", "try/clock", "--switch", "-m", "is it the clock?"])?;
    stage.by("bob", &["decide", "refill", "by monotonic time", "-m", "no step, no drift"])?;
    log_run(stage, "bob", "still-red.json")?;
    stage.by("bob", &["note", "The session tests fail all the same: not the clock."])?;
    let diff = ["diff", "main", "try/clock"];
    stage.run(&diff)?;
    stage.by("bob", &["switch", "main"])?;
    let after = digest(stage, "main")?;
    stage.claim("the fork left main untouched", before == after);
    let conflicts = &stage.ask(&diff)?["conflicting_decisions"];
    let keys: Vec<&Json> =
        conflicts.as_array().into_iter().flatten().map(|it| &it["key"]).collect();
    stage.claim("diff finds the one decision that the branches differ in", keys == ["refill"]);
    Ok(())
}

fn a_fact_is_disproved(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("The fact is disproved, and stays known as disproved");
    stage.by("bob", &["fact", "suspect=60 s of leeway in the session check"])?;
    let state = state(stage, "main")?;
    let old = deprecated(&state, "fact", "suspect");
    stage.claim(
        "that it was taken for the clock is a deprecated assumption",
        old["value"] == "clock of the test machine" && old["replaced_by"].is_string(),
    );
    Ok(())
}

fn a_wrong_turn_is_rolled_back(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("A wrong turn is rolled back");
    let before = digest(stage, "main")?;
    let target = head(stage)?;
    stage.by("ann", &["decide", "fix", "expect the leeway in the tests", "-m", "quick"])?;
    let wrong = head(stage)?;
    stage.by("ann", &["note", "Green, but an expired session is still let in."])?;
    stage.by("ann", &["rollback", &target, "-m", "hides the fault"])?;
    let after = digest(stage, "main")?;
    stage.claim("the state is what it was before the turn", before == after);
    let reverted = stage.by("ann", &["show", &wrong])?;
    stage.claim("what was rolled back can still be read", reverted.contains("expect the leeway"));
    Ok(())
}

fn the_work_of_others_is_safe(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("Nobody reverts the work of another by accident");
    let target = head(stage)?;
    stage.by("bob", &["note", "expires_at is compared after the leeway was added."])?;
    let before = stage.ask(&["anchor"])?;
    stage.refused("ann", &["rollback", &target])?;
    let after = stage.ask(&["anchor"])?;
    stage.claim("nothing was written", before == after);
    Ok(())
}

fn one_at_a_time(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("One at a time: a lease, and a writer who was too slow");
    let wanted = ["lease", "acquire", "src/session.py"];
    let token = stage.by("ann", &[&wanted[..], &["--ttl", "2"]].concat())?;
    stage.refused("bob", &wanted)?;
    // Ann is busy elsewhere until her lease has run out; bob waits for that.
    let next = stage.by("bob", &[&wanted[..], &["--wait", "30", "--ttl", "600"]].concat())?;
    stage.claim("the next token is higher", number(&next) > number(&token));
    let stale = format!("src/session.py:{}", token.trim());
    stage.refused("ann", &["decide", "session", "keep the leeway", "--fence", &stale])?;
    let current = format!("src/session.py:{}", next.trim());
    stage.by("bob", &["decide", "session", "compare first", "--fence", &current])?;
    let session = state(stage, "main")?["decisions"]["session"]["value"].clone();
    stage.claim("the stale write left no trace", session == "compare first");
    stage.by("bob", &["lease", "release", "src/session.py", "--token", next.trim()])?;
    Ok(())
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

fn less_is_taken_back(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("Undo takes back your last event, retract a single record");
    stage.by("bob", &["decide", "refill", "by minutes", "-m", "slip of the hand"])?;
    stage.by("bob", &["undo"])?;
    let refill = state(stage, "main")?["decisions"]["refill"]["value"].clone();
    stage.claim("after undo, the decision before holds again", refill == "by whole seconds");
    stage.by("ann", &["retract", "decision", "refill", "-m", "test_refill_after fails on it"])?;
    let state = state(stage, "main")?;
    let old = deprecated(&state, "decision", "refill");
    stage.claim(
        "after retract it is gone, and known as retracted",
        state["decisions"].get("refill").is_none()
            && old["value"] == "by whole seconds"
            && old["replaced_by"].is_null(),
    );
    Ok(())
}

fn the_tests_pass(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("The tests pass");
    stage.by("ann", &["decide", "leeway", "none", "-m", "what has expired is refused"])?;
    log_run(stage, "ann", "green.json")?;
    let state = state(stage, "main")?;
    let blockers = state["execution_blockers"].as_object().map(|blockers| blockers.len());
    stage.claim("nothing blocks any more", blockers == Some(0));
    let runs = &state["execution_digest"][ALL_TESTS];
    stage.claim(
        "main counts 2 runs of its own, 1 failed",
        runs["runs"] == 2 && runs["failed_runs"] == 1,
    );
    Ok(())
}

fn each_agent_reads(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("What each agent reads at its next start");
    for (agent, branch, budget) in [("ann", "main", 800_u64), ("bob", "try/clock", 600)] {
        let limit = budget.to_string();
        let read = ["context", branch, "--budget", &limit];
        let text = stage.by(agent, &read)?;
        let context = stage.ask(&read)?;
        let tokens = context["tokens"].as_u64().unwrap_or(u64::MAX);
        stage.claim(format!("it has {tokens} tokens of {budget}"), tokens <= budget);
        let task = format!("TASK {agent}: ");
        stage.claim(format!("it says what {agent} is at"), text.contains(&task));
    }
    Ok(())
}

fn nothing_was_lost(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("Nothing was lost, and nothing can be slipped in");
    let count = stage.run(&["rev-list", "--all", "--count"])?;
    let anchor = stage.run(&["anchor"])?;
    let verified = stage.run(&["verify"])?;
    let last = anchor.split(' ').nth(2).unwrap_or("none");
    stage.claim("every event ever appended is still there", count.trim() == last);
    let ok = format!("ok: {last} events, 2 branches");
    stage.claim("every chain, index and head checks out", verified.lines().last() == Some(&ok));
    Ok(())
}

/// Writes the payload of a `TOOL_EXECUTION_LOG`.
fn record(
    stage: &Stage,
    name: &str,
    command: &str,
    exit_code: i64,
    output: &str,
) -> Result<(), Halt> {
    let mut payload = Object::new();
    payload.insert("command", command);
    payload.insert("exit_code", Value::from(exit_code));
    payload.insert("output", output);
    Ok(stage.write(name, &payload.canonical())?)
}

fn log_run(stage: &mut Stage, agent: &str, name: &str) -> Result<(), Halt> {
    let payload = format!("@{name}");
    stage.by(agent, &["append", "--type", "TOOL_EXECUTION_LOG", "--payload", &payload])?;
    Ok(())
}

fn head(stage: &mut Stage) -> Result<String, Halt> {
    Ok(stage.run(&["rev-parse", "--id", "main"])?.trim().to_owned())
}

fn digest(stage: &mut Stage, branch: &str) -> Result<String, Halt> {
    stage.run(&["fold", branch, "--digest"])
}

fn state(stage: &mut Stage, branch: &str) -> Result<Json, Halt> {
    Ok(stage.ask(&["fold", branch])?["state"].take())
}

/// The newest deprecated assumption about `key`; null if there is none.
fn deprecated(state: &Json, kind: &str, key: &str) -> Json {
    let all = state["deprecated_assumptions"].as_array().into_iter().flatten();
    all.rev().find(|old| old["kind"] == kind && old["key"] == key).cloned().unwrap_or_default()
}
