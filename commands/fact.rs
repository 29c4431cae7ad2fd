//! `mk fact`

use mk::canon::{Object, Value};
use mk::event::EventType;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs};

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
    let mut facts = Object::new();
    for fact in &args.facts {
        let (key, value) = fact
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| Failure::usage(format!("'{}' is not KEY=VALUE", mk::id::shown(fact))))?;
        let value = match Value::parse(value.as_bytes()) {
            Ok(value) if !args.text => value,
            _ => Value::from(value),
        };
        if facts.insert(key, value).is_some() {
            return Err(Failure::usage(format!("'{}' is given twice", mk::id::shown(key))));
        }
    }
    record(facts, &args.write, ctx)
}

/// Records facts that are given as values.
pub fn record(facts: Object, write: &WriteArgs, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut payload = Object::new();
    payload.insert("facts", facts);
    Write { kind: EventType::ToolLog, payload }.run(write, false, ctx)
}
