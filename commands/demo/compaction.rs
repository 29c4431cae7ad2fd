//! The scene in which the context is compacted under a budget.

use serde_json::Value as Json;

use super::stage::{Halt, Stage};

/// Tokens of a context text that are let be.
const THRESHOLD: u64 = 1_200;

pub fn play(stage: &mut Stage) -> Result<(), Halt> {
    stage.scene("The log only grows; what an agent has to read does not");
    stage.run(&["config", "gc.auto", "off"])?;
    for part in ["leeway", "refill", "clock", "gate"] {
        let note = format!(
            "Read every call of the {part} code, with its tests: nothing else there depends on the \
             time of day, and nothing has to change for the session check. "
        );
        stage.by("bob", &["note", &note.repeat(8)])?;
    }
    stage.run(&["config", "gc.threshold", &THRESHOLD.to_string()])?;
    let (before, held) = (tokens(stage)?, state(stage)?);
    stage.run(&["gc", "main"])?;
    let (after, holds) = (tokens(stage)?, state(stage)? == held);
    stage.claim(
        format!("the context text went from {before} tokens to {after}, of {THRESHOLD} allowed"),
        before > THRESHOLD && after <= THRESHOLD,
    );
    stage.claim("the state is what it was", holds);
    stage.run(&["config", "gc.auto", "on"])?;
    Ok(())
}

/// Of the whole context text of main.
fn tokens(stage: &mut Stage) -> Result<u64, Halt> {
    Ok(stage.ask(&["context", "main", "--full"])?["tokens"].as_u64().unwrap_or_default())
}

/// The state of main but for the insights, which a snapshot adds.
fn state(stage: &mut Stage) -> Result<Json, Halt> {
    let mut state = stage.ask(&["fold", "main"])?["state"].take();
    state["insights"] = Json::Null;
    Ok(state)
}
