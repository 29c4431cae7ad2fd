//! `mk help`

use std::io::{self, Write};

use mk::code::Code;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text, nearest_commands};

/// Explain a command, or the codes of errors
#[derive(Debug, clap::Args)]
pub struct Help {
    /// A command, or `codes`
    topic: Option<String>,
}

#[derive(Serialize)]
struct Row {
    code: &'static str,
    exit: u8,
    retryable: bool,
    meaning: &'static str,
}

#[derive(Serialize)]
struct Codes {
    codes: Vec<Row>,
}

impl Text for Codes {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{:<22} {:>4} {:<9} MEANING", "CODE", "EXIT", "RETRYABLE")?;
        for Row { code, exit, retryable, meaning } in &self.codes {
            let retryable = if *retryable { "yes" } else { "no" };
            writeln!(out, "{code:<22} {exit:>4} {retryable:<9} {meaning}")?;
        }
        Ok(())
    }
}

pub fn run(args: &Help, ctx: &mut Context) -> Result<Answer, Failure> {
    let Some(topic) = &args.topic else {
        write!(ctx.out.writer(), "{}", crate::whole_definition().render_help())?;
        return Ok(Answer::Yes);
    };
    if topic == "codes" {
        let row = |code: &Code| Row {
            code: code.name,
            exit: code.exit,
            retryable: code.retryable,
            meaning: code.meaning,
        };
        ctx.print(&Codes { codes: Code::ALL.iter().map(row).collect() })?;
        return Ok(Answer::Yes);
    }
    match crate::whole_definition().find_subcommand(topic) {
        Some(command) => {
            // The text of `mk TOPIC --help`, which clap makes in no other way.
            let help = crate::whole_definition().try_get_matches_from([
                "mk",
                command.get_name(),
                "--help",
            ]);
            let help = help.expect_err("to be asked for help is an error to clap");
            write!(ctx.out.writer(), "{}", help.render())?;
            Ok(Answer::Yes)
        }
        None => {
            let failure = Failure::usage(format!("no help on '{}'", mk::id::shown(topic)));
            Err(match nearest_commands(topic) {
                Some(names) => failure.hint(format!("did you mean {names}?")),
                None => failure.hint("see `mk help`"),
            })
        }
    }
}
