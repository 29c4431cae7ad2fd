//! The base that a command works on: a project, or a directory that holds one or will.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mk::code::Code;
use mk::id::hex;
use mk::mkep::lint::Surroundings;
use mk::mkep::transfer::IMPORTED;
use mk::store::memory::Memory;
use mk::store::sqlite::Durability;
use mk::store::{Engine, Identity, ReadTxn, Sqlite, StoreError, location};
use mk::tokens::Tokenizer;

use crate::cli::{Context, Failure};

/// How long a write waits for others, in seconds.
///
/// Rule: docs/spec/mkep.md, section 22.
const LOCK_TIMEOUT: f64 = 2.0;

/// Where the reference keeps its log in a base.
const FOREIGN_LOG: &str = ".memkraft/execution/events.jsonl";

#[derive(Debug, Clone, Default, clap::Args)]
pub struct BaseArgs {
    /// The directory that holds the project, or will, instead of the project around
    #[arg(long, value_name = "DIR")]
    pub base_dir: Option<PathBuf>,
}

/// A base.
#[derive(Debug, Clone)]
pub struct Base {
    /// The directory.
    pub directory: PathBuf,
    /// The file of the store in it.
    pub store: PathBuf,
}

impl Base {
    pub fn find(args: &BaseArgs, ctx: &Context) -> Result<Self, Failure> {
        if let Some(directory) = &args.base_dir {
            let store = directory.join(location::DIRECTORY).join(location::FILE);
            return Ok(Self { directory: directory.clone(), store });
        }
        let store = ctx.store_path()?;
        let parent = store.parent().unwrap_or(Path::new("."));
        let directory = match parent.file_name() {
            Some(name) if name == location::DIRECTORY => parent.parent().unwrap_or(parent),
            _ => parent,
        };
        Ok(Self { directory: directory.to_owned(), store })
    }

    /// The log of the reference in this base.
    pub fn foreign_log(&self) -> PathBuf {
        self.directory.join(FOREIGN_LOG)
    }

    /// Whether there is a store. A base that is no directory cannot have one.
    pub fn has_store(&self) -> Result<bool, StoreError> {
        let failed = |source| StoreError::Io {
            action: "read",
            path: self.directory.display().to_string(),
            source,
        };
        match fs::metadata(&self.store) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    /// Makes the store.
    pub fn create(&self, ctx: &mut Context, wait: Duration) -> Result<(), Failure> {
        fs::create_dir_all(&self.directory).map_err(|source| StoreError::Io {
            action: "create",
            path: self.directory.display().to_string(),
            source,
        })?;
        location::create_directory(&self.directory.join(location::DIRECTORY))?;
        let root = fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone());
        let identity = Identity {
            project_id: hex(&ctx.random::<16>()),
            root: root.to_string_lossy().into_owned(),
            tokenizer: Tokenizer::Heuristic,
            key: ctx.random(),
        };
        let agent = ctx.founder()?;
        Sqlite::create(&self.store, &identity, ctx.now(), &agent, wait)?;
        Ok(())
    }

    /// The store, to read a log that must be there.
    pub fn open_to_read(&self, ctx: &Context) -> Result<Sqlite, Failure> {
        if !self.has_store()? {
            // That its log waits to be imported says more than that there is no store.
            empty_store(ctx)?.read(|txn| self.check_foreign(txn))?;
        }
        let mut store = Sqlite::open_to_read(&self.store)?;
        store.read(|txn| self.check_foreign(txn))?;
        Ok(store)
    }

    /// The store, to write to as well.
    pub fn open_to_write(&self, wait: Duration) -> Result<Sqlite, StoreError> {
        let mut store = Sqlite::open_to_write(&self.store, wait, Durability::Full)?;
        let durability = store.read(|txn| txn.setting("core.durability"))?;
        if durability.as_deref() == Some("normal") {
            store.set_durability(Durability::Normal)?;
        }
        Ok(store)
    }

    /// Fails if the base holds a log of the reference with lines that were not imported.
    pub fn check_foreign(&self, txn: &dyn ReadTxn) -> Result<(), Failure> {
        let Ok(found) = fs::metadata(self.foreign_log()) else { return Ok(()) };
        let imported = txn.setting(IMPORTED)?.and_then(|bytes| bytes.parse::<u64>().ok());
        if imported == Some(found.len()) {
            return Ok(());
        }
        let log = self.foreign_log();
        let message = format!("the log of MemKraft in '{}' is not imported", log.display());
        let place = self.directory.display();
        let hint = format!("mk exec import '{place}' --base-dir '{place}'");
        Err(Failure::new(Code::IO, message).hint(hint))
    }

    /// What must not leave with a handoff.
    pub fn surroundings(&self) -> Surroundings {
        let users = ["USER", "LOGNAME"].into_iter().filter_map(|name| env::var(name).ok());
        Surroundings {
            base: fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone()),
            users: users.collect(),
        }
    }
}

/// How long to wait for the write lock.
pub fn lock_timeout(ctx: &Context) -> Duration {
    ctx.global.lock_timeout.unwrap_or(Duration::from_secs_f64(LOCK_TIMEOUT))
}

/// What a base without a store reads as.
pub fn empty_store(ctx: &Context) -> Result<Memory, Failure> {
    let identity = Identity {
        project_id: String::new(),
        root: String::new(),
        tokenizer: Tokenizer::Heuristic,
        key: [0; 32],
    };
    Ok(Memory::new(identity, ctx.now(), &ctx.founder()?))
}
