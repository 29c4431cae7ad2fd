//! What agents tell their hooks.
//!
//! Rule: docs/spec/attach.md, section 6.1.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Whose hook it is: what it sends, and how it wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Claude,
    Codex,
    Gemini,
}

impl Dialect {
    /// That of the agent of this name.
    #[must_use]
    pub fn of(agent: &str) -> Option<Self> {
        match agent {
            "claude-code" => Some(Self::Claude),
            "codex" => Some(Self::Codex),
            "gemini" => Some(Self::Gemini),
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

/// A text that is no call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("stdin is not the JSON of a hook: {0}")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct Raw<'t> {
    #[serde(default)]
    session_id: String,
    cwd: Option<String>,
    #[serde(default)]
    hook_event_name: String,
    tool_name: Option<String>,
    // What a file holds can be long: it is passed over, and not read into memory again.
    #[serde(borrow)]
    tool_input: Option<&'t RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'t RawValue>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(default)]
    is_interrupt: bool,
    duration_ms: Option<f64>,
}

#[derive(Deserialize, Default)]
struct Input {
    command: Option<String>,
    file_path: Option<String>,
    notebook_path: Option<String>,
    #[serde(default)]
    run_in_background: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClaudeResponse {
    stdout: String,
    stderr: String,
    interrupted: bool,
    #[serde(rename = "backgroundTaskId")]
    background: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GeminiResponse<'t> {
    #[serde(borrow, rename = "llmContent")]
    content: Option<&'t RawValue>,
    error: Option<IgnoredAny>,
}

/// Which of the things that happen to a tool an event tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    After,
    Failed,
}

impl Call {
    /// Reads what an agent sends.
    ///
    /// # Errors
    /// If it is no JSON object, or a member that is always there has another type. What is not known
    /// is passed over.
    pub fn read(text: &[u8], dialect: Dialect) -> Result<Self, CallError> {
        let raw: Raw<'_> = serde_json::from_slice(text)?;
        let stage = match raw.hook_event_name.as_str() {
            "PreToolUse" | "BeforeTool" => Some(Stage::Before),
            "PostToolUse" | "AfterTool" => Some(Stage::After),
            "PostToolUseFailure" => Some(Stage::Failed),
            _ => None,
        };
        let occasion = match (raw.hook_event_name.as_str(), stage) {
            ("SessionStart", _) => Occasion::SessionStart,
            ("UserPromptSubmit" | "BeforeAgent", _) => Occasion::Prompt,
            ("SessionEnd", _) => Occasion::SessionEnd,
            (_, Some(stage)) => raw.about_tool(stage, dialect)?,
            (_, None) => Occasion::Other,
        };
        Ok(Self {
            session: raw.session_id,
            directory: raw.cwd,
            event: raw.hook_event_name,
            occasion,
            tool_use_id: raw.tool_use_id,
        })
    }
}

impl Raw<'_> {
    fn about_tool(&self, stage: Stage, dialect: Dialect) -> Result<Occasion, CallError> {
        let tool = self.tool_name.as_deref().unwrap_or_default();
        let is_edit = match dialect {
            Dialect::Claude => ["Edit", "Write", "NotebookEdit"].contains(&tool),
            Dialect::Codex => tool == "apply_patch",
            Dialect::Gemini => ["write_file", "replace"].contains(&tool),
        };
        let is_shell = match dialect {
            Dialect::Claude | Dialect::Codex => tool == "Bash",
            Dialect::Gemini => tool == "run_shell_command",
        };
        if !is_edit && !is_shell {
            return Ok(Occasion::Other);
        }
        let input: Input = match self.tool_input {
            Some(input) => serde_json::from_str(input.get())?,
            None => Input::default(),
        };
        if is_edit {
            let files = match (dialect, &input.command) {
                (Dialect::Codex, Some(patch)) => patched(patch),
                _ => input.file_path.into_iter().chain(input.notebook_path).collect(),
            };
            return Ok(match stage {
                Stage::Before => Occasion::BeforeEdit(files),
                Stage::After | Stage::Failed => Occasion::AfterEdit(files),
            });
        }
        let Some(command) = input.command.filter(|_| stage != Stage::Before) else {
            return Ok(Occasion::Other);
        };
        let ended = match dialect {
            _ if stage == Stage::Failed => Some(self.failure()),
            Dialect::Claude if input.run_in_background == Some(true) => None,
            Dialect::Claude => self.claude_response()?,
            Dialect::Codex => Some((None, self.response_text())),
            Dialect::Gemini => Some(self.gemini_response()?),
        };
        let duration_ms = self.duration_ms.filter(|it| *it >= 0.0).map(|it| it as u64);
        Ok(ended.map_or(Occasion::Other, |(exit_code, output)| {
            Occasion::AfterCommand(Ran { command, exit_code, output, duration_ms })
        }))
    }

    /// Of a tool that failed: `Exit code N`, a line feed, the output.
    fn failure(&self) -> (Option<i64>, String) {
        let text = text_of(self.error);
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
    fn claude_response(&self) -> Result<Option<(Option<i64>, String)>, CallError> {
        let Some(response) = self.tool_response else { return Ok(Some((Some(0), String::new()))) };
        let ClaudeResponse { stdout, stderr, interrupted, background } =
            serde_json::from_str(response.get())?;
        if background.is_some() {
            return Ok(None);
        }
        let gap = if stdout.is_empty() || stderr.is_empty() || stdout.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let exit_code = if interrupted { 130 } else { 0 };
        Ok(Some((Some(exit_code), format!("{stdout}{gap}{stderr}"))))
    }

    fn gemini_response(&self) -> Result<(Option<i64>, String), CallError> {
        let Some(response) = self.tool_response else { return Ok((None, String::new())) };
        let response: GeminiResponse<'_> = serde_json::from_str(response.get())?;
        let text = text_of(response.content);
        let told = text.lines().rev().find_map(|line| line.strip_prefix("Exit Code: "));
        let exit_code = match told.and_then(|code| code.trim().parse().ok()) {
            Some(code) => Some(code),
            None => response.error.map(|_| 1),
        };
        Ok((exit_code, text))
    }

    fn response_text(&self) -> String {
        text_of(self.tool_response)
    }
}

/// A text, or the JSON of what is none.
fn text_of(value: Option<&RawValue>) -> String {
    let Some(value) = value else { return String::new() };
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned())
}

/// The files that a patch touches, by both names where one is moved.
fn patched(patch: &str) -> Vec<String> {
    const MARKS: [&str; 4] =
        ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let file = MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim);
        if let Some(file) = file.filter(|file| !files.iter().any(|known| known == file)) {
            files.push(file.to_owned());
        }
    }
    files
}
