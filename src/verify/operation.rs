//! Whether what was answered under an op id is what the store has.

use rustc_hash::FxHashMap;

use super::report::{About, Findings, Kind};
use super::rows::Plan;
use crate::canon::{Object, Value};
use crate::event::Event;
use crate::id::{EventId, shown};
use crate::log::Appended;
use crate::notice::Posted;
use crate::operation::OpId;
use crate::store::StoreError;
use crate::store::audit::Audit;

/// Operations that are read at once.
const CHUNK: i64 = 256;

pub(super) fn verify(
    audit: &Audit<'_>,
    plan: &Plan,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut check = Check { audit, plan, findings, made: FxHashMap::default(), place: 0 };
    let mut after = None;
    loop {
        let rows = audit.operations(after.as_deref(), CHUNK)?;
        for row in &rows {
            check.place += 1;
            check.row(&row.id, row.digest, &row.report)?;
        }
        after = rows.into_iter().last().map(|row| row.id);
        if after.is_none() {
            return Ok(());
        }
    }
}

struct Check<'a, 'f> {
    audit: &'a Audit<'a>,
    plan: &'a Plan,
    findings: &'f mut Findings,
    /// By which operation an event was made, counted from 1.
    made: FxHashMap<EventId, u64>,
    place: u64,
}

impl Check<'_, '_> {
    fn row(&mut self, id: &str, digest: usize, report: &str) -> Result<(), StoreError> {
        if let Err(error) = id.parse::<OpId>() {
            self.wrong(id, None, error.to_string());
        }
        if digest != 32 {
            self.wrong(id, None, format!("digest is {digest} bytes"));
        }
        match Value::parse(report.as_bytes()) {
            Ok(Value::Object(report)) => self.object(id, &report),
            _ => {
                self.wrong(id, None, "report is no JSON object".to_owned());
                Ok(())
            }
        }
    }

    fn wrong(&mut self, id: &str, event: Option<EventId>, why: String) {
        let about = event.map_or(About::STORE, About::id);
        self.findings.add(Kind::Operation, about, format!("'{}': {why}", shown(id)));
    }

    /// A report, or a part of one.
    fn object(&mut self, id: &str, part: &Object) -> Result<(), StoreError> {
        for (name, _) in part.iter().filter(|(name, _)| name.ends_with("event_id")) {
            self.named(id, part, name)?;
        }
        if let Ok(said) = serde_json::from_str::<Appended>(&part.canonical()) {
            self.appended(id, &said)?;
        }
        if let Ok(said) = serde_json::from_str::<Posted>(&part.canonical()) {
            self.posted(id, &said)?;
        }
        let number = |name: &str| part.get(name).and_then(Value::as_i64);
        if let (Some(first), Some(count)) = (number("first_event_id"), number("count")) {
            let last = first.saturating_add(count - 1);
            if count < 0 || (count > 0 && (first < 1 || last > self.plan.last.0)) {
                let why = "the log does not have all of its events".to_owned();
                self.wrong(id, Some(EventId(first)), why);
            }
        }
        let resource = part.get("resource").and_then(Value::as_str);
        if let (Some(resource), Some(token)) = (resource, number("fencing_token")) {
            let known = self.audit.txn().lease(resource)?;
            if known.is_none_or(|lease| lease.token.cast_signed() < token) {
                let why = format!("'{}' never had token {token}", shown(resource));
                self.wrong(id, None, why);
            }
        }
        for (_, value) in part.iter() {
            self.value(id, value)?;
        }
        Ok(())
    }

    fn value(&mut self, id: &str, value: &Value) -> Result<(), StoreError> {
        match value {
            Value::Object(part) => self.object(id, part),
            Value::Array(items) => items.iter().try_for_each(|item| self.value(id, item)),
            _ => Ok(()),
        }
    }

    /// Holds an event's number against the hash beside it.
    fn named(&mut self, id: &str, part: &Object, name: &str) -> Result<(), StoreError> {
        let Some(event) = part.get(name).and_then(Value::as_i64).map(EventId) else {
            return Ok(());
        };
        let hash = part.get(&format!("{}hash", name.trim_end_matches("event_id")));
        let found = self.event(event)?;
        let is_it = match (&found, hash.and_then(Value::as_str)) {
            (Some(found), Some(hash)) => found.hash.to_string() == hash,
            (found, _) => found.is_some(),
        };
        if !is_it {
            let why = "its event is another, or missing".to_owned();
            self.wrong(id, Some(event), why);
        }
        Ok(())
    }

    /// Holds what was said of an event against the event, which is the work of one operation alone.
    fn appended(&mut self, id: &str, said: &Appended) -> Result<(), StoreError> {
        let Some(event) = self.event(said.event_id)? else { return Ok(()) };
        let place = self.place;
        if *self.made.entry(event.id).or_insert(place) != place {
            let why = "its event is another operation's".to_owned();
            self.wrong(id, Some(event.id), why);
        }
        let redacted = event.content.as_ref().map(|content| redacted(&content.metadata));
        let differing = [
            ("sequence", said.sequence != event.sequence),
            ("timestamp", said.timestamp != event.timestamp),
            ("agent_id", said.agent_id != event.agent),
            ("parent_event_id", said.parent_event_id != event.parent),
            ("event_type", said.event_type != event.kind),
            ("branch_id", !self.is_branch(&event, said.branch_id.as_str())),
            (
                "redacted",
                redacted.is_some_and(|known| said.redacted.iter().any(|it| !known.contains(it))),
            ),
        ];
        for (name, _) in differing.iter().filter(|(_, differs)| *differs) {
            self.wrong(id, Some(event.id), format!("{name} is not that of its event"));
        }
        Ok(())
    }

    /// Whether the branch of `event` may have had that name.
    fn is_branch(&self, event: &Event, name: &str) -> bool {
        // What is wrong with an event without a branch has been said.
        let Some(branch) = self.plan.branches.get(&event.lineage) else { return true };
        let now = branch.name.as_str();
        // An import gives names, and takes them.
        name == now || branch.name != branch.born || name.contains(".from-")
    }

    fn posted(&mut self, id: &str, said: &Posted) -> Result<(), StoreError> {
        let found = self.audit.txn().notice(&said.notice_id)?;
        let is_it = found.is_some_and(|notice| {
            // It may have been cleared since, here or elsewhere.
            let cleared = notice.cleared_at;
            let known = Posted::new(notice, said.redacted.clone());
            let known = Posted { cleared_at: said.cleared_at.clone(), ..known };
            known == *said && (said.cleared_at.is_none() || cleared.is_some())
        });
        if !is_it {
            let why = format!("its notice, '{}', is another, or missing", shown(&said.notice_id));
            self.wrong(id, None, why);
        }
        Ok(())
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        match self.audit.txn().event(id) {
            // What is wrong with it is said elsewhere.
            Err(StoreError::Damaged { .. }) => Ok(None),
            other => other,
        }
    }
}

/// The rules by which metadata say that secrets were taken out.
fn redacted(metadata: &str) -> Vec<String> {
    let metadata = Value::parse(metadata.as_bytes()).unwrap_or_default();
    let rules = metadata.get("redacted").and_then(Value::as_array).unwrap_or_default();
    rules.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
