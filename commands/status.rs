//! `mk status`

use std::io::{self, Write};

use mk::id::BranchName;
use mk::revision;
use mk::status::{self, Part};
use mk::text::counted;

use crate::Answer;
use crate::cli::{Context, Failure, Text, line, policy_to_read_by};

/// Show how things stand: who is here, what is leased, what blocks, what was decided and told
#[derive(Debug, clap::Args)]
pub struct Status {
    /// The branch [default: the current one]
    pub branch_name: Option<BranchName>,
    /// Most that are shown of each kind, 1 to 100
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=100))]
    pub limit: u64,
    /// Exit 1 if anything blocks
    #[arg(long)]
    pub exit_code: bool,
}

impl Text for status::Status {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.head_event_id {
            None => writeln!(out, "On branch {}, which has no events", self.branch_id)?,
            Some(head) => {
                let sequence = self.head_sequence;
                writeln!(out, "On branch {}, at event {head} (@{sequence})", self.branch_id)?;
            }
        }
        let size = &self.context;
        let (tokens, budget, tokenizer) = (size.tokens, size.budget, size.tokenizer);
        let tokens = counted(tokens, "token");
        writeln!(out, "Context: {tokens} ({tokenizer}), shown in at most {budget}")?;
        part(out, "Agents", &self.agents, |it| {
            let directive =
                it.directive.as_deref().map_or(String::new(), |text| format!(": {}", short(text)));
            let (agent, branch) = (&it.agent_id, &it.branch_id);
            format!(
                "{agent} on {branch}, event {} of {}{directive}",
                it.last_event_id, it.last_seen
            )
        })?;
        part(out, "Leases", &self.leases, |it| {
            let holder = it.holder_agent_id.as_ref().map_or("-", |holder| holder.as_str());
            let left = it.expires_in_seconds.ceil();
            format!("{} of {holder}, {left} s left", line(&it.resource_key))
        })?;
        part(out, "Blockers", &self.blockers, |it| {
            let (key, description) = (short(&it.key), short(&it.description));
            format!("{key}: {description} (exit {}, {})", it.exit_code, it.agent_id)
        })?;
        part(out, "Decisions", &self.decisions, |it| {
            let (key, value) = (short(&it.key), short(&it.value));
            format!("{key} = {value} ({} #{})", it.agent_id, it.event_id)
        })?;
        part(out, "Notices", &self.notices, |it| {
            let (status, notice) = (it.status.as_str(), &it.notice);
            let message = short(&notice.message);
            format!("{} {}: {message} ({status})", notice.resource, notice.author)
        })
    }
}

/// A heading and what stands under it; nothing if there is nothing.
fn part<T>(
    out: &mut dyn Write,
    heading: &str,
    part: &Part<T>,
    shown: impl Fn(&T) -> String,
) -> io::Result<()> {
    if part.shown.is_empty() {
        return Ok(());
    }
    writeln!(out, "{heading}:")?;
    for item in &part.shown {
        writeln!(out, "  {}", shown(item))?;
    }
    match &part.next {
        Some(next) => writeln!(out, "  [{} more: {next}]", part.omitted),
        None => Ok(()),
    }
}

/// Characters of a text that a line of the status shows.
const SHOWN: usize = 100;

fn short(text: &str) -> String {
    let text = text.trim();
    let head = mk::text::head_chars(text, SHOWN);
    let dots = if head.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", line(head))
}

pub fn run(args: &Status, ctx: &mut Context) -> Result<Answer, Failure> {
    let status = ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        let name = args.branch_name.as_ref().unwrap_or(&actor.branch);
        let branch = revision::branch(txn, name.as_str())?;
        let policy = policy_to_read_by(txn)?;
        let as_of = (ctx.lease_now(), policy.as_ref());
        Ok(status::status(txn, &branch, args.limit as usize, as_of)?)
    })?;
    ctx.print(&status)?;
    let blocks = !status.blockers.shown.is_empty();
    Ok(if args.exit_code && blocks { Answer::No } else { Answer::Yes })
}
