//! Names of events, looked up fast and by reading lists.

use mk::code::{Code, Coded};
use mk::id::{BranchName, EventId, LineageId};
use mk::revision::{Revision, RevisionError};
use mk::store::memory::Memory;
use mk::time::Timestamp;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::history::{any_history, beginning};
use crate::model::Model;
use crate::timeline::played;

#[derive(Debug, Clone)]
enum Base {
    Branch(Index),
    Event(Index),
}

#[derive(Debug, Clone)]
enum Step {
    Back(usize),
    Sequence(usize),
    At(Timestamp),
}

fn any_step() -> impl Strategy<Value = Step> {
    let moment = |seconds: i64| Timestamp::from_micros(beginning().micros() + seconds * 1_000_000);
    prop_oneof![
        (0..12_usize).prop_map(Step::Back),
        (0..40_usize).prop_map(Step::Sequence),
        (-2..60_i64).prop_map(move |seconds| Step::At(moment(seconds))),
    ]
}

fn any_name() -> impl Strategy<Value = (Base, Vec<Step>)> {
    let base =
        prop_oneof![any::<Index>().prop_map(Base::Branch), any::<Index>().prop_map(Base::Event)];
    (base, proptest::collection::vec(any_step(), 0..3))
}

/// The event that the steps lead to, seen from a branch.
fn follow(
    model: &Model,
    seen_from: LineageId,
    from: Option<EventId>,
    steps: &[Step],
) -> Option<EventId> {
    let lineage = model.lineage_of(seen_from);
    steps.iter().try_fold(from?, |at, step| match step {
        Step::Back(back) => model.live(at).into_iter().rev().nth(*back),
        Step::Sequence(sequence) => {
            let end = usize::try_from(model.event(at).sequence).unwrap();
            lineage[..end].get(sequence.checked_sub(1)?).copied()
        }
        Step::At(time) => {
            model.live(at).into_iter().rfind(|id| model.event(*id).timestamp <= *time)
        }
    })
}

fn resolve(store: &Memory, text: &str) -> Result<EventId, RevisionError> {
    text.parse::<Revision>().unwrap().resolve(store, &BranchName::main())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn steps_lead_where_walking_leads(
        history in any_history(),
        names in proptest::collection::vec(any_name(), 32),
    ) {
        let (store, model) = played(&history);
        for (base, steps) in names {
            let (mut text, seen_from, from) = match base {
                Base::Branch(index) => {
                    let branch = index.get(&model.branches);
                    (branch.name.to_string(), branch.id, branch.head)
                }
                Base::Event(_) if model.events.is_empty() => continue,
                Base::Event(index) => {
                    let event = index.get(&model.events);
                    (event.id.to_string(), event.lineage, Some(event.id))
                }
            };
            for step in &steps {
                text.push_str(&match step {
                    Step::Back(back) => format!("~{back}"),
                    Step::Sequence(sequence) => format!("@{sequence}"),
                    Step::At(time) => format!("@{{{time}}}"),
                });
            }
            match (resolve(&store, &text), follow(&model, seen_from, from, &steps)) {
                (Ok(found), Some(expected)) => prop_assert_eq!(found, expected, "{}", text),
                (Err(error), None) => prop_assert_eq!(error.code(), Code::EVENT_NOT_FOUND),
                (found, expected) => prop_assert!(false, "{text}: {found:?}, not {expected:?}"),
            }
        }
    }

    #[test]
    fn a_prefix_of_a_hash_names_the_one_event_that_has_it(
        history in any_history(),
        prefixes in proptest::collection::vec((any::<Index>(), 4..=64_usize), 16),
        other in "[0-9a-f]{4,6}",
    ) {
        let (store, model) = played(&history);
        let hashes: Vec<String> =
            model.events.iter().map(|event| event.hash.to_string()).collect();
        let mut texts = vec![other];
        if !hashes.is_empty() {
            texts.extend(prefixes.iter().map(|(index, end)| index.get(&hashes)[..*end].to_owned()));
        }
        // Digits alone are an event id.
        texts.retain(|text| !text.bytes().all(|byte| byte.is_ascii_digit()));
        for text in texts {
            let fits: Vec<EventId> =
                model.ids().filter(|id| hashes[id.0 as usize - 1].starts_with(&text)).collect();
            match (resolve(&store, &text), fits.as_slice()) {
                (Ok(found), [expected]) => prop_assert_eq!(found, *expected),
                (Err(error), []) => prop_assert_eq!(error.code(), Code::EVENT_NOT_FOUND),
                (Err(error), [_, _, ..]) => prop_assert_eq!(error.code(), Code::AMBIGUOUS_EVENT),
                (found, _) => prop_assert!(false, "{text}: {found:?}, not {fits:?}"),
            }
        }
    }
}
