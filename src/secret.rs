//! Secrets in text: well-known token shapes, found and replaced by a visible placeholder.
//!
//! One pass looks at three bytes at a time through a table built at compile time, and reads on only
//! where the rarest three bytes of a known prefix stand. The table of rules is `TABLE`.
//!
//! Every rule is *monotone*: a candidate that is refused stays refused when less of the text behind
//! it is left, so no length has an upper bound and no check asks for an absence in the tail. Two
//! things follow. What redaction leaves standing never becomes a secret by the cut, so redacting is
//! idempotent; and a run of characters that was refused once need not be read again from a later
//! place in it, so the work is linear in the text, whatever the text is.

use std::ops::Range;

/// The names of the rules, as they stand in placeholders and in metadata.
pub const RULES: [&str; 22] = [
    "aws-access-key",
    "aws-secret-key",
    "github-token",
    "gitlab-token",
    "slack-token",
    "slack-webhook",
    "stripe-key",
    "anthropic-key",
    "openai-key",
    "google-api-key",
    "google-oauth-secret",
    "npm-token",
    "pypi-token",
    "crates-io-token",
    "hugging-face-token",
    "sendgrid-key",
    "digitalocean-token",
    "telegram-token",
    "jwt",
    "private-key",
    "url-password",
    "bearer-token",
];

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which of [`RULES`] found it.
    pub rule: &'static str,
    /// Its bytes: on character boundaries, and no more than what has to go.
    pub range: Range<usize>,
}

/// The secrets in `text`, in order and not overlapping.
///
/// Only the shapes of [`RULES`] are looked for, never entropy alone: hashes, UUIDs and base64 stay.
/// Masked and documented examples (`ghp_xxxx…`, `AKIA…EXAMPLE`, `user:$PASSWORD@host`) are none.
#[must_use]
pub fn find(text: &str) -> Vec<Finding> {
    let bytes = text.as_bytes();
    let mut scan = Scan { bytes, free: 0, refused: [0; TABLE.len()], found: Vec::new() };
    scan.scan(0, bytes.len());
    scan.found
}

/// `text` with each finding replaced by `[redacted:RULE]`, and the rule of each finding in order;
/// nothing if there is none.
///
/// Redacting the result again finds nothing.
#[must_use]
pub fn redact(text: &str) -> Option<(String, Vec<&'static str>)> {
    let found = find(text);
    if found.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for finding in &found {
        out.push_str(&text[kept..finding.range.start]);
        out.push_str("[redacted:");
        out.push_str(finding.rule);
        out.push(']');
        kept = finding.range.end;
    }
    out.push_str(&text[kept..]);
    Some((out, found.into_iter().map(|finding| finding.rule).collect()))
}

const HEX_LETTER: u16 = 1;
const LOWER: u16 = 2 | HEX_LETTER;
const UPPER: u16 = 4;
const BASE32_DIGIT: u16 = 8;
const DIGIT: u16 = 16 | BASE32_DIGIT;
const UNDERSCORE: u16 = 32;
const DASH: u16 = 64;
const DOT: u16 = 128;
const SLASH: u16 = 256;
const TAIL: u16 = 512;
/// What ends the `user:password@host` of a URL.
const STOP: u16 = 1024;
const ALNUM: u16 = LOWER | UPPER | DIGIT;
const WORD: u16 = ALNUM | UNDERSCORE | DASH;
const BASE64: u16 = ALNUM | SLASH;

/// The kind of each byte, in the bits of the constants above.
static CLASS: [u16; 256] = {
    let mut class = [0; 256];
    let mut byte = 0_u8;
    loop {
        class[byte as usize] = match byte {
            b'a'..=b'f' => HEX_LETTER,
            b'g'..=b'z' => LOWER & !HEX_LETTER,
            b'A'..=b'Z' => UPPER,
            b'2'..=b'7' => BASE32_DIGIT,
            b'0'..=b'9' => DIGIT & !BASE32_DIGIT,
            b'_' => UNDERSCORE,
            b'-' => DASH,
            b'.' => DOT,
            b'+' => SLASH,
            b'/' => SLASH | STOP,
            b'~' | b'=' => TAIL,
            0..=b' '
            | b'"'
            | b'\''
            | b'`'
            | b'\\'
            | b'?'
            | b'#'
            | b','
            | b';'
            | b'<'
            | b'>'
            | b'('
            | b')'
            | b'['
            | b']' => STOP,
            _ => 0,
        };
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    class
};

/// What a random body has and a placeholder or a name in code has not: a byte of each of the sets.
type Needs = &'static [u16];
const TWO_KINDS: Needs = &[LOWER | UPPER, LOWER | DIGIT, UPPER | DIGIT];
const BOTH_CASES: Needs = &[LOWER, UPPER];
const DIGIT_AND_LETTER: Needs = &[DIGIT, LOWER | UPPER];
const ALL_KINDS: Needs = &[LOWER, UPPER, DIGIT];

/// The fewest different bytes in a body: random ones of 16 have more, `xxxx` and `XXXX-0000` not.
const DISTINCT: u32 = 8;

/// What may not stand before a prefix.
#[derive(Clone, Copy)]
enum Left {
    /// Anything may: the prefix cannot be the end of a word.
    Any,
    /// Part of a word (`task-`, `pnpm_`).
    Word,
    /// Part of a word, or a dot: the token has dots itself.
    Dotted,
    /// Part of a word or of base64.
    Base64,
}

/// Reads on from a prefix that begins and ends at the first two places, up to the third.
type Read = fn(&Scan<'_>, usize, usize, usize) -> Option<Range<usize>>;

#[derive(Clone, Copy)]
enum Body {
    /// At least `min` bytes `of` a set; prefix and body are the secret.
    Run { of: u16, min: usize, needs: Needs },
    /// What a function makes of it, the prefix included.
    Token(Read),
    /// A value behind the prefix: only it goes, by the name of its own rule if it has one.
    Value(Read),
}

/// One shape of a rule's secrets.
struct Form {
    rule: &'static str,
    prefixes: &'static [&'static str],
    left: Left,
    body: Body,
}

const fn run(
    rule: &'static str,
    prefixes: &'static [&'static str],
    left: Left,
    of: u16,
    min: usize,
    needs: Needs,
) -> Form {
    Form { rule, prefixes, left, body: Body::Run { of, min, needs } }
}

const fn token(rule: &'static str, prefixes: &'static [&'static str], left: Left, f: Read) -> Form {
    Form { rule, prefixes, left, body: Body::Token(f) }
}

const fn value(rule: &'static str, prefixes: &'static [&'static str], f: Read) -> Form {
    Form { rule, prefixes, left: Left::Any, body: Body::Value(f) }
}

// The least lengths are below the issued ones where the prefix says enough, so that a token that a
// tool clipped still goes. GitHub's `ghs_` may hold a whole JWT since 2026, GitLab's routable
// tokens have two dots.
#[rustfmt::skip]
const TABLE: [Form; 26] = [
    token("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], Left::Word, aws_access_key),
    value("aws-secret-key", &["secret_access_key", "SECRET_ACCESS_KEY", "secret-access-key",
        "ecretAccessKey", "aws_secret_key", "AWS_SECRET_KEY"], aws_secret_key),
    run("github-token", &["ghp_", "gho_", "ghu_", "ghr_"], Left::Any, ALNUM, 30, TWO_KINDS),
    run("github-token", &["ghs_"], Left::Any, WORD | DOT, 30, TWO_KINDS),
    run("github-token", &["github_pat_"], Left::Any, ALNUM | UNDERSCORE, 50, TWO_KINDS),
    run("gitlab-token", &["glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glft-",
        "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"], Left::Any, WORD | DOT, 20, TWO_KINDS),
    run("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-"],
        Left::Any, ALNUM | DASH, 20, DIGIT_AND_LETTER),
    run("slack-token", &["xapp-"], Left::Word, ALNUM | DASH, 20, ALL_KINDS),
    value("slack-webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/",
        "hooks.slack.com/triggers/"], slack_webhook),
    run("stripe-key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_"],
        Left::Word, ALNUM, 20, TWO_KINDS),
    run("anthropic-key", &["sk-ant-"], Left::Word, WORD, 24, BOTH_CASES),
    run("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Left::Word, WORD, 40, BOTH_CASES),
    run("openai-key", &["sk-"], Left::Word, ALNUM, 20, DIGIT_AND_LETTER),
    run("google-api-key", &["AIza"], Left::Base64, WORD, 35, BOTH_CASES),
    run("google-oauth-secret", &["GOCSPX-"], Left::Any, WORD, 20, TWO_KINDS),
    run("npm-token", &["npm_"], Left::Word, ALNUM, 30, TWO_KINDS),
    run("pypi-token", &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ"],
        Left::Any, WORD, 50, TWO_KINDS),
    run("crates-io-token", &["cio"], Left::Base64, ALNUM, 32, BOTH_CASES),
    run("hugging-face-token", &["hf_"], Left::Word, ALNUM, 30, BOTH_CASES),
    token("sendgrid-key", &["SG."], Left::Dotted, sendgrid_key),
    run("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"],
        Left::Any, HEX_LETTER | DIGIT, 50, DIGIT_AND_LETTER),
    token("telegram-token", &[":AA"], Left::Any, telegram_token),
    token("jwt", &["eyJ"], Left::Dotted, jwt),
    token("private-key", &["-----BEGIN "], Left::Any, private_key),
    value("url-password", &["://"], url_password),
    value("bearer-token", &["uthorization", "UTHORIZATION"], bearer_token),
];

const MOST_PREFIXES: usize = 12;

/// Where in each prefix its rarest three bytes stand.
static ANCHORS: [[usize; MOST_PREFIXES]; TABLE.len()] = {
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
static FILTER: [[u32; 256]; 3] = {
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

const fn anchor(prefix: &[u8]) -> usize {
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
const fn common(byte: u8) -> u32 {
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
static PAIRS: [bool; 1 << 14] = {
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
fn has_pair(block: [u8; 8]) -> bool {
    let block = u64::from_le_bytes(block);
    // In each 16 bits: 7 of the first byte, then 7 of the second.
    let pairs = (block & 0x007f_007f_007f_007f) | ((block >> 1) & 0x3f80_3f80_3f80_3f80);
    let is_pair = |shift: u32| PAIRS[((pairs >> shift) & 0x3fff) as usize];
    is_pair(0) | is_pair(16) | is_pair(32) | is_pair(48)
}

/// The first of `places` in `text` where an anchor may stand, and the forms it may be of.
fn anchor_in(text: &[u8], places: Range<usize>) -> Option<(usize, u32)> {
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
fn next_anchor(text: &[u8], from: usize) -> Option<(usize, u32)> {
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
struct Run {
    end: usize,
    kinds: u16,
    distinct: u32,
}

impl Run {
    fn has(&self, needs: Needs) -> bool {
        self.distinct >= DISTINCT && needs.iter().all(|set| self.kinds & set != 0)
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    /// The end of the last finding. What is before it counts as gone, as it will be.
    free: usize,
    /// For each form of a run, the end of the last run it refused.
    refused: [usize; TABLE.len()],
    found: Vec<Finding>,
}

impl Scan<'_> {
    fn scan(&mut self, from: usize, to: usize) {
        let mut at = from;
        while let Some((hit, forms)) = next_anchor(&self.bytes[..to], at) {
            count(hit + 1 - at);
            at = if self.take(hit, forms, to) { self.free } else { hit + 1 };
        }
        count(to.saturating_sub(at));
    }

    /// Whether one of `forms`, with its anchor at `hit`, is a secret; if so it is in `found`.
    fn take(&mut self, hit: usize, forms: u32, to: usize) -> bool {
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

    fn read(&mut self, index: usize, start: usize, body: usize, to: usize) -> bool {
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

    fn accept_value(&mut self, rule: &'static str, from: usize, range: Range<usize>) -> bool {
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
    fn before(&self, at: usize) -> &[u8] {
        &self.bytes[self.free..at]
    }

    fn left_allows(&self, left: Left, start: usize) -> bool {
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

    fn run(&self, from: usize, to: usize, of: u16) -> Run {
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
    fn past_assignment(&self, from: usize, to: usize) -> usize {
        let between = self.bytes[from..to].iter();
        let between = between.take_while(|byte| b" \t\"'\\:=>,]".contains(byte)).count();
        count(between);
        from + between
    }

    /// `end`, before the full stops of the sentence that the token ends.
    fn without_dots(&self, end: usize, from: usize) -> usize {
        let dots = self.bytes[from..end].iter().rev().take_while(|byte| **byte == b'.').count();
        count(dots);
        end - dots
    }
}

/// Whether `before` ends in an escape (`\n`, `%3D`, a colour), whose last letter is no word's.
fn ends_in_escape(before: &[u8]) -> bool {
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

/// A key id, unless it is one of those in AWS's documentation.
fn aws_access_key(scan: &Scan<'_>, start: usize, body: usize, to: usize) -> Option<Range<usize>> {
    let run = scan.run(body, to, UPPER | BASE32_DIGIT);
    let id = scan.bytes[body..run.end].first_chunk::<16>()?;
    (run.has(&[]) && !is_example(id)).then_some(start..run.end)
}

fn aws_secret_key(scan: &Scan<'_>, _: usize, body: usize, to: usize) -> Option<Range<usize>> {
    let from = scan.past_assignment(body, to);
    if from == body {
        return None;
    }
    let run = scan.run(from, to, BASE64);
    let key = scan.bytes[from..run.end].first_chunk::<40>()?;
    (run.has(BOTH_CASES) && !is_example(key)).then_some(from..run.end)
}

/// Whether AWS made `key` up: those of its documentation say `EXAMPLE`.
fn is_example(key: &[u8]) -> bool {
    key.windows(7).any(|seven| seven == b"EXAMPLE")
}

fn slack_webhook(scan: &Scan<'_>, _: usize, body: usize, to: usize) -> Option<Range<usize>> {
    let run = scan.run(body, to, WORD | SLASH);
    (run.end >= body + 20 && run.has(TWO_KINDS)).then_some(body..run.end)
}

/// Two parts of 22 and 43 bytes.
fn sendgrid_key(scan: &Scan<'_>, start: usize, body: usize, to: usize) -> Option<Range<usize>> {
    let id = scan.run(body, to, WORD);
    if id.end < body + 16 || id.end == to || scan.bytes[id.end] != b'.' {
        return None;
    }
    let key = scan.run(id.end + 1, to, WORD);
    (key.end > id.end + 32 && id.has(TWO_KINDS) && key.has(TWO_KINDS)).then_some(start..key.end)
}

/// A bot's number and 35 bytes, the first two of which are `AA`.
fn telegram_token(scan: &Scan<'_>, start: usize, body: usize, to: usize) -> Option<Range<usize>> {
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
fn jwt(scan: &Scan<'_>, start: usize, _: usize, to: usize) -> Option<Range<usize>> {
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
fn decode(text: &[u8]) -> Vec<u8> {
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
fn private_key(scan: &Scan<'_>, start: usize, body: usize, to: usize) -> Option<Range<usize>> {
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
fn private_key_marker(text: &[u8]) -> Option<usize> {
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
fn has_key_material(scan: &Scan<'_>, from: usize, to: usize) -> bool {
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
fn url_password(scan: &Scan<'_>, start: usize, body: usize, to: usize) -> Option<Range<usize>> {
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
fn is_placeholder(password: &[u8]) -> bool {
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
fn bearer_token(scan: &Scan<'_>, _: usize, body: usize, to: usize) -> Option<Range<usize>> {
    let scheme = scan.past_assignment(body, to);
    if !scan.bytes[scheme..to].first_chunk::<7>()?.eq_ignore_ascii_case(b"bearer ") {
        return None;
    }
    let from = scheme + 7;
    let run = scan.run(from, to, WORD | DOT | SLASH | TAIL);
    let end = scan.without_dots(run.end, from);
    (end >= from + 20 && run.has(DIGIT_AND_LETTER)).then_some(from..end)
}

#[cfg(test)]
thread_local! {
    /// Bytes looked at by this thread's scans.
    static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Keeps the account by which the tests hold the work linear; nothing otherwise.
fn count(bytes: usize) {
    #[cfg(test)]
    LOOKED_AT.set(LOOKED_AT.get() + bytes);
    #[cfg(not(test))]
    let _ = bytes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+/";

    /// Text around a secret, and the secret: built here, so that no file holds one.
    #[derive(Debug, Clone)]
    struct Sample {
        rule: &'static str,
        before: String,
        secret: String,
        after: &'static str,
    }

    /// Random bytes, the same for the same seed.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % sides
        }

        /// `len` bytes `of` a set, with a letter and a digit of each kind that it has.
        fn body(&mut self, of: u16, len: usize) -> String {
            let is = |set: u16| move |byte: &&u8| CLASS[usize::from(**byte)] & set != 0;
            let pool: Vec<u8> = ALPHABET.iter().filter(is(of)).copied().collect();
            let mut body: Vec<u8> = (0..len).map(|_| pool[self.roll(pool.len())]).collect();
            for (place, kind) in [LOWER & of, UPPER & of, DIGIT & of].into_iter().enumerate() {
                let pool: Vec<u8> = ALPHABET.iter().filter(is(kind)).copied().collect();
                if !pool.is_empty() {
                    body[place * len / 3 + 1] = pool[self.roll(pool.len())];
                }
            }
            String::from_utf8(body).unwrap()
        }
    }

    /// The opposite of [`decode`].
    fn encode(json: &str) -> String {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let three = |bytes: &[u8]| {
            let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
            let bits = bits << (8 * (3 - bytes.len()));
            let digit = |place: usize| char::from(digits[bits >> (18 - 6 * place) & 63]);
            (0..=bytes.len()).map(digit).collect::<String>()
        };
        json.as_bytes().chunks(3).map(three).collect()
    }

    fn pem(label: &str, break_: &str, dice: &mut Dice) -> String {
        let mut block = format!("-----BEGIN {label}-----{break_}");
        for _ in 0..3 {
            block += &dice.body(BASE64, 64);
            block += break_;
        }
        block + &format!("-----END {label}-----")
    }

    /// One of each shape, at the lengths that are issued.
    fn samples(seed: u64) -> Vec<Sample> {
        let dice = &mut Dice(seed);
        let mut samples = Vec::new();
        let mut add = |rule, before: &str, secret: String, after| {
            samples.push(Sample { rule, before: before.to_owned(), secret, after });
        };
        for form in &TABLE {
            let Body::Run { of, min, .. } = form.body else { continue };
            for prefix in form.prefixes {
                let issued = match form.rule {
                    "github-token" if *prefix == "github_pat_" => 82,
                    "github-token" | "npm-token" => 36,
                    "anthropic-key" => 101,
                    "openai-key" if *prefix == "sk-" => 48,
                    "digitalocean-token" => 64,
                    "hugging-face-token" => 34,
                    "google-oauth-secret" => 28,
                    "stripe-key" => 24,
                    _ => min,
                };
                let of = of & !DOT;
                add(form.rule, "", format!("{prefix}{}", dice.body(of, issued)), "");
            }
        }
        for prefix in ["AKIA", "ASIA", "ABIA", "ACCA"] {
            let body = dice.body(UPPER | BASE32_DIGIT, 16);
            add("aws-access-key", "", format!("{prefix}{body}"), "");
        }
        for (key, after) in [
            ("aws_secret_access_key = ", ""),
            ("export AWS_SECRET_ACCESS_KEY=", ""),
            ("aws configure set aws_secret_access_key ", ""),
            ("\"SecretAccessKey\": \"", "\""),
            ("\\\"SecretAccessKey\\\": \\\"", "\\\""),
            ("<SecretAccessKey>", "</SecretAccessKey>"),
            ("secretAccessKey: '", "'"),
            ("aws-secret-access-key: ", ""),
        ] {
            add("aws-secret-key", key, dice.body(BASE64, 40), after);
        }
        let stateless = format!("{}.{}.{}", encode(JWT_HEADER), encode(JWT_BODY), SIGNATURE);
        add("github-token", "", format!("ghs_{}_{stateless}", dice.body(DIGIT, 7)), "");
        let routable = format!("{}.01.{}", dice.body(WORD, 27), dice.body(LOWER | DIGIT, 9));
        add("gitlab-token", "", format!("glpat-{routable}"), "");
        let bot = format!("{}-{}-", dice.body(DIGIT, 12), dice.body(DIGIT, 13));
        add("slack-token", "", format!("xoxb-{bot}{}", dice.body(ALNUM, 24)), "");
        let hook = format!("T{}/B{}/", dice.body(UPPER, 9), dice.body(UPPER | DIGIT, 10));
        let hook = hook + &dice.body(ALNUM, 24);
        add("slack-webhook", "https://hooks.slack.com/services/", hook, "");
        let grid = format!("SG.{}.{}", dice.body(WORD, 22), dice.body(WORD, 43));
        add("sendgrid-key", "", grid, "");
        let bot = format!("{}:AA{}", dice.body(DIGIT, 10), dice.body(WORD, 33));
        add("telegram-token", "", bot.clone(), "");
        add("telegram-token", "https://api.telegram.org/bot", bot, "/getMe");
        for header in [JWT_HEADER, r#"{"typ":"JWT","alg":"RS256","kid":"2024-11"}"#] {
            let jwt = format!("{}.{}.", encode(header), encode(JWT_BODY));
            add("jwt", "", jwt + &dice.body(WORD, 43), "");
        }
        for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
            add("private-key", "", pem(label, "\n", dice), "");
        }
        add("private-key", "", pem("ENCRYPTED PRIVATE KEY", "\r\n", dice), "");
        add("private-key", "", pem("PRIVATE KEY", "\\n", dice), "");
        add("private-key", "+", pem("DSA PRIVATE KEY", "\n+", dice), "");
        let pgp = "\nVersion: GnuPG v2\nComment: none\n\n";
        add("private-key", "", pem("PGP PRIVATE KEY BLOCK", pgp, dice), "");
        for (before, password) in [
            ("postgres://app:", dice.body(ALNUM, 12)),
            ("redis://:", dice.body(ALNUM, 20)),
            ("mongodb+srv://user:", "p%40ss-w0rd".to_owned()),
            ("https://user:", "a@b".to_owned()),
            ("amqp://guest:", "пароль1".to_owned()),
        ] {
            add("url-password", before, password, "@db.example.org:5432/app?x=y");
        }
        for (before, after) in [
            ("Authorization: Bearer ", ""),
            ("authorization: bearer ", ""),
            ("\"Authorization\": \"Bearer ", "\""),
            ("headers['Authorization'] = 'Bearer ", "'"),
            ("('Authorization', 'Bearer ", "')"),
        ] {
            add("bearer-token", before, dice.body(ALNUM | DASH, 40), after);
        }
        samples
    }

    const JWT_HEADER: &str = r#"{"alg":"HS256"}"#;
    const JWT_BODY: &str = r#"{"sub":"1234567890","name":"A. Nobody","iat":1516239022}"#;
    const SIGNATURE: &str = concat!("SflKxwRJSMeKKF2QT4fwp", "MeJf36POk6yJV_adQssw5c");

    /// What stands around secrets.
    const PLACES: [(&str, &str); 18] = [
        ("", ""),
        ("use ", " now"),
        ("line\n", "\nline"),
        ("TOKEN=", ""),
        ("TOKEN=", ";"),
        ("'", "',"),
        ("\"", "\""),
        ("{\"token\":\"", "\"}"),
        ("{\\\"token\\\":\\\"", "\\\"}"),
        ("one\\n", "\\ntwo"),
        ("key: ", ". Done"),
        ("`", "`"),
        ("(", ")"),
        ("<b>", "</b>"),
        ("?q=%22", "%22&x=1"),
        ("\x1b[01;31m\x1b[K", "\x1b[m"),
        ("密钥", "。"),
        ("…", "…"),
    ];

    /// What looks like a secret and has to stay.
    fn look_alikes() -> Vec<String> {
        let dice = &mut Dice(7);
        let hex = "3f786850e387550fdab836ed7e6dc881de23001b";
        let sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let mut texts: Vec<String> = [
            "no secret here",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> sk-fix)",
            "id 550e8400-e29b-41d4-a716-446655440000",
            "ghp_ is the prefix of GitHub's personal tokens, glpat- that of GitLab's, sk- of OpenAI's",
            "set GITHUB_TOKEN to ghp_... or gho_<token>, SLACK_TOKEN to xoxb-your-token-goes-here",
            "task-5f3a9c, risk-assessment-2024-q3-final-report-v2, disk-usage, mask-rcnn-resnet50",
            "sk-learn sk-SK sk-linearregression sk-report-generator-for-quarterly-numbers-2024",
            "sk-ssh-ed25519@openssh.com sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
            "risk-ant-colony-optimization-2-of-3-with-pheromones",
            "fn task_live_reload_of_the_configuration() { sk_test_helpers::run_everything_now() }",
            "pnpm_config_registry npm_config_registry npm_lifecycle_event npm_package_version",
            "hf_hub_download(repo_id) hf_token hf_transfer_enabled_by_default_in_newer_releases",
            "precious ciocolata cioè socioeconomic ciouploadmanagerconfigurationbuilderfactory",
            "AKIAPPLE ASIAN AKIA ASIA-PACIFIC ASIA_PACIFIC_HEADQUARTERS_1",
            "AIzaSy... GOCSPX-xxxxxxxxxxxxxxxxxxxxxxxxxxxx SG.x.y SG.1.2 dop_v1_ pypi-AgEIcHlwaS5vcmc",
            "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
            "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
            "uses: docker://alpine:3.19@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b",
            "https://example.org:8080/@scope/name and http://[::1]:80/ and mailto:a:b@example.org",
            "http://localhost:3000,admin@example.org [x](http://localhost:80)me@example.org",
            "ssh://git@example.org:22/repo.git git@github.com:owner/repo.git https://user@example.org",
            "postgres://user:***@db/app postgres://user:$PASSWORD@db postgres://user:${DB_PASS}@db",
            "postgres://user:<password>@db postgres://user:{pw}@db postgres://user:%s@db x://u:…@h",
            "postgres://user:password@db mysql://root:PASSWORD@db https://user:x-oauth-basic@github.com",
            "redis://user:@db redis://:@db https://a:xxxxxx@host https://user:••••••@host",
            "Authorization: Bearer $TOKEN, Authorization: Bearer <token>, Authorization: Bearer ${TOKEN}",
            "Authorization: Bearer your-access-token-goes-here, bearer of bad news, Bearer token",
            "Authorization: Basic realm=\"x\", Authorization: Bearer xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "12:30:45 12345678:AA not a bot; 2024-01-01T00:00:00Z",
            "AWS_SECRET_ACCESS_KEY=$SECRET aws_secret_access_key = <your key> secret_access_key: \"\"",
            "if text.contains(\"-----BEGIN PRIVATE KEY-----\") { return Err(Leak) } // ABCabc0123456789",
            "the line -----BEGIN PRIVATE KEY----- and the line -----END PRIVATE KEY----- enclose it",
            "\"-----BEGIN RSA PRIVATE KEY-----\\nkey omitted\\n-----END RSA PRIVATE KEY-----\"",
            "[redacted:github-token] https://user:[redacted:url-password]@host",
            "Authorization: Bearer [redacted:bearer-token]",
            "eyJ eyJhbGciOiJIUzI1NiJ9 eyJub3QiOiJqd3QifQ.eyJub3QiOiJqd3QifQ.x eyJa.eyJb.eyJc",
            "RFC 3339, x-y-z, --------------------------------, __________________________________",
        ]
        .map(str::to_owned)
        .into();
        let public = pem("PUBLIC KEY", "\n", dice);
        let certificate = pem("CERTIFICATE", "\n", dice);
        let image = dice.body(BASE64, 2000);
        texts.extend([
            format!("{public}\n{certificate}"),
            format!("![x](data:image/png;base64,iVBORw0KGgo{image}==)"),
            format!("src=\"data:font/woff2;base64,d09GMgABAAAAA{image}\""),
            format!("sk-{hex}").replace("sk-", "disk-"),
            format!("{hex} {sha256} sha256:{sha256} {}", hex.to_uppercase()),
            format!("aws_access_key_id = {}{}", "AKIA", "IOSFODNN7EXAMPLE"),
            format!("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/{}{}", "bPxRfiCY", "EXAMPLEKEY"),
            format!("ghp_{} AKIA{} xoxb-{}", "x".repeat(36), "X".repeat(16), "0".repeat(40)),
            format!("glpat-{} hf_{} npm_{}", "*".repeat(20), "A".repeat(34), "a".repeat(36)),
            format!("sk-ant-api03-{} sk-proj-{}", "x".repeat(93), "X".repeat(60)),
            format!("hooks.slack.com/services/T00000000/B00000000/{}", "X".repeat(24)),
            format!("{}.{}.{}", encode(r#"{"not":"a token"}"#), encode(JWT_BODY), SIGNATURE),
            format!("{}.{}.short", encode(JWT_HEADER), encode(JWT_BODY)),
        ]);
        texts
    }

    #[test]
    fn the_names_are_those_of_the_table() {
        let mut names: Vec<_> = TABLE.iter().map(|form| form.rule).collect();
        names.dedup();
        assert_eq!(names, RULES);
    }

    #[test]
    #[allow(clippy::print_stdout)]
    fn precision_and_recall_on_the_corpus() {
        let mut table: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
        let mut wrong = Vec::new();
        for Sample { rule, before, secret, after } in (0..20).flat_map(samples) {
            for (left, right) in PLACES {
                let text = format!("{left}{before}{secret}{after}{right}");
                let start = left.len() + before.len();
                let expected = Finding { rule, range: start..start + secret.len() };
                let found = find(&text);
                let hit = u32::from(found.contains(&expected));
                let row = table.entry(rule).or_default();
                row[0] += 1;
                row[1] += hit;
                row[2] += u32::try_from(found.len()).unwrap() - hit;
                if found != [expected] {
                    wrong.push((text, found));
                }
            }
        }
        let look_alikes = look_alikes();
        for text in &look_alikes {
            let found = find(text);
            for finding in &found {
                table.entry(finding.rule).or_default()[2] += 1;
            }
            if !found.is_empty() {
                wrong.push((text.clone(), found));
            }
        }
        println!("{:<22}{:>8}{:>8}{:>8}{:>10}", "rule", "secrets", "found", "false", "recall");
        let mut sum = [0; 3];
        for (rule, row) in &table {
            let [secrets, found, wrong] = row;
            let recall = f64::from(*found) / f64::from(*secrets);
            println!("{rule:<22}{secrets:>8}{found:>8}{wrong:>8}{recall:>10.4}");
            sum.iter_mut().zip(row).for_each(|(sum, cell)| *sum += cell);
        }
        let [secrets, found, false_] = sum.map(f64::from);
        println!(
            "recall {:.4}, precision {:.4}, look-alikes {}",
            found / secrets,
            found / (found + false_),
            look_alikes.len()
        );
        assert!(wrong.is_empty(), "{} wrong, the first: {:#?}", wrong.len(), wrong[0]);
        assert_eq!(table.len(), RULES.len());
    }

    #[test]
    fn a_placeholder_stands_where_the_secret_stood() {
        assert_eq!(redact("nothing here"), None);
        let github = format!("ghp_{}", Dice(1).body(ALNUM, 36));
        let text = format!("{github} and again {github}.");
        let expected = "[redacted:github-token] and again [redacted:github-token].".to_owned();
        assert_eq!(redact(&text), Some((expected, vec!["github-token", "github-token"])));
    }

    #[test]
    fn a_secret_in_a_value_is_named_by_its_own_rule() {
        let dice = &mut Dice(2);
        let (lab, hub) = (dice.body(WORD, 20), dice.body(ALNUM, 36));
        for (text, expected) in [
            (
                format!("https://oauth2:glpat-{lab}@gitlab.example.org/a.git"),
                "https://oauth2:[redacted:gitlab-token]@gitlab.example.org/a.git",
            ),
            (
                format!("Authorization: Bearer ghp_{hub}"),
                "Authorization: Bearer [redacted:github-token]",
            ),
            (
                format!("https://ghp_{hub}:x-oauth-basic@github.com/a/b"),
                "https://[redacted:github-token]:x-oauth-basic@github.com/a/b",
            ),
            (
                format!("https://ghp_{hub}:hunter2@github.com/a/b"),
                "https://[redacted:github-token]:[redacted:url-password]@github.com/a/b",
            ),
            (
                format!("https://user:glpat-{lab}!more@host"),
                "https://user:[redacted:gitlab-token]@host",
            ),
            (
                format!("https://user:pre!glpat-{lab}@host"),
                "https://user:[redacted:url-password]@host",
            ),
        ] {
            assert_eq!(redact(&text).unwrap().0, expected);
        }
    }

    #[test]
    fn a_private_key_that_is_not_ended_goes_to_the_end_of_the_text() {
        let block = pem("PRIVATE KEY", "\n", &mut Dice(3));
        let clipped = format!("$ head -3 key.pem\n{}", &block[..160]);
        assert_eq!(redact(&clipped).unwrap().0, "$ head -3 key.pem\n[redacted:private-key]");
        let two = format!("{block}\nbetween\n{block}\nafter");
        let expected = "[redacted:private-key]\nbetween\n[redacted:private-key]\nafter";
        assert_eq!(redact(&two).unwrap().0, expected);
    }

    /// What [`find`] looks at is in proportion to the text, whatever the text is.
    #[test]
    fn the_work_is_linear_in_the_text() {
        let looked_at = |text: &str| {
            LOOKED_AT.set(0);
            let _ = redact(text);
            LOOKED_AT.get()
        };
        let mut units: Vec<String> = [
            "eyJ",
            "eyJ.",
            "eyJhbGciOiJIUzI1NiJ9.eyJ",
            "eyJhbGciOiJIUzI1NiJ9.eyJhbGciOiJIUzI1NiJ9.",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----\nABCDEFabcdef0123456789ABCDEFabcdef0123456789\n",
            "-----END PRIVATE KEY-----",
            "-----END ",
            "-",
            "://a:",
            "a://a:",
            "a://a:b@",
            "a://a:bcd@h",
            "Authorization: Bearer ",
            "[0;0m",
            "1234567890:AA",
            ".",
            "ghs_.",
            "a",
        ]
        .map(str::to_owned)
        .into();
        let prefixes = || TABLE.iter().flat_map(|form| form.prefixes);
        for prefix in prefixes() {
            for filler in ["", "-", ".", "/", " ", "\n", "=", ":", "a", "aB3dE5gH7"] {
                units.push(format!("{prefix}{filler}"));
            }
            units.extend(prefixes().map(|other| format!("{prefix}{other}")));
        }
        for unit in units {
            let text = unit.repeat(8192 / unit.len());
            let steps = looked_at(&text);
            assert!(steps <= 24 * text.len(), "{steps} steps for {} of {unit:?}", text.len());
        }
        for unit in ["eyJ", "-----BEGIN PRIVATE KEY-----", "://a:", "glpat-", "sk-", "SG.", "ghs_."]
        {
            let (short, long) = (unit.repeat(1 << 12), unit.repeat(1 << 16));
            assert!(looked_at(&long) <= 17 * looked_at(&short), "{unit:?}");
        }
    }

    /// Pieces that make the rules meet: prefixes, runs, markers, and what is between words.
    fn any_text() -> impl Strategy<Value = String> {
        let prefixes: Vec<_> = TABLE.iter().flat_map(|form| form.prefixes).copied().collect();
        let piece = prop_oneof![
            4 => prop::sample::select(prefixes).prop_map(str::to_owned),
            4 => "[a-zA-Z0-9]{1,45}",
            2 => "[a-zA-Z0-9_+/=.-]{1,45}",
            1 => "[A-Z2-7]{16}",
            1 => "[0-9]{8,12}",
            4 => prop::sample::select(vec![
                " ", "\n", "\"", "=", ":", "@", "/", ".", "-", "_", "\\n", "%3D", "[31m", "]", "é", "密",
                "$", "user", "https", "Bearer ", "-----END PRIVATE KEY-----", "PRIVATE KEY-----\n",
                "-----", "[redacted:jwt]", "eyJhbGciOiJIUzI1NiJ9.", "sha256:", "EXAMPLE",
            ]).prop_map(str::to_owned),
            2 => (any::<u64>(), any::<prop::sample::Index>()).prop_map(|(seed, index)| {
                let Sample { before, secret, after, .. } = index.get(&samples(seed)).clone();
                format!("{before}{secret}{after}")
            }),
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn findings_are_in_order_and_on_character_boundaries(text in any_text()) {
            let mut end = 0;
            for Finding { rule, range } in find(&text) {
                prop_assert!(RULES.contains(&rule));
                prop_assert!(end <= range.start && range.start < range.end);
                prop_assert!(text.get(range.clone()).is_some());
                end = range.end;
            }
        }

        #[test]
        fn redacting_is_idempotent(text in any_text()) {
            if let Some((redacted, _)) = redact(&text) {
                prop_assert_eq!(redact(&redacted), None, "{}", redacted);
            }
        }

        #[test]
        fn a_secret_between_words_is_found_alone(
            seed in any::<u64>(),
            index in any::<prop::sample::Index>(),
            words in prop::array::uniform2("[a-z]{0,8}( [a-zA-Z]{1,8}){0,3}"),
            (left, right) in prop::sample::select(PLACES.to_vec()),
        ) {
            let Sample { rule, before, secret, after } = index.get(&samples(seed)).clone();
            let gap = if left.is_empty() { " " } else { "" };
            let start = format!("{}{gap}{left}{before}", words[0]);
            let text = format!("{start}{secret}{after}{right} {}", words[1]);
            let range = start.len()..start.len() + secret.len();
            prop_assert_eq!(find(&text), vec![Finding { rule, range }]);
        }

        /// Looking at every second pair misses no anchor of a prefix.
        #[test]
        fn every_prefix_is_seen(text in any_text(), from in 0_usize..40) {
            let text = text.as_bytes();
            let from = from.min(text.len());
            let mut next = next_anchor(text, from);
            for place in from..text.len() {
                if let Some((hit, forms)) = next && hit == place {
                    prop_assert_eq!(anchor_in(text, place..place + 1), Some((place, forms)));
                    next = next_anchor(text, place + 1);
                    continue;
                }
                for (form, anchors) in TABLE.iter().zip(ANCHORS) {
                    for (prefix, anchor) in form.prefixes.iter().zip(anchors) {
                        let three = &prefix.as_bytes()[anchor..anchor + 3];
                        prop_assert!(!text[place..].starts_with(three), "{} at {}", prefix, place);
                    }
                }
            }
        }
    }
}
