//! The incarnation of an agent, as a lease keeps it.

use sha2::{Digest, Sha256};

use crate::id::hex;

/// The first 12 hex digits of `SHA-256(project id ‖ 00 ‖ session)`; empty for an empty session.
///
/// What a session is called outside may be a secret there, so that its name is never stored.
///
/// Rule: docs/design.md, section 10, "Who is who".
#[must_use]
pub fn session_key(project_id: &str, session: &str) -> String {
    if session.is_empty() {
        return String::new();
    }
    let digest =
        Sha256::new().chain_update(project_id).chain_update([0]).chain_update(session).finalize();
    hex(&digest[..6])
}
