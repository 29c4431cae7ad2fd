//! `mk fact`

use mk::canon::Object;
use mk::event::EventType;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs, facts};

/// Record what was found out about the workspace
///
/// A value that reads as JSON is kept as that (`tests=12`, `ready=true`); anything else is a text.
/// A fact that is found to be otherwise stays known as a deprecated assumption.
#[derive(Debug, clap::Args)]
pub struct Fact {
    /// KEY=VALUE, once or more
    #[arg(required = true, value_name = "KEY=VALUE")]
    facts: Vec<String>,
    /// Keep every value as a text
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub fn run(args: &Fact, ctx: &mut Context) -> Result<Answer, Failure> {
    record(facts(&args.facts, args.text)?, &args.write, ctx)
}

/// Records facts that are given as values.
pub fn record(facts: Object, write: &WriteArgs, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut payload = Object::new();
    payload.insert("facts", facts);
    Write { kind: EventType::ToolLog, payload }.run(write, false, ctx)
}
