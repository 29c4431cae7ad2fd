//! What a history gives does not depend on the engine, nor on the numbers of events in this store.

use mk::branch;
use mk::id::{AgentId, EventId, Hash};
use mk::store::{Engine, ReadTxn, StoreError};
use mk::time::Timestamp;
use mk::workspace::{self, context};
use proptest::prelude::*;

use crate::engines::{self, File};
use crate::history::{
    APART, History, any_history, any_long_history, beginning, branches, play, take_notes,
};

/// Everything that a store can be asked for by rows, and what reads it.
fn everything(txn: &dyn ReadTxn) -> Result<Vec<String>, StoreError> {
    let mut told = vec![format!("{:?}", txn.log_head()?)];
    let last = txn.log_head()?.map_or(0, |(id, _)| id.0);
    for id in (1..=last).map(EventId) {
        let event = txn.known_event(id)?;
        let hash = event.hash.to_string();
        told.push(format!("{event:?} {:?}", txn.link(id)?));
        told.push(format!(
            "{:?} {:?} {:?} {:?} {:?}",
            txn.own_event(event.lineage, event.sequence)?,
            txn.own_event(event.lineage, event.sequence + 1)?,
            txn.with_prefix(&hash[..1], 3)?,
            txn.checkpoint_before(event.lineage, id)?,
            txn.checkpoint(id)?,
        ));
    }
    for branch in txn.branches()? {
        told.push(format!("{branch:?} {:?}", txn.lineage(branch.id)?));
        told.push(format!("{:?}", txn.branch_like(&branch.name.as_str().to_uppercase())?));
        told.push(format!("{:?}", workspace::state(txn, branch.head)?));
        told.push(context::full(txn, &branch)?.text);
        told.push(context::compose(txn, &branch, 1_000, None, Timestamp::from_micros(0))?.text);
    }
    Ok(told)
}

fn engines_agree(history: &History) -> Result<(), TestCaseError> {
    let agent: AgentId = "mk".parse().unwrap();
    let mut memory = engines::memory(beginning(), &agent);
    let mut file = File::new(beginning(), &agent);
    prop_assert_eq!(play(&mut memory, history), play(&mut *file, history));
    let in_memory: Vec<String> = memory.read(everything).unwrap();
    let in_file: Vec<String> = file.read(everything).unwrap();
    for (in_memory, in_file) in in_memory.iter().zip(&in_file) {
        prop_assert_eq!(in_memory, in_file);
    }
    prop_assert_eq!(in_memory.len(), in_file.len());
    Ok(())
}

/// Of every branch, what is the same on every machine.
type Lasting = Vec<(String, Vec<Hash>, Hash)>;

fn lasting(txn: &dyn ReadTxn) -> Result<Lasting, StoreError> {
    let of_branch = |branch: mk::store::Branch| {
        let lineage = branch::lineage(txn, branch.head, 0)?;
        let hash = |id: EventId| Ok(txn.known_event(id)?.hash);
        let hashes = lineage.into_iter().map(hash).collect::<Result<_, StoreError>>()?;
        let digest = workspace::state(txn, branch.head)?.digest();
        Ok((branch.name.to_string(), hashes, digest))
    };
    branches(txn)?.into_iter().map(of_branch).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn both_engines_answer_alike_and_keep_the_same(history in any_history()) {
        engines_agree(&history)?;
    }

    #[test]
    fn hashes_and_digests_do_not_depend_on_local_ids(history in any_history()) {
        let agent: AgentId = "mk".parse().unwrap();
        let mut plain = engines::memory(beginning(), &agent);
        play(&mut plain, &history);
        let mut shifted = engines::memory(beginning(), &agent);
        // Some events before, so that all later ones have other numbers.
        take_notes(&mut shifted, APART, 7).unwrap();
        play(&mut shifted, &history);
        let (plain, shifted) = (plain.read(lasting).unwrap(), shifted.read(lasting).unwrap());
        prop_assert_eq!(plain, shifted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn they_do_so_where_there_are_checkpoints(history in any_long_history()) {
        engines_agree(&history)?;
    }
}
