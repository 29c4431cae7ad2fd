//! Where `mk` is meant to differ from the peer, all in one place: its other answers, and the other
//! forms of what it stores and reports.

use mk::canon::{Object, Value};
use mk::id::EventId;
use mk::store::{ReadTxn, StoreError};
use mk::workspace::snapshot;

use super::scenario::{Operation, Scenario};

/// An answer of `mk` that is meant to differ.
pub struct Exception {
    pub name: &'static str,
    /// Where it is decided.
    pub rule: &'static str,
    answer: fn(&Met<'_>) -> Option<Value>,
}

/// What an exception looks at.
pub struct Met<'a> {
    scenario: &'a str,
    operation: &'a Operation,
    last_event: i64,
}

pub const EXCEPTIONS: &[Exception] = &[
    // The peer says not_live, not_in_lineage or stale_head also of an event that is nowhere, and
    // invalid_argument of an expected head of 0.
    Exception {
        name: "a number that names no event is not found, whatever it was wanted for",
        rule: "docs/design.md, section 7: a revision is looked up before it is used",
        answer: |met| {
            let named = ["target", "at_event", "expected_head"];
            let id = named.into_iter().find_map(|name| met.operation.integer(name))?;
            met.peer_says(&["not_live", "not_in_lineage", "stale_head", "invalid_argument"])?;
            (!(1..=met.last_event).contains(&id)).then(|| error("event_not_found"))
        },
    },
    Exception {
        name: "a new branch name has one meaning as a revision",
        rule: "docs/design.md, section 7: '..', '//', a final '/', digits alone are refused",
        answer: |met| {
            let is_new = met.operation.name() == "create_branch" && met.scenario == "id-rules";
            let refused = is_new && REFUSED_NAMES.contains(&met.operation.text("branch"));
            refused.then(|| error("invalid_argument"))
        },
    },
    Exception {
        name: "a branch whose name was refused is not listed",
        rule: "as before",
        answer: |met| {
            let is_list = met.operation.name() == "branches" && met.scenario == "id-rules";
            is_list.then(|| {
                let listed = met.operation.expected().get("branches").and_then(Value::as_array);
                let name = |branch: &Value| {
                    branch.get("branch_id").and_then(Value::as_str).map(str::to_owned)
                };
                let kept = listed.unwrap_or_default().iter().filter(|branch| {
                    !name(branch).is_some_and(|name| REFUSED_NAMES.contains(&name.as_str()))
                });
                let branches = Value::Array(kept.cloned().collect());
                Object::from_iter([("branches", branches)]).into()
            })
        },
    },
    Exception {
        name: "a snapshot that is not the fold of what it covers is refused",
        rule: "docs/spec/kernel.md, section 21, item 11",
        answer: |met| {
            let is_forged = met.scenario == "snapshot-forged"
                && met.operation.text("type") == "SEMANTIC_SNAPSHOT";
            is_forged.then(|| error("invalid_snapshot"))
        },
    },
    Exception {
        name: "a snapshot that was refused is not read through",
        rule: "as before",
        answer: |met| {
            let is_read = met.scenario == "snapshot-forged" && met.operation.name() == "state";
            is_read.then(|| {
                let unforged = r#"{"head":2,"snapshot":null,"delta":[1,2],"tokens":40,"state":{
                    "tasks":{},"decisions":{"k":{"key":"k","value":"v","rationale":"because",
                    "agent_id":"a","event_id":1,"supersedes_event_id":null}},
                    "active_workspace_facts":{},"deprecated_assumptions":[],
                    "execution_blockers":{},"active_claims":{},"execution_digest":{},
                    "insights":[]},"equals_full_fold":true}"#;
                Value::parse(unforged.as_bytes()).unwrap()
            })
        },
    },
    Exception {
        name: "an own file of another exchange keeps nobody from publishing",
        rule: "docs/spec/kernel.md, section 21, item 16",
        answer: |met| {
            let is_run =
                met.scenario == "sync-own-file-blocks" && met.operation.name() == "sync_run";
            let published = r#"{"published":true,"changed":0,"errors":{}}"#;
            is_run.then(|| Value::parse(published.as_bytes()).unwrap())
        },
    },
    Exception {
        name: "two leading slashes are one",
        rule: "docs/spec/kernel.md, section 21, item 10",
        answer: |met| {
            let answer = match (met.scenario, met.operation.number()) {
                ("lease-double-slash", 1) => return Some(error("invalid_argument")),
                ("lease-double-slash", 2) => {
                    r#"{"acquired":true,"resource":"/a","fencing_token":1,"ttl_seconds":5.0,
                    "expires_at":1772442007.0,"holder_agent_id":"a","expires_in_seconds":5.0,
                    "claim_event_id":1}"#
                }
                ("lease-double-slash", 3) => {
                    r#"{"acquired":false,"resource":"/a","fencing_token":null,"ttl_seconds":5.0,
                    "expires_at":1772442007.0,"holder_agent_id":"a","expires_in_seconds":4.0,
                    "claim_event_id":null}"#
                }
                ("lease-double-slash", 5) => {
                    r#"{"leases":[{"resource_key":"/a","holder_agent_id":"a","fencing_token":1,
                    "ttl_seconds":5.0,"expires_at":1772442007.0,"expires_in_seconds":2.0,
                    "active":true}]}"#
                }
                _ => return None,
            };
            Some(Value::parse(answer.as_bytes()).unwrap())
        },
    },
];

/// Names in the scenario `id-rules` that no new branch of `mk` may have.
const REFUSED_NAMES: &[&str] = &["7", "A//b", "a/", "a..b"];

impl Met<'_> {
    fn peer_says(&self, codes: &[&str]) -> Option<()> {
        let said = self.operation.expected().get("error").and_then(Value::as_str)?;
        codes.contains(&said).then_some(())
    }
}

fn error(code: &str) -> Value {
    Object::from_iter([("error", code)]).into()
}

/// The exception that `operation` meets, with the answer of `mk`; `last_event` is the highest id yet.
pub fn find(
    scenario: &Scenario,
    operation: &Operation,
    last_event: i64,
) -> Option<(&'static Exception, Value)> {
    let met = Met { scenario: &scenario.name, operation, last_event };
    EXCEPTIONS.iter().find_map(|exception| Some((exception, (exception.answer)(&met)?)))
}

/// A snapshot of the peer as `mk` writes it: the other schema, and events named by hash and sequence
/// where the peer names them by id. What names no event stays as it is.
///
/// Rule: docs/design.md, section 10, "Snapshots".
pub fn snapshot_of_mk(txn: &dyn ReadTxn, mut payload: Object) -> Result<Object, StoreError> {
    if payload.get("schema").and_then(Value::as_str) == Some("memkernel.snapshot/v1") {
        payload.insert("schema", snapshot::SCHEMA);
    }
    for name in ["covers_through", "base_snapshot", "compacted_first"] {
        let Some(id) = payload.remove(&format!("{name}_event_id")) else { continue };
        let hash = match id.as_i64() {
            Some(id) => txn.event(EventId(id))?.map(|event| event.hash.to_string()).into(),
            None => id,
        };
        payload.insert(format!("{name}_hash"), hash);
    }
    for (_, section) in payload.iter_mut() {
        let records: Vec<&mut Value> = match section {
            Value::Object(records) => records.iter_mut().map(|(_, record)| record).collect(),
            Value::Array(records) => records.iter_mut().collect(),
            _ => continue,
        };
        for record in records {
            name_events_by_hash(txn, record)?;
        }
    }
    Ok(payload)
}

fn name_events_by_hash(txn: &dyn ReadTxn, record: &mut Value) -> Result<(), StoreError> {
    let Value::Object(record) = record else { return Ok(()) };
    let named: Vec<String> = record
        .iter()
        .filter_map(|(name, _)| name.strip_suffix("event_id"))
        .map(str::to_owned)
        .collect();
    for prefix in named {
        let id = record.get(&format!("{prefix}event_id")).and_then(Value::as_i64);
        let event = id.map_or(Ok(None), |id| txn.event(EventId(id)))?;
        record.remove(&format!("{prefix}event_id"));
        record.insert(
            format!("{prefix}event_hash"),
            event.as_ref().map(|event| event.hash.to_string()),
        );
        record
            .insert(format!("{prefix}event_sequence"), event.as_ref().map(|event| event.sequence));
    }
    Ok(())
}

/// A record of a state without the members that only `mk` has: beside the local id of an event, its
/// hash and its sequence.
///
/// Rule: docs/design.md, section 2: the hash is the identity, the id is local.
pub fn without_hashes(record: &Value) -> Value {
    let Value::Object(record) = record else { return record.clone() };
    let is_of_mk = |name: &str| name.ends_with("event_hash") || name.ends_with("event_sequence");
    let kept = record.iter().filter(|(name, _)| !is_of_mk(name));
    Object::from_iter(kept.map(|(name, member)| (name, member.clone()))).into()
}
