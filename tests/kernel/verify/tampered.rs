//! Every column of every table, changed behind the back of the store.

use mk::verify::Kind;

use super::store::{Copy, NEXT, NOTE};
use super::{assert_finds, assert_only};

/// A statement, and the findings it must bring, each with the event it is about.
type Tamper<'a> = (&'a str, &'a [Expected]);

type Expected = (Kind, Option<i64>);

#[track_caller]
fn each_is_found(tampers: &[Tamper<'_>]) {
    for (sql, expected) in tampers {
        let copy = Copy::new();
        copy.run(sql);
        let report = copy.verify();
        for (kind, event) in *expected {
            assert_finds(&report, *kind, *event, sql);
        }
    }
}

#[test]
fn a_changed_column_of_an_event_is_found() {
    let at = Some(NOTE);
    let set = |column: &str, value: &str| {
        format!("UPDATE event SET {column} = {value} WHERE id = {NOTE}")
    };
    let turned = |column: &str| {
        set(column, &format!("unhex(hex(substr({column}, 2)) || hex(substr({column}, 1, 1)))"))
    };
    let shape = [(Kind::EventShape, at)];
    let tampers: Vec<(String, Vec<Expected>)> = vec![
        (set("id", "100000"), vec![(Kind::EventMissing, at), (Kind::LinkStray, at)]),
        (set("id", "-3"), vec![(Kind::EventMissing, at), (Kind::EventShape, Some(-3))]),
        (set("lineage", "3"), vec![(Kind::Hash, at), (Kind::Link, at)]),
        (set("lineage", "999"), vec![(Kind::Lineage, at)]),
        (set("lineage", "NULL"), shape.to_vec()),
        (set("lineage", "'x'"), shape.to_vec()),
        (set("sequence", "99999"), vec![(Kind::Sequence, at), (Kind::Hash, at), (Kind::Link, at)]),
        (set("sequence", "-1"), shape.to_vec()),
        (set("sequence", "NULL"), shape.to_vec()),
        (set("timestamp", "timestamp + 1"), vec![(Kind::Hash, at)]),
        (set("timestamp", "0"), vec![(Kind::Hash, at), (Kind::Timestamp, at)]),
        (set("timestamp", "9223372036854775807"), shape.to_vec()),
        (set("timestamp", "x'00'"), shape.to_vec()),
        (set("agent", "'mallory'"), vec![(Kind::Hash, at)]),
        (set("agent", "'two words'"), vec![(Kind::EventShape, at), (Kind::Hash, at)]),
        (set("agent", "cast(x'ff' AS TEXT)"), shape.to_vec()),
        (set("agent", "NULL"), shape.to_vec()),
        (set("parent", "parent - 1"), vec![(Kind::Hash, at), (Kind::Sequence, at)]),
        (set("parent", "id"), vec![(Kind::Parent, at)]),
        (set("parent", "99999"), vec![(Kind::Parent, at)]),
        (set("parent", "NULL"), vec![(Kind::Sequence, at), (Kind::Hash, at)]),
        (set("type", "'AGENT_TASK_INIT'"), vec![(Kind::Hash, at)]),
        (set("type", "'NONSENSE'"), shape.to_vec()),
        (set("type", "x'41'"), shape.to_vec()),
        (turned("hash"), vec![(Kind::Hash, at), (Kind::Log, at), (Kind::Hash, Some(NEXT))]),
        (set("hash", "substr(hash, 2)"), shape.to_vec()),
        (set("hash", "NULL"), shape.to_vec()),
        (turned("body"), vec![(Kind::Body, at), (Kind::Hash, at)]),
        (set("body", "x''"), shape.to_vec()),
        (turned("log"), vec![(Kind::Log, at), (Kind::Log, Some(NEXT))]),
        (set("log", "NULL"), shape.to_vec()),
        (turned("salt"), vec![(Kind::Body, at)]),
        (set("salt", "NULL"), shape.to_vec()),
        (set("salt", "x'00'"), shape.to_vec()),
        (set("payload", "replace(payload, 'note 1', 'note 2')"), vec![(Kind::Body, at)]),
        (set("payload", "payload || ' '"), vec![(Kind::Body, at), (Kind::Content, at)]),
        (set("payload", "'[]'"), vec![(Kind::Body, at), (Kind::Content, at)]),
        (set("payload", "'{'"), vec![(Kind::Body, at), (Kind::Content, at)]),
        (set("payload", "x'7b7d'"), shape.to_vec()),
        (set("payload", "NULL"), shape.to_vec()),
        (set("metadata", "'{\"a\":1}'"), vec![(Kind::Body, at)]),
        (set("metadata", "NULL"), shape.to_vec()),
        (set("(salt, payload, metadata)", "(NULL, NULL, NULL)"), vec![(Kind::Erasure, at)]),
        (set("(salt, metadata)", "(NULL, NULL)"), shape.to_vec()),
    ];
    for (sql, expected) in &tampers {
        each_is_found(&[(sql, expected)]);
    }
}

#[test]
fn every_column_swapped_between_two_events_is_found() {
    for column in ["timestamp", "agent", "type", "body", "log", "salt", "payload", "metadata"] {
        let copy = Copy::new();
        // One that differs from the note in all of them, but for the one that has metadata.
        let other = if column == "metadata" { NEXT } else { NOTE + 12 };
        copy.swap(column, NOTE, other);
        let kind = match column {
            "payload" | "metadata" | "salt" | "body" => Kind::Body,
            "log" => Kind::Log,
            _ => Kind::Hash,
        };
        let report = copy.verify();
        assert_finds(&report, kind, Some(NOTE), column);
        assert_finds(&report, kind, Some(other), column);
    }
}

#[test]
fn swapped_payloads_are_found_at_both_and_nowhere_else() {
    let copy = Copy::new();
    copy.swap("payload", NOTE, NOTE + 10);
    let report = copy.verify();
    assert_finds(&report, Kind::Body, Some(NOTE), "swapped");
    assert_finds(&report, Kind::Body, Some(NOTE + 10), "swapped");
    assert_only(
        &report,
        &[Kind::Body, Kind::Link, Kind::Checkpoint],
        &[NOTE, NOTE + 10, 256],
        "swapped",
    );
}

#[test]
fn a_lost_or_added_event_is_found() {
    let copy = Copy::new();
    let (last, new) = (copy.last() as i64, copy.last() as i64 + 1);
    let copied = "lineage, 9999, timestamp, agent, parent, type, zeroblob(32), body, log, salt, \
                  payload, metadata";
    let parts = [
        (format!("DELETE FROM event WHERE id = {NOTE}"), Kind::EventMissing, NOTE),
        (format!("DELETE FROM event WHERE id = {NOTE}"), Kind::Parent, NEXT),
        (format!("DELETE FROM event WHERE id = {NOTE}"), Kind::LinkStray, NOTE),
        ("DELETE FROM event WHERE id = 1".to_owned(), Kind::EventMissing, 1),
        (format!("DELETE FROM event WHERE id BETWEEN 100 AND {last}"), Kind::LinkStray, 100),
        (
            format!("INSERT INTO event SELECT {new}, {copied} FROM event WHERE id = {NOTE}"),
            Kind::LinkMissing,
            new,
        ),
        (
            format!("INSERT INTO event SELECT {new}, {copied} FROM event WHERE id = {NOTE}"),
            Kind::Hash,
            new,
        ),
        (
            format!("INSERT INTO event SELECT 9223372036854775807, {copied} FROM event LIMIT 1"),
            Kind::EventMissing,
            new,
        ),
    ];
    for (sql, kind, event) in parts {
        each_is_found(&[(&sql, &[(kind, Some(event))])]);
    }
}

#[test]
fn a_forged_column_of_the_lineage_index_is_found_at_its_event_alone() {
    for (column, value) in [
        ("lineage", "3"),
        ("lineage", "NULL"),
        ("live_parent", "live_parent - 1"),
        ("live_parent", "id"),
        ("live_parent", "99999"),
        ("live_parent", "NULL"),
        ("depth", "depth + 1"),
        ("depth", "9223372036854775807"),
        ("depth", "-1"),
        ("depth", "NULL"),
        ("jump", "1"),
        ("jump", "id"),
        ("jump", "99999"),
        ("jump", "NULL"),
        ("jump_depth", "jump_depth + 1"),
        ("jump_depth", "9223372036854775807"),
        ("jump_depth", "NULL"),
        ("snapshot", "5"),
        ("snapshot", "99999"),
        ("tokens", "tokens + 1"),
        ("tokens", "'many'"),
        ("tokens", "9223372036854775807"),
        ("context", "context + 1"),
        ("context", "NULL"),
        ("other", "id - 1"),
        ("other", "99999"),
        ("other", "NULL"),
    ] {
        let sql = format!("UPDATE link SET {column} = {value} WHERE id = {NOTE}");
        let copy = Copy::new();
        copy.run(&sql);
        let report = copy.verify();
        assert_finds(&report, Kind::Link, Some(NOTE), &sql);
        // The engine's own check speaks of the same value.
        if column != "live_parent" {
            assert_only(&report, &[Kind::Link, Kind::Page], &[NOTE], &sql);
        }
    }
    each_is_found(&[
        (&format!("DELETE FROM link WHERE id = {NOTE}"), &[(Kind::LinkMissing, Some(NOTE))]),
        ("DELETE FROM link", &[(Kind::LinkMissing, Some(1)), (Kind::LinkMissing, Some(2))]),
        (
            "INSERT INTO link SELECT 99999, lineage, live_parent, depth, jump, jump_depth, snapshot, \
          tokens, context, other FROM link LIMIT 1",
            &[(Kind::LinkStray, Some(99999))],
        ),
    ]);
}

#[test]
fn a_changed_branch_is_found() {
    let forked = |name: &str| -> i64 {
        let sql = format!(
            "SELECT min(event.id) FROM event JOIN branch ON lineage = branch.id WHERE name = '{name}'"
        );
        Copy::new().query(&sql)
    };
    let (side, deep, other) = (forked("side"), forked("deep"), forked("other"));
    let store = |kind| vec![(kind, None)];
    let at = |kind, event| vec![(kind, Some(event))];
    for (name, change, expected) in [
        ("side", "id = 77", at(Kind::Lineage, side)),
        ("side", "name = '@main'", store(Kind::BranchName)),
        ("side", "name = 'a b'", store(Kind::BranchShape)),
        ("side", "name = x'00'", store(Kind::BranchShape)),
        ("side", "name = NULL", store(Kind::BranchShape)),
        ("side", "born = 'aside'", at(Kind::Hash, side)),
        ("side", "born = 'a b'", store(Kind::BranchShape)),
        ("side", "parent = NULL", at(Kind::Fork, side)),
        ("side", "parent = NULL", store(Kind::BranchFork)),
        ("deep", "parent = 1", at(Kind::Fork, deep)),
        ("side", "parent = 99", store(Kind::BranchFork)),
        ("side", "parent = id", store(Kind::BranchFork)),
        ("side", "fork_event = fork_event + 1", at(Kind::Fork, side)),
        ("other", "fork_event = fork_event + 100", at(Kind::Fork, other)),
        ("side", "fork_event = 99999", at(Kind::Parent, side)),
        ("side", "fork_event = NULL", store(Kind::BranchShape)),
        ("side", "fork_sequence = 99", at(Kind::Fork, side)),
        ("side", "fork_sequence = -1", store(Kind::BranchShape)),
        (
            "side",
            "(fork_event, fork_sequence, fork_lineage) = (NULL, 0, NULL)",
            at(Kind::Parent, side),
        ),
        ("deep", "fork_lineage = 1", at(Kind::Fork, deep)),
        ("deep", "fork_lineage = id", store(Kind::BranchFork)),
        ("side", "head = head - 1", store(Kind::BranchHead)),
        ("side", "head = NULL", store(Kind::BranchHead)),
        ("side", "head = 99999", store(Kind::BranchHead)),
        ("side", "head_sequence = head_sequence + 1", store(Kind::BranchHead)),
        ("side", "head_sequence = NULL", store(Kind::BranchShape)),
        ("bare", "head_sequence = 1", store(Kind::BranchHead)),
        ("bare", "head = 1", store(Kind::BranchHead)),
        ("side", "created_at = created_at - 1", at(Kind::Fork, side)),
        ("side", "created_at = 9223372036854775807", store(Kind::BranchShape)),
        ("side", "created_by = 'mallory'", at(Kind::Fork, side)),
        ("main", "created_by = 'a b'", store(Kind::BranchShape)),
    ] {
        let sql = format!("UPDATE branch SET {change} WHERE name = '{name}'");
        each_is_found(&[(&sql, &expected)]);
    }
    each_is_found(&[
        ("DELETE FROM branch WHERE name = 'deep'", &[(Kind::Lineage, Some(deep))]),
        ("DELETE FROM branch WHERE name = 'main'", &[(Kind::Lineage, Some(1))]),
        (
            "INSERT INTO branch SELECT 50, 'new', 'new', parent, fork_event, fork_sequence, \
             fork_lineage, fork_event, fork_sequence, created_at, created_by FROM branch \
             WHERE name = 'side'",
            &[(Kind::BranchFork, None)],
        ),
    ]);
}

#[test]
fn a_forged_checkpoint_is_found_at_its_event_alone() {
    let ids: Vec<i64> = {
        let copy = Copy::new();
        let connection = copy.connection();
        let mut rows = connection.prepare("SELECT id FROM checkpoint ORDER BY id").unwrap();
        rows.query_map((), |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    for id in ids {
        for value in [
            "(SELECT other.state FROM checkpoint other WHERE other.id <> checkpoint.id LIMIT 1)",
            "substr(state, 1, length(state) - 1)",
            "zeroblob(length(state))",
            "x'010000000000000000'",
            "x''",
        ] {
            let sql = format!("UPDATE checkpoint SET state = {value} WHERE id = {id}");
            let copy = Copy::new();
            copy.run(&sql);
            let report = copy.verify();
            assert_finds(&report, Kind::Checkpoint, Some(id), &sql);
            assert_only(&report, &[Kind::Checkpoint, Kind::Page], &[id], &sql);
        }
        let sql = format!("UPDATE checkpoint SET lineage = lineage + 1 WHERE id = {id}");
        each_is_found(&[(&sql, &[(Kind::CheckpointStray, Some(id))])]);
        let sql = format!("UPDATE checkpoint SET id = 99999 WHERE id = {id}");
        each_is_found(&[(&sql, &[(Kind::CheckpointStray, Some(99999))])]);
        let sql = format!(
            "INSERT INTO checkpoint SELECT id + 1, lineage, state FROM checkpoint WHERE id = {id}"
        );
        each_is_found(&[(&sql, &[])]);
    }
    // A cache may lack anything.
    let copy = Copy::new();
    copy.run("DELETE FROM checkpoint WHERE id = (SELECT min(id) FROM checkpoint)");
    assert_eq!(copy.verify().findings, []);
}

#[test]
fn a_changed_row_of_the_small_tables_is_found() {
    let store = |kind| [(kind, None)];
    for key in ["key", "link_rules", "min_reader", "min_writer", "project_id", "root", "tokenizer"]
    {
        for sql in [
            format!("DELETE FROM store WHERE key = '{key}'"),
            format!("UPDATE store SET key = 'x' WHERE key = '{key}'"),
            format!("UPDATE store SET value = x'00' WHERE key = '{key}'"),
            format!("UPDATE store SET value = NULL WHERE key = '{key}'"),
            format!("UPDATE store SET value = 77 WHERE key = '{key}'"),
        ] {
            each_is_found(&[(&sql, &store(Kind::Store))]);
        }
    }
    for (sql, kind) in [
        ("INSERT INTO store VALUES ('more', 1)", Kind::Store),
        ("UPDATE operation SET id = 'a b'", Kind::Operation),
        ("UPDATE operation SET digest = x'00'", Kind::Operation),
        ("UPDATE operation SET report = '{'", Kind::Operation),
        ("UPDATE operation SET report = NULL", Kind::Unreadable),
        ("INSERT INTO operation VALUES ('b', x'00', '{}')", Kind::Operation),
        ("UPDATE notice SET source = 'peer-b' WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE exchange SET workspace = 'a/b'", Kind::Exchange),
        ("UPDATE exchange SET peer = 'Peer'", Kind::Exchange),
        ("UPDATE exchange SET policy = ''", Kind::Exchange),
        ("UPDATE exchange_peer SET peer = 'con'", Kind::Exchange),
        ("UPDATE exchange_peer SET sequence = 0", Kind::Exchange),
        ("UPDATE exchange_peer SET sequence = -1", Kind::Exchange),
        ("UPDATE exchange_peer SET digest = x'00'", Kind::Exchange),
        ("UPDATE exchange_peer SET sent_at = 1 << 62", Kind::Exchange),
        ("UPDATE exchange_peer SET received_at = 1 << 62", Kind::Exchange),
        ("UPDATE exchange_audit SET id = -1", Kind::Exchange),
        ("UPDATE exchange_audit SET at = 1 << 62", Kind::Exchange),
        ("UPDATE exchange_audit SET peer = ''", Kind::Exchange),
        ("UPDATE exchange_audit SET direction = 'in'", Kind::Exchange),
        ("UPDATE exchange_audit SET outcome = 'lost'", Kind::Exchange),
        ("UPDATE exchange_audit SET reason = 'none'", Kind::Exchange),
        ("UPDATE exchange_audit SET sequence = NULL", Kind::Exchange),
        ("UPDATE exchange_audit SET sequence = -1", Kind::Exchange),
        ("UPDATE exchange_audit SET changed = -1", Kind::Exchange),
        ("UPDATE notice SET id = 'x' WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE notice SET author = 'a b' WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE notice SET resource = 'auth' WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE notice SET message = ' ' WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE notice SET created_at = 1 << 62 WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE notice SET expires_at = created_at WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE notice SET cleared_at = 1 WHERE cleared_at IS NULL", Kind::Notice),
        ("UPDATE lease SET resource = '' WHERE holder IS NULL", Kind::Lease),
        ("UPDATE lease SET token = -1 WHERE holder IS NULL", Kind::Lease),
        ("UPDATE lease SET token = 0 WHERE holder IS NOT NULL", Kind::Lease),
        ("UPDATE lease SET ttl = 86400000001 WHERE holder IS NULL", Kind::Lease),
        ("UPDATE lease SET ttl = 0 WHERE holder IS NOT NULL", Kind::Lease),
        ("UPDATE lease SET expires_at = 1 << 62 WHERE holder IS NULL", Kind::Lease),
        ("UPDATE lease SET holder = 'a b' WHERE holder IS NOT NULL", Kind::Lease),
        ("UPDATE lease SET session = NULL WHERE holder IS NOT NULL", Kind::Lease),
        ("UPDATE lease SET origin = 'x' WHERE holder IS NOT NULL", Kind::Lease),
        ("UPDATE lease SET branch = 77 WHERE holder IS NOT NULL", Kind::Lease),
        ("UPDATE lease SET acquired_at = 1 << 62 WHERE holder IS NOT NULL", Kind::Lease),
        ("UPDATE lease SET holder = 'bob' WHERE holder IS NULL", Kind::Lease),
        ("UPDATE current_branch SET branch = 'none'", Kind::CurrentBranch),
        ("UPDATE current_branch SET agent = 'a b'", Kind::CurrentBranch),
        ("INSERT INTO current_branch VALUES ('x', 'y')", Kind::CurrentBranch),
        ("UPDATE setting SET value = NULL", Kind::Page),
        ("UPDATE setting SET value = x'00'", Kind::Page),
    ] {
        each_is_found(&[(sql, &store(kind))]);
    }
    let copy = Copy::new();
    let id: i64 = copy.query("SELECT report ->> 'event_id' FROM operation");
    copy.run("UPDATE operation SET report = replace(report, '\"event_id\":', '\"event_id\":1')");
    assert_finds(
        &copy.verify(),
        Kind::Operation,
        Some(format!("1{id}").parse().unwrap()),
        "report",
    );
}

#[test]
fn a_changed_schema_is_found() {
    let names: Vec<(String, String)> = {
        let copy = Copy::new();
        let connection = copy.connection();
        let sql = "SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL";
        let mut rows = connection.prepare(sql).unwrap();
        rows.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    };
    assert_eq!(names.len(), 36);
    for (kind, name) in names {
        let copy = Copy::new();
        copy.connection().execute_batch(&format!("DROP {kind} {name}")).unwrap();
        assert_finds(&copy.verify(), Kind::Schema, None, &format!("no {name}"));
        let copy = Copy::new();
        copy.schema(&format!("name = '{name}'"), |text| format!("{text} "));
        assert_finds(&copy.verify(), Kind::Schema, None, &format!("changed {name}"));
    }
    for sql in [
        "CREATE TABLE more(x)",
        "CREATE INDEX more ON event(agent)",
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more BEFORE INSERT ON event BEGIN SELECT 1; END",
        "ANALYZE",
    ] {
        let copy = Copy::new();
        copy.connection().execute_batch(sql).unwrap();
        assert_finds(&copy.verify(), Kind::Schema, None, sql);
    }
}
