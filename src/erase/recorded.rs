//! What is recorded as erased, here or wherever an event came from.

use std::collections::{BTreeMap, BTreeSet};

use crate::canon::{Object, Value};
use crate::event::{Event, EventType};
use crate::id::{BranchName, Hash};
use crate::store::{ReadTxn, StoreError};

/// The events that were erased, as the events that say so name them, each with what must be left of
/// it: by every record of its own, since two projects may have erased it.
#[derive(Debug, Default)]
pub struct Recorded(BTreeMap<Hash, BTreeSet<Option<String>>>);

impl Recorded {
    /// All that a store records, whether the events are there or not.
    ///
    /// # Errors
    /// Those of the store.
    pub fn read(txn: &dyn ReadTxn) -> Result<Self, StoreError> {
        let mut found = Self::default();
        for branch in
            txn.branches()?.into_iter().filter(|branch| branch.born.as_str() == BranchName::ERASE)
        {
            let mut sequence = branch.fork_sequence() + 1;
            while let Some(event) = txn.event_at(branch.id, sequence)? {
                found.note(event.members().as_ref());
                sequence += 1;
            }
        }
        Ok(found)
    }

    /// Takes in what an event of type `PAYLOAD_ERASED` says. Answers with the hash of its target, if it
    /// names one.
    pub(crate) fn note(&mut self, payload: Option<&Object>) -> Option<Hash> {
        let payload = payload?;
        let hash: Hash = payload.get("target_hash").and_then(Value::as_str)?.parse().ok()?;
        let structure = payload.get("structure").and_then(Value::as_object);
        self.0.entry(hash).or_default().insert(structure.map(Object::canonical));
        Some(hash)
    }

    pub(crate) fn join(&mut self, other: Self) {
        for (hash, left) in other.0 {
            self.0.entry(hash).or_default().extend(left);
        }
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = &Hash> {
        self.0.keys()
    }

    /// Why `event` may not be without content; none if a record fits it.
    ///
    /// A record that names something else to be left than its target has, or a record, erases nothing,
    /// wherever it came from: what it made of the log could not be verified.
    pub(crate) fn misfit(&self, event: &Event) -> Option<&'static str> {
        let Some(records) = self.0.get(&event.hash) else {
            return Some("its content is gone, and no event says that it was erased");
        };
        if event.kind == EventType::Erased {
            return Some("it records an erasure, which cannot be erased");
        }
        let mut left = event.clone();
        left.erase();
        match records.contains(&left.structure) {
            true => None,
            false => Some("what is left of it is not what its erasure says"),
        }
    }
}
