//! The JSON that an agent sends, read as it comes in.
//!
//! Rule: docs/spec/attach.md, section 6.1.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::lossy::Lossy;

/// Members that hold what a file says or said. They are passed over as they come, however long.
const LONG: &[&str] = &[
    "content",
    "edits",
    "newString",
    "new_source",
    "new_string",
    "oldString",
    "old_string",
    "originalFile",
    "structuredPatch",
];

/// The members that matter here.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub session_id: String,
    pub cwd: Option<String>,
    pub hook_event_name: String,
    pub tool_name: Option<String>,
    /// As it is, but for [`LONG`] members.
    pub tool_input: Value,
    /// The same.
    pub tool_response: Value,
    pub tool_use_id: Option<String>,
    pub error: Value,
    pub is_interrupt: bool,
    pub duration_ms: Option<f64>,
    /// A member that says what the call is about, and is no text.
    pub wrong: Option<&'static str>,
}

impl Sent {
    /// Reads one object. What came before an error is kept. A member of another type than it should have is
    /// as good as none, but for those that say what the call is about.
    pub fn read(&mut self, input: impl Read) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Deserializer::from_reader(Lossy::new(input));
        self.deserialize(&mut json)?;
        json.end()
    }
}

impl<'de> DeserializeSeed<'de> for &mut Sent {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Sent {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                // Whatever it is, it tells one session from another.
                "session_id" => self.session_id = text_of(&map.next_value()?),
                "cwd" => self.cwd = text(map.next_value()?),
                "hook_event_name" => match map.next_value()? {
                    Value::String(event) => self.hook_event_name = event,
                    _ => self.wrong = Some("hook_event_name"),
                },
                "tool_name" => match map.next_value()? {
                    Value::String(tool) => self.tool_name = Some(tool),
                    Value::Null => self.tool_name = None,
                    _ => self.wrong = Some("tool_name"),
                },
                "tool_input" => self.tool_input = map.next_value::<Short>()?.0,
                "tool_response" => self.tool_response = map.next_value::<Short>()?.0,
                "tool_use_id" => self.tool_use_id = text(map.next_value()?),
                "error" => self.error = map.next_value()?,
                "is_interrupt" => self.is_interrupt = map.next_value::<Value>()? == true,
                "duration_ms" => self.duration_ms = map.next_value::<Value>()?.as_f64(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// A text, or the JSON of what is none.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value; of an object without its [`LONG`] members.
struct Short(Value);

impl<'de> Deserialize<'de> for Short {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ShortVisitor)
    }
}

struct ShortVisitor;

impl<'de> Visitor<'de> for ShortVisitor {
    type Value = Short;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Short, A::Error> {
        let mut kept = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if LONG.contains(&name.as_str()) {
                map.next_value::<IgnoredAny>()?;
            } else {
                kept.insert(name, map.next_value()?);
            }
        }
        Ok(Short(kept.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Short, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(Short)
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Short, E> {
        Ok(Short(text.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Short, E> {
        Ok(Short(text.into()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Short, E> {
        Ok(Short(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Short, E> {
        Ok(Short(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Short, E> {
        Ok(Short(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Short, E> {
        Ok(Short(value.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Short, E> {
        Ok(Short(Value::Null))
    }
}
