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
}

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
            Kind::OneOf(options) if options.contains(&value) => Ok(()),
            Kind::OneOf(options) => {
                Err(SettingError::Option { name, value: value.to_owned(), options })
            }
        }
    }
}
