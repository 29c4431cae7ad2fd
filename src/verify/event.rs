//! What must hold of an event alone, and after its parent.

use super::report::{About, Findings, Kind};
use crate::canon::{Object, Value};
use crate::event::{self, CONTENT_MAX, Content, Event, EventType};
use crate::id::{AgentId, EventId, Hash, LineageId};
use crate::lineage::Link;
use crate::memkernel::MEMBER;
use crate::store::{Branch, ForkPoint};
use crate::time::Timestamp;

/// What the checks of an event need of one before it.
#[derive(Debug, Clone)]
pub(super) struct Before {
    pub id: EventId,
    pub lineage: LineageId,
    pub hash: Hash,
    pub sequence: u64,
    pub timestamp: Timestamp,
    pub link: Option<Link>,
    /// Of the newest live event up to and with this one that is no snapshot.
    pub author: Option<(EventId, AgentId)>,
}

/// What an event says, as far as it can be read.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub payload: Option<Object>,
    /// Whether its time may be before its parent's: another program noted it, or it is not known any
    /// more whether one did.
    ///
    /// Rule: docs/design.md, section 6.
    pub keeps_time: bool,
}

/// Checks what `event` says against its digest.
pub(super) fn content(
    event: &Event,
    scratch: &mut String,
    about: &dyn Fn() -> About,
    findings: &mut Findings,
) -> Said {
    let name = event.agent.as_str();
    if let Err(error) = name.parse::<AgentId>() {
        findings.add(Kind::EventShape, about(), error.to_string());
    }
    let Some(content) = &event.content else {
        let payload = match event.structure.as_deref() {
            Some(_) if event.kind.structure().is_empty() => {
                findings.add(Kind::EventShape, about(), "payload is there without its salt");
                None
            }
            Some(text) => canonical("payload", text, scratch, about, findings),
            None => None,
        };
        // Where it came from, if from anywhere, went with its metadata.
        return Said { payload, keeps_time: true };
    };
    if content.digest() != event.body {
        findings.add(Kind::Body, about(), "payload, metadata or salt is not what was hashed");
    }
    let payload = canonical("payload", &content.payload, scratch, about, findings);
    let metadata = match content.metadata.as_str() {
        "{}" => None,
        text => canonical("metadata", text, scratch, about, findings),
    };
    let keeps_time = metadata.as_ref().is_some_and(|metadata| metadata.contains_key(MEMBER));
    sizes(event, content, metadata, about, findings);
    Said { payload, keeps_time }
}

fn canonical(
    what: &str,
    text: &str,
    scratch: &mut String,
    about: &dyn Fn() -> About,
    findings: &mut Findings,
) -> Option<Object> {
    let value = match Value::parse(text.as_bytes()) {
        Ok(value) => value,
        Err(error) => {
            findings.add(Kind::Content, about(), format!("{what} is not JSON: {error}"));
            return None;
        }
    };
    scratch.clear();
    value.write_canonical(scratch);
    if scratch != text {
        findings.add(Kind::Content, about(), format!("{what} is not canonical JSON"));
    }
    match value {
        Value::Object(object) => Some(object),
        other => {
            let why = format!("{what} is {}, not an object", other.kind());
            findings.add(Kind::Content, about(), why);
            None
        }
    }
}

fn sizes(
    event: &Event,
    content: &Content,
    metadata: Option<Object>,
    about: &dyn Fn() -> About,
    findings: &mut Findings,
) {
    let most = event.kind.payload_max();
    let bytes = event::counted_metadata(&content.metadata, metadata.as_ref());
    let payload = event::within("payload", content.payload.len(), most);
    let metadata = event::within("metadata", bytes, CONTENT_MAX);
    for why in [payload, metadata].into_iter().filter_map(Result::err) {
        findings.add(Kind::Content, about(), why);
    }
}

/// Checks that `event` follows `parent`, the event it names as its parent, on `branch`.
pub(super) fn chained(
    event: &Event,
    keeps_time: bool,
    branch: &Branch,
    parent: Option<&Before>,
    about: &dyn Fn() -> About,
    findings: &mut Findings,
) {
    let point = branch.fork_point.map(|point| point.event);
    let prev = match (event.parent, parent) {
        (Some(id), None) => {
            findings.add(Kind::Parent, about(), format!("the event before it, {id}, is missing"));
            return;
        }
        (None, _) => {
            if let Some(point) = point {
                let why = format!("names no event before it, but its branch has {point}");
                findings.add(Kind::Parent, about(), why);
            }
            if event.sequence != 1 {
                let why = format!("is {}, but no event is before it", event.sequence);
                findings.add(Kind::Sequence, about(), why);
            }
            Hash::ZERO
        }
        (Some(id), Some(parent)) => {
            if id >= event.id || (parent.lineage != event.lineage && Some(id) != point) {
                let why = format!("event {id} is not before it on its branch");
                findings.add(Kind::Parent, about(), why);
            }
            if event.sequence != parent.sequence + 1 {
                let why = format!("is {}, after {}", event.sequence, parent.sequence);
                findings.add(Kind::Sequence, about(), why);
            }
            if event.timestamp < parent.timestamp && !keeps_time {
                let why = format!("is {}, after {}", event.timestamp, parent.timestamp);
                findings.add(Kind::Timestamp, about(), why);
            }
            parent.hash
        }
    };
    if event.expected_hash(&prev) != event.hash {
        findings.add(Kind::Hash, about(), "its members are not those that were hashed");
    }
}

/// Whether `branch` goes on, under the same name of birth, from an event of `source`.
fn left(branch: &Branch, source: &Branch) -> bool {
    branch.born == source.born && branch.fork_point.is_some_and(|point| point.lineage == source.id)
}

/// Checks that the first own event of a branch, and no other, is its fork, and says what the row of
/// the branch says.
pub(super) fn fork(
    event: &Event,
    payload: Option<&Object>,
    branch: &Branch,
    source: Option<&Branch>,
    parent: Option<&Before>,
    about: &dyn Fn() -> About,
    findings: &mut Findings,
) {
    let is_first = event.sequence == branch.fork_sequence() + 1;
    let is_own_root = branch.parent.is_none() && branch.name.is_reserved();
    if is_first && is_own_root && event.agent != branch.created_by {
        findings.add(Kind::Fork, about(), "the agent is not that of its branch");
    }
    let is_fork = event.kind == EventType::Forked;
    match (is_first && branch.parent.is_some(), is_fork) {
        (false, false) => return,
        (true, true) => {}
        // What left a branch of the same birth elsewhere, and was imported.
        (true, false) if source.is_some_and(|source| left(branch, source)) => {}
        (true, false) => {
            findings.add(Kind::Fork, about(), "its branch does not begin with a fork");
            return;
        }
        (false, true) => {
            findings.add(Kind::Fork, about(), "a fork that begins no branch");
            return;
        }
    }
    let mut differs = |what: &str| {
        findings.add(Kind::Fork, about(), format!("{what} is not that of its branch"));
    };
    if event.agent != branch.created_by {
        differs("the agent");
    }
    if event.timestamp != branch.created_at {
        differs("the time");
    }
    let point = parent.map(|parent| ForkPoint {
        event: parent.id,
        sequence: parent.sequence,
        lineage: parent.lineage,
    });
    if branch.fork_point != point {
        differs("the fork point");
    }
    let Some(payload) = payload.filter(|_| is_fork) else { return };
    let named = payload.get("source_branch").and_then(Value::as_str);
    let is_source = |source: &Branch| {
        named == Some(source.name.as_str()) || named == Some(source.born.as_str())
    };
    // An import does not know every branch of where the fork was made. It takes the one that the fork
    // point belongs to then, or any root for a fork of an empty branch.
    let stands_in = |source: &Branch| {
        branch.fork_point.map_or(source.parent.is_none(), |point| point.lineage == source.id)
    };
    if named.is_none() || !source.is_some_and(|source| is_source(source) || stands_in(source)) {
        differs("source_branch");
    }
    if payload.get("fork_point_sequence") != Some(&branch.fork_sequence().into()) {
        differs("fork_point_sequence");
    }
    // The peer names the fork point by its own number, which is no concern of this log.
    if payload.contains_key("fork_point_event_id") {
        return;
    }
    let hash = parent.map(|parent| parent.hash.to_string());
    if payload.get("fork_point_hash") != Some(&hash.into()) {
        differs("fork_point_hash");
    }
}
