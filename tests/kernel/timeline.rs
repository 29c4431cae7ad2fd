//! Lineages and live timelines: what the index answers is what the folds over plain lists give.

use mk::branch;
use mk::id::EventId;
use mk::lineage::{self, Link};
use mk::store::memory::Memory;
use mk::store::{Branch, ReadTxn, StoreError};
use mk::workspace::context;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::engines;
use crate::history::{History, any_history, beginning, play};
use crate::model::Model;

/// The store after a history, and the same as a list.
pub fn played(history: &History) -> (Memory, Model) {
    let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
    play(&mut store, history);
    let model = Model::read(&store);
    (store, model)
}

fn link_of(store: &Memory) -> impl FnMut(EventId) -> Result<Link, StoreError> + '_ {
    |id| store.link(id)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// The live timeline is a left fold over the lineage, and so is all that stands in a link.
    #[test]
    fn a_link_holds_what_the_live_timeline_adds_up_to(history in any_history()) {
        let (store, model) = played(&history);
        for id in model.ids() {
            let live = model.live(id);
            let link = store.link(id).unwrap();
            let mut walked = branch::live(&store, Some(id), 0).unwrap();
            walked.reverse();
            prop_assert_eq!(&walked, &live);
            prop_assert_eq!(link.lineage, model.event(id).lineage);
            prop_assert_eq!(link.live_parent, live.iter().rev().nth(1).copied());
            prop_assert_eq!(link.depth, live.len() as u64);
            prop_assert_eq!(link.tokens, model.tokens(&live));
            let at = Branch { head: Some(id), ..store.branch("main").unwrap().unwrap() };
            prop_assert_eq!(link.context, context::full(&store, &at).unwrap().tokens);
            let is_snapshot = |id: &EventId| model.is_snapshot(*id);
            prop_assert_eq!(link.snapshot, live.iter().copied().rfind(is_snapshot));
            let by_agents: Vec<EventId> =
                live.iter().copied().filter(|id| !model.is_snapshot(*id)).collect();
            let other = by_agents.last().and_then(|newest| {
                by_agents.iter().rfind(|id| model.agent(**id) != model.agent(*newest))
            });
            prop_assert_eq!(link.other, other.copied());
            let author = branch::author(&store, model.event(id)).unwrap();
            prop_assert_eq!(author.map(|(id, _)| id), by_agents.last().copied());
        }
    }

    /// Every live ancestor is found by its depth, and nothing else is live.
    #[test]
    fn the_live_ancestors_of_an_event_are_found_by_depth_and_by_id(history in any_history()) {
        let (store, model) = played(&history);
        for id in model.ids() {
            let (live, from) = (model.live(id), store.linked(id).unwrap());
            for (depth, ancestor) in (1..).zip(&live) {
                let found = lineage::at_depth(from, depth, link_of(&store)).unwrap();
                prop_assert_eq!(found.map(|(id, _)| id), Some(*ancestor));
            }
            for depth in [0, live.len() as u64 + 1] {
                prop_assert_eq!(lineage::at_depth(from, depth, link_of(&store)).unwrap(), None);
            }
            for other in model.ids() {
                let is_live = lineage::is_live(from, other, link_of(&store)).unwrap();
                prop_assert_eq!(is_live, live.contains(&other));
                let older = |(id, _): &lineage::Linked| Ok::<_, StoreError>(*id <= other);
                let reached = lineage::first_reached(from, link_of(&store), older).unwrap();
                let last = live.iter().copied().rfind(|id| *id <= other);
                prop_assert_eq!(reached.map(|(id, _)| id), last);
            }
        }
    }

    /// A fork copies nothing: the lineage by predecessors is the parent's up to the fork point and
    /// then the branch's own events.
    #[test]
    fn a_branch_goes_on_from_its_fork_point(history in any_history()) {
        let (store, model) = played(&history);
        for (branch, head) in model.heads() {
            let lineage = model.lineage(head);
            prop_assert_eq!(&lineage, &model.lineage_of(branch.id));
            for above in 0..=lineage.len() {
                let mut walked = branch::lineage(&store, Some(head), above as u64).unwrap();
                walked.reverse();
                prop_assert_eq!(&walked[..], &lineage[above..]);
            }
            for id in model.ids() {
                let contains = branch::contains(&store, branch, model.event(id)).unwrap();
                prop_assert_eq!(contains, lineage.contains(&id));
            }
        }
    }

    /// Whatever the clock does, and along lineages as along the log.
    #[test]
    fn along_a_lineage_sequences_count_up_times_never_fall_and_hashes_chain(
        history in any_history(),
    ) {
        let (_, model) = played(&history);
        for (branch, head) in model.heads() {
            let (mut before, mut sequence) = (None, 0);
            for id in model.lineage(head) {
                let event = model.event(id);
                sequence += 1;
                prop_assert_eq!(event.sequence, sequence);
                prop_assert!(before.is_none_or(|before| before < id));
                if let Some(before) = before {
                    prop_assert!(model.event(before).timestamp <= event.timestamp);
                }
                let content = event.content.as_ref().map(|content| content.digest());
                prop_assert_eq!(content, Some(event.body));
                prop_assert_eq!(event.hash, event.expected_hash(&model.hash(before)));
                before = Some(id);
            }
            prop_assert_eq!(branch.head_sequence, sequence);
        }
    }

    /// What two timelines share: on lineages for a merge base, on live ones for a range.
    #[test]
    fn two_timelines_share_what_the_lists_of_both_share(history in any_history()) {
        let (store, model) = played(&history);
        let heads = model.heads().map(|(_, head)| head);
        let sides: Vec<EventId> = heads.chain(model.ids().step_by(7)).collect();
        for a in &sides {
            for b in &sides {
                shared(&store, &model, *a, *b)?;
            }
        }
    }
}

fn shared(store: &Memory, model: &Model, a: EventId, b: EventId) -> TestCaseResult {
    let base = branch::merge_base(store, Some(a), Some(b)).unwrap();
    let (of_a, of_b) = (model.lineage(a), model.lineage(b));
    let common = of_a.iter().zip(&of_b).take_while(|(a, b)| a == b).last();
    prop_assert_eq!(base.map(|event| event.id), common.map(|(id, _)| *id));
    let (left, right) = (store.linked(a).unwrap(), store.linked(b).unwrap());
    let base = lineage::live_base(left, right, link_of(store)).unwrap();
    let (of_a, of_b) = (model.live(a), model.live(b));
    let common = of_b.iter().copied().rfind(|id| of_a.contains(id));
    prop_assert_eq!(base.map(|(id, _)| id), common);
    // `A..B` is walked from B down to there.
    let mut range = branch::live(store, Some(b), base.map_or(0, |(_, link)| link.depth)).unwrap();
    range.reverse();
    let difference: Vec<EventId> = of_b.into_iter().filter(|id| !of_a.contains(id)).collect();
    prop_assert_eq!(range, difference);
    Ok(())
}
