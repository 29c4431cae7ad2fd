//! Revisions of the protocol.
//!
//! Rule: docs/spec/mcp.md, section 2.

use serde_json::json;

use super::body::Body;
use super::message::{Fault, Members};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    V2024,
    V2025March,
    V2025June,
    V2025November,
    /// Without a handshake: each request says all that it depends on.
    V2026,
}

impl Revision {
    pub const ALL: [Self; 5] =
        [Self::V2024, Self::V2025March, Self::V2025June, Self::V2025November, Self::V2026];

    pub fn name(self) -> &'static str {
        match self {
            Self::V2024 => "2024-11-05",
            Self::V2025March => "2025-03-26",
            Self::V2025June => "2025-06-18",
            Self::V2025November => "2025-11-25",
            Self::V2026 => "2026-07-28",
        }
    }

    /// The one that `initialize` is answered with if it names this.
    pub fn offered(name: &str) -> Self {
        let known = Self::ALL.into_iter().find(|known| known.name() == name);
        known.filter(|known| *known != Self::V2026).unwrap_or(Self::V2025November)
    }

    pub fn is_stateless(self) -> bool {
        self == Self::V2026
    }

    /// `result` as this revision has it.
    pub fn completed(self, result: Body) -> Body {
        if !self.is_stateless() {
            return result;
        }
        result
            .with("resultType", &"complete")
            .with_meta("io.modelcontextprotocol/serverInfo", &server_info())
    }

    /// `result` with how long clients may keep it.
    pub fn cached(self, result: Body, ttl_ms: u64) -> Body {
        if !self.is_stateless() {
            return result;
        }
        result.with("ttlMs", &ttl_ms).with("cacheScope", &"private")
    }
}

pub fn server_info() -> serde_json::Value {
    json!({
        "name": "mk",
        "title": "mk: shared memory of coding agents",
        "version": env!("CARGO_PKG_VERSION"),
    })
}

pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// Who a client says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub name: String,
    pub version: String,
}

impl Client {
    /// Of a `clientInfo`; what is missing or odd there decides nothing.
    pub fn read(info: Option<Members>) -> Option<Self> {
        let info = info?;
        let text = |name| info.text(name).ok().flatten();
        Some(Self { name: text("name")?, version: text("version").unwrap_or_default() })
    }
}

/// What the `_meta` of a request says of its revision: none if nothing.
///
/// # Errors
/// If it says half, or names one that is not spoken without a handshake.
pub fn stated(meta: Option<&Members>) -> Result<Option<Option<Client>>, Fault> {
    let Some(meta) = meta else { return Ok(None) };
    let Some(version) = meta.text(VERSION)? else { return Ok(None) };
    if version != Revision::V2026.name() {
        return Err(unknown(&version));
    }
    if meta.object(CAPABILITIES)?.is_none() {
        return Err(Fault::params(format!("_meta lacks {CAPABILITIES}")));
    }
    Ok(Some(Client::read(meta.object(CLIENT).ok().flatten())))
}

/// That a request names a revision that is not spoken here, or not so.
pub fn unknown(name: &str) -> Fault {
    let message = format!("protocol version '{}' is not spoken here", mk::id::shown(name));
    let supported = Revision::ALL.map(Revision::name);
    Fault::new(Fault::VERSION, message).with(json!({ "requested": name, "supported": supported }))
}

/// That a request came before the handshake and does not say its revision.
pub fn unstated() -> Fault {
    Fault::params(format!(
        "open with initialize, or send {VERSION} and {CAPABILITIES} in params._meta"
    ))
}
