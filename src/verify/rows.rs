//! What is read once, before the events: the schema, the branches, where checkpoints are; and the
//! tables that are small.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::report::{About, Findings, Kind};
use super::{Anchor, soft};
use crate::canon::{Object, Value};
use crate::id::{AgentId, EventId, Hash, LineageId, shown};
use crate::notice;
use crate::operation::OpId;
use crate::store::audit::{Audit, Index};
use crate::store::{Branch, Lease, RESOURCE_MAX, StoreError, TTL_MAX};
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
            branches,
        };
        let small = small_tables(audit, &plan, findings);
        soft(small, findings)?;
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

fn small_tables(audit: &Audit<'_>, plan: &Plan, findings: &mut Findings) -> Result<(), StoreError> {
    let names: HashSet<&str> = plan.branches.values().map(|branch| branch.name.as_str()).collect();
    for (agent, branch) in audit.current_branches()? {
        if let Err(error) = agent.parse::<AgentId>() {
            findings.add(Kind::CurrentBranch, About::STORE, error.to_string());
        }
        if !names.contains(branch.as_str()) {
            let why = format!("'{}' is on '{}', which is none", shown(&agent), shown(&branch));
            findings.add(Kind::CurrentBranch, About::STORE, why);
        }
    }
    audit.leases(|row| {
        let wrong = match &row {
            Ok(lease) => {
                lease_misfit(lease, plan).map(|why| format!("'{}': {why}", shown(&lease.resource)))
            }
            Err(misfit) => Some(misfit.why.clone()),
        };
        if let Some(why) = wrong {
            findings.add(Kind::Lease, About::STORE, why);
        }
    })?;
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
    })?;
    super::exchange::verify(audit, findings)?;
    let mut named = HashMap::new();
    audit.operations(|id, digest, report| {
        let mut wrong = |why: String| {
            findings.add(Kind::Operation, About::STORE, format!("'{}': {why}", shown(id)));
        };
        if let Err(error) = id.parse::<OpId>() {
            wrong(error.to_string());
        }
        if digest != 32 {
            wrong(format!("digest is {digest} bytes"));
        }
        match Value::parse(report.as_bytes()) {
            Ok(Value::Object(report)) => {
                let event = report.get("event").and_then(Value::as_object);
                named.extend(
                    event_of(&report).or(event.and_then(event_of)).map(|it| (id.to_owned(), it)),
                );
            }
            _ => wrong("report is no JSON object".to_owned()),
        }
    })?;
    for (op_id, (id, hash)) in named {
        let event = audit.txn().event(id)?;
        if event.is_none_or(|event| event.hash != hash) {
            let why = format!("'{op_id}': its event is another, or missing");
            findings.add(Kind::Operation, About::id(id), why);
        }
    }
    Ok(())
}

/// What is wrong with a lease.
fn lease_misfit(lease: &Lease, plan: &Plan) -> Option<String> {
    if !(1..=RESOURCE_MAX).contains(&lease.resource.chars().count()) {
        return Some(format!("resource is not 1 to {RESOURCE_MAX} characters"));
    }
    if lease.ttl > TTL_MAX {
        return Some(format!("ttl is above {} s", TTL_MAX.as_secs()));
    }
    let holder = lease.holder.as_ref()?;
    if lease.token == 0 || lease.ttl.is_zero() {
        return Some("it is held and was never granted".to_owned());
    }
    if !plan.branches.contains_key(&holder.branch) {
        return Some(format!("branch {} is missing", holder.branch.0));
    }
    holder.agent.as_str().parse::<AgentId>().err().map(|error| error.to_string())
}

/// The event that a report names.
fn event_of(report: &Object) -> Option<(EventId, Hash)> {
    let id = report.get("event_id")?.as_i64()?;
    Some((EventId(id), report.get("hash")?.as_str()?.parse().ok()?))
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
