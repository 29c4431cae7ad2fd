//! `mk import`

mod memkernel;

use crate::Answer;
use crate::cli::{Context, Failure};

/// Take in the memory of another program
#[derive(Debug, clap::Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, clap::Subcommand)]
enum From {
    Memkernel(memkernel::Memkernel),
}

pub fn run(args: &Import, ctx: &mut Context) -> Result<Answer, Failure> {
    match &args.from {
        From::Memkernel(args) => memkernel::run(args, ctx),
    }
}
