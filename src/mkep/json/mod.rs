//! JSON as the protocol sees it, which is more than most parsers keep: members in the order they were
//! written, integers apart from other numbers, and strings with halves of surrogate pairs in them.
//!
//! Rule: docs/spec/mkep.md, section 1.

mod reader;
mod writer;

use std::borrow::Cow;

pub use reader::{DEPTH_MAX, parse, pick};

/// A JSON value.
#[derive(Debug, Clone)]
pub enum Json {
    Null,
    Bool(bool),
    /// Digits with an optional minus sign and nothing else, in 64 bits.
    Int(i64),
    /// Such a number beyond 64 bits: its shortest decimal form.
    BigInt(String),
    /// Any other number, as it was written.
    Float(String),
    Text(Text),
    List(Vec<Json>),
    Object(Members),
}

/// A string. Halves of surrogate pairs are kept apart from what can be shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text {
    /// The string in WTF-8, if it holds a lone surrogate. Sorts by code point.
    exact: Option<Box<[u8]>>,
    /// The string, with U+FFFD for each lone surrogate.
    shown: Cow<'static, str>,
}

impl Text {
    /// The string, unless it holds a lone surrogate.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.exact.is_none().then_some(self.shown())
    }

    /// The string as it may be echoed: with U+FFFD for each lone surrogate.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Bytes that sort as the code points do.
    #[must_use]
    pub fn sort_key(&self) -> &[u8] {
        self.exact.as_deref().unwrap_or(self.shown.as_bytes())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { exact: None, shown: text.to_owned().into() }
    }
}

/// The members of an object in the order of their first appearance, each with its last value.
#[derive(Debug, Clone, Default)]
pub struct Members(Vec<(Text, Json)>);

impl Members {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The member, unless it is absent or null.
    #[must_use]
    pub fn given(&self, key: &str) -> Option<&Json> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// The string `key`, if there is one without lone surrogates.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Gives `key` a value: in its place if it is there, else at the end. Keys of the protocol are not copied.
    pub fn set(&mut self, key: impl Into<Cow<'static, str>>, value: impl Into<Json>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(name, _)| name.as_str() == Some(&key)) {
            Some((_, old)) => *old = value,
            None => self.0.push((Text { exact: None, shown: key }, value)),
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Text, &Json)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object without some of its members.
    #[must_use]
    pub fn without(&self, keys: &[&str]) -> Self {
        let kept = |(key, _): &&(Text, Json)| key.as_str().is_none_or(|key| !keys.contains(&key));
        Self(self.0.iter().filter(kept).cloned().collect())
    }

    /// The keys, sorted by code point.
    #[must_use]
    pub fn sorted_keys(&self) -> Vec<&Text> {
        let mut keys: Vec<&Text> = self.0.iter().map(|(key, _)| key).collect();
        keys.sort_by_key(|key| key.sort_key());
        keys
    }
}

/// An object with these members.
#[must_use]
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Members {
    Members(members.into_iter().map(|(key, value)| (Text::from(key), value)).collect())
}

impl Json {
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The string, if it is one without lone surrogates.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => text.as_str(),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is an integer of 64 bits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether it is an integer, of any size.
    #[must_use]
    pub fn is_int(&self) -> bool {
        matches!(self, Self::Int(_) | Self::BigInt(_))
    }

    #[must_use]
    pub fn as_object(&self) -> Option<&Members> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_list(&self) -> Option<&[Json]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether it is null, false, a zero, or empty.
    #[must_use]
    pub fn is_falsy(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(truth) => !truth,
            Self::Int(number) => *number == 0,
            Self::BigInt(_) => false,
            Self::Float(digits) => digits.parse() == Ok(0.0),
            Self::Text(text) => text.shown().is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Object(members) => members.is_empty(),
        }
    }
}

/// By meaning: the order of members does not count, the spelling of a number does.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::BigInt(a), Self::BigInt(b)) | (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        let same = |(key, value): (&Text, &Json)| {
            other.iter().find(|(name, _)| *name == key).is_some_and(|(_, found)| found == value)
        };
        self.len() == other.len() && self.iter().all(same)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(Text { exact: None, shown: text.into() })
    }
}

impl From<i32> for Json {
    fn from(number: i32) -> Self {
        Self::Int(number.into())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        // Counts of what is in memory, or in a store, fit.
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<Members> for Json {
    fn from(members: Members) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
