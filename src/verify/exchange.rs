//! The rows of the signed exchange of notices.

use super::report::{About, Findings, Kind};
use crate::id::shown;
use crate::store::audit::Audit;
use crate::store::{AuditRow, Binding, PeerRow, StoreError};
use crate::sync;

pub(super) fn verify(audit: &Audit<'_>, findings: &mut Findings) -> Result<(), StoreError> {
    let mut wrong = |why: String| findings.add(Kind::Exchange, About::STORE, why);
    for row in audit.bindings()? {
        match row {
            Ok(row) => binding_misfit(&row).map_or((), &mut wrong),
            Err(misfit) => wrong(misfit.why),
        }
    }
    for row in audit.peer_rows()? {
        match row {
            Ok(row) => peer_misfit(&row).map_or((), &mut wrong),
            Err(misfit) => wrong(misfit.why),
        }
    }
    for row in audit.audit_log()? {
        match row {
            Ok(row) => audit_misfit(&row).map_or((), &mut wrong),
            Err(misfit) => wrong(format!("audit {}: {}", misfit.id, misfit.why)),
        }
    }
    Ok(())
}

fn binding_misfit(row: &Binding) -> Option<String> {
    let fits =
        sync::is_workspace(&row.workspace) && sync::is_name(&row.peer) && !row.policy.is_empty();
    (!fits).then(|| format!("the project is bound to '{}', which is none", shown(&row.peer)))
}

fn peer_misfit(row: &PeerRow) -> Option<String> {
    let fits = sync::is_name(&row.peer) && row.sequence > 0;
    (!fits).then(|| format!("peer '{}' is none, or has no sequence", shown(&row.peer)))
}

fn audit_misfit(row: &AuditRow) -> Option<String> {
    let is_reason = |reason: &str| sync::Reason::ALL.iter().any(|known| known.as_str() == reason);
    let fits = match (row.direction.as_str(), row.outcome.as_str(), row.reason.as_str()) {
        ("out", "published", "") | ("in", "accepted", "" | "unchanged") => row.sequence.is_some(),
        ("in" | "out", "rejected", reason) => is_reason(reason),
        _ => false,
    };
    let fits = fits && sync::is_name(&row.peer) && row.id > 0;
    (!fits).then(|| format!("audit {} tells of nothing that happens", row.id))
}
