//! `mk completions`

use clap_complete::Shell;

use crate::Answer;
use crate::cli::{Context, Failure, completion_script};

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

pub fn run(args: &Completions, ctx: &mut Context) -> Result<Answer, Failure> {
    ctx.out.writer().write_all(&completion_script(args.shell))?;
    Ok(Answer::Yes)
}
