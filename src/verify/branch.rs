//! What must hold of the rows of branches, given the events that were seen.

use std::collections::{BTreeMap, HashMap};

use super::report::{About, Findings, Kind};
use crate::event::Event;
use crate::id::{AgentId, BranchName, EventId, IdError, LineageId, NAME_MAX};
use crate::store::audit::Audit;
use crate::store::{Branch, ForkPoint, StoreError};
use rustc_hash::FxHashMap;

/// The own events of a branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    count: u64,
    last: EventId,
    last_sequence: u64,
    /// Whether some of them were written by another program.
    was_imported: bool,
    /// Whether of some it is not known any more.
    was_erased: bool,
}

pub(super) type Tallies = FxHashMap<LineageId, Tally>;

impl Tally {
    pub(super) fn of(event: &Event, keeps_time: bool) -> Self {
        let was_erased = event.content.is_none();
        let was_imported = keeps_time && !was_erased;
        Self { count: 1, last: event.id, last_sequence: event.sequence, was_imported, was_erased }
    }

    pub(super) fn join(&mut self, other: Self) {
        let newest = if self.last > other.last { *self } else { other };
        *self = Self {
            count: self.count + other.count,
            was_imported: self.was_imported || other.was_imported,
            was_erased: self.was_erased || other.was_erased,
            ..newest
        };
    }
}

pub(super) fn check(
    audit: &Audit<'_>,
    branches: &BTreeMap<LineageId, Branch>,
    tallies: &Tallies,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    if !branches.values().any(|branch| branch.name == BranchName::main()) {
        findings.add(Kind::BranchName, About::STORE, "'main' is missing");
    }
    let mut names: HashMap<String, (&BranchName, bool)> = HashMap::new();
    for branch in branches.values() {
        let mut add = |kind, why: String| findings.add(kind, About::branch(&branch.name), why);
        for name in [&branch.name, &branch.born] {
            if let Err(error) = check_name(name) {
                add(Kind::BranchShape, error.to_string());
            }
        }
        if let Err(error) = branch.created_by.as_str().parse::<AgentId>() {
            add(Kind::BranchShape, error.to_string());
        }
        if branch.name.is_reserved() != branch.born.is_reserved() {
            add(Kind::BranchName, format!("was born as '{}'", branch.born));
        } else if !is_called_so(audit, branch, tallies.get(&branch.id))? {
            add(Kind::BranchName, format!("was born as '{}', and nothing renamed it", branch.born));
        }
        // Names that came with an import may differ in letter case only.
        let was_imported = tallies.get(&branch.id).is_some_and(|tally| tally.was_imported);
        let folded = branch.name.as_str().to_ascii_lowercase();
        if let Some((like, like_was_imported)) = names.insert(folded, (&branch.name, was_imported))
            && !was_imported
            && !like_was_imported
        {
            add(Kind::BranchName, format!("there is also '{like}'"));
        }
        if let Err(why) = check_fork(branch, branches) {
            add(Kind::BranchFork, why);
        }
        let tally = tallies.get(&branch.id);
        if branch.parent.is_some() && tally.is_none() {
            add(Kind::BranchFork, "the event of its fork is missing".to_owned());
        }
        let point = branch.fork_point.map(|point| (point.event, point.sequence));
        let newest = tally.map(|tally| (tally.last, tally.last_sequence)).or(point);
        let head = branch.head.map(|head| (head, branch.head_sequence));
        if head != newest || (head.is_none() && branch.head_sequence != 0) {
            add(Kind::BranchHead, format!("is {}, not {}", shown(head), shown(newest)));
        }
        let own = branch.head_sequence.checked_sub(branch.fork_sequence());
        let count = tally.map_or(0, |tally| tally.count);
        if head == newest && own != Some(count) {
            let why = format!(
                "{count} events of its own do not lead to sequence {}",
                branch.head_sequence
            );
            add(Kind::BranchHead, why);
        }
    }
    Ok(())
}

/// Whether something may have given `branch` its name: its birth; an import, which puts a prefix before
/// it, and `.from-` with the first digits of an event behind it; an import of another program, which may
/// call it anything.
fn is_called_so(
    audit: &Audit<'_>,
    branch: &Branch,
    tally: Option<&Tally>,
) -> Result<bool, StoreError> {
    let (name, born) = (branch.name.as_str(), branch.born.as_str());
    let may_be_foreign = !branch.name.is_reserved()
        && tally.is_none_or(|tally| tally.was_imported || tally.was_erased);
    // A name that is too long was cut.
    if name == born || may_be_foreign || name.len() == NAME_MAX {
        return Ok(true);
    }
    let (whole, digits) = match name.rsplit_once(".from-") {
        Some((whole, digits)) if !name.ends_with(born) => (whole, Some(digits)),
        _ => (name, None),
    };
    let is_known = match digits {
        Some(digits) => {
            let is_hash = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash
                && (1..=64).contains(&digits.len())
                && !audit.txn().with_prefix(digits, 1)?.is_empty()
        }
        None => true,
    };
    Ok(whole.ends_with(born) && is_known)
}

fn shown(head: Option<(EventId, u64)>) -> String {
    head.map_or("none".to_owned(), |(id, sequence)| format!("event {id} at sequence {sequence}"))
}

/// The names of `mk`'s own branches are `@` and a name.
fn check_name(name: &BranchName) -> Result<(), IdError> {
    let name = name.as_str();
    name.strip_prefix('@').unwrap_or(name).parse::<BranchName>().map(|_| ())
}

/// Whether the fork point is in the parent's lineage. That it is the event before the branch's first
/// one is checked there.
fn check_fork(branch: &Branch, branches: &BTreeMap<LineageId, Branch>) -> Result<(), String> {
    let Some(parent) = branch.parent else {
        return match branch.fork_point {
            None => Ok(()),
            Some(_) => Err("has a fork point but no parent".to_owned()),
        };
    };
    let parent = branches
        .get(&parent)
        .filter(|parent| parent.id < branch.id)
        .ok_or_else(|| format!("its parent, branch {}, is missing", parent.0))?;
    let Some(point) = branch.fork_point else { return Ok(()) };
    match is_in_lineage(point, parent, branches) {
        true => Ok(()),
        false => {
            let (event, of) = (point.event, &parent.name);
            Err(format!("its fork point, event {event}, is not in the lineage of '{of}'"))
        }
    }
}

fn is_in_lineage(point: ForkPoint, of: &Branch, branches: &BTreeMap<LineageId, Branch>) -> bool {
    let mut at = of;
    let mut upto = EventId(i64::MAX);
    while at.id != point.lineage {
        let Some(next) = at.fork_point else { return false };
        // Branches are written after those they were forked from.
        match branches.get(&next.lineage).filter(|next| next.id < at.id) {
            Some(branch) => (at, upto) = (branch, next.event),
            None => return false,
        }
    }
    point.event <= upto
}
