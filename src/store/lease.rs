//! The row of a lease.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::id::{AgentId, LineageId};
use crate::time::Timestamp;

/// Longest resource key, in characters.
pub const RESOURCE_MAX: usize = 1_024;

/// Longest time that a grant holds.
pub const TTL_MAX: Duration = Duration::from_secs(86_400);

/// The highest token there can be.
pub const TOKEN_MAX: u64 = i64::MAX.unsigned_abs();

/// What is known of a resource that was leased once: the row stays for its token's sake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The key of the resource.
    pub resource: String,
    /// The token of the newest grant. No later grant has the same or a lower one.
    pub token: u64,
    /// How long the newest grant held, from its grant or renewal on; zero if there was none here.
    pub ttl: Duration,
    /// When it lapses, or was given back.
    pub expires_at: Timestamp,
    /// Whose it is; none once it was given back. A lease that lapsed keeps its holder.
    pub holder: Option<Holder>,
}

impl Lease {
    /// The holder, while the lease is in force.
    #[must_use]
    pub fn active(&self, now: Timestamp) -> Option<&Holder> {
        self.holder.as_ref().filter(|_| self.expires_at > now)
    }
}

/// Whose a lease is, and how they came by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub agent: AgentId,
    /// The incarnation of the agent; empty in a plain shell.
    pub session: String,
    pub origin: Origin,
    /// The branch that the grant is recorded on.
    pub branch: LineageId,
    pub acquired_at: Timestamp,
}

/// By what a lease was taken. A hook gives back only what a hook took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Command,
    Tool,
    Hook,
}

impl Origin {
    pub const ALL: [Self; 3] = [Self::Command, Self::Tool, Self::Hook];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Tool => "tool",
            Self::Hook => "hook",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Origin {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == name).ok_or(())
    }
}

/// Which rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leases {
    All,
    /// Those in force at that time.
    Active(Timestamp),
    /// Those that had lapsed by then and were neither given back nor taken anew.
    Lapsed(Timestamp),
}

impl Leases {
    #[must_use]
    pub fn contains(self, lease: &Lease) -> bool {
        match self {
            Self::All => true,
            Self::Active(now) => lease.active(now).is_some(),
            Self::Lapsed(now) => lease.holder.is_some() && lease.expires_at <= now,
        }
    }
}

/// The least text above all that begin with `prefix`; none if there is none such.
#[must_use]
pub(super) fn above_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        // The range skips the surrogates.
        if let Some(next) = (last..=char::MAX).nth(1) {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}
