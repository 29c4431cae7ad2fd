//! JSON values and their canonical bytes: the one JSON reader and writer of the project.
//!
//! [`Value::parse`] takes strict RFC 8259 and refuses what canonical JSON cannot hold or
//! what is ambiguous. [`Value::canonical`] prints the bytes that hashes cover and limits
//! count: equal values have equal bytes, on every machine.
//!
//! Rule: docs/spec/kernel.md, section 1; refusals: docs/design.md, "Canonical input".

mod error;
mod object;
mod reader;
#[cfg(test)]
mod tests;
mod value;
mod writer;

pub use error::{JsonError, JsonErrorKind};
pub use object::Object;
pub use reader::{MAX_DEPTH, MAX_INT_DIGITS};
pub use value::{Int, Value};
pub use writer::write_string;

/// How many bytes at the start of `bytes` stand in a JSON string as themselves: all but
/// `"`, `\` and U+0000–001F.
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        if let Some(plain) = plain_in_word(*word) {
            return index * 8 + plain;
        }
    }
    match bytes.last_chunk::<8>() {
        // What the last word shares with the one before is plain, so its first hit is new.
        Some(last) => bytes.len() - 8 + plain_in_word(*last).unwrap_or(8),
        None => {
            let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
            rest.iter().position(special).unwrap_or(rest.len())
        }
    }
}

/// Where in `word` the first byte is that must be escaped.
#[inline]
fn plain_in_word(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let quote = word ^ (ONES * u64::from(b'"'));
    let backslash = word ^ (ONES * u64::from(b'\\'));
    // The high bit of every byte that was less than what is subtracted from it; a borrow
    // can add false hits, but only above the first.
    let hits = HIGH
        & ((quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word));
    (hits != 0).then(|| hits.trailing_zeros() as usize / 8)
}
