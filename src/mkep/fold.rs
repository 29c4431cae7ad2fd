//! What the records of a goal add up to: a pure fold, a record at a time.
//!
//! Records are folded in the order of their number, then of their id. Stamps play no part.
//!
//! Rule: docs/spec/mkep.md, section 18.

use std::collections::BTreeMap;

use super::canonical::{self, Arrays};
use super::json::{Json, Members, object};
use super::record;
use super::registry::Entity;
use super::transition;

/// A goal after some of its records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Goal {
    /// None before it is declared.
    pub status: Option<&'static str>,
    pub gates: BTreeMap<String, Gate>,
    pub handoffs: BTreeMap<String, Handoff>,
    /// The highest number of its records, of any type.
    pub execution_seq: i64,
    pub unverified_waivers: i64,
    pub receipts_without_provenance: i64,
    /// Transitions that the table does not have, in their order.
    pub rejected: Vec<Rejected>,
    /// Records that declare a gate, repeated ones too.
    pub gate_records: i64,
    /// Records that declare or import a handoff.
    pub handoff_records: i64,
    /// The highest fence token of all its leases; 0 if there is none.
    pub highest_fence: i64,
    /// The place in the order of the last record that was folded.
    pub last: (i64, String),
}

/// A gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    pub status: &'static str,
    /// As declared; what is not true counts as not required.
    pub required: Json,
    pub scope_key: Json,
    /// The number of its last change into `pending`, else 0: its watermark.
    pub reopened_at_seq: i64,
}

impl Gate {
    #[must_use]
    pub fn is_required(&self) -> bool {
        !self.required.is_falsy()
    }

    /// Whether it keeps its goal from being satisfied.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.is_required() && !transition::is_settled(self.status)
    }
}

/// A handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff {
    pub status: &'static str,
    pub to_actor: Json,
    pub expires_at: Json,
    pub payload_digest: Json,
    pub imported_from: Json,
}

/// A transition that changed nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    pub record_id: Json,
    pub reason: &'static str,
}

const REASONS: &[&str] =
    &["undeclared_goal", "undeclared_gate", "undeclared_handoff", "forbidden_transition"];

impl Goal {
    /// Folds one more record of the goal. Total: a record of no concern only counts by its number.
    pub fn apply(&mut self, record: &Members) {
        let (number, id) = (record::event_seq(record), record::id(record));
        self.execution_seq = self.execution_seq.max(number);
        self.last = (number, id.to_owned());
        let member = |key: &str| record.get(key).cloned().unwrap_or(Json::Null);
        let name = |key: &str| record.text(key).unwrap_or_default().to_owned();
        match record.text("record_type").unwrap_or_default() {
            "evidence_receipt" => {
                let is_traced = record.given("provenance_id").is_some();
                self.receipts_without_provenance += i64::from(!is_traced);
            }
            "goal_declared" => {
                self.status.get_or_insert(transition::initial(Entity::Goal));
            }
            "gate_declared" => {
                self.gate_records += 1;
                self.gates.entry(name("gate_id")).or_insert_with(|| Gate {
                    status: transition::initial(Entity::Gate),
                    required: member("required"),
                    scope_key: member("scope_key"),
                    reopened_at_seq: 0,
                });
            }
            "handoff_declared" | "handoff_imported" => {
                self.handoff_records += 1;
                // Records of early days name their handoff themselves.
                let own = Some(name("handoff_id")).filter(|name| !name.is_empty());
                let handoff_id = own.unwrap_or_else(|| id.to_owned());
                self.handoffs.entry(handoff_id).or_insert_with(|| Handoff {
                    status: transition::initial(Entity::Handoff),
                    to_actor: member("to_actor"),
                    expires_at: member("expires_at"),
                    payload_digest: member("payload_digest"),
                    imported_from: member("imported_from"),
                });
            }
            "lease_grant" => {
                self.highest_fence = self.highest_fence.max(record::whole(record, "fence_token"));
            }
            "goal_transition" => self.change(Entity::Goal, "", record),
            "gate_transition" => self.change(Entity::Gate, &name("gate_id"), record),
            "handoff_transition" => self.change(Entity::Handoff, &name("handoff_id"), record),
            _ => {}
        }
    }

    /// Passes over a record that was erased: only its place is known.
    pub fn pass(&mut self, event_seq: i64, id: &str) {
        self.execution_seq = self.execution_seq.max(event_seq);
        self.last = (event_seq, id.to_owned());
    }

    fn change(&mut self, entity: Entity, name: &str, record: &Members) {
        let to = record.text("to_status").unwrap_or_default();
        let found = self.status_of(entity, name).map(|from| transition::find(entity, from, to));
        let reason = match (entity, found) {
            (_, Some(Some(change))) => return self.carry_out(name, change, record),
            (_, Some(None)) => "forbidden_transition",
            (Entity::Goal, None) => "undeclared_goal",
            (Entity::Gate, None) => "undeclared_gate",
            (Entity::Handoff, None) => "undeclared_handoff",
        };
        let record_id = record.get("id").cloned().unwrap_or(Json::Null);
        self.rejected.push(Rejected { record_id, reason });
    }

    fn carry_out(&mut self, name: &str, change: &transition::Transition, record: &Members) {
        match change.entity {
            Entity::Goal => self.status = Some(change.to),
            Entity::Gate => {
                if let Some(gate) = self.gates.get_mut(name) {
                    gate.status = change.to;
                    if change.reopens {
                        gate.reopened_at_seq = record::event_seq(record);
                    }
                }
            }
            Entity::Handoff => {
                if let Some(handoff) = self.handoffs.get_mut(name) {
                    handoff.status = change.to;
                }
            }
        }
        self.unverified_waivers += i64::from(change.waives);
    }

    /// The status of the goal, or of one of its gates or handoffs.
    #[must_use]
    pub fn status_of(&self, entity: Entity, name: &str) -> Option<&'static str> {
        match entity {
            Entity::Goal => self.status,
            Entity::Gate => self.gates.get(name).map(|gate| gate.status),
            Entity::Handoff => self.handoffs.get(name).map(|handoff| handoff.status),
        }
    }

    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.rejected.is_empty()
    }

    /// The gates that keep the goal from being satisfied, sorted.
    #[must_use]
    pub fn blockers(&self) -> Vec<String> {
        let blocking = self.gates.iter().filter(|(_, gate)| gate.blocks());
        blocking.map(|(name, _)| name.clone()).collect()
    }

    /// The gates as responses and the digest have them.
    #[must_use]
    pub fn gate_list(&self) -> Vec<Members> {
        self.gates.iter().map(|(name, gate)| gate_report(name, gate)).collect()
    }

    /// The handoffs as responses and the digest have them.
    #[must_use]
    pub fn handoff_list(&self) -> Vec<Members> {
        let report = |(name, handoff): (&String, &Handoff)| {
            object([
                ("handoff_id", named(name)),
                ("status", handoff.status.into()),
                ("to_actor", handoff.to_actor.clone()),
                ("expires_at", handoff.expires_at.clone()),
                ("payload_digest", handoff.payload_digest.clone()),
                ("imported_from", handoff.imported_from.clone()),
            ])
        };
        self.handoffs.iter().map(report).collect()
    }

    fn rejected_list(&self) -> Vec<Members> {
        let report = |rejected: &Rejected| {
            object([("record_id", rejected.record_id.clone()), ("reason", rejected.reason.into())])
        };
        self.rejected.iter().map(report).collect()
    }

    /// The digest of the projection of the goal `goal_id`, of a log with `skipped` damaged lines; none
    /// if a record that was not written here put into it what has no canonical form.
    #[must_use]
    pub fn digest(&self, goal_id: &str, skipped: i64) -> Option<String> {
        let projection = object([
            ("execution_schema", 1.into()),
            ("goal_id", goal_id.into()),
            ("goal_status", self.status.into()),
            ("gates", self.gate_list().into()),
            ("handoffs", self.handoff_list().into()),
            ("execution_seq", self.execution_seq.into()),
            ("unverified_waivers", self.unverified_waivers.into()),
            ("receipts_without_provenance", self.receipts_without_provenance.into()),
            ("skipped", skipped.into()),
            ("rejected_transitions", self.rejected_list().into()),
            ("consistent", self.is_consistent().into()),
        ]);
        canonical::digest(&projection, Arrays::Unbounded).ok()
    }

    /// The fold as it is stored.
    #[must_use]
    pub fn encoded(&self) -> String {
        object([
            ("status", self.status.into()),
            ("gates", self.gate_list().into()),
            ("handoffs", self.handoff_list().into()),
            ("execution_seq", self.execution_seq.into()),
            ("unverified_waivers", self.unverified_waivers.into()),
            ("receipts_without_provenance", self.receipts_without_provenance.into()),
            ("rejected", self.rejected_list().into()),
            ("gate_records", self.gate_records.into()),
            ("handoff_records", self.handoff_records.into()),
            ("highest_fence", self.highest_fence.into()),
            ("last_seq", self.last.0.into()),
            ("last_id", self.last.1.as_str().into()),
        ])
        .line()
    }

    /// The fold back from its stored form; none if that is not one.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let Json::Object(stored) = super::json::parse(text.as_bytes())? else { return None };
        let number = |key: &str| stored.get(key).and_then(Json::as_i64);
        let objects = |key: &str| {
            let items = stored.get(key)?.as_list()?.iter();
            items.map(Json::as_object).collect::<Option<Vec<_>>>()
        };
        let status =
            |members: &Members, entity| transition::status(entity, members.text("status")?);
        let member = |members: &Members, key| members.get(key).cloned();
        let gates = objects("gates")?.into_iter().map(|gate| {
            let read = Gate {
                status: status(gate, Entity::Gate)?,
                required: member(gate, "required")?,
                scope_key: member(gate, "scope_key")?,
                reopened_at_seq: gate.get("reopened_at_seq")?.as_i64()?,
            };
            Some((gate.text("gate_id").unwrap_or_default().to_owned(), read))
        });
        let handoffs = objects("handoffs")?.into_iter().map(|handoff| {
            let read = Handoff {
                status: status(handoff, Entity::Handoff)?,
                to_actor: member(handoff, "to_actor")?,
                expires_at: member(handoff, "expires_at")?,
                payload_digest: member(handoff, "payload_digest")?,
                imported_from: member(handoff, "imported_from")?,
            };
            Some((handoff.text("handoff_id").unwrap_or_default().to_owned(), read))
        });
        let rejected = objects("rejected")?.into_iter().map(|rejected| {
            let reason = rejected.text("reason")?;
            let reason = REASONS.iter().find(|known| **known == reason)?;
            Some(Rejected { record_id: member(rejected, "record_id")?, reason })
        });
        Some(Self {
            status: match stored.get("status")? {
                Json::Null => None,
                status => Some(transition::status(Entity::Goal, status.as_str()?)?),
            },
            gates: gates.collect::<Option<_>>()?,
            handoffs: handoffs.collect::<Option<_>>()?,
            execution_seq: number("execution_seq")?,
            unverified_waivers: number("unverified_waivers")?,
            receipts_without_provenance: number("receipts_without_provenance")?,
            rejected: rejected.collect::<Option<_>>()?,
            gate_records: number("gate_records")?,
            handoff_records: number("handoff_records")?,
            highest_fence: number("highest_fence")?,
            last: (number("last_seq")?, stored.text("last_id")?.to_owned()),
        })
    }
}

/// A gate as responses, the digest and a context have it.
#[must_use]
pub fn gate_report(name: &str, gate: &Gate) -> Members {
    object([
        ("gate_id", named(name)),
        ("status", gate.status.into()),
        ("required", gate.required.clone()),
        ("scope_key", gate.scope_key.clone()),
        ("reopened_at_seq", gate.reopened_at_seq.into()),
    ])
}

/// The name of an entity that a record may have left without one.
fn named(name: &str) -> Json {
    if name.is_empty() { Json::Null } else { name.into() }
}
