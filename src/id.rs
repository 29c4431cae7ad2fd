//! Checked names and numbers: branches, agents, events, digests.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Makes a type that is written by `Display` and read by `FromStr` a JSON string.
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Longest branch name and agent id, in characters.
pub const NAME_MAX: usize = 128;

/// Why a text is not a name, an event number or a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("{what} is empty")]
    Empty { what: &'static str },
    #[error("{what} '{start}…' has {length} characters, {NAME_MAX} are allowed")]
    TooLong { what: &'static str, start: String, length: usize },
    #[error("{what} '{}' has {} at character {position}", shown(name), char_name(*found))]
    Character { what: &'static str, name: String, position: usize, found: char },
    #[error("branch name '{name}' is refused: {rule}")]
    NewName { name: String, rule: &'static str },
    #[error("'{}' is not {what}", shown(text))]
    Malformed { what: &'static str, text: String },
}

/// `text` as it may stand in a message: one line, no control characters, at most 80 characters.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    out = out.replace("\\'", "'").replace("\\\"", "\"");
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}

fn char_name(found: char) -> String {
    if found.is_control() || found.is_whitespace() {
        format!("U+{:04X}", u32::from(found))
    } else {
        format!("'{found}'")
    }
}

fn check(what: &'static str, name: &str, also: &str) -> Result<(), IdError> {
    if name.is_empty() {
        return Err(IdError::Empty { what });
    }
    let length = name.chars().count();
    if length > NAME_MAX {
        return Err(IdError::TooLong {
            what,
            start: shown(&name.chars().take(16).collect::<String>()),
            length,
        });
    }
    for (index, found) in name.chars().enumerate() {
        let fits = found.is_ascii_alphanumeric() || (index > 0 && also.contains(found));
        if !fits {
            return Err(IdError::Character {
                what,
                name: name.to_owned(),
                position: index + 1,
                found,
            });
        }
    }
    Ok(())
}

/// The name of a branch: `[A-Za-z0-9][A-Za-z0-9._/-]*`, at most 128 characters; the names of
/// `mk`'s own branches begin with `@` and cannot be parsed from a text.
///
/// Rule: docs/spec/kernel.md, section 2.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BranchName(Arc<str>);

impl BranchName {
    /// Where erasures are recorded.
    pub const ERASE: &'static str = "@erase";
    /// The execution log.
    pub const EXEC: &'static str = "@exec";
    /// What was imported from other programs and is no event here.
    pub const IMPORT: &'static str = "@import";

    /// The branch that every project has.
    #[must_use]
    pub fn main() -> Self {
        Self("main".into())
    }

    /// A name read back from a store, where it was checked on the way in.
    #[must_use]
    pub(crate) fn stored(name: &str) -> Self {
        Self(name.into())
    }

    /// Whether the branch is one of `mk`'s own (`@…`).
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with('@')
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name, if a *new* branch may have it. Stricter than parsing, so that a revision such as
    /// `a..b`, `17` or `HEAD` has one meaning.
    ///
    /// # Errors
    /// [`IdError::NewName`] names the rule that was broken.
    ///
    /// Rule: docs/design.md, section 7.
    pub fn check_new(&self) -> Result<(), IdError> {
        let name = self.as_str();
        let rule = if name.contains("..") {
            "'..' stands for a range"
        } else if name.contains("//") {
            "'//' is an empty part"
        } else if name.ends_with('/') || name.ends_with('.') {
            "it ends with '/' or '.'"
        } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
            "digits alone are an event id"
        } else if name == "HEAD" {
            "HEAD is the current branch"
        } else {
            return Ok(());
        };
        Err(IdError::NewName { name: name.to_owned(), rule })
    }
}

impl FromStr for BranchName {
    type Err = IdError;

    fn from_str(name: &str) -> Result<Self, IdError> {
        check("branch name", name, "._/-")?;
        Ok(Self(name.into()))
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

crate::serde_as_text!(BranchName);

/// Who writes: `[A-Za-z0-9][A-Za-z0-9._:@-]*`, at most 128 characters.
///
/// Rule: docs/spec/kernel.md, section 2.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(Arc<str>);

impl AgentId {
    /// A name read back from a store, where it was checked on the way in.
    #[must_use]
    pub(crate) fn stored(name: &str) -> Self {
        Self(name.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentId {
    type Err = IdError;

    fn from_str(name: &str) -> Result<Self, IdError> {
        check("agent id", name, "._:@-")?;
        Ok(Self(name.into()))
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

crate::serde_as_text!(AgentId);

/// The local number of an event: 1, 2, 3 … in the order of the log of this database.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct EventId(pub i64);

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The local number of a lineage, that is of the row a branch name points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineageId(pub i64);

/// A SHA-256 digest; written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// What stands before the first event of a lineage, and of the log.
    pub const ZERO: Self = Self([0; 32]);

    /// The first eight digits, for people; as many more as it takes to have a letter among them,
    /// since digits alone are an event id.
    #[must_use]
    pub fn short(&self) -> String {
        let mut digits = hex(&self.0);
        let letter = digits.bytes().position(|digit| digit.is_ascii_alphabetic());
        digits.truncate(letter.map_or(64, |at| at + 1).max(8));
        digits
    }
}

/// `bytes` as lower-case hex digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = vec![0; bytes.len() * 2];
    for (digits, byte) in out.chunks_exact_mut(2).zip(bytes) {
        digits[0] = DIGITS[usize::from(byte >> 4)];
        digits[1] = DIGITS[usize::from(byte & 15)];
    }
    String::from_utf8(out).expect("hex digits are ASCII")
}

/// The bytes that lower-case hex digits stand for; none if `text` is anything else.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; text.len() / 2];
    unhex_into(text, &mut bytes).then_some(bytes)
}

/// The `N` bytes that twice as many lower-case hex digits stand for.
#[must_use]
pub fn unhex_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    unhex_into(text, &mut bytes).then_some(bytes)
}

/// Whether `text` is lower-case hex digits, two for each of `bytes`, which then are what they stand for.
fn unhex_into(text: &str, bytes: &mut [u8]) -> bool {
    /// What each byte stands for as a digit; 0xff if it is none.
    const VALUES: [u8; 256] = {
        let mut values = [0xff; 256];
        let mut value = 0;
        while value < 16 {
            values[b"0123456789abcdef"[value as usize] as usize] = value;
            value += 1;
        }
        values
    };
    if text.len() != bytes.len() * 2 {
        return false;
    }
    let mut seen = 0;
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
        seen |= high | low;
        *byte = high << 4 | low & 15;
    }
    seen < 16
}

impl FromStr for Hash {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        unhex_array(text)
            .map(Self)
            .ok_or_else(|| IdError::Malformed { what: "a SHA-256 digest", text: text.to_owned() })
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

crate::serde_as_text!(Hash);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_refused_says_where() {
        let error = "a b".parse::<BranchName>().unwrap_err();
        assert_eq!(error.to_string(), "branch name 'a b' has U+0020 at character 2");
        let error = "-x".parse::<AgentId>().unwrap_err();
        assert_eq!(error.to_string(), "agent id '-x' has '-' at character 1");
        let error = "x".repeat(129).parse::<AgentId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "agent id 'xxxxxxxxxxxxxxxx…' has 129 characters, 128 are allowed"
        );
    }

    #[test]
    fn a_new_branch_name_has_one_meaning_as_a_revision() {
        for name in ["a..b", "a//b", "a/", "a.", "17", "HEAD"] {
            let name: BranchName = name.parse().unwrap();
            assert!(name.check_new().is_err(), "{name}");
        }
        for name in ["a.b", "a/b", "17a", "head", "deadbeef"] {
            let name: BranchName = name.parse().unwrap();
            assert_eq!(name.check_new(), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_short_hash_is_no_number() {
        let mut hash = Hash([0x12; 32]);
        hash.0[6] = 0x3b;
        assert_eq!(hash.short(), "12121212121 23b".replace(' ', ""));
        assert_eq!(Hash([0xab; 32]).short(), "abababab");
    }

    #[test]
    fn hex_reads_back() {
        let hash = Hash(std::array::from_fn(|index| index as u8 * 7));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("AB".parse::<Hash>().is_err());
    }
}
