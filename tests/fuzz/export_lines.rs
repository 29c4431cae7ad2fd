use mk::canon::{Object, Value};
use mk::id::{Hash, hex, unhex};
use mk::transfer::ImportError;
use sha2::{Digest, Sha256};

use super::assert_is_message;
use super::store::{assert_travels, empty, export, import, is_empty};

/// What is imported travels on as it is, and again changes nothing; what is refused is refused at a
/// line, and nothing of it stays. The lines are tried as they are, and sealed.
pub fn export_lines(bytes: &[u8]) {
    imported(bytes);
    imported(&sealed(bytes));
}

fn imported(bytes: &[u8]) {
    let mut store = empty();
    match import(&mut store, bytes) {
        Ok(report) => {
            assert_travels(&mut store);
            let text = export(&mut store);
            let again = import(&mut store, bytes).expect("it was imported before");
            assert_eq!((again.events, again.erased), (0, 0), "of {}", report.events);
            assert_eq!(export(&mut store), text);
        }
        Err(error) => {
            assert_is_message(&error);
            if let ImportError::BadLine { line, .. } | ImportError::Diverged { line, .. } = error {
                let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
                assert!((1..=lines).contains(&line), "line {line} of {lines}");
            }
            assert!(is_empty(&mut store), "something stays of what was refused");
        }
    }
}

/// The lines with hashes that fit what they say, so that a mutation gets past them. A number where a
/// hash should be stands for the hash of that event of these lines; what an event lacks is filled in.
///
/// Hashes are computed here as docs/format.md has them, by other code than what is tested.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut hashes: Vec<Hash> = Vec::new();
    let mut out = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        match Value::parse_enclosing(line) {
            Ok(Value::Object(mut members)) => {
                insert_missing(&mut members, "v", 1_u64.into());
                for name in ["head", "prev"] {
                    resolve(&mut members, name, &hashes);
                }
                if let Some(payload) = members.get("payload").and_then(Value::as_object).cloned() {
                    let mut payload = payload;
                    for name in ["fork_point_hash", "target_hash", "covers_through_hash"] {
                        resolve(&mut payload, name, &hashes);
                    }
                    members.insert("payload", payload);
                }
                if !members.contains_key("advisory") {
                    hashes.push(seal(&mut members));
                }
                out.extend_from_slice(members.canonical().as_bytes());
            }
            _ => out.extend_from_slice(line),
        }
        out.push(b'\n');
    }
    out.pop();
    out
}

fn insert_missing(members: &mut Object, name: &str, value: Value) {
    if !members.contains_key(name) {
        members.insert(name, value);
    }
}

fn resolve(members: &mut Object, name: &str, hashes: &[Hash]) {
    let index = members.get(name).and_then(Value::as_i64);
    let index = index.and_then(|index| usize::try_from(index).ok());
    if let Some(hash) = index.and_then(|index| hashes.get(index)) {
        members.insert(name, hash.to_string());
    }
}

/// Fills in what an event lacks, and gives it its hash.
fn seal(members: &mut Object) -> Hash {
    for (name, text) in [
        ("agent_id", "ann".to_owned()),
        ("branch_id", "main".to_owned()),
        ("event_type", "AGENT_SCRATCHPAD".to_owned()),
        ("prev", Hash::ZERO.to_string()),
        ("timestamp", "2026-11-30T10:00:00.000000Z".to_owned()),
    ] {
        insert_missing(members, name, text.into());
    }
    insert_missing(members, "sequence", 1_u64.into());
    if !members.contains_key("body") {
        insert_missing(members, "salt", "00".repeat(16).into());
        insert_missing(members, "payload", Object::new().into());
        insert_missing(members, "metadata", Object::new().into());
    }
    let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
    let body = match members.get("body") {
        Some(_) => text("body").to_owned(),
        None => {
            let part = |name: &str| (name.to_owned(), members.get(name).unwrap().clone());
            let content: Object = [part("metadata"), part("payload")].into_iter().collect();
            let salt = unhex(text("salt")).unwrap_or_default();
            hex(&Sha256::new().chain_update(salt).chain_update(content.canonical()).finalize())
        }
    };
    let chained = ["agent_id", "branch_id", "event_type", "sequence", "timestamp", "v"];
    let chained = chained.map(|name| (name, members.get(name).unwrap().clone()));
    let mut chained: Object = chained.into_iter().collect();
    chained.insert("body", body);
    let prev: Hash = text("prev").parse().unwrap_or(Hash::ZERO);
    let digest = Sha256::new().chain_update(prev.0).chain_update(chained.canonical()).finalize();
    let hash = Hash(digest.into());
    members.insert("hash", hash.to_string());
    hash
}
