//! `mk merge`

use std::io::{self, Write};

use mk::branch::Act;
use mk::canon::Value;
use mk::compaction;
use mk::log::Log;
use mk::merge::{self, Applied, Conflict, Merged, Other, Settle, Settled, Side};
use mk::operation::{Once, OpId, once};
use mk::revision::Revision;

use crate::Answer;
use crate::cli::{self, Context, Failure, Text, compact_due, head_of, request};

/// Take over what another branch decided, found out and is at
///
/// Each decision, fact and task is compared with what held where both branches were last the same. What
/// only the other branch changed is taken over, with its author. What both changed is a conflict: nothing
/// is written (exit status 1) until each is settled.
#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// The branch to merge into the current one, or an event of it
    #[arg(value_name = "BRANCH")]
    pub source: Revision,
    /// Settle the conflict about KEY by what holds here, any number of times
    #[arg(long, value_name = "KEY")]
    pub ours: Vec<String>,
    /// Settle it by what holds there
    #[arg(long, value_name = "KEY")]
    pub theirs: Vec<String>,
    /// Settle it by a value of your own
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Settle all conflicts that are not named so
    #[arg(short = 'X', long, value_name = "SIDE", value_enum)]
    pub prefer: Option<Prefer>,
    /// Why
    #[arg(short = 'm', long = "message", value_name = "WHY", default_value = "")]
    pub why: String,
    /// Only say what would be done; exit with 1 if there are conflicts
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Prefer {
    Ours,
    Theirs,
}

pub fn run(args: &MergeArgs, ctx: &mut Context) -> Result<Answer, Failure> {
    let settled = args.settled()?;
    if args.dry_run {
        let merged = ctx.read(|txn| {
            let actor = ctx.actor(txn)?;
            let (branch, head) = head_of(txn, Some(&args.source), &actor)?;
            let from = Other { branch: &branch, head };
            Ok(merge::preview(txn, &actor.branch, &from, &settled)?)
        })?;
        let answer = if merged.conflict_count == 0 { Answer::Yes } else { Answer::No };
        ctx.print(&Once { report: merged, already_applied: false })?;
        return Ok(answer);
    }
    let mut due = Ok(Vec::new());
    let done = ctx.write(|txn, actor, outside| {
        let request = request([
            ("verb", "merge".into()),
            ("agent", actor.agent.as_str().into()),
            ("branch", actor.branch.as_str().into()),
            ("source", args.source.to_string().into()),
            ("settled", args.request()),
            ("reason", args.why.as_str().into()),
        ]);
        let act = Act { agent: &actor.agent, reason: &args.why, metadata: actor.metadata.clone() };
        once(txn, args.op_id.as_ref(), &request, |txn| {
            let (branch, head) = head_of(txn, Some(&args.source), actor)?;
            let from = Other { branch: &branch, head };
            let mut log = Log::open(txn)?;
            let merged = merge::merge(&mut log, &actor.branch, &from, &settled, &act, outside)?;
            due = compaction::due(log.txn(), log.growth());
            Ok::<_, Failure>(merged)
        })
    })?;
    ctx.print(&done)?;
    // The answer does not wait for what comes after.
    ctx.out.flush()?;
    compact_due(ctx, due);
    Ok(Answer::Yes)
}

impl MergeArgs {
    fn settled(&self) -> Result<Settled, Failure> {
        let mut keys = Vec::new();
        keys.extend(self.ours.iter().map(|key| (key.clone(), Settle::Ours)));
        keys.extend(self.theirs.iter().map(|key| (key.clone(), Settle::Theirs)));
        for given in &self.set {
            let (key, text) = given.split_once('=').ok_or_else(|| {
                Failure::usage(format!("'{}' is not KEY=VALUE", mk::id::shown(given)))
            })?;
            let value = Value::parse(text.as_bytes()).unwrap_or_else(|_| text.into());
            keys.push((key.to_owned(), Settle::Set { text: text.to_owned(), value }));
        }
        let rest = self.prefer.map(|side| match side {
            Prefer::Ours => Settle::Ours,
            Prefer::Theirs => Settle::Theirs,
        });
        Ok(Settled { keys, rest })
    }

    fn request(&self) -> Value {
        let texts = |texts: &[String]| {
            Value::Array(texts.iter().map(|text| text.as_str().into()).collect())
        };
        let prefer = self.prefer.map(|side| match side {
            Prefer::Ours => "ours",
            Prefer::Theirs => "theirs",
        });
        request([
            ("ours", texts(&self.ours)),
            ("theirs", texts(&self.theirs)),
            ("set", texts(&self.set)),
            ("prefer", prefer.into()),
        ])
    }
}

impl Text for Once<Merged> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let merged = &self.report;
        let (into, from) = (&merged.branch_id, &merged.source_branch_id);
        if merged.up_to_date {
            return writeln!(out, "{into} has all of {from} already");
        }
        for applied in &merged.applied {
            let Applied { kind, key, value, how, .. } = applied;
            let key = cli::line(key);
            match value {
                Some(value) => writeln!(out, "{how}: {kind} {key} = {}", cli::line(value))?,
                None => writeln!(out, "{how}: {kind} {key} is taken back")?,
            }
        }
        let left = merged.applied_count - merged.applied.len() as u64;
        if left > 0 {
            writeln!(out, "and {left} more")?;
        }
        for Conflict { kind, key, base, ours, theirs } in &merged.conflicts {
            writeln!(out, "conflict: {kind} {}", cli::line(key))?;
            for (name, side) in [("base", base), (into.as_str(), ours), (from.as_str(), theirs)] {
                writeln!(out, "  {name}: {}", shown(side.as_ref()))?;
            }
        }
        match merged.event {
            Some(_) => writeln!(out, "{from} is merged into {into}"),
            None => Ok(()),
        }
    }
}

fn shown(side: Option<&Side>) -> String {
    side.map_or("none".to_owned(), |side| {
        format!("{} ({} #{})", cli::line(&side.value.text()), side.agent_id, side.event_id)
    })
}
