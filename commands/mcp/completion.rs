//! What an argument could be.
//!
//! Rule: docs/spec/mcp.md, section 7.3.

use std::collections::BTreeSet;

use mk::store::ReadTxn;
use mk::workspace;
use serde_json::json;

use super::body::Body;
use super::message::{Fault, Members};
use super::resources::unread;
use super::tool::Tool;
use crate::cli::{Context, Failure, head_of};

/// Most values of an answer.
const MOST: usize = 100;

/// Newest events that are offered.
const EVENTS: usize = 20;

/// The result of `completion/complete`.
///
/// # Errors
/// If it is not asked for an argument of a prompt or of a template.
pub fn complete(params: &Members, tools: &[&Tool], ctx: &Context) -> Result<Body, Fault> {
    let missing = |name: &str| Fault::params(format!("{name} is missing"));
    let reference = params.object("ref")?.ok_or_else(|| missing("ref"))?;
    let argument = params.object("argument")?.ok_or_else(|| missing("argument"))?;
    let name = argument.required_text("name")?;
    let start = argument.text("value")?.unwrap_or_default();
    match reference.required_text("type")?.as_str() {
        "ref/prompt" => drop(reference.required_text("name")?),
        "ref/resource" => drop(reference.required_text("uri")?),
        other => {
            let shown = mk::id::shown(other);
            return Err(Fault::params(format!(
                "ref.type is '{shown}', not ref/prompt or ref/resource"
            )));
        }
    }
    let values: Vec<String> = match name.as_str() {
        "tool" => tools.iter().map(|tool| tool.name.to_owned()).collect(),
        name => ctx.read(|txn| values(txn, name, ctx)).map_err(|failure| unread(&failure))?,
    };
    let fitting: Vec<String> =
        values.into_iter().filter(|value| value.starts_with(&start)).collect();
    let total = fitting.len();
    let shown = &fitting[..total.min(MOST)];
    let completion = json!({ "values": shown, "total": total, "hasMore": total > MOST });
    Ok(Body::new().with("completion", &completion))
}

fn values(txn: &dyn ReadTxn, name: &str, ctx: &Context) -> Result<Vec<String>, Failure> {
    let actor = ctx.actor(txn)?;
    Ok(match name {
        "branch" => {
            let branches = txn.branches()?.into_iter().filter(|it| !it.name.is_reserved());
            branches.map(|branch| branch.name.to_string()).collect()
        }
        "event" => {
            let last = txn.log_head()?.map_or(0, |(id, _)| id.0);
            (1..=last).rev().take(EVENTS).map(|id| id.to_string()).collect()
        }
        "key" => {
            let (_, head) = head_of(txn, None, &actor)?;
            let state = workspace::state(txn, head)?.report();
            let decisions = state.get("decisions").and_then(mk::canon::Value::as_object);
            decisions.into_iter().flatten().map(|(key, _)| key.to_owned()).collect()
        }
        "agent" | "to" => {
            let (_, head) = head_of(txn, None, &actor)?;
            let state = workspace::state(txn, head)?.report();
            let tasks = state.get("tasks").and_then(mk::canon::Value::as_object);
            let mut agents: BTreeSet<String> =
                tasks.into_iter().flatten().map(|(agent, _)| agent.to_owned()).collect();
            agents.insert(actor.agent.to_string());
            agents.into_iter().collect()
        }
        _ => Vec::new(),
    })
}
