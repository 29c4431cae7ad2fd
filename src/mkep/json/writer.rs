//! From a value to text.

use std::fmt;

use super::{Json, Members};
use crate::canon::{Value, write_string};

impl Json {
    /// Appends the value as compact JSON: members in their order, text as it is.
    pub fn write(&self, out: &mut String) {
        self.write_in(out, false);
    }

    fn write_in(&self, out: &mut String, sorted: bool) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Int(number) => out.push_str(&number.to_string()),
            Self::BigInt(digits) => out.push_str(digits),
            Self::Float(digits) => match digits.parse::<f64>() {
                Ok(double) if double.is_finite() => {
                    out.push_str(&Value::Float(double).canonical());
                }
                // JSON has no other way to write what a double cannot hold.
                _ => out.push_str(digits),
            },
            Self::Text(text) => write_string(out, text.shown()),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_in(out, sorted);
                }
                out.push(']');
            }
            Self::Object(members) => members.write_in(out, sorted),
        }
    }
}

impl Members {
    /// Compact JSON, members in their order: a line of the log.
    #[must_use]
    pub fn line(&self) -> String {
        let mut out = String::with_capacity(512);
        self.write_in(&mut out, false);
        out
    }

    /// Compact JSON, members sorted by key at every level: a response.
    ///
    /// Rule: docs/spec/mkep.md, section 22.
    #[must_use]
    pub fn sorted_line(&self) -> String {
        let mut out = String::with_capacity(512);
        self.write_in(&mut out, true);
        out
    }

    fn write_in(&self, out: &mut String, sorted: bool) {
        out.push('{');
        let mut members: Vec<_> = self.iter().collect();
        if sorted {
            members.sort_by_key(|(key, _)| key.sort_key());
        }
        for (index, (key, value)) in members.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_string(out, key.shown());
            out.push(':');
            value.write_in(out, sorted);
        }
        out.push('}');
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}
