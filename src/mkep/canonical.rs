//! MKCJSON/1: the canonical bytes of an object, and their digest.
//!
//! Rule: docs/spec/mkep.md, section 2.

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::error::{Code, Refusal};
use super::json::{Json, Members, Text};
use crate::canon::write_string;
use crate::id::hex;

/// Deepest object or array; the root object is depth 1, scalars do not count.
pub const DEPTH_MAX: usize = 8;
/// Most members of an object.
pub const MEMBERS_MAX: usize = 64;
/// The largest integer, and with a minus sign the smallest: 2^53 − 1.
pub const SAFE_MAX: i64 = (1 << 53) - 1;

/// Most items of an array. The canonical bytes do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrays {
    /// 32: what is stored.
    Record,
    /// 64: requests, responses and the capability block.
    Message,
    /// The lists of a projection, which the log makes as long as it is.
    Unbounded,
}

impl Arrays {
    fn bound(self) -> usize {
        match self {
            Self::Record => 32,
            Self::Message => 64,
            Self::Unbounded => usize::MAX,
        }
    }
}

/// The canonical bytes.
///
/// # Errors
/// The first finding, depth first in document order, of what has no canonical form.
pub fn text(object: &Members, arrays: Arrays) -> Result<String, Refusal> {
    let mut path = String::new();
    check_object(object, &mut path, 1, arrays)?;
    let mut out = String::with_capacity(512);
    write_object(object, &mut out);
    Ok(out)
}

/// Lower-case hex SHA-256 of the canonical bytes.
///
/// # Errors
/// Those of [`text`].
pub fn digest(object: &Members, arrays: Arrays) -> Result<String, Refusal> {
    text(object, arrays).map(|text| hex(&Sha256::digest(text)))
}

fn check(value: &Json, path: &mut String, depth: usize, arrays: Arrays) -> Result<(), Refusal> {
    let refused = |path: &str, code, what: &str| Err(Refusal::at(code, place(path), what));
    match value {
        Json::Null | Json::Bool(_) => Ok(()),
        Json::Int(number) if number.unsigned_abs() <= SAFE_MAX.unsigned_abs() => Ok(()),
        Json::Int(number) => Err(unsafe_integer(path, &number.to_string())),
        Json::BigInt(digits) => Err(unsafe_integer(path, digits)),
        Json::Float(_) => refused(path, Code::Type, "is a number that is no integer"),
        Json::Text(text) if text.as_str().is_some() => Ok(()),
        Json::Text(_) => refused(path, Code::Type, "holds half of a surrogate pair"),
        Json::Object(members) => check_object(members, path, depth, arrays),
        Json::List(_) if depth > DEPTH_MAX => {
            refused(path, Code::LimitExceeded, "is nested too deep")
        }
        Json::List(items) if items.len() > arrays.bound() => {
            refused(path, Code::LimitExceeded, "has too many items")
        }
        Json::List(items) => {
            let length = path.len();
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                check(item, path, depth + 1, arrays)?;
                path.truncate(length);
            }
            Ok(())
        }
    }
}

fn check_object(
    members: &Members,
    path: &mut String,
    depth: usize,
    arrays: Arrays,
) -> Result<(), Refusal> {
    if depth > DEPTH_MAX {
        return Err(Refusal::at(Code::LimitExceeded, place(path), "is nested too deep"));
    }
    if members.len() > MEMBERS_MAX {
        return Err(Refusal::at(Code::LimitExceeded, place(path), "has too many members"));
    }
    let length = path.len();
    for (key, value) in members.iter() {
        if !is_key(key) {
            let details = [("path", place(path).into()), ("key", key.shown().into())];
            let message = format!("a key in {} is not one of MKCJSON/1", place(path));
            return Err(Refusal::new(Code::Pattern, message, details));
        }
        if length > 0 {
            path.push('.');
        }
        path.push_str(key.shown());
        check(value, path, depth + 1, arrays)?;
        path.truncate(length);
    }
    Ok(())
}

/// `[a-z][a-z0-9_]{0,63}`
fn is_key(key: &Text) -> bool {
    let rest = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let key = key.shown().as_bytes();
    key.first().is_some_and(u8::is_ascii_lowercase) && key.len() <= 64 && key.iter().all(rest)
}

fn unsafe_integer(path: &str, digits: &str) -> Refusal {
    let details = [("path", place(path).into()), ("value", digits.into())];
    let message = format!("{} is an integer beyond ±(2^53 − 1)", place(path));
    Refusal::new(Code::LimitExceeded, message, details)
}

fn place(path: &str) -> &str {
    if path.is_empty() { "$" } else { path }
}

fn write(value: &Json, out: &mut String) {
    match value {
        Json::Text(text) => write_string(out, &nfc(text.shown())),
        Json::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => write_object(members, out),
        scalar => scalar.write(out),
    }
}

fn write_object(members: &Members, out: &mut String) {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by_key(|(key, _)| key.sort_key());
    out.push('{');
    for (index, (key, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, key.shown());
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}
