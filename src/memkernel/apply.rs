//! Carrying out a plan: one event after the other, as the peer numbered them.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::ImportError;
use super::chain::Checked;
use super::original::{Form, MEMBER, Original};
use super::plan::{self, Mode, Plan};
use super::sections;
use crate::branch;
use crate::canon::{Object, Value};
use crate::event::{Content, EventType};
use crate::id::{AgentId, BranchName, EventId, Hash, hex};
use crate::lease;
use crate::log::{Appended, Copied, Log, Outside};
use crate::secret;
use crate::store::memkernel::{CARRIED, EventRow, Source};
use crate::store::{Branch, StoreError};
use crate::time::Timestamp;
use crate::workspace;

pub(super) fn apply(
    plan: Plan,
    source: &Source,
    checked: &Checked,
    log: &mut Log<'_>,
    agent: &AgentId,
    outside: &mut Outside<'_>,
) -> Result<Plan, ImportError> {
    let before = log.txn().log_head()?.map_or(EventId(0), |(id, _)| id);
    let mut import = Import {
        id: hex(&plan.plan_id.0[..16]),
        keeps_ids: before == EventId(0),
        branches: HashMap::new(),
        own: None,
        before,
        imported: Vec::new(),
        ends: None,
        digest: Sha256::new(),
        counts: [0; 2],
        plan,
        checked,
        log,
        outside,
    };
    source.events(|row| match row {
        Ok(row) => import.event(&row),
        // It has been said.
        Err(_) => Ok(()),
    })?;
    for (at, lineage) in checked.branches.iter().enumerate() {
        if lineage.parent.is_none() && import.plan.targets[at].is_some() {
            import.branch(at, None)?;
        }
    }
    for table in CARRIED {
        source.rows(table, |row| import.row(table, row, agent))?;
    }
    for (resource, token) in &import.plan.counters {
        lease::raise_token(import.log.txn_mut(), resource, *token)?;
    }
    import.finish(agent)
}

struct Import<'i, 'l, 't, 'o> {
    id: String,
    /// Whether events should come out with the numbers they had.
    keeps_ids: bool,
    plan: Plan,
    checked: &'i Checked,
    log: &'l mut Log<'t>,
    outside: &'l mut Outside<'o>,
    /// Of the branches of the source.
    branches: HashMap<usize, Branch>,
    /// The branch of imports, and when it was last appended to.
    own: Option<(Branch, Timestamp)>,
    /// The last event before the import.
    before: EventId,
    /// The events that were appended after it, one after the other, as the source numbers them.
    imported: Vec<i64>,
    /// The first and the last event that were appended.
    ends: Option<(Hash, Hash)>,
    /// Over the hashes of what was imported.
    digest: Sha256,
    /// Events, and rows.
    counts: [u64; 2],
}

impl Import<'_, '_, '_, '_> {
    fn event(&mut self, row: &EventRow) -> Result<(), ImportError> {
        let Some(place) = self.checked.find(row.id) else { return Ok(()) };
        let Some(target) = &self.plan.targets[place.branch] else { return Ok(()) };
        if place.sequence <= target.known {
            return Ok(());
        }
        let Ok(original) = Original::read(row) else { return Ok(()) };
        let branch = self.branch(place.branch, Some(&original))?;
        let metadata = original.stamped_metadata(&self.id);
        let text = original.text_payload();
        let (kind, payload, members) = match &original.form {
            Form::Native(kind, members) => (*kind, row.payload.clone(), members),
            Form::Text { why } => {
                self.plan.warnings.add("kept_as_text", &row.branch, Some(row.id), *why);
                (EventType::Imported, text.canonical(), &text)
            }
        };
        let copied = Copied {
            kind,
            agent: original.agent.clone(),
            timestamp: original.timestamp,
            content: Content {
                salt: (self.outside.salt)(),
                payload,
                metadata: metadata.canonical(),
            },
            members: members.clone(),
        };
        let live = place.link.live_parent.map(|live| self.number(live.0)).transpose()?;
        let appended = self.log.copy(&branch, copied, live)?;
        self.imported.push(row.id);
        self.note(&appended, &row.hash);
        self.counts[0] += 1;
        if self.keeps_ids && appended.event_id.0 != row.id {
            self.keeps_ids = false;
            let why = format!("ids are not kept from here on: it is event {}", appended.event_id);
            self.plan.warnings.add("event_ids_changed", &row.branch, Some(row.id), why);
        }
        for text in [&row.payload, &row.metadata] {
            for found in secret::find(text) {
                let why = format!("it holds what looks like a secret ({})", found.rule);
                self.plan.warnings.add("secret_found", &row.branch, Some(row.id), why);
            }
        }
        if kind == EventType::Snapshot {
            self.check_snapshot(row, members)?;
        }
        Ok(())
    }

    /// Tells of a snapshot that is not the fold of what it covers: the peer's state follows it.
    fn check_snapshot(&mut self, row: &EventRow, snapshot: &Object) -> Result<(), ImportError> {
        let covers = snapshot.get("covers_through_event_id").and_then(Value::as_i64);
        let covers = self.number(covers.unwrap_or_default())?;
        let txn = self.log.txn();
        let state = workspace::state(txn, Some(covers))?;
        let number = |event: EventId| {
            let index = usize::try_from(event.0 - self.before.0 - 1);
            match index.ok().and_then(|index| self.imported.get(index)) {
                Some(number) => Some(*number),
                None => plan::origin(&txn.event(event).ok()??)?.get("event_id")?.as_i64(),
            }
        };
        if let Some(section) = sections::differing(snapshot, &sections::peer_state(&state, &number))
        {
            let why = format!("its section '{section}' is not the fold of what it covers");
            self.plan.warnings.add("snapshot_forged", &row.branch, Some(row.id), why);
        }
        Ok(())
    }

    /// The number here of a sound event of the source.
    fn number(&self, id: i64) -> Result<EventId, StoreError> {
        if let Ok(index) = self.imported.binary_search(&id) {
            return Ok(EventId(self.before.0 + 1 + index as i64));
        }
        let missing = || StoreError::damaged(format!("imported event {id} is missing"));
        let place = self.checked.find(id).ok_or_else(missing)?;
        let target = self.plan.targets[place.branch].as_ref().ok_or_else(missing)?;
        let branch = target.branch.as_ref().ok_or_else(missing)?;
        self.log.txn().own_event(branch.id, place.sequence)?.ok_or_else(missing)
    }

    fn note(&mut self, appended: &Appended, source_hash: &str) {
        self.ends = Some((self.ends.map_or(appended.hash, |(first, _)| first), appended.hash));
        self.digest.update(source_hash);
        self.digest.update("\n");
    }

    /// A branch of the source, made if there is none yet: a root at any time, a fork by `first`, its
    /// first event.
    fn branch(&mut self, at: usize, first: Option<&Original<'_>>) -> Result<Branch, ImportError> {
        if let Some(branch) = self.branches.get(&at) {
            return Ok(branch.clone());
        }
        let lineage = &self.checked.branches[at];
        let missing = || StoreError::damaged(format!("'{}' has no place", lineage.row.name));
        let target = self.plan.targets[at].as_ref().ok_or_else(missing)?;
        let (name, existing) = (target.name.clone(), target.branch.clone());
        let branch = match existing {
            Some(branch) => branch,
            None => {
                let founding = lineage.founding.as_ref().ok_or_else(missing)?;
                // What no hash of the peer covers is not believed where an event tells: a fork was
                // made when, and by whom, its first event says.
                let (created_at, created_by) = match (lineage.parent, first) {
                    (None, _) => (founding.at, founding.by.clone()),
                    (Some(_), Some(first)) => (first.timestamp, first.agent.clone()),
                    (Some(_), None) => return Err(missing().into()),
                };
                let parent = match lineage.parent {
                    Some(parent) => Some(self.branch(parent, None)?.id),
                    None => None,
                };
                let point = match lineage.row.fork_event {
                    Some(point) => Some(self.log.txn().known_event(self.number(point)?)?),
                    None => None,
                };
                let names = (name, founding.name.clone());
                let founded = (created_at, created_by);
                let mut branch = Branch::begun(names, parent, point.as_ref(), founded);
                branch.id = self.log.txn_mut().insert_branch(&branch)?;
                branch
            }
        };
        self.branches.insert(at, branch.clone());
        Ok(branch)
    }

    /// Carries a row over.
    fn row(
        &mut self,
        table: &'static str,
        row: Object,
        agent: &AgentId,
    ) -> Result<(), ImportError> {
        let Some((payload, digest)) = plan::row_payload(table, row) else {
            let why = "a row is too large for an event";
            self.plan.warnings.add("row_left_out", table, None, why);
            return Ok(());
        };
        if plan::take_known(&mut self.plan.rows, table, digest) {
            return Ok(());
        }
        let prefix = self.plan.options.prefix.as_ref().map(BranchName::as_str);
        let origin: Object = [
            ("id", Value::from(self.id.as_str())),
            ("prefix", prefix.into()),
            ("sha256", digest.to_string().into()),
        ]
        .into_iter()
        .collect();
        let appended = self.record(EventType::Imported, payload, Some(origin), agent)?;
        self.note(&appended, &digest.to_string());
        self.counts[1] += 1;
        Ok(())
    }

    /// Appends to the branch of imports.
    fn record(
        &mut self,
        kind: EventType,
        members: Object,
        origin: Option<Object>,
        agent: &AgentId,
    ) -> Result<Appended, ImportError> {
        let now = (self.outside.now)();
        let (branch, last) = match self.own.take() {
            Some(own) => own,
            None => own_branch(self.log, now, agent)?,
        };
        let timestamp = now.max(last);
        let metadata: Object = origin.into_iter().map(|origin| (MEMBER, origin)).collect();
        let content = Content {
            salt: (self.outside.salt)(),
            payload: members.canonical(),
            metadata: metadata.canonical(),
        };
        let copied = Copied { kind, agent: agent.clone(), timestamp, content, members };
        let appended = self.log.copy(&branch, copied, None)?;
        self.own = Some((branch, timestamp));
        Ok(appended)
    }

    fn finish(mut self, agent: &AgentId) -> Result<Plan, ImportError> {
        let [events, rows] = self.counts;
        let prefix = self.plan.options.prefix.as_ref().map(BranchName::as_str);
        let options = [
            ("prefix", Value::from(prefix)),
            ("allow_corrupt", self.plan.options.allow_corrupt.into()),
        ];
        let counts = [("events", events), ("rows", rows), ("branches", self.branches.len() as u64)];
        let digest = Hash(self.digest.clone().finalize().into());
        let payload: Object = [
            ("import_id", Value::from(self.id.as_str())),
            ("source", self.plan.source.kind.into()),
            ("fingerprint", self.plan.source.fingerprint.to_string().into()),
            ("plan_id", self.plan.plan_id.to_string().into()),
            ("options", options.into_iter().collect::<Object>().into()),
            ("counts", counts.into_iter().collect::<Object>().into()),
            ("first_hash", self.ends.map(|(first, _)| first.to_string()).into()),
            ("last_hash", self.ends.map(|(_, last)| last.to_string()).into()),
            ("digest", digest.to_string().into()),
        ]
        .into_iter()
        .collect();
        let event = self.record(EventType::ImportFinished, payload, None, agent)?;
        Ok(Plan {
            mode: Mode::Apply,
            applied: Some(true),
            import_id: Some(self.id),
            event: Some(event),
            ..self.plan
        })
    }
}

/// The branch of imports, made if there is none yet, and when it was last appended to.
fn own_branch(
    log: &mut Log<'_>,
    created_at: Timestamp,
    agent: &AgentId,
) -> Result<(Branch, Timestamp), ImportError> {
    let name = BranchName::stored(BranchName::IMPORT);
    if let Some(branch) = log.txn().branch(name.as_str())? {
        let last = match branch.head {
            Some(head) => log.txn().known_event(head)?.timestamp,
            None => branch.created_at,
        };
        return Ok((branch, last));
    }
    let branch = branch::own(log.txn_mut(), name, created_at, agent)?;
    Ok((branch, created_at))
}
