//! The state machines of goals, gates and handoffs, as one table.
//!
//! Rule: docs/spec/mkep.md, section 11.

use super::registry::Entity;

/// A change that may happen, and what it needs. Any other change is refused.
#[derive(Debug)]
pub struct Transition {
    pub entity: Entity,
    pub from: &'static str,
    pub to: &'static str,
    /// An argument that must be given.
    pub needs: Option<&'static str>,
    /// The verdict of the receipt that it stands on.
    pub evidence: Option<&'static str>,
    /// It rests on the unverified word of a human alone.
    pub waives: bool,
    /// It moves the watermark that receipts must be newer than.
    pub reopens: bool,
    /// It needs every required gate settled.
    pub settles: bool,
}

const fn change(entity: Entity, from: &'static str, to: &'static str) -> Transition {
    Transition {
        entity,
        from,
        to,
        needs: None,
        evidence: None,
        waives: false,
        reopens: false,
        settles: false,
    }
}

const REASON: Option<&str> = Some("reopen_reason");

const TABLE: &[Transition] = &[
    Transition { settles: true, ..change(Entity::Goal, "open", "satisfied") },
    Transition { needs: Some("reason"), ..change(Entity::Goal, "open", "abandoned") },
    Transition { evidence: Some("pass"), ..change(Entity::Gate, "pending", "passed") },
    Transition { evidence: Some("fail"), ..change(Entity::Gate, "pending", "failed") },
    Transition { waives: true, ..change(Entity::Gate, "pending", "waived") },
    Transition { waives: true, ..change(Entity::Gate, "failed", "waived") },
    Transition { needs: REASON, reopens: true, ..change(Entity::Gate, "passed", "pending") },
    Transition { needs: REASON, reopens: true, ..change(Entity::Gate, "failed", "pending") },
    Transition {
        needs: REASON,
        evidence: Some("pass"),
        ..change(Entity::Gate, "failed", "passed")
    },
    change(Entity::Handoff, "offered", "accepted"),
    change(Entity::Handoff, "accepted", "completed"),
];

/// The transition of `entity` between these statuses, if there is one.
#[must_use]
pub fn find(entity: Entity, from: &str, to: &str) -> Option<&'static Transition> {
    TABLE.iter().find(|change| change.entity == entity && change.from == from && change.to == to)
}

/// The status that an entity is declared in.
#[must_use]
pub fn initial(entity: Entity) -> &'static str {
    match entity {
        Entity::Goal => "open",
        Entity::Gate => "pending",
        Entity::Handoff => "offered",
    }
}

/// The status of that name, as the table has it.
#[must_use]
pub fn status(entity: Entity, name: &str) -> Option<&'static str> {
    let changes = TABLE.iter().filter(|change| change.entity == entity);
    let mut names = changes.flat_map(|change| [change.from, change.to]);
    names.find(|known| *known == name)
}

/// Whether a gate in this status no longer holds its goal up.
#[must_use]
pub fn is_settled(status: &str) -> bool {
    matches!(status, "passed" | "waived")
}
