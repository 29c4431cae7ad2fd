//! The arguments of a call, checked against what the tool takes: lenient where models slip, strict
//! where it matters.
//!
//! Rule: docs/spec/mcp.md, section 4.4.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use mk::canon::{Object, Value};
use mk::code::Code;
use mk::id::shown;
use mk::revision::distance;

use super::tool::{Kind, Param, Set, Tool};
use crate::cli::{Failure, FenceArg};

/// The arguments of a call. Each that is there is of the kind that its tool says.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    members: BTreeMap<&'static str, Value>,
    /// Most tokens of the answer.
    pub max_tokens: u64,
}

impl Given {
    /// Reads the JSON text of `arguments`. `max_tokens` counts if they do not say.
    ///
    /// # Errors
    /// [`Code::INVALID_ARGUMENT`] or [`Code::UNKNOWN_MEMBER`], naming the member.
    pub fn read(tool: &Tool, arguments: Option<&str>, max_tokens: u64) -> Result<Self, Failure> {
        let arguments = match arguments {
            None => Object::new(),
            Some(text) => match Value::parse(text.as_bytes()) {
                Ok(Value::Object(members)) => members,
                Ok(_) => return Err(Failure::usage("the arguments are no object")),
                Err(error) => return Err(Failure::usage(format!("the arguments, {error}"))),
            },
        };
        let mut given = BTreeMap::new();
        for (name, value) in arguments {
            let param = tool.param(&name).ok_or_else(|| unknown(tool, &name))?;
            if value != Value::Null {
                given.insert(param.name, fitted(param, value)?);
            }
        }
        let missing = tool.params.iter().find(|it| it.required && !given.contains_key(it.name));
        match missing {
            Some(param) => Err(Failure::usage(format!("'{}' is missing", param.name))),
            None => {
                let mut given = Self { members: given, max_tokens };
                // To a peer it is something else.
                if tool.set != Set::Peer {
                    given.max_tokens = given.number("max_tokens").unwrap_or(max_tokens);
                }
                Ok(given)
            }
        }
    }

    /// Forgets what was said of `name`.
    pub fn take(&mut self, name: &str) {
        self.members.remove(name);
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Value::as_str)
    }

    /// Whether it was said, if only to be nothing of its kind.
    pub fn contains(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// A text that is required.
    pub fn needed(&self, name: &str) -> String {
        self.text(name).expect("the tool requires it").to_owned()
    }

    /// A text that is something more.
    ///
    /// # Errors
    /// If it is not.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let parsed = text.parse().map_err(|error| Failure::usage(format!("'{name}': {error}")))?;
        Ok(Some(parsed))
    }

    /// The same, of one that is required.
    ///
    /// # Errors
    /// If it is not.
    pub fn needed_as<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, Failure> {
        Ok(self.parsed(name)?.expect("the tool requires it"))
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.members.get(name).and_then(Value::as_i64)
    }

    /// An integer that its tool bounds below by 0 or more.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.integer(name).and_then(|number| u64::try_from(number).ok())
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.members.get(name), Some(Value::Bool(true)))
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        let items = self.members.get(name).and_then(Value::as_array).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub fn object(&self, name: &str) -> Option<&Object> {
        self.members.get(name).and_then(Value::as_object)
    }

    /// # Errors
    /// If it is no fence, or list of them.
    pub fn fences(&self) -> Result<Vec<FenceArg>, Failure> {
        self.members.get("fence").map_or(Ok(Vec::new()), FenceArg::read)
    }
}

fn unknown(tool: &Tool, name: &str) -> Failure {
    let names = tool.params.iter().map(|param| param.name);
    let nearest = names.clone().min_by_key(|known| distance(name, known));
    let failure =
        Failure::new(Code::UNKNOWN_MEMBER, format!("{} takes no '{}'", tool.name, shown(name)));
    match nearest.filter(|known| distance(name, known) <= 2) {
        Some(nearest) => failure.hint(format!("did you mean '{nearest}'?")),
        None if tool.params.is_empty() => failure.hint("it takes nothing"),
        None => failure.hint(format!("it takes {}", names.collect::<Vec<_>>().join(", "))),
    }
}

/// `value`, if it is what `param` asks for or stands for it in an obvious way.
fn fitted(param: &Param, value: Value) -> Result<Value, Failure> {
    let wanted = match param.kind {
        Kind::Text | Kind::OneOf(_) => "a string".to_owned(),
        Kind::Int { least: i64::MIN, .. } => "an integer".to_owned(),
        Kind::Int { least, most: i64::MAX } => format!("an integer from {least} on"),
        Kind::Int { least, most } => format!("an integer from {least} to {most}"),
        Kind::Token => "the token as a number, from 1 on".to_owned(),
        Kind::Bool => "true or false".to_owned(),
        Kind::Texts => "a list of strings".to_owned(),
        Kind::Object => "an object".to_owned(),
        Kind::PassedOver => "anything".to_owned(),
        Kind::Fences => r#"a list of {"resource": PATH, "token": N}"#.to_owned(),
    };
    let found = match &value {
        Value::String(text) => format!("'{}'", shown(text)),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => value.canonical(),
        other => other.kind().to_owned(),
    };
    let fits = match (param.kind, value) {
        (Kind::Text | Kind::OneOf(_), Value::String(text)) => Some(Value::String(text)),
        (Kind::PassedOver, value) => Some(value),
        (Kind::Int { least, most }, value) => {
            let number = match &value {
                // As JSON writes it: no sign in front, no zeros.
                Value::String(text) => Value::parse(text.as_bytes()).ok(),
                _ => Some(value),
            };
            number.filter(|number| {
                number.as_i64().is_some_and(|number| (least..=most).contains(&number))
            })
        }
        (Kind::Token, value) => value.as_i64().filter(|token| *token >= 1).map(|_| value),
        (Kind::Bool, Value::Bool(flag)) => Some(Value::Bool(flag)),
        (Kind::Bool, Value::String(text)) => text.parse().ok().map(Value::Bool),
        (Kind::Texts, Value::String(text)) => match Value::parse(text.as_bytes()) {
            Ok(Value::Array(items)) if are_texts(&items) => Some(Value::Array(items)),
            _ => Some(Value::Array(vec![Value::String(text)])),
        },
        (Kind::Texts, Value::Array(items)) => are_texts(&items).then_some(Value::Array(items)),
        (Kind::Object, value) => unquoted(value).filter(|value| value.as_object().is_some()),
        (Kind::Fences, value) => {
            unquoted(value).filter(|value| matches!(value, Value::Object(_) | Value::Array(_)))
        }
        _ => None,
    };
    fits.ok_or_else(|| Failure::usage(format!("'{}' is {found}, not {wanted}", param.name)))
}

fn are_texts(items: &[Value]) -> bool {
    items.iter().all(|item| item.as_str().is_some())
}

/// What a JSON text stands for; anything else as it is.
fn unquoted(value: Value) -> Option<Value> {
    match value {
        Value::String(text) => Value::parse(text.as_bytes()).ok(),
        other => Some(other),
    }
}
