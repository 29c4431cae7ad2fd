//! `mk note`

use mk::canon::Object;
use mk::event::EventType;

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
    let mut payload = Object::new();
    let text = if args.text == "-" { read_stdin("the note")? } else { args.text.clone() };
    payload.insert("note", text);
    Write { kind: EventType::Note, payload }.run(&args.write, false, ctx)
}
