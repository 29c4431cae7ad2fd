//! Names of events, as people type them.
//!
//! Rule: docs/design.md, section 7.

use std::fmt;
use std::str::FromStr;

use crate::code::{Code, Coded};
use crate::id::{BranchName, EventId, LineageId, shown};
use crate::lineage::{self, Link};
use crate::store::{Branch, ReadTxn, StoreError};
use crate::time::Timestamp;

/// Fewest hex digits that stand for a hash.
const PREFIX_MIN: usize = 4;

/// A name of an event, not yet looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    text: String,
    base: Base,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    /// `HEAD`, or nothing before `@`.
    Current,
    /// `refs/NAME`
    Branch(String),
    /// `42`
    Id(EventId),
    /// A branch, else a hash prefix.
    Name(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// `~N`: so many live predecessors back.
    Back(u64),
    /// `@N`: the event of this sequence on the lineage.
    Sequence(u64),
    /// `@{TIME}`: the last live event at or before.
    At(Timestamp),
}

/// A range `A..B`, or a single revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    Upto(Revision),
    Between(Revision, Revision),
}

/// A text that is no revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is no revision: {why}", shown(text))]
pub struct SyntaxError {
    text: String,
    why: &'static str,
}

/// Why a revision names no event.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    #[error("no branch '{name}'{}", nearest.as_ref().map_or(String::new(), |near| format!(", did you mean '{near}'?")))]
    BranchNotFound { name: String, nearest: Option<BranchName> },
    #[error("no event '{}': {why}", shown(revision))]
    EventNotFound { revision: String, why: String },
    #[error("'{prefix}' is ambiguous: {}", candidates.join(", "))]
    Ambiguous { prefix: String, candidates: Vec<String> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for RevisionError {
    fn code(&self) -> Code {
        match self {
            Self::BranchNotFound { .. } => Code::BRANCH_NOT_FOUND,
            Self::EventNotFound { .. } => Code::EVENT_NOT_FOUND,
            Self::Ambiguous { .. } => Code::AMBIGUOUS_EVENT,
            Self::Store(error) => error.code(),
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Revision {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let wrong = |why| SyntaxError { text: text.to_owned(), why };
        let end = text.find(['~', '@']).unwrap_or(text.len());
        // The names of mk's own branches begin with the mark of a sequence.
        let own = text.starts_with('@') && text[1..].starts_with(|c: char| c.is_ascii_alphabetic());
        let end =
            if own { text[1..].find(['~', '@']).map_or(text.len(), |at| at + 1) } else { end };
        let (name, mut rest) = text.split_at(end);
        let base = if name.is_empty() {
            if rest.starts_with('~') || rest.is_empty() {
                return Err(wrong("it has no name"));
            }
            Base::Current
        } else if name == "HEAD" {
            Base::Current
        } else if let Some(name) = name.strip_prefix("refs/") {
            Base::Branch(name.to_owned())
        } else if name.bytes().all(|byte| byte.is_ascii_digit()) && is_number(name) {
            Base::Id(EventId(name.parse().map_err(|_| wrong("the event id is too large"))?))
        } else if own || name.parse::<BranchName>().is_ok() {
            Base::Name(name.to_owned())
        } else {
            return Err(wrong("a name has letters, digits and ._/- only"));
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let mark = rest.chars().next().map_or(0, char::len_utf8);
            let (mark, after) = rest.split_at(mark);
            if let Some(time) = after.strip_prefix('{').filter(|_| mark == "@") {
                let (time, after) = time.split_once('}').ok_or_else(|| wrong("'}' is missing"))?;
                let time = time.parse().map_err(|_| wrong("the time in @{…} is not RFC 3339"))?;
                steps.push(Step::At(time));
                rest = after;
                continue;
            }
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, after) = after.split_at(digits);
            let step = match (mark, number) {
                ("~", "") => Step::Back(1),
                ("~", number) => Step::Back(number.parse().map_err(|_| wrong("~N is too large"))?),
                ("@", "") => return Err(wrong("a sequence or {TIME} follows '@'")),
                ("@", number) => {
                    Step::Sequence(number.parse().map_err(|_| wrong("@N is too large"))?)
                }
                _ => return Err(wrong("only ~N, @N or @{TIME} may follow")),
            };
            steps.push(step);
            rest = after;
        }
        Ok(Self { text: text.to_owned(), base, steps })
    }
}

/// Whether digits are an event id: ids are written without zeros in front, and fit 63 bits.
fn is_number(digits: &str) -> bool {
    (digits.len() < PREFIX_MIN || !digits.starts_with('0')) && digits.len() < 19
}

impl FromStr for Range {
    type Err = SyntaxError;

    /// `A..B`, where a side left out is `HEAD`; else one revision.
    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let Some((from, to)) = text.split_once("..") else { return Ok(Self::Upto(text.parse()?)) };
        let side = |name: &str| if name.is_empty() { "HEAD".parse() } else { name.parse() };
        Ok(Self::Between(side(from)?, side(to)?))
    }
}

/// Where a revision was looked up: an event, seen from a lineage.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// The lineage whose sequences `@N` counts, and its last event.
    lineage: LineageId,
    event: Option<EventId>,
}

impl Revision {
    /// The revision that names the head of `branch`.
    #[must_use]
    pub fn of_branch(branch: &BranchName) -> Self {
        Self { text: branch.to_string(), base: Base::Branch(branch.to_string()), steps: Vec::new() }
    }

    /// The branch, if the revision is its plain name; `current` stands for `HEAD`.
    ///
    /// # Errors
    /// Those of the store.
    pub fn branch(
        &self,
        txn: &dyn ReadTxn,
        current: &BranchName,
    ) -> Result<Option<Branch>, StoreError> {
        if !self.steps.is_empty() {
            return Ok(None);
        }
        match &self.base {
            Base::Current => txn.branch(current.as_str()),
            Base::Branch(name) | Base::Name(name) => txn.branch(name),
            Base::Id(_) => Ok(None),
        }
    }

    /// The event it names; `current` is the branch that `HEAD` stands for.
    ///
    /// # Errors
    /// If it names none, or more than one. An empty branch has no event to name.
    pub fn resolve(
        &self,
        txn: &dyn ReadTxn,
        current: &BranchName,
    ) -> Result<EventId, RevisionError> {
        let missing =
            |why: String| RevisionError::EventNotFound { revision: self.text.clone(), why };
        let of_branch = |branch: &Branch| Found { lineage: branch.id, event: branch.head };
        let of_event = |id: EventId| match txn.event(id)? {
            Some(event) => Ok(Found { lineage: event.lineage, event: Some(id) }),
            None => Err(missing(match txn.log_head()? {
                Some((last, _)) => format!("ids go from 1 to {last}"),
                None => "the log is empty".to_owned(),
            })),
        };
        let mut found = match &self.base {
            Base::Current => of_branch(&branch(txn, current.as_str())?),
            Base::Branch(name) => of_branch(&branch(txn, name)?),
            Base::Id(id) => match txn.event(*id)? {
                // Where no event has the number, it may be how a hash begins.
                None if id.to_string().len() >= PREFIX_MIN => {
                    match txn.with_prefix(&id.to_string(), 2)?.as_slice() {
                        [only] => of_event(*only)?,
                        _ => of_event(*id)?,
                    }
                }
                _ => of_event(*id)?,
            },
            Base::Name(name) => match txn.branch(name)? {
                Some(branch) => of_branch(&branch),
                None => of_event(self.by_hash(txn, name)?)?,
            },
        };
        for step in &self.steps {
            let Some(at) = found.event else {
                return Err(missing("the branch is empty".to_owned()));
            };
            found.event = Some(match step {
                Step::Sequence(sequence) => on_lineage(txn, found.lineage, at, *sequence)?
                    .ok_or_else(|| missing(format!("its lineage has no sequence {sequence}")))?,
                Step::Back(steps) => {
                    let from = txn.linked(at)?;
                    let depth = from.1.depth.checked_sub(*steps).filter(|depth| *depth > 0);
                    let depth = depth.ok_or_else(|| {
                        missing(format!("only {} live events come before", from.1.depth - 1))
                    })?;
                    live_at(txn, from, depth)?.0
                }
                Step::At(time) => last_at(txn, at, *time)?
                    .ok_or_else(|| missing(format!("nothing is as old as {time}")))?,
            });
        }
        found.event.ok_or_else(|| missing("the branch is empty".to_owned()))
    }

    fn by_hash(&self, txn: &dyn ReadTxn, prefix: &str) -> Result<EventId, RevisionError> {
        let is_hex = prefix.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hex || !(PREFIX_MIN..=64).contains(&prefix.len()) {
            return Err(unknown_branch(txn, prefix)?);
        }
        match txn.with_prefix(prefix, 5)?.as_slice() {
            [] => Err(RevisionError::EventNotFound {
                revision: self.text.clone(),
                why: "no branch has this name, and no hash begins so".to_owned(),
            }),
            [id] => Ok(*id),
            ids => {
                let hash = |id: &EventId| {
                    let event = txn.known_event(*id)?;
                    Ok(format!("{} (event {id})", &event.hash.to_string()[..prefix.len() + 4]))
                };
                let candidates = ids.iter().map(hash).collect::<Result<_, StoreError>>()?;
                Err(RevisionError::Ambiguous { prefix: prefix.to_owned(), candidates })
            }
        }
    }
}

/// The branch of that name.
///
/// # Errors
/// [`RevisionError::BranchNotFound`], with a name that is close if there is one.
pub fn branch(txn: &dyn ReadTxn, name: &str) -> Result<Branch, RevisionError> {
    match txn.branch(name)? {
        Some(branch) => Ok(branch),
        None => Err(unknown_branch(txn, name)?),
    }
}

fn unknown_branch(txn: &dyn ReadTxn, name: &str) -> Result<RevisionError, StoreError> {
    let nearest = txn
        .branches()?
        .into_iter()
        .map(|branch| (distance(name, branch.name.as_str()), branch.name))
        .filter(|(distance, _)| *distance <= 2)
        .min_by_key(|(distance, _)| *distance);
    Ok(RevisionError::BranchNotFound { name: shown(name), nearest: nearest.map(|(_, name)| name) })
}

/// How many letters differ (Levenshtein), letter case aside.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(128).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(128).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut left_above = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (left_above + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            left_above = above;
        }
    }
    row[b.len()]
}

/// The live ancestor of `from` at `depth`, which is at least 1 and at most that of `from`.
///
/// # Errors
/// Those of the store.
pub fn live_at(
    txn: &dyn ReadTxn,
    from: (EventId, Link),
    depth: u64,
) -> Result<(EventId, Link), StoreError> {
    lineage::at_depth(from, depth, |id| txn.link(id))?
        .ok_or_else(|| StoreError::damaged(format!("event {} has no live ancestor", from.0)))
}

/// The event of this sequence on the lineage that ends at `last`, an event seen from `lineage`.
fn on_lineage(
    txn: &dyn ReadTxn,
    lineage: LineageId,
    last: EventId,
    sequence: u64,
) -> Result<Option<EventId>, StoreError> {
    if sequence == 0 || sequence > txn.known_event(last)?.sequence {
        return Ok(None);
    }
    let mut lineage = lineage;
    loop {
        let branch = txn.lineage(lineage)?;
        match branch.fork_point {
            Some(point) if sequence <= point.sequence => lineage = point.lineage,
            _ => return txn.own_event(lineage, sequence),
        }
    }
}

/// The last live event up to `from` with a timestamp at or before `time`. Timestamps never fall
/// along a timeline, so O(log n).
fn last_at(
    txn: &dyn ReadTxn,
    from: EventId,
    time: Timestamp,
) -> Result<Option<EventId>, StoreError> {
    let found = lineage::first_reached(
        txn.linked(from)?,
        |id| txn.link(id),
        |(id, _)| Ok::<_, StoreError>(txn.known_event(*id)?.timestamp <= time),
    )?;
    Ok(found.map(|(id, _)| id))
}
