//! A line of an export, read back and checked by itself.
//!
//! A line must be, byte for byte, what `mk export` would print for the event it holds: so a line that
//! was edited, reformatted or cut is told from a sound one before anything is stored.
//!
//! Format: docs/format.md, "Exports".

use crate::canon::{Object, Value};
use crate::event::{self, CONTENT_MAX, Content, Event, EventType, Payload, SNAPSHOT_MAX};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId, shown, unhex_array};
use crate::log::Adopted;
use crate::secret;
use crate::store::RESOURCE_MAX;
use crate::time::Timestamp;
use crate::tokens::Tokenizer;
use crate::workspace::render;

/// Longest line, in bytes: a snapshot of the largest size, and what stands beside it.
pub(super) const LINE_MAX: usize = SNAPSHOT_MAX + (2 << 20);

/// Highest token of a lease that is taken in. It leaves as many again to be granted, so that no line
/// can use up a resource.
const TOKEN_MAX: u64 = 1 << 62;

/// What a line holds.
pub(super) enum Line {
    Event(Box<Arrival>),
    /// What a branch was called, and what its head was, where the export was made.
    Head {
        branch: BranchName,
        head: Hash,
    },
    /// The last token that was granted for a resource where the export was made.
    Token {
        resource: String,
        token: u64,
    },
    /// Advice of a kind that this version does not know, or an empty line.
    Nothing,
}

/// An event on its way in.
pub(super) struct Arrival {
    pub prev: Hash,
    pub event: Adopted,
    /// The branch that a fork says it was forked from.
    pub source: Option<String>,
    /// The rules by which it holds what looks like a secret.
    pub secrets: Vec<&'static str>,
}

/// Reads a line without its line break. `Err` says what is wrong with it.
pub(super) fn read(bytes: &[u8], tokenizer: Tokenizer) -> Result<Line, String> {
    if bytes.is_empty() {
        return Ok(Line::Nothing);
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err("it begins with a byte order mark".to_owned());
    }
    if bytes.ends_with(b"\r") {
        return Err("it ends with CR LF: its line breaks were converted".to_owned());
    }
    for mark in ["<<<<<<<", "|||||||", "=======", ">>>>>>>"] {
        if bytes.starts_with(mark.as_bytes()) {
            return Err(format!("'{mark}' marks a conflict; merge exports with merge=union"));
        }
    }
    let value = Value::parse_enclosing(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
    let Value::Object(mut members) = value else {
        return Err(format!("it is {}, not an object", value.kind()));
    };
    match members.remove("v") {
        Some(version) if version.as_i64() == Some(1) => {}
        Some(version) => {
            return Err(format!("it is of version {}, not 1", shown(&version.canonical())));
        }
        None => return Err("'v' is missing".to_owned()),
    }
    match members.remove("advisory") {
        None => event(members, bytes, tokenizer).map(|arrival| Line::Event(Box::new(arrival))),
        Some(kind) if kind.as_str() == Some("head") => {
            let branch = branch_name(&text(&mut members, "branch")?)?;
            Ok(Line::Head { branch, head: parsed(&mut members, "head")? })
        }
        Some(kind) if kind.as_str() == Some("lease") => {
            let token = members.get("token").and_then(Value::as_i64);
            let token = token.and_then(|token| u64::try_from(token).ok());
            let token = token.filter(|token| (1..=TOKEN_MAX).contains(token));
            let token = token.ok_or(format!("'token' is no number from 1 to {TOKEN_MAX}"))?;
            let resource = text(&mut members, "resource")?;
            if resource.is_empty() {
                return Err("'resource' is empty".to_owned());
            }
            event::within("resource", resource.chars().count(), RESOURCE_MAX)?;
            Ok(Line::Token { resource, token })
        }
        Some(_) => Ok(Line::Nothing),
    }
}

fn event(mut members: Object, bytes: &[u8], tokenizer: Tokenizer) -> Result<Arrival, String> {
    let prev: Hash = parsed(&mut members, "prev")?;
    let hash: Hash = parsed(&mut members, "hash")?;
    let kind: EventType = parsed(&mut members, "event_type")?;
    let branch = branch_name(&text(&mut members, "branch_id")?)?;
    if !kind.stands_on(&branch) {
        let name = shown(branch.as_str());
        return Err(format!("an event of type {kind} does not stand on '{name}'"));
    }
    let sequence = members.remove("sequence").and_then(|sequence| sequence.as_i64());
    let sequence = sequence.and_then(|sequence| u64::try_from(sequence).ok());
    let mut event = Event {
        id: EventId(0),
        lineage: LineageId(0),
        branch,
        sequence: sequence.ok_or("'sequence' is missing or no number from 1")?,
        timestamp: parsed::<Timestamp>(&mut members, "timestamp")?,
        agent: parsed::<AgentId>(&mut members, "agent_id")?,
        parent: None,
        kind,
        body: Hash::ZERO,
        hash,
        log: Hash::ZERO,
        content: None,
        structure: None,
    };
    let payload = members.remove("payload");
    let (payload, metadata) = match members.contains_key("body") {
        true => {
            event.body = parsed(&mut members, "body")?;
            let structure = payload.map(|payload| object("payload", payload)).transpose()?;
            check_structure(kind, structure.as_ref())?;
            event.structure = structure.as_ref().map(Object::canonical);
            (structure, Object::new())
        }
        false => {
            let payload = object("payload", payload.ok_or("'payload' is missing")?)?;
            let metadata = members.remove("metadata").ok_or("'metadata' is missing")?;
            let metadata = object("metadata", metadata)?;
            let salt = unhex_array(&text(&mut members, "salt")?);
            let content = Content {
                salt: salt.ok_or("'salt' is not 32 hex digits")?,
                payload: payload.canonical(),
                metadata: metadata.canonical(),
            };
            event.body = content.digest();
            event.content = Some(content);
            check_sizes(&event, &metadata)?;
            (Some(payload), metadata)
        }
    };
    if let Some((name, _)) = members.iter().next() {
        return Err(format!("it has a member '{}' that means nothing", shown(name)));
    }
    if event.line(&prev).as_bytes() != bytes {
        return Err("it is not canonical: it was written or changed by another program".to_owned());
    }
    if event.expected_hash(&prev) != hash {
        return Err("its hash is not that of what it says".to_owned());
    }
    Ok(arrival(event, prev, payload, &metadata, tokenizer))
}

fn arrival(
    event: Event,
    prev: Hash,
    members: Option<Object>,
    metadata: &Object,
    tokenizer: Tokenizer,
) -> Arrival {
    let kind = event.kind;
    let mut secrets = Vec::new();
    let mut arrival = Arrival {
        prev,
        event: Adopted { event, payload: Payload::Erased, structure: None, tokens: 0 },
        source: None,
        secrets: Vec::new(),
    };
    let Some(members) = members else { return arrival };
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if arrival.event.event.content.is_some() {
        if kind != EventType::Snapshot {
            secrets_in(&Value::Object(members.clone()), &mut secrets);
            secrets_in(&Value::Object(metadata.clone()), &mut secrets);
        }
        arrival.event.payload = Payload::read(kind, &members);
        if !matches!(kind, EventType::Snapshot | EventType::Forked | EventType::RolledBack) {
            arrival.event.tokens = tokenizer.count(&render::body(kind, &members));
        }
    }
    if kind == EventType::Forked {
        arrival.source = text("source_branch").map(str::to_owned);
    }
    if kind == EventType::Snapshot || !kind.structure().is_empty() {
        arrival.event.structure = Some(members);
    }
    secrets.sort_unstable();
    secrets.dedup();
    arrival.secrets = secrets;
    arrival
}

fn check_structure(kind: EventType, structure: Option<&Object>) -> Result<(), String> {
    let expected = kind.structure();
    let found: Vec<&str> =
        structure.into_iter().flat_map(Object::iter).map(|(name, _)| name).collect();
    match found.is_empty() == expected.is_empty() && found.iter().all(|it| expected.contains(it)) {
        true => Ok(()),
        false => Err("its payload is not what an erasure leaves of it".to_owned()),
    }
}

fn check_sizes(event: &Event, metadata: &Object) -> Result<(), String> {
    let most = event.kind.payload_max();
    let content = event.content.as_ref().expect("it was just read");
    event::within("payload", content.payload.len(), most)?;
    let bytes = event::counted_metadata(&content.metadata, Some(metadata));
    event::within("metadata", bytes, CONTENT_MAX)
}

fn secrets_in(value: &Value, found: &mut Vec<&'static str>) {
    match value {
        Value::String(text) => found.extend(secret::find(text).into_iter().map(|it| it.rule)),
        Value::Array(items) => items.iter().for_each(|item| secrets_in(item, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            found.extend(secret::find(name).into_iter().map(|it| it.rule));
            secrets_in(value, found);
        }),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

/// A name of a branch, of `mk`'s own ones too.
fn branch_name(name: &str) -> Result<BranchName, String> {
    let plain = name.strip_prefix('@').unwrap_or(name);
    plain.parse::<BranchName>().map_err(|error| error.to_string())?;
    Ok(BranchName::stored(name))
}

fn text(members: &mut Object, name: &str) -> Result<String, String> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("'{name}' is {}, not a string", other.kind())),
        None => Err(format!("'{name}' is missing")),
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    members: &mut Object,
    name: &str,
) -> Result<T, String> {
    text(members, name)?.parse().map_err(|error: T::Err| error.to_string())
}

fn object(name: &str, value: Value) -> Result<Object, String> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(format!("'{name}' is {}, not an object", other.kind())),
    }
}
