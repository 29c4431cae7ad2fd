//! `mk hook`

mod agent;
mod pre_commit;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::ValueEnum;
use mk::hook::Dialect;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Answer the hook of an agent or of git
///
/// Agents call `mk hook AGENT` with a JSON object on stdin, as `mk attach --hooks` sets it up: before
/// an edit it takes a lease, or refuses the edit while another holds the file; after a command it
/// records it; when a session begins it prints the context; when it ends, leases that it took are
/// given back. Whatever goes wrong, the agent goes on: one line on stderr, exit 0.
///
/// `mk hook git-pre-commit` exits 1 if a staged file is leased to another. It is set up by hand; see
/// `mk hook --recipe git-pre-commit`.
#[derive(Debug, clap::Args)]
pub struct Hook {
    /// claude-code, codex, gemini, opencode, or git-pre-commit
    #[arg(required_unless_present = "recipe")]
    who: Option<String>,
    /// With git-pre-commit, only say so
    #[arg(long)]
    warn: bool,
    /// Print a recipe, to be set up by hand
    #[arg(long, value_name = "NAME", conflicts_with = "who")]
    recipe: Option<Recipe>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Recipe {
    GitPreCommit,
    GitPostCommit,
    GitPostMerge,
    GitPostCheckout,
    Bash,
    Zsh,
    Fish,
    Ci,
    Wrapper,
}

impl Recipe {
    fn script(self) -> &'static str {
        match self {
            Self::GitPreCommit => include_str!("recipes/git-pre-commit.sh"),
            Self::GitPostCommit => include_str!("recipes/git-post-commit.sh"),
            Self::GitPostMerge => include_str!("recipes/git-post-merge.sh"),
            Self::GitPostCheckout => include_str!("recipes/git-post-checkout.sh"),
            Self::Bash => include_str!("recipes/bash.sh"),
            Self::Zsh => include_str!("recipes/zsh.sh"),
            Self::Fish => include_str!("recipes/fish.fish"),
            Self::Ci => include_str!("recipes/ci.sh"),
            Self::Wrapper => include_str!("recipes/wrapper.sh"),
        }
    }
}

#[derive(Serialize)]
struct Printed {
    script: &'static str,
}

impl Text for Printed {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.script.as_bytes())
    }
}

/// The argument for which a refusal is an exit status, since git reads nothing else.
const PRE_COMMIT: &str = "git-pre-commit";

pub fn run(args: &Hook, ctx: &mut Context) -> Result<Answer, Failure> {
    if let Some(recipe) = args.recipe {
        ctx.print(&Printed { script: recipe.script() })?;
        return Ok(Answer::Yes);
    }
    let who = args.who.as_deref().unwrap_or_default();
    if who == PRE_COMMIT {
        return pre_commit::run(args.warn, ctx);
    }
    match Dialect::of(who) {
        Some(dialect) => agent::run(who, dialect, ctx),
        None => Err(Failure::usage(format!("'{}' has no hook that mk knows", mk::id::shown(who)))),
    }
}

/// Whether a failure of a command with `words` must not show in its exit status: agents would stop at it.
pub fn fails_open(words: &[OsString]) -> bool {
    let is = |word: &OsString, text: &str| word == text;
    !words.iter().any(|word| is(word, PRE_COMMIT) || word.to_string_lossy().starts_with("--recipe"))
}
