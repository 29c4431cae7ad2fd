use mk::canon::{Object, Value};
use mk::event::EventType;
use mk::id::BranchName;
use mk::log::{Draft, EventLine, Log};
use mk::secret;
use mk::store::Engine;

use super::assert_is_message;
use super::store::{agent, assert_travels, at_work, empty, is_empty};

/// A line of `append --batch` means the same when it is written anew, and an event that it makes has
/// the hash of what it says, no secret, and can be exported.
pub fn event_line(bytes: &[u8]) {
    let line = match EventLine::read(bytes) {
        Ok(line) => line,
        Err(error) => return assert_is_message(&error),
    };
    assert_eq!(EventLine::read(written(&line).canonical().as_bytes()).as_ref(), Ok(&line));
    let draft = Draft {
        kind: line.kind.unwrap_or(EventType::Note),
        agent: line.agent.unwrap_or_else(agent),
        payload: line.payload,
        metadata: line.metadata,
    };
    let branch = line.branch.unwrap_or_else(BranchName::main);
    let mut store = empty();
    let appended =
        at_work(|outside| store.write(|txn| Log::open(txn)?.append(&branch, draft, None, outside)));
    let id = match appended {
        Ok(appended) => appended.event_id,
        Err(error) => {
            assert_is_message(&error);
            assert!(is_empty(&mut store), "it was refused and is there");
            return;
        }
    };
    let event = store.read(|txn| txn.known_event(id)).unwrap();
    let content = event.content.as_ref().expect("nothing was erased");
    assert_eq!(content.digest(), event.body);
    for text in [&content.payload, &content.metadata] {
        let value = Value::parse_enclosing(text.as_bytes()).expect("what is stored is JSON");
        assert_eq!(value.canonical(), *text);
        assert_no_secret(&value);
    }
    assert_travels(&mut store);
}

fn written(line: &EventLine) -> Object {
    let texts = [
        ("event_type", line.kind.map(EventType::as_str)),
        ("branch_id", line.branch.as_ref().map(BranchName::as_str)),
        ("agent_id", line.agent.as_ref().map(|agent| agent.as_str())),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, Value::from(text?))));
    let objects = [("payload", &line.payload), ("metadata", &line.metadata)];
    let objects = objects.map(|(name, object)| (name, Value::from(object.clone())));
    let fence = line.fence.clone().map(|fence| ("fence", fence));
    texts.chain(objects).chain(fence).collect()
}

fn assert_no_secret(value: &Value) {
    match value {
        Value::String(text) => assert_eq!(secret::find(text), [], "{text}"),
        Value::Array(items) => items.iter().for_each(assert_no_secret),
        Value::Object(members) => members.iter().for_each(|(_, value)| assert_no_secret(value)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}
