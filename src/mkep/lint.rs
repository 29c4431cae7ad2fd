//! The lint of exports: texts that look like a path, a secret, or the name of the user stop them.
//!
//! It catches accidents; it is no protection.
//!
//! Rule: docs/spec/mkep.md, section 17.

use std::path::{Path, PathBuf};

use unicode_general_category::{GeneralCategory, get_general_category};

use super::error::{Code, Refusal};
use super::json::{Json, Members};

/// What must not leave with a handoff.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The base's absolute path.
    pub base: PathBuf,
    /// Names of the user.
    pub users: Vec<String>,
}

/// Shortest user name that is looked for.
const USER_MIN: usize = 3;

type Rule = (&'static str, fn(&str) -> bool);

const RULES: &[Rule] = &[
    ("absolute_posix_path", |text| text.starts_with('/')),
    ("absolute_posix_path", holds_system_path),
    ("windows_path", holds_drive),
    ("home_reference", |text| holds_variable(text, "$HOME")),
    ("user_reference", |text| holds_variable(text, "$USER")),
    ("tilde_path", holds_tilde_path),
    ("file_url", |text| text.contains("file://")),
    ("secret_prefix", |text| holds_run(text, "sk-", 16, |byte| byte.is_ascii_alphanumeric())),
    ("secret_prefix", |text| holds_run(text, "ghp_", 20, |byte| byte.is_ascii_alphanumeric())),
    ("secret_prefix", |text| {
        holds_run(text, "AKIA", 16, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    }),
    ("secret_prefix", holds_private_key),
    ("secret_prefix", |text| {
        let in_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        ["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-"]
            .iter()
            .any(|prefix| holds_run(text, prefix, 10, in_token))
    }),
];

/// Refuses an envelope with a text that must not leave. Never says what the text is.
pub(super) fn check(envelope: &Members, around: &Surroundings) -> Result<(), Refusal> {
    check_members(envelope, "envelope", around)
}

fn check_members(members: &Members, path: &str, around: &Surroundings) -> Result<(), Refusal> {
    members
        .iter()
        .try_for_each(|(key, value)| check_value(value, &format!("{path}.{}", key.shown()), around))
}

fn check_value(value: &Json, path: &str, around: &Surroundings) -> Result<(), Refusal> {
    match value {
        Json::Text(text) => match fired(text.shown(), around) {
            None => Ok(()),
            Some(rule) => {
                let details = [("rule", rule.into()), ("path", path.into())];
                let message = format!("{path} must not leave ({rule})");
                Err(Refusal::new(Code::Pattern, message, details))
            }
        },
        Json::List(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(at, item)| check_value(item, &format!("{path}[{at}]"), around))
        }
        Json::Object(members) => check_members(members, path, around),
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => Ok(()),
    }
}

fn fired(text: &str, around: &Surroundings) -> Option<&'static str> {
    if let Some((rule, _)) = RULES.iter().find(|(_, fires)| fires(text)) {
        return Some(rule);
    }
    // An ancestor of fewer names is one that many machines share.
    let has_names = |place: &&Path| place.components().count() >= 3;
    let mut places = around.base.ancestors().take_while(has_names);
    if places.any(|place| text.contains(&*place.to_string_lossy())) {
        return Some("base_dir");
    }
    let mut users = around.users.iter().filter(|user| user.chars().count() >= USER_MIN);
    users.any(|user| text.contains(user.as_str())).then_some("username")
}

/// A letter, a digit or `_`, of any script.
fn in_word(character: char) -> bool {
    use GeneralCategory::{
        DecimalNumber, LetterNumber, LowercaseLetter, ModifierLetter, OtherLetter, OtherNumber,
        TitlecaseLetter, UppercaseLetter,
    };
    character == '_'
        || matches!(
            get_general_category(character),
            DecimalNumber
                | LetterNumber
                | LowercaseLetter
                | ModifierLetter
                | OtherLetter
                | OtherNumber
                | TitlecaseLetter
                | UppercaseLetter
        )
}

fn holds_system_path(text: &str) -> bool {
    text.match_indices('/').any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let name = text[at + 1..].split_once('/').map_or("", |(name, _)| name);
        matches!(name, "Users" | "home" | "var" | "tmp" | "opt" | "etc")
            && before.is_none_or(|before| !in_word(before) && before != '-')
    })
}

fn holds_drive(text: &str) -> bool {
    text.match_indices(":\\").any(|(at, _)| {
        text[..at].chars().next_back().is_some_and(|before| before.is_ascii_alphabetic())
    })
}

fn holds_variable(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        before.is_none_or(|before| !before.is_ascii_alphanumeric() && before != '_')
            && after.is_none_or(|after| !in_word(after))
    })
}

fn holds_tilde_path(text: &str) -> bool {
    // Unicode counts the separators U+001C to U+001F as no white space; the reference does.
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    text.match_indices("~/").any(|(at, _)| text[..at].chars().next_back().is_none_or(is_space))
}

fn holds_run(text: &str, prefix: &str, least: usize, in_run: fn(u8) -> bool) -> bool {
    text.match_indices(prefix).any(|(at, _)| {
        text[at + prefix.len()..].bytes().take_while(|byte| in_run(*byte)).count() >= least
    })
}

fn holds_private_key(text: &str) -> bool {
    let prefix = "-----BEGIN ";
    text.match_indices(prefix).any(|(at, _)| {
        let rest = &text[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != ' ').unwrap_or(rest.len());
        rest[..end].ends_with("PRIVATE KEY") && rest[end..].starts_with("-----")
    })
}
