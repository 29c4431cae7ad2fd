use std::borrow::Cow;
use std::fmt;

use super::Object;

/// A JSON value.
///
/// `==` means the same canonical bytes: `1` is not `1.0`, `0.0` is not `-0.0`.
/// [`Value::same`] compares by meaning instead.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number written without fraction and exponent
    Int(Int),
    /// A number written with a fraction or an exponent: a finite double. The reader makes
    /// no other; NaN and infinities put here by hand are written as `null`.
    Float(f64),
    /// A string
    String(String),
    /// An array
    Array(Vec<Value>),
    /// An object
    Object(Object),
}

impl Value {
    /// The text, if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The members, if this is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The items, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The number, if this is an integer from -2^63 to 2^63 - 1. `1.0` is none.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Int(int) => int.as_i64(),
            _ => None,
        }
    }

    /// Whether this is an integer, of any size. `1.0` and `true` are not.
    #[must_use]
    pub fn is_int(&self) -> bool {
        matches!(self, Value::Int(_))
    }

    /// The member `key`, if this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// What this is, as an error message says it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// Whether this is `null`, `false`, a zero, or an empty string, array or object.
    #[must_use]
    pub fn is_falsy(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(truth) => !truth,
            Value::Int(int) => int.as_i64() == Some(0),
            Value::Float(float) => *float == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(object) => object.is_empty(),
        }
    }

    /// Whether both mean the same: numbers by their exact numeric value (`1` and `1.0`,
    /// `0.0` and `-0.0`), strings by code points, arrays in order, objects by members.
    /// Values of different types differ: `true` is not `1`.
    ///
    /// Rule: docs/spec/kernel.md, section 1, "Equality of values".
    #[must_use]
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Int(int), Value::Float(float)) | (Value::Float(float), Value::Int(int)) => {
                int.equals_double(*float)
            }
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|((key, a), (other, b))| key == other && a.same(b))
            }
            _ => self == other,
        }
    }

    /// The text of the value: a string is itself; anything else is its JSON with `", "` and
    /// `": "` between and all but ASCII escaped.
    ///
    /// Rule: docs/spec/kernel.md, section 1, "Text of a value", there written T(x).
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Value::String(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.spaced_ascii()),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Int(number.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::Array(items)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Value {
        Value::Object(object)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    /// None is `null`.
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// An integer of any size, held exactly. It displays as its decimal digits; `-0` is `0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Int(Repr);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    /// Decimal digits, maybe behind a `-`, of a number that is no i64; no leading zeros.
    Big(Box<str>),
}

impl Int {
    /// Of digits, maybe behind a `-`, without leading zeros, as RFC 8259 has integers.
    pub(super) fn from_json(digits: &str) -> Int {
        match digits.parse() {
            Ok(small) => Int(Repr::Small(small)),
            Err(_) => Int(Repr::Big(digits.into())),
        }
    }

    /// The number, if it is from -2^63 to 2^63 - 1.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(small) => Some(small),
            Repr::Big(_) => None,
        }
    }

    /// Exact: neither side is rounded to the type of the other.
    #[expect(clippy::cast_possible_truncation, reason = "integral and inside the bounds")]
    fn equals_double(&self, double: f64) -> bool {
        const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
        if double.fract() != 0.0 {
            return false;
        }
        match &self.0 {
            Repr::Small(small) => {
                (-TWO_TO_63..TWO_TO_63).contains(&double) && double as i64 == *small
            }
            // With a precision given, a double is printed with all its exact digits.
            Repr::Big(digits) => format!("{double:.0}") == **digits,
        }
    }
}

impl From<i64> for Int {
    fn from(number: i64) -> Int {
        Int(Repr::Small(number))
    }
}

impl From<u64> for Int {
    fn from(number: u64) -> Int {
        match i64::try_from(number) {
            Ok(small) => Int(Repr::Small(small)),
            Err(_) => Int(Repr::Big(number.to_string().into())),
        }
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(small) => small.fmt(f),
            Repr::Big(digits) => f.write_str(digits),
        }
    }
}
