//! The shapes that a set of bytes and a length do not describe.

use std::ops::Range;

use super::forms::*;
use super::scan::{Scan, count};

/// A key id, unless it is one of those in AWS's documentation.
pub(super) fn aws_access_key(
    scan: &Scan<'_>,
    start: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let run = scan.run(body, to, UPPER | BASE32_DIGIT);
    let id = scan.bytes[body..run.end].first_chunk::<16>()?;
    (run.has(&[]) && !is_example(id)).then_some(start..run.end)
}

pub(super) fn aws_secret_key(
    scan: &Scan<'_>,
    _: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let from = scan.past_assignment(body, to);
    if from == body {
        return None;
    }
    let run = scan.run(from, to, BASE64);
    let key = scan.bytes[from..run.end].first_chunk::<40>()?;
    (run.has(BOTH_CASES) && !is_example(key)).then_some(from..run.end)
}

/// Whether AWS made `key` up: those of its documentation say `EXAMPLE`.
pub(super) fn is_example(key: &[u8]) -> bool {
    key.windows(7).any(|seven| seven == b"EXAMPLE")
}

pub(super) fn slack_webhook(
    scan: &Scan<'_>,
    _: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let run = scan.run(body, to, WORD | SLASH);
    (run.end >= body + 20 && run.has(TWO_KINDS)).then_some(body..run.end)
}

/// Two parts of 22 and 43 bytes.
pub(super) fn sendgrid_key(
    scan: &Scan<'_>,
    start: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let id = scan.run(body, to, WORD);
    if id.end < body + 16 || id.end == to || scan.bytes[id.end] != b'.' {
        return None;
    }
    let key = scan.run(id.end + 1, to, WORD);
    (key.end > id.end + 32 && id.has(TWO_KINDS) && key.has(TWO_KINDS)).then_some(start..key.end)
}

/// A bot's number and 35 bytes, the first two of which are `AA`.
pub(super) fn telegram_token(
    scan: &Scan<'_>,
    start: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let before = scan.before(start);
    let digits = before.iter().rev().take(15).take_while(|byte| byte.is_ascii_digit()).count();
    count(digits);
    let escape = before[..before.len() - digits].ends_with(b"%");
    let number = if escape { digits.checked_sub(2)? } else { digits };
    let run = scan.run(body, to, WORD);
    ((8..=12).contains(&number) && run.end >= body + 30 && run.has(BOTH_CASES))
        .then_some(start - number..run.end)
}

/// Header, payload and signature, if the header decodes to an object that names its algorithm.
pub(super) fn jwt(scan: &Scan<'_>, start: usize, _: usize, to: usize) -> Option<Range<usize>> {
    let header = scan.run(start, to, WORD);
    if !scan.bytes[header.end..to].starts_with(b".eyJ") {
        return None;
    }
    let payload = scan.run(header.end + 1, to, WORD);
    if payload.end == to || scan.bytes[payload.end] != b'.' {
        return None;
    }
    let signature = scan.run(payload.end + 1, to, WORD);
    if signature.end < payload.end + 21 || !signature.has(TWO_KINDS) {
        return None;
    }
    let json = decode(&scan.bytes[start..header.end]);
    count(json.len());
    let named = json.windows(5).any(|five| five == b"\"alg\"");
    (named && json.ends_with(b"}")).then_some(start..signature.end)
}

/// The bytes that `text`, of the base64 alphabet of URLs and without padding, stands for.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            _ => 63,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(((bits >> held) & 0xff) as u8);
        }
    }
    out
}

/// A block with its two marker lines, or all the text that follows if the second is not there.
///
/// A marker in prose or in code is none: a line break (or an escape for one) has to follow it, and
/// within four lines something like key material.
pub(super) fn private_key(
    scan: &Scan<'_>,
    start: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let from = private_key_marker(&scan.bytes[body..to])? + body;
    let breaks = |byte: &u8| byte.is_ascii_whitespace() || b"\\%&<".contains(byte);
    if !scan.bytes[from..to].first().is_some_and(breaks) || !has_key_material(scan, from, to) {
        return None;
    }
    let mut at = from;
    while let Some(dash) = scan.bytes[at..to].iter().position(|byte| *byte == b'-') {
        count(dash + 1);
        at += dash;
        let end = scan.bytes[at..to].strip_prefix(b"-----END ").and_then(private_key_marker);
        if let Some(end) = end {
            return Some(start..at + 9 + end);
        }
        at += 1;
    }
    count(to - at);
    Some(start..to)
}

/// The length of the label of a private key and the five dashes behind it.
pub(super) fn private_key_marker(text: &[u8]) -> Option<usize> {
    let label = text.iter().take(40);
    let label = label.take_while(|byte| byte.is_ascii_uppercase() || **byte == b' ').count();
    count(label);
    let named = &text[..label];
    (named.ends_with(b"PRIVATE KEY") || named.ends_with(b"PRIVATE KEY BLOCK"))
        .then_some(label + 5)
        .filter(|_| text[label..].starts_with(b"-----"))
}

/// Whether a line's worth of base64 stands before the next marker, the next finding's placeholder
/// and the fifth line break.
pub(super) fn has_key_material(scan: &Scan<'_>, from: usize, to: usize) -> bool {
    let (mut at, mut lines) = (from, 0);
    while at < to && lines < 5 {
        let run = scan.run(at, to, BASE64);
        if run.end >= at + 32 && run.has(ALL_KINDS) {
            return true;
        }
        let rest = &scan.bytes[run.end..to];
        if rest.starts_with(b"-----") || rest.starts_with(b"[redacted:") {
            return false;
        }
        lines += usize::from(rest.first() == Some(&b'\n'));
        at = run.end + 1;
    }
    false
}

/// The password of `scheme://user:password@host`.
pub(super) fn url_password(
    scan: &Scan<'_>,
    start: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let scheme = scan.before(start).last()?;
    if CLASS[usize::from(*scheme)] & ALNUM == 0 {
        return None;
    }
    let stops = |byte: &u8| CLASS[usize::from(*byte)] & STOP != 0;
    let authority = &scan.bytes[body..to];
    let authority = &authority[..authority.iter().position(stops).unwrap_or(authority.len())];
    count(2 * authority.len() + 1);
    // A host may begin with whatever a finding or its placeholder begins with: what is no host for
    // one and is one for the other would be a password after the cut alone. A digest is no host:
    // `docker://image:tag@sha256:…`.
    let is_host = |host: &[u8]| {
        let begins = |byte: &u8| {
            byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"[{$<%_-".contains(byte)
        };
        host.first().is_some_and(begins) && !host.starts_with(b"sha256:")
    };
    let mut ats = authority.iter().enumerate().rev().filter(|(_, byte)| **byte == b'@');
    let (at, _) = ats.find(|(at, _)| is_host(&scan.bytes[body + at + 1..to]))?;
    let colon = authority[..at].iter().position(|byte| *byte == b':')?;
    let password = &authority[colon + 1..at];
    (!is_placeholder(password)).then_some(body + colon + 1..body + at)
}

/// Whether a password only stands for one. What is true of a password is true of its beginnings,
/// as far as an `@` can cut it.
pub(super) fn is_placeholder(password: &[u8]) -> bool {
    const WORDS: [&str; 9] = [
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "changeme",
        "x-oauth-basic",
        "your-password",
    ];
    let masked = || {
        password.iter().all(|byte| *byte == password[0])
            || !password.iter().any(u8::is_ascii_alphanumeric)
    };
    let named = || password.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    let word = |word: &&str| password.eq_ignore_ascii_case(word.as_bytes());
    password.len() < 3
        || b"${%".contains(&password[0])
        || masked()
        || named()
        || WORDS.iter().any(word)
}

/// The opaque token of `Authorization: Bearer …`, as a header, in JSON or in code.
pub(super) fn bearer_token(
    scan: &Scan<'_>,
    _: usize,
    body: usize,
    to: usize,
) -> Option<Range<usize>> {
    let scheme = scan.past_assignment(body, to);
    if !scan.bytes[scheme..to].first_chunk::<7>()?.eq_ignore_ascii_case(b"bearer ") {
        return None;
    }
    let from = scheme + 7;
    let run = scan.run(from, to, WORD | DOT | SLASH | TAIL);
    let end = scan.without_dots(run.end, from);
    (end >= from + 20 && run.has(DIGIT_AND_LETTER)).then_some(from..end)
}
