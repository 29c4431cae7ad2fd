//! What `mk attach`, `mk detach` and `mk doctor` share.

use std::env;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use mk::attach::agents::{self, AGENTS, Agent};
use mk::revision::distance;
use mk::store::location;

use super::{Report, Scope, Surroundings, WishError};
use crate::cli::{Context, Failure, Text, line};

/// Which agents, and which of their files.
#[derive(Debug, Clone, clap::Args)]
pub struct Selection {
    /// The agents
    #[arg(value_name = "AGENT", value_parser = agent)]
    pub agents: Vec<&'static Agent>,
    /// Every agent that mk knows well
    #[arg(long, conflicts_with = "agents")]
    pub all: bool,
    /// Their files in the project, or those of the user [default: the project, where they have one]
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    pub scope: Option<Scope>,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "mk")]
    pub name: String,
    /// Only print what would change
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

pub fn agent(name: &str) -> Result<&'static Agent, String> {
    agents::named(name).ok_or_else(|| {
        let known = AGENTS.iter().map(|agent| agent.name);
        match known.clone().map(|known| (distance(known, name), known)).min() {
            Some((0..=2, near)) => format!("no agent that mk knows; did you mean {near}?"),
            _ => format!("not one of {}", known.collect::<Vec<_>>().join(", ")),
        }
    })
}

fn scope(text: &str) -> Result<Scope, String> {
    match text {
        "project" => Ok(Scope::Project),
        "user" => Ok(Scope::User),
        _ => Err("not one of project, user".to_owned()),
    }
}

impl From<WishError> for Failure {
    fn from(error: WishError) -> Self {
        Self::usage(error.to_string())
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// This machine, for the project that has its store at `store`.
pub fn surroundings(ctx: &Context, store: &Path) -> Result<Surroundings<'static>, Failure> {
    let here = ctx.directory()?;
    let store = here.join(store);
    let home = env::home_dir().filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| Failure::usage("HOME is not set"))?;
    // Each worktree has configurations of its own, and they share the project.
    let root = location::resource_root(&store, &here);
    let search: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let variable = &variable;
    let mut around = Surroundings { root, home, store, program: PathBuf::new(), search, variable };
    around.program = running(&here, &around)?;
    Ok(around)
}

/// The path by which this program was started, with the links in it.
fn running(here: &Path, around: &Surroundings<'_>) -> Result<PathBuf, Failure> {
    let called = env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let found = match called.components().count() {
        0 => None,
        1 if !called.starts_with("/") => called.to_str().and_then(|name| around.found(name)),
        _ => Some(here.join(&called)),
    };
    match found.filter(|path| path.is_file()) {
        Some(path) if path.components().any(|part| part == Component::ParentDir) => {
            // What `..` leads to depends on the links before it; the last one is kept.
            let directory = path.parent().and_then(|parent| parent.canonicalize().ok());
            Ok(directory.map_or(path.clone(), |it| it.join(path.file_name().unwrap_or_default())))
        }
        Some(path) => Ok(path.components().collect()),
        None => env::current_exe().map_err(|error| {
            Failure::usage(format!("where this program is cannot be told: {error}; give --command"))
        }),
    }
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for file in &self.files {
            let (action, path) = (file.action.as_str(), line(&file.path));
            write!(out, "{action}\t{}\t{path}", file.agent)?;
            if let Some(target) = &file.target {
                write!(out, " -> {}", line(target))?;
            }
            match &file.why {
                Some(why) => writeln!(out, ": {}", line(why))?,
                None => writeln!(out)?,
            }
            if let Some(diff) = &file.diff {
                out.write_all(diff.as_bytes())?;
            }
        }
        let mut told: Vec<&str> = Vec::new();
        for file in &self.files {
            if let Some(todo) = file.todo.filter(|_| !told.contains(&file.agent)) {
                writeln!(out, "{}: {todo}", file.agent)?;
                told.push(file.agent);
            }
        }
        Ok(())
    }
}

/// Whether the call leaves every file as it was asked for.
pub fn answer(report: &Report) -> crate::Answer {
    if report.is_done() { crate::Answer::Yes } else { crate::Answer::No }
}
