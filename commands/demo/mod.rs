//! `mk demo`

mod compaction;
mod stage;
mod story;

use std::io::{self, Write};

use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};
use stage::{Halt, Item, Stage};

/// Play a story of two agents in a throw-away project, and check what it claims
///
/// The agents run this very program; each command is shown with its answer, and each claim with
/// whether it holds. The tool output they log was recorded from real runs. Exit status 1 if a claim
/// does not hold.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Keep the project, and say where it is
    #[arg(long)]
    keep: bool,
}

#[derive(Serialize)]
struct Report {
    /// Whether all claims hold.
    ok: bool,
    claims: usize,
    /// Where the project is, if it was kept.
    directory: Option<String>,
    story: Vec<Item>,
}

pub fn run(args: &Demo, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut stage = Stage::new(ctx.random())?;
    match story::play(&mut stage) {
        Ok(()) | Err(Halt::ClaimBroken) => {}
        Err(Halt::Failed(failure)) => return Err(failure),
    }
    let directory = args.keep.then(|| stage.keep());
    let story = stage.into_story();
    let claims: Vec<bool> = story.iter().filter_map(Item::claim).collect();
    let ok = claims.iter().all(|holds| *holds);
    ctx.print(&Report { ok, claims: claims.len(), directory, story })?;
    Ok(if ok { Answer::Yes } else { Answer::No })
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (index, item) in self.story.iter().enumerate() {
            match item {
                Item::Scene(title) => {
                    let gap = if index > 0 { "\n" } else { "" };
                    writeln!(out, "{gap}# {title}\n")?;
                }
                Item::Step(step) => {
                    writeln!(out, "$ {}", step.command)?;
                    write!(out, "{}{}", step.stdout, step.stderr)?;
                }
                Item::Claim { claim, holds } => {
                    writeln!(out, "{} {claim}", if *holds { "✓" } else { "✗" })?;
                }
            }
        }
        let claims = self.claims;
        let verdict = if self.ok { "all hold" } else { "NOT all hold" };
        writeln!(out, "\n{claims} claims, {verdict}")?;
        self.directory
            .as_ref()
            .map_or(Ok(()), |path| writeln!(out, "the project is kept in {path}"))
    }
}
