//! A context keeps to its budget and accounts for all of the state and the timeline.

use mk::id::EventId;
use mk::store::ReadTxn;
use mk::time::Timestamp;
use mk::tokens::Tokenizer;
use mk::workspace::context::{self, BUDGET_MIN};
use mk::workspace::{self, render};
use proptest::prelude::*;

use crate::engines;
use crate::history::{History, any_history, any_long_history, beginning, take_notes};
use crate::model::Model;
use crate::timeline::played;

/// Live events down to where the blocks of a context end: that of the oldest shown, and snapshots
/// before it, which have none.
fn reached(model: &Model, live: &[EventId], shown: usize) -> usize {
    let mut left = shown;
    let newest_first = live.iter().rev();
    newest_first
        .take_while(|id| {
            let goes_on = model.is_snapshot(**id) || left > 0;
            left -= usize::from(!model.is_snapshot(**id) && left > 0);
            goes_on
        })
        .count()
}

fn keeps_to(history: &History, budget: u64) -> Result<(), TestCaseError> {
    let (store, model) = played(history);
    for branch in &model.branches {
        let context =
            context::compose(&store, branch, budget, None, Timestamp::from_micros(0)).unwrap();
        prop_assert!(context.tokens <= budget, "{} of {budget}", context.tokens);
        prop_assert_eq!(context.tokens, Tokenizer::Heuristic.count(&context.text));

        let live = branch.head.map(|head| model.live(head)).unwrap_or_default();
        let lines: Vec<&str> =
            context.text.lines().filter(|line| !line.starts_with("    ")).collect();
        let blocks = lines.iter().filter(|line| line.starts_with("[#")).count();
        let closings = lines.iter().filter(|line| line.starts_with("[left out: ")).count();
        let records = lines.len() - blocks - closings;

        let left_out = &context.left_out;
        let state = workspace::state(&store, branch.head).unwrap();
        let all = render::sections(&state).len();
        prop_assert_eq!(left_out.records, (all - records) as u64, "{}", context.text);
        let reached = reached(&model, &live, blocks);
        prop_assert_eq!(left_out.events, (live.len() - reached) as u64, "{}", context.text);
        let cut = context.text.matches(" characters…] ").count();
        prop_assert_eq!(left_out.cut, cut as u64);
        let all_is_there = left_out.records + left_out.events + left_out.cut == 0;
        prop_assert_eq!(closings, usize::from(!all_is_there));
    }
    Ok(())
}

#[test]
fn a_branch_name_of_many_tokens_leaves_the_budget_as_it_is() {
    let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
    let name = ".x".repeat(63);
    take_notes(&mut store, &format!("b{name}"), 20).unwrap();
    let branch = store.branch(&format!("b{name}")).unwrap().unwrap();
    let context =
        context::compose(&store, &branch, BUDGET_MIN, None, Timestamp::from_micros(0)).unwrap();
    assert!(context.tokens <= BUDGET_MIN, "{}", context.text);
    assert!(context.text.ends_with("(mk log BRANCH); 0 shown in part (mk show ID)]"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_context_is_within_its_budget_and_says_what_it_leaves_out(
        history in any_history(),
        budget in prop_oneof![BUDGET_MIN..200, BUDGET_MIN..3_000],
    ) {
        keeps_to(&history, budget)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn so_it_is_when_there_is_much_to_leave_out(
        history in any_long_history(),
        budget in BUDGET_MIN..20_000,
    ) {
        keeps_to(&history, budget)?;
    }
}
