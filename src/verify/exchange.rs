//! The rows of the signed exchange of notices: each alone, and whether they tell of one exchange.

use std::collections::{BTreeMap, BTreeSet};

use super::report::{About, Findings, Kind};
use crate::id::shown;
use crate::store::audit::{Audit, Misfit};
use crate::store::{AuditRow, Binding, PeerRow, StoreError};
use crate::sync::{self, AUDIT_KEPT, Reason, bundle};

pub(super) fn verify(audit: &Audit<'_>, findings: &mut Findings) -> Result<(), StoreError> {
    let mut wrong = |why: String| findings.add(Kind::Exchange, About::STORE, why);
    if audit.has_more("exchange")? {
        wrong("the project is bound more than once".to_owned());
    }
    let bindings = sound(audit.bindings()?, binding_misfit, &mut wrong);
    let peers = sound(audit.peer_rows()?, peer_misfit, &mut wrong);
    let log = sound(audit.audit_log()?, audit_misfit, &mut wrong);
    let mut sources = BTreeSet::new();
    audit.notices(|row| sources.extend(row.ok().and_then(|notice| notice.source)))?;
    gaps(&log, &mut wrong);
    let own = match bindings.first() {
        Some(binding) => binding.peer.as_str(),
        None if peers.is_empty() && log.is_empty() && sources.is_empty() => return Ok(()),
        None => {
            wrong("the project is bound to no exchange, and has rows of one".to_owned());
            return Ok(());
        }
    };
    let peers: BTreeMap<&str, &PeerRow> =
        peers.iter().map(|row| (row.peer.as_str(), row)).collect();
    directions(&log, own, &mut wrong);
    for peer in peers.keys().copied().chain(log.iter().map(|row| row.peer.as_str())) {
        sources.remove(peer);
    }
    sources.remove(own);
    for source in &sources {
        wrong(format!("there are notices of '{}', which sent none", shown(source)));
    }
    let names: BTreeSet<&str> =
        peers.keys().copied().chain(log.iter().map(|row| row.peer.as_str())).collect();
    // Old rows are dropped, so that those of a peer may be gone.
    let is_whole = log.first().is_none_or(|row| row.id == 1);
    for name in names {
        let rows: Vec<&AuditRow> = log.iter().filter(|row| row.peer == name).collect();
        let row = peers.get(name).copied();
        let why = match name == own {
            true => published_misfit(row, &rows),
            false => accepted_misfit(row, &rows, is_whole),
        };
        if let Some(why) = why {
            wrong(format!("peer '{}': {why}", shown(name)));
        }
    }
    Ok(())
}

/// The rows that can be read and have nothing wrong with them.
fn sound<T>(
    rows: Vec<Result<T, Misfit>>,
    misfit: fn(&T) -> Option<String>,
    wrong: &mut impl FnMut(String),
) -> Vec<T> {
    let mut sound = Vec::with_capacity(rows.len());
    for row in rows {
        match row {
            Ok(row) => match misfit(&row) {
                Some(why) => wrong(why),
                None => sound.push(row),
            },
            Err(misfit) if misfit.id == 0 => wrong(misfit.why),
            Err(misfit) => wrong(format!("audit {}: {}", misfit.id, misfit.why)),
        }
    }
    sound
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
    let is_reason = |reason: &str| Reason::ALL.iter().any(|known| known.as_str() == reason);
    let has_sequence = row.sequence.is_some_and(|sequence| sequence > 0);
    let fits = match (row.direction.as_str(), row.outcome.as_str(), row.reason.as_str()) {
        ("out", "published", "") | ("in", "accepted", "unchanged") => {
            has_sequence && row.changed == 0
        }
        ("in", "accepted", "") => has_sequence && row.changed <= bundle::NOTICES_MAX as u64,
        ("in", "rejected", reason) => {
            is_reason(reason) && row.sequence.is_none() && row.changed == 0
        }
        ("out", "rejected", reason) => {
            let may_be = [Reason::OversizedFile, Reason::IoError].map(Reason::as_str);
            may_be.contains(&reason) && has_sequence && row.changed == 0
        }
        _ => false,
    };
    let fits = fits && sync::is_name(&row.peer) && row.id > 0;
    (!fits).then(|| format!("audit {} tells of nothing that happens", row.id))
}

/// The audit has no gaps, and begins with its first row until there are more than are kept.
fn gaps(log: &[AuditRow], wrong: &mut impl FnMut(String)) {
    let ids = log.iter().map(|row| row.id);
    if let Some((before, _)) = ids.clone().zip(ids.clone().skip(1)).find(|(a, b)| a + 1 != *b) {
        wrong(format!("audit {} is missing", before + 1));
    }
    if ids.clone().next().is_some_and(|first| first > 1) && (log.len() as u64) < AUDIT_KEPT {
        wrong("the first rows of the audit are missing".to_owned());
    }
}

/// Only the own peer publishes, for it is bound for good, and from it nothing is taken in.
fn directions(log: &[AuditRow], own: &str, wrong: &mut impl FnMut(String)) {
    for row in log.iter().filter(|row| (row.direction == "out") != (row.peer == own)) {
        wrong(format!("audit {} is not of the peer that it says", row.id));
    }
}

/// What the newest bundle of the own peer is not, going by what was published. Its sequence is taken
/// before it is published, and may never have been.
fn published_misfit(row: Option<&PeerRow>, log: &[&AuditRow]) -> Option<&'static str> {
    let Some(row) = row else {
        return (!log.is_empty()).then_some("it has published, and no bundle is known");
    };
    let sequences: BTreeSet<_> = log.iter().filter_map(|row| row.sequence).collect();
    let newest = log.iter().find(|entry| entry.sequence == Some(row.sequence));
    if row.sent_at != row.received_at {
        return Some("it published its bundle at another time than it made it");
    }
    if sequences.len() != log.len() {
        return Some("it has published a sequence twice");
    }
    if sequences.last().is_some_and(|last| *last > row.sequence) {
        return Some("it has published a later sequence than that of its newest bundle");
    }
    newest.is_some_and(|entry| entry.at != row.sent_at).then_some("it published at another time")
}

/// What the newest bundle of another peer is not, going by what was accepted.
fn accepted_misfit(
    row: Option<&PeerRow>,
    log: &[&AuditRow],
    is_whole: bool,
) -> Option<&'static str> {
    let accepted: Vec<_> = log.iter().filter(|entry| entry.outcome == "accepted").collect();
    let Some(row) = row else {
        return (!accepted.is_empty()).then_some("a bundle was accepted, and none is known");
    };
    let ahead = row.sent_at.micros().saturating_sub(row.received_at.micros());
    if ahead > bundle::AHEAD_MAX_S * 1_000_000 {
        return Some("its bundle was sent too long after it was accepted");
    }
    let is_rising = accepted.iter().zip(accepted.iter().skip(1)).all(|(before, after)| match after
        .reason
        .is_empty()
    {
        true => after.sequence > before.sequence,
        false => after.sequence == before.sequence,
    });
    if !is_rising {
        return Some("its bundles were not accepted in their order");
    }
    let Some(last) = accepted.last() else {
        return is_whole.then_some("its bundle was never accepted");
    };
    if last.sequence != Some(row.sequence) {
        return Some("another bundle was accepted last");
    }
    let newest = accepted.iter().rev().find(|entry| entry.reason.is_empty());
    match newest {
        Some(newest) if newest.at != row.received_at => Some("it was accepted at another time"),
        None if is_whole => Some("its bundle was never accepted"),
        _ => None,
    }
}
