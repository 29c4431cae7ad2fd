//! docs/format.md says what the code does: its vectors are recomputed, its tables compared.

use std::collections::BTreeMap;
use std::time::Duration;

use mk::branch::{self, Act};
use mk::canon::{Object, Value};
use mk::event::{Event, EventType, Retractable};
use mk::id::{AgentId, BranchName, EventId, Hash, hex};
use mk::log::{Draft, Log, Outside};
use mk::store::memory::Memory;
use mk::store::{Engine, Identity, ReadTxn, Sqlite, StoreError};
use mk::time::Timestamp;
use mk::tokens::Tokenizer;
use mk::workspace;

const PAGE: &str = include_str!("../../docs/format.md");

/// The fenced block after `<!-- vectors: NAME -->`.
fn block(name: &str) -> &'static str {
    let mark = format!("<!-- vectors: {name} -->\n```");
    let after = PAGE.split_once(&mark).unwrap().1;
    after.split_once('\n').unwrap().1.split_once("```").unwrap().0
}

#[test]
fn canonical_json_is_as_the_page_says() {
    for sample in block("canonical").split("\n\n") {
        let lines: BTreeMap<&str, &str> =
            sample.lines().map(|line| (line[..5].trim(), &line[5..])).collect();
        let value = Value::parse(lines["in"].as_bytes()).unwrap();
        let canonical = value.canonical();
        if let Some(out) = lines.get("out") {
            assert_eq!(canonical, *out);
        } else {
            assert_eq!(hex(canonical.as_bytes()), lines["hex"].replace(' ', ""));
        }
        assert_eq!(value.text(), lines["T"]);
    }
}

fn identity() -> Identity {
    Identity {
        project_id: "0".repeat(32),
        root: "/".to_owned(),
        tokenizer: Tokenizer::Heuristic,
        key: [0; 32],
    }
}

fn minute(number: u8) -> Timestamp {
    format!("2026-11-30T11:{number:02}:00.123456Z").parse().unwrap()
}

/// Runs `act` on the log as the writer of event `number`, whose salt is that number 16 times.
fn at<T>(
    store: &mut Memory,
    number: u8,
    act: impl FnOnce(&mut Log<'_>, &mut Outside<'_>) -> T,
) -> T {
    let mut outside = Outside { now: &mut || minute(number), salt: &mut || [number; 16] };
    let done = store.write(|txn| Ok::<_, StoreError>(act(&mut Log::open(txn)?, &mut outside)));
    done.unwrap()
}

fn members(json: &str) -> Object {
    Value::parse(json.as_bytes()).unwrap().as_object().unwrap().clone()
}

/// The log of the page.
fn example() -> Memory {
    let (main, fork) = (BranchName::main(), "try/utc".parse::<BranchName>().unwrap());
    let (ann, bob) = ("ann".parse::<AgentId>().unwrap(), "bob".parse::<AgentId>().unwrap());
    let act = |agent, reason| Act { agent, reason, metadata: Object::new() };
    let draft = |agent: &AgentId, kind, payload, metadata| Draft {
        kind,
        agent: agent.clone(),
        payload: members(payload),
        metadata: members(metadata),
    };
    let second = "2".parse().unwrap();
    let mut store = Memory::new(identity(), minute(0), &ann);
    at(&mut store, 1, |log, outside| {
        let payload =
            r#"{"directive":"Make the tests pass","constraints":["no new dependencies"]}"#;
        log.append(&main, draft(&ann, EventType::Task, payload, "{}"), None, outside).unwrap();
    });
    at(&mut store, 2, |log, outside| {
        let payload = r#"{"decision_key":"rounding","decision_value":"half-even",
                          "rationale":"Beträge in €"}"#;
        let git = r#"{"git":{"commit":"0123456789abcdef0123456789abcdef01234567"}}"#;
        log.append(&main, draft(&ann, EventType::Decision, payload, git), None, outside).unwrap();
    });
    at(&mut store, 3, |log, outside| {
        let payload = r#"{"command":"pytest","exit_code":1,"facts":{"seconds":0.1,"tests":1},
                          "output":"FAILED test_due\n1 failed in 0.1s"}"#;
        log.append(&main, draft(&bob, EventType::ToolLog, payload, "{}"), None, outside).unwrap();
    });
    at(&mut store, 4, |log, outside| {
        let why = act(&bob, "is it the time zone?");
        branch::fork(log, &fork, &main, Some(&second), why, outside).unwrap();
    });
    at(&mut store, 5, |log, outside| {
        let payload = r#"{"note":"It is."}"#;
        log.append(&fork, draft(&bob, EventType::Note, payload, "{}"), None, outside).unwrap();
    });
    at(&mut store, 6, |log, outside| {
        branch::rollback(log, &main, &second, true, act(&ann, "wrong checkout"), outside).unwrap();
    });
    at(&mut store, 7, |log, outside| {
        let why = act(&ann, "the shop rounds");
        branch::retract(log, &main, Retractable::Decision, "rounding", why, outside).unwrap();
    });
    store
}

fn events(txn: &dyn ReadTxn) -> Vec<(Event, Hash)> {
    let with_prev = |id| {
        let event = txn.known_event(EventId(id)).unwrap();
        let prev = event.parent.map_or(Hash::ZERO, |id| txn.known_event(id).unwrap().hash);
        (event, prev)
    };
    (1..=7).map(with_prev).collect()
}

#[test]
fn the_log_of_the_page_comes_out_byte_for_byte() {
    let store = example();
    let events = events(&store);
    let lines: String = events.iter().map(|(event, prev)| event.line(prev) + "\n").collect();
    assert_eq!(lines, block("log"));
    let digests: String = events
        .iter()
        .map(|(event, _)| {
            let Event { id, body, hash, log, .. } = event;
            format!("{id} body {body}\n{id} hash {hash}\n{id} log  {log}\n")
        })
        .collect();
    assert_eq!(digests, block("digests"));
    let (third, prev) = &events[2];
    let erased = Event { content: None, ..third.clone() };
    assert_eq!(erased.line(prev) + "\n", block("erased"));
    assert_eq!(erased.expected_hash(prev), third.hash);
}

#[test]
fn the_state_of_the_page_comes_out() {
    let store = example();
    let head = store.branch("main").unwrap().unwrap().head;
    let state = workspace::state(&store, head).unwrap();
    let shown = format!("{}\n{}\n", state.canonical().canonical(), state.digest());
    assert_eq!(shown, block("state"));
}

#[test]
fn the_tables_of_the_page_are_those_of_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mk.db");
    let agent = "ann".parse().unwrap();
    Sqlite::create(&path, &identity(), minute(0), &agent, Duration::ZERO).unwrap();
    let store = rusqlite::Connection::open(&path).unwrap();
    let sql = "SELECT t.name, group_concat(c.name, ', ' ORDER BY c.cid) \
               FROM pragma_table_list t, pragma_table_info(t.name) c \
               WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%' \
               GROUP BY t.name";
    let mut statement = store.prepare(sql).unwrap();
    let tables: BTreeMap<String, String> = statement
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let section = PAGE.split_once("\n## The database\n").unwrap().1;
    let rows = section.lines().filter(|line| line.starts_with("| `")).map(|line| {
        let cells: Vec<String> = line.split(" | ").map(|cell| cell.replace('`', "")).collect();
        (cells[0].trim_start_matches("| ").to_owned(), cells[1].clone())
    });
    assert_eq!(tables, rows.collect());
}
