//! Reading the row of a lease.

use std::time::Duration;

use rusqlite::Row;
use rusqlite::types::Type;

use super::row::count;
use crate::id::{AgentId, LineageId};
use crate::store::{Holder, Lease};
use crate::time::Timestamp;

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Lease> {
    let holder = match row.get::<_, Option<String>>(4)? {
        None => None,
        Some(agent) => Some(Holder {
            agent: AgentId::stored(&agent),
            session: row.get(5)?,
            origin: row.get_ref(6)?.as_str()?.parse().map_err(|()| {
                rusqlite::Error::InvalidColumnType(6, "origin".to_owned(), Type::Text)
            })?,
            branch: LineageId(row.get(7)?),
            acquired_at: Timestamp::from_micros(row.get(8)?),
        }),
    };
    Ok(Lease {
        resource: row.get(0)?,
        token: count(row, 1)?,
        ttl: Duration::from_micros(count(row, 2)?),
        expires_at: Timestamp::from_micros(row.get(3)?),
        holder,
    })
}
