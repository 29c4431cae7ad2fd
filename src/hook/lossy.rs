//! JSON with what is no Unicode in it, made whole.

use std::io::{self, Read};
use std::str;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 14;

/// Bytes of an escaped surrogate pair, the longest thing that must be seen as a whole.
const PAIR: usize = 12;

const REPLACEMENT: &str = "\u{fffd}";

/// Reads `R` with U+FFFD in the place of what is no UTF-8, and of escapes for half of a surrogate pair. Where
/// programs cut a text, they leave such halves.
pub(super) struct Lossy<R> {
    from: R,
    /// What was read and cannot be judged yet.
    raw: Vec<u8>,
    whole: Vec<u8>,
    /// How much of `whole` was given out.
    given: usize,
    is_end: bool,
}

impl<R: Read> Lossy<R> {
    pub fn new(from: R) -> Self {
        Self { from, raw: Vec::new(), whole: Vec::new(), given: 0, is_end: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        (self.given, self.is_end) = (0, true);
        self.whole.clear();
        let before = self.raw.len();
        self.raw.resize(before + CHUNK, 0);
        let read = loop {
            match self.from.read(&mut self.raw[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.raw.truncate(before + read.as_ref().map_or(0, |read| *read));
        self.is_end = read? == 0;
        let done = make_whole(&self.raw, self.is_end, &mut self.whole);
        self.raw.drain(..done);
        Ok(())
    }
}

impl<R: Read> Read for Lossy<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.whole.len() && !self.is_end {
            self.fill()?;
        }
        let ready = &self.whole[self.given..];
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.given += count;
        Ok(count)
    }
}

/// Puts what is in `raw` into `whole`, and says how much that was: what more bytes would change stays, unless
/// there are none.
fn make_whole(raw: &[u8], is_end: bool, whole: &mut Vec<u8>) -> usize {
    let mut at = 0;
    while let Some(&first) = raw.get(at) {
        let rest = &raw[at..];
        if first == b'\\' {
            if rest.len() < PAIR && !is_end {
                break;
            }
            let (taken, text) = escape(rest);
            whole.extend(text);
            at += taken;
            continue;
        }
        let end = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
        let (valid, broken) = match str::from_utf8(&rest[..end]) {
            Ok(_) => (end, 0),
            Err(error) => {
                let valid = error.valid_up_to();
                (valid, error.error_len().unwrap_or(end - valid))
            }
        };
        whole.extend(&rest[..valid]);
        at += valid;
        if broken > 0 {
            // A character that the chunk cuts may go on.
            if at + broken == raw.len() && broken < 4 && !is_end {
                break;
            }
            whole.extend(REPLACEMENT.as_bytes());
            at += broken;
        }
    }
    at
}

/// How long the escape is that `text` begins with, and what stands for it.
fn escape(text: &[u8]) -> (usize, &[u8]) {
    match unit(text) {
        Some(0xd800..=0xdbff) if matches!(unit(&text[6..]), Some(0xdc00..=0xdfff)) => {
            (PAIR, &text[..PAIR])
        }
        Some(0xd800..=0xdfff) => (6, REPLACEMENT.as_bytes()),
        Some(_) => (6, &text[..6]),
        None => {
            let length = if text.get(1).is_some_and(u8::is_ascii) { 2 } else { 1 };
            (length, &text[..length])
        }
    }
}

/// The code unit that `text` begins with as `\uXXXX`.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], step: usize) -> String {
        let mut all = String::new();
        let chunks: Box<dyn Read> = bytes
            .chunks(step)
            .fold(Box::new(io::empty()), |before, chunk| Box::new(before.chain(chunk)));
        Lossy::new(chunks).read_to_string(&mut all).unwrap();
        all
    }

    #[test]
    fn what_is_no_unicode_is_replaced_wherever_chunks_end() {
        for (text, expected) in [
            (&b""[..], ""),
            (
                br#"{"a": "\ud83d\ude42 \\ud83d \n \u00e9"}"#,
                r#"{"a": "\ud83d\ude42 \\ud83d \n \u00e9"}"#,
            ),
            (br"\ud83d", "\u{fffd}"),
            (br"\ud83d\ud83d\ude42", "\u{fffd}\\ud83d\\ude42"),
            (br"\uDE42\ud83dx\ud83d\\", "\u{fffd}\u{fffd}x\u{fffd}\\\\"),
            (br"\\\ud83d", "\\\\\u{fffd}"),
            ("a\u{e9}\u{20ac}\u{1f642}".as_bytes(), "a\u{e9}\u{20ac}\u{1f642}"),
            (b"a\xffb\xc3", "a\u{fffd}b\u{fffd}"),
            (b"\xf0\x9f\x99\\n\xed\xa0\xbd", "\u{fffd}\\n\u{fffd}\u{fffd}\u{fffd}"),
            (b"\\\xff\\", "\\\u{fffd}\\"),
            (br"\ud8", r"\ud8"),
            (br"\u+123", r"\u+123"),
        ] {
            for step in [1, 2, 3, 5, 7, 64] {
                assert_eq!(read(text, step), expected, "{step}: {}", text.escape_ascii());
            }
        }
        let long = "\u{20ac}\\ud83d".repeat(CHUNK);
        assert_eq!(read(long.as_bytes(), 1 << 20), "\u{20ac}\u{fffd}".repeat(CHUNK));
    }
}
