//! How agents come to use a project: entries in their configurations, hooks, instructions.
//!
//! Everything is read and checked before the first file is written.
//!
//! Rule: docs/spec/attach.md, sections 1 to 5.

pub mod file;
mod job;
mod place;
mod selection;
#[cfg(test)]
mod tests;

use std::path::Path;

use mk::attach::agents::{Agent, Trust};
use mk::attach::diff;
use mk::attach::document::Tree;
use mk::attach::part::Part;
use mk::time::Timestamp;
use serde::Serialize;

use job::{Job, Plan, jobs_of};

pub use place::{Scope, Surroundings};
pub use selection::{Selection, agent, answer, surroundings};

/// What is wanted of an agent.
#[derive(Debug, Clone)]
pub struct Wish {
    pub agent: &'static Agent,
    /// None: its project file if it has one, else that of the user.
    pub scope: Option<Scope>,
    /// The name of the entry.
    pub name: String,
    /// The agent id, if it is not the agent's name.
    pub agent_id: Option<String>,
    /// The program, if it is not the one that the scope asks for.
    pub command: Option<String>,
    /// What follows `mcp`.
    pub options: Vec<String>,
    pub approved: bool,
    pub hooks: bool,
    /// Whether hooks are for all who have the repository.
    pub shared: bool,
    pub instructions: bool,
}

/// Why an agent cannot be attached, whatever its files are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WishError {
    #[error("{agent} has no {scope} file")]
    NoFile { agent: &'static str, scope: Scope },
    #[error("'{name}' is no name for an entry: letters, digits and '-', at most 40")]
    Name { name: String },
    #[error(
        "how {agent} is configured is known from others' documentation only; attach it with --experimental, or see --print {agent}"
    )]
    Experimental { agent: &'static str },
    #[error("{agent} has no hooks that mk knows")]
    NoHooks { agent: &'static str },
    #[error("{agent} has no instruction file that mk knows")]
    NoInstructions { agent: &'static str },
    #[error(
        "the file of {agent} must name '{path}', which is not UTF-8: no file of text can hold its name"
    )]
    NotUtf8 { agent: &'static str, path: String },
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Added,
    Updated,
    Unchanged,
    Removed,
    Refused,
    /// Sound, but not written because another was refused.
    Skipped,
}

impl Action {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Refused => "refused",
            Self::Skipped => "skipped",
        }
    }
}

/// A file, and what was, or would be, done with it.
#[derive(Debug, Serialize)]
pub struct FileReport {
    pub agent: &'static str,
    pub path: String,
    /// The file itself, where a link leads elsewhere than `path` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub scope: Scope,
    pub action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    pub backup: Option<String>,
    pub todo: Option<&'static str>,
    /// The change, as a unified diff, where it was only asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// All files of one call.
#[derive(Debug, Serialize)]
pub struct Report {
    pub files: Vec<FileReport>,
}

impl Report {
    /// Whether every file is as it was asked for.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.files.iter().all(|file| ![Action::Refused, Action::Skipped].contains(&file.action))
    }
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    /// Also what a person changed, if that is set.
    Out {
        force: bool,
    },
}

/// The files of one call, and what each is to have, or not to have.
pub struct Prepared {
    jobs: Vec<Job>,
    direction: Direction,
}

/// Works out which files `wishes` have to do with. None of them is looked at yet.
///
/// # Errors
/// [`WishError`]
pub fn prepare(
    wishes: &[Wish],
    direction: Direction,
    around: &Surroundings<'_>,
) -> Result<Prepared, WishError> {
    let mut jobs: Vec<Job> = Vec::new();
    for wish in wishes {
        for job in jobs_of(wish, direction, around)? {
            match jobs.iter_mut().find(|known| known.path == job.path) {
                // One file, several agents or parts: one reading and one writing.
                Some(known) => known.parts.extend(job.parts),
                None => jobs.push(job),
            }
        }
    }
    Ok(Prepared { jobs, direction })
}

impl Prepared {
    /// Puts what is wished for into the files, or takes it out; or only says what that would be, if
    /// `dry`. Nothing is written if any of the files is refused.
    #[must_use]
    pub fn carry_out(&self, around: &Surroundings<'_>, now: Timestamp, dry: bool) -> Report {
        let Self { jobs, direction } = self;
        let direction = *direction;
        let plans: Vec<Result<Plan, String>> = jobs.iter().map(|job| job.plan(direction)).collect();
        let is_held_back = dry || plans.iter().any(Result::is_err);
        let mut files = Vec::with_capacity(jobs.len());
        let mut has_failed = false;
        let takes_out = matches!(direction, Direction::Out { .. });
        for (job, plan) in jobs.iter().zip(plans) {
            let target = around.leads_to(&job.path).map(|path| path.display().to_string());
            let report = |action, why| FileReport {
                agent: job.agent.name,
                path: job.path.display().to_string(),
                target: target.clone(),
                scope: job.scope,
                action,
                why,
                backup: None,
                todo: (action == Action::Added || action == Action::Updated)
                    .then_some(job.agent.todo),
                diff: None,
            };
            let plan = match plan {
                Ok(plan) => plan,
                Err(why) => {
                    files.push(report(Action::Refused, Some(why)));
                    continue;
                }
            };
            let has_entry = job.parts.iter().any(|part| matches!(part, Part::Entry { .. }));
            if plan.action == Action::Unchanged && takes_out && !has_entry {
                // Nobody asked for hooks or instructions by name.
            } else if plan.action == Action::Unchanged {
                files.push(report(Action::Unchanged, None));
            } else if dry {
                let before = plan.original.as_ref().map_or("", |original| &original.text);
                let path = job.path.display().to_string();
                let diff = diff::unified(target.as_ref().unwrap_or(&path), before, &plan.text);
                files.push(FileReport { diff: Some(diff), ..report(plan.action, None) });
            } else if is_held_back || has_failed {
                files.push(report(Action::Skipped, Some("another was refused".to_owned())));
            } else {
                match job.write(plan, direction, around, now) {
                    Ok((action, backup)) => {
                        let backup = backup.map(|path| path.display().to_string());
                        files.push(FileReport { backup, ..report(action, None) });
                    }
                    Err(why) => {
                        has_failed = true;
                        files.push(report(Action::Refused, Some(why)));
                    }
                }
            }
        }
        Report { files }
    }
}

/// The entry of `wish` as it stands in a file: for agents that are not known here.
///
/// # Errors
/// [`WishError::NotUtf8`]
pub fn printed(wish: &Wish, around: &Surroundings<'_>) -> Result<Tree, WishError> {
    let scope = wish.scope.unwrap_or(around.default_scope(wish.agent));
    around.check_names(wish, scope)?;
    let entry = around.entry(wish, scope).tree(wish.agent, &wish.name);
    let path: Vec<&str> = wish.agent.place.iter().copied().chain([wish.name.as_str()]).collect();
    Ok(Tree::Map(Vec::new()).with(&path, &entry))
}

/// Whether anything tells that `agent` is used here: its configuration, or its program.
#[must_use]
pub fn is_detected(agent: &Agent, around: &Surroundings<'_>) -> bool {
    let has_file = [Scope::Project, Scope::User]
        .into_iter()
        .flat_map(|scope| around.all_files(agent, scope))
        .any(|path| {
            let generic = ["settings", "mcp", "User", "config"];
            let is_own = |it: &&Path| {
                let name = it.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                !generic.contains(&name)
            };
            let directory = path.ancestors().skip(1).find(is_own).unwrap_or(&path);
            let is_shared = [&around.root, &around.home].iter().any(|it| it.starts_with(directory));
            path.exists() || (!is_shared && directory.exists())
        });
    has_file || agent.programs.iter().any(|program| around.finds(program))
}

/// Refuses what is only known from hearsay, unless that is wanted.
///
/// # Errors
/// [`WishError::Experimental`]
pub fn check_trust(agent: &'static Agent, is_wanted: bool) -> Result<(), WishError> {
    match agent.trust {
        Trust::Reported if !is_wanted => Err(WishError::Experimental { agent: agent.name }),
        _ => Ok(()),
    }
}
