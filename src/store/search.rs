//! An index of what events say, beside the store: a cache in a file of its own, which can be deleted at
//! any time.
//!
//! It knows which three characters stand together in which event, and nothing else: the events that have
//! all of a word's are looked at again. It holds text in pieces, so an erasure deletes the file. Only who
//! has its turn touches it, whether to read or to write; the store is read after that, so that nobody
//! writes down what was erased meanwhile.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::sqlite::failure;
use super::turnstile::Turnstile;
use super::{StoreError, files, location};
use crate::id::{EventId, Hash};

/// The form of the file, and the rules by which texts are made of events. Another number means that it
/// is made anew.
const VERSION: i64 = 1;

const SCHEMA: &str = "
CREATE VIRTUAL TABLE doc USING fts5(
  text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE gram USING fts5vocab(doc, 'row');
CREATE TABLE covered(id INTEGER PRIMARY KEY CHECK (id = 1), event INTEGER NOT NULL, log BLOB NOT NULL) STRICT;
";

/// What stands after each text, so that its last characters begin three too.
const END: &str = "\n\n";

/// Most groups of three that a word of one or two characters may be the beginning of.
const BEGINNINGS_MAX: usize = 300;

/// Most groups of three of a word that are looked up.
const GRAMS_MAX: usize = 64;

/// The index of one store, while it is one's turn.
pub struct SearchIndex {
    connection: Connection,
    /// The store it belongs to.
    store: PathBuf,
    path: PathBuf,
    _turn: Turnstile,
}

/// What the index is asked for: events that have all of several words.
#[derive(Debug, Default)]
pub struct Grams(String);

impl SearchIndex {
    /// Whether there is one for the store at `store`.
    #[must_use]
    pub fn is_there(store: &Path) -> bool {
        files::beside(store, "-search").exists()
    }

    /// Opens the index of the store at `store`, or makes an empty one. Waits up to `patience` for a
    /// turn.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::ReadOnly`], and what can go wrong with a file.
    pub fn open(store: &Path, patience: Duration) -> Result<Self, StoreError> {
        let turn = Turnstile::enter(&files::beside(store, "-search-lock"), patience)?;
        let path = files::beside(store, "-search");
        let failed = |error| failure(error, &path, Duration::ZERO);
        let open = || -> Result<Connection, StoreError> {
            if !path.exists() {
                location::create_private(&path)?;
            }
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Connection::open_with_flags(&path, flags).map_err(failed)
        };
        let version = |connection: &Connection| -> rusqlite::Result<i64> {
            connection.query_row("PRAGMA user_version", (), |row| row.get(0))
        };
        let mut connection = open()?;
        if version(&connection).ok() != Some(VERSION) {
            drop(connection);
            remove_files(store)?;
            connection = open()?;
            let made = || {
                connection.execute_batch(SCHEMA)?;
                connection.pragma_update(None, "user_version", VERSION)
            };
            made().map_err(failed)?;
        }
        Ok(Self { connection, store: store.to_owned(), path, _turn: turn })
    }

    /// Deletes it: it is damaged, or of no use.
    ///
    /// # Errors
    /// [`StoreError::Io`]
    pub fn discard(self) -> Result<(), StoreError> {
        let Self { connection, store, _turn, .. } = self;
        drop(connection);
        remove_files(&store)
    }

    /// Deletes the index of the store at `store`.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process uses it for all of `patience`.
    pub fn remove(store: &Path, patience: Duration) -> Result<(), StoreError> {
        let lock = files::beside(store, "-search-lock");
        if !lock.exists() {
            return Ok(());
        }
        let _turn = Turnstile::enter(&lock, patience)?;
        remove_files(store)
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        failure(error, &self.path, Duration::ZERO)
    }

    /// The last event that is in it, with the log chain up to there.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn covered(&self) -> Result<Option<(EventId, Hash)>, StoreError> {
        let sql = "SELECT event, log FROM covered";
        let row =
            self.connection.query_row(sql, (), |row| Ok((EventId(row.get(0)?), Hash(row.get(1)?))));
        row.optional().map_err(|error| self.failed(error))
    }

    /// Forgets everything.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        let sql = "INSERT INTO doc(doc) VALUES ('delete-all'); DELETE FROM covered;";
        self.connection.execute_batch(sql).map_err(|error| self.failed(error))
    }

    /// Takes in texts, all or none; it is then up to date as of `covered`.
    ///
    /// # Errors
    /// Those of the file.
    pub fn add(
        &mut self,
        texts: &[(EventId, String)],
        (event, log): (EventId, Hash),
    ) -> Result<(), StoreError> {
        let add = |connection: &mut Connection| -> rusqlite::Result<()> {
            let txn = connection.transaction()?;
            {
                let mut insert =
                    txn.prepare_cached("INSERT INTO doc(rowid, text) VALUES (?1, ?2)")?;
                for (id, text) in texts {
                    insert.execute((id.0, format!("{text}{END}")))?;
                }
            }
            let sql = "INSERT OR REPLACE INTO covered VALUES (1, ?1, ?2)";
            txn.execute(sql, (event.0, log.0))?;
            txn.commit()
        };
        add(&mut self.connection).map_err(|error| failure(error, &self.path, Duration::ZERO))
    }

    /// What to look up for `words`; none if they say too little, so that all events must be looked at.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn grams(&self, words: &[String]) -> Result<Option<Grams>, StoreError> {
        let mut terms = Vec::new();
        for word in words {
            let chars: Vec<char> = word.chars().collect();
            if chars.len() >= 3 {
                let grams = chars.windows(3).map(|gram| quoted(&gram.iter().collect::<String>()));
                terms.extend(grams.take(GRAMS_MAX));
                continue;
            }
            let beginnings = self.beginning_with(word)?;
            if beginnings.len() < BEGINNINGS_MAX {
                let any: Vec<String> = beginnings.iter().map(|gram| quoted(gram)).collect();
                match any.is_empty() {
                    // No text has it: nothing is found by a group of three that there is nowhere.
                    true => terms.push(quoted("\u{1}\u{1}\u{1}")),
                    false => terms.push(format!("({})", any.join(" OR "))),
                }
            }
        }
        Ok((!terms.is_empty()).then(|| Grams(terms.join(" AND "))))
    }

    fn beginning_with(&self, word: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT term FROM gram WHERE term >= ?1 AND (?2 IS NULL OR term < ?2) LIMIT ?3";
        let limit = i64::try_from(BEGINNINGS_MAX).unwrap_or(i64::MAX);
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let above = super::lease::above_prefix(word);
            let rows = statement.query_map((word, above, limit), |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Up to `limit` events before `before` that may have all the words, newest first.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn candidates(
        &self,
        Grams(grams): &Grams,
        before: EventId,
        limit: usize,
    ) -> Result<Vec<EventId>, StoreError> {
        let sql = "SELECT rowid FROM doc WHERE doc MATCH ?1 AND rowid < ?2 \
                   ORDER BY rowid DESC LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map((grams, before.0, limit), |row| row.get(0))?;
            rows.map(|id| id.map(EventId)).collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Whether the engine finds it sound.
    ///
    /// # Errors
    /// What it finds.
    pub fn check(&self) -> Result<(), StoreError> {
        let sql = "INSERT INTO doc(doc) VALUES ('integrity-check')";
        self.connection.execute(sql, ()).map(|_| ()).map_err(|error| self.failed(error))
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn remove_files(store: &Path) -> Result<(), StoreError> {
    for suffix in ["-search", "-search-journal", "-search-wal", "-search-shm"] {
        let path = files::beside(store, suffix);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                let path = path.display().to_string();
                return Err(StoreError::Io { action: "remove", path, source });
            }
            _ => {}
        }
    }
    Ok(())
}
