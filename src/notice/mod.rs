//! Notices: messages to everybody who works on the project, about a resource, for a while.
//!
//! They are advice and no lock. They belong to the store and not to a branch: no rollback, fork or
//! compaction touches them, and they are no events. One whose time ran out is stale, which does not
//! mean that what it tells of is finished; only its author clears it.
//!
//! Rule: docs/spec/kernel.md, section 14.

pub mod document;
pub mod page;
mod report;
mod value;

use crate::code::{Code, Coded};
use crate::id::{AgentId, shown};
use crate::log::{LogError, Rules, SecretPolicy, refuse_in_name};
use crate::operation::OperationError;
use crate::secret;
use crate::store::{Notice, Notices, ReadTxn, StoreError, WriteTxn};
use crate::sync::{self, Policy};
use crate::time::Timestamp;

pub use document::{DocumentError, misfit};
pub use report::{Imported, Listing, Next, NoticeReport, Posted, Status};
pub(crate) use value::is_peer;
pub use value::{Message, NoticeId, TTL_DEFAULT, TTL_MAX, Topic, Ttl, ValueError};

/// Most notices that one listing shows.
pub const AT_ONCE: usize = 1_000;

/// Why a notice was not made, changed or found. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum NoticeError {
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error("there is no notice '{}'", shown(.0))]
    NotFound(String),
    #[error("notice '{id}' is of '{author}'")]
    NotAuthor { id: NoticeId, author: AgentId },
    #[error("'{agent}' may post and clear no notices here: {why}")]
    AuthorNotAllowed { agent: AgentId, why: &'static str },
    #[error("notices come here by the signed exchange alone")]
    UnsignedImport,
    #[error("notice '{id}' of the document says other things than the notice of that id here")]
    Conflict { id: String },
    /// A secret where it cannot be taken out.
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for NoticeError {
    fn code(&self) -> Code {
        match self {
            Self::Value(error) => error.code(),
            Self::Document(error) => error.code(),
            Self::NotFound(_) => Code::NOTICE_NOT_FOUND,
            Self::NotAuthor { .. } => Code::NOT_AUTHOR,
            Self::AuthorNotAllowed { .. } => Code::AUTHOR_NOT_ALLOWED,
            Self::UnsignedImport => Code::UNSIGNED_IMPORT_DISABLED,
            Self::Conflict { .. } => Code::NOTICE_CONFLICT,
            Self::Log(error) => error.code(),
            Self::Operation(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}

/// Tells everybody something about `topic`, in the name of `agent`, from `now` on. What looks like a
/// secret in the message is dealt with as in an event. Of the bytes that `draw` gives, the first that make
/// an id that is not taken are used.
///
/// # Errors
/// [`NoticeError::AuthorNotAllowed`] by the policy of the signed exchange; a secret that can only be
/// refused; those of the store.
pub fn post(
    txn: &mut dyn WriteTxn,
    (agent, policy): (&AgentId, Option<&Policy>),
    (topic, message): (&Topic, &Message),
    ttl: Ttl,
    (now, draw): (Timestamp, &mut dyn FnMut() -> [u8; 16]),
) -> Result<Posted, NoticeError> {
    let source = speaks_for(txn, agent, policy)?;
    let mut drawn = || NoticeId::drawn(draw()).of(source.as_deref());
    let mut id = drawn();
    while txn.notice(id.as_str())?.is_some() {
        id = drawn();
    }
    let (message, redacted) = without_secrets(txn, agent, topic, message)?;
    let micros = i64::try_from(ttl.as_duration().as_micros()).expect("it is a week at most");
    let notice = Notice {
        id: id.to_string(),
        author: agent.clone(),
        resource: topic.to_string(),
        message,
        created_at: now,
        expires_at: Timestamp::from_micros(now.micros().saturating_add(micros)),
        cleared_at: None,
        source,
    };
    txn.put_notice(&notice)?;
    Ok(Posted::new(notice, redacted))
}

/// The peer that `agent` speaks for in the signed exchange; none where there is no exchange.
///
/// Rule: docs/spec/kernel.md, section 15, "Effects on notices".
fn speaks_for(
    txn: &dyn ReadTxn,
    agent: &AgentId,
    policy: Option<&Policy>,
) -> Result<Option<String>, NoticeError> {
    let Some(bound) = txn.binding()? else { return Ok(None) };
    let refused = |why| NoticeError::AuthorNotAllowed { agent: agent.clone(), why };
    let policy = policy.ok_or_else(|| refused("the policy of the signed exchange is missing"))?;
    if !sync::fits(policy, &bound) {
        return Err(refused("the policy is of another exchange than this project"));
    }
    match policy.own().agents.contains(agent) {
        true => Ok(Some(bound.peer)),
        false => Err(refused("the policy of the signed exchange does not name it")),
    }
}

fn without_secrets(
    txn: &dyn ReadTxn,
    agent: &AgentId,
    topic: &Topic,
    message: &Message,
) -> Result<(String, Vec<String>), NoticeError> {
    let policy = Rules::read(txn)?.secrets;
    if policy == SecretPolicy::Off {
        return Ok((message.to_string(), Vec::new()));
    }
    refuse_in_name("the agent id", agent.as_str())?;
    refuse_in_name("the resource", topic.as_str())?;
    let Some((clean, mut rules)) = secret::redact(message.as_str()) else {
        return Ok((message.to_string(), Vec::new()));
    };
    if policy == SecretPolicy::Refuse {
        return Err(LogError::Secret { place: "the message".to_owned(), rule: rules[0] }.into());
    }
    // A placeholder can be longer than what it stands for.
    let clean: Message = clean.parse()?;
    rules.sort_unstable();
    rules.dedup();
    Ok((clean.to_string(), rules.into_iter().map(str::to_owned).collect()))
}

/// Takes the notice back, from `now` on. One that was cleared before stays as it is.
///
/// # Errors
/// [`NoticeError::AuthorNotAllowed`] by the policy of the signed exchange; [`NoticeError::NotFound`];
/// [`NoticeError::NotAuthor`] unless `agent` posted it.
pub fn clear(
    txn: &mut dyn WriteTxn,
    id: &NoticeId,
    (agent, policy): (&AgentId, Option<&Policy>),
    now: Timestamp,
) -> Result<Posted, NoticeError> {
    speaks_for(txn, agent, policy)?;
    let mut notice = known(txn, id)?;
    if notice.author != *agent {
        return Err(NoticeError::NotAuthor { id: id.clone(), author: notice.author });
    }
    if notice.cleared_at.is_none() {
        notice.cleared_at = Some(now.max(notice.created_at));
        txn.put_notice(&notice)?;
    }
    Ok(Posted::new(notice, Vec::new()))
}

fn known(txn: &dyn ReadTxn, id: &NoticeId) -> Result<Notice, NoticeError> {
    txn.notice(id.as_str())?.ok_or_else(|| NoticeError::NotFound(id.to_string()))
}

/// Those that are not cleared, about `topic` or all.
fn open(topic: Option<&Topic>) -> Notices<'_> {
    Notices { resource: topic.map(Topic::as_str), cleared: false }
}

/// Up to `limit` of the notices about `topic`, or of all, with ids after `after`; those too that were
/// cleared, if `cleared` says so. `policy` is that of the signed exchange, if there is one.
///
/// # Errors
/// Those of the store.
pub fn list(
    txn: &dyn ReadTxn,
    (topic, cleared): (Option<&Topic>, bool),
    after: Option<&NoticeId>,
    limit: usize,
    (now, policy): (Timestamp, Option<&Policy>),
) -> Result<Listing, StoreError> {
    let which = Notices { cleared, ..open(topic) };
    let after = after.map(NoticeId::as_str);
    let found = txn.notices(which, after, limit)?;
    let omitted = txn.count_notices(which, after)? - found.len() as u64;
    let last = found.last().filter(|_| omitted > 0);
    let next = last.map(|notice| Next { after: notice.id.clone() });
    let notices = found.into_iter().map(|notice| NoticeReport::new(notice, now, policy)).collect();
    Ok(Listing { notices, omitted, next })
}

/// Up to `limit` open notices about `topic`, or of all: the active ones first, then the newest. Also
/// how many are open.
///
/// # Errors
/// Those of the store.
pub fn newest(
    txn: &dyn ReadTxn,
    topic: Option<&Topic>,
    limit: usize,
    now: Timestamp,
) -> Result<(Vec<Notice>, u64), StoreError> {
    let mut found = txn.newest_notices(topic.map(Topic::as_str), limit)?;
    found.sort_by_key(|notice| !notice.is_active(now));
    Ok((found, txn.count_notices(open(topic), None)?))
}

/// The document of the notices with these ids, or of all, cleared ones too.
///
/// # Errors
/// [`NoticeError::NotFound`]; a document that would be too large.
pub fn export(txn: &dyn ReadTxn, ids: Option<&[NoticeId]>) -> Result<String, NoticeError> {
    let all = Notices { resource: None, cleared: true };
    let mut notices = match ids {
        None => txn.notices(all, None, document::NOTICES_MAX + 1)?,
        Some(ids) => ids.iter().map(|id| known(txn, id)).collect::<Result<_, _>>()?,
    };
    notices.sort_by(|a, b| a.id.cmp(&b.id));
    notices.dedup();
    Ok(document::write(&notices)?)
}

/// Takes in the notices of a document: those that are new, and of those that are known the earlier
/// of two clears. All of it or nothing. They are stored as they are, and the answer names those that
/// hold what looks like a secret.
///
/// # Errors
/// A document that is not as it must be; [`NoticeError::Conflict`] if a notice says something else
/// here; [`NoticeError::UnsignedImport`] where there is a signed exchange.
pub fn import(txn: &mut dyn WriteTxn, document: &[u8]) -> Result<Imported, NoticeError> {
    if txn.binding()?.is_some() {
        return Err(NoticeError::UnsignedImport);
    }
    take_in(txn, document::read(document)?)
}

/// Takes in notices that were read.
pub(crate) fn take_in(
    txn: &mut dyn WriteTxn,
    notices: Vec<Notice>,
) -> Result<Imported, NoticeError> {
    let mut imported = Imported { changed: 0, secrets_in: Vec::new() };
    for notice in notices {
        let cleared_at = match txn.notice(&notice.id)? {
            None => notice.cleared_at,
            Some(known) if (Notice { cleared_at: known.cleared_at, ..notice.clone() }) != known => {
                return Err(NoticeError::Conflict { id: notice.id });
            }
            Some(known) => match (known.cleared_at, notice.cleared_at) {
                (None, Some(cleared)) => Some(cleared),
                (Some(ours), Some(theirs)) if theirs < ours => Some(theirs),
                _ => continue,
            },
        };
        if secret::redact(&notice.message).is_some() {
            imported.secrets_in.push(notice.id.clone());
        }
        txn.put_notice(&Notice { cleared_at, ..notice })?;
        imported.changed += 1;
    }
    Ok(imported)
}
