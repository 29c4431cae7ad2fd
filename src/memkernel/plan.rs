//! What an import would do, as far as it can be told without doing it.
//!
//! Rule: docs/spec/migrations.md, sections 3 and 6.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::ImportError;
use super::chain::{Checked, Finding, Place};
use super::original::MEMBER;
use crate::branch;
use crate::canon::{Object, Value};
use crate::event::{CONTENT_MAX, Event, EventType};
use crate::id::{BranchName, Hash, shown};
use crate::lease::{self, Resource};
use crate::store::memkernel::{CARRIED, Source};
use crate::store::{Branch, ReadTxn, StoreError, TOKEN_MAX};

/// How far the counter of a resource is moved past the last token that the source granted.
///
/// Rule: docs/design.md, section 10, "Tokens of leases".
const TOKENS_AHEAD: u64 = 1_000_000;

/// Findings and warnings that a plan lists; it counts them all.
pub const LISTED: usize = 100;

/// What the caller chooses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Options {
    /// Branch `b` becomes `PREFIX/b`.
    pub prefix: Option<BranchName>,
    /// Import what is sound of a broken source.
    pub allow_corrupt: bool,
}

/// Whether a plan was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    DryRun,
    Apply,
}

/// What an import does.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    pub plan_format: u32,
    /// SHA-256 over the plan without `plan_id`, `mode`, warnings and what only an import tells.
    pub plan_id: Hash,
    pub mode: Mode,
    pub source: Origin,
    pub options: Options,
    /// Empty if the project has everything.
    pub planned_actions: Vec<Action>,
    /// Events that the project has already.
    pub known: u64,
    pub user_files_touched: u64,
    /// Whether anything was imported; none in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<bool>,
    /// What names the import in the metadata of its events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import_id: Option<String>,
    /// `IMPORT_FINISHED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<crate::log::Appended>,
    pub blockers: Vec<Finding>,
    pub blockers_total: u64,
    pub warnings: Warnings,
    /// For each branch of the source; none if there is nothing of it to import.
    #[serde(skip)]
    pub(super) targets: Vec<Option<Target>>,
    /// The carried rows that the project has, by table and digest, with how often.
    #[serde(skip)]
    pub(super) rows: HashMap<(String, Hash), u64>,
    /// The keys of resources whose last token is to be this one.
    #[serde(skip)]
    pub(super) counters: BTreeMap<String, u64>,
}

/// What is imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    pub kind: &'static str,
    pub fingerprint: Hash,
}

/// A step of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Action {
    pub n: u64,
    pub kind: &'static str,
    /// A branch or a table, as the source names it.
    pub object: String,
    pub class: &'static str,
    /// Events to be appended; of leases, counters to be raised.
    pub count: u64,
    /// Events that are there already.
    pub known: u64,
}

/// What does not hinder an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub kind: &'static str,
    /// The branch, table or resource it is about, as the source names it.
    pub object: String,
    /// The event, as the source numbers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<i64>,
    pub why: String,
}

/// The first warnings, and how many there are of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Warnings {
    pub listed: Vec<Warning>,
    pub by_kind: BTreeMap<&'static str, u64>,
}

impl Warnings {
    pub(super) fn add(
        &mut self,
        kind: &'static str,
        object: &str,
        event_id: Option<i64>,
        why: impl Into<String>,
    ) {
        *self.by_kind.entry(kind).or_default() += 1;
        if self.listed.len() < LISTED {
            let (object, why) = (object.to_owned(), why.into());
            self.listed.push(Warning { kind, object, event_id, why });
        }
    }

    /// Takes over the warnings of `other` of kinds that there are none of here.
    pub(super) fn extend_beyond(&mut self, other: Self) {
        let own = self.by_kind.clone();
        let room = LISTED.saturating_sub(self.listed.len());
        let is_new = |kind: &&'static str| !own.contains_key(*kind);
        let listed = other.listed.into_iter().filter(|warning| is_new(&warning.kind));
        self.listed.extend(listed.take(room));
        self.by_kind.extend(other.by_kind.into_iter().filter(|(kind, _)| is_new(kind)));
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branch = shown(&self.branch);
        match self.event_id {
            Some(id) => write!(f, "'{branch}' at event {id}: {}", self.why),
            None => write!(f, "'{branch}': {}", self.why),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let object = shown(&self.object);
        match self.event_id {
            Some(id) => write!(f, "{}: '{object}' at event {id}: {}", self.kind, self.why),
            None => write!(f, "{}: '{object}': {}", self.kind, self.why),
        }
    }
}

/// Where a branch of the source goes.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub name: BranchName,
    /// The branch of that name, if it is this one.
    pub branch: Option<Branch>,
    /// The sequence of its last event that the project has; that of the fork point if it has none.
    pub known: u64,
}

pub(super) fn plan(
    source: &Source,
    checked: &Checked,
    txn: &dyn ReadTxn,
    options: &Options,
    place: &lease::Place,
) -> Result<Plan, ImportError> {
    let mut warnings = Warnings::default();
    let targets = targets(checked, txn, options, &mut warnings)?;
    let mut planned_actions = Vec::new();
    let mut add = |kind, object: &str, class, count, known| {
        let n = planned_actions.len() as u64 + 1;
        planned_actions.push(Action { n, kind, object: object.to_owned(), class, count, known });
    };
    let mut known_events = 0;
    for (lineage, target) in checked.branches.iter().zip(&targets) {
        let Some(target) = target else { continue };
        let known = target.known - lineage.fork_sequence();
        known_events += known;
        let count = lineage.own.len() as u64 - known;
        if count > 0 || target.branch.is_none() {
            add("import_branch", &lineage.row.name, "native", count, known);
        }
    }
    let rows = known_rows(txn, options)?;
    for table in CARRIED {
        let [count, known] = count_rows(source, table, &rows)?;
        known_events += known;
        if count > 0 {
            add("import_events", table, "carried", count, known);
        }
    }
    let counters = counters(source, txn, place, &mut warnings)?;
    if !counters.is_empty() {
        add("raise_counters", "leases", "counter", counters.len() as u64, 0);
    }
    let blocking = if options.allow_corrupt { 0 } else { checked.findings.len() };
    for finding in &checked.findings[blocking..] {
        warnings.add(finding.kind, &finding.branch, finding.event_id, &*finding.why);
    }
    let blockers = checked.findings[..blocking].iter().take(LISTED).cloned().collect();
    let mut plan = Plan {
        plan_format: 1,
        plan_id: Hash::ZERO,
        mode: Mode::DryRun,
        source: Origin { kind: "memkernel", fingerprint: source.fingerprint() },
        options: options.clone(),
        planned_actions,
        known: known_events,
        user_files_touched: 0,
        applied: None,
        import_id: None,
        event: None,
        blockers,
        blockers_total: blocking as u64,
        warnings,
        targets,
        rows,
        counters,
    };
    plan.plan_id = plan.id();
    Ok(plan)
}

impl Plan {
    fn id(&self) -> Hash {
        let text = serde_json::to_vec(self).expect("a plan has string keys only");
        let mut plan = match Value::parse(&text) {
            Ok(Value::Object(plan)) => plan,
            other => unreachable!("a plan is a JSON object, not {other:?}"),
        };
        for name in ["plan_id", "mode", "warnings"] {
            plan.remove(name);
        }
        Hash(Sha256::digest(plan.canonical()).into())
    }
}

fn targets(
    checked: &Checked,
    txn: &dyn ReadTxn,
    options: &Options,
    warnings: &mut Warnings,
) -> Result<Vec<Option<Target>>, ImportError> {
    let mut targets = Vec::with_capacity(checked.branches.len());
    let (mut continues, mut brings) = (false, false);
    for (at, lineage) in checked.branches.iter().enumerate() {
        if !lineage.is_usable() {
            targets.push(None);
            continue;
        }
        let name = local_name(&lineage.row.name, options)?;
        let branch = txn.branch(name.as_str())?;
        let fork = lineage.fork_sequence();
        let known = match &branch {
            Some(branch) => known_through(txn, branch, checked, at)?,
            None => fork,
        };
        continues |= known > fork;
        // A root without events that is here without events is the same.
        brings |= !lineage.own.is_empty()
            || !branch.as_ref().is_some_and(|it| it.parent.is_none() && it.head.is_none());
        targets.push(Some(Target { name, branch, known }));
    }
    if options.prefix.is_none() && brings && !continues && txn.log_head()?.is_some() {
        return Err(ImportError::PrefixRequired);
    }
    for (lineage, target) in checked.branches.iter().zip(&targets) {
        let Some(target) = target else { continue };
        let Some(branch) = &target.branch else { continue };
        let fork = lineage.fork_sequence();
        let is_empty_root =
            lineage.parent.is_none() && branch.parent.is_none() && branch.head.is_none();
        if target.known == fork && !is_empty_root {
            return Err(ImportError::BranchExists(target.name.clone()));
        }
        if target.known < fork + lineage.own.len() as u64
            && branch.head_sequence > target.known
            && let Some(head) = branch.head
        {
            return Err(ImportError::Diverged { branch: target.name.clone(), head });
        }
        if let Some(after) = txn.own_event(branch.id, target.known + 1)?
            && let Some(origin) = origin(&txn.known_event(after)?)
        {
            let event_id = origin.get("event_id").and_then(Value::as_i64);
            let why = "it was imported, and is no longer in the source";
            warnings.add("source_event_gone", &lineage.row.name, event_id, why);
        }
    }
    Ok(targets)
}

fn local_name(name: &str, options: &Options) -> Result<BranchName, ImportError> {
    let name = match &options.prefix {
        Some(prefix) => format!("{prefix}/{name}"),
        None => name.to_owned(),
    };
    Ok(name.parse()?)
}

/// The sequence up to which `branch` holds the own events of a branch of the source. Each hash covers
/// all events before, so that two lineages with one hash at a sequence are equal up to there.
fn known_through(
    txn: &dyn ReadTxn,
    branch: &Branch,
    checked: &Checked,
    at: usize,
) -> Result<u64, StoreError> {
    let lineage = &checked.branches[at];
    let fork = lineage.fork_sequence();
    let mut known = fork;
    let mut beyond = fork + lineage.own.len() as u64 + 1;
    while beyond - known > 1 {
        let middle = known + (beyond - known) / 2;
        let is_known = match (txn.own_event(branch.id, middle)?, checked.own(at, middle)) {
            (Some(id), Some(place)) => is_copy(&txn.known_event(id)?, place),
            _ => false,
        };
        if is_known { known = middle } else { beyond = middle }
    }
    Ok(known)
}

fn is_copy(event: &Event, place: &Place) -> bool {
    let hash = origin(event).and_then(|origin| origin.get("hash")?.as_str().map(str::to_owned));
    hash == Some(place.hash.to_string())
}

/// What the metadata of an event say of where it was imported from.
pub(super) fn origin(event: &Event) -> Option<Object> {
    let metadata = Value::parse(event.content.as_ref()?.metadata.as_bytes()).ok()?;
    metadata.get(MEMBER)?.as_object().cloned()
}

/// The rows that earlier imports under the same prefix carried over.
fn known_rows(
    txn: &dyn ReadTxn,
    options: &Options,
) -> Result<HashMap<(String, Hash), u64>, StoreError> {
    let mut known = HashMap::new();
    let Some(branch) = txn.branch(BranchName::IMPORT)? else {
        return Ok(known);
    };
    let prefix = Value::from(options.prefix.as_ref().map(BranchName::as_str));
    for id in branch::lineage(txn, branch.head, 0)? {
        let event = txn.known_event(id)?;
        let Some(origin) = origin(&event).filter(|_| event.kind == EventType::Imported) else {
            continue;
        };
        let digest = origin.get("sha256").and_then(Value::as_str).and_then(|it| it.parse().ok());
        let payload = event.members().unwrap_or_default();
        let store = payload.get("store").and_then(Value::as_str);
        if let (Some(store), Some(digest)) = (store, digest)
            && origin.get("prefix") == Some(&prefix)
        {
            *known.entry((store.to_owned(), digest)).or_default() += 1;
        }
    }
    Ok(known)
}

/// The counters of leases that are lower here than they must be, by the key that the resource has at
/// `place`: no token that the peer granted, or may still grant meanwhile, is granted again.
fn counters(
    source: &Source,
    txn: &dyn ReadTxn,
    place: &lease::Place,
    warnings: &mut Warnings,
) -> Result<BTreeMap<String, u64>, ImportError> {
    let mut counters: BTreeMap<String, u64> = BTreeMap::new();
    for row in source.leases()? {
        let (resource, token) = match row {
            Ok(lease) => lease,
            Err(why) => {
                warnings.add("lease_left_out", "leases", None, why);
                continue;
            }
        };
        let Some(last) = u64::try_from(token).ok().filter(|token| *token > 0) else {
            let why = format!("token {token} is none");
            warnings.add("lease_left_out", &shown(&resource), None, why);
            continue;
        };
        // What lies outside of the project is never leased here, and keeps the peer's key.
        let key = Resource::locate(&resource, place).or_else(|_| Resource::of_peer(&resource));
        let key = match key {
            Ok(key) => key.as_str().to_owned(),
            Err(error) => {
                warnings.add("lease_left_out", &shown(&resource), None, error.to_string());
                continue;
            }
        };
        // Several spellings of the peer can be one resource here.
        let raised = counters.entry(key).or_default();
        *raised = (*raised).max(last.saturating_add(TOKENS_AHEAD).min(TOKEN_MAX));
    }
    let mut lower = BTreeMap::new();
    for (key, token) in counters {
        let known = txn.lease(&key)?;
        if known.as_ref().is_some_and(|lease| lease.token >= token) {
            continue;
        }
        if known.is_some_and(|lease| lease.holder.is_some()) {
            let why = "its counter is raised, so who holds it here has to acquire it again";
            warnings.add("lease_raised", &key, None, why);
        }
        lower.insert(key, token);
    }
    Ok(lower)
}

/// The payload of the event that keeps a row, and the digest that tells it from others; none if it is
/// too large for an event.
pub(super) fn row_payload(table: &str, row: Object) -> Option<(Object, Hash)> {
    let digest = Hash(Sha256::digest(row.canonical()).into());
    let payload: Object =
        [("store", Value::from(table)), ("row", row.into())].into_iter().collect();
    (payload.canonical().len() <= CONTENT_MAX).then_some((payload, digest))
}

/// How many rows of `table` are new, and how many known.
fn count_rows(
    source: &Source,
    table: &str,
    known: &HashMap<(String, Hash), u64>,
) -> Result<[u64; 2], ImportError> {
    let mut left = known.clone();
    let mut counts = [0, 0];
    source.rows(table, |row| {
        if let Some((_, digest)) = row_payload(table, row) {
            counts[usize::from(take_known(&mut left, table, digest))] += 1;
        }
        Ok::<_, ImportError>(())
    })?;
    Ok(counts)
}

/// Whether one more row with this digest is known.
pub(super) fn take_known(
    known: &mut HashMap<(String, Hash), u64>,
    table: &str,
    digest: Hash,
) -> bool {
    match known.get_mut(&(table.to_owned(), digest)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}
