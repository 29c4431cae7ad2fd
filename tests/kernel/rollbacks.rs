//! Rollback and undo: what they revert, and whose work they refuse to revert.

use mk::branch::{self, Act, BranchError, Reverted, RolledBack};
use mk::canon::Object;
use mk::event::EventType;
use mk::id::{AgentId, BranchName, EventId};
use mk::log::{Log, Outside};
use mk::store::Engine;
use mk::store::memory::Memory;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::engines::Salts;
use crate::history::{AGENTS, any_history, beginning};
use crate::model::Model;
use crate::timeline::played;

/// Does it on a copy of `store`, which is answered too.
fn on_copy(
    store: &Memory,
    agent: &str,
    deed: impl FnOnce(&mut Log<'_>, Act<'_>, &mut Outside<'_>) -> Result<RolledBack, BranchError>,
) -> (Memory, Result<RolledBack, BranchError>) {
    let (mut copy, agent) = (store.clone(), agent.parse::<AgentId>().unwrap());
    let (mut salts, now) = (Salts::default(), beginning());
    let done = copy.write(|txn| {
        let act = Act { agent: &agent, reason: "", metadata: Object::new() };
        let mut outside = Outside { now: &mut || now, salt: &mut || salts.next() };
        deed(&mut Log::open(txn)?, act, &mut outside)
    });
    (copy, done)
}

fn roll_back(
    store: &Memory,
    name: &BranchName,
    target: EventId,
    agent: &str,
    include_others: bool,
) -> (Memory, Result<RolledBack, BranchError>) {
    on_copy(store, agent, |log, act, outside| {
        let target = target.to_string().parse().unwrap();
        branch::rollback(log, name, &target, include_others, act, outside)
    })
}

/// Where an undo of the last `count` events of `agent` goes back to; none if it must be refused.
fn undone_to(model: &Model, live: &[EventId], agent: &str, count: u64) -> Option<EventId> {
    let (mut left, mut rest) = (count, live);
    while left > 0 {
        let (last, before) = rest.split_last()?;
        let kind = model.event(*last).kind;
        if kind != EventType::Snapshot && model.agent(*last) != agent {
            return None;
        }
        let is_record = [EventType::Snapshot, EventType::Forked, EventType::RolledBack];
        left -= u64::from(!is_record.contains(&kind));
        rest = before;
    }
    rest.last().copied()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_rollback_keeps_what_is_live_up_to_its_target_and_names_whose_work_is_in_the_way(
        history in any_history(),
        tries in prop::collection::vec((any::<Index>(), any::<Index>(), select(&AGENTS[..])), 12),
    ) {
        let (store, model) = played(&history);
        let heads: Vec<_> = model.heads().collect();
        for (branch, target, agent) in tries.iter().filter(|_| !heads.is_empty()) {
            let (branch, head) = branch.get(&heads);
            let live = model.live(*head);
            let (kept, reverted) = live.split_at(target.index(live.len()) + 1);
            let target = kept[kept.len() - 1];
            let of_others = |id: &EventId| !model.is_snapshot(*id) && model.agent(*id) != *agent;
            let others: Vec<EventId> = reverted.iter().copied().filter(of_others).rev().collect();

            let (_, done) = roll_back(&store, &branch.name, target, agent, false);
            match done {
                Ok(_) => prop_assert!(others.is_empty(), "{others:?} were reverted"),
                Err(BranchError::OthersReverted(found)) => {
                    let mut agents: Vec<&str> = others.iter().map(|id| model.agent(*id)).collect();
                    agents.sort_unstable();
                    agents.dedup();
                    prop_assert!(found.agents.iter().map(AgentId::as_str).eq(agents));
                    prop_assert_eq!(&found.events[..], &others[..others.len().min(20)]);
                    prop_assert_eq!((found.count, found.more), (others.len() as u64, false));
                    prop_assert!(!others.is_empty());
                }
                Err(other) => prop_assert!(false, "{other}"),
            }

            let (after, done) = roll_back(&store, &branch.name, target, agent, true);
            let done = done.unwrap();
            let expected = Reverted::All { reverted_event_ids: reverted.to_vec() };
            prop_assert_eq!(&done.reverted, &expected);
            prop_assert_eq!(done.reverted_count, reverted.len() as u64);
            let mut left = branch::live(&after, Some(done.event.event_id), 0).unwrap();
            prop_assert_eq!(left.remove(0), done.event.event_id);
            left.reverse();
            prop_assert_eq!(&left[..], kept);
        }
    }

    #[test]
    fn what_is_not_live_cannot_be_rolled_back_to(history in any_history(), pick in any::<Index>()) {
        let (store, model) = played(&history);
        for (branch, head) in model.heads() {
            let live = model.live(head);
            let others: Vec<EventId> = model.ids().filter(|id| !live.contains(id)).collect();
            if others.is_empty() {
                continue;
            }
            let (_, done) = roll_back(&store, &branch.name, *pick.get(&others), "ann", true);
            prop_assert!(matches!(done, Err(BranchError::NotLive { .. })), "{done:?}");
        }
    }

    #[test]
    fn an_undo_takes_back_the_agents_own_last_events_or_nothing(
        history in any_history(),
        counts in prop::collection::vec(0..5_u64, 2),
    ) {
        let (store, model) = played(&history);
        for (branch, head) in model.heads() {
            let live = model.live(head);
            for agent in AGENTS {
                for count in &counts {
                    let (_, done) = on_copy(&store, agent, |log, act, outside| {
                        branch::undo(log, &branch.name, *count, act, outside)
                    });
                    match (done, undone_to(&model, &live, agent, *count)) {
                        (Ok(done), target) => prop_assert_eq!(Some(done.target_event_id), target),
                        (Err(BranchError::NothingToUndo { .. }), None) => {}
                        (Err(error), target) => prop_assert!(false, "{error}, not {target:?}"),
                    }
                }
            }
        }
    }
}
