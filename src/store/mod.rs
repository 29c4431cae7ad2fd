//! Where events are kept: the only SQL, and the seam behind which another engine fits.
//!
//! An [`Engine`] runs a function inside one transaction. What the function may do there is a small
//! set of row operations, [`ReadTxn`] and [`WriteTxn`]; all rules are written once, above them.

pub(crate) mod audit;
mod changes;
mod exchange;
mod execution;
pub(crate) mod files;
pub mod folder;
mod lease;
pub mod location;
pub mod memkernel;
pub mod memory;
mod notice;
mod schema;
pub mod search;
pub mod sqlite;
pub(crate) mod turnstile;
mod waiting;

use crate::code::{Code, Coded};
use crate::event::{Event, EventType};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId};
use crate::lineage::Link;
use crate::time::Timestamp;

pub use changes::{Changes, PollFd, Woken};
pub use exchange::{AuditRow, Binding, ExchangeRead, ExchangeWrite, PeerRow};
pub use execution::{
    ExecEntry, ExecGoal, ExecLease, ExecPlace, ExecRead, ExecRecord, ExecTotals, ExecWrite,
};
pub use files::draft;
pub use folder::{Folder, FolderError, Unread};
pub use lease::{Holder, Lease, Leases, Origin, RESOURCE_MAX, TOKEN_MAX, TTL_MAX};
pub use notice::{Notice, NoticeRead, NoticeWrite, Notices};
pub use sqlite::Sqlite;
pub use waiting::{Patience, Ticket, Waiter, WaitingRoom};

/// A branch: a name that points at the head of a lineage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    pub id: LineageId,
    /// Its name here.
    pub name: BranchName,
    /// The name it was born with, which its events carry.
    pub born: BranchName,
    /// The branch it was forked from.
    pub parent: Option<LineageId>,
    /// Where it left its parent's lineage; none for a root, or a fork of an empty branch.
    pub fork_point: Option<ForkPoint>,
    /// Its newest event, an inherited one if it has none of its own; none if it is empty.
    pub head: Option<EventId>,
    /// The sequence of the head; 0 if it is empty.
    pub head_sequence: u64,
    pub created_at: Timestamp,
    pub created_by: AgentId,
}

/// The last event that a branch shares with the one it was forked from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkPoint {
    pub event: EventId,
    pub sequence: u64,
    /// The branch the event was appended to, which need not be the parent.
    pub lineage: LineageId,
}

impl Branch {
    /// A branch without events of its own, which leaves the lineage of `parent` at `point`; a root has
    /// neither. Its id is assigned when it is stored.
    pub(crate) fn begun(
        (name, born): (BranchName, BranchName),
        parent: Option<LineageId>,
        point: Option<&Event>,
        (created_at, created_by): (Timestamp, AgentId),
    ) -> Self {
        Self {
            id: LineageId(0),
            name,
            born,
            parent,
            fork_point: point.map(|point| ForkPoint {
                event: point.id,
                sequence: point.sequence,
                lineage: point.lineage,
            }),
            head: point.map(|point| point.id),
            head_sequence: point.map_or(0, |point| point.sequence),
            created_at,
            created_by,
        }
    }

    /// The sequence of the fork point, 0 without one: its own events come after.
    #[must_use]
    pub fn fork_sequence(&self) -> u64 {
        self.fork_point.map_or(0, |point| point.sequence)
    }
}

/// A request that was carried out under an id of the caller's choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// HMAC-SHA-256 of the request under the key of the store.
    pub digest: Hash,
    /// The report it was answered with, as JSON.
    pub report: String,
}

/// Settings that are fixed when a store is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// 32 random hex digits.
    pub project_id: String,
    /// The directory that resource paths are relative to, as it was at init.
    pub root: String,
    /// How tokens are counted.
    pub tokenizer: crate::tokens::Tokenizer,
    /// 32 random bytes, the key of the digests of [`Operation`].
    pub key: [u8; 32],
}

/// What can be read inside a transaction. Every read in one transaction sees one state.
///
/// All operations fail with [`StoreError`] alone.
pub trait ReadTxn: ExecRead + NoticeRead + ExchangeRead {
    fn identity(&self) -> Result<Identity, StoreError>;

    /// The branch of that name, letter case observed.
    fn branch(&self, name: &str) -> Result<Option<Branch>, StoreError>;
    /// A branch that is known to exist.
    fn lineage(&self, id: LineageId) -> Result<Branch, StoreError>;
    /// A branch whose name is `name` but for letter case.
    fn branch_like(&self, name: &str) -> Result<Option<BranchName>, StoreError>;
    /// All branches, by creation time, then name.
    fn branches(&self) -> Result<Vec<Branch>, StoreError>;

    fn event(&self, id: EventId) -> Result<Option<Event>, StoreError>;
    /// The event with this sequence among the own events of a branch.
    fn own_event(&self, lineage: LineageId, sequence: u64) -> Result<Option<EventId>, StoreError>;
    /// The event with this sequence among the own events of a branch, whole.
    fn event_at(&self, lineage: LineageId, sequence: u64) -> Result<Option<Event>, StoreError>;
    /// The event with this hash.
    fn by_hash(&self, hash: &Hash) -> Result<Option<EventId>, StoreError>;
    /// Up to `limit` events whose hash begins with the hex digits `prefix`.
    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<EventId>, StoreError>;
    /// The events of type `kind` after `event` in the log, erased ones too. O(n) of those after it.
    fn of_type_after(&self, kind: EventType, event: EventId) -> Result<Vec<EventId>, StoreError>;
    /// The events in whose metadata `text` stands. O(n).
    fn metadata_with(&self, text: &str) -> Result<Vec<EventId>, StoreError>;
    /// The newest event of the log, with the log chain up to it.
    fn log_head(&self) -> Result<Option<(EventId, Hash)>, StoreError>;

    /// The link of an event that is known to exist.
    fn link(&self, id: EventId) -> Result<Link, StoreError>;

    /// The newest checkpoint at or before `event` among the own events of a branch.
    fn checkpoint_before(
        &self,
        lineage: LineageId,
        event: EventId,
    ) -> Result<Option<EventId>, StoreError>;
    /// The state kept at `event`.
    fn checkpoint(&self, event: EventId) -> Result<Option<Vec<u8>>, StoreError>;

    /// The lease of exactly this key, in force or not.
    fn lease(&self, resource: &str) -> Result<Option<Lease>, StoreError>;
    /// Up to `limit` of the leases that are wanted, of resources that begin with `prefix` and come
    /// after `after`, by code points.
    fn leases(
        &self,
        which: Leases,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Lease>, StoreError>;
    /// Where there are checkpoints at or after `event` in the log, in its order.
    fn checkpoints_from(&self, event: EventId) -> Result<Vec<(EventId, LineageId)>, StoreError>;

    fn operation(&self, id: &str) -> Result<Option<Operation>, StoreError>;
    fn operations(&self) -> Result<Vec<(String, Operation)>, StoreError>;
    fn setting(&self, key: &str) -> Result<Option<String>, StoreError>;
    fn settings(&self) -> Result<Vec<(String, String)>, StoreError>;
    /// The branch an agent last switched to.
    fn current_branch(&self, agent: &AgentId) -> Result<Option<BranchName>, StoreError>;

    /// An event that is known to exist.
    fn known_event(&self, id: EventId) -> Result<Event, StoreError> {
        self.event(id)?.ok_or_else(|| StoreError::damaged(format!("event {id} is missing")))
    }

    /// An event that is known to exist, with its link.
    fn linked(&self, id: EventId) -> Result<(EventId, Link), StoreError> {
        Ok((id, self.link(id)?))
    }
}

/// What can be written inside a transaction. Nothing is kept unless all of it is.
pub trait WriteTxn: ReadTxn + ExecWrite + NoticeWrite + ExchangeWrite {
    /// Stores an event under the next id with its link. `event.id` must be one more than the last.
    fn insert_event(&mut self, event: &Event, link: &Link) -> Result<(), StoreError>;
    /// Takes the content of an event away, as [`Event::erase`] did with `event`.
    fn erase_content(&mut self, event: &Event) -> Result<(), StoreError>;
    fn set_link(&mut self, id: EventId, link: &Link) -> Result<(), StoreError>;
    /// Stores a branch; its id is assigned.
    fn insert_branch(&mut self, branch: &Branch) -> Result<LineageId, StoreError>;
    /// Gives a branch another name here; that no other has it is the caller's care.
    fn rename_branch(&mut self, id: LineageId, name: &BranchName) -> Result<(), StoreError>;
    fn set_head(&mut self, id: LineageId, head: EventId, sequence: u64) -> Result<(), StoreError>;
    fn put_checkpoint(
        &mut self,
        lineage: LineageId,
        event: EventId,
        state: &[u8],
    ) -> Result<(), StoreError>;
    /// Stores the lease in the place of the one of the same resource.
    fn put_lease(&mut self, lease: &Lease) -> Result<(), StoreError>;
    /// Adds `by` to the token of every resource, so that none granted before is current.
    fn raise_lease_tokens(&mut self, by: u64) -> Result<(), StoreError>;
    fn delete_checkpoint(&mut self, lineage: LineageId, event: EventId) -> Result<(), StoreError>;
    fn delete_operation(&mut self, id: &str) -> Result<(), StoreError>;
    fn put_operation(&mut self, id: &str, operation: &Operation) -> Result<(), StoreError>;
    /// Sets, or with `None` removes, a setting.
    fn set_setting(&mut self, key: &str, value: Option<&str>) -> Result<(), StoreError>;
    fn set_current_branch(&mut self, agent: &AgentId, name: &BranchName) -> Result<(), StoreError>;
}

/// A store that runs functions inside transactions.
pub trait Engine {
    /// Runs `body` on one state of the store.
    ///
    /// # Errors
    /// Those of `body`, and those of the store.
    fn read<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&dyn ReadTxn) -> Result<T, E>,
    ) -> Result<T, E>;

    /// Runs `body` as the only writer and keeps what it wrote if it answers `Ok`.
    ///
    /// # Errors
    /// Those of `body`, and those of the store; nothing is kept then.
    fn write<T, E: From<StoreError>>(
        &mut self,
        body: impl FnOnce(&mut dyn WriteTxn) -> Result<T, E>,
    ) -> Result<T, E>;
}

/// Why a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("not a mk project (or any of the parent directories): {start}")]
    NoProject { start: String },
    #[error("no store at '{path}'")]
    Missing { path: String },
    #[error("'{path}' is not a mk store: {found}")]
    Foreign { path: String, found: String },
    #[error("'{path}' has format {found}, this mk reads up to {known}")]
    Newer { path: String, found: i64, known: i64 },
    #[error("'{path}' is on {kind}, where file locks are not reliable")]
    Filesystem { path: String, kind: &'static str },
    #[error("the store is damaged: {what}")]
    Damaged { what: String },
    #[error("the store cannot be written: {why}")]
    ReadOnly { why: String },
    #[error("another process {}", held(*waited_ms))]
    Busy { waited_ms: u64 },
    #[error("no space left on the device that holds '{path}'")]
    DiskFull { path: String },
    #[error("cannot {action} '{path}': {source}")]
    Io { action: &'static str, path: String, source: std::io::Error },
    #[error("the store at '{path}' did not answer: {what}")]
    Engine { path: String, what: String },
}

/// What another process did while nothing, or so long, was waited for it.
fn held(waited_ms: u64) -> String {
    match waited_ms {
        0 => "holds a lock on the store".to_owned(),
        waited => format!("held the write lock for {waited} ms"),
    }
}

impl StoreError {
    /// The store contradicts itself.
    #[must_use]
    pub fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        match self {
            Self::NoProject { .. } => Code::NO_PROJECT,
            Self::Missing { .. } => Code::STORE_MISSING,
            Self::Foreign { .. } => Code::STORE_OLDER,
            Self::Newer { .. } => Code::STORE_NEWER,
            Self::Filesystem { .. } => Code::STORE_UNSUPPORTED_FS,
            Self::Damaged { .. } => Code::STORE_DAMAGED,
            Self::ReadOnly { .. } => Code::READ_ONLY,
            Self::Busy { .. } => Code::BUSY,
            Self::DiskFull { .. } => Code::DISK_FULL,
            Self::Io { source, .. } => Code::of_io(source),
            Self::Engine { .. } => Code::IO,
        }
    }
}
