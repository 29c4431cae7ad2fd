//! Whether the peer's database is what its hashes say, branch by branch.
//!
//! Events come by rising id, so that whatever an event refers to has been seen. What follows the first
//! bad event of a branch is not looked at: it may be anything.
//!
//! Rule: docs/spec/kernel.md, section 20, "Verifying before an import".

use std::collections::{HashMap, HashSet};

use super::original::{Form, Original, peer_hash};
use crate::canon::{Object, Value};
use crate::event::EventType;
use crate::id::{AgentId, BranchName, EventId, Hash, IdError, LineageId, shown};
use crate::lineage::{self, Adds, Link};
use crate::store::memkernel::{BranchRow, EventRow, Misfit, Source, SourceError};
use crate::time::{TimeError, Timestamp};
use crate::workspace::snapshot;

/// The one kind of [`Finding`].
pub(super) const CHAIN_BROKEN: &str = "chain_broken";

/// A fault of the source.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// Always `chain_broken`.
    pub kind: &'static str,
    pub branch: String,
    /// The first bad event of the branch's lineage; none if the branch itself is at fault.
    pub event_id: Option<i64>,
    pub why: String,
}

impl Finding {
    /// The same, for a branch that was forked off after it.
    fn inherited(&self) -> Fault {
        let why = match self.why.starts_with("broken on ") {
            true => self.why.clone(),
            false => format!("broken on '{}': {}", shown(&self.branch), self.why),
        };
        Fault { event_id: self.event_id, why }
    }
}

/// A sound event.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub id: i64,
    /// Of the branch it was appended to, in [`Checked::branches`].
    pub branch: usize,
    pub sequence: u64,
    pub hash: Hash,
    /// Its predecessor on the live timeline, and the way back from there.
    pub link: Link,
}

/// A branch, as far as it is sound.
#[derive(Debug)]
pub(super) struct Lineage {
    pub row: BranchRow,
    /// None if the row is not what it must be.
    pub founding: Option<Founding>,
    pub parent: Option<usize>,
    /// Its own events up to the first bad one, as places in [`Checked::events`].
    pub own: Vec<usize>,
    /// Why no event from there on, or none at all, can be imported.
    pub broken: Option<Finding>,
}

/// What the row of a branch says of its making, read.
#[derive(Debug, Clone)]
pub(super) struct Founding {
    pub name: BranchName,
    pub at: Timestamp,
    pub by: AgentId,
}

impl Founding {
    fn read(row: &BranchRow) -> Result<Self, String> {
        Ok(Self {
            name: row.name.parse().map_err(|error: IdError| error.to_string())?,
            at: row
                .created_at
                .parse()
                .map_err(|error: TimeError| format!("created_at: {error}"))?,
            by: row.created_by.parse().map_err(|error: IdError| error.to_string())?,
        })
    }
}

impl Lineage {
    /// The sequence of the fork point; 0 for a root, whatever its row says.
    pub(super) fn fork_sequence(&self) -> u64 {
        match self.parent {
            Some(_) => u64::try_from(self.row.fork_sequence).unwrap_or_default(),
            None => 0,
        }
    }

    /// Whether there is anything of it to import: an own event or, of a root, its name.
    pub(super) fn is_usable(&self) -> bool {
        !self.own.is_empty() || (self.parent.is_none() && self.broken.is_none())
    }
}

/// The sound part of a source, and what is wrong with the rest.
#[derive(Debug)]
pub(super) struct Checked {
    /// By name.
    pub branches: Vec<Lineage>,
    /// By id.
    pub events: Vec<Place>,
    pub findings: Vec<Finding>,
    names: HashMap<String, usize>,
    /// Names of branches that are not there, which events lie on.
    missing: HashSet<String>,
}

impl Checked {
    /// Reads and checks all of `source`.
    ///
    /// # Errors
    /// Those of the source; what is wrong with its rows is a finding.
    pub(super) fn read(source: &Source) -> Result<Self, SourceError> {
        let mut checked = Self::of(source.branches()?);
        source.events(|row| {
            match row {
                Ok(row) => checked.event(&row),
                Err(misfit) => checked.misfit(misfit),
            }
            Ok::<_, SourceError>(())
        })?;
        checked.finish();
        Ok(checked)
    }

    pub(super) fn of(rows: Vec<Result<BranchRow, Misfit>>) -> Self {
        let mut checked = Self {
            branches: Vec::new(),
            events: Vec::new(),
            findings: Vec::new(),
            names: HashMap::new(),
            missing: HashSet::new(),
        };
        for row in rows {
            match row {
                Ok(row) => {
                    let at = checked.branches.len();
                    let (founding, mut fault) = match Founding::read(&row) {
                        Ok(founding) => (Some(founding), None),
                        Err(why) => (None, Some(why)),
                    };
                    if *checked.names.entry(row.name.clone()).or_insert(at) != at {
                        fault = Some("there is another of this name".to_owned());
                    }
                    let lineage =
                        Lineage { row, founding, parent: None, own: Vec::new(), broken: None };
                    checked.branches.push(lineage);
                    if let Some(why) = fault {
                        checked.break_at(at, None, why);
                    }
                }
                Err(misfit) => checked.misfit(misfit),
            }
        }
        checked.find_parents();
        checked
    }

    /// Resolves the names of parents, and breaks circles of them.
    fn find_parents(&mut self) {
        for at in 0..self.branches.len() {
            let Some(name) = &self.branches[at].row.parent else { continue };
            match self.names.get(name) {
                Some(parent) => self.branches[at].parent = Some(*parent),
                None => {
                    let why = format!("its parent, '{}', is missing", shown(name));
                    self.break_at(at, None, why);
                }
            }
        }
        // 0: not seen, 1: on the way up from here, 2: known to end at a root.
        let mut marks = vec![0_u8; self.branches.len()];
        for start in 0..self.branches.len() {
            let mut way = Vec::new();
            let mut at = Some(start);
            while let Some(here) = at.filter(|here| marks[*here] == 0) {
                marks[here] = 1;
                way.push(here);
                at = self.branches[here].parent;
            }
            if let Some(again) = at.filter(|again| marks[*again] == 1) {
                self.branches[again].parent = None;
                self.break_at(again, None, "it descends from itself".to_owned());
            }
            for here in way {
                marks[here] = 2;
            }
        }
    }

    fn break_at(&mut self, branch: usize, event_id: Option<i64>, why: String) {
        let lineage = &mut self.branches[branch];
        if lineage.broken.is_none() {
            let branch = lineage.row.name.clone();
            lineage.broken = Some(Finding { kind: CHAIN_BROKEN, branch, event_id, why });
        }
    }

    fn misfit(&mut self, misfit: Misfit) {
        let branch = misfit.branch.unwrap_or_default();
        match self.names.get(&branch) {
            Some(at) => self.break_at(*at, misfit.id, misfit.why),
            None => {
                self.findings.push(Finding {
                    kind: CHAIN_BROKEN,
                    branch,
                    event_id: misfit.id,
                    why: misfit.why,
                });
            }
        }
    }

    fn event(&mut self, row: &EventRow) {
        let Some(&branch) = self.names.get(&row.branch) else {
            if self.missing.insert(row.branch.clone()) {
                let why = "it lies on a branch that is not there".to_owned();
                let branch = row.branch.clone();
                self.findings.push(Finding {
                    kind: CHAIN_BROKEN,
                    branch,
                    event_id: Some(row.id),
                    why,
                });
            }
            return;
        };
        if self.branches[branch].broken.is_some() {
            return;
        }
        match self.follow(branch, row) {
            Ok(place) => {
                self.branches[branch].own.push(self.events.len());
                self.events.push(place);
            }
            Err(Fault { event_id, why }) => self.break_at(branch, event_id, why),
        }
    }

    /// Checks that `row` is what comes next on `branch`.
    fn follow(&self, branch: usize, row: &EventRow) -> Result<Place, Fault> {
        let bad = |why: String| Fault { event_id: Some(row.id), why };
        let last = self.events.last().map_or(0, |last| last.id);
        if row.id <= last {
            return Err(bad(format!("its id does not come after {last}")));
        }
        let lineage = &self.branches[branch];
        let before = match (lineage.own.last(), lineage.parent) {
            (Some(last), _) => Some(&self.events[*last]),
            (None, Some(_)) => self
                .fork_point(lineage)
                .map_err(|fault| Fault { event_id: fault.event_id.or(Some(row.id)), ..fault })?,
            (None, None) => None,
        };
        let sequence = before.map_or(0, |before| before.sequence) + 1;
        if u64::try_from(row.sequence) != Ok(sequence) {
            return Err(bad(format!("its sequence is {}, not {sequence}", row.sequence)));
        }
        let parent = before.map(|before| before.id);
        if row.parent != parent {
            let (found, parent) = (named(row.parent), named(parent));
            return Err(bad(format!("it names {found} as the event before it, not {parent}")));
        }
        let prev = before.map_or(Hash::ZERO, |before| before.hash);
        if peer_hash(row, &prev).to_string() != row.hash {
            return Err(bad("its hash is not that of its members".to_owned()));
        }
        let original = Original::read(row).map_err(bad)?;
        let live = self.live(lineage, before, &original).map_err(bad)?;
        Ok(Place {
            id: row.id,
            branch,
            sequence,
            hash: original.hash,
            link: self.link_after(row.id, branch, live, original.kind()),
        })
    }

    /// Checks what a structural event says; answers with its predecessor on the live timeline.
    fn live<'s>(
        &'s self,
        lineage: &Lineage,
        before: Option<&'s Place>,
        original: &Original<'_>,
    ) -> Result<Option<&'s Place>, String> {
        let begins_fork = lineage.own.is_empty() && lineage.parent.is_some();
        let Form::Native(kind, payload) = &original.form else {
            return match begins_fork {
                true => Err("its branch does not begin with a fork".to_owned()),
                false => Ok(before),
            };
        };
        match (kind, begins_fork) {
            (EventType::Forked, true) => fork_agrees(payload, &lineage.row)?,
            (EventType::Forked, false) => return Err("a fork that begins no branch".to_owned()),
            (_, true) => return Err("its branch does not begin with a fork".to_owned()),
            (EventType::RolledBack, false) => {
                return self.reference(payload, "target", before).map(Some);
            }
            (EventType::Snapshot, false) => {
                if !snapshot::is_peers(payload) {
                    return Err(format!(
                        "a snapshot whose schema is not {}",
                        snapshot::PEER_SCHEMA
                    ));
                }
                self.reference(payload, "covers_through", before)?;
            }
            (_, false) => {}
        }
        Ok(before)
    }

    /// The event that `NAME_event_id` and `NAME_sequence` of `payload` name, if it is live after
    /// `before`.
    fn reference(
        &self,
        payload: &Object,
        name: &str,
        before: Option<&Place>,
    ) -> Result<&Place, String> {
        let member = |of: &str| payload.get(&format!("{name}_{of}")).and_then(Value::as_i64);
        let id = member("event_id").ok_or_else(|| format!("{name}_event_id is no event"))?;
        let before = before.ok_or("it refers to an event, but none is before it")?;
        let link = |id: EventId| self.find(id.0).map(|place| place.link).ok_or(());
        let from = (EventId(before.id), before.link);
        if lineage::is_live(from, EventId(id), link) != Ok(true) {
            return Err(format!("{name}_event_id, {id}, is not live there"));
        }
        let found = self.find(id).ok_or_else(|| format!("{name}_event_id, {id}, is missing"))?;
        match member("sequence") == i64::try_from(found.sequence).ok() {
            true => Ok(found),
            false => Err(format!("{name}_sequence is not that of event {id}")),
        }
    }

    /// The event that a branch was forked at; none if its parent was empty.
    fn fork_point(&self, lineage: &Lineage) -> Result<Option<&Place>, Fault> {
        let parent = lineage.parent.map(|parent| &self.branches[parent]);
        if let Some(parent) = parent.filter(|parent| parent.own.is_empty()) {
            match &parent.broken {
                Some(broken) => return Err(broken.inherited()),
                None if parent.parent.is_some() => {
                    let why = "the branch it was forked from begins later".to_owned();
                    return Err(Fault::of_branch(why));
                }
                None => {}
            }
        }
        let Some(id) = lineage.row.fork_event else {
            return match lineage.row.fork_sequence {
                0 => Ok(None),
                other => Err(Fault::of_branch(format!("fork_sequence is {other} without a point"))),
            };
        };
        let mut at = lineage.parent;
        while let Some(here) = at {
            let here = &self.branches[here];
            if let Some(place) = self.find(id).filter(|place| Some(place.branch) == at) {
                return match i64::try_from(place.sequence) == Ok(lineage.row.fork_sequence) {
                    true => Ok(Some(place)),
                    false => Err(Fault::of_branch(format!(
                        "fork_sequence is {}, not {}",
                        lineage.row.fork_sequence, place.sequence
                    ))),
                };
            }
            if let Some(broken) = &here.broken
                && broken.event_id.is_none_or(|first| first <= id)
            {
                return Err(broken.inherited());
            }
            at = here.row.fork_event.filter(|point| id <= *point).and(here.parent);
        }
        Err(Fault::of_branch(format!("its fork point, event {id}, is not in its parent's lineage")))
    }

    fn link_after(
        &self,
        id: i64,
        branch: usize,
        live: Option<&Place>,
        kind: Option<EventType>,
    ) -> Link {
        let adds = match kind {
            Some(EventType::Snapshot) => Adds::Snapshot { context: 0 },
            _ => Adds::Block { agent: "", tokens: 0 },
        };
        let lineage = LineageId(branch as i64);
        let parent = live.and_then(|live| {
            let jump = self.find(live.link.jump.0)?;
            Some(((EventId(live.id), live.link), (EventId(jump.id), jump.link), None))
        });
        lineage::extend(EventId(id), lineage, parent, adds)
    }

    /// The sound event with this id.
    pub(super) fn find(&self, id: i64) -> Option<&Place> {
        let at = self.events.binary_search_by_key(&id, |place| place.id).ok()?;
        self.events.get(at)
    }

    /// The sound event at `sequence` among the own events of `branch`.
    pub(super) fn own(&self, branch: usize, sequence: u64) -> Option<&Place> {
        let lineage = &self.branches[branch];
        let index = sequence.checked_sub(lineage.fork_sequence() + 1)?;
        self.events.get(*lineage.own.get(usize::try_from(index).ok()?)?)
    }

    /// What can be told only when all events have been seen.
    fn finish(&mut self) {
        for at in 0..self.branches.len() {
            let lineage = &self.branches[at];
            if lineage.broken.is_some() {
                continue;
            }
            if lineage.own.is_empty() && lineage.parent.is_some() {
                let fault = match self.fork_point(lineage) {
                    Ok(_) => Fault::of_branch("the event of its fork is missing".to_owned()),
                    Err(fault) => fault,
                };
                self.break_at(at, fault.event_id, fault.why);
                continue;
            }
            let head = lineage.own.last().map(|last| &self.events[*last]);
            let row = &lineage.row;
            let sequence = head.map_or(0, |head| head.sequence);
            let wrong = if row.head_event != head.map(|head| head.id) {
                Some("head_event_id")
            } else if u64::try_from(row.head_sequence) != Ok(sequence) {
                Some("head_sequence")
            } else if row.head_hash != head.map_or(Hash::ZERO, |head| head.hash).to_string() {
                Some("head_hash")
            } else {
                None
            };
            if let Some(what) = wrong {
                let why = format!("{what} is not that of its last event");
                let (branch, event_id) = (row.name.clone(), row.head_event);
                self.findings.push(Finding { kind: CHAIN_BROKEN, branch, event_id, why });
            }
        }
        self.findings.extend(self.branches.iter().filter_map(|lineage| lineage.broken.clone()));
        self.findings.sort_by(|a, b| (&a.branch, a.event_id).cmp(&(&b.branch, b.event_id)));
    }
}

/// Why an event, or none if the branch itself is at fault, breaks its branch.
struct Fault {
    event_id: Option<i64>,
    why: String,
}

impl Fault {
    fn of_branch(why: String) -> Self {
        Self { event_id: None, why }
    }
}

fn named(event: Option<i64>) -> String {
    event.map_or("none".to_owned(), |id| format!("event {id}"))
}

/// Checks that the event of a fork says what the row of its branch says.
fn fork_agrees(payload: &Object, row: &BranchRow) -> Result<(), String> {
    let differs = |name: &str| Err(format!("{name} is not that of its branch"));
    if payload.get("source_branch").and_then(Value::as_str) != row.parent.as_deref() {
        return differs("source_branch");
    }
    if payload.get("fork_point_event_id") != Some(&row.fork_event.into()) {
        return differs("fork_point_event_id");
    }
    if payload.get("fork_point_sequence") != Some(&row.fork_sequence.into()) {
        return differs("fork_point_sequence");
    }
    Ok(())
}
