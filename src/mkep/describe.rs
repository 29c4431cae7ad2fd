//! `describe`: what this implementation can do, and what it does not promise.
//!
//! Rule: docs/spec/mkep.md, section 19.

use super::canonical::{self, Arrays};
use super::error::Code;
use super::handoff::PAYLOAD_MAX;
use super::json::{Json, Members, object};
use super::registry::ENTRIES;
use super::request::REQUEST_MAX;
use super::{check, gate, lease};

/// The result of `describe`.
#[must_use]
pub fn capabilities() -> Members {
    let names = |items: &[&str]| Json::from(items.to_vec());
    let ops: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let mut block = object([
        ("mkep", "0".into()),
        ("implementation", "mk".into()),
        ("implementation_version", env!("CARGO_PKG_VERSION").into()),
        ("execution_schema", 1.into()),
        ("envelope_schema_version", 1.into()),
        ("canonical_json", "MKCJSON/1".into()),
        ("time_profile", "MKEP-TIME/1".into()),
        ("stability", "preview".into()),
        ("ga_decision_deadline", "2027-02-04".into()),
        ("ops", ops.into()),
        ("error_codes", codes.into()),
        ("transports", names(&["cli", "mcp"])),
        ("mcp_ops", names(&["state.read", "assess.run", "handoff.export", "describe"])),
        ("limits", limits().into()),
        ("guarantees", guarantees().into()),
    ]);
    let digest = canonical::digest(&block, Arrays::Message).ok();
    block.set("capabilities_digest", digest);
    block
}

/// The digest by which a caller can tell that all this is as it was.
#[must_use]
pub fn capabilities_digest() -> String {
    capabilities().text("capabilities_digest").unwrap_or_default().to_owned()
}

fn limits() -> Members {
    object([
        // Announced, not enforced, as in the reference.
        ("max_record_bytes", 16_384.into()),
        ("max_response_bytes", 1_048_576.into()),
        ("max_request_bytes", REQUEST_MAX.into()),
        ("max_handoff_bytes", PAYLOAD_MAX.into()),
        ("max_gates_per_goal", gate::GATES_MAX.into()),
        ("max_active_leases_per_goal", lease::ACTIVE_MAX.into()),
        ("max_string_len", check::TEXT_MAX.into()),
        ("max_list_len", check::LIST_MAX.into()),
        ("max_ttl_seconds", lease::TTL_MAX.into()),
        ("max_payload_depth", canonical::DEPTH_MAX.into()),
    ])
}

fn guarantees() -> Members {
    object([
        ("atomic_unit", "single_line_append".into()),
        ("clock", "caller_injected".into()),
        ("scope", "single_host_local_filesystem".into()),
        ("gates_are_advisory", true.into()),
        ("should_run_is_advisory", true.into()),
        ("multi_host", false.into()),
        ("network_filesystem", false.into()),
        ("authority_verified", false.into()),
        ("cross_base_read", false.into()),
        ("mcp_mutation", false.into()),
        ("envelope_authenticity", false.into()),
        ("execution_log_compaction", false.into()),
    ])
}
