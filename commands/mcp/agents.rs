//! Which agents clients are.

use mk::id::AgentId;

/// What the clients of known agents call themselves, and the agents.
///
/// Source: docs/spec/attach.md, section 2.
const CLIENTS: &[(&str, &str)] = &[
    ("codex-mcp-client", "codex"),
    ("gemini-cli-mcp-client", "gemini"),
    ("cursor-vscode", "cursor"),
    ("Visual Studio Code", "vscode"),
    ("Visual Studio Code - Insiders", "vscode"),
    ("github-copilot-developer", "copilot"),
    ("Cline", "cline"),
    ("Zed", "zed"),
];

/// The agent that a client is taken for which says its name only.
pub fn agent_of(client: &str) -> AgentId {
    let known = CLIENTS.iter().find(|(name, _)| *name == client);
    let name = known.map_or(client, |(_, agent)| agent);
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:@-".contains(c);
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).take(128).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    name.parse().unwrap_or_else(|_| "mcp-agent".parse().expect("letters and a hyphen"))
}

#[cfg(test)]
mod tests {
    use super::agent_of;

    #[test]
    fn clients_are_taken_for_agents_that_can_be_named() {
        for (client, agent) in [
            ("codex-mcp-client", "codex"),
            ("claude-code", "claude-code"),
            ("My Client (1.0)", "My-Client--1.0-"),
            ("-_x", "x"),
            ("日本", "mcp-agent"),
            ("", "mcp-agent"),
        ] {
            assert_eq!(agent_of(client).as_str(), agent);
        }
    }
}
