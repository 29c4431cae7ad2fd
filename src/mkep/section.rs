//! A context for an agent with a section about a goal: the required gates that are still pending.
//!
//! Rule: docs/spec/mkep.md, section 24; docs/design.md, section 10.

use super::fold::gate_report;
use super::json::{Json, Members, object};
use super::ledger::Ledger;
use crate::notice::Topic;
use crate::store::{Branch, ReadTxn, StoreError};
use crate::time::Timestamp;
use crate::workspace::context::{self, Context};

/// Most gates of the section.
const GATES_MAX: usize = 8;
/// Most of its own tokens that the section takes, whatever its budget is.
const TOKENS_MAX: u64 = 400;

/// What a context spends on a goal.
#[derive(Debug, Clone, Copy)]
pub struct Share<'a> {
    pub goal: &'a str,
    /// Tokens, above 0.
    pub budget: u64,
}

/// A context of at most `budget` tokens, of which all but those of `share` are for the branch. It ends
/// with the section, if a gate fits.
///
/// Nothing in the section depends on a clock. It is advice: a gate stops nobody.
///
/// # Errors
/// Those of the store.
pub fn compose(
    txn: &dyn ReadTxn,
    branch: &Branch,
    budget: u64,
    share: Share<'_>,
    topic: Option<&Topic>,
    now: Timestamp,
) -> Result<Context, StoreError> {
    let rest = budget.saturating_sub(share.budget);
    let mut context = context::compose(txn, branch, rest, topic, now)?;
    let tokenizer = txn.identity()?.tokenizer;
    let mut ledger = Ledger::default();
    let goal = ledger.seen(txn, share.goal)?;
    let pending = goal.gates.iter().filter(|(_, gate)| gate.is_required());
    let pending = pending.filter(|(_, gate)| gate.status == "pending");
    let mut taken: Vec<Members> = Vec::new();
    for (name, gate) in pending {
        taken.push(gate_report(name, gate));
        let text = with_section(&context.text, share.goal, &taken);
        let fits = taken.len() <= GATES_MAX
            && estimate(&taken) <= share.budget.min(TOKENS_MAX)
            && tokenizer.count(&text) <= budget;
        if !fits {
            taken.pop();
        }
    }
    if !taken.is_empty() {
        context.text = with_section(&context.text, share.goal, &taken);
        context.tokens = tokenizer.count(&context.text);
    }
    context.budget = Some(budget);
    Ok(context)
}

fn with_section(text: &str, goal: &str, gates: &[Members]) -> String {
    let mut out = text.to_owned();
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("EXECUTION {goal}: required gates still pending (advisory)"));
    for gate in gates {
        out.push_str("\n    ");
        out.push_str(&gate.sorted_line());
    }
    out
}

/// The tokens of the section by the protocol's own count: bytes of JSON, four to a token.
fn estimate(gates: &[Members]) -> u64 {
    let sections = object([("execution", gates.to_vec().into())]);
    let whole = object([("sections", sections.into()), ("sources", Json::List(Vec::new()))]);
    (whole.sorted_line().len() as u64).div_ceil(4)
}
