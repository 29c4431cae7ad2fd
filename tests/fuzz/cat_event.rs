use std::cell::RefCell;

use mk::canon::Value;
use mk::id::{BranchName, Hash};
use mk::lookup;
use mk::store::memory::Memory;

use super::store::small;

thread_local! {
    static STORE: RefCell<Memory> = RefCell::new(small());
}

/// Every line has one answer, which a reader can tell from the next without knowing the store.
pub fn cat_event(bytes: &[u8]) {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').count();
    for with_event in [false, true] {
        let mut out = Vec::new();
        STORE.with_borrow_mut(|store| {
            let main = BranchName::main();
            lookup::serve(store, &main, with_event, &mut &bytes[..], &mut out).unwrap();
        });
        assert_eq!(answers(&out, with_event), lines);
    }
}

/// How many answers stand in `out`.
fn answers(mut out: &[u8], with_event: bool) -> usize {
    let mut count = 0;
    while !out.is_empty() {
        count += 1;
        let end = out.iter().position(|byte| *byte == b'\n').expect("an answer ends");
        let head = std::str::from_utf8(&out[..end]).expect("an answer is UTF-8");
        out = &out[end + 1..];
        assert!(head.len() <= lookup::NAME_MAX + " ambiguous".len());
        if head.ends_with(" missing") || head.ends_with(" ambiguous") {
            continue;
        }
        let [hash, _kind, size] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("no answer: {head}")
        };
        let hash: Hash = hash.parse().unwrap();
        if with_event {
            let (event, rest) = out.split_at(size.parse().unwrap());
            let event = Value::parse(event).unwrap();
            assert_eq!(event.get("hash").and_then(Value::as_str), Some(&*hash.to_string()));
            out = rest.strip_prefix(b"\n").expect("a line break ends the event");
        }
    }
    count
}
