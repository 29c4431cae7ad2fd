//! Who acts, by the options, the variables and the settings.
//!
//! Rule: docs/design.md, section 10, "Who is who".

use std::env;
use std::fs;
use std::path::Path;

use mk::canon::{Object, Value};
use mk::id::{AgentId, BranchName};
use mk::lease;
use mk::store::ReadTxn;
use mk::store::location::Git;
use mk::time::Timestamp;

use super::Failure;
use super::clock::Clock;
use super::context::{Context, Session};
use super::whereabouts::Whereabouts;

/// Who acts, where, and from which checkout.
#[derive(Debug, Clone)]
pub struct Actor {
    pub agent: AgentId,
    pub branch: BranchName,
    /// The incarnation of the agent, of `mk::lease::session_key`.
    pub session: String,
    /// What goes into the metadata of each event: `git`, with the commit and the worktree. Empty for who only reads.
    pub metadata: Object,
    pub whereabouts: Whereabouts,
    lease_clock: Clock,
}

impl Actor {
    /// The time that leases go by.
    pub fn lease_now(&self) -> Timestamp {
        self.lease_clock.now()
    }

    /// `metadata` of the caller, and what is known of the checkout. The caller's word stands.
    pub fn stamped(&self, mut metadata: Object) -> Object {
        for (name, value) in self.metadata.clone() {
            if !metadata.contains_key(&name) {
                metadata.insert(name, value);
            }
        }
        metadata
    }
}

impl Context {
    /// Who acts, and on which branch, without what goes into the metadata of what he writes.
    pub fn actor(&self, txn: &dyn ReadTxn) -> Result<Actor, Failure> {
        let agent = self.agent(txn)?;
        let branch = match self.named_branch()? {
            Some(branch) => branch,
            None => txn.current_branch(&agent)?.unwrap_or_else(BranchName::main),
        };
        let named = self.named_store()?;
        let whereabouts = Whereabouts { here: self.directory()?, named };
        let session = self.session(txn)?;
        let lease_clock = self.clocks.leases;
        let metadata = Object::new();
        Ok(Actor { agent, branch, session, metadata, whereabouts, lease_clock })
    }

    /// Who writes, and on which branch.
    pub fn writer(&self, txn: &dyn ReadTxn) -> Result<Actor, Failure> {
        let actor = self.actor(txn)?;
        let mut metadata = match txn.setting("core.git")?.as_deref() {
            Some("off") => Object::new(),
            _ => git_metadata(&self.directory()?),
        };
        for (name, value) in self.caller.iter().flat_map(|caller| &caller.metadata) {
            metadata.insert(name, value.clone());
        }
        if self.is_serving() {
            // So that the events of two sessions of one agent can be told apart.
            metadata.insert("session".to_owned(), actor.session.as_str());
        }
        Ok(Actor { metadata, ..actor })
    }

    /// The branch that `--branch` or `MK_BRANCH` name.
    pub fn named_branch(&self) -> Result<Option<BranchName>, Failure> {
        match (&self.global.branch, variable("MK_BRANCH")?) {
            (Some(branch), _) => Ok(Some(branch.clone())),
            (None, Some(name)) => name
                .parse()
                .map(Some)
                .map_err(|error| Failure::usage(format!("MK_BRANCH: {error}"))),
            (None, None) => Ok(None),
        }
    }

    /// The key of the session; empty without one.
    ///
    /// Rule: docs/design.md, section 10, "Who is who".
    fn session(&self, txn: &dyn ReadTxn) -> Result<String, Failure> {
        let key = |session: &str| Ok(lease::session_key(&txn.identity()?.project_id, session));
        let caller = self.caller.as_ref().map(|caller| &caller.session);
        if let Some(Session::Given(session)) = caller {
            return key(session);
        }
        for name in ["MK_SESSION", "CLAUDE_CODE_SESSION_ID"] {
            if let Some(session) = variable(name)? {
                return key(&session);
            }
        }
        match caller {
            Some(Session::Own(session)) => key(session),
            _ => Ok(String::new()),
        }
    }

    /// Who acts.
    pub fn agent(&self, txn: &dyn ReadTxn) -> Result<AgentId, Failure> {
        if let Some(agent) = &self.global.agent {
            return Ok(agent.clone());
        }
        let named = match variable("MK_AGENT")? {
            Some(name) => Some(("MK_AGENT", name)),
            None => txn.setting("agent.id")?.map(|name| ("agent.id", name)),
        };
        match named {
            Some((from, name)) => {
                name.parse().map_err(|error| Failure::usage(format!("{from}: {error}")))
            }
            None => Ok(self.unnamed()),
        }
    }

    /// Who acts if nothing says.
    fn unnamed(&self) -> AgentId {
        self.caller.as_ref().map_or_else(login, |caller| caller.agent.clone())
    }

    /// Who acts when there is no store to ask yet.
    pub fn founder(&self) -> Result<AgentId, Failure> {
        match (&self.global.agent, variable("MK_AGENT")?) {
            (Some(agent), _) => Ok(agent.clone()),
            (None, Some(name)) => {
                name.parse().map_err(|error| Failure::usage(format!("MK_AGENT: {error}")))
            }
            (None, None) => Ok(self.unnamed()),
        }
    }
}

fn git_metadata(directory: &Path) -> Object {
    let mut metadata = Object::new();
    let Some(git) = Git::find(directory) else { return metadata };
    let known = [("commit", git.commit()), ("worktree", git.worktree())];
    let git: Object = known
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))))
        .collect();
    if !git.is_empty() {
        metadata.insert("git".to_owned(), Value::Object(git));
    }
    metadata
}

/// An environment variable that is set and not empty.
pub(super) fn variable(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(Failure::usage(format!("{name} is not UTF-8"))),
    }
}

/// The login name, as far as it can be an agent id.
fn login() -> AgentId {
    let uid = rustix::process::getuid().as_raw();
    let from_passwd = || {
        let passwd = fs::read_to_string("/etc/passwd").ok()?;
        passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == uid.to_string()).then(|| name.to_owned())
        })
    };
    ["USER", "LOGNAME"]
        .into_iter()
        .filter_map(|name| env::var(name).ok())
        .chain(from_passwd())
        .find_map(|name| name.parse().ok())
        .unwrap_or_else(|| format!("uid-{uid}").parse().expect("letters and digits"))
}
