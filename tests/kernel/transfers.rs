//! Law 2: an export holds everything, and an import takes in nothing else.
//!
//! Rule: docs/design.md, section 9.

use std::collections::BTreeMap;

use mk::branch::{self, Act};
use mk::canon::Object;
use mk::code::{Code, Coded};
use mk::erase::{self, EraseError};
use mk::id::{AgentId, BranchName, Hash};
use mk::log::Outside;
use mk::revision::Revision;
use mk::store::{Engine, ReadTxn, Sqlite, StoreError};
use mk::transfer::{self, ImportError, Imported, Selection, TOKENS_APART};
use mk::workspace;
use proptest::prelude::*;

use crate::engines::{self, File, Salts};
use crate::history::{History, any_history, any_long_history, beginning, play, take_notes};

/// What must be the same wherever the same events are: of each branch its name of birth, head and state.
type Lasting = BTreeMap<String, (Vec<Hash>, Hash)>;

fn exported<E: Engine>(store: &mut E) -> String {
    let mut out = Vec::new();
    store.read(|txn| transfer::export(txn, &Selection::default(), &mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

fn imported<E: Engine>(store: &mut E, lines: &str) -> Result<Imported, ImportError> {
    let (agent, mut salts) = ("ann".parse().unwrap(), Salts::default());
    let act = Act { agent: &agent, reason: "", metadata: Object::new() };
    let mut outside = Outside { now: &mut beginning, salt: &mut || salts.next() };
    store.write(|txn| transfer::import(txn, lines.as_bytes(), "", &act, &mut outside))
}

fn lasting<E: Engine>(store: &mut E) -> Lasting {
    let read = |txn: &dyn ReadTxn| {
        let of_branch = |branch: mk::store::Branch| {
            let lineage = branch::lineage(txn, branch.head, 0)?;
            let hashes = lineage.into_iter().map(|id| Ok(txn.known_event(id)?.hash));
            let hashes = hashes.collect::<Result<Vec<_>, StoreError>>()?;
            let state = workspace::state(txn, branch.head)?;
            assert_eq!(state, workspace::state_from_events(txn, branch.head)?, "{}", branch.name);
            Ok((branch.name.to_string(), (hashes, state.digest())))
        };
        // An empty root leaves no trace outside its store.
        let branches = txn.branches()?.into_iter().filter(|branch| branch.head.is_some());
        branches.map(of_branch).collect::<Result<Lasting, StoreError>>()
    };
    store.read(read).unwrap()
}

/// All lineages, whatever they are called.
fn lineages<E: Engine>(store: &mut E) -> Vec<(Vec<Hash>, Hash)> {
    let mut found: Vec<_> = lasting(store).into_values().collect();
    found.sort();
    found
}

fn agent() -> AgentId {
    "mk".parse().unwrap()
}

fn assert_verified(store: &mut Sqlite) {
    let report = mk::verify::verify(store, &[], &|_, _| {}).unwrap();
    assert!(report.ok, "{report:#?}");
}

fn an_export_replays(
    history: &History,
    order: &[prop::sample::Index],
) -> Result<(), TestCaseError> {
    let mut from = engines::memory(beginning(), &agent());
    play(&mut from, history);
    let text = exported(&mut from);
    let mut memory = engines::memory(beginning(), &agent());
    let mut file = File::new(beginning(), &agent());
    imported(&mut memory, &text).unwrap();
    let report = imported(&mut *file, &text).unwrap();
    prop_assert_eq!(lasting(&mut memory), lasting(&mut from));
    prop_assert_eq!(lasting(&mut *file), lasting(&mut from));
    prop_assert_eq!(exported(&mut *file), text.clone());
    assert_verified(&mut file);
    // Once more changes nothing, in whatever order.
    let mut lines: Vec<&str> = text.lines().collect();
    for (at, index) in order.iter().enumerate() {
        if at < lines.len() {
            let other = index.index(lines.len());
            lines.swap(at, other);
        }
    }
    let shuffled = lines.join("\n");
    let again = imported(&mut *file, &shuffled).unwrap();
    prop_assert_eq!((again.events, again.known), (0, report.events));
    prop_assert_eq!(exported(&mut *file), text.clone());
    let mut shuffled_file = File::new(beginning(), &agent());
    imported(&mut *shuffled_file, &shuffled).unwrap();
    prop_assert_eq!(lasting(&mut *shuffled_file), lasting(&mut from));
    assert_verified(&mut shuffled_file);
    Ok(())
}

/// Two stores that went on from a common beginning, and what each exports.
fn diverged(common: &History, a: &History, b: &History) -> [File; 2] {
    let mut first = engines::memory(beginning(), &agent());
    play(&mut first, common);
    let text = exported(&mut first);
    [a, b].map(|history| {
        let mut store = File::new(beginning(), &agent());
        imported(&mut *store, &text).unwrap();
        play(&mut *store, history);
        store
    })
}

fn exchanges_converge(common: &History, a: &History, b: &History) -> Result<(), TestCaseError> {
    let [mut left, mut right] = diverged(common, a, b);
    let (of_left, of_right) = (exported(&mut *left), exported(&mut *right));
    imported(&mut *left, &of_right).unwrap();
    imported(&mut *right, &of_left).unwrap();
    prop_assert_eq!(lineages(&mut *left), lineages(&mut *right));
    assert_verified(&mut left);
    assert_verified(&mut right);
    // A third that hears of both at once, in either order.
    let mut heard = Vec::new();
    for text in [format!("{of_left}{of_right}"), format!("{of_right}{of_left}")] {
        let mut third = File::new(beginning(), &agent());
        imported(&mut *third, &text).unwrap();
        prop_assert_eq!(lineages(&mut *third), lineages(&mut *left));
        assert_verified(&mut third);
        heard.push(lasting(&mut *third));
    }
    prop_assert_eq!(&heard[0], &heard[1]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_export_into_an_empty_store_gives_the_same_hashes_states_and_heads(
        history in any_history(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
    ) {
        an_export_replays(&history, &order)?;
    }

    #[test]
    fn stores_that_exchange_exports_come_to_hold_the_same(
        common in any_history(),
        a in any_history(),
        b in any_history(),
    ) {
        exchanges_converge(&common, &a, &b)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn a_long_export_gives_the_same_too(history in any_long_history()) {
        an_export_replays(&history, &[])?;
    }
}

/// Erases some events; answers with the hashes of all that went.
fn erased<E: Engine>(store: &mut E, which: &[prop::sample::Index]) -> Vec<Hash> {
    let (agent, mut salts) = ("ann".parse().unwrap(), Salts::default());
    let mut gone = Vec::new();
    for index in which {
        let act = Act { agent: &agent, reason: "a secret", metadata: Object::new() };
        let mut outside = Outside { now: &mut beginning, salt: &mut || salts.next() };
        let done = store.write(|txn| {
            let last = txn.log_head()?.map_or(0, |(id, _)| id.0.unsigned_abs() as usize);
            let id = if last == 0 { 0 } else { index.index(last) + 1 };
            let event: Revision = id.to_string().parse().unwrap();
            erase::erase(txn, &[event], &BranchName::main(), false, &act, &mut outside)
        });
        match done {
            Ok(report) => gone.extend(report.erased.into_iter().map(|erased| erased.hash)),
            Err(EraseError::NotErasable { .. } | EraseError::Revision(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    gone
}

fn has_content<E: Engine>(store: &mut E, hash: &Hash) -> bool {
    store
        .read(|txn| {
            let id = txn.by_hash(hash)?.expect("it is there");
            Ok::<_, StoreError>(txn.known_event(id)?.content.is_some())
        })
        .unwrap()
}

fn erasures_travel(history: &History, which: &[prop::sample::Index]) -> Result<(), TestCaseError> {
    let mut memory = engines::memory(beginning(), &agent());
    play(&mut memory, history);
    let before = exported(&mut memory);
    let [mut file, mut behind] = [(); 2].map(|()| File::new(beginning(), &agent()));
    play(&mut *file, history);
    imported(&mut *behind, &before).unwrap();
    let gone = erased(&mut *file, which);
    prop_assert_eq!(&gone, &erased(&mut memory, which));
    prop_assert_eq!(lasting(&mut *file), lasting(&mut memory));
    assert_verified(&mut file);
    let after = exported(&mut *file);
    for hash in &gone {
        prop_assert!(!has_content(&mut *file, hash));
    }
    // To a store that has none of it, in one or the other form, or in both, in either order.
    for text in [after.clone(), format!("{before}{after}"), format!("{after}{before}")] {
        let mut other = File::new(beginning(), &agent());
        imported(&mut *other, &text).unwrap();
        prop_assert_eq!(lasting(&mut *other), lasting(&mut *file));
        prop_assert_eq!(exported(&mut *other), after.clone());
        assert_verified(&mut other);
    }
    // To one that has the content; and back from there.
    let report = imported(&mut *behind, &after).unwrap();
    prop_assert_eq!(report.erased, gone.len() as u64);
    prop_assert_eq!(lasting(&mut *behind), lasting(&mut *file));
    assert_verified(&mut behind);
    prop_assert_eq!(imported(&mut *file, &before).unwrap().events, 0);
    prop_assert_eq!(exported(&mut *file), after);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_was_erased_stays_erased_wherever_it_goes(
        history in any_history(),
        which in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
    ) {
        erasures_travel(&history, &which)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn what_was_erased_of_a_long_history_is_in_no_checkpoint(
        history in any_long_history(),
        which in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
    ) {
        erasures_travel(&history, &which)?;
    }
}

/// A line written by hand, as docs/format.md has it.
fn line(branch: &str, prev: Hash, sequence: u64, note: &str) -> (String, Hash) {
    event_line(branch, "AGENT_SCRATCHPAD", prev, sequence, &format!("{{\"note\":\"{note}\"}}"))
}

/// The line of an event of type `kind` with `payload`, which is canonical, and its hash.
fn event_line(
    branch: &str,
    kind: &str,
    prev: Hash,
    sequence: u64,
    payload: &str,
) -> (String, Hash) {
    use sha2::{Digest, Sha256};
    let salt = [sequence as u8; 16];
    let content = format!("{{\"metadata\":{{}},\"payload\":{payload}}}");
    let body = Hash(Sha256::new().chain_update(salt).chain_update(content).finalize().into());
    let stamp = "2026-03-02T09:00:00.000000Z";
    let chained = format!(
        "{{\"agent_id\":\"ann\",\"body\":\"{body}\",\"branch_id\":\"{branch}\",\
         \"event_type\":\"{kind}\",\"sequence\":{sequence},\"timestamp\":\"{stamp}\",\"v\":1}}"
    );
    let hash = Hash(Sha256::new().chain_update(prev.0).chain_update(chained).finalize().into());
    let text = format!(
        "{{\"agent_id\":\"ann\",\"branch_id\":\"{branch}\",\"event_type\":\"{kind}\",\
         \"hash\":\"{hash}\",\"metadata\":{{}},\"payload\":{payload},\"prev\":\"{prev}\",\
         \"salt\":\"{}\",\"sequence\":{sequence},\"timestamp\":\"{stamp}\",\"v\":1}}\n",
        mk::id::hex(&salt)
    );
    (text, hash)
}

#[test]
fn a_branch_of_mk_moves_forward_and_is_never_joined() {
    let mut file = File::new(beginning(), &agent());
    let row = |prev, sequence, text: &str| {
        let payload = format!("{{\"row\":{{\"text\":\"{text}\"}},\"store\":\"notices\"}}");
        event_line("@import", "IMPORTED", prev, sequence, &payload)
    };
    let (first, hash) = row(Hash::ZERO, 1, "a");
    let (second, _) = row(hash, 2, "b");
    let (other, _) = row(hash, 2, "c");
    let (root, _) = row(Hash::ZERO, 1, "d");
    assert_eq!(imported(&mut *file, &first).unwrap().events, 1);
    assert_eq!(imported(&mut *file, &second).unwrap().events, 1);
    for diverged in [&other, &root] {
        let error = imported(&mut *file, diverged).unwrap_err();
        assert_eq!(error.code(), Code::RESERVED_BRANCH, "{error}");
    }
    assert_eq!(lasting(&mut *file).keys().collect::<Vec<_>>(), ["@import"]);
    assert_verified(&mut file);
}

#[test]
fn events_stand_on_the_branches_that_mk_writes_them_to() {
    let mut file = File::new(beginning(), &agent());
    for (branch, kind) in [
        ("@else", "AGENT_SCRATCHPAD"),
        ("@else", "IMPORTED"),
        ("@exec", "AGENT_SCRATCHPAD"),
        ("@exec", "IMPORTED"),
        ("main", "EXEC_RECORD"),
        ("main", "PAYLOAD_ERASED"),
        ("main", "IMPORT_FINISHED"),
    ] {
        let (text, _) = event_line(branch, kind, Hash::ZERO, 1, "{}");
        let error = imported(&mut *file, &text).unwrap_err();
        let expected = format!("line 1: an event of type {kind} does not stand on '{branch}'");
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(lasting(&mut *file).len(), 0);
}

#[test]
fn an_event_that_is_erased_without_a_record_is_refused() {
    let mut file = File::new(beginning(), &agent());
    let mut from = engines::memory(beginning(), &agent());
    take_notes(&mut from, "apart", 2).unwrap();
    let first: Revision = "1".parse().unwrap();
    let (ann, mut salts) = ("ann".parse().unwrap(), Salts::default());
    let act = Act { agent: &ann, reason: "", metadata: Object::new() };
    let mut outside = Outside { now: &mut beginning, salt: &mut || salts.next() };
    let main = BranchName::main();
    from.write(|txn| erase::erase(txn, &[first], &main, false, &act, &mut outside)).unwrap();
    let text = exported(&mut from);
    let without: String = text
        .lines()
        .filter(|line| !line.contains("@erase"))
        .map(|line| format!("{line}\n"))
        .collect();
    let error = imported(&mut *file, &without).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: its content is gone, and no event says that it was erased"
    );
    assert_eq!(imported(&mut *file, &text).unwrap().events, 3);
}

/// Records that erase nothing: of another record, and of a fork with something else left of it, or with
/// nothing. Whichever comes first, the log stays sound and travels.
#[test]
fn a_record_that_does_not_fit_its_target_erases_nothing() {
    let (note, root) = line("main", Hash::ZERO, 1, "a");
    let point = format!("\"fork_point_hash\":\"{root}\",\"fork_point_sequence\":1");
    let fork = format!("{{{point},\"reason\":\"why\",\"source_branch\":\"main\"}}");
    let (fork, forked) = event_line("try", "BRANCH_FORKED", root, 2, &fork);
    let record = |prev, sequence, structure: &str, target: Hash| {
        let payload = format!("{{{structure}\"target_hash\":\"{target}\"}}");
        event_line("@erase", "PAYLOAD_ERASED", prev, sequence, &payload)
    };
    let other = format!("\"structure\":{{{point},\"source_branch\":\"try\"}},");
    let (first, one) = record(Hash::ZERO, 1, &other, forked);
    let (second, two) = record(one, 2, "", forked);
    let (third, three) = record(two, 3, "", one);
    let lines = [note, fork, first, second, third];
    let backwards: String = lines.iter().rev().cloned().collect();
    for text in [lines.concat(), backwards] {
        let (mut file, mut copy) =
            (File::new(beginning(), &agent()), File::new(beginning(), &agent()));
        assert_eq!(imported(&mut *file, &text).unwrap().erased, 0);
        assert_verified(&mut file);
        let text = exported(&mut *file);
        assert!(!text.contains("\"body\""));
        imported(&mut *copy, &text).unwrap();
        assert_eq!(exported(&mut *copy), text);
        // One that fits counts, whatever others say.
        let fits = format!("\"structure\":{{{point},\"source_branch\":\"main\"}},");
        let (fourth, _) = record(three, 4, &fits, forked);
        assert_eq!(imported(&mut *file, &fourth).unwrap().erased, 1);
        assert_verified(&mut file);
        assert_eq!(imported(&mut *copy, &exported(&mut *file)).unwrap().erased, 1);
        assert_eq!(exported(&mut *copy), exported(&mut *file));
    }
}

#[test]
fn a_token_that_cannot_be_is_refused() {
    let mut file = File::new(beginning(), &agent());
    let advice = |resource: &str, token: u64| {
        format!(
            "{{\"advisory\":\"lease\",\"resource\":\"{resource}\",\"token\":{token},\"v\":1}}\n"
        )
    };
    let why = "line 1: 'token' is no number from 1 to 4611686018427387904";
    for token in [0, (1 << 62) + 1, u64::MAX] {
        let error = imported(&mut *file, &advice("a", token)).unwrap_err();
        assert_eq!(error.to_string(), why);
    }
    let error = imported(&mut *file, &advice("", 1)).unwrap_err();
    assert_eq!(error.to_string(), "line 1: 'resource' is empty");
    imported(&mut *file, &advice("a", 1 << 62)).unwrap();
}

#[test]
fn the_tokens_of_leases_go_up_over_those_of_both_sides() {
    let mut file = File::new(beginning(), &agent());
    let advice = |token| {
        format!("{{\"advisory\":\"lease\",\"resource\":\"src/a\",\"token\":{token},\"v\":1}}\n")
    };
    let token = |file: &mut File| {
        file.read(|txn| Ok::<_, StoreError>(txn.lease("src/a")?.map(|lease| lease.token))).unwrap()
    };
    let event = line("main", Hash::ZERO, 1, "a").0;
    imported(&mut *file, &format!("{event}{}", advice(7))).unwrap();
    assert_eq!(token(&mut file), Some(7 + TOKENS_APART));
    // Nothing is new, so nobody loses a lease.
    imported(&mut *file, &format!("{event}{}", advice(7))).unwrap();
    assert_eq!(token(&mut file), Some(7 + TOKENS_APART));
    // Without a new event nothing was granted: the higher one is enough.
    imported(&mut *file, &advice(3_000_000)).unwrap();
    assert_eq!(token(&mut file), Some(3_000_000));
    imported(&mut *file, &line("try", Hash::ZERO, 1, "b").0).unwrap();
    assert_eq!(token(&mut file), Some(4_000_000));
    assert!(exported(&mut *file).contains("\"resource\":\"src/a\",\"token\":4000000"));
}
