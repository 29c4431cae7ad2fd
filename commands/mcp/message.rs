//! What a client sends: a JSON-RPC message, read with an eye to what can still be answered.
//!
//! Rule: docs/spec/mcp.md, section 3.1.

use std::fmt;

use mk::canon::Value as Json;
use mk::id::shown;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Arrays and objects that may stand one inside the other, the message included.
const DEPTH_MAX: usize = 64;

/// Largest number that every client can hold exactly.
const NUMBER_MAX: i64 = (1 << 53) - 1;

/// The id of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    Number(i64),
    Text(String),
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => out.serialize_i64(*number),
            Self::Text(text) => out.serialize_str(text),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "'{}'", shown(text)),
        }
    }
}

impl Id {
    /// An id that can be sent back as it came.
    pub fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            return serde_json::from_str(text).ok().map(Self::Text);
        }
        let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let number = text.parse().ok().filter(|_| is_whole)?;
        (-NUMBER_MAX..=NUMBER_MAX).contains(&number).then_some(Self::Number(number))
    }
}

/// An error of the protocol: the `error` member of a response.
#[derive(Debug, Clone, Serialize)]
pub struct Fault {
    pub code: i32,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Fault {
    pub const NOT_JSON: i32 = -32_700;
    pub const NO_REQUEST: i32 = -32_600;
    pub const NO_METHOD: i32 = -32_601;
    pub const PARAMS: i32 = -32_602;
    pub const INTERNAL: i32 = -32_603;
    pub const NO_RESOURCE: i32 = -32_002;
    pub const HEADER: i32 = -32_020;
    pub const VERSION: i32 = -32_022;

    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn params(message: impl Into<String>) -> Self {
        Self::new(Self::PARAMS, message)
    }

    pub fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

/// A line that is no message, and whose it is as far as that could be found.
#[derive(Debug)]
pub struct Bad {
    pub id: Option<Id>,
    pub fault: Fault,
}

impl Bad {
    fn new(id: Option<Id>, code: i32, message: impl Into<String>) -> Self {
        Self { id, fault: Fault::new(code, message) }
    }

    /// Of a line that is longer than allowed, of which the ends are known.
    pub fn too_long(start: &[u8], end: &[u8], most: usize) -> Self {
        let id = id_at_start(start).or_else(|| id_at_end(end));
        Self::new(id, Fault::NO_REQUEST, format!("the line has more than {most} bytes"))
    }
}

/// A message that is answered, or taken note of.
#[derive(Debug)]
pub enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Params,
    },
    /// An answer to what was never asked.
    Response,
}

#[derive(Debug)]
pub struct Request {
    pub id: Id,
    pub method: String,
    pub params: Params,
}

/// `params` as they came: what they must be depends on the method.
#[derive(Debug, Default)]
pub struct Params(Option<Box<RawValue>>);

impl Params {
    /// # Errors
    /// If they are no object.
    pub fn members(&self) -> Result<Members, Fault> {
        let Some(raw) = self.0.as_ref().filter(|raw| raw.get() != "null") else {
            return Ok(Members::default());
        };
        Members::read("params", raw)
    }
}

/// The members of an object, not yet read.
#[derive(Debug, Clone, Default)]
pub struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    fn read(name: &str, raw: &RawValue) -> Result<Self, Fault> {
        let wrong = |what: &str| Fault::params(format!("{name} is {what}"));
        match serde_json::from_str(raw.get()) {
            Ok(Top::Object(members)) => match repeated(&members) {
                Some(twice) => Err(wrong(&format!("ambiguous: '{}' comes twice", shown(twice)))),
                None => Ok(Self(members)),
            },
            _ => Err(wrong("no object")),
        }
    }

    /// The member `name`, unless it is absent or null.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, raw)| &**raw).filter(|raw| raw.get() != "null")
    }

    /// # Errors
    /// If it is there and no text.
    pub fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        let read = |raw: &RawValue| {
            serde_json::from_str(raw.get())
                .map_err(|_| Fault::params(format!("{name} is no string")))
        };
        self.get(name).map(read).transpose()
    }

    /// # Errors
    /// If it is missing or no text.
    pub fn required_text(&self, name: &str) -> Result<String, Fault> {
        self.text(name)?.ok_or_else(|| Fault::params(format!("{name} is missing")))
    }

    /// # Errors
    /// If it is there and no object.
    pub fn object(&self, name: &str) -> Result<Option<Self>, Fault> {
        self.get(name).map(|raw| Self::read(name, raw)).transpose()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, raw)| (name.as_str(), &**raw))
    }
}

/// The outermost value of a line.
enum Top {
    Object(Vec<(String, Box<RawValue>)>),
    Array,
    Scalar,
}

impl<'de> Deserialize<'de> for Top {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, Box<RawValue>)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(members)
            }
        }
        let raw = <&RawValue>::deserialize(from)?;
        Ok(match raw.get().as_bytes().first() {
            Some(b'{') => {
                let mut reader = serde_json::Deserializer::from_str(raw.get());
                let members = reader.deserialize_map(Members);
                Self::Object(members.map_err(serde::de::Error::custom)?)
            }
            Some(b'[') => Self::Array,
            _ => Self::Scalar,
        })
    }
}

fn repeated(members: &[(String, Box<RawValue>)]) -> Option<&str> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Reads a line; none if it is blank.
///
/// # Errors
/// [`Bad`], with what to answer.
pub fn read(line: &[u8]) -> Result<Option<Message>, Bad> {
    let line = std::str::from_utf8(line).map_err(|error| {
        let message = format!("not UTF-8 at byte {}", error.valid_up_to());
        Bad::new(None, Fault::NOT_JSON, message)
    })?;
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let members = match serde_json::from_str(line) {
        Ok(Top::Object(members)) => members,
        Ok(Top::Array) => {
            let message = "the line is an array: batches are not supported";
            return Err(Bad::new(None, Fault::NO_REQUEST, message));
        }
        Ok(Top::Scalar) => {
            return Err(Bad::new(None, Fault::NO_REQUEST, "the line is no JSON object"));
        }
        Err(_) => {
            let message = match Json::parse(line.as_bytes()) {
                Err(error) => format!("not JSON: {error}"),
                Ok(_) => "not JSON".to_owned(),
            };
            return Err(Bad::new(None, Fault::NOT_JSON, message));
        }
    };
    message(line, members).map(Some)
}

fn message(line: &str, members: Vec<(String, Box<RawValue>)>) -> Result<Message, Bad> {
    let one = |wanted: &str| {
        let found = members.iter().find(|(name, _)| name == wanted);
        found.map(|(_, raw)| &**raw)
    };
    let ids = members.iter().filter(|(name, _)| name == "id").count();
    let id = match (one("id").map(Id::read), ids) {
        (Some(id), 1) => id,
        _ => None,
    };
    let bad = |message: String| Bad::new(id.clone(), Fault::NO_REQUEST, message);
    if let Some(twice) = repeated(&members) {
        return Err(bad(format!("'{}' comes twice", shown(twice))));
    }
    if one("jsonrpc").is_none_or(|raw| raw.get() != r#""2.0""#) {
        return Err(bad(r#"there is no "jsonrpc": "2.0""#.to_owned()));
    }
    if depth(line.as_bytes()) > DEPTH_MAX {
        return Err(bad(format!("it is nested deeper than {DEPTH_MAX}")));
    }
    let Some(method) = one("method") else {
        return match one("result").or(one("error")) {
            Some(_) => Ok(Message::Response),
            None => Err(bad("there is no method".to_owned())),
        };
    };
    let method: String = serde_json::from_str(method.get())
        .map_err(|_| bad("the method is no string".to_owned()))?;
    let params = Params(one("params").map(ToOwned::to_owned));
    match (one("id"), id) {
        (None, _) => Ok(Message::Notification { method, params }),
        (Some(_), Some(id)) => Ok(Message::Request(Request { id, method, params })),
        (Some(_), None) => {
            let message = format!(
                "the id is neither a string nor an integer from -{NUMBER_MAX} to {NUMBER_MAX}"
            );
            Err(Bad::new(None, Fault::NO_REQUEST, message))
        }
    }
}

/// How deep arrays and objects stand one inside the other in a JSON text.
fn depth(json: &[u8]) -> usize {
    let (mut deepest, mut depth, mut in_string, mut escaped) = (0, 0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The id among the first members of an object that is cut off.
fn id_at_start(start: &[u8]) -> Option<Id> {
    let (mut depth, mut at) = (0, 0);
    while at < start.len() {
        match start[at] {
            b'"' => {
                let length = string_length(&start[at..])?;
                let key = &start[at..at + length];
                at += length;
                let rest = start[at..].trim_ascii_start();
                if depth == 1 && key == br#""id""# && rest.first() == Some(&b':') {
                    return first_scalar(&rest[1..]);
                }
            }
            byte => {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
            }
        }
    }
    None
}

fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn first_scalar(text: &[u8]) -> Option<Id> {
    let text = text.trim_ascii_start();
    let length = match text.first()? {
        b'"' => string_length(text)?,
        _ => text.iter().position(|byte| matches!(byte, b',' | b'}' | b' '))?,
    };
    let text = std::str::from_utf8(&text[..length]).ok()?;
    Id::read(serde_json::from_str::<&RawValue>(text).ok()?)
}

/// The id among the last members of an object that is cut off: what follows it must close the outermost
/// object and nothing else.
fn id_at_end(end: &[u8]) -> Option<Id> {
    let key = br#""id""#;
    let places = end.windows(key.len()).enumerate().filter(|(_, window)| window == key);
    places.map(|(at, _)| at).find_map(|at| {
        let text = format!("{{{}", std::str::from_utf8(&end[at..]).ok()?);
        let Ok(Top::Object(members)) = serde_json::from_str(&text) else { return None };
        members.iter().find(|(name, _)| name == "id").and_then(|(_, raw)| Id::read(raw))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_line_is_found_at_either_end_and_nowhere_else() {
        let at_start = |text: &str| id_at_start(text.as_bytes());
        assert_eq!(at_start(r#"{"id":7,"params":{"#), Some(Id::Number(7)));
        assert_eq!(at_start(r#"{"a":{"id":1},"b":"\"id\":2", "id" : "x\"y" ,"#), text("x\"y"));
        assert_eq!(at_start(r#"{"params":{"id":7,"#), None);
        assert_eq!(at_start(r#"{"id":7"#), None);
        let at_end = |text: &str| id_at_end(text.as_bytes());
        assert_eq!(at_end(r#"xx"}},"jsonrpc":"2.0","id":-3}"#), Some(Id::Number(-3)));
        assert_eq!(at_end(r#"xx"}},"id":"a","jsonrpc":"2.0"}"#), text("a"));
        assert_eq!(at_end(r#"xx","id":5}}}"#), None);
        assert_eq!(at_end(r#"xx\"id\":5}"}"#), None);
    }

    fn text(id: &str) -> Option<Id> {
        Some(Id::Text(id.to_owned()))
    }

    #[test]
    fn depth_counts_what_is_not_in_strings() {
        for (json, expected) in [("1", 0), ("{}", 1), (r#"["[[[",{"a":"\"[[" }]"#, 2), ("[[]]", 2)]
        {
            assert_eq!(depth(json.as_bytes()), expected, "{json}");
        }
    }
}
