//! What stands behind the claims of a state.
//!
//! The fold knows what was claimed and given back on one timeline; only the leases know what holds.
//!
//! Rule: docs/spec/kernel.md, section 21, item 9; docs/design.md, section 3.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{AT_ONCE, LeaseReport};
use crate::canon::Int;
use crate::store::{Leases, ReadTxn, StoreError};
use crate::time::Timestamp;
use crate::workspace::fold::State;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimStatus {
    /// Its lease is in force.
    Held,
    /// Its lease lapsed, and nobody took it since.
    Expired,
    /// Its lease was given back, which another timeline records.
    Released,
    /// No lease of its token is known: there was a later grant, on whatever timeline, or none here.
    Elsewhere,
}

impl ClaimStatus {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Expired => "expired",
            Self::Released => "released",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// What the leases say of the claims of a state.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Claims {
    /// Of each claim of the state, by resource.
    pub claim_status: BTreeMap<String, ClaimStatus>,
    /// Leases in force whose claim is not in the state, the first [`AT_ONCE`].
    pub unclaimed_leases: Vec<LeaseReport>,
}

/// Holds the claims of `state` against the leases at `now`.
///
/// # Errors
/// Those of the store.
pub fn claims(txn: &dyn ReadTxn, state: &State, now: Timestamp) -> Result<Claims, StoreError> {
    let mut found = Claims::default();
    for (resource, claim) in &state.claims {
        let lease = txn.lease(resource)?;
        let lease = lease.filter(|lease| claim.token == Int::from(lease.token));
        let status = match lease {
            None => ClaimStatus::Elsewhere,
            Some(lease) if lease.active(now).is_some() => ClaimStatus::Held,
            Some(lease) if lease.holder.is_some() => ClaimStatus::Expired,
            Some(_) => ClaimStatus::Released,
        };
        found.claim_status.insert(resource.clone(), status);
    }
    let mut after = None;
    while found.unclaimed_leases.len() < AT_ONCE {
        let page = txn.leases(Leases::Active(now), "", after.as_deref(), AT_ONCE)?;
        let Some(last) = page.last() else { break };
        after = Some(last.resource.clone());
        for lease in page {
            if found.claim_status.get(&lease.resource) != Some(&ClaimStatus::Held) {
                found.unclaimed_leases.push(LeaseReport::new(txn, &lease, now)?);
            }
        }
    }
    found.unclaimed_leases.truncate(AT_ONCE);
    Ok(found)
}
