//! Requests under an id: done once, however often they are asked for.

use std::collections::BTreeMap;
use std::error::Error;

use mk::canon::{Object, Value};
use mk::event::EventType;
use mk::id::BranchName;
use mk::log::{Appended, Draft, Log, Outside};
use mk::operation::{Once, OpId, OperationError, once};
use mk::store::{Engine, StoreError, WriteTxn};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::engines::{self, File, Salts};
use crate::history::beginning;

/// A request for a note, or one that is refused.
#[derive(Debug, Clone)]
struct Asked {
    id: Option<u8>,
    note: u8,
    refused: bool,
}

fn any_asked() -> impl Strategy<Value = Asked> {
    (any::<Option<bool>>(), 0..3_u8, prop::bool::weighted(0.2))
        .prop_map(|(id, note, refused)| Asked { id: id.map(u8::from), note, refused })
}

fn append(
    txn: &mut dyn WriteTxn,
    asked: &Asked,
    salts: &mut Salts,
) -> Result<Appended, Box<dyn Error>> {
    let kind = if asked.refused { EventType::Forked } else { EventType::Note };
    let payload = Object::from_iter([("note", i64::from(asked.note))]);
    let draft = Draft { kind, agent: "ann".parse()?, payload, metadata: Object::new() };
    let mut outside = Outside { now: &mut beginning, salt: &mut || salts.next() };
    Ok(Log::open(txn)?.append(&BranchName::main(), draft, None, &mut outside)?)
}

fn is_done_once<E: Engine>(store: &mut E, asked: &[Asked]) -> TestCaseResult {
    let mut salts = Salts::default();
    let mut done: BTreeMap<u8, (Value, Appended)> = BTreeMap::new();
    let mut events = 0;
    for asked in asked {
        let id = asked.id.map(|id| format!("op-{id}").parse::<OpId>().unwrap());
        let request = Value::from(i64::from(asked.note) + 10 * i64::from(asked.refused));
        let answer: Result<Once<Appended>, Box<dyn Error>> = store
            .write(|txn| once(txn, id.as_ref(), &request, |txn| append(txn, asked, &mut salts)));
        let before = asked.id.and_then(|id| done.get(&id));
        match (before, answer) {
            (Some((of, report)), Ok(again)) => {
                prop_assert_eq!(of, &request);
                prop_assert_eq!(&again.report, report);
                prop_assert!(again.already_applied);
            }
            (Some((of, _)), Err(error)) => {
                let error = error.downcast_ref::<OperationError>();
                prop_assert!(matches!(error, Some(OperationError::Conflict(_))), "{error:?}");
                prop_assert_ne!(of, &request);
            }
            (None, Ok(first)) => {
                prop_assert!(!asked.refused && !first.already_applied);
                events += 1;
                prop_assert_eq!(first.report.event_id.0, events);
                if let Some(id) = asked.id {
                    done.insert(id, (request, first.report));
                }
            }
            // A refusal keeps no id.
            (None, Err(error)) => prop_assert!(asked.refused, "{error}"),
        }
        let last = store.read(|txn| txn.log_head()).map_err(|error: StoreError| error).unwrap();
        prop_assert_eq!(last.map_or(0, |(id, _)| id.0), events);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_same_request_has_one_event_and_one_report_and_another_is_refused(
        asked in prop::collection::vec(any_asked(), 1..24),
    ) {
        let agent = "mk".parse().unwrap();
        is_done_once(&mut engines::memory(beginning(), &agent), &asked)?;
        is_done_once(&mut *File::new(beginning(), &agent), &asked)?;
    }
}
