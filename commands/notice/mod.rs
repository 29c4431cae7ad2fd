//! `mk notice`

pub mod clear;
pub mod list;
pub mod post;
pub mod transfer;

use clap::Subcommand;

use crate::Answer;
use crate::cli::{Context, Failure};

/// Tell everybody who works on the project something, or see what was told
///
/// A notice is about a RESOURCE, such as service:auth or repo:frontend/login, and belongs to no
/// branch: all agents see it, whatever they work on. It is advice and stops nobody. When its time runs
/// out it is stale, which does not mean that what it tells of is finished; its author clears it.
#[derive(Debug, clap::Args)]
pub struct Notice {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Post(post::Post),
    Clear(clear::Clear),
    List(list::List),
    Export(transfer::Export),
    Import(transfer::Import),
}

pub fn run(args: &Notice, ctx: &mut Context) -> Result<Answer, Failure> {
    match &args.verb {
        Verb::Post(args) => post::run(args, ctx),
        Verb::Clear(args) => clear::run(args, ctx),
        Verb::List(args) => list::run(args, ctx),
        Verb::Export(args) => transfer::export(args, ctx),
        Verb::Import(args) => transfer::import(args, ctx),
    }
}
