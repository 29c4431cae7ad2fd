//! Completion scripts, which one command prints and another writes to completions/.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Mk;

/// The completion script of `shell`.
pub fn completion_script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Mk::command(), "mk", &mut script);
    script
}
