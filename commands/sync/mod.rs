//! `mk sync`

pub mod exchange;
mod policy;

use std::path::PathBuf;

use clap::Subcommand;
use mk::store::Engine;
use mk::sync::SyncError;

use crate::Answer;
use crate::cli::{Context, Failure};

/// Exchange notices with other projects through a folder that all of them can write
///
/// Each project is a peer and has a policy file of its own, which names the peers that it trusts, their
/// keys, and the agents that each speaks for. What a peer publishes is signed. Only notices travel:
/// no event, no lease.
#[derive(Debug, clap::Args)]
pub struct Sync {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Init(policy::Init),
    Trust(policy::Trust),
    Revoke(policy::Revoke),
    Enable(exchange::Enable),
    Run(exchange::Run),
    Status(exchange::Status),
    Audit(exchange::Audit),
}

pub fn run(args: &Sync, ctx: &mut Context) -> Result<Answer, Failure> {
    match &args.verb {
        Verb::Init(args) => policy::init(args, ctx),
        Verb::Trust(args) => policy::trust(args, ctx),
        Verb::Revoke(args) => policy::revoke(args, ctx),
        Verb::Enable(args) => exchange::enable(args, ctx),
        Verb::Run(args) => exchange::run(args, ctx),
        Verb::Status(args) => exchange::status(args, ctx),
        Verb::Audit(args) => exchange::audit(args, ctx),
    }
}

/// The policy file: the one that was given, else the one that the project is bound to.
fn policy_path(given: Option<&PathBuf>, ctx: &Context) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return Ok(path.clone());
    }
    let bound = ctx.open_to_read()?.read(|txn| txn.binding())?;
    let bound = bound.ok_or(SyncError::Off)?;
    Ok(PathBuf::from(bound.policy))
}
