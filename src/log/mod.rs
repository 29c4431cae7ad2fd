//! The one write path: every event of every system is appended here.

mod adopt;
mod error;
mod line;
mod links;
mod prepared;
mod tip;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::branch;
use crate::canon::Object;
use crate::event::{self, Event, EventType, Payload, Salt, chain_log};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId};
use crate::lineage::{self, Adds, Author, Link};
use crate::revision::Revision;
use crate::store::{Branch, ReadTxn, StoreError, WriteTxn};
use crate::time::Timestamp;
use crate::workspace::snapshot::{self, Cover};
use crate::workspace::{self, render};

use links::Links;
use tip::{Tip, next_sequence};

pub(crate) use adopt::{Adopted, Misfit};
pub use error::LogError;
pub use line::{EVENT_LINE_MAX, EventLine, EventLineError};
pub(crate) use prepared::Copied;
pub use prepared::{Prepared, Rules, SecretPolicy, refuse_in_name};

/// What comes from outside and cannot be replayed: the time, and randomness.
pub struct Outside<'a> {
    /// Read anew for each event.
    pub now: &'a mut dyn FnMut() -> Timestamp,
    pub salt: &'a mut dyn FnMut() -> Salt,
}

/// An event that a caller wants appended.
#[derive(Debug, Clone)]
pub struct Draft {
    pub kind: EventType,
    pub agent: AgentId,
    pub payload: Object,
    pub metadata: Object,
}

/// The head that a branch must have for an append to go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    Empty,
    Head(Revision),
}

/// An appended event.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Appended {
    pub event_id: EventId,
    pub hash: Hash,
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub branch_id: BranchName,
    pub agent_id: AgentId,
    pub parent_event_id: Option<EventId>,
    pub event_type: EventType,
    /// The rules by which secrets were taken out before the event was hashed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
}

/// Appends to branches inside one write transaction, and remembers their heads between appends.
pub struct Log<'t> {
    txn: &'t mut dyn WriteTxn,
    rules: Rules,
    last: (EventId, Hash),
    branches: FxHashMap<BranchName, Branch>,
    tips: FxHashMap<LineageId, Tip>,
    links: Links,
    /// Whether this is not the first append.
    appended: bool,
    checkpoints: workspace::Checkpoints,
    growth: BTreeMap<LineageId, Growth>,
}

/// How the context text of a branch grew in a transaction, in tokens.
///
/// Rule: docs/spec/kernel.md, section 10.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growth {
    pub branch: BranchName,
    pub before: u64,
    pub after: u64,
    /// The snapshot that the text begins with now.
    pub snapshot: Option<EventId>,
}

/// The time of an event.
#[derive(Debug, Clone, Copy)]
enum Time {
    /// By the clock.
    Now(Timestamp),
    /// As another program noted it.
    Kept(Timestamp),
}

/// What an event adds to the lengths of texts.
struct Weight {
    /// Tokens of its block; none for a snapshot.
    tokens: u64,
    /// What it covers, if it is a snapshot that is read through.
    cover: Option<Cover>,
}

impl<'t> Log<'t> {
    /// # Errors
    /// Those of the store.
    pub fn open(txn: &'t mut dyn WriteTxn) -> Result<Self, StoreError> {
        let rules = Rules::read(txn)?;
        let last = txn.log_head()?.unwrap_or((EventId(0), Hash::ZERO));
        Ok(Self {
            txn,
            rules,
            last,
            branches: FxHashMap::default(),
            tips: FxHashMap::default(),
            links: Links::default(),
            appended: false,
            checkpoints: workspace::Checkpoints::default(),
            growth: BTreeMap::new(),
        })
    }

    /// Refuses a name that looks like a secret, unless the policy of the store lets it pass.
    pub(crate) fn check_name(&self, what: &str, name: &str) -> Result<(), LogError> {
        match self.rules.secrets {
            SecretPolicy::Off => Ok(()),
            SecretPolicy::Redact | SecretPolicy::Refuse => refuse_in_name(what, name),
        }
    }

    /// The transaction, to read from between appends.
    #[must_use]
    pub fn txn(&self) -> &dyn ReadTxn {
        self.txn
    }

    /// The transaction, for verbs that also write what is no event. Heads must not be moved.
    pub(crate) fn txn_mut(&mut self) -> &mut dyn WriteTxn {
        self.txn
    }

    /// Appends what a caller drafted to the branch `name`.
    ///
    /// # Errors
    /// Those of [`Prepared::new`] and [`Log::append_prepared`].
    pub fn append(
        &mut self,
        name: &BranchName,
        draft: Draft,
        expect: Option<&Expect>,
        outside: &mut Outside<'_>,
    ) -> Result<Appended, LogError> {
        let mut prepared = Prepared::new(draft, self.rules, (outside.salt)())?;
        self.append_prepared(name, &mut prepared, expect, (outside.now)())
    }

    /// Appends what a caller drafted and prepared to the branch `name`. Once appended, it is as it was:
    /// whoever prepared it on another thread can free it there too, which is faster.
    ///
    /// # Errors
    /// In this order: a type that only `mk` writes; a branch of `mk`'s own or none; a head that is
    /// not the expected one; a snapshot that is not the fold of what it covers.
    ///
    /// Rule: docs/spec/kernel.md, section 3.
    pub fn append_prepared(
        &mut self,
        name: &BranchName,
        prepared: &mut Prepared,
        expect: Option<&Expect>,
        now: Timestamp,
    ) -> Result<Appended, LogError> {
        if !prepared.kind.is_open() {
            return Err(LogError::ReservedType(prepared.kind));
        }
        if name.is_reserved() {
            return Err(LogError::ReservedBranch(name.clone()));
        }
        let branch = self.branch(name)?;
        if let Some(expect) = expect {
            let expected = match expect {
                Expect::Empty => None,
                Expect::Head(revision) => Some(revision.resolve(self.txn, name)?),
            };
            if expected != branch.head {
                let (branch, actual) = (name.clone(), branch.head);
                return Err(LogError::StaleHead { branch, expected, actual });
            }
        }
        if prepared.kind == EventType::Snapshot {
            let payload = event::read_object("payload", prepared.content.payload.as_bytes())?;
            let cover = snapshot::check(self.txn, &branch, &payload, self.rules.tokenizer)
                .map_err(|why| LogError::InvalidSnapshot { why: why.to_string() })?;
            prepared.cover = Some(cover);
        }
        self.put(&branch, prepared, None, Time::Now(now))
    }

    /// Appends a snapshot that was made of the timeline that ends at `head`, without looking at it
    /// again; none if that is no longer the head of the branch.
    pub(crate) fn append_snapshot(
        &mut self,
        name: &BranchName,
        mut prepared: Prepared,
        head: EventId,
        now: Timestamp,
    ) -> Result<Option<Appended>, LogError> {
        let branch = self.branch(name)?;
        if branch.head != Some(head) {
            return Ok(None);
        }
        self.put(&branch, &mut prepared, None, Time::Now(now)).map(Some)
    }

    /// How much longer the context texts of the branches became that were appended to.
    #[must_use]
    pub fn growth(&self) -> Vec<Growth> {
        self.growth.values().cloned().collect()
    }

    /// Appends an event of any type, which takes the place after `live_parent` on the live timeline
    /// if that is given. `reported` is what its block shows instead of the payload.
    pub(crate) fn write(
        &mut self,
        branch: &Branch,
        draft: Draft,
        live_parent: Option<EventId>,
        reported: Option<&Object>,
        outside: &mut Outside<'_>,
    ) -> Result<Appended, LogError> {
        let mut prepared = Prepared::shown_as(draft, reported, self.rules, (outside.salt)())?;
        self.put(branch, &mut prepared, live_parent, Time::Now((outside.now)()))
    }

    /// Appends an event of another program as it was: its content is stored exactly, whatever its size
    /// and whatever looks like a secret in it, and its time is kept, even one before its parent's.
    /// `live_parent` is as in [`Log::write`].
    pub(crate) fn copy(
        &mut self,
        branch: &Branch,
        copied: Copied,
        live_parent: Option<EventId>,
    ) -> Result<Appended, LogError> {
        let parent = self.tip(branch)?.map(|tip| tip.id);
        let kind = copied.kind;
        let target = live_parent.filter(|_| kind == EventType::RolledBack);
        let reported = match kind {
            EventType::Forked | EventType::RolledBack => {
                let payload = copied.members.clone();
                Some(branch::reported(self.txn, (kind, parent), payload, target)?)
            }
            _ => None,
        };
        let cover = match kind {
            EventType::Snapshot => Some(
                snapshot::covered(self.txn, parent, &copied.members)
                    .and_then(|covers| {
                        let tokenizer = self.rules.tokenizer;
                        Ok(snapshot::Cover::of(self.txn, covers, &copied.members, tokenizer)?)
                    })
                    .map_err(|why| LogError::InvalidSnapshot { why: why.to_string() })?,
            ),
            _ => None,
        };
        let timestamp = copied.timestamp;
        let mut prepared = Prepared::copied(copied, reported.as_ref(), cover, self.rules);
        self.put(branch, &mut prepared, live_parent, Time::Kept(timestamp))
    }

    /// Appends an event as it was drafted, secrets and all, stamped `now` or later.
    pub(crate) fn write_exact(
        &mut self,
        branch: &Branch,
        draft: Draft,
        salt: Salt,
        now: Timestamp,
    ) -> Result<Appended, LogError> {
        let rules = Rules { secrets: SecretPolicy::Off, ..self.rules };
        let mut prepared = Prepared::new(draft, rules, salt)?;
        self.put(branch, &mut prepared, None, Time::Now(now))
    }

    /// How an event would be stamped that is appended to `branch` at `now`.
    pub(crate) fn stamp(
        &mut self,
        branch: &Branch,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        Ok(self.tip(branch)?.map_or(now, |tip| now.max(tip.timestamp)))
    }

    /// The settings that events are prepared by.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The branch of that name with the head it has now.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn branch(&mut self, name: &BranchName) -> Result<Branch, LogError> {
        let mut branch = match self.branches.get(name) {
            Some(branch) => branch.clone(),
            None => {
                let branch = crate::revision::branch(self.txn, name.as_str())?;
                self.branches.insert(name.clone(), branch.clone());
                branch
            }
        };
        if let Some(tip) = self.tips.get(&branch.id) {
            (branch.head, branch.head_sequence) = (Some(tip.id), tip.sequence);
        }
        Ok(branch)
    }

    fn put(
        &mut self,
        branch: &Branch,
        prepared: &mut Prepared,
        live_parent: Option<EventId>,
        time: Time,
    ) -> Result<Appended, LogError> {
        let tip = self.tip(branch)?;
        let mut event = Event {
            id: self.next_id()?,
            lineage: branch.id,
            branch: branch.born.clone(),
            sequence: next_sequence(tip.as_ref())?,
            timestamp: match (time, &tip) {
                // A clock that was set back must not make time run backwards along a lineage.
                (Time::Now(now), Some(tip)) => now.max(tip.timestamp),
                (Time::Now(time), None) | (Time::Kept(time), _) => time,
            },
            agent: prepared.agent.clone(),
            parent: tip.as_ref().map(|tip| tip.id),
            kind: prepared.kind,
            body: prepared.body,
            hash: Hash::ZERO,
            log: Hash::ZERO,
            content: Some(std::mem::take(&mut prepared.content)),
            structure: None,
        };
        event.hash = event.expected_hash(&tip.as_ref().map_or(Hash::ZERO, |tip| tip.hash));
        let before = tip.as_ref().map_or(0, |tip| tip.link.context);
        let live = match live_parent {
            Some(id) if Some(id) != event.parent => Some(self.read_tip(id)?),
            _ => tip,
        };
        let tokens = match event.kind {
            EventType::Snapshot => 0,
            _ => self.rules.tokenizer.count(&render::header(&event)) + prepared.tokens,
        };
        let weight = Weight { tokens, cover: prepared.cover };
        let link = self.store(&mut event, live, weight, &prepared.payload)?;
        self.note_growth(branch, before, &link);
        prepared.content = event.content.unwrap_or_default();
        Ok(Appended {
            event_id: event.id,
            hash: event.hash,
            sequence: event.sequence,
            timestamp: event.timestamp,
            branch_id: branch.name.clone(),
            agent_id: event.agent,
            parent_event_id: event.parent,
            event_type: event.kind,
            redacted: prepared.redacted.clone(),
        })
    }

    /// Stores `event` as the next of the log and the new head of its branch, after `live` on the live
    /// timeline.
    fn store(
        &mut self,
        event: &mut Event,
        live: Option<Tip>,
        Weight { tokens, cover }: Weight,
        payload: &Payload,
    ) -> Result<Link, StoreError> {
        event.log = chain_log(&self.last.1, &event.hash);
        let adds = match (event.kind, cover) {
            (EventType::Snapshot, Some(cover)) => {
                let tokens = live.as_ref().map_or(0, |live| live.link.tokens);
                let header = render::header(event);
                Adds::Snapshot { context: cover.context(self.rules.tokenizer, &header, tokens) }
            }
            (EventType::Snapshot, None) => Adds::Nothing,
            _ => Adds::Block { agent: event.agent.as_str(), tokens },
        };
        let link = self.link_after(event, live.as_ref(), adds)?;
        self.txn.insert_event(event, &link)?;
        self.txn.set_head(event.lineage, event.id, event.sequence)?;
        self.last = (event.id, event.log);
        let author = match event.kind {
            EventType::Snapshot => live.and_then(|live| live.author),
            _ => Some((event.id, event.agent.clone())),
        };
        if self.appended {
            self.links.put(event.id, link);
        }
        self.appended = true;
        self.tips.insert(
            event.lineage,
            Tip {
                id: event.id,
                hash: event.hash,
                sequence: event.sequence,
                timestamp: event.timestamp,
                link,
                author,
            },
        );
        if !event.branch.is_reserved() {
            let bytes = event.content.as_ref().map_or(0, |content| content.payload.len());
            self.checkpoints.appended(self.txn, event, payload, bytes)?;
        }
        Ok(link)
    }

    fn next_id(&self) -> Result<EventId, StoreError> {
        let next = self.last.0.0.checked_add(1).map(EventId);
        next.ok_or_else(|| StoreError::damaged("the last event has the largest id there is"))
    }

    fn link_after(
        &mut self,
        event: &Event,
        live: Option<&Tip>,
        adds: Adds<'_>,
    ) -> Result<Link, StoreError> {
        let Some(live) = live else {
            return Ok(lineage::extend(event.id, event.lineage, None, adds));
        };
        let jump = self.link(live.link.jump)?;
        let author = live
            .author
            .as_ref()
            .map(|(event, agent)| Author { event: *event, agent: agent.as_str() });
        let parent = ((live.id, live.link), (live.link.jump, jump), author);
        Ok(lineage::extend(event.id, event.lineage, Some(parent), adds))
    }

    fn note_growth(&mut self, branch: &Branch, before: u64, link: &Link) {
        let grown = self.growth.entry(branch.id).or_insert_with(|| Growth {
            branch: branch.name.clone(),
            before,
            after: 0,
            snapshot: None,
        });
        (grown.after, grown.snapshot) = (link.context, link.snapshot);
    }

    fn link(&mut self, id: EventId) -> Result<Link, StoreError> {
        if let Some(link) = self.links.get(id) {
            return Ok(link);
        }
        let link = self.txn.link(id)?;
        if self.appended {
            self.links.put(id, link);
        }
        Ok(link)
    }
}
