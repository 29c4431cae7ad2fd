//! What agents tell their hooks.
//!
//! Rule: docs/spec/attach.md, section 6.1.

use std::io::{self, Read};

use serde_json::Value;
use serde_json::error::Category;

use super::patch::{self, Gap};
use super::sent::{Sent, text_of};
use crate::code::{Code, Coded};

/// Whose hook it is: what it sends, and how it wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Claude,
    Codex,
    Gemini,
    /// Of the plugin that `mk attach` writes, src/attach/opencode.ts.
    OpenCode,
}

impl Dialect {
    /// That of the agent of this name.
    #[must_use]
    pub fn of(agent: &str) -> Option<Self> {
        match agent {
            "claude-code" => Some(Self::Claude),
            "codex" => Some(Self::Codex),
            "gemini" => Some(Self::Gemini),
            "opencode" => Some(Self::OpenCode),
            _ => None,
        }
    }
}

/// A call of a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What the agent calls its session.
    pub session: String,
    /// Where it works.
    pub directory: Option<String>,
    /// The event, as the answer names it.
    pub event: String,
    pub occasion: Occasion,
    pub tool_use_id: Option<String>,
}

/// What is to be done about it.
#[derive(Debug, Clone, PartialEq)]
pub enum Occasion {
    SessionStart,
    Prompt,
    /// The files that are about to be edited, as the agent spells them.
    BeforeEdit(Vec<String>),
    AfterEdit(Vec<String>),
    AfterCommand(Ran),
    SessionEnd,
    /// Nothing: of no concern, or not known.
    Other,
}

/// A command that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub command: String,
    /// None if the agent does not say.
    pub exit_code: Option<i64>,
    pub output: String,
    pub duration_ms: Option<u64>,
}

/// What an agent sent is no call.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct Unread {
    why: Why,
    /// The event, if as much was read as that it comes before an edit.
    pub before_edit: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum Why {
    #[error("cannot read stdin: {0}")]
    Io(io::Error),
    #[error("stdin is not the JSON of a hook: {0}")]
    NoCall(String),
}

impl Coded for Unread {
    fn code(&self) -> Code {
        match &self.why {
            Why::Io(error) => Code::of_io(error),
            Why::NoCall(_) => Code::INVALID_ARGUMENT,
        }
    }
}

impl From<serde_json::Error> for Why {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        Self::NoCall(match error.classify() {
            Category::Io => return Self::Io(error.into()),
            Category::Eof if (line, column) == (1, 0) => "it is empty".to_owned(),
            Category::Eof => "it ends too early".to_owned(),
            Category::Data => "it is no object".to_owned(),
            Category::Syntax => {
                format!("line {line}, column {column} is no JSON, or nested too deeply")
            }
        })
    }
}

/// Which of the things that happen to a tool an event tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    After,
    Failed,
}

impl Stage {
    fn of(event: &str) -> Option<Self> {
        match event {
            "PreToolUse" | "BeforeTool" | "tool.execute.before" => Some(Self::Before),
            "PostToolUse" | "AfterTool" | "tool.execute.after" => Some(Self::After),
            "PostToolUseFailure" => Some(Self::Failed),
            _ => None,
        }
    }
}

impl Call {
    /// Reads what an agent sends. What a file holds is passed over, and not read into memory.
    ///
    /// # Errors
    /// If it is no JSON object, or the event, the tool or what is about to be edited is not said. What is not
    /// known is passed over, and what is no Unicode is read as U+FFFD.
    pub fn read(input: impl Read, dialect: Dialect) -> Result<Self, Unread> {
        let mut sent = Sent::default();
        let read = sent.read(input).map_err(Why::from);
        let occasion = read.and_then(|()| sent.occasion(dialect).map_err(Why::NoCall));
        let occasion = occasion.map_err(|why| {
            let is_edit = sent.tool_name.as_deref().is_none_or(|tool| dialect.edits(tool));
            let is_before = Stage::of(&sent.hook_event_name) == Some(Stage::Before);
            let before_edit = (is_before && is_edit).then(|| sent.hook_event_name.clone());
            Unread { why, before_edit }
        })?;
        Ok(Self {
            session: sent.session_id,
            directory: sent.cwd,
            event: sent.hook_event_name,
            occasion,
            tool_use_id: sent.tool_use_id,
        })
    }
}

impl Dialect {
    /// Whether the tool of that name edits files.
    fn edits(self, tool: &str) -> bool {
        match self {
            Self::Claude => ["Edit", "MultiEdit", "Write", "NotebookEdit"].contains(&tool),
            Self::Codex => tool == "apply_patch",
            Self::Gemini => ["write_file", "replace"].contains(&tool),
            Self::OpenCode => ["edit", "write", "apply_patch"].contains(&tool),
        }
    }

    /// Whether the tool of that name runs commands.
    fn runs(self, tool: &str) -> bool {
        match self {
            Self::Claude | Self::Codex => tool == "Bash",
            Self::Gemini => tool == "run_shell_command",
            Self::OpenCode => tool == "bash",
        }
    }
}

impl Sent {
    fn occasion(&self, dialect: Dialect) -> Result<Occasion, String> {
        if let Some(name) = self.wrong {
            return Err(format!("{name} is no text"));
        }
        match (self.hook_event_name.as_str(), Stage::of(&self.hook_event_name)) {
            ("SessionStart" | "session.start", _) => Ok(Occasion::SessionStart),
            ("UserPromptSubmit" | "BeforeAgent" | "chat.message", _) => Ok(Occasion::Prompt),
            ("SessionEnd" | "dispose", _) => Ok(Occasion::SessionEnd),
            (_, Some(stage)) => self.about_tool(stage, dialect),
            (_, None) => Ok(Occasion::Other),
        }
    }

    fn about_tool(&self, stage: Stage, dialect: Dialect) -> Result<Occasion, String> {
        let tool = self.tool_name.as_deref().unwrap_or_default();
        let command = self.tool_input["command"].as_str();
        if dialect.edits(tool) {
            let patch = self.tool_input["patchText"].as_str();
            let files = match (dialect, command, patch) {
                (Dialect::Codex, Some(patch), _) => patch::files(patch, Gap::Blank),
                (Dialect::OpenCode, _, Some(patch)) => patch::files(patch, Gap::None),
                _ => {
                    let named = ["file_path", "filePath", "notebook_path"].into_iter();
                    named.filter_map(|it| self.tool_input[it].as_str()).map(str::to_owned).collect()
                }
            };
            return match stage {
                Stage::Before if files.is_empty() => Err("the edit names no file".to_owned()),
                Stage::Before => Ok(Occasion::BeforeEdit(files)),
                Stage::After | Stage::Failed => Ok(Occasion::AfterEdit(files)),
            };
        }
        let Some(command) = command.filter(|_| dialect.runs(tool)) else {
            return Ok(Occasion::Other);
        };
        if stage == Stage::Before {
            let files = patch::files_of_command(command).filter(|_| dialect == Dialect::Codex);
            return Ok(files.map_or(Occasion::Other, Occasion::BeforeEdit));
        }
        let ended = match dialect {
            _ if stage == Stage::Failed => Some(self.failure()),
            Dialect::Claude if self.tool_input["run_in_background"] == true => None,
            Dialect::Claude => self.claude_response(),
            Dialect::Codex | Dialect::OpenCode => Some(self.plain_response()),
            Dialect::Gemini => Some(self.gemini_response()),
        };
        let duration_ms = self.duration_ms.filter(|it| *it >= 0.0).map(|it| it as u64);
        Ok(ended.map_or(Occasion::Other, |(exit_code, output)| {
            Occasion::AfterCommand(Ran {
                command: command.to_owned(),
                exit_code,
                output,
                duration_ms,
            })
        }))
    }

    /// Of a tool that failed: `Exit code N`, a line feed, the output.
    fn failure(&self) -> (Option<i64>, String) {
        let text = text_of(&self.error);
        let told =
            text.strip_prefix("Exit code ").map(|rest| rest.split_once('\n').unwrap_or((rest, "")));
        let told = told.and_then(|(code, output)| Some((code.trim().parse().ok()?, output)));
        match told {
            _ if self.is_interrupt => (Some(130), text),
            Some((code, output)) => (Some(code), output.to_owned()),
            None => (Some(1), text),
        }
    }

    /// Of a command that was not put in the background.
    fn claude_response(&self) -> Option<(Option<i64>, String)> {
        let response = &self.tool_response;
        if !response["backgroundTaskId"].is_null() {
            return None;
        }
        let [stdout, stderr] =
            ["stdout", "stderr"].map(|name| response[name].as_str().unwrap_or_default());
        let gap = if stdout.is_empty() || stderr.is_empty() || stdout.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let output = match response {
            Value::Object(_) => format!("{stdout}{gap}{stderr}"),
            other => text_of(other),
        };
        let exit_code = match told_status(response) {
            _ if response["interrupted"] == true => 130,
            Some(code) => code,
            None => 0,
        };
        Some((Some(exit_code), output))
    }

    fn plain_response(&self) -> (Option<i64>, String) {
        let response = &self.tool_response;
        let output = response["output"].as_str();
        let output = output.map_or_else(|| text_of(response), str::to_owned);
        (told_status(response).or_else(|| told_status(&response["metadata"])), output)
    }

    fn gemini_response(&self) -> (Option<i64>, String) {
        let response = &self.tool_response;
        let text = text_of(&response["llmContent"]);
        let told = text.lines().rev().find_map(|line| line.strip_prefix("Exit Code: "));
        let told = told.and_then(|code| code.trim().parse().ok());
        let is_error = || (!response["error"].is_null()).then_some(1);
        (told.or_else(|| told_status(response)).or_else(is_error), text)
    }
}

/// How a command ended, as far as members of its response say: the exit status; 1 of an error that has none.
fn told_status(response: &Value) -> Option<i64> {
    let is_error = ["is_error", "isError"].iter().any(|name| response[*name] == true);
    let code = ["exit_code", "exitCode"].iter().find_map(|name| response[*name].as_i64());
    // An error is no success, whatever else is said.
    code.filter(|code| !is_error || *code != 0).or(is_error.then_some(1))
}
