//! `mk verify`

use crate::Answer;
use crate::cli::{Context, Failure};

/// Check every chain, index and head of the store
#[derive(Debug, clap::Args)]
pub struct Verify {}

pub fn run(_: &Verify, _: &mut Context) -> Result<Answer, Failure> {
    Ok(Answer::Yes)
}
