//! The signed exchange of notices through a folder that peers share, each with a file of its own.
//!
//! Only notices travel: no event, no lease. Who speaks for which agents is said by a policy file that
//! each peer keeps for itself; a store is bound to one workspace and one peer for good.
//!
//! Rule: docs/spec/kernel.md, sections 15 and 21, item 16.

pub mod bundle;
mod policy;
mod report;

use std::collections::BTreeMap;
use std::path::Path;

use crate::code::{Code, Coded};
use crate::id::shown;
use crate::notice::{self, NoticeError, TTL_MAX};
use crate::store::folder::{beside_policy, read_private};
use crate::store::{
    AuditRow, Binding, Engine, Folder, FolderError, Notice, PeerRow, ReadTxn, StoreError, WriteTxn,
};
use crate::time::Timestamp;

pub use bundle::{Key, Reason};
pub use policy::{POLICY_MAX, Policy, PolicyError, Trusted};
pub(crate) use policy::{is_name, is_workspace};
pub use report::{AuditEntry, AuditReport, ExchangeStatus, PeerStatus, Run};

/// Most rows of the audit that are shown, and that are kept.
pub const AUDIT_MAX: u64 = 1_000;
pub const AUDIT_KEPT: u64 = 10_000;

/// How long after its clear a notice is still published: longer than any is active, so that whoever
/// could still take it for open hears of it, and a day more.
const CLEARED_FOR_S: i64 = TTL_MAX as i64 + 86_400;

/// Why there is no exchange.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("the key in '{path}' is not that of the public key of '{peer}' in the policy")]
    Key { path: String, peer: String },
    #[error("the project is bound to '{}' of '{}', and the policy is of '{}' of '{}'",
        shown(.bound.peer.as_str()), shown(.bound.workspace.as_str()), shown(.peer), shown(.workspace))]
    Bound { bound: Binding, peer: String, workspace: String },
    #[error("the project takes part in no signed exchange")]
    Off,
    #[error("an audit has 1 to {AUDIT_MAX} rows, not {0}")]
    Limit(u64),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for SyncError {
    fn code(&self) -> Code {
        match self {
            Self::Policy(error) => error.code(),
            Self::Folder(error) => error.code(),
            Self::Key { .. } | Self::Bound { .. } | Self::Limit(_) => Code::INVALID_ARGUMENT,
            Self::Off => Code::SYNC_OFF,
            Self::Store(error) => error.code(),
        }
    }
}

/// A policy with what it names.
pub struct Exchange {
    pub policy: Policy,
    key: Key,
    folder: Folder,
}

/// The policy at `path`, if nobody but the user can read or write it.
///
/// # Errors
/// If it is none, or open to others.
pub fn read_policy(path: &Path) -> Result<Policy, SyncError> {
    Ok(Policy::read(&read_private(path, POLICY_MAX)?)?)
}

/// The exchange that the policy at `path` is of. The policy, its key and `store` are not in the folder.
///
/// # Errors
/// If a file is not as it must be, or the key another than the policy says.
pub fn open(path: &Path, store: &Path) -> Result<Exchange, SyncError> {
    let policy = read_policy(path)?;
    let key_path = beside_policy(path, &policy.private_key);
    let of_another =
        || SyncError::Key { path: key_path.display().to_string(), peer: policy.peer.clone() };
    let seed = read_private(&key_path, 32)?;
    let seed: [u8; 32] = seed.try_into().map_err(|_| of_another())?;
    let key = Key::new(seed);
    if key.public_key() != policy.own().public_key {
        return Err(of_another());
    }
    let folder = beside_policy(path, &policy.folder);
    let folder = Folder::open(&folder, &[path, &key_path, store])?;
    Ok(Exchange { policy, key, folder })
}

/// Whether a policy is of the exchange that a store is bound to.
#[must_use]
pub fn fits(policy: &Policy, bound: &Binding) -> bool {
    (&policy.workspace, &policy.peer) == (&bound.workspace, &bound.peer)
}

/// Binds the store to the workspace and the peer of `policy`, which is at `path`.
///
/// # Errors
/// [`SyncError::Bound`] if it is bound to others.
pub fn enable(txn: &mut dyn WriteTxn, policy: &Policy, path: &str) -> Result<(), SyncError> {
    check(txn, policy)?;
    txn.bind(&Binding {
        workspace: policy.workspace.clone(),
        peer: policy.peer.clone(),
        policy: path.to_owned(),
    })?;
    Ok(())
}

fn check(txn: &dyn ReadTxn, policy: &Policy) -> Result<(), SyncError> {
    match txn.binding()? {
        Some(bound) if !fits(policy, &bound) => Err(SyncError::Bound {
            bound,
            peer: policy.peer.clone(),
            workspace: policy.workspace.clone(),
        }),
        _ => Ok(()),
    }
}

/// Publishes what the own peer has to say, and takes in what the others have published.
///
/// # Errors
/// [`SyncError::Bound`]; those of the store. What is wrong with a peer is in the answer.
pub fn run<E: Engine>(
    store: &mut E,
    exchange: &Exchange,
    now: Timestamp,
) -> Result<Run, SyncError> {
    let mut run =
        Run { published: true, changed: 0, errors: BTreeMap::new(), secrets_in: Vec::new() };
    // In the order of their names, the own one among them, as the audit has it.
    for peer in exchange.policy.peers.keys() {
        if *peer == exchange.policy.peer {
            if let Some(reason) = publish(store, exchange, now)? {
                run.published = false;
                run.errors.insert(peer.clone(), reason.as_str());
            }
            continue;
        }
        match receive(store, exchange, peer, now)? {
            Ok(imported) => {
                run.changed += imported.changed;
                run.secrets_in.extend(imported.secrets_in);
            }
            Err(reason) => {
                run.errors.insert(peer.clone(), reason.as_str());
                let row = audit_row(peer, "in", "rejected", now);
                let row = AuditRow { reason: reason.to_string(), ..row };
                store.write(|txn| txn.add_audit_row(&row, AUDIT_KEPT))?;
            }
        }
    }
    Ok(run)
}

fn audit_row(peer: &str, direction: &str, outcome: &str, at: Timestamp) -> AuditRow {
    AuditRow {
        id: 0,
        at,
        peer: peer.to_owned(),
        direction: direction.to_owned(),
        outcome: outcome.to_owned(),
        reason: String::new(),
        sequence: None,
        changed: 0,
    }
}

/// Writes the file of the own peer, or says why not.
fn publish<E: Engine>(
    store: &mut E,
    exchange: &Exchange,
    now: Timestamp,
) -> Result<Option<Reason>, SyncError> {
    let Exchange { policy, key, folder } = exchange;
    // Whatever else is wrong with the own file, it is only a lower bound: a store that was put back
    // must not publish a sequence again that others have seen.
    let own = folder.read(&policy.peer, bundle::BYTES_MAX).map_err(Reason::from);
    let own = own.and_then(|bytes| bundle::read(&bytes, policy, &policy.peer, now));
    let seen = own.map_or(0, |own| own.sequence);
    // The sequence is taken before the file is there: one that is never seen does no harm, one that
    // is used twice does.
    let (text, sequence) = store.write(|txn| {
        check(txn, policy)?;
        let last = txn.peer_row(&policy.peer)?.map_or(0, |row| row.sequence);
        let sequence = last.max(seen).saturating_add(1);
        let notices = published(txn, policy, now)?;
        let (text, digest) = bundle::write(policy, key, &notices, sequence, now);
        let peer = policy.peer.clone();
        txn.put_peer_row(&PeerRow { peer, sequence, digest, sent_at: now, received_at: now })?;
        let fits = notices.len() <= bundle::NOTICES_MAX && text.len() as u64 <= bundle::BYTES_MAX;
        Ok::<_, SyncError>((fits.then_some(text), sequence))
    })?;
    let reason = match &text {
        None => Some(Reason::OversizedFile),
        Some(text) => folder.put(&policy.peer, text.as_bytes()).err().map(|_| Reason::IoError),
    };
    let row = match reason {
        None => audit_row(&policy.peer, "out", "published", now),
        Some(reason) => AuditRow {
            reason: reason.to_string(),
            ..audit_row(&policy.peer, "out", "rejected", now)
        },
    };
    let row = AuditRow { sequence: Some(sequence), ..row };
    store.write(|txn| txn.add_audit_row(&row, AUDIT_KEPT))?;
    Ok(reason)
}

/// What the own peer has to say: what it posted, as far as it still speaks for the author, but for
/// what was cleared long ago.
fn published(
    txn: &dyn ReadTxn,
    policy: &Policy,
    now: Timestamp,
) -> Result<Vec<Notice>, StoreError> {
    let mut notices = txn.notices_of(&policy.peer)?;
    let is_new = |cleared: Timestamp| {
        now.micros().saturating_sub(cleared.micros()) <= CLEARED_FOR_S * 1_000_000
    };
    notices.retain(|notice| {
        policy.own().agents.contains(&notice.author) && notice.cleared_at.is_none_or(is_new)
    });
    Ok(notices)
}

/// Takes in what `peer` has published, or says why not.
fn receive<E: Engine>(
    store: &mut E,
    exchange: &Exchange,
    peer: &str,
    now: Timestamp,
) -> Result<Result<notice::Imported, Reason>, SyncError> {
    let read = exchange.folder.read(peer, bundle::BYTES_MAX).map_err(Reason::from);
    let read = read.and_then(|bytes| bundle::read(&bytes, &exchange.policy, peer, now));
    let bundle = match read {
        Ok(bundle) => bundle,
        Err(reason) => return Ok(Err(reason)),
    };
    let done = store.write(|txn| accept(txn, peer, bundle, now));
    match done {
        Ok(imported) => Ok(Ok(imported)),
        Err(Refused::Reason(reason)) => Ok(Err(reason)),
        Err(Refused::Store(error)) => Err(error.into()),
    }
}

/// Why a bundle was not accepted, and nothing of it written.
enum Refused {
    Reason(Reason),
    Store(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn accept(
    txn: &mut dyn WriteTxn,
    peer: &str,
    bundle: bundle::Bundle,
    now: Timestamp,
) -> Result<notice::Imported, Refused> {
    let nothing = notice::Imported { changed: 0, secrets_in: Vec::new() };
    let row = audit_row(peer, "in", "accepted", now);
    let row = AuditRow { sequence: Some(bundle.sequence), ..row };
    if let Some(last) = txn.peer_row(peer)? {
        match bundle.sequence.cmp(&last.sequence) {
            std::cmp::Ordering::Less => return Err(Refused::Reason(Reason::ReplayedSequence)),
            std::cmp::Ordering::Equal if bundle.digest != last.digest => {
                return Err(Refused::Reason(Reason::SequenceConflict));
            }
            std::cmp::Ordering::Equal => {
                let before = txn.audit_rows(Some(peer), 1)?;
                if before.iter().any(|row| row.outcome == "rejected") {
                    let row = AuditRow { reason: "unchanged".to_owned(), ..row };
                    txn.add_audit_row(&row, AUDIT_KEPT)?;
                }
                return Ok(nothing);
            }
            std::cmp::Ordering::Greater => {}
        }
    }
    let imported = match notice::take_in(txn, bundle.notices) {
        Ok(imported) => imported,
        Err(NoticeError::Store(error)) => return Err(error.into()),
        Err(_) => return Err(Refused::Reason(Reason::NoticeConflict)),
    };
    let (sequence, digest, sent_at) = (bundle.sequence, bundle.digest, bundle.sent_at);
    let peer = peer.to_owned();
    txn.put_peer_row(&PeerRow { peer, sequence, digest, sent_at, received_at: now })?;
    txn.add_audit_row(&AuditRow { changed: imported.changed, ..row }, AUDIT_KEPT)?;
    Ok(imported)
}

/// How the exchange of `policy` stands at `now`.
///
/// # Errors
/// [`SyncError::Bound`] if the store is bound to another exchange.
pub fn status(
    txn: &dyn ReadTxn,
    policy: &Policy,
    now: Timestamp,
) -> Result<ExchangeStatus, SyncError> {
    check(txn, policy)?;
    let mut peers = BTreeMap::new();
    for (peer, _) in policy.others() {
        let last = txn.audit_rows(Some(peer), 1)?.into_iter().next();
        let last_error = last.filter(|row| row.outcome == "rejected").map(|row| row.reason);
        let row = txn.peer_row(peer)?;
        let age = row
            .as_ref()
            .map(|row| now.micros().saturating_sub(row.sent_at.micros()).max(0) as f64 / 1e6);
        let status = match age {
            None => "never_received",
            Some(age) if age > policy.stale_after_seconds as f64 => "stale",
            Some(_) => "fresh",
        };
        let known = PeerStatus {
            status,
            sequence: row.as_ref().map(|row| row.sequence),
            sent_at: row.as_ref().map(|row| bundle::with_offset(row.sent_at)),
            received_at: row.as_ref().map(|row| bundle::with_offset(row.received_at)),
            age_seconds: age,
            last_error,
        };
        peers.insert(peer.clone(), known);
    }
    Ok(ExchangeStatus {
        enabled: true,
        workspace_id: policy.workspace.clone(),
        peer_id: policy.peer.clone(),
        peers,
        distributed_locks_enforced: false,
    })
}

/// The newest `limit` things that were published, accepted and rejected.
///
/// # Errors
/// [`SyncError::Limit`] outside of 1 to [`AUDIT_MAX`].
pub fn audit(txn: &dyn ReadTxn, limit: u64) -> Result<AuditReport, SyncError> {
    if !(1..=AUDIT_MAX).contains(&limit) {
        return Err(SyncError::Limit(limit));
    }
    let rows = txn.audit_rows(None, limit as usize)?;
    Ok(AuditReport { rows: rows.into_iter().map(AuditEntry::from).collect() })
}
