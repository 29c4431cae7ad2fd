//! Faults in the arguments.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use mk::id::shown;

use super::Failure;

/// A fault in the arguments, in one line, from clap's several. `command` is the one they were for.
pub fn usage_failure(error: &clap::Error, command: &str) -> Failure {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (argument, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let message = match error.kind() {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "no command is given".to_owned()
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("unknown option '{}'", shown(argument))
        }
        ErrorKind::UnknownArgument => format!("unexpected argument '{}'", shown(argument)),
        ErrorKind::InvalidValue if value.is_empty() => format!("'{argument}' needs a value"),
        ErrorKind::InvalidValue => {
            let values = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(values)) => values.join(", "),
                _ => String::new(),
            };
            format!("invalid value '{}' for '{argument}': not one of {values}", shown(value))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map_or(String::new(), ToString::to_string);
            format!("invalid value '{}' for '{argument}': {why}", shown(value))
        }
        ErrorKind::TooManyValues => format!("'{argument}' takes no value '{}'", shown(value)),
        ErrorKind::InvalidUtf8 => not_utf8(),
        _ => first_lines(error),
    };
    Failure::usage(message).hint(match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(near)) => format!("did you mean '{near}'?"),
        _ => format!("see `{command} --help`"),
    })
}

/// What clap says above its usage, on one line. It names what was defined and not what was given.
fn first_lines(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.trim_start_matches("error: ");
    let text = text.split("\n\n").next().unwrap_or(text);
    let mut message = String::new();
    for line in text.lines().map(str::trim) {
        let mark = if message.is_empty() || message.ends_with(':') { " " } else { ", " };
        message.push_str(mark);
        message.push_str(line);
    }
    message.trim_start().to_owned()
}

fn not_utf8() -> String {
    let found = std::env::args_os().skip(1).zip(1..).find(|(word, _)| word.to_str().is_none());
    found.map_or("an argument is not UTF-8".to_owned(), |(word, position)| {
        format!("argument {position} is not UTF-8: '{}'", shown(&word.to_string_lossy()))
    })
}
