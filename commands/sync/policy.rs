//! `mk sync init`, `mk sync trust` and `mk sync revoke`

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mk::id::{AgentId, hex, shown, unhex_array};
use mk::store::folder::{replace_private, write_new_private};
use mk::sync::{self, Key, Policy, Trusted};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::policy_path;
use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Make a policy file and a key, and print what other peers need to trust this one
///
/// The key is beside the policy, under its name and `.key`. Nothing is ever overwritten.
#[derive(Debug, clap::Args)]
pub struct Init {
    /// The policy file to make, outside of the folder
    policy: PathBuf,
    /// The folder that the peers share
    #[arg(long, value_name = "DIR")]
    folder: String,
    /// The name of the exchange, the same for all peers
    #[arg(long, value_name = "NAME")]
    workspace: String,
    /// The name of this peer in it
    #[arg(long, value_name = "NAME")]
    peer: String,
    /// The agents that it speaks for, with commas between them
    #[arg(long, value_name = "AGENTS", required = true, value_delimiter = ',')]
    agents: Vec<AgentId>,
}

/// Trust a peer: take in what it publishes in the name of its agents
#[derive(Debug, clap::Args)]
pub struct Trust {
    /// The name of the peer
    peer: String,
    /// Its public key, as `mk sync init` printed it there
    #[arg(long, value_name = "HEX")]
    public_key: String,
    /// The agents that it speaks for, with commas between them
    #[arg(long, value_name = "AGENTS", required = true, value_delimiter = ',')]
    agents: Vec<AgentId>,
    /// The peer is trusted already: trust it with this key and these agents instead
    #[arg(long)]
    replace: bool,
    /// The policy file [default: the one that `mk sync enable` was given]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

/// Trust a peer no longer: what it published stays, and nothing of it is taken in any more
#[derive(Debug, clap::Args)]
pub struct Revoke {
    /// The name of the peer
    peer: String,
    /// The policy file [default: the one that `mk sync enable` was given]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

#[derive(Serialize)]
struct Identity {
    peer_id: String,
    agents: Vec<AgentId>,
    public_key: String,
    /// SHA-256 of the public key, to compare by voice.
    fingerprint: String,
}

impl Text for Identity {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let agents: Vec<&str> = self.agents.iter().map(AgentId::as_str).collect();
        writeln!(out, "peer:        {}", self.peer_id)?;
        writeln!(out, "agents:      {}", agents.join(","))?;
        writeln!(out, "public key:  {}", self.public_key)?;
        writeln!(out, "fingerprint: {}", self.fingerprint)
    }
}

/// The peers that a policy trusts.
#[derive(Serialize)]
struct Peers {
    trusted_peers: Vec<String>,
}

impl Text for Peers {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "trusted: {}", self.trusted_peers.join(", "))
    }
}

pub fn init(args: &Init, ctx: &mut Context) -> Result<Answer, Failure> {
    let seed: [u8; 32] = ctx.random();
    let public_key = Key::new(seed).public_key();
    let mut key = args.policy.clone().into_os_string();
    key.push(".key");
    let key = PathBuf::from(key);
    let name = key.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Failure::usage("the policy file has no name that is UTF-8"))?;
    let agents = agents(&args.agents)?;
    let policy = Policy {
        workspace: args.workspace.clone(),
        peer: args.peer.clone(),
        folder: absolute(&args.folder, ctx)?,
        private_key: name.to_owned(),
        peers: BTreeMap::from([(args.peer.clone(), Trusted { public_key, agents })]),
        interval_seconds: 10,
        stale_after_seconds: 300,
    };
    let text = policy.text();
    Policy::read(text.as_bytes())?;
    for (path, bytes) in [(&key, seed.as_slice()), (&args.policy, text.as_bytes())] {
        write_new_private(path, bytes)
            .map_err(|error| Failure::from(error).hint("nothing is ever overwritten"))?;
    }
    ctx.note_written();
    ctx.print(&Identity {
        peer_id: args.peer.clone(),
        agents: args.agents.clone(),
        public_key: hex(&public_key),
        fingerprint: hex(&Sha256::digest(public_key)),
    })?;
    Ok(Answer::Yes)
}

/// `path`, from wherever it is read.
fn absolute(path: &str, ctx: &Context) -> Result<String, Failure> {
    let path = ctx.directory()?.join(path);
    match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::usage(format!("'{}' is not UTF-8", path.display()))),
    }
}

fn agents(given: &[AgentId]) -> Result<BTreeSet<AgentId>, Failure> {
    let agents: BTreeSet<AgentId> = given.iter().cloned().collect();
    match agents.len() == given.len() {
        true => Ok(agents),
        false => Err(Failure::usage("an agent is named twice")),
    }
}

pub fn trust(args: &Trust, ctx: &mut Context) -> Result<Answer, Failure> {
    let public_key = unhex_array(&args.public_key);
    let public_key = public_key
        .ok_or_else(|| Failure::usage("the public key is not 64 lower-case hex digits"))?;
    let trusted = Trusted { public_key, agents: agents(&args.agents)? };
    let path = policy_path(args.policy.as_ref(), ctx)?;
    change(&path, ctx, |policy| {
        let is_known = policy.peers.contains_key(&args.peer);
        if is_known && !args.replace {
            let message = format!("peer '{}' is trusted already", shown(&args.peer));
            return Err(Failure::usage(message).hint("give it another key with --replace"));
        }
        let mut peers = policy.peers.clone();
        peers.insert(args.peer.clone(), trusted);
        Ok(peers)
    })
}

pub fn revoke(args: &Revoke, ctx: &mut Context) -> Result<Answer, Failure> {
    let path = policy_path(args.policy.as_ref(), ctx)?;
    change(&path, ctx, |policy| {
        if args.peer == policy.peer {
            return Err(Failure::usage("the own peer cannot be revoked"));
        }
        let mut peers = policy.peers.clone();
        match peers.remove(&args.peer) {
            Some(_) => Ok(peers),
            None => Err(Failure::usage(format!("peer '{}' is not trusted", shown(&args.peer)))),
        }
    })
}

fn change(
    path: &Path,
    ctx: &mut Context,
    change: impl FnOnce(&Policy) -> Result<BTreeMap<String, Trusted>, Failure>,
) -> Result<Answer, Failure> {
    let policy = sync::read_policy(path)?;
    let policy = policy.with_peers(change(&policy)?)?;
    replace_private(path, policy.text().as_bytes())?;
    ctx.note_written();
    ctx.print(&Peers { trusted_peers: policy.peers.into_keys().collect() })?;
    Ok(Answer::Yes)
}
