//! The project a command works on, and who it works for.

use std::cell::Cell;
use std::env;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mk::canon::Object;
use mk::id::{AgentId, BranchName};
use mk::log::Outside;
use mk::store::location::{self};
use mk::store::sqlite::{Durability, Version};
use mk::store::{Engine, Origin, Patience, ReadTxn, Sqlite, StoreError, WriteTxn};
use mk::time::Timestamp;
use serde::Serialize;

use super::actor::Actor;
use super::chance::Chance;
use super::clock::Clocks;
use super::output::{Colour, Output};
use super::{Failure, Kept, Stores, Text};

/// How long a write waits for others, in seconds.
const LOCK_TIMEOUT: f64 = 15.0;

/// Options of every command, before or after its name.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Run as if started in DIR
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// The store, instead of the one of the project around [env: MK_DB]
    #[arg(long, global = true, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the login name]
    #[arg(long, global = true, value_name = "ID")]
    pub agent: Option<AgentId>,
    /// The branch to work on [env: MK_BRANCH] [default: the current one]
    #[arg(long, global = true, value_name = "NAME")]
    pub branch: Option<BranchName>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// How long to wait for other writers, 0 to 86400 [default: 15]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub lock_timeout: Option<Duration>,
    /// When to colour text for people
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_default_value = true
    )]
    pub color: Colour,
}

impl Global {
    /// The options that no variable says, as words.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.json {
            words.push("--json".to_owned());
        }
        if let Some(timeout) = self.lock_timeout {
            words.push(format!("--lock-timeout={}", timeout.as_secs_f64()));
        }
        match self.color {
            Colour::Auto => {}
            Colour::Always => words.push("--color=always".to_owned()),
            Colour::Never => words.push("--color=never".to_owned()),
        }
        words
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("not a number from 0 to 86400".to_owned()),
    }
}

/// What a command runs with.
pub struct Context {
    pub global: Global,
    pub out: Output,
    pub(super) clocks: Clocks,
    chance: Chance,
    written: Cell<bool>,
    pub(super) caller: Option<Caller>,
    /// Branches that a write made due for compaction, for a server to see to.
    due: Vec<BranchName>,
    /// Where the caller stands from now on, if the store does not say it, for a server to keep.
    moved_to: Option<BranchName>,
}

/// For whom a server runs a command.
#[derive(Clone)]
pub struct Caller {
    /// Who acts if no option, variable or setting says.
    pub agent: AgentId,
    pub session: Session,
    /// What goes into the metadata of each event.
    pub metadata: Object,
    /// Set when nobody waits for the answer any more.
    pub given_up: Arc<AtomicBool>,
    /// What the server keeps open between calls.
    pub stores: Arc<Stores>,
    /// Whether the server writes nothing.
    pub read_only: bool,
}

/// What the session of a caller is called outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Session {
    /// By the request itself.
    Given(String),
    /// By the server, for who says nothing.
    Own(String),
}

impl Session {
    pub fn name(&self) -> &str {
        let (Self::Given(name) | Self::Own(name)) = self;
        name
    }
}

impl Context {
    /// # Errors
    /// If `MK_DATE` is no time, or `-C` no directory.
    pub fn new(global: Global) -> Result<Self, Failure> {
        if let Some(directory) = &global.directory {
            env::set_current_dir(directory).map_err(|error| {
                Failure::usage(format!("cannot change to '{}': {error}", directory.display()))
            })?;
        }
        let (clocks, out) = (Clocks::new()?, Output::new(global.json));
        let (chance, written) = (Chance::new(), Cell::new(false));
        Ok(Self {
            global,
            out,
            clocks,
            chance,
            written,
            caller: None,
            due: Vec::new(),
            moved_to: None,
        })
    }

    /// For a command that a server runs: what it answers is kept, in JSON.
    pub fn for_caller(global: Global, clocks: Clocks, caller: Caller) -> Self {
        let (out, chance, written) = (Output::kept(), Chance::new(), Cell::new(false));
        Self {
            global,
            out,
            clocks,
            chance,
            written,
            caller: Some(caller),
            due: Vec::new(),
            moved_to: None,
        }
    }

    /// Acts from now on for the session of an agent that calls itself `name`, unless an option, a
    /// variable or a setting says otherwise.
    pub fn act_for(&mut self, name: &str, session: &str) -> Result<(), Failure> {
        let agent = name.parse().map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        let session = match session {
            "" => Session::Own(String::new()),
            session => Session::Given(session.to_owned()),
        };
        let (metadata, given_up, stores) = (Object::new(), Arc::default(), Arc::default());
        let read_only = false;
        self.caller = Some(Caller { agent, session, metadata, given_up, stores, read_only });
        Ok(())
    }

    /// The will to wait for `whole`, unless the caller gives up.
    pub fn patience(&self, whole: Duration) -> Patience<'_> {
        let patience = Patience::new(whole);
        match &self.caller {
            Some(caller) => patience.unless(&caller.given_up),
            None => patience,
        }
    }

    pub fn clocks(&self) -> Clocks {
        self.clocks
    }

    /// Whether a server runs the command.
    pub fn is_serving(&self) -> bool {
        self.caller.is_some()
    }

    /// Whether a server runs the command that writes nothing.
    pub fn is_read_only(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.read_only)
    }

    /// Leaves for the server to keep where the caller stands from now on.
    pub fn move_to(&mut self, branch: BranchName) {
        self.moved_to = Some(branch);
    }

    pub fn take_move(&mut self) -> Option<BranchName> {
        self.moved_to.take()
    }

    /// By what a lease is taken here.
    pub fn origin(&self) -> Origin {
        if self.is_serving() { Origin::Tool } else { Origin::Command }
    }

    /// Leaves branches for the server to compact once it has answered.
    pub fn put_off(&mut self, due: Vec<BranchName>) {
        self.due.extend(due);
    }

    pub fn take_due(&mut self) -> Vec<BranchName> {
        std::mem::take(&mut self.due)
    }

    /// The time by the clock, or by `MK_DATE`.
    pub fn now(&self) -> Timestamp {
        self.clocks.now()
    }

    /// The file of the store.
    pub fn store_path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = self.named_store()? {
            return Ok(path);
        }
        Ok(location::discover(&self.directory()?)?)
    }

    /// The store that `--db` or `MK_DB` name.
    pub fn named_store(&self) -> Result<Option<PathBuf>, Failure> {
        match &self.global.db {
            Some(path) if path.as_os_str().is_empty() => Err(Failure::usage("--db is empty")),
            Some(path) => Ok(Some(path.clone())),
            None => Ok(env::var_os("MK_DB").filter(|path| !path.is_empty()).map(PathBuf::from)),
        }
    }

    pub fn directory(&self) -> Result<PathBuf, Failure> {
        env::current_dir()
            .map_err(|error| Failure::usage(format!("the current directory is gone: {error}")))
    }

    /// The directory of the project that Claude Code works on, if it started this here, outside of it.
    pub fn claude_project(&self) -> Result<Option<PathBuf>, Failure> {
        let directory = env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
        let directory = directory.filter(|it| self.global.directory.is_none() && it.is_dir());
        let here = self.directory()?;
        Ok(directory.filter(|it| !here.starts_with(it)))
    }

    /// The store, to read from.
    pub fn open_to_read(&self) -> Result<Sqlite, Failure> {
        Ok(Sqlite::open_to_read(&self.store_path()?)?)
    }

    /// Runs `body` on one state of the store, which stays open: the end of the process closes it faster
    /// than it is taken apart.
    pub fn read<T>(
        &self,
        body: impl FnOnce(&dyn ReadTxn) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.look(|store| store.read(body))
    }

    /// Runs `body` on the store, opened to read.
    fn look<T, E>(&self, body: impl FnOnce(&mut Sqlite) -> Result<T, E>) -> Result<T, Failure>
    where
        Failure: From<E>,
    {
        let Some(caller) = &self.caller else {
            return Ok(body(&mut ManuallyDrop::new(self.open_to_read()?))?);
        };
        let path = self.store_path()?;
        let mut store = match caller.stores.take(Kept::ToRead, &path)? {
            Some(store) => store,
            None => Sqlite::open_to_read(&path)?,
        };
        let done = body(&mut store)?;
        caller.stores.give(Kept::ToRead, store);
        Ok(done)
    }

    /// What the store holds now, to tell later whether somebody wrote meanwhile.
    pub fn version(&self) -> Result<Version, Failure> {
        self.look(|store| store.version())
    }

    /// Runs `body` as the only writer. The store stays open, as in [`Context::read`].
    pub fn write<T>(
        &mut self,
        body: impl FnOnce(&mut dyn WriteTxn, &Actor, &mut Outside<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (store, actor) = self.open_to_write()?;
        let mut store = ManuallyDrop::new(store);
        let clock = self.clocks.events;
        let mut outside = Outside { now: &mut || clock.now(), salt: &mut || self.chance.draw() };
        let done = store.write(|txn| body(txn, &actor, &mut outside));
        let has_written = store.has_written();
        if let Some(caller) = &self.caller {
            let store = ManuallyDrop::into_inner(store);
            // After a failure it is opened anew.
            if done.is_ok() {
                caller.stores.give(Kept::ToWrite, store);
            }
        }
        let done = done?;
        if has_written {
            self.note_written();
        }
        Ok(done)
    }

    /// Runs `body` on the store, for acts of more than one transaction.
    pub fn with_store<T>(
        &mut self,
        body: impl FnOnce(&mut Sqlite, &mut Outside<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (mut store, _) = self.open_to_write()?;
        let clock = self.clocks.events;
        let mut outside = Outside { now: &mut || clock.now(), salt: &mut || self.chance.draw() };
        body(&mut store, &mut outside)
    }

    /// Runs `body` as [`Context::write`] does, and undoes what it did.
    pub fn rehearse<T>(
        &mut self,
        body: impl FnOnce(&mut dyn WriteTxn, &Actor, &mut Outside<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        /// An answer on its way past the commit.
        enum Undone<T> {
            Done(T),
            Failed(Failure),
        }
        impl<T> From<StoreError> for Undone<T> {
            fn from(error: StoreError) -> Self {
                Self::Failed(error.into())
            }
        }
        let (mut store, actor) = self.open_to_write()?;
        let clock = self.clocks.events;
        let mut outside = Outside { now: &mut || clock.now(), salt: &mut || self.chance.draw() };
        let undone = store.write(|txn| match body(txn, &actor, &mut outside) {
            Ok(done) => Err::<std::convert::Infallible, _>(Undone::Done(done)),
            Err(failure) => Err(Undone::Failed(failure)),
        });
        match undone {
            Err(Undone::Done(done)) => Ok(done),
            Err(Undone::Failed(failure)) => Err(failure),
        }
    }

    /// Takes the last bytes of what was erased out of the files of the store.
    pub fn scrub(&self) -> Result<(), Failure> {
        let (mut store, _) = self.open_to_write()?;
        store.scrub().map_err(|error| {
            Failure::from(error)
                .at("it is erased, but its bytes are still in the file")
                .hint("finish with `mk erase --finish` when nobody reads and there is room")
        })
    }

    /// Runs `body` with the clock and randomness of this process.
    pub fn with_outside<T>(&mut self, body: impl FnOnce(&mut Outside<'_>) -> T) -> T {
        let clock = self.clocks.events;
        body(&mut Outside { now: &mut || clock.now(), salt: &mut || self.chance.draw() })
    }

    /// Takes note that something was written: a failure to print must not pass for one to act.
    pub fn note_written(&self) {
        self.written.set(true);
    }

    pub fn has_written(&self) -> bool {
        self.written.get()
    }

    /// The store, to write to, and who does.
    pub fn open_to_write(&self) -> Result<(Sqlite, Actor), Failure> {
        let path = self.store_path()?;
        let kept = match &self.caller {
            Some(caller) => caller.stores.take(Kept::ToWrite, &path)?,
            None => None,
        };
        let is_kept = kept.is_some();
        let mut store = match kept {
            Some(store) => store,
            None => Sqlite::open_to_write(&path, self.lock_timeout(), Durability::Full)?,
        };
        if self.is_serving() && !is_kept {
            store.keep_little()?;
        }
        let (durability, actor) = store
            .read(|txn| Ok::<_, Failure>((txn.setting("core.durability")?, self.writer(txn)?)))?;
        match durability.as_deref() {
            Some("normal") => store.set_durability(Durability::Normal)?,
            _ if is_kept => store.set_durability(Durability::Full)?,
            _ => {}
        }
        Ok((store, actor))
    }

    /// How long a write waits for others.
    pub fn lock_timeout(&self) -> Duration {
        self.global.lock_timeout.unwrap_or(Duration::from_secs_f64(LOCK_TIMEOUT))
    }

    /// The time that leases go by.
    pub fn lease_now(&self) -> Timestamp {
        self.clocks.leases.now()
    }

    /// Lets what options said hold for the `mk` that `command` may run.
    pub fn hand_on(&self, command: &mut Command) -> Result<(), Failure> {
        let Global { db, agent, branch, .. } = &self.global;
        if let Some(store) = db {
            command.env("MK_DB", self.directory()?.join(store));
        }
        if let Some(agent) = agent {
            command.env("MK_AGENT", agent.as_str());
        }
        if let Some(branch) = branch {
            command.env("MK_BRANCH", branch.as_str());
        }
        Ok(())
    }

    /// Bytes that nobody can guess.
    pub fn random<const N: usize>(&mut self) -> [u8; N] {
        self.chance.draw()
    }

    pub fn print<R: Text + Serialize>(&mut self, report: &R) -> Result<(), Failure> {
        self.out.print(report)
    }
}
