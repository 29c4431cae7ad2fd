//! The shapes of secrets: a table, and the sets of bytes it is written in.

use std::ops::Range;

use super::readers::{
    aws_access_key, aws_secret_key, bearer_token, jwt, private_key, sendgrid_key, slack_webhook,
    telegram_token, url_password,
};
use super::scan::Scan;

pub(super) const HEX_LETTER: u16 = 1;
pub(super) const LOWER: u16 = 2 | HEX_LETTER;
pub(super) const UPPER: u16 = 4;
pub(super) const BASE32_DIGIT: u16 = 8;
pub(super) const DIGIT: u16 = 16 | BASE32_DIGIT;
pub(super) const UNDERSCORE: u16 = 32;
pub(super) const DASH: u16 = 64;
pub(super) const DOT: u16 = 128;
pub(super) const SLASH: u16 = 256;
pub(super) const TAIL: u16 = 512;
/// What ends the `user:password@host` of a URL.
pub(super) const STOP: u16 = 1024;
pub(super) const ALNUM: u16 = LOWER | UPPER | DIGIT;
pub(super) const WORD: u16 = ALNUM | UNDERSCORE | DASH;
pub(super) const BASE64: u16 = ALNUM | SLASH;

/// The kind of each byte, in the bits of the constants above.
pub(super) static CLASS: [u16; 256] = {
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
pub(super) type Needs = &'static [u16];
pub(super) const TWO_KINDS: Needs = &[LOWER | UPPER, LOWER | DIGIT, UPPER | DIGIT];
pub(super) const BOTH_CASES: Needs = &[LOWER, UPPER];
pub(super) const DIGIT_AND_LETTER: Needs = &[DIGIT, LOWER | UPPER];
pub(super) const ALL_KINDS: Needs = &[LOWER, UPPER, DIGIT];

/// The fewest different bytes in a body: random ones of 16 have more, `xxxx` and `XXXX-0000` not.
pub(super) const DISTINCT: u32 = 8;

/// What may not stand before a prefix.
#[derive(Clone, Copy)]
pub(super) enum Left {
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
pub(super) type Read = fn(&Scan<'_>, usize, usize, usize) -> Option<Range<usize>>;

#[derive(Clone, Copy)]
pub(super) enum Body {
    /// At least `min` bytes `of` a set; prefix and body are the secret.
    Run { of: u16, min: usize, needs: Needs },
    /// What a function makes of it, the prefix included.
    Token(Read),
    /// A value behind the prefix: only it goes, by the name of its own rule if it has one.
    Value(Read),
}

/// One shape of a rule's secrets.
pub(super) struct Form {
    pub(super) rule: &'static str,
    pub(super) prefixes: &'static [&'static str],
    pub(super) left: Left,
    pub(super) body: Body,
}

pub(super) const fn run(
    rule: &'static str,
    prefixes: &'static [&'static str],
    left: Left,
    of: u16,
    min: usize,
    needs: Needs,
) -> Form {
    Form { rule, prefixes, left, body: Body::Run { of, min, needs } }
}

pub(super) const fn token(
    rule: &'static str,
    prefixes: &'static [&'static str],
    left: Left,
    f: Read,
) -> Form {
    Form { rule, prefixes, left, body: Body::Token(f) }
}

pub(super) const fn value(rule: &'static str, prefixes: &'static [&'static str], f: Read) -> Form {
    Form { rule, prefixes, left: Left::Any, body: Body::Value(f) }
}

// The least lengths are below the issued ones where the prefix says enough, so that a token that a
// tool clipped still goes. GitHub's `ghs_` may hold a whole JWT since 2026, GitLab's routable
// tokens have two dots.
#[rustfmt::skip]
pub(super) const TABLE: [Form; 26] = [
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
