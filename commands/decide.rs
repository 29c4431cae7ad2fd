//! `mk decide`

use mk::event::EventType;
use mk::workspace;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs};

/// Record a decision that others should follow
///
/// It replaces the decision of the same key; what it replaced stays known as a deprecated
/// assumption, so that it does not come back.
#[derive(Debug, clap::Args)]
pub struct Decide {
    /// What is decided, such as `database`
    pub key: String,
    /// How it is decided
    pub value: String,
    /// Why
    #[arg(short = 'm', long = "message", value_name = "WHY", default_value = "")]
    pub why: String,
    #[command(flatten)]
    pub write: WriteArgs,
}

pub fn run(args: &Decide, ctx: &mut Context) -> Result<Answer, Failure> {
    let payload = workspace::event::decision(&args.key, &args.value, &args.why)
        .map_err(|error| Failure::usage(error.to_string()))?;
    Write { kind: EventType::Decision, payload }.run(&args.write, false, ctx)
}
