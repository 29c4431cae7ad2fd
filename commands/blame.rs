//! `mk blame`

use std::io::{self, Write};

use mk::code::Code;
use mk::id::shown;
use mk::revision::Revision;
use mk::workspace::blame::{self, Act, Kind};

use crate::Answer;
use crate::cli::{Context, Failure, Text, head_of, line};

/// Show who decided KEY or found it out, when, and what that took the place of, newest first
///
/// A value that was given again counts again. A retraction is shown as one.
#[derive(Debug, clap::Args)]
pub struct Blame {
    /// The key of a decision or a fact
    pub key: String,
    /// Look for a fact only: one of the same name as a decision is not seen otherwise
    #[arg(long)]
    pub fact: bool,
    /// Start at this event or branch [default: the current branch]
    #[arg(long, value_name = "REV")]
    pub at: Option<Revision>,
    /// Most values that are shown, 1 to 100
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=100))]
    pub limit: u64,
}

impl Text for blame::Blame {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for it in &self.values {
            let value = match it.act {
                Act::Set => line(&it.value.text()),
                Act::Retracted => "[retracted]".to_owned(),
                Act::Erased => "[erased]".to_owned(),
            };
            let why = match it.rationale.as_deref() {
                None | Some("") => String::new(),
                Some(why) => format!(" | {}", line(why)),
            };
            let (hash, id, date) = (it.hash.short(), it.event_id, it.timestamp);
            writeln!(out, "{hash} {id} {} {date} {value}{why}", it.agent_id)?;
        }
        match &self.next {
            Some(next) => {
                writeln!(
                    out,
                    "[it goes back further: mk blame {} --at {}]",
                    line(&self.key),
                    next.at
                )
            }
            None => Ok(()),
        }
    }
}

pub fn run(args: &Blame, ctx: &mut Context) -> Result<Answer, Failure> {
    let blame = ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        let (branch, head) = head_of(txn, args.at.as_ref(), &actor)?;
        let kind = args.fact.then_some(Kind::Fact);
        let name = branch.clone();
        let found = blame::blame(txn, (branch, head), kind, &args.key, args.limit as usize)?;
        found.ok_or_else(|| {
            let what = if args.fact { "fact" } else { "decision or fact" };
            let message = format!("there is no {what} '{}' on '{name}'", shown(&args.key));
            Failure::new(Code::KEY_NOT_FOUND, message).hint("see `mk fold`")
        })
    })?;
    ctx.print(&blame)?;
    Ok(Answer::Yes)
}
