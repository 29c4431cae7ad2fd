//! How many tokens a text has for a language model.

use crate::text;
use std::fmt;
use std::str::FromStr;
use unicode_general_category::{GeneralCategory, get_general_category};

/// A way to count tokens, recorded with the numbers it gives.
///
/// Counts add up over lines: the count of a text is the sum of the counts of what
/// lies between its LFs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tokenizer {
    /// The count of MemKernel: 1.3 to 1.9 times what `cl100k_base` gives on tool output.
    ///
    /// Rule: docs/spec/kernel.md, section 1, "Token estimate".
    #[default]
    Heuristic,
}

impl Tokenizer {
    /// The number of tokens in `text`.
    #[must_use]
    pub fn count(self, text: &str) -> u64 {
        match self {
            Self::Heuristic => heuristic::count(text),
        }
    }

    /// The name that [`fmt::Display`] writes and [`FromStr`] reads.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Heuristic => "heuristic",
        }
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a tokenizer's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tokenizer '{0}'")]
pub struct UnknownTokenizer(pub String);

impl FromStr for Tokenizer {
    type Err = UnknownTokenizer;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        [Self::Heuristic]
            .into_iter()
            .find(|tokenizer| tokenizer.name() == name)
            .ok_or_else(|| UnknownTokenizer(name.to_owned()))
    }
}

/// The count of MemKernel, as an automaton that takes a step a character.
///
/// A piece counts when it begins, a run of letters again at every fourth character
/// after. So the state only says where in a piece the last character stands.
mod heuristic {
    use super::{GeneralCategory, get_general_category, text};

    /// The kinds of character the rule tells apart.
    #[derive(Clone, Copy)]
    enum Kind {
        White,
        /// L*
        Letter,
        /// Nl, No: goes on with a run of letters, or begins a run that counts 1.
        Number,
        /// Nd
        Digit,
        Other,
    }

    /// A state is an offset in bits into a row of steps, a multiple of [`WIDTH`].
    type State = u64;

    const WIDTH: u64 = 6;
    // The states whose last character adds 1 to the count come first.
    const OTHER: State = 0;
    const LETTER_1: State = WIDTH;
    const DIGIT_1: State = 2 * WIDTH;
    const NUMBER_1: State = 3 * WIDTH;
    const FIRST_UNCOUNTED: State = 4 * WIDTH;
    /// Also after the third digit of a piece: like white space it leaves nothing open.
    const OUTSIDE: State = FIRST_UNCOUNTED;
    const LETTER_2: State = 5 * WIDTH;
    const LETTER_3: State = 6 * WIDTH;
    const LETTER_4: State = 7 * WIDTH;
    const DIGIT_2: State = 8 * WIDTH;
    const NUMBER_MORE: State = 9 * WIDTH;

    /// The state after a character of `kind` in `state`.
    const fn step(state: State, kind: Kind) -> State {
        match (kind, state) {
            (Kind::White, _) => OUTSIDE,
            (Kind::Other, _) => OTHER,
            (Kind::Letter | Kind::Number, LETTER_1) => LETTER_2,
            (Kind::Letter | Kind::Number, LETTER_2) => LETTER_3,
            (Kind::Letter | Kind::Number, LETTER_3) => LETTER_4,
            (Kind::Letter | Kind::Number, LETTER_4) => LETTER_1,
            (Kind::Letter | Kind::Number, NUMBER_1 | NUMBER_MORE) => NUMBER_MORE,
            (Kind::Letter, _) => LETTER_1,
            (Kind::Number, _) => NUMBER_1,
            (Kind::Digit, DIGIT_1) => DIGIT_2,
            (Kind::Digit, DIGIT_2) => OUTSIDE,
            (Kind::Digit, _) => DIGIT_1,
        }
    }

    /// The steps of a kind from all states, each at the offset of its state: one shift
    /// makes a step, a dependent look-up in a table would take three times as long.
    const fn row(kind: Kind) -> u64 {
        let mut row = 0;
        let mut state = 0;
        while state <= NUMBER_MORE {
            row |= step(state, kind) << state;
            state += WIDTH;
        }
        row
    }

    const ROWS: [u64; 5] = [
        row(Kind::White),
        row(Kind::Letter),
        row(Kind::Number),
        row(Kind::Digit),
        row(Kind::Other),
    ];

    /// The row of each ASCII character.
    const ASCII_ROWS: [u64; 128] = {
        let mut rows = [0; 128];
        let mut byte = 0;
        while byte < 128 {
            let c = byte as u8;
            rows[byte] = ROWS[if text::is_white(c as char) {
                Kind::White
            } else if c.is_ascii_alphabetic() {
                Kind::Letter
            } else if c.is_ascii_digit() {
                Kind::Digit
            } else {
                Kind::Other
            } as usize];
            byte += 1;
        }
        rows
    };

    pub(super) fn count(text: &str) -> u64 {
        let mut state = OUTSIDE;
        let mut count = 0;
        let mut take = |row: u64| {
            state = (row >> state) & ((1 << WIDTH) - 1);
            count += u64::from(state < FIRST_UNCOUNTED);
        };
        let mut rest = text;
        loop {
            let ascii = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            rest.as_bytes()[..ascii].iter().for_each(|&byte| take(ASCII_ROWS[usize::from(byte)]));
            let mut chars = rest[ascii..].chars();
            let Some(c) = chars.next() else { return count };
            take(ROWS[kind(c) as usize]);
            rest = chars.as_str();
        }
    }

    fn kind(c: char) -> Kind {
        use GeneralCategory as Gc;
        if text::is_white(c) {
            return Kind::White;
        }
        match get_general_category(c) {
            Gc::UppercaseLetter
            | Gc::LowercaseLetter
            | Gc::TitlecaseLetter
            | Gc::ModifierLetter
            | Gc::OtherLetter => Kind::Letter,
            Gc::LetterNumber | Gc::OtherNumber => Kind::Number,
            Gc::DecimalNumber => Kind::Digit,
            _ => Kind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    const ALL: [Tokenizer; 1] = [Tokenizer::Heuristic];

    /// Texts with runs of each kind of character.
    fn mixed() -> impl Strategy<Value = String> {
        let run = prop_oneof![
            "[a-zA-Zé中]{1,9}",
            "[0-9\u{660}]{1,7}",
            "[²½Ⅷ]{1,2}",
            "[ \t\n\u{1f}\u{a0}]{1,3}",
            "[_.,:\"'/=\u{301}\u{200b}🙂-]{1,3}",
            any::<String>(),
        ];
        prop::collection::vec(run, 0..12).prop_map(|runs| runs.concat())
    }

    /// Section 1 word for word.
    fn heuristic_slowly(text: &str) -> u64 {
        let in_category = |c: char, prefixes: &[&str]| {
            let category = get_general_category(c).abbreviation();
            prefixes.iter().any(|prefix| category.starts_with(prefix))
        };
        let run = |text: &[char], prefixes: &[&str]| {
            text.iter().take_while(|&&c| in_category(c, prefixes)).count()
        };
        let chars: Vec<char> = text.chars().collect();
        let mut rest = &chars[..];
        let mut count = 0;
        while let Some(&first) = rest.first() {
            let letters = run(rest, &["L", "Nl", "No"]);
            let digits = run(rest, &["Nd"]).min(3);
            let (length, cost) = if text::is_white(first) {
                (1, 0)
            } else if letters > 0 {
                (letters, if in_category(first, &["L"]) { letters.div_ceil(4) } else { 1 })
            } else if digits > 0 {
                (digits, 1)
            } else {
                (1, 1)
            };
            rest = &rest[length..];
            count += cost;
        }
        count as u64
    }

    #[test]
    fn the_recorded_counts_come_out() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/kernel/unit/tokens.jsonl");
        let cases = std::fs::read_to_string(path).unwrap();
        for case in cases.lines() {
            let case: Value = serde_json::from_str(case).unwrap();
            let text = case["text"].as_str().unwrap();
            assert_eq!(Tokenizer::Heuristic.count(text), case["tokens"], "{case}");
        }
    }

    #[test]
    fn a_name_reads_back() {
        for tokenizer in ALL {
            assert_eq!(tokenizer.to_string().parse(), Ok(tokenizer));
        }
        let error = "Heuristic".parse::<Tokenizer>().unwrap_err();
        assert_eq!(error.to_string(), "unknown tokenizer 'Heuristic'");
    }

    proptest! {
        #[test]
        fn the_automaton_counts_as_the_rule_says(text in mixed()) {
            prop_assert_eq!(Tokenizer::Heuristic.count(&text), heuristic_slowly(&text));
        }

        #[test]
        fn counts_add_up_over_lines(lines in prop::collection::vec(mixed(), 0..6)) {
            let text = lines.join("\n");
            for tokenizer in ALL {
                let sum: u64 = text.split('\n').map(|line| tokenizer.count(line)).sum();
                prop_assert_eq!(tokenizer.count(&text), sum, "{}", tokenizer);
            }
        }
    }
}
