//! `mk task`

use mk::event::EventType;
use mk::workspace;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs};

/// Say what you are working on
///
/// The task of an agent holds until the agent says another.
#[derive(Debug, clap::Args)]
pub struct Task {
    /// What is to be done
    pub directive: String,
    /// A condition to keep, any number of times
    #[arg(short, long = "constraint", value_name = "TEXT")]
    pub constraints: Vec<String>,
    #[command(flatten)]
    pub write: WriteArgs,
}

pub fn run(args: &Task, ctx: &mut Context) -> Result<Answer, Failure> {
    let payload = workspace::event::task(&args.directive, &args.constraints)
        .map_err(|error| Failure::usage(error.to_string()))?;
    Write { kind: EventType::Task, payload }.run(&args.write, false, ctx)
}
