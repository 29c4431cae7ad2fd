//! Leases of a goal: the last grant of each scope, folded from the records.
//!
//! They are no part of the projection: whether one is active depends on `now`.
//!
//! Rule: docs/spec/mkep.md, section 13.

use std::collections::BTreeMap;

use super::json::{self, Json, Members, object};
use super::moment::Moment;
use super::record;

/// The last grant of a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Lease {
    pub lease_id: Json,
    pub holder: Json,
    pub fence_token: i64,
    pub expires_at: Json,
    pub is_released: bool,
}

impl Lease {
    /// Whether it is in force.
    #[must_use]
    pub fn is_active(&self, now: Moment) -> bool {
        !self.is_released && self.lapses_at() > now.seconds()
    }

    /// The second from which it is no longer in force.
    #[must_use]
    pub fn lapses_at(&self) -> i64 {
        record::deadline(&self.expires_at)
    }

    /// The lease as a response has it.
    #[must_use]
    pub fn report(&self) -> Members {
        object([
            ("lease_id", self.lease_id.clone()),
            ("holder", self.holder.clone()),
            ("fence_token", self.fence_token.into()),
            ("expires_at", self.expires_at.clone()),
        ])
    }

    /// The lease back from the line of its report; none if that is not one.
    #[must_use]
    pub fn decode(report: &str, is_released: bool) -> Option<Self> {
        let Json::Object(report) = json::parse(report.as_bytes())? else { return None };
        Some(Self {
            lease_id: report.get("lease_id")?.clone(),
            holder: report.get("holder")?.clone(),
            fence_token: report.get("fence_token")?.as_i64()?,
            expires_at: report.get("expires_at")?.clone(),
            is_released,
        })
    }
}

/// What a record does to the leases of its goal.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Grant {
        scope: String,
        lease: Lease,
    },
    /// Ends the last grant of the scope, if that is the one meant.
    Release {
        scope: String,
        lease_id: Json,
    },
}

impl Change {
    /// None for a record about anything else.
    #[must_use]
    pub fn of(record: &Members) -> Option<Self> {
        let member = |key: &str| record.get(key).cloned().unwrap_or(Json::Null);
        let scope = || record.text("scope_key").unwrap_or_default().to_owned();
        match record.text("record_type")? {
            "lease_grant" => {
                let lease = Lease {
                    lease_id: member("id"),
                    holder: member("holder"),
                    fence_token: record::whole(record, "fence_token"),
                    expires_at: member("expires_at"),
                    is_released: false,
                };
                Some(Self::Grant { scope: scope(), lease })
            }
            "lease_release" => Some(Self::Release { scope: scope(), lease_id: member("lease_id") }),
            _ => None,
        }
    }
}

/// The last grants of a goal, by scope.
pub type Leases = BTreeMap<String, Lease>;

/// Folds one more record, in the order of fold.rs.
pub fn apply(leases: &mut Leases, record: &Members) {
    match Change::of(record) {
        Some(Change::Grant { scope, lease }) => {
            leases.insert(scope, lease);
        }
        Some(Change::Release { scope, lease_id }) => {
            if let Some(lease) = leases.get_mut(&scope).filter(|lease| lease.lease_id == lease_id) {
                lease.is_released = true;
            }
        }
        None => {}
    }
}
