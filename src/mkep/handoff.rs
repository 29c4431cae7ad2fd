//! `handoff.declare`, `handoff.transition`, `handoff.import` and `handoff.export`.
//!
//! Rule: docs/spec/mkep.md, section 16.

use super::canonical::{self, Arrays};
use super::check;
use super::error::{Code, Refusal, Stop};
use super::facts::Facts;
use super::goal::allowed;
use super::json::{Json, Members, object};
use super::moment::Moment;
use super::record;
use super::registry::Entity;
use super::request::Request;

/// Most canonical bytes of a payload.
pub const PAYLOAD_MAX: usize = 32_768;
/// Most handoffs of a goal, declared and imported.
pub const HANDOFFS_MAX: i64 = 32;
/// The scope whose lease guards declarations and imports.
pub const SCOPE: &str = "handoff";

const ENVELOPE_SCHEMA: &str = "memkraft.handoff/1";
const PAYLOAD_SCHEMA: &str = "memkraft.handoff.context/1";
const ENVELOPE: &[&str] = &[
    "envelope_schema",
    "origin_instance_id",
    "goal_id",
    "handoff_id",
    "payload_schema",
    "payload",
    "payload_digest",
    "expires_at",
    "exported_at",
    "envelope_digest",
];

pub(super) fn declare(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::shared("handoff_declared", request, "public_safe")?;
    record.set("to_actor", check::holder("to_actor", request.arg("to_actor"))?);
    let (payload, digest) = payload("payload", request.arg("payload"))?;
    record.set("payload", payload.clone());
    record.set("payload_digest", digest);
    let schema = match request.arg("payload_schema") {
        None => PAYLOAD_SCHEMA,
        given => check::pattern("payload_schema", given, check::PAYLOAD_SCHEMA)?,
    };
    record.set("payload_schema", schema);
    if let Some(given) = request.given("expires_at") {
        record.set("expires_at", Moment::read(given)?);
    }
    Ok(record)
}

pub(super) fn transition(request: &Request) -> Result<Members, Refusal> {
    let mut record = record::common("handoff_transition", request)?;
    let handoff_id = check::pattern("handoff_id", request.target("handoff_id"), check::ID)?;
    record.set("handoff_id", handoff_id);
    record.set("to_status", check::text("to_state", request.arg("to_state"))?);
    Ok(record)
}

pub(super) fn import(request: &Request) -> Result<Members, Refusal> {
    let envelope = Envelope::read(request.arg("envelope"))?;
    let mut record = record::common("handoff_imported", request)?;
    record.set("payload", envelope.payload.clone());
    record.set("payload_digest", envelope.payload_digest);
    record.set("payload_schema", envelope.payload_schema);
    if let Some(expires_at) = envelope.expires_at {
        record.set("expires_at", expires_at);
        if expires_at <= request.now()? {
            let details = [("expires_at", expires_at.into())];
            let message = "the envelope expired before it arrived";
            return Err(Refusal::new(Code::HandoffExpired, message, details));
        }
    }
    let imported_from = object([
        ("origin_instance_id", envelope.origin_instance_id.into()),
        ("handoff_id", envelope.handoff_id.into()),
        ("payload_digest", envelope.payload_digest.into()),
    ]);
    record.set("imported_from", imported_from);
    Ok(record)
}

/// The payload with its digest.
fn payload<'a>(path: &str, value: Option<&'a Json>) -> Result<(&'a Json, String), Refusal> {
    let Some(payload @ Json::Object(members)) = value else {
        return Err(Refusal::at(Code::Type, path, "is not an object"));
    };
    let size = canonical::text(members, Arrays::Record)?.len();
    if size > PAYLOAD_MAX {
        let details = [("path", path.into()), ("limit", PAYLOAD_MAX.into()), ("size", size.into())];
        let message = format!("{path} has more than {PAYLOAD_MAX} canonical bytes");
        return Err(Refusal::new(Code::LimitExceeded, message, details));
    }
    Ok((payload, canonical::digest(members, Arrays::Record)?))
}

/// An envelope that agrees with itself.
struct Envelope<'a> {
    origin_instance_id: &'a str,
    handoff_id: &'a str,
    payload_schema: &'a str,
    payload: &'a Json,
    payload_digest: &'a str,
    expires_at: Option<Moment>,
}

impl<'a> Envelope<'a> {
    fn read(value: Option<&'a Json>) -> Result<Self, Refusal> {
        let Some(Json::Object(members)) = value else {
            return Err(Refusal::at(Code::Type, "envelope", "is not an object"));
        };
        check::closed("envelope.", members, ENVELOPE)?;
        check::complete("envelope.", members, ENVELOPE)?;
        let word = |key: &str, form: check::Form| {
            check::pattern(&format!("envelope.{key}"), members.get(key), form)
        };
        if members.text("envelope_schema") != Some(ENVELOPE_SCHEMA) {
            let path = "envelope.envelope_schema";
            return Err(Refusal::at(Code::Pattern, path, "is not known here"));
        }
        let origin_instance_id = word("origin_instance_id", check::ID)?;
        let handoff_id = word("handoff_id", check::ID)?;
        let payload_schema = word("payload_schema", check::PAYLOAD_SCHEMA)?;
        let (payload, computed) = payload("envelope.payload", members.get("payload"))?;
        let payload_digest = word("payload_digest", check::DIGEST)?;
        let expires_at = members.given("expires_at").map(Moment::read).transpose()?;
        word("goal_id", check::GOAL_ID)?;
        Moment::read(members.get("exported_at").unwrap_or(&Json::Null))?;
        let envelope_digest = word("envelope_digest", check::DIGEST)?;
        let whole = canonical::digest(&members.without(&["envelope_digest"]), Arrays::Record)?;
        agree("envelope.envelope_digest", envelope_digest, &whole)?;
        agree("envelope.payload_digest", payload_digest, &computed)?;
        Ok(Self {
            origin_instance_id,
            handoff_id,
            payload_schema,
            payload,
            payload_digest,
            expires_at,
        })
    }
}

fn agree(path: &str, given: &str, computed: &str) -> Result<(), Refusal> {
    if given == computed {
        return Ok(());
    }
    let details = [("path", path.into()), ("computed_digest", computed.into())];
    Err(Refusal::new(Code::DigestMismatch, format!("{path} is not that of the content"), details))
}

/// Whether the goal takes one handoff more.
pub(super) fn may_declare(facts: &Facts<'_>) -> Result<(), Refusal> {
    let declared = facts.goal.handoff_records;
    if declared < HANDOFFS_MAX {
        return Ok(());
    }
    let details = [("limit", HANDOFFS_MAX.into()), ("declared", declared.into())];
    Err(Refusal::new(Code::LimitExceeded, "the goal has as many handoffs as it can", details))
}

/// Whether the handoff may change as `record` says.
pub(super) fn may_change(record: &Members, facts: &Facts<'_>) -> Result<(), Refusal> {
    let handoff_id = record.text("handoff_id").unwrap_or_default();
    let Some(handoff) = facts.goal.handoffs.get(handoff_id) else {
        return Err(not_declared("handoff_declared"));
    };
    let has_lapsed = !handoff.expires_at.is_null()
        && record::deadline(&handoff.expires_at) <= facts.now.seconds();
    if has_lapsed && handoff.status != "completed" {
        let details =
            [("handoff_id", handoff_id.into()), ("expires_at", handoff.expires_at.clone())];
        return Err(Refusal::new(Code::HandoffExpired, "the handoff has expired", details));
    }
    if record.text("to_status") == Some(handoff.status) {
        let details = [("handoff_id", handoff_id.into()), ("status", handoff.status.into())];
        return Err(Refusal::new(Code::Conflict, "the handoff is in that state", details));
    }
    let details = [("handoff_id", handoff_id.into()), ("from_status", handoff.status.into())];
    allowed(Entity::Handoff, Some(handoff.status), record, details).map(|_| ())
}

pub(super) fn not_declared(record_type: &'static str) -> Refusal {
    let message = format!("there is no {record_type} for it");
    Refusal::new(Code::NotDeclared, message, [("record_type", record_type.into())])
}

/// The record of an earlier import of the same handoff, if there is one with the same payload.
pub(super) fn imported_before(
    record: &Members,
    facts: &Facts<'_>,
) -> Result<Option<Members>, Stop> {
    let Some(Json::Object(origin)) = record.get("imported_from") else { return Ok(None) };
    let Some(key) = origin_key(record) else { return Ok(None) };
    let Some(stored) = facts.imported(&key)? else { return Ok(None) };
    let digest = |origin: &Members| origin.get("payload_digest").cloned().unwrap_or(Json::Null);
    let before = stored.get("imported_from").and_then(Json::as_object).map_or(Json::Null, digest);
    let now = digest(origin);
    if before == now {
        return Ok(Some(stored));
    }
    let details = [("stored_payload_digest", before), ("envelope_payload_digest", now)];
    let message = "the handoff was imported before with another payload";
    Err(Refusal::new(Code::Conflict, message, details).into())
}

/// What an imported handoff is known by: its origin, and its id there.
#[must_use]
pub fn origin_key(record: &Members) -> Option<String> {
    let origin = record.get("imported_from")?.as_object()?;
    Some(format!("{} {}", origin.get("origin_instance_id")?, origin.get("handoff_id")?))
}

/// The envelope of the handoff that `declared` declares, without its digest.
pub(super) fn envelope(declared: &Members, origin_instance_id: &str, now: Moment) -> Members {
    let stored = |key: &str| declared.get(key).cloned().unwrap_or(Json::Null);
    object([
        ("envelope_schema", ENVELOPE_SCHEMA.into()),
        ("origin_instance_id", origin_instance_id.into()),
        ("goal_id", stored("goal_id")),
        ("handoff_id", stored("id")),
        ("payload_schema", stored("payload_schema")),
        ("payload", stored("payload")),
        ("payload_digest", stored("payload_digest")),
        ("expires_at", stored("expires_at")),
        ("exported_at", now.into()),
    ])
}
