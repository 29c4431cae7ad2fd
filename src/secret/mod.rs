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

mod forms;
mod readers;
mod scan;
#[cfg(test)]
mod tests;

use std::ops::Range;

use forms::TABLE;
use scan::Scan;

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
