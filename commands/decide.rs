//! `mk decide`

use mk::canon::Object;
use mk::event::EventType;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs};

/// Record a decision that others should follow
///
/// It replaces the decision of the same key; what it replaced stays known as a deprecated
/// assumption, so that it does not come back.
#[derive(Debug, clap::Args)]
pub struct Decide {
    /// What is decided, such as `database`
    key: String,
    /// How it is decided
    value: String,
    /// Why
    #[arg(short = 'm', long = "message", value_name = "WHY", default_value = "")]
    why: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub fn run(args: &Decide, ctx: &mut Context) -> Result<Answer, Failure> {
    let key = mk::text::trim(&args.key);
    if key.is_empty() {
        return Err(Failure::usage("the key is blank"));
    }
    let mut payload = Object::new();
    payload.insert("decision_key", key);
    payload.insert("decision_value", args.value.as_str());
    payload.insert("rationale", args.why.as_str());
    Write { kind: EventType::Decision, payload }.run(&args.write, false, ctx)
}
