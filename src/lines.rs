//! Lines of a stream, none longer than a limit: memory is bounded, whatever comes in.

use std::io::{self, BufRead};

/// What [`next`] came upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The stream has ended.
    End,
    Line,
    /// A line of more than the most bytes.
    TooLong,
}

/// Reads the next line into `line`, without its line feed, which the last line need not have.
///
/// Of a line of more than `most` bytes one more than `most` are read; [`skip`] reads past the rest.
///
/// # Errors
/// Those of the stream.
pub fn next(input: &mut impl BufRead, line: &mut Vec<u8>, most: usize) -> io::Result<Next> {
    line.clear();
    let read = io::Read::take(&mut *input, most as u64 + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Next::Line);
    }
    Ok(match read {
        0 => Next::End,
        read if read > most => Next::TooLong,
        _ => Next::Line,
    })
}

/// Reads past the next line feed and keeps nothing.
///
/// # Errors
/// Those of the stream.
pub fn skip(input: &mut impl BufRead) -> io::Result<()> {
    input.skip_until(b'\n').map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_have_the_most_bytes_and_no_more() {
        let mut input = &b"1234\n12345\n\n12345678\n1234"[..];
        let mut line = Vec::new();
        let mut seen = Vec::new();
        loop {
            let next = next(&mut input, &mut line, 4).unwrap();
            seen.push((next, String::from_utf8(line.clone()).unwrap()));
            match next {
                Next::End => break,
                Next::Line => {}
                Next::TooLong => skip(&mut input).unwrap(),
            }
        }
        let expected = [
            (Next::Line, "1234"),
            (Next::TooLong, "12345"),
            (Next::Line, ""),
            (Next::TooLong, "12345"),
            (Next::Line, "1234"),
            (Next::End, ""),
        ];
        assert_eq!(seen, expected.map(|(next, line)| (next, line.to_owned())));
    }
}
