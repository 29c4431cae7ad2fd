//! Checked values of notices.
//!
//! Rule: docs/spec/kernel.md, section 2.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::page::{BUDGET_MAX, BUDGET_MIN};
use crate::code::{Code, Coded};
use crate::id::shown;
use crate::text;

/// Most characters of a message.
pub const MESSAGE_MAX: usize = 4_096;

/// Seconds that a notice is active if nobody says otherwise, and the most there can be.
pub const TTL_DEFAULT: u32 = 3_600;
pub const TTL_MAX: u32 = 604_800;

/// Most characters of each part of a topic, before and after its colon.
const KIND_MAX: usize = 32;
const NAME_MAX: usize = 192;

/// Most characters of the peer that an id may name.
const PEER_MAX: usize = 64;

/// Why a text or a number cannot stand in a notice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    #[error("'{}' is no resource of a notice: KIND:NAME, such as service:auth", shown(.0))]
    Topic(String),
    #[error("'{}' is no notice id: a UUID of version 4 in lower case", shown(.0))]
    Id(String),
    #[error("the message is blank")]
    BlankMessage,
    #[error("the message has {0} characters, {MESSAGE_MAX} are allowed")]
    LongMessage(usize),
    #[error("a notice cannot last {0} s: from 1 to {TTL_MAX}, whole seconds")]
    Ttl(i64),
    #[error("a page of notices cannot have {0} tokens: from {BUDGET_MIN} to {BUDGET_MAX}")]
    Budget(u64),
}

impl Coded for ValueError {
    fn code(&self) -> Code {
        Code::INVALID_ARGUMENT
    }
}

macro_rules! text_value {
    ($type:ident) => {
        impl $type {
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        $crate::serde_as_text!($type);
    };
}

/// What a notice is about: `[a-z][a-z0-9_.-]{0,31}:[A-Za-z0-9][A-Za-z0-9._/-]{0,191}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic(String);

text_value!(Topic);

impl FromStr for Topic {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let fits = |part: &str, most, first: fn(&u8) -> bool, also: &[u8], upper: bool| {
            let is_later = |byte: &u8| {
                byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || (upper && byte.is_ascii_uppercase())
                    || also.contains(byte)
            };
            (1..=most).contains(&part.len())
                && part.as_bytes().first().is_some_and(first)
                && part.bytes().all(|byte| is_later(&byte))
        };
        let (kind, name) = text.split_once(':').unwrap_or_default();
        let is_topic = fits(kind, KIND_MAX, u8::is_ascii_lowercase, b"_.-", false)
            && fits(name, NAME_MAX, u8::is_ascii_alphanumeric, b"._/-", true);
        if is_topic { Ok(Self(text.to_owned())) } else { Err(ValueError::Topic(text.to_owned())) }
    }
}

/// A UUID of version 4 in lower case, with the peer that it comes from before it, if any:
/// `[a-z0-9][a-z0-9_-]{0,63}:`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoticeId(String);

text_value!(NoticeId);

impl NoticeId {
    /// The id that these bytes make.
    #[must_use]
    pub fn drawn(mut bytes: [u8; 16]) -> Self {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex = crate::id::hex(&bytes);
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        Self(parts.join("-"))
    }

    /// The same id with the peer that it comes from, if any.
    #[must_use]
    pub fn of(self, peer: Option<&str>) -> Self {
        peer.map_or(self.clone(), |peer| Self(format!("{peer}:{}", self.0)))
    }
}

impl FromStr for NoticeId {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (peer, uuid) = match text.split_once(':') {
            Some((peer, uuid)) => (Some(peer), uuid),
            None => (None, text),
        };
        let is_id = is_uuid(uuid) && peer.is_none_or(is_peer);
        if is_id { Ok(Self(text.to_owned())) } else { Err(ValueError::Id(text.to_owned())) }
    }
}

fn is_uuid(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
            _ => is_hex(byte),
        })
}

/// Whether it can be the name of a peer of the signed exchange.
pub(crate) fn is_peer(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=PEER_MAX).contains(&text.len())
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| is_plain(byte) || (at > 0 && matches!(byte, b'_' | b'-')))
}

/// What a notice says: 1 to 4096 characters, not all of them white space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(String);

text_value!(Message);

impl FromStr for Message {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        if text::trim(text).is_empty() {
            return Err(ValueError::BlankMessage);
        }
        match text.chars().count() {
            length if length > MESSAGE_MAX => Err(ValueError::LongMessage(length)),
            _ => Ok(Self(text.to_owned())),
        }
    }
}

/// How long a notice is active: 1 to 604,800 s, whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ttl(u32);

impl Ttl {
    /// # Errors
    /// If there is no such time.
    pub fn from_seconds(seconds: i64) -> Result<Self, ValueError> {
        let fits = u32::try_from(seconds).ok().filter(|it| (1..=TTL_MAX).contains(it));
        fits.map(Self).ok_or(ValueError::Ttl(seconds))
    }

    #[must_use]
    pub fn as_duration(self) -> Duration {
        Duration::from_secs(self.0.into())
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self(TTL_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_made() {
        for bytes in [[0; 16], [0xff; 16], [0x5a; 16]] {
            let id = NoticeId::drawn(bytes);
            assert_eq!(id.as_str().parse(), Ok(id));
        }
        let plain = "0000000a-0000-4000-8000-00000000000a";
        for refused in [
            String::new(),
            plain.replace("-4", "-1"),
            plain.replace("-8", "-c"),
            plain.to_uppercase(),
            format!(":{plain}"),
            format!("-p:{plain}"),
            format!("a:b:{plain}"),
            format!("{}:{plain}", "p".repeat(65)),
            format!("{plain}\n"),
        ] {
            assert_eq!(refused.parse::<NoticeId>(), Err(ValueError::Id(refused)));
        }
        assert!(format!("{}:{plain}", "p".repeat(64)).parse::<NoticeId>().is_ok());
    }
}
