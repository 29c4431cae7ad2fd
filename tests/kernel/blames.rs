//! What a key stood for, against the states after each event of the timeline.

use mk::id::EventId;
use mk::workspace::blame::{Kind, blame};
use mk::workspace::fold::{DEPRECATED_MAX, State};
use proptest::prelude::*;

use crate::history::{AGENTS, any_history};
use crate::model::Model;
use crate::timeline::played;

fn source(state: &State, kind: Kind, key: &str) -> Option<EventId> {
    match kind {
        Kind::Decision => state.decisions.get(key).map(|it| it.event.id),
        Kind::Fact => state.facts.get(key).map(|it| it.event.id),
    }
}

/// The events that gave `key` a value or took it away, the newest first.
fn changes(model: &Model, live: &[EventId], kind: Kind, key: &str) -> Vec<EventId> {
    let mut state = State::default();
    let mut changes = Vec::new();
    for id in live {
        let before = source(&state, kind, key);
        state.apply(model.event(*id));
        if source(&state, kind, key) != before {
            changes.push(*id);
        }
    }
    changes.reverse();
    changes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_blame_tells_of_each_change_of_a_key(history in any_history(), most in 1..4_usize) {
        let (store, model) = played(&history);
        let keys = (0..4).map(|key| format!("k{key}")).chain(AGENTS.map(str::to_owned));
        let keys: Vec<String> = keys.collect();
        for (branch, head) in model.heads() {
            let live = model.live(head);
            let is_whole = model.fold(&live).deprecated.len() < DEPRECATED_MAX;
            for (key, kind) in keys.iter().flat_map(|key| [(key, Kind::Decision), (key, Kind::Fact)]) {
                let expected = changes(&model, &live, kind, key);
                let mut told = Vec::new();
                let mut at = Some(head);
                while let Some(from) = at {
                    let place = (branch.name.clone(), Some(from));
                    let Some(found) = blame(&store, place, Some(kind), key, most).unwrap() else {
                        break;
                    };
                    prop_assert!(found.values.len() <= most);
                    told.extend(found.values.iter().map(|it| it.event_id));
                    at = found.next.map(|next| next.at);
                }
                // What was retracted long ago is no longer among the deprecated assumptions.
                prop_assert_eq!(&expected[..told.len().min(expected.len())], &told[..]);
                prop_assert!(!is_whole || told == expected, "{key}: {told:?}, not {expected:?}");
            }
        }
    }
}
