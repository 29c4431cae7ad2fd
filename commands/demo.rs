//! `mk demo`

use crate::Answer;
use crate::cli::{Context, Failure};

/// Check every chain, index and head of the store
#[derive(Debug, clap::Args)]
pub struct Demo {}

pub fn run(_: &Demo, _: &mut Context) -> Result<Answer, Failure> {
    Ok(Answer::Yes)
}
