//! Both engines, made alike, and randomness that can be replayed.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

use mk::event::Salt;
use mk::id::AgentId;
use mk::store::memory::Memory;
use mk::store::sqlite::{Durability, Sqlite};
use mk::store::{Engine, Identity, StoreError};
use mk::time::Timestamp;
use mk::tokens::Tokenizer;
use tempfile::TempDir;

fn identity() -> Identity {
    Identity {
        project_id: "0123456789abcdef0123456789abcdef".to_owned(),
        root: "/project".to_owned(),
        tokenizer: Tokenizer::Heuristic,
        key: [7; 32],
    }
}

const TIMEOUT: Duration = Duration::from_secs(15);

fn open_to_write(path: &Path) -> Sqlite {
    Sqlite::open_to_write(path, TIMEOUT, Durability::Normal).unwrap()
}

/// Closes `store` and opens it again, to write or only to read.
pub fn reopen(store: &mut Sqlite, read_only: bool) {
    let path = store.path().to_owned();
    *store = if read_only { Sqlite::open_to_read(&path).unwrap() } else { open_to_write(&path) };
}

/// A store in memory, with `main` made at `now` by `agent` and the secret check off.
pub fn memory(now: Timestamp, agent: &AgentId) -> Memory {
    let mut store = Memory::new(identity(), now, agent);
    let off = store.write(|txn| txn.set_setting("core.secrets", Some("off")));
    off.map_err(|error: StoreError| error).unwrap();
    store
}

/// The same in a SQLite file, which goes when this is dropped.
pub struct File {
    store: Sqlite,
    _directory: TempDir,
}

impl File {
    pub fn new(now: Timestamp, agent: &AgentId) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mk.db");
        Sqlite::create(&path, &identity(), now, agent, TIMEOUT).unwrap();
        let mut store = open_to_write(&path);
        let off = store.write(|txn| txn.set_setting("core.secrets", Some("off")));
        off.map_err(|error: StoreError| error).unwrap();
        Self { store, _directory: directory }
    }
}

impl Deref for File {
    type Target = Sqlite;

    fn deref(&self) -> &Sqlite {
        &self.store
    }
}

impl DerefMut for File {
    fn deref_mut(&mut self) -> &mut Sqlite {
        &mut self.store
    }
}

/// Salts that are the same in every run, and different within one.
#[derive(Debug, Clone, Default)]
pub struct Salts(pub u128);

impl Salts {
    pub fn next(&mut self) -> Salt {
        self.0 += 1;
        self.0.to_be_bytes()
    }
}
