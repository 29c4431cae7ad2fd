//! The tools, each exactly one command.

mod branches;
mod exec;
mod leases;
mod log;
mod memkernel;
mod notices;
mod overview;
mod reading;
mod recording;
mod upkeep;
mod watch;

pub use log::newest;

use super::Compat;
use super::given::Given;
use super::tool::{Kind, Param, Tool};
use crate::cli::{Failure, WriteArgs};

/// Least, usual and most tokens of an answer.
///
/// Rule: docs/spec/mcp.md, section 1.
pub const TOKENS: (i64, u64, i64) = (256, 4_000, 20_000);

/// The branch that a command works on: the server sees to it.
const BRANCH: Param = Param::text("branch", "default: current");
const OP_ID: Param = Param::text("op_id", "for a safe retry");
const MAX_TOKENS: Param = Param::int("max_tokens", (TOKENS.0, TOKENS.2), "of the answer");
const FENCE: Param = Param::new("fence", Kind::Fences, "leases needed: {resource, token}");

/// Longest wait of a tool, in seconds: many clients give up after a minute.
///
/// Rule: docs/spec/mcp.md, section 13.
const WAIT_MAX: i64 = 50;

/// Members of the report of an event that was appended.
const APPENDED: &[(&str, &str)] = &[("event_id", "integer")];

/// All tools, by name.
pub fn all() -> Vec<&'static Tool> {
    let groups = [
        branches::TOOLS,
        exec::TOOLS,
        leases::TOOLS,
        log::TOOLS,
        notices::TOOLS,
        overview::TOOLS,
        reading::TOOLS,
        recording::TOOLS,
        upkeep::TOOLS,
        watch::TOOLS,
    ];
    let mut tools: Vec<&Tool> = groups.into_iter().flatten().collect();
    tools.sort_unstable_by_key(|tool| tool.name);
    tools
}

/// The tools that a peer has, by name.
///
/// Rule: docs/spec/mcp.md, section 4.7.
pub fn of_peer(compat: Compat) -> Vec<&'static Tool> {
    let mut tools: Vec<&Tool> = match compat {
        Compat::Memkernel => memkernel::tools().collect(),
        Compat::Memkraft => exec::OF_MEMKRAFT.iter().collect(),
    };
    tools.sort_unstable_by_key(|tool| tool.name);
    tools
}

/// What the commands that append one event are given beside the event.
fn write_args(given: &Given) -> Result<WriteArgs, Failure> {
    let (fence, op_id) = (given.fences()?, given.parsed("op_id")?);
    Ok(WriteArgs { meta: None, expect: None, fence, op_id })
}
