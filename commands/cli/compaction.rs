//! Compaction as commands run it: with the settings of the project, and after writes on its own.

use std::env;
use std::io::{self, Write};
use std::time::Duration;

use mk::compaction::{self, Collected, Order, Policy, Summarizer};
use mk::id::{AgentId, BranchName};
use mk::log::Outside;
use mk::setting::SUMMARIZER_SECONDS_MAX;
use mk::store::{Engine, Sqlite, StoreError};

use super::{Context, Failure, summarizer};

/// How long a summarizer may take, in seconds, if nothing else is set.
const SUMMARIZER_SECONDS: u64 = 10;

/// What is to be compacted.
#[derive(Debug, Clone, Copy)]
pub struct Compaction<'a> {
    /// All branches if none.
    pub branch: Option<&'a BranchName>,
    pub force: bool,
    pub dry_run: bool,
}

/// Compacts by the settings of the project. `progress` is told how many branches of how many are done.
pub fn compact(
    store: &mut Sqlite,
    outside: &mut Outside<'_>,
    what: Compaction<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Collected>, Failure> {
    let (policy, command, limit) = store.read(|txn| {
        let seconds = txn.setting("gc.summarizer-timeout")?;
        let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(SUMMARIZER_SECONDS);
        let limit = Duration::from_secs(seconds.min(SUMMARIZER_SECONDS_MAX));
        Ok::<_, StoreError>((Policy::read(txn)?, txn.setting("gc.summarizer")?, limit))
    })?;
    let command = command.filter(|_| env::var_os(summarizer::INSIDE).is_none());
    let agent: AgentId = compaction::AGENT.parse().expect("it is a name");
    let Compaction { branch, force, dry_run } = what;
    let mut run = |summary: &_| match &command {
        Some(command) => summarizer::run(command, summary, limit),
        None => Err("none is set".to_owned()),
    };
    let branches = match branch {
        Some(branch) => vec![branch.clone()],
        None => store.read(|txn| compaction::branches(txn))?,
    };
    let mut results = Vec::new();
    for branch in &branches {
        progress(results.len(), branches.len());
        let order = Order { branch, policy: &policy, force, dry_run, agent: &agent };
        let summarizer =
            command.is_some().then_some(Summarizer { name: "gc.summarizer", run: &mut run });
        let collected = compaction::collect(store, &order, summarizer, outside)?;
        if let Some(why) = &collected.summarizer_failure {
            warn(&format!("gc.summarizer: {why}; the built-in one stood in"));
        }
        results.push(collected);
    }
    Ok(results)
}

/// Compacts the branches that a write made due, or under a server leaves them for after the answer. The
/// write stands, whatever comes of it.
pub fn compact_due(ctx: &mut Context, due: Result<Vec<BranchName>, StoreError>) {
    match due {
        Ok(due) if ctx.is_serving() => ctx.put_off(due),
        Ok(due) => compact_now(ctx, &due),
        Err(error) => not_compacted(&error.into()),
    }
}

/// Compacts branches after a write that stands, whatever comes of it.
pub fn compact_now(ctx: &mut Context, due: &[BranchName]) {
    for branch in due {
        let what = Compaction { branch: Some(branch), force: false, dry_run: false };
        let done = ctx.with_store(|store, outside| compact(store, outside, what, &mut |_, _| {}));
        if let Err(failure) = done {
            return not_compacted(&failure);
        }
    }
}

fn not_compacted(failure: &Failure) {
    warn(&format!("the event is stored, but not compacted: {}", failure.message()));
}

fn warn(text: &str) {
    // There is nobody left to tell if stderr is closed.
    let _ = writeln!(io::stderr(), "warning: {}", super::line(text));
}
