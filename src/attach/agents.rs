//! The agents that `mk` knows: where each keeps its configuration, and what it wants in it.
//!
//! Formats move fast. Each row says how it is known, and when it was checked.
//!
//! Rule: docs/spec/attach.md, sections 2 and 5.

use super::document::{Dialect, Format};

/// An agent.
#[derive(Debug)]
pub struct Agent {
    /// Its name here, and its agent id unless another is chosen.
    pub name: &'static str,
    pub trust: Trust,
    /// When the row was checked.
    pub checked: &'static str,
    /// Programs that tell by being there that it is installed.
    pub programs: &'static [&'static str],
    /// Files below the project: the one that exists is meant, else the first. None: it has no such.
    pub project: &'static [&'static str],
    /// Files of the user, likewise. `~` is the home, `${NAME:-TEXT}` a variable or else the text.
    pub user: &'static [&'static str],
    /// Whether all files of the user that exist are meant.
    pub every_user_file: bool,
    /// Whether the program writes its file of the user all the time, so that only it may do so.
    pub owns_user_file: Option<OwnCommand>,
    pub format: Format,
    /// Where entries stand in the file.
    pub place: &'static [&'static str],
    pub shape: Shape,
    /// Whether others read its project file too, so that no agent id may stand there.
    pub shares_project_file: bool,
    /// What it replaces by the directory of the project in arguments, if it starts servers elsewhere.
    pub workspace: Option<&'static str>,
    /// Whether it knows no project, so that the entry must name the store.
    pub knows_no_project: bool,
    pub hooks: Option<Hooks>,
    /// Its instruction file below the project.
    pub instructions: Option<&'static str>,
    /// What the person must still do.
    pub todo: &'static str,
}

/// How a row is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// By running the released program.
    Seen,
    /// From its maker's documentation or source.
    Documented,
    /// From others' documentation only.
    Reported,
}

/// The members of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `command`, `args`, `env`.
    Plain,
    /// The same and `"type": "stdio"`.
    Stdio,
    /// The same and `"source": "custom"`.
    Custom,
    /// `"type": "local"`, `command` with the arguments, `environment`.
    Local,
    /// As the first, and how tools are approved.
    Approving,
    /// `type`, `name`, `enabled`, `cmd`, `args`, `envs`.
    Extension,
}

/// The agent's own command that edits its file: the words before the name and the entry as JSON, and
/// those before the name to remove it.
#[derive(Debug)]
pub struct OwnCommand {
    pub add: &'static [&'static str],
    pub remove: &'static [&'static str],
}

/// Where and how an agent runs hooks.
#[derive(Debug)]
pub struct Hooks {
    /// Below the project: of one person, and of all.
    pub project: &'static str,
    pub shared: &'static str,
    pub user: &'static str,
    pub form: Form,
}

/// What stands in the file of hooks.
#[derive(Debug)]
pub enum Form {
    /// Groups of calls, in a document that may hold more.
    Groups(Groups),
    /// A plugin, which is all of the file: its text, with the command of a project.
    Plugin(&'static str),
}

/// Which groups of calls.
#[derive(Debug)]
pub struct Groups {
    /// Each event, and the tools it is wanted for; all, if that is empty.
    pub events: &'static [(&'static str, &'static str)],
    /// The limit of a call, in the agent's unit.
    pub timeout: u32,
    /// That of the call at the end of a session.
    pub last_timeout: u32,
}

const JSON: Format = Format::Json(Dialect::Json);
const JSONC: Format = Format::Json(Dialect::Jsonc);

/// What most rows have.
const PLAIN: Agent = Agent {
    name: "",
    trust: Trust::Reported,
    checked: "2026-11",
    programs: &[],
    project: &[],
    user: &[],
    every_user_file: false,
    owns_user_file: None,
    format: JSON,
    place: &["mcpServers"],
    shape: Shape::Plain,
    shares_project_file: false,
    workspace: None,
    knows_no_project: false,
    hooks: None,
    instructions: None,
    todo: "restart it",
};

/// All of them, in the order in which they are listed.
pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude-code",
        trust: Trust::Seen,
        programs: &["claude"],
        project: &[".mcp.json"],
        user: &["~/.claude.json"],
        owns_user_file: Some(OwnCommand {
            add: &["claude", "mcp", "add-json", "-s", "user"],
            remove: &["claude", "mcp", "remove", "-s", "user"],
        }),
        shape: Shape::Stdio,
        shares_project_file: true,
        hooks: Some(Hooks {
            project: ".claude/settings.local.json",
            shared: ".claude/settings.json",
            user: "~/.claude/settings.json",
            form: Form::Groups(Groups {
                events: &[
                    ("SessionStart", ""),
                    ("UserPromptSubmit", ""),
                    ("PreToolUse", "Edit|MultiEdit|Write|NotebookEdit"),
                    ("PostToolUse", "Bash|Edit|MultiEdit|Write|NotebookEdit"),
                    ("PostToolUseFailure", "Bash|Edit|MultiEdit|Write|NotebookEdit"),
                    ("SessionEnd", ""),
                ],
                timeout: 5,
                last_timeout: 5,
            }),
        }),
        instructions: Some("CLAUDE.md"),
        todo: "restart it, and approve the server of the project when it asks",
        ..PLAIN
    },
    Agent {
        name: "codex",
        trust: Trust::Seen,
        programs: &["codex"],
        project: &[".codex/config.toml"],
        user: &["${CODEX_HOME:-~/.codex}/config.toml"],
        format: Format::Toml,
        place: &["mcp_servers"],
        shape: Shape::Approving,
        hooks: Some(Hooks {
            project: ".codex/hooks.json",
            shared: ".codex/hooks.json",
            user: "${CODEX_HOME:-~/.codex}/hooks.json",
            form: Form::Groups(Groups {
                events: &[
                    ("SessionStart", ""),
                    ("UserPromptSubmit", ""),
                    ("PreToolUse", "Bash|apply_patch"),
                    ("PostToolUse", "Bash|apply_patch"),
                    ("SessionEnd", ""),
                ],
                timeout: 5,
                last_timeout: 3,
            }),
        }),
        instructions: Some("AGENTS.md"),
        todo: "trust the project in it, and its hooks if there are any, and restart it",
        ..PLAIN
    },
    Agent {
        name: "gemini",
        trust: Trust::Seen,
        programs: &["gemini"],
        project: &[".gemini/settings.json"],
        user: &["~/.gemini/settings.json"],
        format: JSONC,
        hooks: Some(Hooks {
            project: ".gemini/settings.json",
            shared: ".gemini/settings.json",
            user: "~/.gemini/settings.json",
            form: Form::Groups(Groups {
                events: &[
                    ("SessionStart", ""),
                    ("BeforeAgent", ""),
                    ("BeforeTool", "write_file|replace"),
                    ("AfterTool", "run_shell_command|write_file|replace"),
                    ("SessionEnd", ""),
                ],
                timeout: 5_000,
                last_timeout: 5_000,
            }),
        }),
        instructions: Some("GEMINI.md"),
        todo: "trust the folder in it, and restart it",
        ..PLAIN
    },
    Agent {
        name: "opencode",
        trust: Trust::Seen,
        checked: "2026-12",
        programs: &["opencode"],
        project: &["opencode.json", "opencode.jsonc"],
        user: &["~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"],
        format: JSONC,
        place: &["mcp"],
        shape: Shape::Local,
        hooks: Some(Hooks {
            project: ".opencode/plugins/mk.ts",
            shared: ".opencode/plugins/mk.ts",
            user: "~/.config/opencode/plugins/mk.ts",
            form: Form::Plugin(include_str!("opencode.ts")),
        }),
        instructions: Some("AGENTS.md"),
        ..PLAIN
    },
    Agent {
        name: "cursor",
        trust: Trust::Documented,
        programs: &["cursor", "cursor-agent"],
        project: &[".cursor/mcp.json"],
        user: &["~/.cursor/mcp.json"],
        workspace: Some("${workspaceFolder}"),
        instructions: Some(".cursor/rules/mk.mdc"),
        todo: "switch the server on in its settings",
        ..PLAIN
    },
    Agent {
        name: "vscode",
        trust: Trust::Documented,
        programs: &["code"],
        project: &[".vscode/mcp.json"],
        user: if cfg!(target_os = "macos") {
            &["~/Library/Application Support/Code/User/mcp.json"]
        } else {
            &["~/.config/Code/User/mcp.json"]
        },
        format: JSONC,
        place: &["servers"],
        shape: Shape::Stdio,
        instructions: Some("AGENTS.md"),
        todo: "start the server once, and trust it when it asks",
        ..PLAIN
    },
    Agent {
        name: "copilot",
        trust: Trust::Documented,
        programs: &["copilot"],
        project: &[".mcp.json"],
        user: &["${COPILOT_HOME:-~/.copilot}/mcp-config.json"],
        shape: Shape::Stdio,
        shares_project_file: true,
        instructions: Some("AGENTS.md"),
        ..PLAIN
    },
    Agent {
        name: "antigravity",
        programs: &["agy"],
        project: &[".agents/mcp_config.json", ".agent/mcp_config.json"],
        user: &[
            "~/.gemini/config/mcp_config.json",
            "~/.gemini/antigravity/mcp_config.json",
            "~/.gemini/antigravity-ide/mcp_config.json",
            "~/.gemini/antigravity-cli/mcp_config.json",
        ],
        every_user_file: true,
        ..PLAIN
    },
    Agent {
        name: "windsurf",
        programs: &["windsurf", "devin"],
        user: &["~/.codeium/windsurf/mcp_config.json", "~/.config/devin/mcp_config.json"],
        every_user_file: true,
        ..PLAIN
    },
    Agent {
        name: "zed",
        trust: Trust::Documented,
        programs: &["zed", "zeditor"],
        project: &[".zed/settings.json"],
        user: &["~/.config/zed/settings.json"],
        format: JSONC,
        place: &["context_servers"],
        shape: Shape::Custom,
        ..PLAIN
    },
    Agent {
        name: "cline",
        programs: &["cline"],
        user: &["${CLINE_DATA_DIR:-~/.cline/data}/settings/cline_mcp_settings.json"],
        ..PLAIN
    },
    Agent {
        name: "kiro",
        trust: Trust::Documented,
        programs: &["kiro", "kiro-cli"],
        project: &[".kiro/settings/mcp.json"],
        user: &["~/.kiro/settings/mcp.json"],
        ..PLAIN
    },
    Agent {
        name: "goose",
        trust: Trust::Documented,
        programs: &["goose"],
        user: &["~/.config/goose/config.yaml"],
        format: Format::Yaml,
        place: &["extensions"],
        shape: Shape::Extension,
        ..PLAIN
    },
    Agent {
        name: "amp",
        programs: &["amp"],
        project: &[".amp/settings.json"],
        user: &["~/.config/amp/settings.json"],
        format: JSONC,
        place: &["amp.mcpServers"],
        instructions: Some("AGENTS.md"),
        ..PLAIN
    },
    Agent {
        name: "junie",
        programs: &["junie"],
        project: &[".junie/mcp/mcp.json"],
        user: &["~/.junie/mcp/mcp.json"],
        ..PLAIN
    },
    Agent {
        name: "qwen",
        programs: &["qwen"],
        project: &[".qwen/settings.json"],
        user: &["~/.qwen/settings.json"],
        ..PLAIN
    },
    Agent {
        name: "crush",
        programs: &["crush"],
        project: &["crush.json"],
        user: &["~/.config/crush/crush.json"],
        format: JSONC,
        place: &["mcp"],
        shape: Shape::Stdio,
        ..PLAIN
    },
    Agent {
        name: "openclaw",
        programs: &["openclaw"],
        user: &["~/.openclaw/openclaw.json"],
        owns_user_file: Some(OwnCommand {
            add: &["openclaw", "mcp", "set"],
            remove: &["openclaw", "mcp", "unset"],
        }),
        place: &["mcp", "servers"],
        ..PLAIN
    },
    Agent {
        name: "claude-desktop",
        trust: Trust::Documented,
        user: if cfg!(target_os = "macos") {
            &["~/Library/Application Support/Claude/claude_desktop_config.json"]
        } else {
            &["~/.config/Claude/claude_desktop_config.json"]
        },
        knows_no_project: true,
        ..PLAIN
    },
];

/// The agent of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}
