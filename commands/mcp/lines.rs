//! Lines of a client, as long as they may be.

use std::io::{self, BufRead};

/// Longest line, in bytes.
///
/// Rule: docs/spec/mcp.md, section 13.
pub const LINE_MAX: usize = 8 << 20;

/// A line of so many bytes may as well be of [`LINE_MAX`].
const LARGE: usize = 1 << 20;

/// Of a longer line so much is kept, to find its id.
const START: usize = 4 << 10;
const END: usize = 256;

/// A line without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    /// What stands at the end of input without a line feed: its rest may have been lost.
    Rest(Vec<u8>),
    /// More than [`LINE_MAX`]: its first and last bytes.
    TooLong {
        start: Vec<u8>,
        end: Vec<u8>,
    },
}

/// The next line; none at the end of input.
///
/// # Errors
/// Those of `input`.
pub fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long: Option<(Vec<u8>, Vec<u8>)> = None;
    loop {
        let available = match input.fill_buf() {
            Ok([]) if line.is_empty() => return Ok(None),
            Ok([]) => return Ok(Some(Line::Rest(line))),
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let feed = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..feed.unwrap_or(available.len())];
        match &mut too_long {
            Some((_, end)) => keep_end(end, piece),
            None if line.len() + piece.len() > LINE_MAX => {
                let mut end = Vec::with_capacity(2 * END);
                keep_end(&mut end, &line);
                keep_end(&mut end, piece);
                let start = line.iter().chain(piece).take(START).copied().collect();
                line = Vec::new();
                too_long = Some((start, end));
            }
            None => {
                if line.len() >= LARGE {
                    // Grown by doubling, it would for a while be in memory twice.
                    line.reserve_exact(LINE_MAX - line.len());
                }
                line.extend_from_slice(piece);
            }
        }
        let used = piece.len() + usize::from(feed.is_some());
        input.consume(used);
        if feed.is_some() {
            return Ok(Some(match too_long {
                Some((start, end)) => Line::TooLong { start, end },
                None => Line::Whole(line),
            }));
        }
    }
}

/// Makes `end` the last bytes of `end` and `piece` together.
fn keep_end(end: &mut Vec<u8>, piece: &[u8]) {
    end.extend_from_slice(&piece[piece.len().saturating_sub(END)..]);
    let over = end.len().saturating_sub(END);
    end.drain(..over);
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn all(bytes: &[u8], buffer: usize) -> Vec<Line> {
        let mut input = BufReader::with_capacity(buffer, bytes);
        std::iter::from_fn(|| next(&mut input).unwrap()).collect()
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        for buffer in [1, 2, 7, 100] {
            let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
            let rest = Line::Rest(b"rest".to_vec());
            let lines = [whole("a"), whole(""), whole("bc\r"), rest];
            assert_eq!(all(b"a\n\nbc\r\nrest", buffer), lines);
            assert_eq!(all(b"", buffer), []);
        }
    }

    #[test]
    fn a_line_that_is_too_long_keeps_its_ends_and_the_next_is_read() {
        let mut bytes = vec![b'x'; LINE_MAX];
        bytes.push(b'\n');
        assert_eq!(all(&bytes, 1 << 16), [Line::Whole(vec![b'x'; LINE_MAX])]);
        bytes.splice(0..1, *b"abc");
        bytes.splice(LINE_MAX..LINE_MAX + 2, *b"yz");
        bytes.extend(b"next\n");
        for buffer in [4_096, 1 << 16, 1 << 24] {
            let lines = all(&bytes, buffer);
            let [Line::TooLong { start, end }, Line::Whole(next)] = lines.as_slice() else {
                panic!("{} lines", lines.len());
            };
            assert_eq!((start.len(), end.len(), next.as_slice()), (START, END, &b"next"[..]));
            assert!(start.starts_with(b"abcxx") && end.ends_with(b"xyz"), "{buffer}");
        }
    }
}
