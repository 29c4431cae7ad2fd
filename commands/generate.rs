//! `mk generate`

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap_complete::Shell;

use crate::Answer;
use crate::cli::{Context, Failure, completion_script};

/// Write man/ and completions/ from the definition of the commands
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Generate {
    /// Where
    dir: PathBuf,
    /// Write nothing, and exit with 1 if a file would change
    #[arg(long)]
    check: bool,
}

pub fn run(args: &Generate, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut files = BTreeMap::new();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let name = match shell {
            Shell::Zsh => "completions/_mk".to_owned(),
            Shell::Fish => "completions/mk.fish".to_owned(),
            _ => "completions/mk.bash".to_owned(),
        };
        files.insert(PathBuf::from(name), completion_script(shell));
    }
    let mut mk = crate::whole_definition();
    mk.build();
    pages(&mk, &mut files)?;
    let mut answer = Answer::Yes;
    for (name, text) in &files {
        let path = args.dir.join(name);
        if fs::read(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        writeln!(ctx.out.writer(), "{}", name.display())?;
        answer = if args.check { Answer::No } else { Answer::Yes };
        if !args.check {
            write(&path, text)?;
        }
    }
    for stale in strays(&args.dir, &files)? {
        writeln!(ctx.out.writer(), "{} (no longer generated)", stale.display())?;
        answer = if args.check { Answer::No } else { Answer::Yes };
        if !args.check {
            fs::remove_file(args.dir.join(&stale))?;
        }
    }
    Ok(answer)
}

/// A page for `command` and for each below it.
fn pages(command: &clap::Command, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    // No date: the page changes when the command does.
    clap_mangen::Man::new(command.clone()).date("").render(&mut page)?;
    files.insert(format!("man/{name}.1").into(), page);
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        pages(below, files)?;
    }
    Ok(())
}

fn write(path: &Path, text: &[u8]) -> Result<(), Failure> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    Ok(fs::write(path, text)?)
}

/// Files in the generated directories that are not generated.
fn strays(dir: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Result<Vec<PathBuf>, Failure> {
    let mut strays = Vec::new();
    for directory in ["completions", "man"] {
        let Ok(entries) = fs::read_dir(dir.join(directory)) else { continue };
        for entry in entries {
            let name = Path::new(directory).join(entry?.file_name());
            if !files.contains_key(&name) {
                strays.push(name);
            }
        }
    }
    strays.sort();
    Ok(strays)
}
