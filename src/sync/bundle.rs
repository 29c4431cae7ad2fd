//! What a peer publishes: its notices, signed.
//!
//! Rule: docs/spec/kernel.md, section 15, "Bundle".

use std::fmt;

use ed25519_compact::{KeyPair, PublicKey, Seed, Signature};
use sha2::{Digest, Sha256};

use super::policy::Policy;
use crate::canon::{Object, Value};
use crate::id::{Hash, hex, unhex_array};
use crate::notice::document::{self, moment, read_moment};
use crate::store::{Notice, Unread};
use crate::time::Timestamp;

pub const SCHEMA: &str = "memkernel.signed-notices/v1";

/// Most notices, and bytes, of a bundle.
pub const NOTICES_MAX: usize = 10_000;
pub const BYTES_MAX: u64 = 8_388_608;

/// How far ahead the clock of a peer may be, in seconds.
pub const AHEAD_MAX_S: i64 = 300;

const MEMBERS: [&str; 7] =
    ["notices", "peer_id", "schema", "sent_at", "sequence", "signature", "workspace_id"];

/// The key of a peer, of Ed25519.
pub struct Key(KeyPair);

impl Key {
    /// The key that is made of 32 random bytes.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self(KeyPair::from_seed(Seed::new(seed)))
    }

    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        *self.0.pk
    }
}

/// A bundle that was found to be what it says.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub notices: Vec<Notice>,
    pub sequence: u64,
    pub sent_at: Timestamp,
    pub digest: Hash,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Why a bundle was not taken in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason { $($(#[$doc])* $variant,)* }

        impl Reason {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

reasons! {
    MissingFile = "missing_file",
    /// A link, or no regular file.
    UnsafeFile = "unsafe_file",
    OversizedFile = "oversized_file",
    InvalidDocument = "invalid_document",
    WrongPeer = "wrong_peer",
    WrongWorkspace = "wrong_workspace",
    InvalidSignature = "invalid_signature",
    FutureTimestamp = "future_timestamp",
    /// An author that its peer does not speak for.
    UnauthorizedAuthor = "unauthorized_author",
    /// An id that does not begin with its peer.
    UnauthorizedOrigin = "unauthorized_origin",
    /// Older than what was accepted.
    ReplayedSequence = "replayed_sequence",
    /// As old as what was accepted, and another.
    SequenceConflict = "sequence_conflict",
    /// It says something else of a notice than is known, or is not the peer that it came from.
    NoticeConflict = "notice_conflict",
    IoError = "io_error",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Unread> for Reason {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Missing => Self::MissingFile,
            Unread::Unsafe => Self::UnsafeFile,
            Unread::Oversized => Self::OversizedFile,
            Unread::Io => Self::IoError,
        }
    }
}

/// Reads a bundle that should be of `peer`, a trusted one.
///
/// # Errors
/// The first reason against it, in the order of [`Reason`].
pub fn read(bytes: &[u8], policy: &Policy, peer: &str, now: Timestamp) -> Result<Bundle, Reason> {
    let trusted = policy.peers.get(peer).ok_or(Reason::WrongPeer)?;
    let document = Value::parse(bytes).map_err(|_| Reason::InvalidDocument)?;
    let parsed = parse(document).ok_or(Reason::InvalidDocument)?;
    if parsed.peer != peer {
        return Err(Reason::WrongPeer);
    }
    if parsed.workspace != policy.workspace {
        return Err(Reason::WrongWorkspace);
    }
    let (key, signature) = (PublicKey::new(trusted.public_key), Signature::new(parsed.signature));
    key.verify(&parsed.signed, &signature).map_err(|_| Reason::InvalidSignature)?;
    let ahead = parsed.sent_at.micros().saturating_sub(now.micros());
    if ahead > AHEAD_MAX_S * 1_000_000 {
        return Err(Reason::FutureTimestamp);
    }
    if parsed.notices.iter().any(|notice| !trusted.agents.contains(&notice.author)) {
        return Err(Reason::UnauthorizedAuthor);
    }
    let prefix = format!("{peer}:");
    if parsed.notices.iter().any(|notice| !notice.id.starts_with(&prefix)) {
        return Err(Reason::UnauthorizedOrigin);
    }
    let source = Some(peer.to_owned());
    let notices = parsed.notices.into_iter();
    Ok(Bundle {
        notices: notices.map(|notice| Notice { source: source.clone(), ..notice }).collect(),
        sequence: parsed.sequence,
        sent_at: parsed.sent_at,
        digest: Hash(Sha256::digest(&parsed.signed).into()),
    })
}

struct Parsed {
    notices: Vec<Notice>,
    peer: String,
    workspace: String,
    sequence: u64,
    sent_at: Timestamp,
    signature: [u8; 64],
    /// The bytes that the signature is of.
    signed: Vec<u8>,
}

fn parse(document: Value) -> Option<Parsed> {
    let Value::Object(mut members) = document else { return None };
    let is_whole =
        members.len() == MEMBERS.len() && MEMBERS.iter().all(|name| members.contains_key(name));
    if !is_whole {
        return None;
    }
    let signature = members.remove("signature")?;
    let text = |name| members.get(name).and_then(Value::as_str);
    if text("schema")? != SCHEMA {
        return None;
    }
    let sequence = match members.get("sequence")? {
        Value::Int(number) => number.as_i64().filter(|number| *number > 0)?.unsigned_abs(),
        _ => return None,
    };
    let notices = members.get("notices")?.as_array()?;
    if notices.len() > NOTICES_MAX {
        return None;
    }
    Some(Parsed {
        notices: document::read_notices(notices).ok()?,
        peer: text("peer_id")?.to_owned(),
        workspace: text("workspace_id")?.to_owned(),
        sequence,
        sent_at: read_moment(text("sent_at")?)?,
        signature: unhex_array(signature.as_str()?)?,
        signed: members.canonical().into_bytes(),
    })
}

/// The file of a bundle of the own peer, and its digest.
#[must_use]
pub fn write(
    policy: &Policy,
    key: &Key,
    notices: &[Notice],
    sequence: u64,
    sent_at: Timestamp,
) -> (String, Hash) {
    let items: Vec<Value> = notices.iter().map(document::written).collect();
    let members = Object::from_iter([
        ("schema", Value::from(SCHEMA)),
        ("workspace_id", policy.workspace.as_str().into()),
        ("peer_id", policy.peer.as_str().into()),
        ("sequence", sequence.into()),
        ("sent_at", with_offset(sent_at).into()),
        ("notices", items.into()),
    ]);
    sealed(members, key)
}

/// The file of a bundle with these members, signed, and its digest.
#[must_use]
pub fn sealed(mut members: Object, Key(key): &Key) -> (String, Hash) {
    let signed = members.canonical();
    let signature = key.sk.sign(&signed, None);
    members.insert("signature", hex(signature.as_slice()));
    (members.canonical(), Hash(Sha256::digest(&signed).into()))
}

/// A moment with `+00:00`, as the exchange writes it.
#[must_use]
pub fn with_offset(at: Timestamp) -> String {
    let text = moment(at);
    format!("{}+00:00", text.trim_end_matches('Z'))
}
