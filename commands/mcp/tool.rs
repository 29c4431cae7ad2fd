//! What a tool is, and how it is told to clients.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::given::Given;
use crate::Answer;
use crate::cli::{Context, Failure};

/// A command as agents see it.
///
/// Rule: docs/spec/mcp.md, section 4.
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    /// The use, when to call it, what comes back, what goes wrong.
    pub about: &'static str,
    /// Words that somebody may search for who does not know the name.
    pub words: &'static str,
    /// Whether clients that defer tools should show it from the start.
    pub at_once: bool,
    pub set: Set,
    pub effect: Effect,
    pub params: &'static [Param],
    pub output: Output,
    pub run: fn(&Given, &mut Context) -> Result<Answer, Failure>,
    /// Whether the call may wait for others, and for how long.
    pub wait: fn(&Given) -> Result<Duration, Failure>,
}

/// Members of a report, each with its type.
type Members = &'static [(&'static str, &'static str)];

/// What a tool answers with, which its command printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A report.
    Report(Members),
    /// The response of a protocol of its own, to which nothing is added and of which nothing is left out.
    Response,
    /// A document that is handed on as it is.
    Document(Members),
    /// A value of this type, which is the member `result`.
    Value(&'static str),
    /// A report, the text of which is the member `result`.
    Quoted,
}

/// Where a tool belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// What an agent needs in an ordinary task.
    Core,
    All,
    Exec,
    Notice,
    Repair,
    /// One of a peer, which `--compat` alone serves.
    Peer,
}

impl Set {
    /// The group that `--tools` takes it by.
    pub fn group(self) -> Option<&'static str> {
        match self {
            Self::Core | Self::All | Self::Peer => None,
            Self::Exec => Some("exec"),
            Self::Notice => Some("notice"),
            Self::Repair => Some("repair"),
        }
    }
}

/// What a tool does to the store. There is no default: a tool that says nothing does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Changes where the caller stands, which is no part of the memory: works where nothing can be
    /// written.
    Moves,
    Writes {
        destroys: bool,
        again: Again,
    },
}

/// Whether a second call with the same arguments changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    Changes,
    Nothing,
}

impl Effect {
    pub const WRITES: Self = Self::Writes { destroys: false, again: Again::Changes };
    pub const SETTLES: Self = Self::Writes { destroys: false, again: Again::Nothing };
    pub const DESTROYS: Self = Self::Writes { destroys: true, again: Again::Changes };
}

/// An argument of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub about: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// What counts if it is not given, as JSON, where clients are told.
    pub default: Option<&'static str>,
}

/// What an argument may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Int {
        least: i64,
        most: i64,
    },
    /// A fencing token: exact, so that not even its digits as a text will do.
    Token,
    Bool,
    Texts,
    Object,
    /// A text that should be one of these; the command says what it makes of others.
    OneOf(&'static [&'static str]),
    /// Whatever clients send under this name is passed over. Not listed.
    PassedOver,
    /// `{"resource", "token"}`, or a list of them.
    Fences,
}

impl Param {
    pub const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, about, kind, required: false, default: None }
    }

    pub const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Text, about)
    }

    pub const fn int(name: &'static str, (least, most): (i64, i64), about: &'static str) -> Self {
        Self::new(name, Kind::Int { least, most }, about)
    }

    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Int { least: i64::MIN, .. } => json!({ "type": "integer" }),
            Kind::Int { least, most: i64::MAX } => json!({ "type": "integer", "minimum": least }),
            Kind::Int { least, most } => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Kind::Token => json!({ "type": "integer", "minimum": 1 }),
            Kind::Bool => json!({ "type": "boolean" }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Object | Kind::PassedOver => json!({ "type": "object" }),
            Kind::OneOf(texts) => json!({ "type": "string", "enum": texts }),
            Kind::Fences => json!({ "type": "array", "items": { "type": "object" } }),
        };
        schema["description"] = self.about.into();
        if let Some(default) = self.default {
            schema["default"] = serde_json::from_str(default).expect("it is JSON");
        }
        schema
    }
}

impl Tool {
    pub fn reads(&self) -> bool {
        self.effect == Effect::Reads
    }

    /// Whether it can be called where nothing is written.
    pub fn writes(&self) -> bool {
        matches!(self.effect, Effect::Writes { .. })
    }

    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The tool as `tools/list` shows it.
    pub fn listed(&self) -> Value {
        let mut tool = json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": self.input_schema(),
            "annotations": self.annotations(),
        });
        if let Some(schema) = self.output_schema() {
            tool["outputSchema"] = schema;
        }
        let mut meta = Map::new();
        if !self.words.is_empty() {
            meta.insert("anthropic/searchHint".to_owned(), self.words.into());
        }
        if self.at_once {
            meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
        }
        if !meta.is_empty() {
            tool["_meta"] = meta.into();
        }
        tool
    }

    pub fn input_schema(&self) -> Value {
        let listed = self.params.iter().filter(|param| param.kind != Kind::PassedOver);
        let properties = listed.map(|param| (param.name.to_owned(), param.schema()));
        let required: Vec<&str> =
            self.params.iter().filter(|param| param.required).map(|param| param.name).collect();
        let mut schema = json!({
            "type": "object",
            "properties": properties.collect::<Map<_, _>>(),
            "additionalProperties": false,
        });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema
    }

    /// None where a protocol of its own says it.
    pub fn output_schema(&self) -> Option<Value> {
        let result;
        let members = match self.output {
            Output::Response => return None,
            Output::Report(members) | Output::Document(members) => members,
            Output::Value(kind) => {
                result = [("result", kind)];
                result.as_slice()
            }
            Output::Quoted => &[("result", "string")],
        };
        let properties = members.iter().map(|(name, kind)| {
            let kind = json!({ "type": kind });
            ((*name).to_owned(), kind)
        });
        Some(json!({ "type": "object", "properties": properties.collect::<Map<_, _>>() }))
    }

    fn annotations(&self) -> Value {
        match self.effect {
            Effect::Reads => json!({ "readOnlyHint": true, "openWorldHint": false }),
            Effect::Moves => json!({
                "readOnlyHint": false,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            }),
            Effect::Writes { destroys, again } => {
                let mut hints = json!({
                    "readOnlyHint": false,
                    "destructiveHint": destroys,
                    "openWorldHint": false,
                });
                if again == Again::Nothing {
                    hints["idempotentHint"] = true.into();
                }
                hints
            }
        }
    }
}

/// Of a tool that waits for nobody.
pub fn at_once(_: &Given) -> Result<Duration, Failure> {
    Ok(Duration::ZERO)
}
