//! The count of MemKernel, as an automaton that takes a step a character.
//!
//! A piece counts when it begins, a run of letters again at every fourth character
//! after. So the state only says where in a piece the last character stands.

use unicode_general_category::{GeneralCategory, get_general_category};

use crate::text;

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

const ROWS: [u64; 5] =
    [row(Kind::White), row(Kind::Letter), row(Kind::Number), row(Kind::Digit), row(Kind::Other)];

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
