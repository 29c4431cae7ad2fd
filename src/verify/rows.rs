//! What is read once, before the events: the schema, the branches, where checkpoints are; and the
//! tables that are small.

use std::collections::{BTreeMap, HashSet};

use super::lease::{self, Held};
use super::report::{About, Findings, Kind};
use super::{Anchor, soft};
use crate::id::{AgentId, BranchName, EventId, Hash, LineageId, shown};
use crate::mkep::check::is_id;
use crate::mkep::transfer;
use crate::notice;
use crate::setting::Setting;
use crate::store::audit::{Audit, Index};
use crate::store::{Branch, StoreError};
use crate::tokens::Tokenizer;

/// What all workers go by.
pub(super) struct Plan {
    pub branches: BTreeMap<LineageId, Branch>,
    /// By event.
    pub checkpoints: Vec<(EventId, LineageId)>,
    /// The newest event; 0 if there is none.
    pub last: EventId,
    /// The number of rows.
    pub events: u64,
    pub links: u64,
    pub tokenizer: Tokenizer,
    /// Those that can be read.
    pub indexes: Vec<Index>,
    /// Leases that somebody holds, or held when they lapsed.
    pub held: Held,
}

impl Plan {
    pub(super) fn read(
        audit: &Audit<'_>,
        indexes: Vec<Index>,
        findings: &mut Findings,
    ) -> Result<Self, StoreError> {
        for why in soft(audit.store_misfits(), findings)?.into_iter().flatten() {
            findings.add(Kind::Store, About::STORE, why);
        }
        let identity = match audit.txn().identity() {
            // What is wrong with it has been said.
            Err(StoreError::Damaged { .. }) => None,
            other => Some(other?),
        };
        let mut branches = BTreeMap::new();
        for row in soft(audit.branches(), findings)?.unwrap_or_default() {
            match row {
                Ok(branch) => {
                    branches.insert(branch.id, branch);
                }
                Err(misfit) => {
                    let why = format!("branch {}: {}", misfit.id, misfit.why);
                    findings.add(Kind::BranchShape, About::STORE, why);
                }
            }
        }
        let [events, links, _] = soft(audit.counts(), findings)?.unwrap_or_default();
        let plan = Self {
            checkpoints: soft(audit.checkpoints(), findings)?.unwrap_or_default(),
            last: soft(audit.last_event(), findings)?.flatten().unwrap_or(EventId(0)),
            events,
            links,
            tokenizer: identity.map_or(Tokenizer::default(), |identity| identity.tokenizer),
            indexes,
            held: soft(lease::verify(audit, &branches, findings), findings)?.unwrap_or_default(),
            branches,
        };
        for small in [
            current_branches(audit, &plan, findings),
            settings(audit, findings),
            notices(audit, findings),
            super::exchange::verify(audit, findings),
            super::operation::verify(audit, &plan, findings),
        ] {
            soft(small, findings)?;
        }
        Ok(plan)
    }
}

/// Compares the schema with that of a new store; answers with the indexes of events that are there,
/// or with none if the tables cannot be read.
pub(super) fn schema(
    audit: &Audit<'_>,
    findings: &mut Findings,
) -> Result<Option<Vec<Index>>, StoreError> {
    let [found, expected] = audit.schemas()?;
    let mut readable = true;
    for (name, text) in &expected {
        let why = match found.get(name) {
            Some(found) if found == text => continue,
            Some(_) => "is not what it was made as",
            None => "is missing",
        };
        readable &= !name.starts_with("table ");
        findings.add(Kind::Schema, About::STORE, format!("{name} {why}"));
    }
    for name in found.keys().filter(|name| !expected.contains_key(*name)) {
        findings.add(Kind::Schema, About::STORE, format!("{} is not of mk", shown(name)));
    }
    let is_there = |index: &Index| {
        let name = format!("index {}", index.name());
        found.get(&name) == expected.get(&name)
    };
    Ok(readable.then(|| Index::ALL.into_iter().filter(is_there).collect()))
}

fn current_branches(
    audit: &Audit<'_>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let names: HashSet<&str> = plan.branches.values().map(|branch| branch.name.as_str()).collect();
    let mut wrong = |why| findings.add(Kind::CurrentBranch, About::STORE, why);
    for row in audit.current_branches()? {
        let (agent, branch) = match row {
            Ok(row) => row,
            Err(misfit) => {
                wrong(misfit.why);
                continue;
            }
        };
        if let Err(error) = agent.parse::<AgentId>() {
            wrong(error.to_string());
        }
        // No agent is on a branch of `mk`'s own, whose names do not parse.
        if !names.contains(branch.as_str()) || branch.parse::<BranchName>().is_err() {
            wrong(format!("'{}' is on '{}', which is none", shown(&agent), shown(&branch)));
        }
    }
    Ok(())
}

fn settings(audit: &Audit<'_>, findings: &mut Findings) -> Result<(), StoreError> {
    for row in audit.settings()? {
        let why = match row {
            Ok((key, value)) => setting_misfit(&key, &value),
            Err(misfit) => Some(misfit.why),
        };
        if let Some(why) = why {
            findings.add(Kind::Setting, About::STORE, why);
        }
    }
    Ok(())
}

/// What is wrong with a setting, which may be one of `mk`'s own.
fn setting_misfit(name: &str, value: &str) -> Option<String> {
    let fits = match name {
        transfer::ORIGIN => is_id(value),
        transfer::IMPORTED => value.parse::<u64>().is_ok_and(|it| it.to_string() == value),
        _ => {
            let checked = Setting::named(name).and_then(|setting| setting.check(value));
            return checked.err().map(|error| error.to_string());
        }
    };
    (!fits).then(|| format!("{name}: '{}' is nothing that mk puts there", shown(value)))
}

fn notices(audit: &Audit<'_>, findings: &mut Findings) -> Result<(), StoreError> {
    audit.notices(|row| {
        let wrong = match &row {
            Ok(notice) => {
                notice::misfit(notice).map(|why| format!("'{}': {why}", shown(&notice.id)))
            }
            Err(misfit) => Some(misfit.why.clone()),
        };
        if let Some(why) = wrong {
            findings.add(Kind::Notice, About::STORE, why);
        }
    })
}

pub(super) fn anchors(
    audit: &Audit<'_>,
    anchors: &[Anchor],
    findings: &mut Findings,
) -> Result<(), StoreError> {
    if anchors.is_empty() {
        return Ok(());
    }
    let project_id = audit.txn().identity()?.project_id;
    for anchor in anchors {
        let about = About::id(anchor.event);
        if anchor.project_id != project_id {
            let why = format!("the anchor is of project {}", shown(&anchor.project_id));
            findings.add(Kind::AnchorProject, about, why);
            continue;
        }
        let log = match anchor.event {
            EventId(0) => Some(Hash::ZERO),
            // The event at or before the next id.
            EventId(id) => audit
                .before(EventId(id.saturating_add(1)))?
                .filter(|(found, _)| *found == anchor.event)
                .map(|(_, log)| log.unwrap_or(Hash::ZERO)),
        };
        match log {
            None => {
                let why = "the log no longer has the event: it was cut, or is an old copy";
                findings.add(Kind::AnchorLost, about, why);
            }
            Some(log) if log != anchor.log => {
                let why = "the log up to the event is not the one that was anchored";
                findings.add(Kind::AnchorDiffers, about, why);
            }
            Some(_) => {}
        }
    }
    Ok(())
}
