//! The rows of leases.

use std::time::Duration;

use rusqlite::Row;

use super::{Audit, Misfit, column, count, moment};
use crate::id::{AgentId, LineageId};
use crate::store::sqlite::LEASE;
use crate::store::{Holder, Lease, StoreError};

impl Audit<'_> {
    /// Gives `visit` the leases, by key.
    pub(crate) fn leases(
        &self,
        mut visit: impl FnMut(Result<Lease, Misfit>),
    ) -> Result<(), StoreError> {
        self.txn.all(&format!("{LEASE} ORDER BY resource"), (), |row| {
            visit(lease_row(row));
            Ok(())
        })?;
        Ok(())
    }
}

fn lease_row(row: &Row<'_>) -> Result<Lease, Misfit> {
    let is_held = [4, 5, 6, 7, 8].map(|index| row.get_ref(index).is_ok_and(|it| it != NULL));
    let holder = match is_held {
        [false, false, false, false, false] => None,
        [true, true, true, true, true] => Some(Holder {
            agent: AgentId::stored(&column::<String>(row, 4, 0, "holder")?),
            session: column(row, 5, 0, "session")?,
            origin: column::<String>(row, 6, 0, "origin")?
                .parse()
                .map_err(|()| Misfit { id: 0, why: "origin is none of mk's".to_owned() })?,
            branch: LineageId(column(row, 7, 0, "branch")?),
            acquired_at: moment(row, 8, 0, "acquired_at")?,
        }),
        _ => {
            let why = "holder, session, origin, branch and acquired_at do not go together";
            return Err(Misfit { id: 0, why: why.to_owned() });
        }
    };
    Ok(Lease {
        resource: column(row, 0, 0, "resource")?,
        token: count(row, 1, 0, "token")?,
        ttl: Duration::from_micros(count(row, 2, 0, "ttl")?),
        expires_at: moment(row, 3, 0, "expires_at")?,
        holder,
    })
}

const NULL: rusqlite::types::ValueRef<'_> = rusqlite::types::ValueRef::Null;
