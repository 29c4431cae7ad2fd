//! How the file of a store comes to be.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::ToSql;

use super::{Sqlite, failure, with_suffix};
use crate::id::{AgentId, BranchName};
use crate::store::schema::{APPLICATION_ID, LINK_RULES, MIN_READER, MIN_WRITER, SCHEMA, VERSION};
use crate::store::turnstile::Turnstile;
use crate::store::{Identity, StoreError, location};
use crate::time::Timestamp;

impl Sqlite {
    /// Makes a store at `path` with the empty branch `main`, unless there is a file; answers whether
    /// it made one.
    ///
    /// The file appears whole or not at all. Of two that make one at once, the second waits up to
    /// `lock_timeout` and finds the first one's. Directories are not made.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be written, [`StoreError::Filesystem`] on a network.
    pub fn create(
        path: &Path,
        identity: &Identity,
        now: Timestamp,
        agent: &AgentId,
        lock_timeout: Duration,
    ) -> Result<bool, StoreError> {
        location::check_filesystem(path.parent().unwrap_or(Path::new(".")))?;
        let _turn = Turnstile::enter(&with_suffix(path, "-lock"), lock_timeout)?;
        if path.exists() {
            return Ok(false);
        }
        let draft = with_suffix(path, "-new");
        let made = Self::create_draft(&draft, path, identity, now, agent).map(|()| true);
        if made.is_err() {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let _ = fs::remove_file(with_suffix(&draft, suffix));
            }
        }
        made
    }

    fn create_draft(
        draft: &Path,
        path: &Path,
        identity: &Identity,
        now: Timestamp,
        agent: &AgentId,
    ) -> Result<(), StoreError> {
        let shown = path.display().to_string();
        let failed = |error| failure(error, path, Duration::ZERO);
        location::create_private(draft)?;
        let mut connection = Connection::open(draft).map_err(failed)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        let txn = connection.transaction().map_err(failed)?;
        txn.execute_batch(SCHEMA).map_err(failed)?;
        txn.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
        txn.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        let tokenizer = identity.tokenizer.to_string();
        let values: [(&str, &dyn ToSql); 7] = [
            ("project_id", &identity.project_id),
            ("root", &identity.root),
            ("tokenizer", &tokenizer),
            ("key", &identity.key),
            ("min_reader", &MIN_READER),
            ("min_writer", &MIN_WRITER),
            ("link_rules", &LINK_RULES),
        ];
        for (key, value) in values {
            txn.execute("INSERT INTO store(key, value) VALUES (?1, ?2)", (key, value))
                .map_err(failed)?;
        }
        let main = BranchName::main();
        txn.execute(
            "INSERT INTO branch(name, born, fork_sequence, head_sequence, created_at, created_by)
             VALUES (?1, ?1, 0, 0, ?2, ?3)",
            (main.as_str(), now.micros(), agent.as_str()),
        )
        .map_err(failed)?;
        txn.commit().map_err(failed)?;
        // To close would copy the WAL too, but not say if that failed, and the file would be left empty.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).map_err(failed)?;
        connection.close().map_err(|(_, error)| failed(error))?;
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(with_suffix(draft, suffix));
        }
        let io = |source| StoreError::Io { action: "create", path: shown.clone(), source };
        fs::File::open(draft).and_then(|file| file.sync_all()).map_err(io)?;
        fs::rename(draft, path).map_err(io)?;
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        fs::File::open(directory.unwrap_or(Path::new(".")))
            .and_then(|directory| directory.sync_all())
            .map_err(io)
    }
}
