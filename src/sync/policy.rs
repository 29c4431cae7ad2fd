//! The policy of a signed exchange: who takes part, with which keys, and for which agents each speaks.
//!
//! Rule: docs/spec/kernel.md, section 15.

use std::collections::{BTreeMap, BTreeSet};

use crate::canon::{JsonError, Object, Value};
use crate::code::{Code, Coded};
use crate::id::{AgentId, hex, shown, unhex_array};
use crate::notice::is_peer;

pub const SCHEMA: &str = "memkernel.sync-config/v1";

/// Most bytes of a policy file.
pub const POLICY_MAX: u64 = 65_536;

/// Most peers, and agents of each.
const PEERS_MAX: usize = 128;
const AGENTS_MAX: usize = 64;

/// Most characters of the name of a workspace.
const WORKSPACE_MAX: usize = 128;

const INTERVAL: (i64, i64) = (10, 3_600);
const STALE_AFTER: (i64, i64) = (300, 86_400);

const MEMBERS: [&str; 8] = [
    "folder",
    "interval_seconds",
    "peer_id",
    "private_key",
    "schema",
    "stale_after_seconds",
    "trusted_peers",
    "workspace_id",
];

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub workspace: String,
    /// The own peer.
    pub peer: String,
    /// Paths, as they are written in the file.
    pub folder: String,
    pub private_key: String,
    /// By name, the own one too.
    pub peers: BTreeMap<String, Trusted>,
    pub interval_seconds: i64,
    pub stale_after_seconds: i64,
}

/// A peer that is trusted to speak for its agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// Of Ed25519.
    pub public_key: [u8; 32],
    pub agents: BTreeSet<AgentId>,
}

/// Why there is no such policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("the policy is not JSON as it must be: {0}")]
    Json(#[from] JsonError),
    #[error("the policy is none of {SCHEMA}: {0}")]
    Shape(String),
}

impl Coded for PolicyError {
    fn code(&self) -> Code {
        Code::INVALID_ARGUMENT
    }
}

impl Policy {
    /// Reads a policy file.
    ///
    /// # Errors
    /// If anything in it is not as it must be.
    pub fn read(bytes: &[u8]) -> Result<Self, PolicyError> {
        let file = Value::parse(bytes)?;
        read(&file).map_err(PolicyError::Shape)
    }

    /// The text of its file.
    #[must_use]
    pub fn text(&self) -> String {
        let peers = self.peers.iter().map(|(name, peer)| {
            let agents = peer.agents.iter().map(|agent| Value::from(agent.as_str()));
            let members = [
                ("public_key", Value::from(hex(&peer.public_key))),
                ("agents", Value::Array(agents.collect())),
            ];
            (name.as_str(), Value::from(Object::from_iter(members)))
        });
        let policy = Object::from_iter([
            ("schema", Value::from(SCHEMA)),
            ("workspace_id", self.workspace.as_str().into()),
            ("peer_id", self.peer.as_str().into()),
            ("folder", self.folder.as_str().into()),
            ("private_key", self.private_key.as_str().into()),
            ("trusted_peers", Object::from_iter(peers).into()),
            ("interval_seconds", self.interval_seconds.into()),
            ("stale_after_seconds", self.stale_after_seconds.into()),
        ]);
        Value::from(policy).to_pretty() + "\n"
    }

    /// The same policy with other peers.
    ///
    /// # Errors
    /// If that is none.
    pub fn with_peers(&self, peers: BTreeMap<String, Trusted>) -> Result<Self, PolicyError> {
        Self::read(Self { peers, ..self.clone() }.text().as_bytes())
    }

    /// The own peer, as the others trust it.
    #[must_use]
    pub fn own(&self) -> &Trusted {
        &self.peers[&self.peer]
    }

    /// All peers but the own one.
    pub fn others(&self) -> impl Iterator<Item = (&String, &Trusted)> {
        self.peers.iter().filter(|(name, _)| **name != self.peer)
    }
}

fn read(file: &Value) -> Result<Policy, String> {
    let members = file.as_object().ok_or("it is no object")?;
    if let Some((name, _)) = members.iter().find(|(name, _)| !MEMBERS.contains(name)) {
        return Err(format!("it has a member '{}'", shown(name)));
    }
    let text = |name| match members.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(format!("{name} is no text")),
        None => Err(format!("{name} is missing")),
    };
    if text("schema")? != SCHEMA {
        return Err("its schema is another".to_owned());
    }
    let number = |name, (default, most)| match members.get(name) {
        None => Ok(default),
        Some(Value::Int(number)) => number
            .as_i64()
            .filter(|number| (1..=most).contains(number))
            .ok_or_else(|| format!("{name} is not from 1 to {most}")),
        Some(_) => Err(format!("{name} is no whole number")),
    };
    let workspace = text("workspace_id")?;
    if !is_workspace(workspace) {
        return Err(format!("workspace_id '{}' is none", shown(workspace)));
    }
    let peers = match members.get("trusted_peers") {
        Some(Value::Object(peers)) => read_peers(peers)?,
        _ => return Err("trusted_peers is no object".to_owned()),
    };
    let peer = text("peer_id")?;
    if !peers.contains_key(peer) {
        return Err(format!("peer_id '{}' is none of trusted_peers", shown(peer)));
    }
    let path = |name| match text(name)? {
        "" => Err(format!("{name} is empty")),
        path => Ok(path.to_owned()),
    };
    Ok(Policy {
        workspace: workspace.to_owned(),
        peer: peer.to_owned(),
        folder: path("folder")?,
        private_key: path("private_key")?,
        peers,
        interval_seconds: number("interval_seconds", INTERVAL)?,
        stale_after_seconds: number("stale_after_seconds", STALE_AFTER)?,
    })
}

fn read_peers(peers: &Object) -> Result<BTreeMap<String, Trusted>, String> {
    if !(1..=PEERS_MAX).contains(&peers.len()) {
        return Err(format!("trusted_peers has not 1 to {PEERS_MAX} members"));
    }
    let (mut keys, mut all_agents) = (BTreeSet::new(), BTreeSet::new());
    let mut read = BTreeMap::new();
    for (name, peer) in peers.iter() {
        let wrong = |why: &str| format!("trusted peer '{}': {why}", shown(name));
        if !is_name(name) {
            return Err(wrong("no peer can have this name"));
        }
        let members = peer.as_object().filter(|members| members.len() == 2);
        let key = members.and_then(|members| members.get("public_key")?.as_str());
        let agents = members.and_then(|members| members.get("agents")?.as_array());
        let (Some(key), Some(agents)) = (key, agents) else {
            return Err(wrong("it has not public_key and agents, and nothing else"));
        };
        let public_key = unhex_array(key);
        let public_key: [u8; 32] =
            public_key.ok_or_else(|| wrong("public_key is not 64 lower-case hex digits"))?;
        if !keys.insert(public_key) {
            return Err(wrong("its public_key is that of another"));
        }
        if !(1..=AGENTS_MAX).contains(&agents.len()) {
            return Err(wrong(&format!("it has not 1 to {AGENTS_MAX} agents")));
        }
        let mut own = BTreeSet::new();
        for agent in agents {
            let agent = agent.as_str().ok_or_else(|| wrong("an agent is no text"))?;
            let agent: AgentId = agent.parse().map_err(|error| wrong(&format!("{error}")))?;
            if !all_agents.insert(agent.clone()) {
                return Err(wrong(&format!("agent '{agent}' is there twice")));
            }
            own.insert(agent);
        }
        read.insert(name.to_owned(), Trusted { public_key, agents: own });
    }
    Ok(read)
}

/// Whether it can be the name of a workspace.
pub(crate) fn is_workspace(text: &str) -> bool {
    (1..=WORKSPACE_MAX).contains(&text.len())
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| byte.is_ascii_alphanumeric() || (at > 0 && b"._:-".contains(&byte)))
}

/// Whether it can be the name of a peer in a policy.
pub(crate) fn is_name(text: &str) -> bool {
    is_peer(text) && !is_device(text)
}

/// Whether some systems keep files of this name from being made.
fn is_device(name: &str) -> bool {
    let numbered = |prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest: &str| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    ["con", "prn", "aux", "nul"].contains(&name) || numbered("com") || numbered("lpt")
}
