//! The key of what is leased: one for all spellings of a file.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::code::{Code, Coded};
use crate::id::shown;
use crate::text;

/// Longest key, in characters.
pub const KEY_MAX: usize = 1_024;

/// What a lease is on: a path below the root, or a name with a scheme such as `service:auth`.
///
/// Two are the same if their keys are. A key that ends in `/` stands for everything below it too.
/// A path whose first part could be taken for a scheme, or begins with white space, has `./` in front.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource(String);

/// Where paths are spelt from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The directory that keys are relative to, absolute.
    pub root: String,
    /// The directory that relative paths are relative to, absolute; the root, if it lies elsewhere.
    pub here: String,
    /// Whether the volume takes names that differ in letter case only for one.
    pub folds_case: bool,
}

/// Why a text is no resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResourceError {
    #[error("a resource is empty")]
    Empty,
    #[error("'{}' is the root of the project, which cannot be leased", shown(.0))]
    Root(String),
    #[error("'{}' lies outside of '{root}'", shown(text))]
    Outside { text: String, root: String },
    #[error("the path '{}' ends with white space, and so no spelling would name it again", shown(.0))]
    White(String),
    #[error("the resource '{}' has a control character at character {position}", shown(text))]
    Control { text: String, position: usize },
    #[error("the resource '{}' has {length} characters, {KEY_MAX} are allowed", shown(start))]
    TooLong { start: String, length: usize },
}

impl Coded for ResourceError {
    fn code(&self) -> Code {
        Code::INVALID_ARGUMENT
    }
}

impl Resource {
    /// Reads a path or a name as somebody at `place` spells it.
    ///
    /// `\` is `/`; `.`, `..` and empty parts are worked out, on the text alone: links are not
    /// followed. Unicode is composed (NFC). A name with a scheme stays as it is.
    ///
    /// # Errors
    /// If it names nothing, the root or what lies outside of it; above [`KEY_MAX`] characters; with a
    /// character that a terminal would obey and not show.
    ///
    /// Rule: docs/design.md, section 5.
    pub fn locate(text: &str, place: &Place) -> Result<Self, ResourceError> {
        let trimmed = text::trim(text);
        if trimmed.is_empty() {
            return Err(ResourceError::Empty);
        }
        if let Some(at) = trimmed.chars().position(text::is_unsafe) {
            let before = text.chars().take_while(|c| text::is_white(*c)).count();
            return Err(ResourceError::Control {
                text: text.to_owned(),
                position: before + at + 1,
            });
        }
        if has_scheme(trimmed) {
            return Self::checked(trimmed.to_owned());
        }
        let path = trimmed.replace('\\', "/");
        let outside = || ResourceError::Outside { text: text.to_owned(), root: place.root.clone() };
        let absolute =
            if path.starts_with('/') { path.clone() } else { format!("{}/{path}", place.here) };
        let compose = |path: &str| -> String {
            let composed: String = path.nfc().collect();
            match place.folds_case {
                // Small letters may compose where the capitals did not.
                true => composed.to_lowercase().nfc().collect(),
                false => composed,
            }
        };
        let (absolute, root) = (compose(&absolute), compose(&place.root));
        let root = segments(&root, false);
        let segments = segments(&absolute, false);
        let below = segments.strip_prefix(root.as_slice()).ok_or_else(outside)?;
        if below.is_empty() {
            return Err(ResourceError::Root(text.to_owned()));
        }
        let mut key = below.join("/");
        if key.ends_with(text::is_white) {
            return Err(ResourceError::White(text.to_owned()));
        }
        if has_scheme(&key) || key.starts_with(text::is_white) {
            key.insert_str(0, "./");
        }
        if path.ends_with('/') {
            key.push('/');
        }
        Self::checked(key)
    }

    /// The nearest directory above the file `path` that is a resource, as somebody at `place` spells it;
    /// for a file whose own name is none.
    #[must_use]
    pub fn above(path: &str, place: &Place) -> Option<Self> {
        let path = path.replace('\\', "/");
        let directories = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
        // With the dot, white space that the name of a directory ends with counts.
        directories.filter_map(|it| Self::locate(&format!("{it}/."), place).ok()).next()
    }

    /// The key of the peer, which knows no root, no schemes and no subtrees; but that `//x` is `/x`.
    ///
    /// # Errors
    /// If it is blank, `.` or `/`, or above [`KEY_MAX`] characters.
    ///
    /// Rule: docs/spec/kernel.md, section 12, and section 21, item 10.
    pub fn of_peer(text: &str) -> Result<Self, ResourceError> {
        let path = text::trim(text).replace('\\', "/");
        let root = if path.starts_with('/') { "/" } else { "" };
        let key = format!("{root}{}", segments(&path, root.is_empty()).join("/"));
        match key.as_str() {
            "" if path.is_empty() => Err(ResourceError::Empty),
            "" | "/" => Err(ResourceError::Root(text.to_owned())),
            _ => Self::checked(key),
        }
    }

    /// A key that was made by [`Resource::locate`] before, as reports show it.
    ///
    /// # Errors
    /// Above [`KEY_MAX`] characters, or if it is empty.
    pub fn of_key(key: &str) -> Result<Self, ResourceError> {
        if key.is_empty() {
            return Err(ResourceError::Empty);
        }
        Self::checked(key.to_owned())
    }

    fn checked(key: String) -> Result<Self, ResourceError> {
        let length = key.chars().count();
        if length > KEY_MAX {
            let start = key.chars().take(32).collect();
            return Err(ResourceError::TooLong { start, length });
        }
        Ok(Self(key))
    }

    /// A spelling that [`Resource::locate`] reads the same in any directory below the root of `place`.
    #[must_use]
    pub fn spelt(&self, place: &Place) -> String {
        if has_scheme(&self.0) { self.0.clone() } else { format!("{}/{}", place.root, self.0) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether everything below it belongs to it.
    #[must_use]
    pub fn is_tree(&self) -> bool {
        self.0.ends_with('/')
    }

    /// The key without the `/` of a subtree.
    pub(super) fn path(&self) -> &str {
        self.0.strip_suffix('/').unwrap_or(&self.0)
    }

    /// Whether there is anything that belongs to both.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.path() == other.path() || self.holds(other) || other.holds(self)
    }

    fn holds(&self, other: &Self) -> bool {
        self.is_tree() && other.0.starts_with(&self.0)
    }

    /// The keys that a lease of it must not meet, but for those below it: its path with and without
    /// the `/`, and the subtrees that it lies in.
    pub fn around(&self) -> impl Iterator<Item = &str> {
        let slashes = self.path().match_indices('/').map(|(at, _)| &self.0[..=at]);
        slashes.chain([self.path()])
    }

    /// What all keys below it begin with.
    #[must_use]
    pub fn below(&self) -> String {
        format!("{}/", self.path())
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether `text` begins like `service:`.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.len() <= 32
        && scheme
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.-".contains(&b))
        && !rest.is_empty()
}

/// The parts of a path, without those that are empty or `.`, and with each `..` worked out; one that
/// has nothing to take away stays if `keeps_up`.
fn segments(path: &str, keeps_up: bool) -> Vec<&str> {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match kept.last() {
                Some(&last) if last != ".." => {
                    kept.pop();
                }
                _ if keeps_up => kept.push(".."),
                _ => {}
            },
            part => kept.push(part),
        }
    }
    kept
}
