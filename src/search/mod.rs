//! Search: the events that say all the words of a query, newest first.
//!
//! A word is a text without white space and stands for itself: there is no syntax that it could hit.
//! An event has it if its text holds it anywhere, letter case aside.

mod text;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::branch;
use crate::event::{Event, EventType};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId};
use crate::lineage::{self, Linked};
use crate::store::search::{Grams, SearchIndex};
use crate::store::{Engine, ReadTxn, Sqlite, StoreError};
use crate::time::Timestamp;

pub use text::{fold, text};

/// Longest query, in characters.
pub const QUERY_MAX: usize = 1_024;

/// Events that are looked at one by one, without the index, rather than to bring it up to date.
const LOOKED_AT: i64 = 512;

/// Events that are taken into the index at once.
const TAKEN_IN: usize = 4_096;

/// How long to wait for others that use the index. Without it, a search takes longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Characters of the part of a text that is shown.
const SHOWN: usize = 160;

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    words: Vec<String>,
}

/// Where, and among what.
#[derive(Debug, Clone)]
pub struct Among {
    pub scope: Scope,
    pub by: Option<AgentId>,
    pub kind: Option<EventType>,
}

#[derive(Debug, Clone)]
pub enum Scope {
    /// What is live on this branch, whose head this is.
    Live(BranchName, Option<EventId>),
    /// The same, and what was reverted.
    Lineage(BranchName, Option<EventId>),
    All,
}

#[derive(Debug, Clone, serde::Serialize)]
pub struct Found {
    /// Null if all branches were searched.
    pub branch_id: Option<BranchName>,
    pub hits: Vec<Hit>,
    /// Whether there are more, older ones.
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Hit {
    pub event_id: EventId,
    pub hash: Hash,
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub branch_id: BranchName,
    pub agent_id: AgentId,
    pub event_type: EventType,
    /// Whether it is live: on the branch that was searched, or of all on its own.
    pub live: bool,
    /// The line of its text that has the first word, or the part around it.
    pub text: String,
}

impl Query {
    /// The words of `text`. Without any, every event that says something is found.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut seen = BTreeSet::new();
        let words = fold(text);
        let words = words.split(crate::text::is_white).filter(|word| !word.is_empty());
        let words = words.filter(|word| seen.insert(word.to_owned())).map(str::to_owned);
        Self { words: words.collect() }
    }

    /// Whether `folded`, of [`fold`], has all the words.
    #[must_use]
    pub fn fits(&self, folded: &str) -> bool {
        self.words.iter().all(|word| folded.contains(word.as_str()))
    }
}

/// Searches `store` for the newest `limit` events. Uses the index if the log is long enough for that,
/// and brings it up to date; where that cannot be, it looks at all events instead.
///
/// # Errors
/// Those of the store, and of `among`.
pub fn search<E: From<StoreError>>(
    store: &mut Sqlite,
    query: &Query,
    among: impl FnOnce(&dyn ReadTxn) -> Result<Among, E>,
    limit: usize,
) -> Result<Found, E> {
    let last = store.read(|txn| txn.log_head())?.map_or(0, |(id, _)| id.0);
    let path = store.path().to_owned();
    let is_wanted = last > LOOKED_AT || SearchIndex::is_there(&path);
    // An index that cannot be had costs time and no answer.
    let index = is_wanted.then(|| SearchIndex::open(&path, PATIENCE).ok()).flatten();
    // Read only now: what is erased from here on is deleted from the index when it is our turn no more.
    store.read(|txn| {
        let among = among(txn)?;
        if let Some(mut index) = index {
            match with_index(&mut index, txn, query, &among, limit) {
                Ok(found) => return Ok(found),
                // It is a cache: if it is not that, the store says so below.
                Err(_) => index.discard()?,
            }
        }
        Ok(scan(txn, query, &among, limit)?)
    })
}

/// Deletes the index of `store` if it is damaged or was made of another log; the next search that needs
/// it makes it anew. Says whether it did.
///
/// # Errors
/// Those of the store, and [`StoreError::Busy`], [`StoreError::ReadOnly`] of the index.
pub fn mend(store: &mut Sqlite) -> Result<bool, StoreError> {
    if !SearchIndex::is_there(store.path()) {
        return Ok(false);
    }
    let index = SearchIndex::open(store.path(), PATIENCE)?;
    let is_sound = store.read(|txn| match (index.check(), index.covered()) {
        (Ok(()), Ok(None)) => Ok(true),
        (Ok(()), Ok(Some(covered))) => fits(txn, covered),
        _ => Ok::<_, StoreError>(false),
    })?;
    if !is_sound {
        index.discard()?;
    }
    Ok(!is_sound)
}

fn fits(txn: &dyn ReadTxn, (id, log): (EventId, Hash)) -> Result<bool, StoreError> {
    Ok(txn.event(id)?.is_some_and(|event| event.log == log))
}

fn with_index(
    index: &mut SearchIndex,
    txn: &dyn ReadTxn,
    query: &Query,
    among: &Among,
    limit: usize,
) -> Result<Found, StoreError> {
    let Some(covered) = bring_up_to_date(index, txn)? else {
        return scan(txn, query, among, limit);
    };
    let grams = index.grams(&query.words)?;
    find(txn, query, among, limit, Some(&Indexed { index, grams, covered }))
}

/// The same, looking at all events: what [`search`] must find.
///
/// # Errors
/// Those of the store.
pub fn scan(
    txn: &dyn ReadTxn,
    query: &Query,
    among: &Among,
    limit: usize,
) -> Result<Found, StoreError> {
    find(txn, query, among, limit, None)
}

/// Takes new events into `index`, if they are many; answers up to which event it is good. Made of
/// another log, it is made anew.
fn bring_up_to_date(
    index: &mut SearchIndex,
    txn: &dyn ReadTxn,
) -> Result<Option<EventId>, StoreError> {
    let Some((last, _)) = txn.log_head()? else { return Ok(None) };
    let mut covered = match index.covered()? {
        Some(covered) if fits(txn, covered)? => covered.0,
        Some(_) => {
            index.clear()?;
            EventId(0)
        }
        None => EventId(0),
    };
    while last.0 - covered.0 > LOOKED_AT {
        let mut texts = Vec::new();
        let mut log = Hash::ZERO;
        for id in (covered.0 + 1..=last.0).take(TAKEN_IN).map(EventId) {
            let event = txn.known_event(id)?;
            texts.extend(text(&event).map(|text| (id, fold(&text))));
            (covered, log) = (id, event.log);
        }
        index.add(&texts, (covered, log))?;
    }
    Ok((covered.0 > 0).then_some(covered))
}

struct Indexed<'a> {
    index: &'a SearchIndex,
    /// None if the words say too little.
    grams: Option<Grams>,
    covered: EventId,
}

/// The ids to look at, newest first.
struct Ids<'a> {
    next: EventId,
    indexed: Option<&'a Indexed<'a>>,
    page: std::vec::IntoIter<EventId>,
}

/// Candidates that the index is asked for at once.
const PAGE: usize = 256;

impl Ids<'_> {
    fn next(&mut self) -> Result<Option<EventId>, StoreError> {
        if let Some(Indexed { index, grams: Some(grams), covered }) = self.indexed
            && self.next <= *covered
        {
            if self.page.len() == 0 {
                let before = EventId(self.next.0 + 1);
                self.page = index.candidates(grams, before, PAGE)?.into_iter();
            }
            let found = self.page.next();
            self.next = EventId(found.map_or(0, |id| id.0 - 1));
            return Ok(found.filter(|id| id.0 > 0));
        }
        let found = Some(self.next).filter(|id| id.0 > 0);
        self.next = EventId(self.next.0 - 1);
        Ok(found)
    }
}

fn find(
    txn: &dyn ReadTxn,
    query: &Query,
    among: &Among,
    limit: usize,
    indexed: Option<&Indexed<'_>>,
) -> Result<Found, StoreError> {
    let within = Within::read(txn, &among.scope)?;
    let next = within.last;
    let mut ids = Ids { next, indexed, page: Vec::new().into_iter() };
    let branch_id = match &among.scope {
        Scope::Live(name, _) | Scope::Lineage(name, _) => Some(name.clone()),
        Scope::All => None,
    };
    let mut found = Found { branch_id, hits: Vec::new(), more: false };
    while let Some(id) = ids.next()? {
        let event = txn.known_event(id)?;
        let is_asked_for = among.by.as_ref().is_none_or(|agent| *agent == event.agent)
            && among.kind.is_none_or(|kind| kind == event.kind);
        let Some(text) = text(&event).filter(|_| is_asked_for) else { continue };
        if !query.fits(&fold(&text)) {
            continue;
        }
        let Some(live) = within.holds(txn, &event)? else { continue };
        if found.hits.len() == limit {
            found.more = true;
            break;
        }
        found.hits.push(Hit {
            event_id: id,
            hash: event.hash,
            sequence: event.sequence,
            timestamp: event.timestamp,
            branch_id: txn.lineage(event.lineage)?.name,
            agent_id: event.agent,
            event_type: event.kind,
            live,
            text: part(&text, query),
        });
    }
    Ok(found)
}

/// The events of a scope.
struct Within {
    last: EventId,
    head: Option<Linked>,
    /// The lineage; none if all lineages are meant.
    stretches: Option<Vec<(LineageId, EventId)>>,
    live_only: bool,
}

impl Within {
    fn read(txn: &dyn ReadTxn, scope: &Scope) -> Result<Self, StoreError> {
        let (head, live_only) = match scope {
            Scope::Live(_, head) => (*head, true),
            Scope::Lineage(_, head) => (*head, false),
            Scope::All => {
                let last = txn.log_head()?.map_or(EventId(0), |(id, _)| id);
                return Ok(Self { last, head: None, stretches: None, live_only: false });
            }
        };
        let stretches = match head {
            Some(head) => branch::stretches(txn, &txn.known_event(head)?)?,
            None => Vec::new(),
        };
        let head = head.map(|head| txn.linked(head)).transpose()?;
        let last = head.map_or(EventId(0), |(id, _)| id);
        Ok(Self { last, head, stretches: Some(stretches), live_only })
    }

    /// Whether `event` is in it, and if so whether it is live.
    fn holds(&self, txn: &dyn ReadTxn, event: &Event) -> Result<Option<bool>, StoreError> {
        let is_there = self.stretches.as_ref().is_none_or(|stretches| {
            stretches.iter().any(|(lineage, last)| *lineage == event.lineage && event.id <= *last)
        });
        if !is_there {
            return Ok(None);
        }
        let head = match (self.head, &self.stretches) {
            (head, Some(_)) => head,
            (_, None) => {
                let own = txn.lineage(event.lineage)?.head;
                own.map(|head| txn.linked(head)).transpose()?
            }
        };
        let live = match head {
            Some(head) => lineage::is_live(head, event.id, |id| txn.link(id))?,
            None => false,
        };
        Ok((live || !self.live_only).then_some(live))
    }
}

/// The line of `text` that has the first word of `query`, or the part of it around the word.
fn part(text: &str, query: &Query) -> String {
    let word = query.words.first().map_or("", String::as_str);
    let has_word = |line: &&str| fold(line).contains(word) && !line.trim().is_empty();
    let line = text.lines().find(has_word).unwrap_or_default().trim();
    let chars = line.chars().count();
    if chars <= SHOWN {
        return line.to_owned();
    }
    // As far as lengths can be compared: what is folded may be longer.
    let folded = fold(line);
    let before = folded.find(word).map_or(0, |at| folded[..at].chars().count());
    let skip = before.saturating_sub(SHOWN / 4).min(chars - SHOWN);
    let shown: String = line.chars().skip(skip).take(SHOWN).collect();
    let (left, right) =
        (if skip > 0 { "…" } else { "" }, if skip + SHOWN < chars { "…" } else { "" });
    format!("{left}{shown}{right}")
}
