//! Insights: what is carried from notes into snapshots.
//!
//! Rule: docs/spec/kernel.md, section 11, step 4.

use crate::text;
use crate::workspace::snapshot::{INSIGHT_LENGTH_MAX, INSIGHTS_MAX};

/// Newest notes that become insights if nobody summarizes them.
pub const NOTES: usize = 3;

/// Most new insights of a summarizer in one run.
pub const NEW_MAX: usize = 5;

/// `insight` on one line, without control characters, and cut.
#[must_use]
pub fn clean(insight: &str) -> String {
    let printable = |c: char| match c {
        '\t' | '\n' => c,
        '\0'..='\u{1f}' | '\u{7f}' => ' ',
        c => c,
    };
    let mut out = String::with_capacity(insight.len().min(4 * INSIGHT_LENGTH_MAX));
    for word in insight.split(|c| text::is_white(printable(c))).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    text::head_chars(&out, INSIGHT_LENGTH_MAX).to_owned()
}

/// `old`, then the cleaned ones of `new` that are not there yet; the newest of them.
#[must_use]
pub fn join<'a>(mut old: Vec<String>, new: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    for insight in new.into_iter().map(clean) {
        if !insight.is_empty() && !old.contains(&insight) {
            old.push(insight);
        }
    }
    old.split_off(old.len().saturating_sub(INSIGHTS_MAX))
}
