//! Where the files of agents are, and what an entry says in each.

use std::fmt;
use std::path::{Path, PathBuf};

use mk::attach::agents::{Agent, Hooks};
use mk::attach::entry::Entry;
use serde::Serialize;

use super::{Wish, WishError};

/// Whom a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Project,
    User,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Project => "project",
            Self::User => "user",
        })
    }
}

/// The machine, as far as it matters here.
pub struct Surroundings<'a> {
    /// The directory of the project.
    pub root: PathBuf,
    pub home: PathBuf,
    /// The store of the project.
    pub store: PathBuf,
    /// The running `mk`, with the links that lead to it.
    pub program: PathBuf,
    /// Where programs are looked for.
    pub search: Vec<PathBuf>,
    /// An environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Surroundings<'_> {
    /// The project, where the agent has a file there.
    #[must_use]
    pub fn default_scope(&self, agent: &Agent) -> Scope {
        if agent.project.is_empty() { Scope::User } else { Scope::Project }
    }

    /// Every file that may hold entries of `agent`.
    #[must_use]
    pub fn all_files(&self, agent: &Agent, scope: Scope) -> Vec<PathBuf> {
        match scope {
            Scope::Project => agent.project.iter().map(|file| self.root.join(file)).collect(),
            Scope::User => agent.user.iter().map(|file| self.expanded(file)).collect(),
        }
    }

    /// Those that are meant: the one that exists, or all that do, else the first.
    #[must_use]
    pub fn entry_files(&self, agent: &Agent, scope: Scope) -> Vec<PathBuf> {
        let all = self.all_files(agent, scope);
        let there = all.iter().filter(|path| path.symlink_metadata().is_ok()).cloned();
        let most = if scope == Scope::User && agent.every_user_file { usize::MAX } else { 1 };
        let there: Vec<PathBuf> = there.take(most).collect();
        if there.is_empty() { all.into_iter().take(1).collect() } else { there }
    }

    /// The files that hooks are put into, or may have been.
    #[must_use]
    pub fn hook_files(&self, hooks: &Hooks, scope: Scope, shared: bool, all: bool) -> Vec<PathBuf> {
        let files = match scope {
            Scope::User => vec![self.expanded(hooks.user)],
            Scope::Project if all => {
                vec![self.root.join(hooks.project), self.root.join(hooks.shared)]
            }
            Scope::Project if shared => vec![self.root.join(hooks.shared)],
            Scope::Project => vec![self.root.join(hooks.project)],
        };
        let mut once: Vec<PathBuf> = Vec::new();
        files.into_iter().for_each(|file| {
            if !once.contains(&file) {
                once.push(file)
            }
        });
        once
    }

    /// The file itself that `path` leads to, if a link in it leads elsewhere than it says; links above the
    /// project and the home are of no concern.
    #[must_use]
    pub fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        let below = |base: &PathBuf| {
            let rest = path.strip_prefix(base).ok()?;
            Some(base.canonicalize().ok()?.join(rest))
        };
        let said = [&self.root, &self.home].into_iter().find_map(below);
        let said = said.unwrap_or_else(|| path.to_owned());
        let there = path.ancestors().find(|it| it.exists())?;
        let rest = path.strip_prefix(there).ok()?;
        let real = there.canonicalize().ok()?;
        let real = if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        (real != said).then_some(real)
    }

    /// Whether all that a file of `scope` must name can stand in a text.
    ///
    /// # Errors
    /// [`WishError::NotUtf8`]
    pub fn check_names(&self, wish: &Wish, scope: Scope) -> Result<(), WishError> {
        let store = wish.agent.knows_no_project.then_some(&self.store);
        let by_path = scope == Scope::User && wish.command.is_none();
        let program = by_path.then_some(&self.program);
        match store.into_iter().chain(program).find(|path| path.to_str().is_none()) {
            Some(path) => {
                let path = path.display().to_string();
                Err(WishError::NotUtf8 { agent: wish.agent.name, path })
            }
            None => Ok(()),
        }
    }

    /// The server as `wish` wants it started from a file of `scope`.
    #[must_use]
    pub fn entry(&self, wish: &Wish, scope: Scope) -> Entry {
        let agent = wish.agent;
        let mut args = Vec::new();
        if scope == Scope::Project
            && let Some(workspace) = agent.workspace
        {
            args.extend(["-C".to_owned(), workspace.to_owned()]);
        }
        if agent.knows_no_project {
            args.extend(["--db".to_owned(), self.store.display().to_string()]);
        }
        args.push("mcp".to_owned());
        args.extend(wish.options.iter().cloned());
        let is_shared = scope == Scope::Project && agent.shares_project_file;
        let named = || (!is_shared).then(|| agent.name.to_owned());
        Entry {
            command: self.command(wish, scope),
            args,
            agent_id: wish.agent_id.clone().or_else(named),
            approved: wish.approved,
        }
    }

    /// The call of a hook, for a shell.
    #[must_use]
    pub fn hook_command(&self, wish: &Wish, scope: Scope) -> String {
        let program = quoted(&self.command(wish, scope));
        let agent = wish.agent.name;
        match &wish.agent_id {
            Some(id) => format!("{program} hook {agent} --agent {id}"),
            None => format!("{program} hook {agent}"),
        }
    }

    fn command(&self, wish: &Wish, scope: Scope) -> String {
        match (&wish.command, scope) {
            (Some(command), _) => command.clone(),
            (None, Scope::Project) => "mk".to_owned(),
            (None, Scope::User) => self.program.display().to_string(),
        }
    }

    /// Whether there is a program of that name.
    #[must_use]
    pub fn finds(&self, program: &str) -> bool {
        self.found(program).is_some()
    }

    /// The program that a command of that name, or path, runs.
    #[must_use]
    pub fn found(&self, program: &str) -> Option<PathBuf> {
        let can_run = |path: &Path| {
            path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
        };
        if program.contains('/') {
            return Some(PathBuf::from(program)).filter(|path| can_run(path));
        }
        self.search.iter().map(|directory| directory.join(program)).find(|path| can_run(path))
    }

    /// A path of the table on this machine.
    fn expanded(&self, path: &str) -> PathBuf {
        if let Some((variable, rest)) = path.strip_prefix("${").and_then(|it| it.split_once('}')) {
            let (name, default) = variable.split_once(":-").unwrap_or((variable, "~"));
            let base = match (self.variable)(name).filter(|value| !value.is_empty()) {
                Some(value) => PathBuf::from(value),
                None => self.expanded(default),
            };
            return base.join(rest.trim_start_matches('/'));
        }
        match path.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => PathBuf::from(path),
        }
    }
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-+@:".contains(&byte);
    match text.bytes().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
