//! `mk completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{Context, Failure};
use crate::{Answer, Mk};

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

pub fn run(args: &Completions, ctx: &mut Context) -> Result<Answer, Failure> {
    ctx.out.writer().write_all(&script(args.shell))?;
    Ok(Answer::Yes)
}

/// The script, as it also stands in completions/.
pub fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Mk::command(), "mk", &mut script);
    script
}
