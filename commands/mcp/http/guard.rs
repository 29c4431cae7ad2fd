//! Who may speak to the server over HTTP.
//!
//! Rule: docs/spec/mcp.md, section 12.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use mk::code::Code;
use mk::id::AgentId;
use sha2::{Digest, Sha256};

use super::message::{Request, Response};
use crate::cli::{Failure, read_small};

/// Most bytes of a file of tokens.
const TOKENS_MAX: u64 = 1 << 20;

/// Fewest characters of a token.
const TOKEN_MIN: usize = 32;

pub struct Guard {
    /// Digests of tokens, and whose they are; none if nobody has to show one.
    tokens: Option<Vec<([u8; 32], AgentId)>>,
    /// Whether `Host` must be this machine: else a page could let a name of its own point here.
    is_local: bool,
}

/// Who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    Agent(AgentId),
    Anybody,
}

impl Guard {
    pub fn open() -> Self {
        Self { tokens: None, is_local: true }
    }

    /// Reads a file of lines `AGENT_ID TOKEN`; `#` begins a comment.
    ///
    /// # Errors
    /// If others may read it, or a line is of another form.
    pub fn read(path: &Path, is_local: bool) -> Result<Self, Failure> {
        let shown = path.display();
        let failed =
            |error| Failure::new(Code::of_io(&error), format!("cannot read '{shown}': {error}"));
        let mode = fs::metadata(path).map_err(failed)?.mode();
        if mode & 0o077 != 0 {
            return Err(Failure::usage(format!("others may read '{shown}'"))
                .hint(format!("close it with `chmod 600 {shown}`")));
        }
        let text = read_small(path, TOKENS_MAX).map_err(failed)?;
        let mut tokens = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| {
                Failure::usage(format!("'{shown}', line {}: {what}", index + 1))
                    .hint("make the line with `mk mcp token AGENT_ID`")
            };
            let mut words = line.split_whitespace();
            let (Some(agent), Some(token), None) = (words.next(), words.next(), words.next())
            else {
                return Err(wrong("it is not AGENT_ID TOKEN".to_owned()));
            };
            let agent = agent.parse().map_err(|error| wrong(format!("{error}")))?;
            if token.len() < TOKEN_MIN {
                return Err(wrong(format!("the token has less than {TOKEN_MIN} characters")));
            }
            tokens.push((digest(token), agent));
        }
        if tokens.is_empty() {
            return Err(Failure::usage(format!("there is no token in '{shown}'"))
                .hint("make one with `mk mcp token AGENT_ID`"));
        }
        Ok(Self { tokens: Some(tokens), is_local })
    }

    /// Who sent it.
    ///
    /// # Errors
    /// The response to one who may not.
    pub fn admit(&self, request: &Request) -> Result<Sender, Response> {
        let forbidden = || Response::new(403);
        let host = request.header("host").map_err(|_| forbidden())?.ok_or_else(forbidden)?;
        if self.is_local && !is_local(host) {
            return Err(forbidden());
        }
        if let Some(origin) = request.header("origin").map_err(|_| forbidden())? {
            let host = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            if !host.is_some_and(is_local) {
                return Err(forbidden());
            }
        }
        let Some(tokens) = &self.tokens else { return Ok(Sender::Anybody) };
        let unknown = || Response::new(401).with("WWW-Authenticate", "Bearer");
        let shown = request.header("authorization").map_err(|_| unknown())?;
        let shown = shown.and_then(|text| text.strip_prefix("Bearer ")).map(str::trim);
        let shown = digest(shown.ok_or_else(unknown)?);
        // All are compared, and all of each: how long it takes tells nothing of them.
        let mut found = None;
        for (token, agent) in tokens {
            let differs = token.iter().zip(shown).fold(0, |differs, (a, b)| differs | (a ^ b));
            if differs == 0 {
                found = Some(agent);
            }
        }
        found.cloned().map(Sender::Agent).ok_or_else(unknown)
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Whether a host, maybe with a port, is this machine by a name that no other can have.
fn is_local(host: &str) -> bool {
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    matches!(host.to_ascii_lowercase().as_str(), "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_names_of_this_machine_are_local() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:80", true),
            ("127.0.0.1:7791", true),
            ("[::1]:7791", true),
            ("[::1]", true),
            ("127.0.0.1.evil.example", false),
            ("evil.example", false),
            ("localhost.evil.example:80", false),
            ("localhost:80@evil.example", false),
            ("", false),
        ] {
            assert_eq!(is_local(host), expected, "{host}");
        }
    }
}
