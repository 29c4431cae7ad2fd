//! Writes that go through only while a lease is held.

use super::{LeaseError, Resource, held, renewed};
use crate::canon::{Object, Value};
use crate::id::AgentId;
use crate::log::Log;
use crate::time::Timestamp;

/// A lease that a write depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    pub resource: Resource,
    pub token: u64,
}

impl Fence {
    /// What the metadata of the fenced event says of `fences`: `lease`, an object, or of several an
    /// array; nothing without any.
    #[must_use]
    pub fn stamped(fences: &[Self], mut metadata: Object) -> Object {
        let value = |fence: &Self| {
            let members = [
                ("resource", Value::from(fence.resource.as_str())),
                ("fencing_token", fence.token.into()),
            ];
            Value::Object(members.into_iter().collect())
        };
        match fences {
            [] => {}
            [fence] => {
                metadata.insert("lease", value(fence));
            }
            fences => {
                metadata.insert("lease", Value::Array(fences.iter().map(value).collect()));
            }
        }
        metadata
    }
}

/// Lets a write of `agent` pass all of `fences`, and renews their leases: to be called in the
/// transaction of the write, which must not be kept on an error.
///
/// # Errors
/// [`LeaseError::Lost`] of the first that is not in force, or not the agent's.
///
/// Rule: docs/spec/kernel.md, section 13; docs/design.md, section 5.
pub fn pass(
    log: &mut Log<'_>,
    fences: &[Fence],
    agent: &AgentId,
    now: Timestamp,
) -> Result<(), LeaseError> {
    for fence in fences {
        let lease = held(log.txn(), &fence.resource, fence.token, agent, now)?;
        let ttl = lease.ttl;
        log.txn_mut().put_lease(&renewed(lease, ttl, now))?;
    }
    Ok(())
}
