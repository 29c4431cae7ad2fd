//! What is kept of what a command printed.

use std::collections::VecDeque;
use std::io;

/// Most bytes that are kept of the beginning and of the end; what is between is left out.
pub const HEAD_MAX: usize = 8 << 10;
pub const TAIL_MAX: usize = 24 << 10;

/// The output of a command, as it is made: in bounded memory, however much it prints.
#[derive(Debug, Default)]
pub struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
}

/// What a command printed, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Without the escape sequences of terminals, and of each line what a terminal would show in the
    /// end; bytes that are no UTF-8 are U+FFFD.
    pub text: String,
    /// Bytes that were printed in all.
    pub bytes: u64,
    /// Bytes of those that were left out in the middle, where the text says so.
    pub left_out: u64,
}

impl Kept {
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = HEAD_MAX - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Of a piece larger than the tail, only its end can stay.
        let rest = &rest[rest.len().saturating_sub(TAIL_MAX)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(TAIL_MAX);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    #[must_use]
    pub fn finish(self) -> Output {
        let Self { mut head, tail, bytes } = self;
        let mut tail = Vec::from(tail);
        if (head.len() + tail.len()) as u64 == bytes {
            head.append(&mut tail);
            return Output { text: shown(&head), bytes, left_out: 0 };
        }
        // Whole lines, if there are any: half a line misleads, and half a secret is not recognised.
        let end = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1);
        let begin = tail.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let begin = if begin == tail.len() { 0 } else { begin };
        let (head, tail) = (&head[..end], &tail[begin..]);
        let left_out = bytes - (head.len() + tail.len()) as u64;
        let gap = if head.ends_with(b"\n") { "" } else { "\n" };
        let mark = format!("{gap}...[{left_out} bytes left out]\n");
        Output { text: shown(head) + &mark + &shown(tail), bytes, left_out }
    }
}

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Of a command that ran elsewhere and printed `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut kept = Kept::default();
        kept.push(text.as_bytes());
        kept.finish()
    }
}

fn shown(bytes: &[u8]) -> String {
    let text = without_escapes(&String::from_utf8_lossy(bytes));
    if !text.contains('\r') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        // A progress bar goes back to the start of its line and writes over what is there.
        let line = line.trim_end_matches('\r');
        out.push_str(line.rsplit('\r').next().unwrap_or(line));
        out.push_str(end);
    }
    out
}

/// `text` without the sequences of ECMA-48 that begin with ESC.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            out.push(c);
            continue;
        }
        match chars.next() {
            // A control sequence: parameters, then a final byte.
            Some('[') => {
                while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
                chars.next_if(|c| ('@'..='~').contains(c));
            }
            // A title or a link: to BEL or ESC \, and never over the end of the line.
            Some(']') => {
                while let Some(c) = chars.next_if(|c| *c != '\n') {
                    if c == '\x07' || c == '\x1b' && chars.next_if_eq(&'\\').is_some() {
                        break;
                    }
                }
            }
            // The others have a final byte, after what stands between.
            Some(' '..='/') => {
                while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
                chars.next_if(|c| ('0'..='~').contains(c));
            }
            Some('0'..='~') | None => {}
            Some(c) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_whole() {
        let output = Output::of("2 failed\n1 passed");
        assert_eq!(
            output,
            Output { text: "2 failed\n1 passed".to_owned(), bytes: 17, left_out: 0 }
        );
    }

    #[test]
    fn long_output_keeps_its_first_and_last_lines_and_says_what_is_missing() {
        let lines: Vec<String> = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let all = lines.concat();
        let mut kept = Kept::default();
        // In pieces of all sizes, so that they begin and end anywhere.
        let mut rest = all.as_bytes();
        let mut size = 1;
        while !rest.is_empty() {
            let (piece, next) = rest.split_at(size.min(rest.len()));
            kept.push(piece);
            (rest, size) = (next, size * 3 % 70_001);
        }
        let output = kept.finish();
        let (head, tail) = output.text.split_once("...[").unwrap();
        let (left_out, tail) = tail.split_once(" bytes left out]\n").unwrap();
        assert!(all.starts_with(head) && head.ends_with('\n') && head.len() <= HEAD_MAX);
        assert!(all.ends_with(tail) && tail.starts_with("line ") && tail.len() <= TAIL_MAX);
        assert_eq!(left_out.parse(), Ok(output.left_out));
        assert_eq!(output.bytes, all.len() as u64);
        assert_eq!(output.left_out, (all.len() - head.len() - tail.len()) as u64);
        assert!(head.len() + 20 > HEAD_MAX && tail.len() + 20 > TAIL_MAX);
    }

    #[test]
    fn output_without_line_breaks_is_cut_between_its_bytes() {
        let output = Output::of(&"é".repeat(40_000));
        assert!(output.text.starts_with("éé") && output.text.ends_with("éé"));
        assert!(output.text.contains(&format!("\n...[{} bytes left out]\n", output.left_out)));
        assert_eq!(output.left_out, 80_000 - (HEAD_MAX + TAIL_MAX) as u64);
    }

    #[test]
    fn what_only_a_terminal_needs_is_taken_out() {
        for (printed, text) in [
            ("\x1b[1;31mFAILED\x1b[0m test_a", "FAILED test_a"),
            ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
            ("\x1b]never closed\nnext", "\nnext"),
            ("10 %\r50 %\rdone\nnext\r\n", "done\nnext\n"),
            ("50 %\r", "50 %"),
            ("\x1b", ""),
            ("\x1b[", ""),
            ("\x1b(Bx\x1b7", "x"),
            ("a\x1b\nb", "a\nb"),
        ] {
            assert_eq!(Output::of(printed).text, text, "{printed:?}");
        }
        let mut kept = Kept::default();
        kept.push(b"a\xffb");
        assert_eq!(kept.finish().text, "a\u{fffd}b");
    }
}
