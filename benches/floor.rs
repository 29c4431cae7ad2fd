//! The least that a durable append can cost: a process that opens the store, inserts one event row of
//! 300 bytes, syncs and exits. No arguments are checked, nothing but the last id is read, nothing hashed or
//! answered.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

fn main() -> rusqlite::Result<()> {
    let path = std::env::args().nth(1).expect("the path of a store");
    let wal = format!("{path}-wal");
    let store = Connection::open(path)?;
    store.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    store.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;")?;
    let id: i64 = store.query_row("SELECT max(id) + 1 FROM event", (), |row| row.get(0))?;
    let mut hash = [0_u8; 32];
    hash[..8].copy_from_slice(&id.wrapping_mul(0x1e37_79b9_7f4a_7c15).to_be_bytes());
    store.execute(
        "INSERT INTO event VALUES (?1, 1000000, ?1, 0, 'floor', NULL, 'AGENT_SCRATCHPAD', ?2, ?2, ?2,
                                   zeroblob(16), ?3, '{}')",
        (id, hash, "x".repeat(300)),
    )?;
    // As short a WAL as mk keeps, so that both open the same kind of file.
    if std::fs::metadata(wal).is_ok_and(|wal| wal.len() > 512 << 10) {
        store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
    }
    Ok(())
}
