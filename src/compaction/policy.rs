//! When a branch is compacted, and how far down.

use crate::store::{ReadTxn, StoreError};

/// Tokens of a context text above which it is compacted, if nothing else is set.
pub const DEFAULT_THRESHOLD: u64 = 4_000;

/// Newest events that stay as they are, if nothing else is set.
pub const DEFAULT_RETAIN_EVENTS: u64 = 4;

/// Largest number of tokens or events in a setting.
pub const NUMBER_MAX: u64 = 1_000_000_000;

/// How a branch is compacted. All numbers but that of events are tokens of the store's tokenizer.
///
/// Rule: docs/spec/kernel.md, section 11.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Whether writes are followed by it.
    pub auto: bool,
    /// The high-water mark: a context text of at most so much is left alone. At least 1.
    pub threshold: u64,
    /// The low-water mark: events that would stay give way until the context text is down to this.
    pub low_water: u64,
    /// Newest events that stay, if they are not too large.
    pub retain_events: u64,
    /// Most tokens of the events that stay.
    pub retain_tokens: u64,
    /// Tokens that must be won.
    pub min_gain: u64,
}

impl Policy {
    /// The policy with this threshold and what follows from it.
    #[must_use]
    pub fn with_threshold(threshold: u64) -> Self {
        Self {
            auto: true,
            threshold,
            low_water: threshold / 2,
            retain_events: DEFAULT_RETAIN_EVENTS,
            retain_tokens: threshold / 2,
            min_gain: threshold / 4,
        }
    }

    /// That of the settings `gc.*` of the store.
    ///
    /// # Errors
    /// Those of the store; a setting that is no number in its range counts as damage.
    pub fn read(txn: &dyn ReadTxn) -> Result<Self, StoreError> {
        let default = Self::with_threshold(threshold(txn)?);
        Ok(Self {
            auto: txn.setting("gc.auto")?.as_deref() != Some("off"),
            threshold: default.threshold,
            low_water: number(txn, "gc.low-water", 0, default.low_water)?,
            retain_events: number(txn, "gc.retain-events", 0, default.retain_events)?,
            retain_tokens: number(txn, "gc.retain-tokens", 0, default.retain_tokens)?,
            min_gain: number(txn, "gc.min-gain", 0, default.min_gain)?,
        })
    }

    /// Whether a context text that grew from `before` to `after` is worth an attempt. `left` is what
    /// the last compaction left of it; 0 if there was none.
    ///
    /// An attempt costs as much as the state is large, and gains nothing where the state alone is over
    /// the threshold. So there is one when the text grows past one of these marks: the threshold, or
    /// `left` and the minimal gain, whichever is more; and from there 1, 3, 7, 15 … minimal gains on.
    /// After an attempt without gain, the next comes when twice as much is new.
    #[must_use]
    pub fn is_due(&self, before: u64, after: u64, left: u64) -> bool {
        let first = self.threshold.max(left.saturating_add(self.min_gain));
        let passed = |tokens: u64| {
            let above = tokens.saturating_sub(first).div_ceil(self.min_gain.max(1));
            above.checked_ilog2().map_or(0, |marks| marks + 1)
        };
        self.auto && passed(after) > passed(before)
    }
}

/// The threshold that the settings of the store set.
///
/// # Errors
/// As [`Policy::read`].
pub(super) fn threshold(txn: &dyn ReadTxn) -> Result<u64, StoreError> {
    number(txn, "gc.threshold", 1, DEFAULT_THRESHOLD)
}

fn number(txn: &dyn ReadTxn, name: &str, least: u64, default: u64) -> Result<u64, StoreError> {
    let Some(text) = txn.setting(name)? else { return Ok(default) };
    let number = text.parse().ok().filter(|it| (least..=NUMBER_MAX).contains(it));
    number.ok_or_else(|| StoreError::damaged(format!("the setting {name} is '{text}'")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The marks one by one.
    fn marks_below(policy: &Policy, left: u64, tokens: u64) -> usize {
        let first = policy.threshold.max(left + policy.min_gain);
        let step = policy.min_gain.max(1);
        (0..40).take_while(|mark| tokens > first + step * ((1 << mark) - 1)).count()
    }

    proptest! {
        #[test]
        fn an_attempt_is_due_when_a_mark_is_passed(
            threshold in 1..9_000_u64,
            min_gain in 0..3_000_u64,
            left in 0..20_000_u64,
            before in 0..60_000_u64,
            growth in 0..9_000_u64,
        ) {
            let policy = Policy { min_gain, ..Policy::with_threshold(threshold) };
            let after = before + growth;
            let passed = marks_below(&policy, left, after) > marks_below(&policy, left, before);
            prop_assert_eq!(policy.is_due(before, after, left), passed);
            prop_assert!(!passed || after > threshold);
        }
    }

    #[test]
    fn without_gain_the_attempts_become_rare() {
        let policy = Policy::with_threshold(4_000);
        let attempts = (0..1_000_000).step_by(50).filter(|at| policy.is_due(*at, at + 50, 0));
        assert_eq!(
            attempts.collect::<Vec<_>>(),
            [4_000, 5_000, 7_000, 11_000, 19_000, 35_000, 67_000, 131_000, 259_000, 515_000]
        );
    }
}
