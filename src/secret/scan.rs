//! One pass over a text: a filter of three bytes, then the forms that may stand there.

use std::ops::Range;

use super::Finding;
use super::forms::*;

pub(super) const MOST_PREFIXES: usize = 12;

/// Where in each prefix its rarest three bytes stand.
pub(super) static ANCHORS: [[usize; MOST_PREFIXES]; TABLE.len()] = {
    let mut anchors = [[0; MOST_PREFIXES]; TABLE.len()];
    let mut form = 0;
    while form < TABLE.len() {
        let mut prefix = 0;
        while prefix < TABLE[form].prefixes.len() {
            anchors[form][prefix] = anchor(TABLE[form].prefixes[prefix].as_bytes());
            prefix += 1;
        }
        form += 1;
    }
    anchors
};

/// For the first, second and third byte of an anchor: the forms, a bit each, that have it there.
pub(super) static FILTER: [[u32; 256]; 3] = {
    let mut filter = [[0; 256]; 3];
    let mut form = 0;
    while form < TABLE.len() {
        let mut prefix = 0;
        while prefix < TABLE[form].prefixes.len() {
            let text = TABLE[form].prefixes[prefix].as_bytes();
            let at = anchor(text);
            let mut byte = 0;
            while byte < 3 {
                filter[byte][text[at + byte] as usize] |= 1 << form;
                byte += 1;
            }
            prefix += 1;
        }
        form += 1;
    }
    filter
};

pub(super) const fn anchor(prefix: &[u8]) -> usize {
    let mut best = (u32::MAX, 0);
    let mut at = 0;
    while at + 3 <= prefix.len() {
        let common = common(prefix[at]) + common(prefix[at + 1]) + common(prefix[at + 2]);
        if common < best.0 {
            best = (common, at);
        }
        at += 1;
    }
    best.1
}

/// How common a byte is in code, logs and English, roughly.
pub(super) const fn common(byte: u8) -> u32 {
    match byte {
        b'A'..=b'Z' | b'j' | b'q' | b'x' | b'z' => 1,
        b'_' | b'-' => 2,
        b'e' | b'r' | b't' => 6,
        b'a' | b'i' | b'n' | b'o' | b's' | b' ' => 5,
        b'c' | b'd' | b'h' | b'l' | b'u' => 4,
        _ => 3,
    }
}

/// The pairs of ASCII bytes that an anchor begins or ends with.
pub(super) static PAIRS: [bool; 1 << 14] = {
    let mut pairs = [false; 1 << 14];
    let mut form = 0;
    while form < TABLE.len() {
        let mut prefix = 0;
        while prefix < TABLE[form].prefixes.len() {
            let text = TABLE[form].prefixes[prefix].as_bytes();
            let at = anchor(text);
            pairs[text[at] as usize | (text[at + 1] as usize) << 7] = true;
            pairs[text[at + 1] as usize | (text[at + 2] as usize) << 7] = true;
            prefix += 1;
        }
        form += 1;
    }
    pairs
};

/// Whether a pair of [`PAIRS`] stands in `block` at an even place.
pub(super) fn has_pair(block: [u8; 8]) -> bool {
    let block = u64::from_le_bytes(block);
    // In each 16 bits: 7 of the first byte, then 7 of the second.
    let pairs = (block & 0x007f_007f_007f_007f) | ((block >> 1) & 0x3f80_3f80_3f80_3f80);
    let is_pair = |shift: u32| PAIRS[((pairs >> shift) & 0x3fff) as usize];
    is_pair(0) | is_pair(16) | is_pair(32) | is_pair(48)
}

/// The first of `places` in `text` where an anchor may stand, and the forms it may be of.
pub(super) fn anchor_in(text: &[u8], places: Range<usize>) -> Option<(usize, u32)> {
    for place in places {
        let [a, b, c] = *text.get(place..)?.first_chunk()?;
        let forms =
            FILTER[0][usize::from(a)] & FILTER[1][usize::from(b)] & FILTER[2][usize::from(c)];
        if forms != 0 {
            return Some((place, forms));
        }
    }
    None
}

/// The first place at or after `from` where an anchor may stand, and the forms it may be of.
pub(super) fn next_anchor(text: &[u8], from: usize) -> Option<(usize, u32)> {
    // Of an anchor's two pairs one is at an even place, so every second place is enough: this costs
    // half of what looking at three bytes everywhere does.
    let (mut at, mut from) = (from, from);
    while let Some(block) = text.get(at..)?.first_chunk() {
        if has_pair(*block) {
            let hit = anchor_in(text, from..at + 7);
            if hit.is_some() {
                return hit;
            }
        }
        at += 8;
        from = at - 1;
    }
    anchor_in(text, from..text.len())
}

/// A stretch of bytes of one set.
pub(super) struct Run {
    pub(super) end: usize,
    pub(super) kinds: u16,
    pub(super) distinct: u32,
}

impl Run {
    pub(super) fn has(&self, needs: Needs) -> bool {
        self.distinct >= DISTINCT && needs.iter().all(|set| self.kinds & set != 0)
    }
}

pub(super) struct Scan<'a> {
    pub(super) bytes: &'a [u8],
    /// The end of the last finding. What is before it counts as gone, as it will be.
    pub(super) free: usize,
    /// For each form of a run, the end of the last run it refused.
    pub(super) refused: [usize; TABLE.len()],
    pub(super) found: Vec<Finding>,
}

impl Scan<'_> {
    pub(super) fn scan(&mut self, from: usize, to: usize) {
        let mut at = from;
        while let Some((hit, forms)) = next_anchor(&self.bytes[..to], at) {
            count(hit + 1 - at);
            at = if self.take(hit, forms, to) { self.free } else { hit + 1 };
        }
        count(to.saturating_sub(at));
    }

    /// Whether one of `forms`, with its anchor at `hit`, is a secret; if so it is in `found`.
    pub(super) fn take(&mut self, hit: usize, forms: u32, to: usize) -> bool {
        let mut forms = forms;
        while forms != 0 {
            let index = forms.trailing_zeros() as usize;
            forms &= forms - 1;
            for (prefix, anchor) in TABLE[index].prefixes.iter().zip(ANCHORS[index]) {
                count(prefix.len());
                let Some(start) = hit.checked_sub(anchor).filter(|start| *start >= self.free)
                else {
                    continue;
                };
                if self.bytes[start..to].starts_with(prefix.as_bytes())
                    && self.read(index, start, start + prefix.len(), to)
                {
                    return true;
                }
            }
        }
        false
    }

    pub(super) fn read(&mut self, index: usize, start: usize, body: usize, to: usize) -> bool {
        let form = &TABLE[index];
        if !self.left_allows(form.left, start) {
            return false;
        }
        let range = match form.body {
            Body::Run { of, min, needs } => {
                if body < self.refused[index] {
                    return false;
                }
                let run = self.run(body, to, of);
                let end = self.without_dots(run.end, body);
                if end < body + min || !run.has(needs) {
                    self.refused[index] = run.end;
                    return false;
                }
                start..end
            }
            Body::Token(read) => match read(self, start, body, to) {
                Some(range) => range,
                None => return false,
            },
            Body::Value(read) => match read(self, start, body, to) {
                Some(range) => return self.accept_value(form.rule, body, range),
                None => return false,
            },
        };
        self.free = range.end;
        self.found.push(Finding { rule: form.rule, range });
        true
    }

    pub(super) fn accept_value(
        &mut self,
        rule: &'static str,
        from: usize,
        range: Range<usize>,
    ) -> bool {
        let before = self.found.len();
        self.scan(from, range.end);
        let up_to_it = |finding: &&Finding| finding.range.start <= range.start;
        let kept = self.found[before..].iter().take_while(up_to_it).count();
        self.found.truncate(before + kept);
        self.free = range.end;
        match self.found[before..].last_mut() {
            Some(last) if last.range.end > range.start => last.range.end = range.end,
            _ => self.found.push(Finding { rule, range }),
        }
        true
    }

    /// What is before `at` and not part of a finding.
    pub(super) fn before(&self, at: usize) -> &[u8] {
        &self.bytes[self.free..at]
    }

    pub(super) fn left_allows(&self, left: Left, start: usize) -> bool {
        let barred = match left {
            Left::Any => return true,
            Left::Word => WORD,
            Left::Dotted => WORD | DOT,
            Left::Base64 => WORD | SLASH,
        };
        let before = self.before(start);
        before.last().is_none_or(|byte| CLASS[usize::from(*byte)] & barred == 0)
            || ends_in_escape(before)
    }

    pub(super) fn run(&self, from: usize, to: usize, of: u16) -> Run {
        let (mut kinds, mut seen, mut end) = (0, 0_u128, from);
        for byte in &self.bytes[from..to] {
            let class = CLASS[usize::from(*byte)];
            if class & of == 0 {
                break;
            }
            kinds |= class;
            seen |= 1 << (byte & 0x7f);
            end += 1;
        }
        count(end + 1 - from);
        Run { end, kinds, distinct: seen.count_ones() }
    }

    /// Where a value begins whose key ends at `from`: in a header, JSON, YAML, code or a shell.
    pub(super) fn past_assignment(&self, from: usize, to: usize) -> usize {
        let between = self.bytes[from..to].iter();
        let between = between.take_while(|byte| b" \t\"'\\:=>,]".contains(byte)).count();
        count(between);
        from + between
    }

    /// `end`, before the full stops of the sentence that the token ends.
    pub(super) fn without_dots(&self, end: usize, from: usize) -> usize {
        let dots = self.bytes[from..end].iter().rev().take_while(|byte| **byte == b'.').count();
        count(dots);
        end - dots
    }
}

/// Whether `before` ends in an escape (`\n`, `%3D`, a colour), whose last letter is no word's.
pub(super) fn ends_in_escape(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        [head @ .., b'm' | b'K'] => {
            let codes = head.iter().rev().take(12);
            let mut codes = codes.skip_while(|byte| byte.is_ascii_digit() || **byte == b';');
            codes.next() == Some(&b'[')
        }
        _ => false,
    }
}

#[cfg(test)]
thread_local! {
    /// Bytes looked at by this thread's scans.
    pub(super) static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Keeps the account by which the tests hold the work linear; nothing otherwise.
pub(super) fn count(bytes: usize) {
    #[cfg(test)]
    LOOKED_AT.set(LOOKED_AT.get() + bytes);
    #[cfg(not(test))]
    let _ = bytes;
}
