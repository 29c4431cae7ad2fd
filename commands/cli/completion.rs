//! Completion scripts, which one command prints and another writes to completions/.

use clap_complete::Shell;

/// The completion script of `shell`.
pub fn completion_script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::whole_definition(), "mk", &mut script);
    script
}
