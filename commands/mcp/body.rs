//! The `result` of a response, written as JSON text: what commands print goes in as it is.

use serde::Serialize;
use serde_json::{Map, Value};

/// Members of an object, and of its member `_meta`.
#[derive(Debug, Clone, Default)]
pub struct Body {
    members: String,
    meta: Option<Map<String, Value>>,
}

impl Body {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with(self, name: &str, value: &impl Serialize) -> Self {
        let value = serde_json::to_string(value).expect("a value has string keys only");
        self.with_json(name, &value)
    }

    /// With a member whose value is JSON already.
    pub fn with_json(mut self, name: &str, json: &str) -> Self {
        self.members.push(if self.members.is_empty() { '{' } else { ',' });
        mk::canon::write_string(&mut self.members, name);
        self.members.push(':');
        self.members.push_str(json);
        self
    }

    /// With a member of `_meta`.
    pub fn with_meta(mut self, name: &str, value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("a value has string keys only");
        self.meta.get_or_insert_default().insert(name.to_owned(), value);
        self
    }

    /// The object.
    pub fn json(mut self) -> String {
        if let Some(meta) = self.meta.take() {
            self = self.with("_meta", &meta);
        }
        if self.members.is_empty() {
            self.members.push('{');
        }
        self.members.push('}');
        self.members
    }
}
