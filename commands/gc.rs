//! `mk gc`

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use mk::compaction::{Collected, Reason};
use mk::id::BranchName;
use mk::text::counted;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Compaction, Context, Failure, Text, compact};

/// Compact a branch: a snapshot takes the place of older events where it is read
///
/// Nothing is deleted: every event stays in the log, and the state is what it was. A branch is
/// compacted when its context text is over gc.threshold and at least gc.min-gain tokens are won; the
/// newest events stay as they are. Writes do this on their own unless gc.auto is off. See
/// docs/compaction.md and `mk config --help`.
#[derive(Debug, clap::Args)]
pub struct Gc {
    /// The branch [default: the current one]
    #[arg(conflicts_with = "all")]
    pub branch_name: Option<BranchName>,
    /// Every branch
    #[arg(long)]
    pub all: bool,
    /// Compact whatever the threshold and the minimal gain are, as long as anything is won
    #[arg(long)]
    pub force: bool,
    /// Only say what would come of it
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

pub fn run(args: &Gc, ctx: &mut Context) -> Result<Answer, Failure> {
    let named = match (&args.branch_name, args.all) {
        (_, true) => None,
        (Some(name), false) => Some(name.clone()),
        (None, false) => Some(ctx.read(|txn| Ok(ctx.actor(txn)?.branch))?),
    };
    let what = Compaction { branch: named.as_ref(), force: args.force, dry_run: args.dry_run };
    #[expect(clippy::disallowed_methods, reason = "progress is shown when a wait gets long")]
    let begun = Instant::now();
    let is_due = || io::stderr().is_terminal() && begun.elapsed() > Duration::from_secs(1);
    let mut progress = |done: usize, all: usize| {
        if is_due() {
            eprint!("\rcompacting: {done} of {all} branches");
        }
    };
    let done = ctx.with_store(|store, outside| compact(store, outside, what, &mut progress));
    if is_due() {
        eprint!("\r\x1b[K");
    }
    let mut results = done?;
    if results.iter().any(|result| result.triggered) {
        ctx.note_written();
    }
    match results.pop() {
        Some(result) if !args.all => ctx.print(&result)?,
        last => {
            results.extend(last);
            ctx.print(&Results { results })?;
        }
    }
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Results {
    results: Vec<Collected>,
}

impl Text for Results {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.results.iter().try_for_each(|result| result.text(out))
    }
}

impl Text for Collected {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { branch_id, tokens_before: before, tokens_after: after, tokenizer, .. } = self;
        let reason = match self.reason {
            Reason::Compacted => {
                let verb = if self.dry_run { "would be compacted" } else { "compacted" };
                return writeln!(
                    out,
                    "{branch_id}: {before} -> {after} tokens ({tokenizer}), {} {verb}, {} kept",
                    counted(self.compacted_event_count, "event"),
                    counted(self.retained_event_count, "event"),
                );
            }
            Reason::BelowThreshold => "below the threshold",
            Reason::NothingToCompact => "nothing to compact",
            Reason::NoGain => "too little to win",
            Reason::Contention => "others were faster each time; try again",
        };
        writeln!(out, "{branch_id}: {before} tokens ({tokenizer}), {reason}")
    }
}
