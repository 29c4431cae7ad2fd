//! `mk task`

use mk::canon::Object;
use mk::event::EventType;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs};

/// Say what you are working on
///
/// The task of an agent holds until the agent says another.
#[derive(Debug, clap::Args)]
pub struct Task {
    /// What is to be done
    directive: String,
    /// A condition to keep, any number of times
    #[arg(short, long = "constraint", value_name = "TEXT")]
    constraints: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
}

pub fn run(args: &Task, ctx: &mut Context) -> Result<Answer, Failure> {
    if mk::text::trim(&args.directive).is_empty() {
        return Err(Failure::usage("the directive is blank"));
    }
    let mut payload = Object::new();
    payload.insert("directive", args.directive.as_str());
    let constraints: Vec<_> = args.constraints.iter().map(|text| text.as_str().into()).collect();
    payload.insert("constraints", constraints);
    Write { kind: EventType::Task, payload }.run(&args.write, false, ctx)
}
