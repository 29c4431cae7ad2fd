//! What stands in an agent's configuration for the server.
//!
//! Rule: docs/spec/attach.md, section 3.

use super::agents::{Agent, Shape};
use super::document::Tree;

/// The server as an agent starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub command: String,
    pub args: Vec<String>,
    /// The agent id, where the entry says it.
    pub agent_id: Option<String>,
    /// Whether its tools need no asking.
    pub approved: bool,
}

/// The environment variable that says who acts.
const AGENT_ID: &str = "MK_AGENT";

impl Entry {
    /// The entry named `name` as `agent` reads it.
    #[must_use]
    pub fn tree(&self, agent: &Agent, name: &str) -> Tree {
        let word = |word: &'static str| Tree::text(word);
        let command = ("command", Tree::text(&self.command));
        let args = ("args", Tree::texts(&self.args));
        let mut members = match agent.shape {
            Shape::Plain | Shape::Approving => vec![command, args],
            Shape::Stdio => vec![("type", word("stdio")), command, args],
            Shape::Custom => vec![("source", word("custom")), command, args],
            Shape::Local => {
                let words = [&self.command].into_iter().chain(&self.args);
                vec![("type", word("local")), ("command", Tree::texts(words))]
            }
            Shape::Extension => vec![
                ("type", word("stdio")),
                ("name", Tree::text(name)),
                ("enabled", Tree::Plain("true".to_owned())),
                ("cmd", Tree::text(&self.command)),
                args,
            ],
        };
        if agent.shape == Shape::Approving {
            let mode = if self.approved { "approve" } else { "writes" };
            members.push(("default_tools_approval_mode", word(mode)));
        } else if self.approved && agent.name == "gemini" {
            members.push(("trust", Tree::Plain("true".to_owned())));
        }
        if let Some(id) = &self.agent_id {
            members.push((environment(agent.shape), Tree::map([(AGENT_ID, Tree::text(id))])));
        }
        Tree::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// What `tree` starts, if that is `mk mcp`.
    #[must_use]
    pub fn read(tree: &Tree, agent: &Agent) -> Option<Self> {
        let words = |key: &str| -> Option<Vec<String>> {
            let items = tree.get(key)?.as_list()?;
            items.iter().map(|item| item.as_text().map(str::to_owned)).collect()
        };
        let (command, args) = match agent.shape {
            Shape::Local => {
                let mut words = words("command")?.into_iter();
                (words.next()?, words.collect())
            }
            Shape::Extension => (tree.get("cmd")?.as_text()?.to_owned(), words("args")?),
            _ => (tree.get("command")?.as_text()?.to_owned(), words("args")?),
        };
        let agent_id = tree.at(&[environment(agent.shape), AGENT_ID]);
        let agent_id = agent_id.and_then(Tree::as_text).map(str::to_owned);
        let is_named_mk = command.rsplit('/').next() == Some("mk");
        if !args.iter().any(|arg| arg == "mcp") || !(is_named_mk || agent_id.is_some()) {
            return None;
        }
        let approved = match agent.shape {
            Shape::Approving => {
                tree.get("default_tools_approval_mode").and_then(Tree::as_text) == Some("approve")
            }
            _ => tree.get("trust") == Some(&Tree::Plain("true".to_owned())),
        };
        Some(Self { command, args, agent_id, approved })
    }
}

/// The member that holds environment variables.
fn environment(shape: Shape) -> &'static str {
    match shape {
        Shape::Local => "environment",
        Shape::Extension => "envs",
        _ => "env",
    }
}
