//! What `mk verify` answers.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::event::Event;
use crate::id::{BranchName, EventId, Hash};

/// Most findings that a report lists; of all others it gives the number.
pub const LISTED: usize = 100;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What is wrong. The names never change their meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $variant,)* }

        impl Kind {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

kinds! {
    /// What is kept of the execution log does not follow from its records.
    Execution = "execution",
    /// A page of the file is broken.
    Page = "page",
    /// Rows that the engine cannot read.
    Unreadable = "unreadable",
    /// A table, index or trigger is missing, changed, or not of `mk`.
    Schema = "schema",
    /// An index does not agree with its table.
    Index = "index",
    /// A setting that is fixed when a store is made is missing or wrong.
    Store = "store",
    /// A branch row holds what cannot stand there.
    BranchShape = "branch-shape",
    /// Two branches have one name, one has a name that nothing gives it, or `main` is missing.
    BranchName = "branch-name",
    /// A branch does not begin where its fork says.
    BranchFork = "branch-fork",
    /// A head is not the newest event of its branch.
    BranchHead = "branch-head",
    /// An id is left out of the log.
    EventMissing = "event-missing",
    /// An event row holds what cannot stand there.
    EventShape = "event-shape",
    /// The branch of an event is missing.
    Lineage = "lineage",
    /// A payload or metadata is not a canonical JSON object, or too large.
    Content = "content",
    /// Payload, metadata and salt are not those that were hashed.
    Body = "body",
    /// Content is gone, and no event says that it was erased.
    Erasure = "erasure",
    /// The event before it is missing, or is not before it on the lineage.
    Parent = "parent",
    /// A sequence is not one more than the one before.
    Sequence = "sequence",
    /// Time runs backwards along a lineage.
    Timestamp = "timestamp",
    /// An event is not the one that was hashed, or does not follow the one it was hashed after.
    Hash = "hash",
    /// The log is not in the order it was written in.
    Log = "log",
    /// The first event of a branch does not say where, when or by whom it was begun.
    Fork = "fork",
    /// A rollback's target was not live, or is not the event it names.
    Rollback = "rollback",
    /// A snapshot is not the fold of what it covers.
    Snapshot = "snapshot",
    /// An event has no entry in the lineage index.
    LinkMissing = "link-missing",
    /// An entry of the lineage index is not what follows from the events.
    Link = "link",
    /// An entry of the lineage index belongs to no event.
    LinkStray = "link-stray",
    /// A checkpoint is not the fold of the events before it.
    Checkpoint = "checkpoint",
    /// A checkpoint belongs to no event.
    CheckpointStray = "checkpoint-stray",
    /// A remembered request is not of its form, or its answer not what the store has.
    Operation = "operation",
    /// A lease holds what cannot stand there, or no event says that it was granted so.
    Lease = "lease",
    /// A notice holds what cannot stand there.
    Notice = "notice",
    /// A row of the signed exchange of notices holds what cannot stand there, or not what others say.
    Exchange = "exchange",
    /// A setting is none, or holds what it cannot be set to.
    Setting = "setting",
    /// The current branch of an agent is none.
    CurrentBranch = "current-branch",
    /// An anchor is of another project.
    AnchorProject = "anchor-project",
    /// The event of an anchor is gone: the log was cut, or an old copy put back.
    AnchorLost = "anchor-lost",
    /// The log up to the event of an anchor is another one.
    AnchorDiffers = "anchor-differs",
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.as_str())
    }
}

/// What a finding is about: an event, a branch, or the store as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct About {
    event_id: Option<EventId>,
    hash: Option<Hash>,
    branch: Option<BranchName>,
}

impl About {
    pub(super) const STORE: Self = Self { event_id: None, hash: None, branch: None };

    pub(super) fn id(id: EventId) -> Self {
        Self { event_id: Some(id), ..Self::STORE }
    }

    pub(super) fn branch(name: &BranchName) -> Self {
        Self { branch: Some(name.clone()), ..Self::STORE }
    }

    /// `name` is that of the event's branch here.
    pub(super) fn event(event: &Event, name: Option<&BranchName>) -> Self {
        Self { event_id: Some(event.id), hash: Some(event.hash), branch: name.cloned() }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    pub event_id: Option<EventId>,
    pub hash: Option<Hash>,
    pub branch_id: Option<BranchName>,
    pub detail: String,
}

/// The first findings, and the number of all.
#[derive(Debug, Default)]
pub(super) struct Findings {
    first: Vec<Finding>,
    by_kind: BTreeMap<&'static str, u64>,
}

impl Findings {
    pub(super) fn add(&mut self, kind: Kind, about: About, detail: impl Into<String>) {
        let About { event_id, hash, branch } = about;
        *self.by_kind.entry(kind.as_str()).or_default() += 1;
        let detail = detail.into();
        self.first.push(Finding { kind, event_id, hash, branch_id: branch, detail });
        if self.first.len() >= 4 * LISTED {
            self.cut();
        }
    }

    pub(super) fn join(&mut self, other: Self) {
        self.first.extend(other.first);
        self.cut();
        for (kind, count) in other.by_kind {
            *self.by_kind.entry(kind).or_default() += count;
        }
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        self.by_kind.contains_key(kind.as_str())
    }

    fn cut(&mut self) {
        self.first.sort_by(|a, b| {
            (a.event_id, a.kind, &a.branch_id, &a.detail).cmp(&(
                b.event_id,
                b.kind,
                &b.branch_id,
                &b.detail,
            ))
        });
        self.first.truncate(LISTED);
    }

    pub(super) fn report(mut self, events: u64, branches: u64, checkpoints: u64) -> Report {
        self.cut();
        let total = self.by_kind.values().sum();
        Report {
            ok: total == 0,
            events,
            branches,
            checkpoints,
            findings_total: total,
            findings_by_kind: self.by_kind,
            findings: self.first,
        }
    }
}

/// What was looked at, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub ok: bool,
    pub events: u64,
    pub branches: u64,
    pub checkpoints: u64,
    pub findings_total: u64,
    pub findings_by_kind: BTreeMap<&'static str, u64>,
    /// The first [`LISTED`]: those about the store as a whole, then by event.
    pub findings: Vec<Finding>,
}
