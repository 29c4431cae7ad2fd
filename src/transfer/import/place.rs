//! Where an event belongs.

use super::{Gathered, Import, ImportError, SECRETS_LISTED, Secret};
use crate::branch;
use crate::event::{Event, EventType, Payload};
use crate::id::{BranchName, Hash, LineageId};
use crate::log::Misfit;
use crate::store::{Branch, StoreError};
use crate::transfer::line::{Arrival, Line};

impl Import<'_> {
    /// Stores `arrival`, and what waited for it; or lets it wait.
    pub(super) fn place_all(
        &mut self,
        number: u64,
        arrival: Box<Arrival>,
    ) -> Result<(), ImportError> {
        let mut next = vec![(number, arrival)];
        while let Some((number, arrival)) = next.pop() {
            if let Some(hash) = self.place(number, arrival)?
                && let Some(followers) = self.waiting.remove(&hash)
            {
                next.extend(followers);
            }
        }
        Ok(())
    }

    /// Answers with the hash of an event that is in the store now.
    fn place(&mut self, number: u64, arrival: Box<Arrival>) -> Result<Option<Hash>, ImportError> {
        let event = &arrival.event.event;
        let (hash, prev) = (event.hash, arrival.prev);
        let bad = |why: &str| ImportError::BadLine { line: number, why: why.to_owned() };
        let is_fork = event.kind == EventType::Forked;
        if !is_fork && let Some(lineage) = self.tips.get(&prev).copied() {
            // The newest event of a branch has nothing of that branch after it, so this one is new.
            return self.append(number, lineage, arrival).map(Some);
        }
        if self.log.txn().by_hash(&hash)?.is_some() {
            self.gathered.imported.known += 1;
            self.gathered.note_stripped(number, event);
            return Ok(Some(hash));
        }
        let lineage = if prev == Hash::ZERO {
            match is_fork {
                true => {
                    let source = self.source(arrival.source.as_deref(), None)?;
                    self.make(number, event, Some(source), None)?
                }
                false => match self.empty(&event.branch) {
                    Some(id) => id,
                    None => self.make(number, event, None, None)?,
                },
            }
        } else {
            let Some(parent) = self.log.txn().by_hash(&prev)? else {
                self.waiting.entry(prev).or_default().push((number, arrival));
                return Ok(None);
            };
            let parent = self.log.txn().known_event(parent)?;
            if !is_fork && parent.branch != event.branch {
                return Err(bad("its branch does not begin with a fork"));
            }
            let source = match is_fork {
                true => self.source(arrival.source.as_deref(), Some(&parent))?,
                false => parent.lineage,
            };
            self.make(number, event, Some(source), Some(&parent))?
        };
        self.append(number, lineage, arrival).map(Some)
    }

    /// The branch here that has no events yet and was born with that name.
    fn empty(&self, born: &BranchName) -> Option<LineageId> {
        let named = self.by_name.get(born.as_str()).into_iter().flatten();
        let is_empty = |id: &&LineageId| {
            let branch = &self.branches[*id];
            branch.born == *born && branch.parent.is_none() && branch.head.is_none()
        };
        let is_touched = |id: &LineageId| {
            self.gathered.moved.contains_key(id) || self.gathered.made.contains(id)
        };
        let mut named = named.filter(is_empty).filter(|id| !is_touched(id));
        named.next().copied().filter(|_| !self.with_prefix || born.is_reserved())
    }

    /// The branch that a fork at `point` was made from: of those that have that event in their lineage
    /// the one that the fork names, else the one the event was appended to.
    fn source(&self, name: Option<&str>, point: Option<&Event>) -> Result<LineageId, ImportError> {
        let txn = self.log.txn();
        let named = name.and_then(|name| self.by_name.get(name)).into_iter().flatten();
        for id in named {
            let branch = txn.lineage(*id)?;
            let fits = match point {
                Some(point) => branch.id == point.lineage || branch::contains(txn, &branch, point)?,
                None => branch.parent.is_none(),
            };
            if fits {
                return Ok(*id);
            }
        }
        let main = || {
            let main = self.branches.values().filter(|branch| branch.parent.is_none());
            main.map(|root| root.id).min().ok_or_else(|| StoreError::damaged("there is no branch"))
        };
        Ok(point.map_or_else(main, |point| Ok(point.lineage))?)
    }

    /// Makes the branch that begins with `event`, with a name for the time being.
    fn make(
        &mut self,
        number: u64,
        event: &Event,
        parent: Option<LineageId>,
        point: Option<&Event>,
    ) -> Result<LineageId, ImportError> {
        let born = &event.branch;
        let is_taken = self.by_name.contains_key(born.as_str());
        if born.is_reserved() && born.as_str() != BranchName::ERASE && is_taken {
            return Err(ImportError::Diverged { line: number, branch: born.clone() });
        }
        let name = BranchName::stored(&format!("@import/{}", event.hash));
        let begun = (event.timestamp, event.agent.clone());
        let mut branch = Branch::begun((name, born.clone()), parent, point, begun);
        branch.id = self.log.txn_mut().insert_branch(&branch)?;
        self.gathered.made.insert(branch.id);
        let id = branch.id;
        self.know(branch);
        Ok(id)
    }

    fn append(
        &mut self,
        number: u64,
        lineage: LineageId,
        mut arrival: Box<Arrival>,
    ) -> Result<Hash, ImportError> {
        let Arrival { prev, event: adopted, secrets, .. } = &mut *arrival;
        let branch = &self.branches[&lineage];
        if branch.born != adopted.event.branch {
            let why = "its branch does not begin with a fork".to_owned();
            return Err(ImportError::BadLine { line: number, why });
        }
        self.gathered.note_stripped(number, &adopted.event);
        if adopted.event.content.is_some() && self.erased.misfit(&adopted.event).is_none() {
            adopted.event.erase();
            adopted.payload = Payload::Erased;
        }
        if adopted.event.kind == EventType::Erased {
            let target = self.erased.note(adopted.event.members().as_ref());
            self.gathered.erases.extend(target);
        }
        self.log.adopt(branch, adopted).map_err(|misfit| match misfit {
            Misfit::Place(why) => ImportError::BadLine { line: number, why: why.to_owned() },
            Misfit::Store(error) => error.into(),
        })?;
        let event = &adopted.event;
        if event.kind == EventType::ExecRecord {
            self.ledger.adopt(self.log.txn_mut(), event)?;
        }
        let hash = event.hash;
        self.note(number, event, *prev, std::mem::take(secrets));
        self.stored.push(Line::Event(arrival));
        Ok(hash)
    }

    /// Takes note of an event that has come in.
    fn note(&mut self, number: u64, event: &Event, prev: Hash, secrets: Vec<&'static str>) {
        if self.tips.get(&prev) == Some(&event.lineage) {
            self.tips.remove(&prev);
        }
        self.tips.insert(event.hash, event.lineage);
        let gathered = &mut self.gathered;
        gathered.imported.events += 1;
        if !gathered.made.contains(&event.lineage) {
            let before = self.branches[&event.lineage].head;
            gathered.moved.entry(event.lineage).or_insert(before);
        }
        if event.kind == EventType::Snapshot {
            gathered.snapshots.push((number, event.id));
        }
        if !secrets.is_empty() {
            gathered.imported.secrets_total += 1;
            if gathered.imported.secrets.len() < SECRETS_LISTED {
                gathered.imported.secrets.push(Secret { event_id: event.id, rules: secrets });
            }
        }
    }
}

impl Gathered {
    fn note_stripped(&mut self, number: u64, event: &Event) {
        if event.content.is_none() {
            self.stripped.push((number, event.clone()));
        }
    }
}
