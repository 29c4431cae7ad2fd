//! A thread's way through its chunks of the log.

use std::ops::RangeInclusive;

use super::branch::{Tallies, Tally};
use super::checkpoint::{self, Claim, Folds, Suspect};
use super::event::{self, Before};
use super::lease::Grants;
use super::link;
use super::memory::{Live, Memory, readable};
use super::queue::Job;
use super::report::{About, Findings, Kind};
use super::rows::Plan;
use crate::branch;
use crate::canon::{Object, Value};
use crate::erase::Recorded;
use crate::event::{Event, EventType, chain_log};
use crate::id::{BranchName, EventId, Hash, LineageId};
use crate::lineage::{self, Adds, Link};
use crate::store::StoreError;
use crate::store::audit::{Audit, EventRow, Fault, Index, Misfit, Sum};
use crate::workspace::render;
use crate::workspace::snapshot::{self, SnapshotError};

/// What has been seen, by one worker or by all.
#[derive(Default)]
pub(super) struct Seen {
    pub findings: Findings,
    pub events: u64,
    pub links: u64,
    pub checkpoints: u64,
    pub tallies: Tallies,
    pub suspects: Vec<Suspect>,
    /// Events without content.
    pub erased: Vec<(Event, About)>,
    pub erasures: Recorded,
    pub grants: Grants,
    /// Of each index.
    sums: [Sums; 2],
}

#[derive(Default)]
struct Sums {
    table: Sum,
    index: Sum,
    out_of_order: bool,
}

impl Seen {
    pub(super) fn join(&mut self, other: Self) {
        self.findings.join(other.findings);
        self.events += other.events;
        self.links += other.links;
        self.checkpoints += other.checkpoints;
        self.suspects.extend(other.suspects);
        self.erased.extend(other.erased);
        self.erasures.join(other.erasures);
        self.grants.join(other.grants);
        for (lineage, tally) in other.tallies {
            self.tallies.entry(lineage).and_modify(|own| own.join(tally)).or_insert(tally);
        }
        for (own, other) in self.sums.iter_mut().zip(other.sums) {
            own.table.join(other.table);
            own.index.join(other.index);
            own.out_of_order |= other.out_of_order;
        }
    }

    /// Whether an index that was read agrees with its table.
    pub(super) fn agrees(&self, index: Index) -> bool {
        let sums = &self.sums[index as usize];
        sums.table == sums.index && !sums.out_of_order
    }
}

pub(super) struct Worker<'p> {
    plan: &'p Plan,
    pub seen: Seen,
    memory: Memory,
    folds: Folds,
    /// Where canonical texts are written.
    text: String,
}

impl<'p> Worker<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            seen: Seen::default(),
            memory: Memory::default(),
            folds: Folds::default(),
            text: String::new(),
        }
    }

    pub(super) fn run(&mut self, audit: &Audit<'_>, job: Job) -> Result<(), StoreError> {
        match job {
            Job::Faults => {
                let faults = audit.faults();
                for fault in super::soft(faults, &mut self.seen.findings)?.into_iter().flatten() {
                    let (kind, why) = match fault {
                        Fault::Index(name) => {
                            (Kind::Index, format!("index {name} does not agree with its table"))
                        }
                        Fault::Page(page) => (Kind::Page, format!("page {page} is broken")),
                        Fault::Other => (Kind::Page, "the file is broken".to_owned()),
                    };
                    self.seen.findings.add(kind, About::STORE, why);
                }
                Ok(())
            }
            Job::Index(index, first_bytes) => {
                let found = audit.index_sum(index, first_bytes, self.plan.last);
                let found = super::soft(found, &mut self.seen.findings)?;
                let sums = &mut self.seen.sums[index as usize];
                match found {
                    Some((sum, in_order)) => {
                        sums.index.join(sum);
                        sums.out_of_order |= !in_order;
                    }
                    None => sums.out_of_order = true,
                }
                Ok(())
            }
            Job::Chunk(ids) => self.chunk(audit, &ids),
        }
    }

    fn chunk(&mut self, audit: &Audit<'_>, ids: &RangeInclusive<i64>) -> Result<(), StoreError> {
        self.folds = Folds::new(self.plan, ids);
        let before = audit.before(EventId(*ids.start()));
        let before = super::soft(before, &mut self.seen.findings)?.flatten();
        let mut before = before.unwrap_or((EventId(0), Some(Hash::ZERO)));
        let read = audit.events(ids, |row| {
            let (id, log) = match &row {
                Ok(row) => (row.event.id, Some(row.event.log)),
                Err(misfit) => (EventId(misfit.id), None),
            };
            let prev = self.in_sequence(before, id);
            before = (id, log);
            self.seen.events += 1;
            match row.map(|row| self.event(audit, row, prev)) {
                Ok(Err(StoreError::Damaged { what })) => {
                    self.seen.findings.add(Kind::Unreadable, About::id(id), what);
                }
                Ok(done) => return done,
                Err(Misfit { id, why }) => {
                    self.seen.findings.add(Kind::EventShape, About::id(EventId(id)), why);
                }
            }
            Ok(())
        });
        match read {
            Err(StoreError::Damaged { .. }) => {
                let next = EventId(before.0.0.saturating_add(1).max(*ids.start()));
                let why = format!("no event from here to {} can be read", ids.end());
                self.seen.findings.add(Kind::Unreadable, About::id(next), why);
                Ok(())
            }
            other => other,
        }
    }

    /// Checks that the id after `before` is `id`; answers with the log chain up to it, if `before` is
    /// the event right before.
    fn in_sequence(&mut self, before: (EventId, Option<Hash>), id: EventId) -> Option<Hash> {
        let (EventId(before), log) = before;
        let first = before.saturating_add(1);
        if id.0 <= 0 {
            self.seen.findings.add(Kind::EventShape, About::id(id), "ids begin at 1");
            return None;
        }
        if id.0 == first {
            return log;
        }
        let first = first.max(1);
        let why = match id.0 - first {
            1 => "is not in the log".to_owned(),
            _ => format!("and all up to {} are not in the log", id.0 - 1),
        };
        self.seen.findings.add(Kind::EventMissing, About::id(EventId(first)), why);
        None
    }

    fn event(
        &mut self,
        audit: &Audit<'_>,
        row: EventRow,
        log: Option<Hash>,
    ) -> Result<(), StoreError> {
        let EventRow { mut event, link } = row;
        self.seen.links += u64::from(link.is_some());
        self.seen.sums[Index::Hash as usize].table.add_hash(&event.hash.0, event.id);
        let (lineage, sequence) = (event.lineage.0, event.sequence.cast_signed());
        self.seen.sums[Index::Sequence as usize].table.add_place(lineage, sequence, event.id);
        let plan = self.plan;
        let Some(branch) = plan.branches.get(&event.lineage) else {
            let why = format!("its branch, {}, is missing", event.lineage.0);
            self.seen.findings.add(Kind::Lineage, About::event(&event, None), why);
            return Ok(());
        };
        event.branch = branch.born.clone();
        let event = &event;
        let about = || About::event(event, Some(&branch.name));
        let parent = match event.parent {
            Some(id) => self.memory.before(audit, event.lineage, id)?,
            None => None,
        };
        let findings = &mut self.seen.findings;
        let text = &mut self.text;
        let said = event::content(event, text, &about, findings);
        let payload = said.payload.as_ref();
        let tally = Tally::of(event, said.keeps_time);
        let own = self.seen.tallies.entry(branch.id);
        own.and_modify(|own| own.join(tally)).or_insert(tally);
        if log.is_some_and(|log| chain_log(&log, &event.hash) != event.log) {
            findings.add(Kind::Log, about(), "it does not follow the event before it in the log");
        }
        event::chained(event, said.keeps_time, branch, parent.as_ref(), &about, findings);
        let source = branch.parent.and_then(|parent| plan.branches.get(&parent));
        event::fork(event, payload, branch, source, parent.as_ref(), &about, findings);
        self.erasure(event, payload, &about);
        self.seen.grants.note(event, payload, &plan.held);
        let live = self.live(audit, event, payload, parent, link.as_ref(), &about)?;
        let expected = self.link(audit, event, payload, &live, link, &about)?;
        let author = match event.kind {
            EventType::Snapshot => live.author(),
            _ => Some((event.id, event.agent.clone())),
        };
        self.memory.keep(event, expected, author);
        self.states(audit, event, payload, live.id(), &about)
    }

    /// Notes who was erased, and who says so.
    fn erasure(&mut self, event: &Event, payload: Option<&Object>, about: &dyn Fn() -> About) {
        if event.content.is_none() {
            self.seen.erased.push((event.clone(), about()));
        }
        if event.kind == EventType::Erased && event.branch.as_str() == BranchName::ERASE {
            self.seen.erasures.note(payload);
        }
    }

    /// The predecessor of `event` on the live timeline, and of a rollback, whether it may be.
    fn live(
        &mut self,
        audit: &Audit<'_>,
        event: &Event,
        payload: Option<&Object>,
        parent: Option<Before>,
        link: Option<&Result<Link, Misfit>>,
        about: &dyn Fn() -> About,
    ) -> Result<Live, StoreError> {
        let before = match (event.kind, payload) {
            (EventType::RolledBack, Some(payload)) => {
                let target = self.target(audit, event, payload, parent.as_ref());
                match readable(target)? {
                    Some((target, wrong)) => {
                        for why in wrong {
                            self.seen.findings.add(Kind::Rollback, about(), why);
                        }
                        target
                    }
                    None => None,
                }
            }
            // Of a target that was erased only the index knows.
            (EventType::RolledBack, None) => match link {
                Some(Ok(link)) => link.live_parent.filter(|target| *target < event.id),
                _ => None,
            },
            _ if event.parent.is_none() => return Ok(Live::Root),
            _ => {
                let parent = parent.filter(|parent| parent.id < event.id);
                return Ok(parent.map_or(Live::Unknown, Live::After));
            }
        };
        let Some(id) = before else { return Ok(Live::Unknown) };
        let found = self.memory.before(audit, event.lineage, id)?;
        Ok(found.map_or(Live::Unknown, Live::After))
    }

    /// The target of a rollback that was appended after `parent`, and what is wrong with it.
    fn target(
        &mut self,
        audit: &Audit<'_>,
        event: &Event,
        payload: &Object,
        parent: Option<&Before>,
    ) -> Result<(Option<EventId>, Vec<&'static str>), StoreError> {
        // The peer names the target by its own number, and by its sequence.
        let is_peers = payload.contains_key("target_event_id");
        let found = match (is_peers, hash_in(payload, "target_hash")) {
            (true, _) => self.at_sequence(audit, event.lineage, payload)?,
            (false, Some(hash)) => audit.txn().with_prefix(&hash.to_string(), 1)?.first().copied(),
            (false, None) => return Ok((None, vec!["target_hash is no hash"])),
        };
        let Some(target) = found.filter(|id| *id < event.id) else {
            return Ok((None, vec!["its target is not in the log before it"]));
        };
        let mut wrong = Vec::new();
        let sequence = audit.txn().known_event(target)?.sequence;
        if payload.get("target_sequence") != Some(&sequence.into()) {
            wrong.push("target_sequence is not that of its target");
        }
        let Some(Before { id, link: Some(link), .. }) = parent else {
            return Ok((Some(target), wrong));
        };
        let memory = &mut self.memory;
        if !lineage::is_live((*id, *link), target, |id| memory.link(audit, id))? {
            wrong.push("its target was not live");
            return Ok((Some(target), wrong));
        }
        let count = link.depth.saturating_sub(memory.link(audit, target)?.depth);
        if !is_peers && payload.get("reverted_count") != Some(&count.into()) {
            wrong.push("reverted_count is not the number of events it reverted");
        }
        Ok((Some(target), wrong))
    }

    /// The event of the lineage of branch `id` that `target_sequence` names.
    fn at_sequence(
        &self,
        audit: &Audit<'_>,
        id: LineageId,
        payload: &Object,
    ) -> Result<Option<EventId>, StoreError> {
        let sequence = payload.get("target_sequence").and_then(Value::as_i64);
        let sequence = sequence.and_then(|sequence| u64::try_from(sequence).ok());
        let (Some(sequence), Some(mut at)) = (sequence, self.plan.branches.get(&id)) else {
            return Ok(None);
        };
        while sequence <= at.fork_sequence() {
            // Branches are written after those they were forked from.
            let next = at.fork_point.filter(|point| point.lineage < at.id);
            match next.and_then(|point| self.plan.branches.get(&point.lineage)) {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        audit.txn().own_event(at.id, sequence)
    }

    /// Compares `found`, the entry of `event` in the lineage index, with what follows from the entry
    /// of `live`; answers with the right one, as far as it can be told.
    fn link(
        &mut self,
        audit: &Audit<'_>,
        event: &Event,
        payload: Option<&Object>,
        live: &Live,
        found: Option<Result<Link, Misfit>>,
        about: &dyn Fn() -> About,
    ) -> Result<Option<Link>, StoreError> {
        let found = match found {
            Some(Ok(link)) => Some(link),
            Some(Err(misfit)) => {
                self.seen.findings.add(Kind::Link, about(), misfit.why);
                None
            }
            None => {
                self.seen.findings.add(Kind::LinkMissing, about(), "the lineage index lacks it");
                None
            }
        };
        // Nothing can be told after an entry that is missing; what is there is gone by.
        let usable = found.filter(|found| found.points_back(event.id));
        let live = match live {
            Live::Root => None,
            Live::After(before) => {
                let Some(link) = before.link else { return Ok(usable) };
                let Some(jump) = readable(self.memory.link(audit, link.jump))? else {
                    return Ok(usable);
                };
                Some((before, link, jump))
            }
            Live::Unknown => return Ok(usable),
        };
        let payload = payload.filter(|_| event.content.is_some());
        let adds = match (event.kind, payload) {
            (EventType::Snapshot, None) if event.content.is_none() => Adds::Nothing,
            (EventType::Snapshot, payload) => {
                let found = found.map_or(0, |found| found.context);
                if let (Some(payload), Some((live, link, _))) = (payload, live) {
                    self.context(audit, event, payload, (live.id, link), found, about)?;
                }
                // Whether it is right is told in the end.
                Adds::Snapshot { context: found }
            }
            (_, payload) => {
                let tokens = match payload {
                    Some(payload) => {
                        let target = live.map(|(live, ..)| live.id);
                        self.tokens(audit, event, payload, target)?
                    }
                    None if event.content.is_none() => {
                        render::erased_tokens(self.plan.tokenizer, event)
                    }
                    // What cannot be read, which has been said, cannot be counted either.
                    None => {
                        let before = live.map_or(0, |(_, link, _)| link.tokens);
                        found.map_or(0, |found| found.tokens.saturating_sub(before))
                    }
                };
                Adds::Block { agent: event.agent.as_str(), tokens }
            }
        };
        let expected = link::expected(event, live, adds);
        if let Some(found) = found.filter(|found| *found != expected) {
            self.seen.findings.add(Kind::Link, about(), link::difference(&found, &expected));
        }
        Ok(Some(expected))
    }

    /// Suspects the tokens of the context text, `found` for the snapshot `event` after `live`, if they
    /// are not those of the state that it covers.
    fn context(
        &mut self,
        audit: &Audit<'_>,
        event: &Event,
        payload: &Object,
        (live, link): (EventId, Link),
        found: u64,
        about: &dyn Fn() -> About,
    ) -> Result<(), StoreError> {
        let covers = match snapshot::covered(audit.txn(), Some(live), payload) {
            Ok(covers) => covers,
            Err(SnapshotError::Store(error)) => return Err(error),
            // That it is no snapshot is said elsewhere.
            Err(_) => return Ok(()),
        };
        let tokenizer = self.plan.tokenizer;
        let cover = snapshot::Cover::of(audit.txn(), covers, payload, tokenizer)?;
        if cover.context(tokenizer, &render::header(event), link.tokens) != found {
            let claim = Claim::Context { covers, tokens: link.tokens, found };
            self.seen.suspects.push(Suspect { event: event.id, about: about(), claim });
        }
        Ok(())
    }

    fn tokens(
        &self,
        audit: &Audit<'_>,
        event: &Event,
        payload: &Object,
        target: Option<EventId>,
    ) -> Result<u64, StoreError> {
        let tokenizer = self.plan.tokenizer;
        Ok(match event.kind {
            EventType::Forked | EventType::RolledBack => {
                let shown = {
                    let place = (event.kind, event.parent);
                    branch::reported(audit.txn(), place, payload.clone(), target)?
                };
                render::block_tokens(tokenizer, event, &shown)
            }
            _ => render::block_tokens(tokenizer, event, payload),
        })
    }

    /// Checks the states that are kept at `event`: of a snapshot, and the checkpoint.
    fn states(
        &mut self,
        audit: &Audit<'_>,
        event: &Event,
        payload: Option<&Object>,
        live: Option<EventId>,
        about: &dyn Fn() -> About,
    ) -> Result<(), StoreError> {
        let suspect = |claim| Suspect { event: event.id, about: about(), claim };
        let seen = &mut self.seen;
        if let Some(agrees) = self.folds.after(audit, self.plan, event, payload, live)? {
            seen.checkpoints += 1;
            if !agrees {
                seen.suspects.push(suspect(Claim::Checkpoint(event.lineage)));
            }
        }
        let Some(payload) = payload.filter(|_| event.kind == EventType::Snapshot) else {
            return Ok(());
        };
        match checkpoint::snapshot(audit, payload, live) {
            Ok((_, true)) => {}
            Ok((covers, false)) => seen.suspects.push(suspect(Claim::Snapshot { covers })),
            Err(SnapshotError::Store(error)) => return Err(error),
            Err(why) => seen.findings.add(Kind::Snapshot, about(), why.to_string()),
        }
        Ok(())
    }
}

fn hash_in(payload: &Object, name: &str) -> Option<Hash> {
    payload.get(name).and_then(Value::as_str)?.parse().ok()
}
