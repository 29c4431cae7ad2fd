//! How a response is held against a recorded one.
//!
//! Rule: tests/cases/mkep/README.md, "Comparing".

use std::collections::BTreeMap;

use mk::mkep::canonical::{self, Arrays};
use mk::mkep::json::{self, Json, Members};
use serde_json::Value;

/// Recorded tokens with those seen now, one to one.
#[derive(Debug, Clone, Default)]
pub struct Names {
    there: BTreeMap<String, String>,
    back: BTreeMap<String, String>,
}

impl Names {
    fn bind(&mut self, recorded: &str, seen: &str) -> bool {
        match (self.there.get(recorded), self.back.get(seen)) {
            (Some(known), _) => known == seen,
            (None, Some(_)) => false,
            (None, None) => {
                self.there.insert(recorded.to_owned(), seen.to_owned());
                self.back.insert(seen.to_owned(), recorded.to_owned());
                true
            }
        }
    }

    /// `value` with the tokens seen now in the place of the recorded ones.
    pub fn exchange(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.there.get(text).unwrap_or(text).clone().into(),
            Value::Array(items) => items.iter().map(|item| self.exchange(item)).collect(),
            Value::Object(members) => {
                let exchanged =
                    |(key, value): (&String, &Value)| (key.clone(), self.exchange(value));
                Value::Object(members.iter().map(exchanged).collect())
            }
            other => other.clone(),
        }
    }
}

const FREE: &[&str] = &[
    "error.message",
    "result.implementation",
    "result.implementation_version",
    "result.transports",
];
const RECOMPUTED: &[&str] = &[
    "request_digest",
    "response_digest",
    "result.capabilities_digest",
    "result.envelope.envelope_digest",
];

/// The differences between a recorded response and one seen now.
pub struct Comparison<'a> {
    pub names: Names,
    /// Paths of fresh tokens.
    pub volatile: &'a [String],
    pub faults: Vec<String>,
}

impl Comparison<'_> {
    pub fn run(&mut self, recorded: &Value, seen: &Value, path: &str) {
        let kind = std::mem::discriminant::<Value>;
        if FREE.contains(&path) {
            return self.expect(kind(recorded) == kind(seen), recorded, seen, path);
        }
        if RECOMPUTED.contains(&path) {
            self.expect(recorded.is_null() == seen.is_null(), recorded, seen, path);
            let texts = recorded.as_str().zip(seen.as_str());
            // That of the response covers the free message; it is checked elsewhere.
            if let Some((recorded, seen)) = texts.filter(|_| path != "response_digest")
                && !self.names.bind(recorded, seen)
            {
                self.faults.push(format!("{path}: {recorded} became {seen}"));
            }
            return;
        }
        match (recorded, seen) {
            (Value::Object(a), Value::Object(b)) => {
                for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                    let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    match (a.get(key), b.get(key)) {
                        (Some(a), Some(b)) => self.run(a, b, &below),
                        _ => self.faults.push(format!("{below} is on one side only")),
                    }
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                let b = if path == "result.handoffs" { self.paired(a, b) } else { b.clone() };
                for (index, (a, b)) in a.iter().zip(&b).enumerate() {
                    self.run(a, b, &format!("{path}.{index}"));
                }
            }
            (Value::String(a), Value::String(b)) => {
                let is_fresh = self.volatile.iter().any(|pattern| fits(pattern, path));
                let same = match self.names.there.get(a) {
                    Some(known) => known == b,
                    None if is_fresh => same_form(a, b) && self.names.bind(a, b),
                    None => a == b,
                };
                self.expect(same, recorded, seen, path);
            }
            _ => self.expect(recorded == seen, recorded, seen, path),
        }
    }

    fn expect(&mut self, holds: bool, recorded: &Value, seen: &Value, path: &str) {
        if !holds {
            self.faults.push(format!("{path}: recorded {recorded}, now {seen}"));
        }
    }

    /// Handoffs are sorted by random ids, so they come in another order.
    fn paired(&mut self, recorded: &[Value], seen: &[Value]) -> Vec<Value> {
        let id = |item: &Value| item["handoff_id"].as_str().unwrap_or_default().to_owned();
        let ids: Vec<String> = seen.iter().map(id).collect();
        if !ids.is_sorted() {
            self.faults.push("result.handoffs is not sorted".to_owned());
        }
        let wanted = recorded.iter().map(|item| self.names.there.get(&id(item)).cloned());
        let found = wanted.map(|name| seen.iter().find(|item| Some(id(item)) == name).cloned());
        found.collect::<Option<Vec<_>>>().unwrap_or_else(|| seen.to_vec())
    }
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut parts, mut wanted) = (path.split('.'), pattern.split('.'));
    loop {
        match (wanted.next(), parts.next()) {
            (Some("**"), _) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}

fn same_form(a: &str, b: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    !(is_hex(a) && [32, 64].contains(&a.len())) || (is_hex(b) && a.len() == b.len())
}

pub fn object(bytes: &[u8]) -> Option<Members> {
    match json::parse(bytes)? {
        Json::Object(members) => Some(members),
        _ => None,
    }
}

fn digest(members: &Members, arrays: Arrays) -> Json {
    canonical::digest(members, arrays).ok().into()
}

/// What a response says of itself and of its request that can be computed again.
pub fn recomputed(request: Option<&Members>, line: &[u8], faults: &mut Vec<String>) {
    let Some(response) = object(line) else {
        return faults.push("the response is no object".to_owned());
    };
    let mut expect = |what: &str, holds: bool| {
        if !holds {
            faults.push(format!("{what} is not what it is taken over"));
        }
    };
    let own = |members: &Members, key: &str| members.get(key).cloned().unwrap_or(Json::Null);
    if let Some(request) = request {
        expect(
            "request_digest",
            own(&response, "request_digest") == digest(request, Arrays::Message),
        );
    }
    let rest = response.without(&["response_digest"]);
    expect("response_digest", own(&response, "response_digest") == digest(&rest, Arrays::Message));
    let Some(Json::Object(result)) = response.get("result") else { return };
    if result.contains("capabilities_digest") {
        let rest = digest(&result.without(&["capabilities_digest"]), Arrays::Message);
        expect("capabilities_digest", own(result, "capabilities_digest") == rest);
    }
    if let Some(Json::Object(envelope)) = result.get("envelope") {
        let rest = digest(&envelope.without(&["envelope_digest"]), Arrays::Record);
        expect("envelope_digest", own(envelope, "envelope_digest") == rest);
        if let Some(Json::Object(payload)) = envelope.get("payload") {
            let payload = digest(payload, Arrays::Record);
            expect("payload_digest", own(envelope, "payload_digest") == payload);
        }
    }
    let is_whole = result.contains("gates") && result.contains("handoffs");
    if is_whole && result.get("rejected_transitions") == Some(&0.into()) {
        let mut projection = result.without(&[
            "projection_digest",
            "evaluated_at",
            "leases",
            "max_fence_token",
            "rejected_transitions",
        ]);
        projection.set("rejected_transitions", Json::List(Vec::new()));
        let projection = digest(&projection, Arrays::Unbounded);
        expect("projection_digest", own(result, "projection_digest") == projection);
    }
}
