//! What can be done of an append before it is known where the event lands: no transaction needed, so
//! a batch does it on another thread and outside the write lock.

use super::{Draft, LogError};
use crate::canon::{Object, Value};
use crate::event::{self, CONTENT_MAX, Content, EventType, Payload, Salt};
use crate::id::{AgentId, Hash, shown};
use crate::secret;
use crate::store::{ReadTxn, StoreError};
use crate::time::Timestamp;
use crate::tokens::Tokenizer;
use crate::workspace::render;
use crate::workspace::snapshot::Cover;

/// What is done about secrets in what callers supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretPolicy {
    /// They are replaced by a visible placeholder before hashing.
    Redact,
    /// The write is refused.
    Refuse,
    Off,
}

/// The settings of a store that an event is prepared by.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    pub tokenizer: Tokenizer,
    pub secrets: SecretPolicy,
}

impl Rules {
    /// # Errors
    /// Those of the store.
    pub fn read(txn: &dyn ReadTxn) -> Result<Self, StoreError> {
        let secrets = match txn.setting("core.secrets")?.as_deref() {
            Some("refuse") => SecretPolicy::Refuse,
            Some("off") => SecretPolicy::Off,
            _ => SecretPolicy::Redact,
        };
        Ok(Self { tokenizer: txn.identity()?.tokenizer, secrets })
    }
}

/// An event that is ready but for its place in the log.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(super) kind: EventType,
    pub(super) agent: AgentId,
    pub(super) content: Content,
    pub(super) body: Hash,
    pub(super) payload: Payload,
    /// Tokens of what its block says after the header; none for a snapshot.
    pub(super) tokens: u64,
    /// Of a snapshot, once it is known.
    pub(super) cover: Option<Cover>,
    pub(super) redacted: Vec<String>,
}

impl Prepared {
    /// Takes out secrets, writes the content canonically, and computes its digest.
    ///
    /// # Errors
    /// A secret where it can only be refused, or content that is too large.
    pub fn new(draft: Draft, rules: Rules, salt: Salt) -> Result<Self, LogError> {
        Self::shown_as(draft, None, rules, salt)
    }

    #[must_use]
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// A snapshot that covers `cover`, made of a state and not supplied by a caller.
    ///
    /// # Errors
    /// If it is too large.
    pub(crate) fn snapshot(
        draft: Draft,
        cover: Cover,
        rules: Rules,
        salt: Salt,
    ) -> Result<Self, LogError> {
        let prepared = Self::new(draft, rules, salt)?;
        Ok(Self { cover: Some(cover), ..prepared })
    }

    /// The same for an event whose block shows `reported` instead of its payload.
    pub(super) fn shown_as(
        mut draft: Draft,
        reported: Option<&Object>,
        rules: Rules,
        salt: Salt,
    ) -> Result<Self, LogError> {
        let redacted = take_secrets(&mut draft, rules.secrets)?;
        let most = draft.kind.payload_max();
        let content = Content {
            salt,
            payload: event::canonical_content("payload", &draft.payload, most)?,
            metadata: event::canonical_content("metadata", &draft.metadata, CONTENT_MAX)?,
        };
        let tokens = match draft.kind {
            EventType::Snapshot => 0,
            kind => rules.tokenizer.count(&render::body(kind, reported.unwrap_or(&draft.payload))),
        };
        Ok(Self {
            kind: draft.kind,
            agent: draft.agent,
            body: content.digest(),
            content,
            payload: Payload::read(draft.kind, &draft.payload),
            tokens,
            cover: None,
            redacted,
        })
    }

    /// What is copied, as it is. Its block shows `reported` instead of its payload; a snapshot
    /// covers `cover`.
    pub(super) fn copied(
        copied: Copied,
        reported: Option<&Object>,
        cover: Option<Cover>,
        rules: Rules,
    ) -> Self {
        let Copied { kind, agent, content, members, .. } = copied;
        let tokens = match kind {
            EventType::Snapshot => 0,
            kind => rules.tokenizer.count(&render::body(kind, reported.unwrap_or(&members))),
        };
        let payload = Payload::read(kind, &members);
        let body = content.digest();
        Self { kind, agent, body, content, payload, tokens, cover, redacted: Vec::new() }
    }
}

/// An event of another program, ready but for its place in the log.
#[derive(Debug)]
pub(crate) struct Copied {
    pub kind: EventType,
    pub agent: AgentId,
    pub timestamp: Timestamp,
    /// Its texts are canonical.
    pub content: Content,
    /// Those of the payload.
    pub members: Object,
}

/// Takes secrets out of `draft`, or refuses it, as the policy says; answers by which rules.
///
/// In a value a secret can be replaced; in a name it cannot, since that would make two of one.
fn take_secrets(draft: &mut Draft, policy: SecretPolicy) -> Result<Vec<String>, LogError> {
    if policy == SecretPolicy::Off {
        return Ok(Vec::new());
    }
    refuse_in_name("the agent id", draft.agent.as_str())?;
    if draft.kind == EventType::Snapshot {
        return Ok(Vec::new());
    }
    let mut rules: Vec<&'static str> = Vec::new();
    for (what, object) in [("payload", &mut draft.payload), ("metadata", &mut draft.metadata)] {
        for (name, value) in object.iter_mut() {
            let is_name = matches!(name, "decision_key" | "resource" | "key");
            secret_in(name, value, (what, name), is_name, policy, &mut rules)?;
        }
    }
    rules.sort_unstable();
    rules.dedup();
    if !rules.is_empty() {
        let names: Vec<Value> = rules.iter().map(|rule| Value::from(*rule)).collect();
        draft.metadata.insert("redacted", names);
    }
    Ok(rules.into_iter().map(str::to_owned).collect())
}

/// Refuses a name that looks like a secret; `what` says what is named.
///
/// # Errors
/// [`LogError::Secret`]
pub fn refuse_in_name(what: &str, name: &str) -> Result<(), LogError> {
    match secret::find(name).first() {
        Some(found) => Err(LogError::Secret { place: what.to_owned(), rule: found.rule }),
        None => Ok(()),
    }
}

fn secret_in(
    name: &str,
    value: &mut Value,
    place: (&str, &str),
    is_name: bool,
    policy: SecretPolicy,
    rules: &mut Vec<&'static str>,
) -> Result<(), LogError> {
    if let Some(found) = secret::find(name).first() {
        // The place would print the secret.
        let place = "the name of a member".to_owned();
        return Err(LogError::Secret { place, rule: found.rule });
    }
    match value {
        Value::String(text) => {
            let Some((clean, found)) = secret::redact(text) else { return Ok(()) };
            if is_name || policy == SecretPolicy::Refuse {
                let place = format!("{}.{}", place.0, shown(place.1));
                return Err(LogError::Secret { place, rule: found[0] });
            }
            *text = clean;
            rules.extend(found);
        }
        Value::Array(items) => {
            for item in items {
                secret_in("", item, place, is_name, policy, rules)?;
            }
        }
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                secret_in(name, value, place, false, policy, rules)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
    Ok(())
}
