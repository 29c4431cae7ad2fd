//! Backups: a copy of the whole store, with all that exports leave out, and the way back.
//!
//! Rule: docs/design.md, sections 4 and 10.

use std::path::Path;
use std::time::Duration;

use crate::code::{Code, Coded};
use crate::id::EventId;
use crate::store::files::{
    self, Place, RestoreTurn, beside, is_in_use, is_part, move_away, put_in_place, remove_store,
};
use crate::store::sqlite::Durability;
use crate::store::turnstile::Turnstile;
use crate::store::{Engine, ReadTxn, Sqlite, StoreError};
use crate::text::counted;
use crate::transfer::TOKENS_APART;
use crate::verify;

/// Why there is no backup, or nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("'{path}' exists")]
    Exists { path: String },
    #[error("'{path}' belongs to the store")]
    Itself { path: String },
    #[error("'{path}' is a directory")]
    Directory { path: String },
    #[error("'{path}' is a device or a pipe, and a backup is a file")]
    Device { path: String },
    #[error("there is no backup '{path}'")]
    Missing { path: String },
    /// The backup is no store.
    #[error("{0}")]
    Foreign(StoreError),
    #[error("the backup '{path}' is damaged: {what}")]
    Damaged { path: String, what: String },
    #[error("the project has {} that the backup does not hold, from event {first} on", counted(*events, "event"))]
    EventsLost { events: u64, first: EventId },
    #[error("the backup '{path}' is damaged: {}; the first: {first}", counted(*findings, "finding"))]
    Unsound { path: String, findings: u64, first: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for BackupError {
    fn code(&self) -> Code {
        match self {
            Self::Exists { .. } => Code::FILE_EXISTS,
            Self::Itself { .. } | Self::Directory { .. } | Self::Device { .. } => {
                Code::INVALID_ARGUMENT
            }
            Self::Missing { .. } => Code::STORE_MISSING,
            Self::Damaged { .. } => Code::STORE_DAMAGED,
            Self::EventsLost { .. } => Code::EVENTS_LOST,
            Self::Unsound { .. } => Code::STORE_DAMAGED,
            Self::Foreign(error) | Self::Store(error) => error.code(),
        }
    }
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Made {
    pub path: String,
    pub events: u64,
    pub bytes: u64,
}

/// A store that was put back.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Restored {
    pub events: u64,
    /// Where the store is that was replaced, if it held what the backup does not.
    pub before: Option<String>,
}

/// Copies the store, as it is at one moment, to the file `to`, which appears whole or not at all. What
/// is there is replaced with `force` only.
///
/// # Errors
/// If something is at `to`, and those of the store.
pub fn backup(store: &mut Sqlite, to: &Path, force: bool) -> Result<Made, BackupError> {
    let path = to.display().to_string();
    match files::look(to) {
        Place::Directory => return Err(BackupError::Directory { path }),
        Place::Other => return Err(BackupError::Device { path }),
        _ if is_part(to, store.path()) => return Err(BackupError::Itself { path }),
        Place::File if !force => return Err(BackupError::Exists { path }),
        Place::Free | Place::File => {}
    }
    let draft = files::draft(to);
    let made = store.copy_to(&draft).map_err(BackupError::from).and_then(|events| {
        if force {
            put_in_place(&draft, to)?;
        } else if !files::put_in_free_place(&draft, to)? {
            return Err(BackupError::Exists { path: path.clone() });
        }
        Ok(events)
    });
    if made.is_err() {
        remove_store(&draft);
    }
    let events = made?;
    Ok(Made { path, events, bytes: files::length(to) })
}

/// Puts the backup `from` in the place of the store `at`, for all processes at once. It is checked
/// first, and the tokens of its leases are raised.
///
/// With `force`, events that the backup does not hold are no hindrance, nor is a store that cannot be
/// read; the store is kept in a file beside, whose name ends with `stamp`.
///
/// # Errors
/// [`BackupError::EventsLost`], [`BackupError::Unsound`], and those of the store; then nothing changes.
pub fn restore(
    from: &Path,
    at: &Path,
    force: bool,
    stamp: &str,
    lock_timeout: Duration,
) -> Result<Restored, BackupError> {
    if is_in_use(from, at) {
        return Err(BackupError::Itself { path: from.display().to_string() });
    }
    // One after the other: they share a draft, which the next removes if this one is killed.
    let _alone = RestoreTurn::enter(at, lock_timeout)?;
    files::remove_kept_drafts(at);
    let draft = files::restore_draft(at);
    let restored = staged(from, &draft, lock_timeout)
        .and_then(|mut staged| put_back(&mut staged, &draft, at, force, stamp, lock_timeout));
    remove_store(&draft);
    restored
}

/// A copy of the backup at `draft`, checked and with raised tokens.
fn staged(from: &Path, draft: &Path, lock_timeout: Duration) -> Result<Sqlite, BackupError> {
    remove_store(draft);
    let path = from.display().to_string();
    let copied = Sqlite::open_copy(from).and_then(|mut backup| backup.copy_to(draft));
    copied.map_err(|error| match error {
        StoreError::Missing { .. } => BackupError::Missing { path: path.clone() },
        StoreError::Damaged { what } => BackupError::Damaged { path: path.clone(), what },
        error @ StoreError::Foreign { .. } => BackupError::Foreign(error),
        error => error.into(),
    })?;
    let report = verify::verify(&mut Sqlite::open_to_read(draft)?, &[], &|_, _| {})?;
    if let Some(first) = report.findings.first() {
        let first = format!("{}: {}", first.kind, first.detail);
        let findings = report.findings_total;
        return Err(BackupError::Unsound { path, findings, first });
    }
    let mut staged = Sqlite::open_to_write(draft, lock_timeout, Durability::Full)?;
    staged.write(|txn| txn.raise_lease_tokens(TOKENS_APART))?;
    Ok(staged)
}

fn put_back(
    staged: &mut Sqlite,
    draft: &Path,
    at: &Path,
    force: bool,
    stamp: &str,
    lock_timeout: Duration,
) -> Result<Restored, BackupError> {
    let events = events_in(staged)?;
    let kept = files::kept(at, stamp);
    let shown = kept.display().to_string();
    match Sqlite::open_to_write(at, lock_timeout, Durability::Full) {
        Ok(mut store) => {
            let before = store.replace_with(staged, |here, there| match lost(here, there)? {
                Some((events, first)) if !force => Err(BackupError::EventsLost { events, first }),
                Some(_) => Ok(Some(kept.clone())),
                None => Ok(None),
            })?;
            Ok(Restored { events, before: before.map(|_| shown) })
        }
        Err(StoreError::Missing { .. }) => {
            let _turn = Turnstile::enter(&beside(at, "-lock"), lock_timeout)?;
            staged.empty_wal(lock_timeout)?;
            // A WAL that outlived its store would be read as that of the one restored.
            let wal = beside(at, "-wal");
            let before = (files::length(&wal) > 0).then(|| format!("{shown}-wal"));
            for suffix in ["-wal", "-shm"] {
                move_away(&beside(at, suffix), &beside(&kept, suffix))?;
            }
            put_in_place(draft, at)?;
            Ok(Restored { events, before })
        }
        Err(StoreError::Damaged { .. } | StoreError::Foreign { .. }) if force => {
            let _turn = Turnstile::enter(&beside(at, "-lock"), lock_timeout)?;
            staged.empty_wal(lock_timeout)?;
            for suffix in ["-wal", "-shm", ""] {
                move_away(&beside(at, suffix), &beside(&kept, suffix))?;
            }
            put_in_place(draft, at)?;
            Ok(Restored { events, before: Some(shown) })
        }
        Err(error) => Err(error.into()),
    }
}

/// How many events `here` has that `there` has not, and the first of them.
fn lost(here: &dyn ReadTxn, there: &dyn ReadTxn) -> Result<Option<(u64, EventId)>, StoreError> {
    let last = |txn: &dyn ReadTxn| Ok::<_, StoreError>(txn.log_head()?.map_or(0, |(id, _)| id.0));
    let log = |txn: &dyn ReadTxn, id| Ok::<_, StoreError>(txn.known_event(EventId(id))?.log);
    let here_last = last(here)?;
    // The log hash covers all before it, so the logs agree up to some event and nowhere after.
    let (mut same, mut differ) = (0, here_last.min(last(there)?) + 1);
    while same + 1 < differ {
        let middle = same + (differ - same) / 2;
        match log(here, middle)? == log(there, middle)? {
            true => same = middle,
            false => differ = middle,
        }
    }
    let mut lost = None;
    for id in same + 1..=here_last {
        if there.by_hash(&here.known_event(EventId(id))?.hash)?.is_none() {
            let (count, first) = lost.unwrap_or((0, EventId(id)));
            lost = Some((count + 1, first));
        }
    }
    Ok(lost)
}

fn events_in(store: &mut Sqlite) -> Result<u64, StoreError> {
    store.read(|txn| Ok(txn.log_head()?.map_or(0, |(id, _)| id.0.unsigned_abs())))
}
