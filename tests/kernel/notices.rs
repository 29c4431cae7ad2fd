//! Notices on both engines, and how they travel between stores.

use mk::id::AgentId;
use mk::notice::{self, Message, NoticeError, NoticeId, Topic, Ttl};
use mk::store::memory::Memory;
use mk::store::{Engine, Notice, Notices, ReadTxn, StoreError};
use mk::time::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::engines::{self, File};
use crate::history::{AGENTS, beginning};

/// Something that is done with notices, each about one of a few.
#[derive(Debug, Clone)]
enum Deed {
    Post { agent: usize, topic: u8, ttl: i64 },
    Clear { agent: usize, notice: u8 },
}

fn any_deeds() -> impl Strategy<Value = Vec<(i64, Deed)>> {
    let deed = prop_oneof![
        3 => (0..AGENTS.len(), 0..3_u8, 1..40_i64)
            .prop_map(|(agent, topic, ttl)| Deed::Post { agent, topic, ttl }),
        2 => (0..AGENTS.len(), 0..12_u8)
            .prop_map(|(agent, notice)| Deed::Clear { agent, notice }),
    ];
    vec((0..20_i64, deed), 0..24)
}

fn topic(number: u8) -> Topic {
    format!("area:{number}").parse().unwrap()
}

fn seconds(after: i64) -> Timestamp {
    Timestamp::from_micros(beginning().micros() + after * 1_000_000)
}

/// Carries out what is to be done, the ids drawn from `first` on; answers with what each gave, and
/// with the time at the end.
fn carry_out<E: Engine>(
    store: &mut E,
    deeds: &[(i64, Deed)],
    first: u8,
) -> (Vec<String>, Timestamp) {
    let (mut drawn, mut now) = (first, beginning());
    let mut answers = Vec::new();
    for (pause, deed) in deeds {
        now = Timestamp::from_micros(now.micros() + pause * 1_000_000);
        let agent = |index: usize| AGENTS[index].parse::<AgentId>().unwrap();
        let done = store.write(|txn| match deed {
            Deed::Post { agent: by, topic: about, ttl } => {
                let (about, ttl) = (topic(*about), Ttl::from_seconds(*ttl)?);
                let message: Message = format!("word {}", drawn % 5).parse()?;
                let mut draw = || {
                    drawn += 1;
                    [drawn; 16]
                };
                notice::post(txn, (&agent(*by), None), (&about, &message), ttl, (now, &mut draw))
            }
            Deed::Clear { agent: by, notice: number } => {
                let id = NoticeId::drawn([first + number + 1; 16]);
                notice::clear(txn, &id, (&agent(*by), None), now)
            }
        });
        answers.push(match done {
            Ok(notice) => serde_json::to_string(&notice).unwrap(),
            Err(refused) => refused.to_string(),
        });
    }
    (answers, now)
}

/// Everything that can be asked about notices.
fn everything(txn: &dyn ReadTxn, now: Timestamp) -> Result<String, StoreError> {
    let mut told = String::new();
    for (about, cleared) in [None, Some(topic(0)), Some(topic(1))].iter().zip([false, true, false])
    {
        for limit in [1, 3, 100] {
            let listing = notice::list(txn, (about.as_ref(), cleared), None, limit, (now, None))?;
            told.push_str(&serde_json::to_string(&listing).unwrap());
            told.push_str(&format!("{:?}", notice::newest(txn, about.as_ref(), limit, now)?));
        }
    }
    Ok(told)
}

fn document(store: &mut Memory) -> String {
    store.read(|txn| notice::export(txn, None)).unwrap()
}

fn new_store() -> Memory {
    engines::memory(beginning(), &"mk".parse().unwrap())
}

fn import(store: &mut Memory, document: &str) -> Result<u64, NoticeError> {
    Ok(store.write(|txn| notice::import(txn, document.as_bytes()))?.changed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn both_engines_keep_the_same_notices(deeds in any_deeds()) {
        let mut memory = new_store();
        let mut file = File::new(beginning(), &"mk".parse().unwrap());
        let (in_memory, now) = carry_out(&mut memory, &deeds, 0);
        prop_assert_eq!(in_memory, carry_out(&mut *file, &deeds, 0).0);
        let (in_memory, in_file) =
            (memory.read(|txn| everything(txn, now)), file.read(|txn| everything(txn, now)));
        prop_assert_eq!(in_memory.unwrap(), in_file.unwrap());
    }

    /// Pages of any size make up the whole, and say how much is left.
    #[test]
    fn a_listing_goes_on_where_it_stopped(deeds in any_deeds(), limit in 1..5_usize) {
        let mut store = new_store();
        let (_, now) = carry_out(&mut store, &deeds, 0);
        let all = store.read(|txn| notice::list(txn, (None, true), None, 1_000, (now, None))).unwrap();
        let (mut told, mut after) = (Vec::new(), None);
        loop {
            let page = store
                .read(|txn| notice::list(txn, (None, true), after.as_ref(), limit, (now, None)))
                .unwrap();
            told.extend(page.notices.iter().map(|it| it.notice.notice_id.clone()));
            prop_assert_eq!(page.omitted as usize, all.notices.len() - told.len());
            match page.next {
                Some(next) => after = Some(next.after.parse().unwrap()),
                None => break,
            }
        }
        let expected: Vec<String> =
            all.notices.into_iter().map(|it| it.notice.notice_id).collect();
        prop_assert_eq!(told, expected);
    }

    /// Stores that go on apart and import from each other, in any order and more than once, end up
    /// with the same notices.
    #[test]
    fn imports_come_to_rest_in_any_order(
        deeds in any_deeds(),
        here in any_deeds(),
        there in any_deeds(),
        again in prop::bool::ANY,
    ) {
        let mut left = new_store();
        carry_out(&mut left, &deeds, 0);
        let mut right = new_store();
        import(&mut right, &document(&mut left)).unwrap();
        // Posts of each are its own, and both may clear what they share.
        carry_out(&mut left, &clears(&here), 0);
        carry_out(&mut right, &clears(&there), 0);
        carry_out(&mut left, &here, 100);
        carry_out(&mut right, &there, 200);
        let (of_left, of_right) = (document(&mut left), document(&mut right));
        if again {
            import(&mut right, &of_left).unwrap();
            import(&mut right, &of_left).unwrap();
            import(&mut left, &document(&mut right)).unwrap();
        } else {
            import(&mut left, &of_right).unwrap();
            import(&mut right, &of_left).unwrap();
        }
        prop_assert_eq!(document(&mut left), document(&mut right));
        prop_assert_eq!(import(&mut left, &of_right).unwrap(), 0);
    }

    /// A document is read back as it was written, whatever the message holds.
    #[test]
    fn a_document_holds_any_message(message in "[^\u{0}]{0,40}", at in 0..1_000_000_i64) {
        let message = format!("m{message}");
        let notice = Notice {
            id: NoticeId::drawn([7; 16]).to_string(),
            author: "ann".parse().unwrap(),
            resource: "a:b".to_owned(),
            message,
            created_at: Timestamp::from_micros(beginning().micros() + at),
            expires_at: seconds(9),
            cleared_at: Some(seconds(2)),
            source: None,
        };
        let written = notice::document::write(std::slice::from_ref(&notice)).unwrap();
        prop_assert_eq!(notice::document::read(written.as_bytes()).unwrap(), vec![notice]);
    }
}

fn clears(deeds: &[(i64, Deed)]) -> Vec<(i64, Deed)> {
    deeds.iter().filter(|(_, deed)| matches!(deed, Deed::Clear { .. })).cloned().collect()
}

#[test]
fn a_notice_that_says_something_else_here_is_not_imported_and_nothing_of_its_document() {
    let mut store = new_store();
    carry_out(&mut store, &[(0, Deed::Post { agent: 0, topic: 0, ttl: 9 })], 0);
    let known = document(&mut store);
    let mut other = new_store();
    carry_out(&mut other, &[(1, Deed::Post { agent: 0, topic: 0, ttl: 9 })], 0);
    carry_out(&mut other, &[(0, Deed::Post { agent: 1, topic: 1, ttl: 9 })], 50);
    let refused = import(&mut store, &document(&mut other)).unwrap_err();
    assert!(matches!(refused, NoticeError::Conflict { .. }), "{refused}");
    assert_eq!(document(&mut store), known);
    let all = Notices { resource: None, cleared: true };
    assert_eq!(store.read(|txn| txn.count_notices(all, None)).unwrap(), 1);
}
