//! Why a text is no JSON, and where.

use super::writer::write_escape;
use super::{MAX_DEPTH, MAX_INT_DIGITS};

/// Why a text was refused, and where.
///
/// Its message is one line of less than 300 bytes without control characters, whatever the
/// text held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {path} (byte {offset}): {kind}")]
pub struct JsonError {
    /// The value at fault, or the object whose member is: `$` is the root, `$.facts["a b"][3]`
    /// an item in it. At most 164 bytes: `…` stands for the rest of a long key, and for the
    /// middle of a long path.
    pub path: String,
    /// Where in the text the fault is, in bytes from 0.
    pub offset: usize,
    /// What the fault is.
    pub kind: JsonErrorKind,
}

/// What is wrong with a text. What the variants quote, they hold in full; messages shorten it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonErrorKind {
    /// The text begins with U+FEFF.
    #[error("a byte order mark stands before the text")]
    ByteOrderMark,
    /// A byte that no UTF-8 text has there; encoded surrogates are such bytes.
    #[error("byte 0x{byte:02x} is not UTF-8")]
    InvalidUtf8 {
        /// The first of the bytes that are not UTF-8
        byte: u8,
    },
    /// The text ends in the middle.
    #[error("the text ends where {wanted} should be")]
    UnexpectedEnd {
        /// What could have stood there
        wanted: &'static str,
    },
    /// A character that cannot stand there.
    #[error("found '{}' where {wanted} should be", abridged(.found.encode_utf8(&mut [0; 4])))]
    Unexpected {
        /// The character
        found: char,
        /// What could have stood there
        wanted: &'static str,
    },
    /// A word other than `null`, `true` and `false`.
    #[error("'{}' is no JSON value", abridged(.word))]
    UnknownWord {
        /// The word
        word: String,
    },
    /// A number against the grammar: `01`, `1.`, `.5`, `+1`, `0x1f`.
    #[error("'{}' is no JSON number", abridged(.text))]
    MalformedNumber {
        /// What stands for the number
        text: String,
    },
    /// `NaN`, `Infinity` or either behind a `-`.
    #[error("{name} is not finite, and so no JSON number")]
    NotFinite {
        /// What stands for the number
        name: String,
    },
    /// A number with a fraction or exponent that rounds to an infinity.
    #[error("'{}' is beyond the range of a double", abridged(.text))]
    DoubleOverflow {
        /// The number as written
        text: String,
    },
    /// An integer of more than [`MAX_INT_DIGITS`] digits.
    #[error("an integer of {digits} digits; the limit is {MAX_INT_DIGITS}")]
    IntTooLong {
        /// How many it has
        digits: usize,
    },
    /// A control character that stands in a string as itself.
    #[error("control character U+{code:04X} is not escaped")]
    ControlCharacter {
        /// Its code point, under 0x20
        code: u8,
    },
    /// A backslash that begins no escape of JSON.
    #[error("'\\{}' is no JSON escape", abridged(.after))]
    UnknownEscape {
        /// What follows the backslash: as much as an escape would take
        after: String,
    },
    /// An escape for half of a surrogate pair, without the other half.
    #[error("\\u{unit:04x} is half of a surrogate pair")]
    LoneSurrogate {
        /// The half, U+D800–DFFF
        unit: u16,
    },
    /// A key that came before in the same object.
    #[error("duplicate member '{}'", abridged(.member))]
    DuplicateMember {
        /// The key
        member: String,
    },
    /// An array or object inside [`MAX_DEPTH`] others.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// On the way from the root to a value.
pub(super) enum Step {
    Member(String),
    Item(usize),
}

/// The path that `steps` describe, from the inside to the root.
pub(super) fn path(steps: &[Step]) -> String {
    let steps: Vec<String> = steps.iter().rev().map(step_text).collect();
    if steps.iter().map(String::len).sum::<usize>() <= 160 {
        return format!("${}", steps.concat());
    }
    let fit = |bytes: usize, lens: &mut dyn Iterator<Item = usize>| {
        let ends = lens.scan(0, |end, len| {
            *end += len;
            Some(*end)
        });
        ends.take_while(|end| *end <= bytes).count()
    };
    let head = fit(60, &mut steps.iter().map(String::len));
    let tail = fit(100, &mut steps.iter().rev().map(String::len));
    format!("${}…{}", steps[..head].concat(), steps[steps.len() - tail..].concat())
}

fn step_text(step: &Step) -> String {
    match step {
        Step::Item(index) => format!("[{index}]"),
        Step::Member(key) if is_identifier(key) && key.len() <= 40 => format!(".{key}"),
        Step::Member(key) => format!("[\"{}\"]", abridged(key)),
    }
}

fn is_identifier(key: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    key.bytes().next().is_some_and(letter)
        && key.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// `text` for a message: what could break the line or disturb a terminal is escaped as in
/// JSON, and `…` stands for what goes beyond 40 bytes.
fn abridged(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        let len = shown.len();
        match character {
            '"'
            | '\\'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => write_escape(&mut shown, character as u16),
            _ if character.is_control() => write_escape(&mut shown, character as u16),
            _ => shown.push(character),
        }
        if shown.len() > 40 {
            shown.truncate(len);
            shown.push('…');
            break;
        }
    }
    shown
}
