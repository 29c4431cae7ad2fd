//! Rows as they are, for `mk verify`: read before anything is believed of them.

mod exchange;
mod execution;
mod lease;
mod notice;
mod small;

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, Row};

use super::schema::{KEYS, LINK_RULES, MIN_READER, MIN_WRITER, SCHEMA};
use super::sqlite::{BRANCH, Txn};
use super::{Branch, ForkPoint, ReadTxn, StoreError};
use crate::event::{Content, Event};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId, shown};
use crate::lineage::Link;
use crate::time::Timestamp;

/// A column with a value that cannot stand there.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// The number of the row; 0 for a table whose rows have none.
    pub id: i64,
    /// What is wrong, in words that begin with the name of the column.
    pub why: String,
}

/// An event with its entry in the lineage index.
pub(crate) struct EventRow {
    /// Without the name of its branch.
    pub event: Event,
    pub link: Option<Result<Link, Misfit>>,
}

/// Indexes of the table `event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Index {
    Hash,
    Sequence,
}

impl Index {
    pub(crate) const ALL: [Self; 2] = [Self::Hash, Self::Sequence];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hash => "event_hash",
            Self::Sequence => "event_sequence",
        }
    }
}

/// What the entries of an index add up to, in whatever order they are added.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum(u64);

impl Sum {
    pub(crate) fn add_hash(&mut self, hash: &[u8; 32], id: EventId) {
        let (words, _) = hash.as_chunks();
        let words = words.iter().map(|word| i64::from_ne_bytes(*word));
        self.add(words.chain([id.0]));
    }

    pub(crate) fn add_place(&mut self, lineage: i64, sequence: i64, id: EventId) {
        self.add([lineage, sequence, id.0].into_iter());
    }

    fn add(&mut self, words: impl Iterator<Item = i64>) {
        let mixed = words.fold(0_u64, |mixed, word| {
            let product = (mixed ^ word.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            product ^ (product >> 29)
        });
        self.0 = self.0.wrapping_add(mixed);
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// A part of the file that is not as the engine wrote it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Index(String),
    Page(u64),
    Other,
}

/// One read transaction.
pub(crate) struct Audit<'a> {
    txn: Txn<'a>,
}

const EVENTS: &str = "SELECT event.id, event.lineage, sequence, timestamp, agent, parent, type, \
                      hash, body, log, salt, payload, metadata, \
                      link.lineage, live_parent, depth, jump, jump_depth, snapshot, tokens, context, \
                      other, link.id FROM event LEFT JOIN link ON link.id = event.id \
                      WHERE event.id BETWEEN ?1 AND ?2 ORDER BY event.id";

impl<'a> Audit<'a> {
    pub(super) fn new(txn: Txn<'a>) -> Self {
        Self { txn }
    }

    /// The rows as everything else reads them.
    pub(crate) fn txn(&self) -> &dyn ReadTxn {
        &self.txn
    }

    /// The tables, indexes and triggers, each with its text, beside those of a new store.
    pub(crate) fn schemas(&self) -> Result<[BTreeMap<String, String>; 2], StoreError> {
        let new = Connection::open_in_memory().and_then(|new| {
            new.execute_batch(SCHEMA)?;
            schema(&new)
        });
        let new = new.map_err(|error| self.txn.failed(error))?;
        Ok([schema(self.txn.connection).map_err(|error| self.txn.failed(error))?, new])
    }

    /// What the engine itself finds wrong with its file.
    pub(crate) fn faults(&self) -> Result<Vec<Fault>, StoreError> {
        let mut faults = Vec::new();
        // Of the large tables the workers compare the indexes.
        for check in [
            "PRAGMA quick_check(1000)",
            "PRAGMA integrity_check(branch)",
            "PRAGMA integrity_check(checkpoint)",
            "PRAGMA integrity_check(lease)",
            "PRAGMA integrity_check(notice)",
            "PRAGMA integrity_check(exchange)",
            "PRAGMA integrity_check(exchange_peer)",
            "PRAGMA integrity_check(exchange_audit)",
            "PRAGMA integrity_check(exec_record)",
            "PRAGMA integrity_check(exec_goal)",
            "PRAGMA integrity_check(exec_lease)",
            "PRAGMA integrity_check(exec_total)",
        ] {
            let found = self.txn.all(check, (), |row| row.get::<_, String>(0))?;
            let lines = found.iter().flat_map(|text| text.lines()).filter(|line| *line != "ok");
            faults.extend(lines.filter(|line| !line.starts_with("***")).map(fault));
        }
        faults.sort();
        faults.dedup();
        Ok(faults)
    }

    /// The number of rows of `event`, of `link` and of `checkpoint`.
    pub(crate) fn counts(&self) -> Result<[u64; 3], StoreError> {
        let count = |table| {
            let sql = format!("SELECT count(*) FROM {table}");
            let found = self.txn.optional(&sql, (), |row| row.get::<_, i64>(0))?;
            Ok(found.map_or(0, i64::unsigned_abs))
        };
        Ok([count("event")?, count("link")?, count("checkpoint")?])
    }

    /// The first event with this id or a higher one.
    pub(crate) fn event_from(&self, id: i64) -> Result<Option<EventId>, StoreError> {
        let sql = "SELECT id FROM event WHERE id >= ?1 ORDER BY id LIMIT 1";
        self.txn.optional(sql, [id], |row| row.get(0).map(EventId))
    }

    /// The newest event.
    pub(crate) fn last_event(&self) -> Result<Option<EventId>, StoreError> {
        let sql = "SELECT id FROM event ORDER BY id DESC LIMIT 1";
        self.txn.optional(sql, (), |row| row.get(0).map(EventId))
    }

    /// The event before `id` in the log, with the log chain up to it if that can be read.
    pub(crate) fn before(
        &self,
        id: EventId,
    ) -> Result<Option<(EventId, Option<Hash>)>, StoreError> {
        let sql = "SELECT id, log FROM event WHERE id < ?1 ORDER BY id DESC LIMIT 1";
        self.txn.optional(sql, [id.0], |row| Ok((EventId(row.get(0)?), row.get(1).ok().map(Hash))))
    }

    /// Gives `visit` the events with these ids, in their order.
    pub(crate) fn events(
        &self,
        ids: &RangeInclusive<i64>,
        mut visit: impl FnMut(Result<EventRow, Misfit>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = |error| self.txn.failed(error);
        let mut statement = self.txn.connection.prepare_cached(EVENTS).map_err(failed)?;
        let mut rows = statement.query((ids.start(), ids.end())).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            visit(event_row(row))?;
        }
        Ok(())
    }

    /// The entries of the lineage index that belong to no event.
    pub(crate) fn stray_links(&self) -> Result<Vec<EventId>, StoreError> {
        let sql = "SELECT id FROM link WHERE NOT EXISTS \
                   (SELECT 1 FROM event WHERE event.id = link.id) ORDER BY id LIMIT 1000";
        self.txn.all(sql, (), |row| row.get(0).map(EventId))
    }

    /// What `index` adds up to over the events up to `last`, and whether it is in order. Of the
    /// index of hashes only those whose first byte is in `first_bytes`.
    pub(crate) fn index_sum(
        &self,
        index: Index,
        first_bytes: Range<u16>,
        last: EventId,
    ) -> Result<(Sum, bool), StoreError> {
        let mut sum = Sum::default();
        let mut in_order = true;
        match index {
            Index::Hash => {
                let mut before = None;
                let sql = "SELECT hash, id FROM event INDEXED BY event_hash \
                           WHERE hash >= ?1 AND hash < ?2 ORDER BY hash";
                // No hash is as long as the bound behind the last byte.
                let bound =
                    |byte: u16| u8::try_from(byte).map_or(vec![0xff; 33], |byte| vec![byte]);
                self.txn.all(sql, (bound(first_bytes.start), bound(first_bytes.end)), |row| {
                    let (hash, id) = (row.get::<_, [u8; 32]>(0)?, EventId(row.get(1)?));
                    in_order &= before.is_none_or(|before| before < hash);
                    before = Some(hash);
                    if id <= last {
                        sum.add_hash(&hash, id);
                    }
                    Ok(())
                })?;
            }
            Index::Sequence => {
                let mut before = None;
                let sql = "SELECT lineage, sequence, id FROM event INDEXED BY event_sequence \
                           ORDER BY lineage, sequence";
                self.txn.all(sql, (), |row| {
                    let key: (i64, i64) = (row.get(0)?, row.get(1)?);
                    let id = EventId(row.get(2)?);
                    in_order &= before.is_none_or(|before| before < key);
                    before = Some(key);
                    if id <= last {
                        sum.add_place(key.0, key.1, id);
                    }
                    Ok(())
                })?;
            }
        }
        Ok((sum, in_order))
    }

    /// Events that `index` does not lead to.
    pub(crate) fn not_in_index(&self, index: Index) -> Result<Vec<EventId>, StoreError> {
        let same = match index {
            Index::Hash => "found.hash = event.hash",
            Index::Sequence => "found.lineage = event.lineage AND found.sequence = event.sequence",
        };
        let name = index.name();
        let sql = format!(
            "SELECT id FROM event NOT INDEXED WHERE NOT EXISTS (SELECT 1 FROM event AS found \
             INDEXED BY {name} WHERE {same} AND found.id = event.id) ORDER BY id LIMIT 1000"
        );
        self.txn.all(&sql, (), |row| row.get(0).map(EventId))
    }

    pub(crate) fn branches(&self) -> Result<Vec<Result<Branch, Misfit>>, StoreError> {
        self.txn.all(&format!("{BRANCH} ORDER BY id"), (), |row| Ok(branch_row(row)))
    }

    /// Where there are checkpoints, by event.
    pub(crate) fn checkpoints(&self) -> Result<Vec<(EventId, LineageId)>, StoreError> {
        let sql = "SELECT id, lineage FROM checkpoint ORDER BY id";
        self.txn.all(sql, (), |row| Ok((EventId(row.get(0)?), LineageId(row.get(1)?))))
    }

    /// The state kept at an event; none if it is no blob.
    pub(crate) fn checkpoint(
        &self,
        event: EventId,
        lineage: LineageId,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT state FROM checkpoint WHERE lineage = ?1 AND id = ?2";
        let found = self.txn.optional(sql, (lineage.0, event.0), |row| Ok(row.get(0).ok()))?;
        Ok(found.flatten())
    }

    /// What is wrong with the rows of `store`.
    pub(crate) fn store_misfits(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT key, value FROM store ORDER BY key";
        let mut missing: Vec<&str> = KEYS.to_vec();
        let mut wrong = Vec::new();
        self.txn.all(sql, (), |row| {
            let key: String = row.get(0)?;
            missing.retain(|known| *known != key);
            if let Some(why) = store_misfit(&key, row.get_ref(1)?) {
                wrong.push(why);
            }
            Ok(())
        })?;
        wrong.extend(missing.into_iter().map(|key| format!("'{key}' is missing")));
        Ok(wrong)
    }
}

fn schema(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let sql = "SELECT type || ' ' || name, coalesce(sql, tbl_name) FROM sqlite_schema";
    connection.prepare(sql)?.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// What a line of the engine's own check is about. Its words change from version to version.
fn fault(line: &str) -> Fault {
    let word_after = |mark: &str| {
        let rest = &line[line.find(mark)? + mark.len()..];
        Some(rest.split(|c: char| c.is_whitespace() || c == ':').next().unwrap_or_default())
    };
    if let Some(name) = word_after(" index ") {
        return Fault::Index(name.to_owned());
    }
    let page = word_after("page ").or_else(|| word_after("Page "));
    page.and_then(|page| page.parse().ok()).map_or(Fault::Other, Fault::Page)
}

/// The value of a column, or what stands there instead.
fn column<T: FromSql>(row: &Row<'_>, index: usize, id: i64, name: &str) -> Result<T, Misfit> {
    row.get(index).map_err(|_| {
        let found = match row.get_ref(index) {
            Ok(ValueRef::Null) => "nothing".to_owned(),
            Ok(ValueRef::Integer(number)) => format!("the integer {number}"),
            Ok(ValueRef::Real(number)) => format!("the number {number}"),
            Ok(ValueRef::Text(text)) => match std::str::from_utf8(text) {
                Ok(text) => format!("'{}'", shown(text)),
                Err(_) => "a text that is not UTF-8".to_owned(),
            },
            Ok(ValueRef::Blob(bytes)) => format!("{} bytes", bytes.len()),
            Err(_) => "what cannot be read".to_owned(),
        };
        Misfit { id, why: format!("{name} is {found}") }
    })
}

fn count(row: &Row<'_>, index: usize, id: i64, name: &str) -> Result<u64, Misfit> {
    let number: i64 = column(row, index, id, name)?;
    u64::try_from(number).map_err(|_| Misfit { id, why: format!("{name} is {number}") })
}

fn moment(row: &Row<'_>, index: usize, id: i64, name: &str) -> Result<Timestamp, Misfit> {
    let micros = column(row, index, id, name)?;
    let moment = Timestamp::from_micros(micros);
    match moment.micros() == micros {
        true => Ok(moment),
        false => {
            Err(Misfit { id, why: format!("{name} is {micros}, outside the years 1 to 9999") })
        }
    }
}

fn event_row(row: &Row<'_>) -> Result<EventRow, Misfit> {
    let id: i64 = column(row, 0, 0, "id")?;
    let agent = match row.get_ref(4).map(|value| value.as_str()) {
        Ok(Ok(agent)) => AgentId::stored(agent),
        _ => {
            return Err(column::<String>(row, 4, id, "agent")
                .err()
                .unwrap_or(Misfit { id, why: "agent cannot be read".to_owned() }));
        }
    };
    let kind = match row.get_ref(6).map(|value| value.as_str()) {
        Ok(Ok(kind)) => {
            kind.parse().map_err(|error| Misfit { id, why: format!("type: {error}") })?
        }
        _ => return Err(Misfit { id, why: "type is no text".to_owned() }),
    };
    let salt: Option<[u8; 16]> = column(row, 10, id, "salt")?;
    let (content, structure) = match salt {
        Some(salt) => {
            let payload = column(row, 11, id, "payload")?;
            let metadata = column(row, 12, id, "metadata")?;
            (Some(Content { salt, payload, metadata }), None)
        }
        None => {
            if column::<Option<String>>(row, 12, id, "metadata")?.is_some() {
                return Err(Misfit { id, why: "metadata is there without its salt".to_owned() });
            }
            (None, column(row, 11, id, "payload")?)
        }
    };
    let event = Event {
        id: EventId(id),
        lineage: LineageId(column(row, 1, id, "lineage")?),
        branch: BranchName::stored(""),
        sequence: count(row, 2, id, "sequence")?,
        timestamp: moment(row, 3, id, "timestamp")?,
        agent,
        parent: column::<Option<i64>>(row, 5, id, "parent")?.map(EventId),
        kind,
        hash: Hash(column(row, 7, id, "hash")?),
        body: Hash(column(row, 8, id, "body")?),
        log: Hash(column(row, 9, id, "log")?),
        content,
        structure,
    };
    let link = column::<Option<i64>>(row, 22, id, "link")?.map(|_| link_row(row, id));
    Ok(EventRow { event, link })
}

fn link_row(row: &Row<'_>, id: i64) -> Result<Link, Misfit> {
    let event =
        |index, name| Ok::<_, Misfit>(column::<Option<i64>>(row, index, id, name)?.map(EventId));
    Ok(Link {
        lineage: LineageId(column(row, 13, id, "lineage")?),
        live_parent: event(14, "live_parent")?,
        depth: count(row, 15, id, "depth")?,
        jump: EventId(column(row, 16, id, "jump")?),
        jump_depth: count(row, 17, id, "jump_depth")?,
        snapshot: event(18, "snapshot")?,
        tokens: count(row, 19, id, "tokens")?,
        context: count(row, 20, id, "context")?,
        other: event(21, "other")?,
    })
}

fn branch_row(row: &Row<'_>) -> Result<Branch, Misfit> {
    let id: i64 = column(row, 0, 0, "id")?;
    let number = |index, name| column::<Option<i64>>(row, index, id, name);
    let sequence = count(row, 5, id, "fork_sequence")?;
    let fork_point = match (number(4, "fork_event")?, number(6, "fork_lineage")?) {
        (Some(event), Some(lineage)) => {
            Some(ForkPoint { event: EventId(event), sequence, lineage: LineageId(lineage) })
        }
        (None, None) if sequence == 0 => None,
        _ => {
            let why = "fork_event, fork_sequence and fork_lineage do not go together".to_owned();
            return Err(Misfit { id, why });
        }
    };
    Ok(Branch {
        id: LineageId(id),
        name: BranchName::stored(&column::<String>(row, 1, id, "name")?),
        born: BranchName::stored(&column::<String>(row, 2, id, "born")?),
        parent: number(3, "parent")?.map(LineageId),
        fork_point,
        head: number(7, "head")?.map(EventId),
        head_sequence: count(row, 8, id, "head_sequence")?,
        created_at: moment(row, 9, id, "created_at")?,
        created_by: AgentId::stored(&column::<String>(row, 10, id, "created_by")?),
    })
}

fn store_misfit(key: &str, value: ValueRef<'_>) -> Option<String> {
    let number = |known: i64| match value {
        ValueRef::Integer(found) if found == known => None,
        _ => Some(format!("'{key}' is not {known}")),
    };
    let text = |fits: &dyn Fn(&str) -> bool, what: &str| match value.as_str() {
        Ok(text) if fits(text) => None,
        _ => Some(format!("'{key}' is not {what}")),
    };
    match key {
        "link_rules" => number(LINK_RULES),
        "min_reader" => number(MIN_READER),
        "min_writer" => number(MIN_WRITER),
        "root" => text(&|_| true, "a path"),
        "tokenizer" => {
            text(&|name| name.parse::<crate::tokens::Tokenizer>().is_ok(), "a known tokenizer")
        }
        "project_id" => {
            text(&|id| id.len() == 32 && crate::id::unhex(id).is_some(), "32 lower-case hex digits")
        }
        "key" => match value {
            ValueRef::Blob(key) if key.len() == 32 => None,
            _ => Some("'key' is not 32 bytes".to_owned()),
        },
        _ => Some(format!("'{}' is no key of it", shown(key))),
    }
}
