//! `mk note`

use mk::event::EventType;
use mk::workspace;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs, read_stdin};

/// Note a passing thought
#[derive(Debug, clap::Args)]
pub struct Note {
    /// The text, or `-` for stdin
    text: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub fn run(args: &Note, ctx: &mut Context) -> Result<Answer, Failure> {
    let text = if args.text == "-" { read_stdin("the note")? } else { args.text.clone() };
    record(&text, &args.write, ctx)
}

/// Notes `text`, whatever it is.
pub fn record(text: &str, write: &WriteArgs, ctx: &mut Context) -> Result<Answer, Failure> {
    let payload = workspace::event::note(text);
    Write { kind: EventType::Note, payload }.run(write, false, ctx)
}
