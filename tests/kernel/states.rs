//! Law 1: a fold may begin at any state it had, wherever that is kept.

use mk::id::EventId;
use mk::store::ReadTxn;
use mk::store::memory::Memory;
use mk::workspace::fold::State;
use mk::workspace::{self, snapshot, stored};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::history::{any_history, any_long_history};
use crate::model::Model;
use crate::timeline::played;

/// `state` after it was written and read.
fn read_back(state: &State) -> State {
    stored::read(&stored::write(state)).unwrap()
}

fn state_is_the_fold(store: &Memory, model: &Model, id: EventId) -> TestCaseResult {
    let state = workspace::state(store, Some(id)).unwrap();
    let folded = model.fold(&model.live(id));
    prop_assert_eq!(state.report(), folded.report());
    prop_assert_eq!(state.digest(), folded.digest());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_state_is_the_fold_of_its_timeline(history in any_history()) {
        let (store, model) = played(&history);
        for id in model.ids() {
            state_is_the_fold(&store, &model, id)?;
        }
    }

    #[test]
    fn the_fold_of_a_state_that_was_read_back_and_the_rest_is_the_fold_of_all(
        history in any_history(),
    ) {
        let (_, model) = played(&history);
        for (_, head) in model.heads() {
            let live = model.live(head);
            let all = model.fold(&live).report();
            for cut in 0..=live.len() {
                let (before, rest) = live.split_at(cut);
                let state = model.fold(before);
                let read = read_back(&state);
                prop_assert_eq!(read.report(), state.report());
                prop_assert_eq!(model.fold_onto(read, rest).report(), all.clone());
            }
        }
    }

    #[test]
    fn the_fold_of_a_snapshot_and_its_delta_is_the_fold_of_all_but_for_insights(
        history in any_history(),
    ) {
        let (store, model) = played(&history);
        for id in model.ids() {
            let live = model.live(id);
            let last = live.iter().copied().rfind(|id| model.is_snapshot(*id));
            let base = snapshot::base(&store, id).unwrap();
            prop_assert_eq!(base.as_ref().map(|base| base.event.id), last);
            let covered = base.as_ref().map_or(0, |base| base.covers_sequence);
            let mut delta = live.clone();
            delta.retain(|id| !model.is_snapshot(*id) && model.event(*id).sequence > covered);
            let read = snapshot::delta(&store, Some(id), base.as_ref()).unwrap();
            prop_assert!(read.iter().map(|event| event.id).eq(delta.iter().copied()));
            let sections = base.map(|base| base.state).unwrap_or_default();
            let state = model.fold_onto(sections, &delta);
            let all = model.fold(&live);
            prop_assert_eq!(state.report(), all.report());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_global_rejects: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_fold_of_a_checkpoint_and_the_rest_is_the_fold_of_all(history in any_long_history()) {
        let (store, model) = played(&history);
        let kept = |id: EventId| Some((id, store.checkpoint(id).unwrap()?));
        let checkpoints: Vec<(EventId, Vec<u8>)> = model.ids().filter_map(kept).collect();
        prop_assume!(!checkpoints.is_empty(), "no checkpoint was due");
        for (id, bytes) in checkpoints {
            let state = stored::read(&bytes).unwrap();
            prop_assert_eq!(state.report(), model.fold(&model.live(id)).report());
            for (_, head) in model.heads() {
                let live = model.live(head);
                let Some(at) = live.iter().position(|live| *live == id) else { continue };
                let all = model.fold_onto(state.clone(), &live[at + 1..]);
                prop_assert_eq!(all.report(), model.fold(&live).report());
            }
        }
        let heads = model.heads().map(|(_, head)| head);
        for id in heads.chain(model.ids().step_by(23)) {
            state_is_the_fold(&store, &model, id)?;
        }
    }
}
