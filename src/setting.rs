//! The settings of a project, and what each may be.

use crate::code::{Code, Coded};
use crate::compaction::NUMBER_MAX;
use crate::id::{AgentId, IdError, shown};
use crate::revision::distance;
use crate::text;

/// Most seconds that a summarizer may take.
pub const SUMMARIZER_SECONDS_MAX: u64 = 3_600;

/// Most characters of a command.
const COMMAND_MAX: usize = 4_096;

enum Kind {
    Agent,
    OneOf(&'static [&'static str]),
    /// A whole number from one to another.
    Number(u64, u64),
    /// A command for the shell.
    Command,
    /// `all`, `failures`, `off`, or a regular expression.
    Pattern,
    /// Words for `mk`, or after `!` a command for the shell.
    Alias,
}

/// What the names of aliases begin with.
pub const ALIAS: &str = "alias.";

const SETTINGS: &[(&str, Kind)] = &[
    ("agent.id", Kind::Agent),
    ("core.durability", Kind::OneOf(&["full", "normal"])),
    ("core.git", Kind::OneOf(&["on", "off"])),
    ("core.secrets", Kind::OneOf(&["redact", "refuse", "off"])),
    ("gc.auto", Kind::OneOf(&["on", "off"])),
    ("gc.threshold", Kind::Number(1, NUMBER_MAX)),
    ("gc.low-water", Kind::Number(0, NUMBER_MAX)),
    ("gc.retain-events", Kind::Number(0, NUMBER_MAX)),
    ("gc.retain-tokens", Kind::Number(0, NUMBER_MAX)),
    ("gc.min-gain", Kind::Number(0, NUMBER_MAX)),
    ("gc.summarizer", Kind::Command),
    ("hook.enforce", Kind::OneOf(&["deny", "ask", "warn", "off"])),
    ("hook.record", Kind::Pattern),
    ("hook.strict", Kind::OneOf(&["true", "false"])),
    ("gc.summarizer-timeout", Kind::Number(1, SUMMARIZER_SECONDS_MAX)),
];

/// Why a setting cannot be that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error("'{}' is no setting", shown(name))]
    Unknown { name: String, nearest: Option<&'static str> },
    #[error("{name}: {source}")]
    Agent { name: &'static str, source: IdError },
    #[error("{name}: '{}' is no whole number from {least} to {most}", shown(value))]
    Number { name: &'static str, value: String, least: u64, most: u64 },
    #[error("{name}: a command has 1 to {COMMAND_MAX} characters and no NUL")]
    Command { name: &'static str },
    #[error(
        "{name}: '{}' is neither all, failures, off nor a regular expression: {why}",
        shown(value)
    )]
    Pattern { name: &'static str, value: String, why: String },
    #[error("an alias is named with letters, digits and -, and begins with a letter, 32 at most")]
    AliasName,
    #[error("an alias stands for 1 to {COMMAND_MAX} characters without NUL, its quotes closed")]
    AliasWords,
    #[error("{name}: '{}' is not one of {}", shown(value), options.join(", "))]
    Option { name: &'static str, value: String, options: &'static [&'static str] },
}

impl Coded for SettingError {
    fn code(&self) -> Code {
        Code::INVALID_ARGUMENT
    }
}

/// A setting that there is.
pub struct Setting {
    name: &'static str,
    kind: &'static Kind,
}

impl Setting {
    /// # Errors
    /// [`SettingError::Unknown`], with a name that is close if there is one.
    pub fn named(name: &str) -> Result<Self, SettingError> {
        if let Some(alias) = name.strip_prefix(ALIAS) {
            let is_named = alias.starts_with(|c: char| c.is_ascii_alphabetic())
                && alias.len() <= 32
                && alias.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            return match is_named {
                true => Ok(Self { name: "alias", kind: &Kind::Alias }),
                false => Err(SettingError::AliasName),
            };
        }
        if let Some((name, kind)) = SETTINGS.iter().find(|(known, _)| *known == name) {
            return Ok(Self { name, kind });
        }
        let near = SETTINGS.iter().map(|(known, _)| (distance(known, name), *known)).min();
        let nearest = near.filter(|(distance, _)| *distance <= 3).map(|(_, known)| known);
        Err(SettingError::Unknown { name: name.to_owned(), nearest })
    }

    /// Whether it may be `value`.
    ///
    /// # Errors
    /// What it may be.
    pub fn check(&self, value: &str) -> Result<(), SettingError> {
        let name = self.name;
        match self.kind {
            Kind::Agent => match value.parse::<AgentId>() {
                Ok(_) => Ok(()),
                Err(source) => Err(SettingError::Agent { name, source }),
            },
            Kind::Number(least, most) => match value.parse::<u64>() {
                Ok(number) if (*least..=*most).contains(&number) => Ok(()),
                _ => {
                    let (value, least, most) = (value.to_owned(), *least, *most);
                    Err(SettingError::Number { name, value, least, most })
                }
            },
            Kind::Command => {
                let is_blank = text::trim(value).is_empty();
                match is_blank || value.contains('\0') || value.chars().count() > COMMAND_MAX {
                    false => Ok(()),
                    true => Err(SettingError::Command { name }),
                }
            }
            Kind::Pattern => match regex_lite::Regex::new(value) {
                Ok(_) => Ok(()),
                Err(error) => {
                    let why = error.to_string();
                    Err(SettingError::Pattern { name, value: value.to_owned(), why })
                }
            },
            Kind::Alias => {
                let is_short = value.chars().count() <= COMMAND_MAX && !value.contains('\0');
                let says = match value.strip_prefix('!') {
                    Some(command) => !text::trim(command).is_empty(),
                    None => words(value).is_some_and(|words| !words.is_empty()),
                };
                if is_short && says { Ok(()) } else { Err(SettingError::AliasWords) }
            }
            Kind::OneOf(options) if options.contains(&value) => Ok(()),
            Kind::OneOf(options) => {
                Err(SettingError::Option { name, value: value.to_owned(), options })
            }
        }
    }
}

/// `text` as words: white space stands between them, unless it is quoted with `'`, with `"`, or with a
/// `\\` before it. None if a quote is not closed.
#[must_use]
pub fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().push(chars.next()?),
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if text::is_white(c) => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        for (text, expected) in [
            ("", Some(vec![])),
            ("  log  -n 3 ", Some(vec!["log", "-n", "3"])),
            (r#"note 'a b' "c \" d" e\ f"#, Some(vec!["note", "a b", "c \" d", "e f"])),
            ("note ''", Some(vec!["note", ""])),
            ("a'b'\"c\"", Some(vec!["abc"])),
            ("'open", None),
            ("open\\", None),
        ] {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
