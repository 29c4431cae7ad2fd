use std::fmt::Write;

use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Object, Value, plain_prefix};

/// What stands around the tokens. The tokens are the same in every layout, but for `ASCII`.
trait Layout {
    const COMMA: &str = ",";
    const COLON: &str = ": ";
    /// Whether all but printable ASCII is escaped.
    const ASCII: bool = false;
    /// Whether every item and member has a line of its own.
    const LINES: bool = false;
}

struct Canonical;

impl Layout for Canonical {
    const COLON: &str = ":";
}

struct SpacedAscii;

impl Layout for SpacedAscii {
    const COMMA: &str = ", ";
    const ASCII: bool = true;
}

struct Pretty;

impl Layout for Pretty {
    const LINES: bool = true;
}

impl Value {
    /// The canonical JSON of the value.
    ///
    /// Rule: docs/spec/kernel.md, section 1, "Canonical JSON".
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut out = String::with_capacity(256);
        self.write_canonical(&mut out);
        out
    }

    /// Appends the canonical JSON of the value to `out`.
    pub fn write_canonical(&self, out: &mut String) {
        write_value::<Canonical>(out, self, 0);
    }

    /// The value for people: a line for every member and item, two spaces of indentation a
    /// level, no line break at the end. Members, numbers and strings as in canonical JSON.
    #[must_use]
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        write_value::<Pretty>(&mut out, self, 0);
        out
    }

    pub(super) fn spaced_ascii(&self) -> String {
        let mut out = String::new();
        write_value::<SpacedAscii>(&mut out, self, 0);
        out
    }
}

impl Object {
    /// The canonical JSON of the object.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut out = String::with_capacity(256);
        write_object::<Canonical>(&mut out, self, 0);
        out
    }
}

/// Appends `text` as a string of canonical JSON, quotes included, to `out`.
pub fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_prefix(rest.as_bytes()));
        out.push_str(plain);
        let Some(&byte) = special.as_bytes().first() else { break };
        write_escape(out, byte.into());
        rest = &special[1..];
    }
    out.push('"');
}

fn write_ascii_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' | '\0'..='\x1f' => write_escape(out, character as u16),
            ' '..='~' => out.push(character),
            _ => {
                for &unit in &*character.encode_utf16(&mut [0; 2]) {
                    write_escape(out, unit);
                }
            }
        }
    }
    out.push('"');
}

/// The short escape of a UTF-16 unit, if it has one, else `\uxxxx`.
pub(super) fn write_escape(out: &mut String, unit: u16) {
    out.push('\\');
    match unit {
        0x08 => out.push('b'),
        0x09 => out.push('t'),
        0x0a => out.push('n'),
        0x0c => out.push('f'),
        0x0d => out.push('r'),
        0x22 => out.push('"'),
        0x5c => out.push('\\'),
        _ => write_infallible(out, format_args!("u{unit:04x}")),
    }
}

fn write_value<L: Layout>(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Int(int) => write_infallible(out, format_args!("{int}")),
        Value::Float(float) => write_double(out, *float),
        Value::String(text) => write_text::<L>(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                start_item::<L>(out, index, level + 1);
                write_value::<L>(out, item, level + 1);
            }
            end_items::<L>(out, items.len(), level);
            out.push(']');
        }
        Value::Object(object) => write_object::<L>(out, object, level),
    }
}

fn write_object<L: Layout>(out: &mut String, object: &Object, level: usize) {
    out.push('{');
    for (index, (key, member)) in object.iter().enumerate() {
        start_item::<L>(out, index, level + 1);
        write_text::<L>(out, key);
        out.push_str(L::COLON);
        write_value::<L>(out, member, level + 1);
    }
    end_items::<L>(out, object.len(), level);
    out.push('}');
}

fn write_text<L: Layout>(out: &mut String, text: &str) {
    if L::ASCII { write_ascii_string(out, text) } else { write_string(out, text) }
}

fn start_item<L: Layout>(out: &mut String, index: usize, level: usize) {
    if index > 0 {
        out.push_str(L::COMMA);
    }
    if L::LINES {
        start_line(out, level);
    }
}

fn end_items<L: Layout>(out: &mut String, len: usize, level: usize) {
    if L::LINES && len > 0 {
        start_line(out, level);
    }
}

fn start_line(out: &mut String, level: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

fn write_double(out: &mut String, double: f64) {
    let size = double.abs();
    if !double.is_finite() {
        out.push_str("null");
    } else if size == 0.0 || (1e-4..1e16).contains(&size) {
        let shortest = format!("{double:?}");
        out.push_str(&nearest(double, shortest, |decimals| format!("{double:.decimals$}")));
    } else {
        let shortest = format!("{double:e}");
        let digits = nearest(double, shortest, |decimals| format!("{double:.decimals$e}"));
        let (mantissa, exponent) = digits.split_once('e').expect("`{:e}` writes an exponent");
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        write_infallible(out, format_args!("{mantissa}e{sign}{exponent:0>2}"));
    }
}

/// `shortest`, or what `rounded` makes of `double` with as many decimals, if that reads back.
// Where a double lies exactly between two shortest decimals, Rust takes the upper one and
// Python the even one, as rounding to a given length does in both: 2^50 + 1/4 ends in .2.
// Such a double has 17 significant digits at least, so its shortest decimal has 16.
fn nearest(double: f64, shortest: String, rounded: impl Fn(usize) -> String) -> String {
    let mantissa = shortest.split('e').next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let Some((_, decimals)) = mantissa.split_once('.').filter(|_| digits >= 16) else {
        return shortest;
    };
    let even = rounded(decimals.len());
    if even.parse() == Ok(double) { even } else { shortest }
}

fn write_infallible(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing to a String cannot fail");
}

impl Serialize for Value {
    /// As the raw text of its canonical JSON, so that `serde_json` prints exactly those
    /// bytes and big integers survive. For the text serializers of `serde_json` only: its
    /// `to_value` rounds, and other formats see a private struct.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.canonical()).map_err(S::Error::custom)?.serialize(serializer)
    }
}
