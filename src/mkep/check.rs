//! Checks of single values, each in the order in which its faults are reported.
//!
//! Rule: docs/spec/mkep.md, section 7.

use super::error::{Code, Refusal};
use super::json::{Json, Members};

/// Most characters of a text.
pub const TEXT_MAX: usize = 512;
/// Most characters of the name of a holder or an actor.
pub const HOLDER_MAX: usize = 256;
/// Most items of a list of texts.
pub const LIST_MAX: usize = 32;

/// What a pattern must match, whole.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// As a regular expression.
    shown: &'static str,
    matches: fn(&str) -> bool,
}

pub const GOAL_ID: Form =
    Form { shown: "[a-z0-9][a-z0-9._-]{1,31}/[a-z0-9][a-z0-9._-]{1,63}", matches: is_goal_id };
pub const GATE_ID: Form = Form { shown: "[a-z0-9][a-z0-9._-]{2,79}", matches: is_gate_id };
pub const SCOPE_KEY: Form = Form { shown: "[a-z0-9][a-z0-9._/-]{0,79}", matches: is_scope_key };
pub const PAYLOAD_SCHEMA: Form =
    Form { shown: "[a-z0-9][a-z0-9._-]{0,63}/[0-9]{1,3}", matches: is_payload_schema };
/// Handoffs and origins.
pub const ID: Form = Form { shown: "[0-9a-f]{32}", matches: is_id };
/// Digests and operation ids.
pub const DIGEST: Form = Form { shown: "[0-9a-f]{64}", matches: is_digest };

/// A text of 1 to 512 characters; with `None`, an absent one, no string.
pub fn text(path: &str, value: Option<&Json>) -> Result<Json, Refusal> {
    bounded(path, value, TEXT_MAX)
}

/// The same with at most 256 characters.
pub fn holder(path: &str, value: Option<&Json>) -> Result<Json, Refusal> {
    bounded(path, value, HOLDER_MAX)
}

fn bounded(path: &str, value: Option<&Json>, most: usize) -> Result<Json, Refusal> {
    let Some(Json::Text(text)) = value else {
        return Err(Refusal::at(Code::Type, path, "is not a string"));
    };
    match text.shown().chars().count() {
        0 => Err(Refusal::at(Code::MissingField, path, "is empty")),
        length if length > most => {
            Err(Refusal::at(Code::LimitExceeded, path, &format!("is longer than {most}")))
        }
        _ => Ok(Json::Text(text.clone())),
    }
}

/// A list of at most 32 texts.
pub fn texts(path: &str, value: Option<&Json>) -> Result<Json, Refusal> {
    let Some(Json::List(items)) = value else {
        return Err(Refusal::at(Code::Type, path, "is not an array"));
    };
    if items.len() > LIST_MAX {
        let what = format!("has more than {LIST_MAX} items");
        return Err(Refusal::at(Code::LimitExceeded, path, &what));
    }
    let checked = items.iter().enumerate();
    let checked = checked.map(|(index, item)| text(&format!("{path}[{index}]"), Some(item)));
    checked.collect::<Result<Vec<_>, _>>().map(Json::List)
}

/// A string of a form.
pub fn pattern<'a>(path: &str, value: Option<&'a Json>, form: Form) -> Result<&'a str, Refusal> {
    let Some(Json::Text(text)) = value else {
        return Err(Refusal::at(Code::Type, path, "is not a string"));
    };
    let found = text.as_str().filter(|text| (form.matches)(text));
    let refused =
        || Refusal::at(Code::Pattern, path, &format!("is not of the form {}", form.shown));
    found.ok_or_else(refused)
}

/// One of a closed set of strings.
pub fn choice(
    path: &str,
    value: Option<&Json>,
    choices: &[&'static str],
) -> Result<&'static str, Refusal> {
    let given = value.and_then(Json::as_str);
    let found = given.and_then(|given| choices.iter().find(|choice| **choice == given));
    found.copied().ok_or_else(|| Refusal::at(Code::Pattern, path, "is none of the values allowed"))
}

/// An integer from `least` to `most`.
pub fn integer(path: &str, value: &Json, least: i64, most: i64) -> Result<i64, Refusal> {
    if !value.is_int() {
        return Err(Refusal::at(Code::Type, path, "is not an integer"));
    }
    value.as_i64().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        let details = [("path", path.into()), ("min", least.into()), ("max", most.into())];
        let message = format!("{path} is not from {least} to {most}");
        Refusal::new(Code::LimitExceeded, message, details)
    })
}

/// Refuses the first member, sorted by name, that is none of `known`. `prefix` stands before the
/// name in the path.
pub fn closed(prefix: &str, members: &Members, known: &[&str]) -> Result<(), Refusal> {
    let unknown = members.sorted_keys().into_iter();
    let mut unknown = unknown.filter(|key| key.as_str().is_none_or(|key| !known.contains(&key)));
    match unknown.next() {
        None => Ok(()),
        Some(key) => {
            let path = format!("{prefix}{}", key.shown());
            Err(Refusal::at(Code::UnknownField, &path, "is not known here"))
        }
    }
}

/// Refuses `members` without one of `required`, which are looked for in their order.
pub fn complete(prefix: &str, members: &Members, required: &[&str]) -> Result<(), Refusal> {
    match required.iter().find(|key| !members.contains(key)) {
        None => Ok(()),
        Some(key) => Err(Refusal::at(Code::MissingField, &format!("{prefix}{key}"), "is missing")),
    }
}

/// Whether `text` is a byte of `first` and then so many of `rest`.
fn is_word(text: &str, least: usize, most: usize, also: &[u8]) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    (least..=most).contains(&bytes.len())
        && plain(bytes[0])
        && bytes.iter().all(|byte| plain(*byte) || also.contains(byte))
}

#[must_use]
pub fn is_goal_id(text: &str) -> bool {
    text.split_once('/')
        .is_some_and(|(team, name)| is_word(team, 2, 32, b"._-") && is_word(name, 2, 64, b"._-"))
}

#[must_use]
pub fn is_gate_id(text: &str) -> bool {
    is_word(text, 3, 80, b"._-")
}

#[must_use]
pub fn is_scope_key(text: &str) -> bool {
    is_word(text, 1, 80, b"._/-")
}

#[must_use]
pub fn is_payload_schema(text: &str) -> bool {
    text.split_once('/').is_some_and(|(name, version)| {
        is_word(name, 1, 64, b"._-")
            && (1..=3).contains(&version.len())
            && version.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[must_use]
pub fn is_id(text: &str) -> bool {
    is_hex(text, 32)
}

#[must_use]
pub fn is_digest(text: &str) -> bool {
    is_hex(text, 64)
}

/// A ULID, `[0-9A-HJKMNP-TV-Z]{26}`, or 32 hex digits.
#[must_use]
pub fn is_request_id(text: &str) -> bool {
    let in_ulid =
        |byte: u8| byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"ILOU".contains(&byte));
    is_id(text) || (text.len() == 26 && text.bytes().all(in_ulid))
}
