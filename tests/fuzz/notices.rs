use mk::canon::Value;
use mk::notice::document;
use mk::sync::Policy;
use mk::sync::bundle::{self, Key};
use mk::time::Timestamp;

use super::assert_is_message;

/// What is read is written and read back the same, and is what a store may hold.
pub fn notice_document(bytes: &[u8]) {
    match document::read(bytes) {
        Ok(notices) => {
            assert!(notices.iter().all(|notice| document::misfit(notice).is_none()));
            // The form that is written may be longer than the one that was read.
            if let Ok(written) = document::write(&notices) {
                assert_eq!(document::read(written.as_bytes()).unwrap(), notices);
            }
        }
        Err(error) => assert_is_message(&error),
    }
}

/// A policy is written as it was read.
pub fn sync_policy(bytes: &[u8]) {
    match Policy::read(bytes) {
        Ok(policy) => assert_eq!(Policy::read(policy.text().as_bytes()), Ok(policy)),
        Err(error) => assert_is_message(&error),
    }
}

const SEED: [u8; 32] = [0xb2; 32];

/// The recorded bundles are of this peer.
const POLICY: &str = r#"{"schema":"memkernel.sync-config/v1","workspace_id":"team-1",
    "peer_id":"laptop-b","folder":"f","private_key":"k","trusted_peers":{"laptop-b":{"public_key":
    "55154f42065ea5a1bea05463826be2684eb92df92c100027aabaae57ca554207","agents":["bob"]}}}"#;

/// What is taken in is of the peer and its agents; only what was signed is. The bytes are tried as they
/// are, and signed.
pub fn signed_bundle(bytes: &[u8]) {
    let policy = Policy::read(POLICY.as_bytes()).unwrap();
    let key = Key::new(SEED);
    assert_eq!(key.public_key(), policy.own().public_key);
    let now: Timestamp = "2026-03-02T10:00:00Z".parse().unwrap();
    let as_it_is = bundle::read(bytes, &policy, "laptop-b", now);
    let Ok(Value::Object(mut members)) = Value::parse(bytes) else {
        assert!(as_it_is.is_err());
        return;
    };
    members.remove("signature");
    let (text, digest) = bundle::sealed(members, &key);
    let signed = bundle::read(text.as_bytes(), &policy, "laptop-b", now);
    if let Ok(taken) = &as_it_is {
        assert_eq!(signed.as_ref().unwrap().digest, taken.digest);
    }
    let Ok(taken) = signed else { return };
    assert_eq!(taken.digest, digest);
    for notice in &taken.notices {
        assert!(notice.id.starts_with("laptop-b:") && notice.author.as_str() == "bob");
        assert_eq!(notice.source.as_deref(), Some("laptop-b"));
    }
    let forged = text.replacen("\"sequence\":", "\"sequence\":1", 1);
    assert!(bundle::read(forged.as_bytes(), &policy, "laptop-b", now).is_err());
}
