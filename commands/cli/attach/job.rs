//! Files that are to change, and how.

use std::path::PathBuf;
use std::process::Command;

use mk::attach::agents::{Agent, OwnCommand};
use mk::attach::document::{Dialect, Format, one_line, parse};
use mk::attach::entry::Entry;
use mk::attach::part::{Done, Part, PartError};
use mk::attach::plugin;
use mk::time::Timestamp;

use super::file::{self, FileError, Original};
use super::{Action, Direction, Scope, Surroundings, Wish, WishError};

/// A file and the parts that it is to have, or not to have.
pub(super) struct Job {
    pub agent: &'static Agent,
    pub path: PathBuf,
    pub scope: Scope,
    pub format: Format,
    /// Whether the agent writes the file itself, through its own command.
    pub through_agent: bool,
    pub parts: Vec<Part>,
}

/// What is to happen with a file.
pub(super) struct Plan {
    pub original: Option<Original>,
    pub text: String,
    pub action: Action,
    /// Whether the text is that of a copy from before.
    pub is_copy: bool,
}

/// How often a file is looked at again that changes while it is edited.
const TRIES: usize = 3;

pub(super) fn jobs_of(
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
    let takes_out = matches!(direction, Direction::Out { .. });
    if !takes_out {
        around.check_names(wish, scope)?;
    }
    let entry = around.entry(wish, scope);
    let mut jobs: Vec<Job> = files
        .into_iter()
        .map(|path| {
            let part = Part::Entry { agent, name: wish.name.clone(), entry: entry.clone() };
            let through_agent = scope == Scope::User && agent.owns_user_file.is_some();
            Job { through_agent, ..job(path, agent.format, part) }
        })
        .collect();
    match &agent.hooks {
        Some(hooks) if wish.hooks || takes_out => {
            for path in around.hook_files(hooks, scope, wish.shared, takes_out) {
                let command = around.hook_command(wish, scope);
                let format = Format::Json(Dialect::Jsonc);
                jobs.push(job(path, format, hooks.part(agent, command)));
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
    pub fn plan(&self, direction: Direction) -> Result<Plan, String> {
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
        let has_none = |copy: &String| {
            let is_none = |part: &Part| part.take(copy, self.format, &|_| 0, true) == Ok(None);
            self.parts.iter().all(is_none)
        };
        let (copies, others): (Vec<String>, Vec<String>) =
            copies.map(|it| it.text).partition(has_none);
        // Entries that a person wrote and this completed. Of those that came one after the other, the oldest.
        let by_hand = others.iter().rev().filter(|copy| {
            self.parts.iter().all(|part| part.is_written_by_hand(copy, self.format))
        });
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
        let mut changed = None;
        for part in self.parts.iter().rev() {
            let as_is = self.as_it_stands(part, &first)?;
            match part.take(&first, self.format, &kept, force) {
                Ok(Some(new)) => first = new,
                Ok(None) => continue,
                Err(error @ PartError::Changed(_)) => changed = Some(error),
                Err(error) => return Err(error),
            }
            found = true;
            present.insert(0, as_is);
        }
        if !found {
            return Ok(None);
        }
        let gives_back = |copy: &&String| {
            let mut text = (*copy).clone();
            for part in &present {
                match part.put(&text, self.format) {
                    Ok((new, Done::Added | Done::Updated)) => text = new,
                    _ => return false,
                }
            }
            text == original.text
        };
        match (copies.iter().chain(by_hand).find(gives_back), changed) {
            (Some(copy), _) => Ok(Some((copy.clone(), true))),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(Some((first, false))),
        }
    }

    /// `part` with the entry, or the command, that `text` has in its place.
    fn as_it_stands(&self, part: &Part, text: &str) -> Result<Part, PartError> {
        let (agent, name) = match part {
            Part::Entry { agent, name, .. } => (agent, name),
            Part::Plugin { agent, template, command } => {
                let command =
                    plugin::command(text, template, agent.name).unwrap_or_else(|| command.clone());
                return Ok(Part::Plugin { agent, template, command });
            }
            Part::Hooks { .. } | Part::Instructions => return Ok(part.clone()),
        };
        let document = parse(text, self.format)?;
        let path: Vec<&str> = agent.place.iter().copied().chain([name.as_str()]).collect();
        let entry = document.as_ref().and_then(|tree| Entry::read(tree.at(&path)?, agent));
        Ok(match entry {
            Some(entry) => Part::Entry { agent, name: name.clone(), entry },
            None => part.clone(),
        })
    }

    /// Writes what was planned, and plans again if the file changed meanwhile.
    pub fn write(
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
            // A plugin is in a directory of plugins, which is in that of the agent.
            let is_plugin = self.parts.iter().any(|part| matches!(part, Part::Plugin { .. }));
            let directories = if is_plugin { 2 } else { 1 };
            file::remove(&self.path, original, root, directories)?;
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
