//! The SQLite schema, version 1.

/// `PRAGMA application_id`: the letters `mk` and the number of the file format family.
pub const APPLICATION_ID: i64 = 0x6d6b_0001;

/// `PRAGMA user_version`, raised by every change of the schema.
pub const VERSION: i64 = 1;

/// The oldest `mk` schema version that may read, and write, a store of this version. They stand in
/// the store, so that an older program can tell a store that it may still read from one it may not.
pub const MIN_READER: i64 = 1;
pub const MIN_WRITER: i64 = 1;

/// The rules by which `link` was computed; another number means that it must be rebuilt.
pub const LINK_RULES: i64 = 1;

/// The keys of `store`, all of them in every store.
pub const KEYS: [&str; 7] =
    ["key", "link_rules", "min_reader", "min_writer", "project_id", "root", "tokenizer"];

/// Everything in a new store. `mk verify` compares what it finds with this text.
pub const SCHEMA: &str = "
CREATE TABLE store(
  key TEXT NOT NULL PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE branch(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  born TEXT NOT NULL,
  parent INTEGER REFERENCES branch(id),
  fork_event INTEGER,
  fork_sequence INTEGER NOT NULL,
  fork_lineage INTEGER,
  head INTEGER,
  head_sequence INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL
) STRICT;
CREATE INDEX branch_folded ON branch(lower(name));

CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  lineage INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  agent TEXT NOT NULL,
  parent INTEGER,
  type TEXT NOT NULL,
  hash BLOB NOT NULL,
  body BLOB NOT NULL,
  log BLOB NOT NULL,
  salt BLOB,
  payload TEXT,
  metadata TEXT
) STRICT;
CREATE UNIQUE INDEX event_hash ON event(hash);
CREATE UNIQUE INDEX event_sequence ON event(lineage, sequence);

CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
BEGIN
  SELECT RAISE(ABORT, 'an event is never deleted');
END;
CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
WHEN NOT (
  OLD.salt IS NOT NULL AND NEW.salt IS NULL AND NEW.metadata IS NULL
  AND NEW.id = OLD.id AND NEW.lineage = OLD.lineage AND NEW.sequence = OLD.sequence
  AND NEW.timestamp = OLD.timestamp AND NEW.agent = OLD.agent AND NEW.parent IS OLD.parent
  AND NEW.type = OLD.type AND NEW.hash = OLD.hash AND NEW.body = OLD.body AND NEW.log = OLD.log
)
BEGIN
  SELECT RAISE(ABORT, 'an event never changes, but for the erasure of its content');
END;

CREATE TABLE link(
  id INTEGER PRIMARY KEY,
  lineage INTEGER NOT NULL,
  live_parent INTEGER,
  depth INTEGER NOT NULL,
  jump INTEGER NOT NULL,
  jump_depth INTEGER NOT NULL,
  snapshot INTEGER,
  tokens INTEGER NOT NULL,
  context INTEGER NOT NULL,
  other INTEGER
) STRICT;

CREATE TABLE checkpoint(
  id INTEGER PRIMARY KEY,
  lineage INTEGER NOT NULL,
  state BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX checkpoint_lineage ON checkpoint(lineage, id);

CREATE TABLE lease(
  resource TEXT NOT NULL PRIMARY KEY,
  token INTEGER NOT NULL,
  ttl INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  holder TEXT,
  session TEXT,
  origin TEXT,
  branch INTEGER,
  acquired_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX lease_holder ON lease(resource) WHERE holder IS NOT NULL;

CREATE TABLE notice(
  id TEXT NOT NULL PRIMARY KEY,
  author TEXT NOT NULL,
  resource TEXT NOT NULL,
  message TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  cleared_at INTEGER,
  source TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX notice_open ON notice(created_at) WHERE cleared_at IS NULL;
CREATE INDEX notice_source ON notice(source, id) WHERE source IS NOT NULL;

CREATE TABLE exchange(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  workspace TEXT NOT NULL,
  peer TEXT NOT NULL,
  policy TEXT NOT NULL
) STRICT;

CREATE TABLE exchange_peer(
  peer TEXT NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,
  digest BLOB NOT NULL,
  sent_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE exchange_audit(
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  peer TEXT NOT NULL,
  direction TEXT NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  sequence INTEGER,
  changed INTEGER NOT NULL
) STRICT;
CREATE INDEX exchange_audit_peer ON exchange_audit(peer, id);

CREATE TABLE exec_record(
  event INTEGER PRIMARY KEY,
  goal TEXT,
  id TEXT NOT NULL,
  operation_id TEXT,
  event_seq INTEGER NOT NULL,
  receipt TEXT,
  origin TEXT,
  hides TEXT,
  item TEXT,
  hidden INTEGER NOT NULL,
  damaged INTEGER NOT NULL
) STRICT;
CREATE INDEX exec_record_order ON exec_record(goal, event_seq, id) WHERE goal IS NOT NULL;
CREATE INDEX exec_record_id ON exec_record(id);
CREATE INDEX exec_record_operation ON exec_record(operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX exec_record_receipt ON exec_record(goal, receipt, event_seq) WHERE receipt IS NOT NULL;
CREATE INDEX exec_record_origin ON exec_record(origin) WHERE origin IS NOT NULL;
CREATE INDEX exec_record_hides ON exec_record(hides) WHERE hides IS NOT NULL;
CREATE INDEX exec_record_item ON exec_record(item) WHERE item IS NOT NULL;
CREATE INDEX exec_record_hidden ON exec_record(goal) WHERE hidden = 1;

CREATE TABLE exec_goal(
  goal TEXT NOT NULL PRIMARY KEY,
  whole TEXT NOT NULL,
  visible TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE exec_lease(
  goal TEXT NOT NULL,
  scope TEXT NOT NULL,
  lease TEXT NOT NULL,
  lapses_at INTEGER NOT NULL,
  released INTEGER NOT NULL,
  PRIMARY KEY (goal, scope)
) STRICT, WITHOUT ROWID;
CREATE INDEX exec_lease_open ON exec_lease(goal, lapses_at) WHERE released = 0;

CREATE TABLE exec_total(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  highest_seq INTEGER NOT NULL,
  damaged INTEGER NOT NULL
) STRICT;

CREATE TABLE operation(
  id TEXT NOT NULL PRIMARY KEY,
  digest BLOB NOT NULL,
  report TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE setting(
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE current_branch(
  agent TEXT NOT NULL PRIMARY KEY,
  branch TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";
