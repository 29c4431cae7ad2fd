//! How agents come to use a project: entries in their configurations, hooks, instructions.
//!
//! Everything is read and checked before the first file is written.
//!
//! Rule: docs/spec/attach.md, sections 1 to 5.

pub mod file;
mod place;
mod selection;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::Command;

use mk::attach::agents::{Agent, OwnCommand, Trust};
use mk::attach::diff;
use mk::attach::document::{Dialect, Format, Tree, one_line, parse};
use mk::attach::entry::Entry;
use mk::attach::part::{Done, Part, PartError};
use mk::time::Timestamp;
use serde::Serialize;

use file::{FileError, Original};

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
#[must_use]
pub fn printed(wish: &Wish, around: &Surroundings<'_>) -> Tree {
    let scope = wish.scope.unwrap_or(around.default_scope(wish.agent));
    let entry = around.entry(wish, scope).tree(wish.agent, &wish.name);
    let path: Vec<&str> = wish.agent.place.iter().copied().chain([wish.name.as_str()]).collect();
    Tree::Map(Vec::new()).with(&path, &entry)
}

/// A file and the parts that it is to have, or not to have.
struct Job {
    agent: &'static Agent,
    path: PathBuf,
    scope: Scope,
    format: Format,
    /// Whether the agent writes the file itself, through its own command.
    through_agent: bool,
    parts: Vec<Part>,
}

/// What is to happen with a file.
struct Plan {
    original: Option<Original>,
    text: String,
    action: Action,
    /// Whether the text is that of a copy from before.
    is_copy: bool,
}

/// How often a file is looked at again that changes while it is edited.
const TRIES: usize = 3;

fn jobs_of(
    wish: &Wish,
    direction: Direction,
    around: &Surroundings<'_>,
) -> Result<Vec<Job>, WishError> {
    let agent = wish.agent;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if wish.name.is_empty() || wish.name.len() > 40 || !wish.name.chars().all(is_name) {
        return Err(WishError::Name { name: wish.name.clone() });
    }
    let scope = wish.scope.unwrap_or(around.default_scope(agent));
    let no_file = || WishError::NoFile { agent: agent.name, scope };
    let files = around.entry_files(agent, scope);
    if files.is_empty() {
        return Err(no_file());
    }
    let job = |path, format, part| Job {
        agent,
        path,
        scope,
        format,
        through_agent: false,
        parts: vec![part],
    };
    let entry = around.entry(wish, scope);
    let mut jobs: Vec<Job> = files
        .into_iter()
        .map(|path| {
            let part = Part::Entry { agent, name: wish.name.clone(), entry: entry.clone() };
            let through_agent = scope == Scope::User && agent.owns_user_file.is_some();
            Job { through_agent, ..job(path, agent.format, part) }
        })
        .collect();
    let takes_out = matches!(direction, Direction::Out { .. });
    match &agent.hooks {
        Some(hooks) if wish.hooks || takes_out => {
            for path in around.hook_files(hooks, scope, wish.shared, takes_out) {
                let command = around.hook_command(wish, scope);
                let format = Format::Json(Dialect::Jsonc);
                jobs.push(job(path, format, Part::Hooks { agent, hooks, command }));
            }
        }
        None if wish.hooks && !takes_out => return Err(WishError::NoHooks { agent: agent.name }),
        _ => {}
    }
    match agent.instructions {
        Some(file) if (wish.instructions || takes_out) && scope == Scope::Project => {
            jobs.push(job(around.root.join(file), agent.format, Part::Instructions));
        }
        _ if wish.instructions && !takes_out => {
            return Err(WishError::NoInstructions { agent: agent.name });
        }
        _ => {}
    }
    Ok(jobs)
}

impl Job {
    /// Reads the file and works out what it is to be.
    fn plan(&self, direction: Direction) -> Result<Plan, String> {
        let original = file::read(&self.path).map_err(|error| error.to_string())?;
        let text = original.as_ref().map_or("", |original| &original.text);
        let told = |error: PartError| error.to_string();
        let (new, action, is_copy) = match direction {
            Direction::In => {
                let (new, action) = self.with_parts(text).map_err(told)?;
                (new, action, false)
            }
            Direction::Out { force } => {
                match self.without_parts(original.as_ref(), force).map_err(told)? {
                    Some((new, is_copy)) => (new, Action::Removed, is_copy),
                    None => (text.to_owned(), Action::Unchanged, false),
                }
            }
        };
        if action != Action::Unchanged && !self.through_agent {
            file::check_writable(&self.path, original.as_ref())
                .map_err(|error| error.to_string())?;
        }
        Ok(Plan { original, text: new, action, is_copy })
    }

    fn with_parts(&self, text: &str) -> Result<(String, Action), PartError> {
        let mut text = text.to_owned();
        let mut all = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (new, done) = part.put(&text, self.format)?;
            text = new;
            all.push(done);
        }
        let action = match all.first() {
            Some(Done::Unchanged) if all.iter().all(|done| *done == Done::Unchanged) => {
                Action::Unchanged
            }
            Some(Done::Added) if all.iter().all(|done| *done == Done::Added) => Action::Added,
            _ => Action::Updated,
        };
        Ok((text, action))
    }

    /// The text without the parts; none if there are none. If a copy from before they came gives the
    /// text by putting them in, it is that copy, to the byte, and the answer says so.
    fn without_parts(
        &self,
        original: Option<&Original>,
        force: bool,
    ) -> Result<Option<(String, bool)>, PartError> {
        let Some(original) = original else { return Ok(None) };
        let copies = file::backups(&original.target).unwrap_or_default();
        let copies = copies.iter().filter_map(|path| file::read(path).ok().flatten());
        let is_before = |copy: &Original| {
            let has_none =
                |part: &Part| part.take(&copy.text, self.format, &|_| 0, true) == Ok(None);
            self.parts.iter().all(has_none)
        };
        let copies: Vec<String> = copies.filter(is_before).map(|it| it.text).collect();
        let mut first = original.text.clone();
        let mut found = false;
        // Without the copies: what was there before tells which containers are not ours.
        let kept = |path: &[String]| {
            let before = copies.iter().find_map(|copy| parse(copy, self.format).ok().flatten());
            let Some(before) = before else { return 0 };
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            (0..=path.len())
                .rev()
                .find(|length| before.at(&names[..*length]).is_some())
                .unwrap_or(0)
        };
        let mut present = Vec::new();
        for part in self.parts.iter().rev() {
            let as_is = self.as_it_stands(part, &first)?;
            if let Some(new) = part.take(&first, self.format, &kept, force)? {
                (first, found) = (new, true);
                present.insert(0, as_is);
            }
        }
        if !found {
            return Ok(None);
        }
        let gives_back = |copy: &&String| {
            let mut text = (*copy).clone();
            for part in &present {
                match part.put(&text, self.format) {
                    Ok((new, Done::Added)) => text = new,
                    _ => return false,
                }
            }
            text == original.text
        };
        Ok(Some(match copies.iter().find(gives_back) {
            Some(copy) => (copy.clone(), true),
            None => (first, false),
        }))
    }

    /// `part` with the entry that `text` has in its place.
    fn as_it_stands(&self, part: &Part, text: &str) -> Result<Part, PartError> {
        let Part::Entry { agent, name, .. } = part else { return Ok(part.clone()) };
        let document = parse(text, self.format)?;
        let path: Vec<&str> = agent.place.iter().copied().chain([name.as_str()]).collect();
        let entry = document.as_ref().and_then(|tree| Entry::read(tree.at(&path)?, agent));
        Ok(match entry {
            Some(entry) => Part::Entry { agent, name: name.clone(), entry },
            None => part.clone(),
        })
    }

    /// Writes what was planned, and plans again if the file changed meanwhile.
    fn write(
        &self,
        mut plan: Plan,
        direction: Direction,
        around: &Surroundings<'_>,
        now: Timestamp,
    ) -> Result<(Action, Option<PathBuf>), String> {
        for _ in 0..TRIES {
            if plan.action == Action::Unchanged {
                return Ok((Action::Unchanged, None));
            }
            match self.write_once(&plan, direction, around, now) {
                Err(FileError::Changing) => plan = self.plan(direction)?,
                Err(error) => return Err(error.to_string()),
                Ok(backup) => return Ok((plan.action, backup)),
            }
        }
        Err(FileError::Changing.to_string())
    }

    fn write_once(
        &self,
        plan: &Plan,
        direction: Direction,
        around: &Surroundings<'_>,
        now: Timestamp,
    ) -> Result<Option<PathBuf>, FileError> {
        if let (true, Some(own)) = (self.through_agent, &self.agent.owns_user_file) {
            return self.run_agent(own, direction).map(|()| None);
        }
        let is_private = self.scope == Scope::User;
        let original = plan.original.as_ref();
        let takes_out = matches!(direction, Direction::Out { .. });
        let is_gone = takes_out && !plan.is_copy && self.is_nothing(&plan.text);
        // A link that somebody made keeps its file.
        if let Some(original) = original.filter(|it| is_gone && it.target == self.path) {
            let root = if is_private { around.home.as_path() } else { around.root.as_path() };
            file::remove(&self.path, original, root)?;
            return Ok(None);
        }
        let backup = match original.filter(|_| !takes_out) {
            Some(original) => Some(file::back_up(original, now)?),
            None => None,
        };
        file::write(&self.path, &plan.text, original, is_private)?;
        Ok(backup)
    }

    /// Whether `text` says nothing that would be missed.
    fn is_nothing(&self, text: &str) -> bool {
        if self.parts.iter().all(|part| matches!(part, Part::Instructions)) {
            return text.is_empty();
        }
        let bare = text.trim_start_matches('\u{feff}').trim();
        matches!(bare, "" | "{}")
    }

    /// Lets the agent's own command write its file.
    fn run_agent(&self, own: &OwnCommand, direction: Direction) -> Result<(), FileError> {
        let Some(Part::Entry { agent, name, entry }) = self.parts.first() else { return Ok(()) };
        let mut words: Vec<String> = match direction {
            Direction::In => own.add,
            Direction::Out { .. } => own.remove,
        }
        .iter()
        .map(|word| (*word).to_owned())
        .collect();
        words.push(name.clone());
        if direction == Direction::In {
            words.push(one_line(&entry.tree(agent, name)));
        }
        let failed = |why: String| {
            FileError::Io(std::io::Error::other(format!("`{}` {why}", words[..3].join(" "))))
        };
        let output = Command::new(&words[0])
            .args(&words[1..])
            .output()
            .map_err(|error| failed(format!("cannot be run: {error}")))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            let told = told.trim().lines().last().unwrap_or("and says nothing").to_owned();
            return Err(failed(format!("failed: {told}")));
        }
        Ok(())
    }
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
