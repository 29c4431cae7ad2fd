//! `mk exec`: the execution protocol MKEP/0.

mod base;
mod batch;
pub mod call;
mod log;
mod state;
mod transfer;

use clap::Subcommand;

use crate::Answer;
use crate::cli::{Context, Failure};

/// Exit status of arguments that make no sense, for all of `mk exec`.
///
/// Rule: docs/spec/mkep.md, section 22.
pub const USAGE: u8 = 64;

/// Exit status where no answer can be given.
///
/// Rule: docs/spec/mkep.md, section 22.
const NO_ANSWER: u8 = 70;

/// Keep and read what a team has settled: goals, gates, evidence, leases, handoffs (MKEP/0)
///
/// The protocol only keeps records. Gates are advisory, claims are unverified, and advice is not
/// permission. Its leases guard scopes of a goal, and are other leases with other tokens than those of
/// `mk lease`. See docs/exec.md.
///
/// Exit status 64: arguments that make no sense.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct Exec {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Call(call::Call),
    State(state::State),
    Log(log::Log),
    Import(transfer::Import),
    Export(transfer::Export),
}

pub fn run(args: &Exec, ctx: &mut Context) -> Result<Answer, Failure> {
    let answer = match &args.command {
        Command::Call(args) => call::run(args, ctx),
        Command::State(args) => state::run(args, ctx),
        Command::Log(args) => log::run(args, ctx),
        Command::Import(args) => transfer::import(args, ctx),
        Command::Export(args) => transfer::export(args, ctx),
    };
    let answer = answer.and_then(|answer| match ctx.out.flush() {
        // Who has seen enough of the answer may still ask what it was.
        Err(failure) if !failure.is_closed_pipe() => Err(failure),
        _ => Ok(answer),
    });
    answer.map_err(|failure| match failure.is_unanswered() {
        true => failure.exit(NO_ANSWER).hint("ask the same again: what is done is not done twice"),
        false => failure,
    })
}
