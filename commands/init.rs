//! `mk init`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mk::store::location;
use mk::tokens::Tokenizer;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text, make_project, store_in};

/// Make a project: one shared memory for everyone who works in this directory
///
/// Without DIR the project is made in the main worktree of the git repository around, so that all
/// its worktrees share it, or else here. Where there is one already, nothing changes.
#[derive(Debug, clap::Args)]
pub struct Init {
    /// Where to make it
    dir: Option<PathBuf>,
    /// How tokens are counted, for good
    #[arg(long, value_name = "NAME", default_value_t)]
    tokenizer: Tokenizer,
}

#[derive(Serialize)]
struct Report {
    store: String,
    project_id: String,
    created: bool,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let what = if self.created { "made a project" } else { "there is a project already" };
        writeln!(out, "{what}: {}", crate::cli::line(&self.store))
    }
}

pub fn run(args: &Init, ctx: &mut Context) -> Result<Answer, Failure> {
    let store = match (&args.dir, ctx.named_store()?) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("DIR and --db name two places for one project"));
        }
        (None, Some(store)) => match store.parent() {
            Some(parent) if parent != Path::new("") && !parent.is_dir() => {
                return Err(Failure::usage(format!("no directory '{}'", parent.display())));
            }
            _ => store,
        },
        (Some(dir), None) => {
            std::fs::create_dir_all(dir).map_err(|error| {
                Failure::usage(format!("cannot make '{}': {error}", dir.display()))
            })?;
            store_in(dir)?
        }
        (None, None) => store_in(&location::home(&ctx.directory()?))?,
    };
    let (created, project_id) = make_project(&store, args.tokenizer, ctx)?;
    // As components, a `.` on the way is left out.
    let store: PathBuf = ctx.directory()?.join(store).components().collect();
    let store = store.display().to_string();
    ctx.print(&Report { store, project_id, created })?;
    Ok(Answer::Yes)
}
