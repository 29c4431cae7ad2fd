//! A search finds what looking at every event finds, whatever the index is.

use mk::branch::{self, Act};
use mk::canon::Object;
use mk::event::EventType;
use mk::id::{AgentId, BranchName, EventId};
use mk::log::{Draft, Log, Outside};
use mk::revision::Revision;
use mk::search::{self, Among, Found, Query, Scope};
use mk::store::search::SearchIndex;
use mk::store::{Engine, ReadTxn, StoreError};
use mk::time::Timestamp;
use mk::workspace::event;
use proptest::prelude::*;
use proptest::sample::select;

use crate::engines::{File, Salts};

/// What texts and queries are put together from: what breaks other searches, and what does not.
const PIECES: [&str; 16] = [
    "C++",
    "a.py",
    "POL-358",
    "don't",
    "\"",
    "*",
    "NEAR",
    "設定",
    "語",
    " ",
    "\n",
    "é",
    "E\u{301}",
    "AND",
    "(x)",
    "timestamp",
];

fn any_text(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(select(&PIECES[..]), 0..most).prop_map(|pieces| pieces.concat())
}

/// The notes, live and reverted ones, on two branches.
fn store(notes: &[String]) -> (File, Vec<(EventId, String, bool)>) {
    let ann: AgentId = "ann".parse().unwrap();
    let now = Timestamp::from_micros(0);
    let mut store = File::new(now, &ann);
    let mut salts = Salts::default();
    let mut all = Vec::new();
    let (main, fork): (BranchName, BranchName) = ("main".parse().unwrap(), "try".parse().unwrap());
    let written = store.write(|txn| {
        let mut outside = Outside { now: &mut || now, salt: &mut || salts.next() };
        let mut log = Log::open(txn)?;
        let act = || Act { agent: &ann, reason: "", metadata: Object::new() };
        let mut append = |log: &mut Log<'_>, on: &BranchName, note: &String, live| {
            let (kind, payload) = (EventType::Note, event::note(note));
            let draft = Draft { kind, agent: ann.clone(), payload, metadata: Object::new() };
            let event = log.append(on, draft, None, &mut outside).unwrap().event_id;
            all.push((event, note.clone(), live));
            event
        };
        // A third of them is inherited, a third reverted, a third on the fork.
        let third = notes.len() / 3;
        let mut last = EventId(0);
        for note in &notes[..third] {
            last = append(&mut log, &main, note, true);
        }
        for note in &notes[third..2 * third] {
            append(&mut log, &main, note, false);
        }
        let mut salts = Salts(1 << 64);
        let mut outside = Outside { now: &mut || now, salt: &mut || salts.next() };
        let target: Revision = last.to_string().parse().unwrap();
        branch::rollback(&mut log, &main, &target, false, act(), &mut outside).unwrap();
        branch::fork(&mut log, &fork, &main, None, act(), &mut outside).unwrap();
        for note in &notes[2 * third..] {
            append(&mut log, &fork, note, true);
        }
        Ok::<_, StoreError>(())
    });
    written.unwrap();
    (store, all)
}

fn among(
    scope: impl FnOnce(&dyn ReadTxn) -> Scope,
) -> impl FnOnce(&dyn ReadTxn) -> Result<Among, StoreError> {
    |txn| {
        let kind = Some(EventType::Note);
        Ok(Among { scope: scope(txn), by: None, kind })
    }
}

fn ids(found: &Found) -> Vec<EventId> {
    found.hits.iter().map(|hit| hit.event_id).collect()
}

/// Letter case and composition aside, each word of `query` is somewhere in `note`.
fn has(note: &str, query: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace("e\u{301}", "é");
    let note = plain(note);
    plain(query).split_whitespace().all(|word| note.contains(word))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_look_at_every_event_finds(
        notes in prop::collection::vec(any_text(6), 600..700),
        queries in prop::collection::vec(any_text(4), 30),
    ) {
        let (mut store, all) = store(&notes);
        let path = store.path().to_owned();
        for query in &queries {
            for lineage in [false, true] {
                let scope = |txn: &dyn ReadTxn| {
                    let branch = txn.branch("try").unwrap().unwrap();
                    match lineage {
                        true => Scope::Lineage(branch.name, branch.head),
                        false => Scope::Live(branch.name, branch.head),
                    }
                };
                let expected: Vec<EventId> = all
                    .iter()
                    .rev()
                    .filter(|(_, note, live)| (lineage || *live) && has(note, query))
                    .map(|(id, ..)| *id)
                    .collect();
                let parsed = Query::new(query);
                let found = search::search(&mut store, &parsed, among(scope), 1_000).unwrap();
                prop_assert_eq!(ids(&found), expected.clone(), "{:?}", query);
                let slow = store.read(|txn| {
                    search::scan(txn, &parsed, &among(scope)(txn)?, 1_000)
                });
                let slow = slow.map_err(|error: StoreError| error).unwrap();
                prop_assert_eq!(slow.hits, found.hits);
                let few = search::search(&mut store, &parsed, among(scope), 3).unwrap();
                prop_assert_eq!(ids(&few), &expected[..expected.len().min(3)]);
                prop_assert_eq!(few.more, expected.len() > 3);
            }
        }
        prop_assert!(SearchIndex::is_there(&path));
        let index = SearchIndex::open(&path, std::time::Duration::ZERO).unwrap();
        prop_assert!(index.check().is_ok());
    }
}
