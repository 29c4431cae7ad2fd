//! `mk lease`

pub mod acquire;
pub mod check;
pub mod give_back;
pub mod list;
pub mod renew;

use std::io::{self, Write};

use clap::Subcommand;

use crate::Answer;
use crate::cli::{Context, Failure, line};

/// Claim files for yourself for a while, or see who did
///
/// A lease guards the agreement between agents, not the file system: who writes without one is not
/// stopped. It ends by itself when its time runs out, so a holder that dies blocks nobody for long.
///
/// A PATH is spelt as anywhere in the shell, from the current directory on; all spellings of a file
/// are one. With a `/` at its end it is the whole subtree. A name with a scheme, such as
/// `service:auth`, stands for anything else.
#[derive(Debug, clap::Args)]
pub struct Lease {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Acquire(acquire::Acquire),
    Renew(renew::Renew),
    Release(give_back::Release),
    Check(check::Check),
    List(list::List),
    Sweep(give_back::Sweep),
}

pub fn run(args: &Lease, ctx: &mut Context) -> Result<Answer, Failure> {
    match &args.verb {
        Verb::Acquire(args) => acquire::run(args, ctx),
        Verb::Renew(args) => renew::run(args, ctx),
        Verb::Release(args) => give_back::release(args, ctx),
        Verb::Check(args) => check::run(args, ctx),
        Verb::List(args) => list::run(args, ctx),
        Verb::Sweep(args) => give_back::sweep(args, ctx),
    }
}

/// Time until a lease ends, for people.
fn lasting(seconds: f64) -> String {
    format!("{} s", seconds.ceil())
}

fn write_key(out: &mut dyn Write, key: &str) -> io::Result<()> {
    out.write_all(line(key).as_bytes())
}
