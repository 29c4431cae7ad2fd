//! Every column of every table and every row of a store in which everything happened, tampered with one
//! at a time. The schema says what there is, and `expected.txt` what `verify` answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use mk::event::EventType;
use mk::id::EventId;
use mk::verify::{Kind, Report};
use rusqlite::Connection;

use super::expected::{Column, Rows, Said, expected};
use super::store::{Copy, settle};

/// The file of the store that `lived.sh` makes, made once.
fn lived() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let [home, shared] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let bin = Path::new(env!("CARGO_BIN_EXE_mk")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .arg(root.join("tests/kernel/verify/lived.sh"))
            .arg(root.join("tests/cases/kernel/db/small.db"))
            .arg(shared.path())
            .current_dir(home.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .envs([("USER", "me"), ("LC_ALL", "C"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .env("HOME", home.path())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        assert!(output.status.success(), "{}\n{}", said[0], said[1]);
        let file = home.path().join("here/.mk/mk.db");
        settle(&file);
        std::fs::read(file).unwrap()
    })
}

/// Rows with which a row is tried to be swapped.
const TRIED: usize = 20;

/// Tables whose rows are of events, by the key.
const OF_EVENTS: [&str; 4] = ["event", "link", "checkpoint", "exec_record"];

/// A column, as the schema has it.
struct Known {
    name: String,
    kind: String,
    may_be_null: bool,
    is_key: bool,
    /// The number of the row itself, which the engine has be an integer.
    is_row_number: bool,
}

fn known(copy: &Copy, table: &str) -> Vec<Known> {
    let text: String = copy.query(&format!("SELECT sql FROM sqlite_schema WHERE name = '{table}'"));
    let has_numbers = !text.contains("WITHOUT ROWID");
    let connection = copy.connection();
    let mut rows = connection.prepare(&format!("PRAGMA table_info({table})")).unwrap();
    let rows = rows.query_map((), |row| {
        let (kind, is_key) = (row.get::<_, String>(2)?, row.get::<_, i64>(5)? > 0);
        let is_row_number = is_key && has_numbers && kind == "INTEGER";
        let may_be_null = !row.get::<_, bool>(3)? && !is_key;
        Ok(Known { name: row.get(1)?, kind, may_be_null, is_key, is_row_number })
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn texts(copy: &Copy, sql: &str) -> Vec<String> {
    let connection = copy.connection();
    let mut rows = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.query_map((), |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Something that is done to a store.
struct Tamper {
    what: String,
    sql: String,
    /// The events that a finding may be about.
    events: Vec<EventId>,
    said: Said,
}

/// A group of rows, and what is done to them.
struct Group<'a> {
    copy: &'a Copy,
    rows: &'a Rows,
    schema: Vec<Known>,
    /// An expression of a condition that a row alone fulfils.
    is_row: String,
    /// A store in which everything can be tried.
    scratch: Connection,
    tampers: Vec<Tamper>,
}

impl<'a> Group<'a> {
    /// Everything that is done to `rows`.
    fn tampers(copy: &'a Copy, rows: &'a Rows) -> Vec<Tamper> {
        let schema = known(copy, &rows.table);
        let names: Vec<&str> = schema.iter().map(|known| known.name.as_str()).collect();
        let told: Vec<&str> = rows.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, told, "the columns of {}, and those in expected.txt", rows.table);
        let keys = schema.iter().filter(|known| known.is_key);
        let is_row = keys.map(|Known { name, .. }| format!("'{name} IS ' || quote({name})"));
        let is_row = is_row.collect::<Vec<_>>().join(" || ' AND ' || ");
        let relaxed = Copy::of(lived());
        relaxed.relax();
        let scratch = relaxed.connection();
        let mut group = Self { copy, rows, schema, is_row, scratch, tampers: Vec::new() };
        let found = group.rows_where(&rows.which);
        assert!(!found.is_empty(), "no row of {} is {}", rows.table, rows.which);
        for (at, column) in rows.columns.iter().enumerate() {
            group.flip(column, &found);
            for row in &found {
                group.unset(at, row);
                group.swap(at, row);
            }
        }
        for row in &found {
            let delete = format!("DELETE FROM {} WHERE {row}", rows.table);
            group.add(&[row], "deleted", delete, &rows.delete);
            group.copy(row);
        }
        group.tampers
    }

    /// The conditions of the rows of the table that fulfil `condition`.
    fn rows_where(&self, condition: &str) -> Vec<String> {
        let Self { is_row, rows: Rows { table, .. }, .. } = self;
        texts(self.copy, &format!("SELECT {is_row} FROM {table} WHERE {condition}"))
    }

    /// `value`, worked out in a row, as it is written in a statement.
    fn value(&self, value: &str, row: &str) -> String {
        self.copy.query(&format!("SELECT quote({value}) FROM {} WHERE {row}", self.rows.table))
    }

    fn add(&mut self, rows: &[&str], what: &str, sql: String, said: &Said) {
        let table = self.rows.table.as_str();
        let events = rows.iter().filter(|_| OF_EVENTS.contains(&table));
        let events = events.map(|row| EventId(row.rsplit(' ').next().unwrap().parse().unwrap()));
        let events = events.collect();
        let what = format!("{table} where {}: {what}", rows.join(" and "));
        self.tampers.push(Tamper { what, sql, events, said: said.clone() });
    }

    fn set(&mut self, row: &str, name: &str, value: &str, said: &Said) {
        let sql = format!("UPDATE {} SET {name} = {value} WHERE {row}", self.rows.table);
        self.add(&[row], &format!("{name} = {value}"), sql, said);
    }

    fn flip(&mut self, Column { name, flips, .. }: &Column, rows: &[String]) {
        assert!(!flips.is_empty(), "{}.{name} gets no other value", self.rows.table);
        for (value, said) in flips {
            let is_other = |row: &&String| self.value(value, row) != self.value(name, row);
            let others: Vec<&String> = rows.iter().filter(is_other).collect();
            assert!(!others.is_empty(), "{}.{name} is {value} everywhere", self.rows.table);
            others.iter().for_each(|row| self.set(row, name, value, said));
        }
    }

    /// Gives the column nothing, and a value of another type.
    fn unset(&mut self, at: usize, row: &str) {
        let rows = self.rows;
        let Column { name, null, .. } = &rows.columns[at];
        let Known { kind, may_be_null, is_key, is_row_number, .. } = &self.schema[at];
        let is_any = kind == "ANY";
        let now = self.value(name, row);
        let is_text = if is_any { now.starts_with('\'') } else { kind == "TEXT" };
        let (is_key, may_be_null) = (*is_key, *may_be_null);
        if *is_row_number {
            return;
        }
        // The engine lets no key of a table without row numbers be nothing.
        if now != "NULL" && !is_key {
            self.set(row, name, "NULL", if may_be_null { null } else { &rows.unfit });
        }
        let other = if is_text { "x'00ff'" } else { "'text'" };
        self.set(row, name, other, if is_any { null } else { &rows.unfit });
    }

    /// Swaps the column with that of the first row that has another value there.
    fn swap(&mut self, at: usize, row: &String) {
        let Rows { table, which, columns, .. } = self.rows;
        let (Column { name, swap, .. }, known) = (&columns[at], &self.schema[at]);
        let now = self.value(name, row);
        // Where only the key differs, a swap of it changes nothing.
        let rest = columns.iter().filter(|other| known.is_key && other.name != *name);
        let rest = rest.map(|Column { name, .. }| {
            format!("{name} IS NOT (SELECT {name} FROM {table} WHERE {row})")
        });
        let rest = rest.collect::<Vec<_>>().join(" OR ");
        let differs = if rest.is_empty() { "1" } else { &rest };
        let others = self.rows_where(&format!(
            "({which}) AND NOT ({row}) AND {name} IS NOT {now} AND ({differs})"
        ));
        let between = match known.kind.as_str() {
            "INTEGER" => "-77",
            "BLOB" => "x'77'",
            _ => "'between'",
        };
        // A key is what the row is found by.
        let moved = row.replace(&format!("{name} IS {now}"), &format!("{name} IS {between}"));
        for other in others.iter().take(TRIED) {
            let then = self.value(name, other);
            let sql = format!(
                "UPDATE {table} SET {name} = {between} WHERE {row};
                 UPDATE {table} SET {name} = {now} WHERE {other};
                 UPDATE {table} SET {name} = {then} WHERE {moved};"
            );
            // Some an index refuses, for there is such a row already.
            let done = self.scratch.execute_batch(&format!("BEGIN; {sql}"));
            self.scratch.execute_batch("ROLLBACK").unwrap();
            if done.is_ok() {
                return self.add(&[row, other], &format!("{name} swapped"), sql, swap);
            }
        }
    }

    fn copy(&mut self, row: &str) {
        let Rows { table, columns, copies, .. } = self.rows;
        let key = self.schema.iter().rfind(|known| known.is_key).unwrap().name.clone();
        assert!(!copies.is_empty(), "no row of {table} gets a second one");
        for (changes, said) in copies {
            let of = |name| changes.get(name).map_or(name, |value: &String| value);
            let values: Vec<_> = columns.iter().map(|column| of(&column.name).as_str()).collect();
            let values = values.join(", ");
            let sql = format!("INSERT INTO {table} SELECT {values} FROM {table} WHERE {row}");
            let copied = format!("{key} IS {}", self.value(of(&key), row));
            self.add(&[row, &copied], "copied", sql, said);
        }
    }
}

/// What is wrong with the answer to a tamper; none if it is as expected.
fn misfit(report: &Report, tamper: &Tamper) -> Option<String> {
    let is = |kind: Kind, of: &dyn Fn(Option<EventId>) -> bool| {
        report.findings.iter().any(|it| it.kind == kind && of(it.event_id))
    };
    let fits = match tamper.said {
        Said::At(kind) => is(kind, &|id| id.is_some_and(|id| tamper.events.contains(&id))),
        Said::Other(kind) => is(kind, &|id| id.is_some()),
        Said::Store(kind) => is(kind, &|id| id.is_none()),
        Said::Nothing(_) => report.findings.is_empty(),
    };
    let found = report.findings.iter().take(4).map(|it| {
        let id = it.event_id.map_or("-".to_owned(), |id| id.to_string());
        format!("\n    {} at {id}: {}", it.kind, it.detail)
    });
    let found: String = found.collect();
    (!fits).then(|| format!("{}: expected {:?}, found{found}", tamper.what, tamper.said))
}

#[test]
fn the_store_to_tamper_with_has_everything() {
    let copy = Copy::of(lived());
    assert_eq!(copy.verify().findings, []);
    let all = expected();
    let tables = texts(&copy, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    for table in &tables {
        // Rows of all groups are other rows, and they are all there are, but for the long tables, of
        // which the first of each type is taken.
        let groups = all.iter().filter(|rows| rows.table == *table);
        let conditions = groups.map(|rows| format!("({})", rows.which));
        let sum = conditions.collect::<Vec<_>>().join(" + ");
        let twice = format!("SELECT count(*) FROM {table} WHERE {sum} > 1");
        assert_eq!(copy.query::<i64>(&twice), 0, "{table}");
        let never = format!("SELECT count(*) FROM {table} WHERE {sum} = 0");
        let is_long = ["event", "exec_record", "link"].contains(&table.as_str());
        assert!(is_long || copy.query::<i64>(&never) == 0, "{table}");
    }
    let named: BTreeSet<&str> = all.iter().map(|rows| rows.table.as_str()).collect();
    assert_eq!(tables.iter().map(String::as_str).collect::<BTreeSet<_>>(), named);
    let types: BTreeSet<String> =
        texts(&copy, "SELECT DISTINCT type FROM event").into_iter().collect();
    assert_eq!(types, EventType::ALL.iter().map(ToString::to_string).collect());
}

#[test]
#[allow(clippy::print_stdout)]
fn every_column_and_row_that_is_tampered_with_is_found_or_nothing_can_tell() {
    let copy = Copy::of(lived());
    let groups = expected();
    let all: Vec<_> = groups.iter().flat_map(|rows| Group::tampers(&copy, rows)).collect();
    let (tried, wrong) = (all.len(), Mutex::new(Vec::new()));
    let exceptions = all.iter().filter_map(|tamper| match &tamper.said {
        Said::Nothing(why) => Some(why.clone()),
        _ => None,
    });
    let mut by_reason: BTreeMap<String, usize> = BTreeMap::new();
    exceptions.for_each(|why| *by_reason.entry(why).or_default() += 1);
    let queue = Mutex::new(all.into_iter());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(tamper) = { queue.lock().unwrap().next() } {
                    let copy = Copy::of(lived());
                    copy.run(&tamper.sql);
                    let report = copy.verify();
                    wrong.lock().unwrap().extend(misfit(&report, &tamper));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    let untold: usize = by_reason.values().sum();
    let reasons = by_reason.iter().map(|(why, count)| format!("{count} {why}"));
    println!(
        "tampers: {tried} tried, {} found, {untold} that nothing in the store can tell ({})",
        tried - untold,
        reasons.collect::<Vec<_>>().join("; ")
    );
}
