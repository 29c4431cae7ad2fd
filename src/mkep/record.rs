//! A record: a line of the log, read and put together.
//!
//! Rule: docs/spec/mkep.md, sections 4, 9 and 21.

use super::canonical::{self, Arrays, SAFE_MAX};
use super::check;
use super::error::Refusal;
use super::json::{Json, Members, object};
use super::moment::Moment;
use super::request::Request;

/// The members that no fingerprint covers: a retry may come at another time.
const UNFINGERPRINTED: &[&str] = &[
    "id",
    "created_at",
    "event_seq",
    "observed_seq",
    "fence_token",
    "supersedes_lease_id",
    "supersede_reason",
    "emitted_at",
    "expires_at",
];

/// The members that [`super::fold`] and [`super::leases`] read.
pub const FOLDED: &[&str] = &[
    "record_type",
    "event_seq",
    "id",
    "gate_id",
    "handoff_id",
    "scope_key",
    "to_status",
    "required",
    "provenance_id",
    "fence_token",
    "holder",
    "lease_id",
    "expires_at",
    "to_actor",
    "payload_digest",
    "imported_from",
];

const PRIVACY: &[&str] = &["public_safe", "local_private", "private_pointer"];
const AUTHORITY: &[&str] = &["agent", "human", "system"];

/// The members that every record begins with, of a request.
///
/// # Errors
/// In this order: the goal id, `now`, the privacy, the claim of authority.
pub(super) fn common(record_type: &str, request: &Request) -> Result<Members, Refusal> {
    shared(record_type, request, "local_private")
}

/// The same for a record of this privacy.
pub(super) fn shared(
    record_type: &str,
    request: &Request,
    privacy: &'static str,
) -> Result<Members, Refusal> {
    let goal_id = check::pattern("goal_id", request.target("goal_id"), check::GOAL_ID)?;
    let now = request.now()?;
    let privacy = match request.arg("privacy") {
        None => privacy,
        given => check::choice("privacy", given, PRIVACY)?,
    };
    let authority = match request.arg("authority_claim") {
        None => "agent",
        given => check::choice("authority_claim", given, AUTHORITY)?,
    };
    Ok(object([
        ("schema_version", 1.into()),
        ("record_type", record_type.into()),
        ("execution_schema", 1.into()),
        ("goal_id", goal_id.into()),
        ("emitted_at", now.into()),
        ("privacy", privacy.into()),
        ("authority_claim", authority.into()),
        ("authority_verified", false.into()),
    ]))
}

/// What makes two records the same operation.
///
/// # Errors
/// If the record has no canonical form.
pub fn fingerprint(record: &Members) -> Result<String, Refusal> {
    canonical::digest(&record.without(UNFINGERPRINTED), Arrays::Record)
}

/// The sorted names of the members that a fingerprint covers and in which two records differ.
#[must_use]
pub fn differing_keys(stored: &Members, requested: &Members) -> Vec<String> {
    let value = |record: &Members, key: &str| record.get(key).cloned().unwrap_or(Json::Null);
    let mut keys: Vec<String> = stored
        .iter()
        .chain(requested.iter())
        .map(|(key, _)| key.shown().to_owned())
        .filter(|key| !UNFINGERPRINTED.contains(&key.as_str()))
        .filter(|key| value(stored, key) != value(requested, key))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The number of a record; 0 if it has none.
#[must_use]
pub fn event_seq(record: &Members) -> i64 {
    whole(record, "event_seq")
}

/// An integer member, as far as it is one that MKCJSON/1 can hold; else 0.
#[must_use]
pub fn whole(record: &Members, key: &str) -> i64 {
    let number = record.get(key).and_then(Json::as_i64);
    number.filter(|number| number.abs() <= SAFE_MAX).unwrap_or(0)
}

/// The id of a record; empty if it has none.
#[must_use]
pub fn id(record: &Members) -> &str {
    record.text("id").unwrap_or_default()
}

/// The second that a stored deadline falls on. One that is no time is long past.
#[must_use]
pub fn deadline(expires_at: &Json) -> i64 {
    Moment::read(expires_at).map_or(0, Moment::seconds)
}
