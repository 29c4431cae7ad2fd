//! What the branches of an import are called here.
//!
//! Names are local. A branch that is new gets the name it had where it came from, if that is free; else
//! `NAME.from-` and the first digits of the first event that sets it apart. Of several branches that
//! could have a name the one whose head was exported under it has it, then the one with the smaller
//! hash: so neither the order of lines nor that of imports decides.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::branch;
use crate::event::EventType;
use crate::id::{BranchName, EventId, Hash, LineageId, NAME_MAX, hex};
use crate::store::{Branch, ReadTxn, StoreError, WriteTxn};

/// Digits of a hash in the name of a branch that has left another.
const DIGITS: usize = 8;

/// What a branch was called where it came from, and its head there.
pub(super) struct Wish {
    pub name: BranchName,
    pub head: Hash,
}

/// Names the branches `made`. Those of `moved`, each with the head it had before, keep their names,
/// but for one that took a way which another branch was exported under its name for.
pub(super) fn settle(
    txn: &mut dyn WriteTxn,
    made: &BTreeSet<LineageId>,
    moved: &BTreeMap<LineageId, Option<EventId>>,
    wishes: &[Wish],
    prefix: &str,
) -> Result<(), StoreError> {
    let mut names = Names::read(txn, made)?;
    let wishes = wishes_by_branch(txn, wishes)?;
    let mut claims = Vec::new();
    for id in made {
        let branch = txn.lineage(*id)?;
        let wish =
            wishes.get(id).filter(|wish| wish.name.is_reserved() == branch.born.is_reserved());
        let wanted = wish.map_or(&branch.born, |wish| &wish.name);
        let prefix = if branch.born.is_reserved() { "" } else { prefix };
        let claim = Claim {
            name: fitting(&format!("{prefix}{wanted}"), ""),
            rank: wish.map_or(Rank::Born, |wish| wish.rank),
            head: hash_of(txn, branch.head)?,
            branch,
        };
        claims.push(claim);
    }
    claims.sort_by_key(|claim| (claim.rank, claim.head));
    for claim in claims {
        let Claim { branch, name, rank, head } = claim;
        let holder = names.holder(&name);
        let name = match holder {
            None => name,
            Some(holder) => {
                let holder = txn.lineage(holder)?;
                let held = Claim {
                    name: name.clone(),
                    rank: wishes
                        .get(&holder.id)
                        .filter(|wish| wish.name == name)
                        .map_or(Rank::Born, |wish| wish.rank),
                    head: hash_of(txn, holder.head)?,
                    branch: holder.clone(),
                };
                let is_better = (rank, head) < (held.rank, held.head);
                if rank != Rank::Born && is_better && may_swap(txn, &branch, &holder, moved)? {
                    let other = names.free(txn, &holder, &branch)?;
                    names.give(&holder, other);
                    name
                } else {
                    names.free(txn, &branch, &holder)?
                }
            }
        };
        names.give(&branch, name);
    }
    names.write(txn)
}

/// A branch and the name it would have.
struct Claim {
    branch: Branch,
    name: BranchName,
    rank: Rank,
    head: Hash,
}

/// How good a claim is; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Its head was exported under the name.
    Head,
    /// One of its events was.
    Passed,
    /// It was born with it.
    Born,
}

struct Ranked {
    name: BranchName,
    rank: Rank,
}

/// The best wish for each branch.
fn wishes_by_branch(
    txn: &dyn ReadTxn,
    wishes: &[Wish],
) -> Result<HashMap<LineageId, Ranked>, StoreError> {
    let mut best: HashMap<LineageId, Ranked> = HashMap::new();
    for Wish { name, head } in wishes {
        let Some(id) = txn.by_hash(head)? else { continue };
        let branch = txn.lineage(txn.known_event(id)?.lineage)?;
        let rank = if branch.head == Some(id) { Rank::Head } else { Rank::Passed };
        let ranked = Ranked { name: name.clone(), rank };
        let best = best.entry(branch.id).or_insert_with(|| Ranked { name: name.clone(), rank });
        if (ranked.rank, &ranked.name) < (best.rank, &best.name) {
            *best = ranked;
        }
    }
    Ok(best)
}

/// Whether `holder` came to its way past the point where `branch` left it by this import alone, so that
/// either could be the one that goes on.
fn may_swap(
    txn: &dyn ReadTxn,
    branch: &Branch,
    holder: &Branch,
    moved: &BTreeMap<LineageId, Option<EventId>>,
) -> Result<bool, StoreError> {
    let Some(before) = moved.get(&holder.id) else { return Ok(false) };
    let first = txn.event_at(branch.id, branch.fork_sequence() + 1)?;
    if first.is_none_or(|first| first.kind == EventType::Forked) || branch.born != holder.born {
        return Ok(false);
    }
    let left = branch.fork_point.map(|point| (point.lineage, point.sequence));
    let before = before.map(|id| txn.known_event(id)).transpose()?;
    Ok(match (left, before) {
        (None, None) => true,
        (Some((lineage, sequence)), before) => {
            lineage == holder.id && before.is_none_or(|before| before.sequence <= sequence)
        }
        (None, Some(_)) => false,
    })
}

fn hash_of(txn: &dyn ReadTxn, id: Option<EventId>) -> Result<Hash, StoreError> {
    id.map_or(Ok(Hash::ZERO), |id| Ok(txn.known_event(id)?.hash))
}

/// The names of all branches, and those that changed.
struct Names {
    holders: HashMap<BranchName, LineageId>,
    given: BTreeMap<LineageId, BranchName>,
}

impl Names {
    fn read(txn: &dyn ReadTxn, made: &BTreeSet<LineageId>) -> Result<Self, StoreError> {
        let named = txn.branches()?.into_iter().filter(|branch| !made.contains(&branch.id));
        let holders = named.map(|branch| (branch.name, branch.id)).collect();
        Ok(Self { holders, given: BTreeMap::new() })
    }

    fn holder(&self, name: &BranchName) -> Option<LineageId> {
        self.holders.get(name).copied()
    }

    fn give(&mut self, branch: &Branch, name: BranchName) {
        self.holders.insert(name.clone(), branch.id);
        self.given.insert(branch.id, name);
    }

    /// A free name for `branch`, which could have been called as `other` is.
    fn free(
        &self,
        txn: &dyn ReadTxn,
        branch: &Branch,
        other: &Branch,
    ) -> Result<BranchName, StoreError> {
        let digits = hex(&first_apart(txn, branch, other)?.0);
        let mut name = branch.name.clone();
        for count in DIGITS..=digits.len() {
            let suffix = format!(".from-{}", &digits[..count]);
            name = fitting(branch.born.as_str(), &suffix);
            if self.holder(&name).is_none() {
                break;
            }
        }
        Ok(name)
    }

    fn write(self, txn: &mut dyn WriteTxn) -> Result<(), StoreError> {
        // Those that give up a name come first: they were here before, so their numbers are lower.
        for (id, name) in self.given {
            txn.rename_branch(id, &name)?;
        }
        Ok(())
    }
}

/// `name` and `suffix`, with so much of `name` that both fit.
fn fitting(name: &str, suffix: &str) -> BranchName {
    // Names are ASCII.
    let kept = name.len().min(NAME_MAX - suffix.len());
    BranchName::stored(&[&name[..kept], suffix].concat())
}

/// The hash of the first event of the lineage of `branch` that is not in that of `other`; of its first
/// own event if all are.
fn first_apart(txn: &dyn ReadTxn, branch: &Branch, other: &Branch) -> Result<Hash, StoreError> {
    let base = branch::merge_base(txn, branch.head, other.head)?;
    let shared = base.map_or(0, |base| base.sequence).min(branch.head_sequence.saturating_sub(1));
    let mut at = branch.clone();
    while shared < at.fork_sequence() {
        let Some(point) = at.fork_point else { break };
        at = txn.lineage(point.lineage)?;
    }
    Ok(txn.event_at(at.id, shared + 1)?.map_or(Hash::ZERO, |event| event.hash))
}
