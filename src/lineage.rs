//! The live timeline as a tree, and how to move on it in O(log n).
//!
//! Every event has a *live parent*: its predecessor on the live timeline, which for a rollback is
//! the target and for the first event of a fork the fork point. The live timeline of a branch is the
//! path from its head to the root of this tree. Each event also has a *jump* to some ancestor, chosen
//! as in a skew-binary list (Myers, "An applicative random-access stack", 1983), so that the
//! ancestor at any depth is found in O(log n) steps.

use crate::id::{EventId, LineageId};

/// What the lineage index knows of an event. All of it follows from the events before; `mk verify`
/// computes it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The branch the event was appended to.
    pub lineage: LineageId,
    /// Its predecessor on the live timeline; none for a root.
    pub live_parent: Option<EventId>,
    /// Events on the live timeline up to and with this one.
    pub depth: u64,
    /// An ancestor on the live timeline, itself for a root.
    pub jump: EventId,
    /// The depth of `jump`.
    pub jump_depth: u64,
    /// The nearest snapshot on the live timeline up to and with this event.
    pub snapshot: Option<EventId>,
    /// Tokens of the blocks of all live events up to and with this one, snapshots not counted.
    pub tokens: u64,
    /// Tokens of the context text of the live timeline that ends here: those of the block of the
    /// nearest snapshot, and of all live events that it does not cover.
    ///
    /// Rule: docs/spec/kernel.md, section 10.
    pub context: u64,
    /// The nearest live ancestor by another agent than the author of the newest live event up to and
    /// with this one; snapshots count neither as that ancestor nor as that newest event.
    pub other: Option<EventId>,
}

impl Link {
    /// Whether this can be the link of `id`: it leads to events before, and so to an end.
    #[must_use]
    pub fn points_back(&self, id: EventId) -> bool {
        let depths = 1..=id.0.unsigned_abs();
        let jumps = match self.live_parent {
            Some(parent) => parent < id && self.jump < id,
            None => self.jump == id,
        };
        jumps
            && self.jump_depth <= self.depth
            && depths.contains(&self.depth)
            && self.snapshot.is_none_or(|snapshot| snapshot <= id)
            && self.other.is_none_or(|other| other < id)
    }
}

/// An event with its link.
pub type Linked = (EventId, Link);

/// Who wrote the newest live event that is no snapshot, and which event that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Author<'a> {
    pub event: EventId,
    pub agent: &'a str,
}

/// What an event adds to its timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adds<'a> {
    /// A block of so many tokens, by its author.
    Block { agent: &'a str, tokens: u64 },
    /// A snapshot; with it the context text has so many tokens.
    Snapshot { context: u64 },
    /// A snapshot that was erased, and is not read through.
    Nothing,
}

/// The link of a new event `id` after `parent` on the live timeline of `lineage`.
///
/// `parent` comes with the link of its jump, and with the author of the newest live event that is no
/// snapshot.
#[must_use]
pub fn extend(
    id: EventId,
    lineage: LineageId,
    parent: Option<(Linked, Linked, Option<Author<'_>>)>,
    adds: Adds<'_>,
) -> Link {
    let before = parent.map_or(0, |((_, parent), ..)| parent.context);
    let (agent, tokens, snapshot, context) = match adds {
        Adds::Block { agent, tokens } => (Some(agent), tokens, None, before + tokens),
        Adds::Snapshot { context } => (None, 0, Some(id), context),
        Adds::Nothing => (None, 0, None, before),
    };
    let Some(((parent_id, parent), (_, jump), author)) = parent else {
        return Link {
            lineage,
            live_parent: None,
            depth: 1,
            jump: id,
            jump_depth: 1,
            snapshot,
            tokens,
            context,
            other: None,
        };
    };
    // Two jumps of one length, written as a sum: depths of a damaged store may be in no order.
    let even = parent.depth + jump.jump_depth == 2 * parent.jump_depth;
    let far = even && parent.jump != parent_id;
    Link {
        lineage,
        live_parent: Some(parent_id),
        depth: parent.depth + 1,
        jump: if far { jump.jump } else { parent_id },
        jump_depth: if far { jump.jump_depth } else { parent.depth },
        snapshot: snapshot.or(parent.snapshot),
        tokens: parent.tokens + tokens,
        context,
        other: match (agent, author) {
            (Some(agent), Some(author)) if author.agent != agent => Some(author.event),
            _ => parent.other,
        },
    }
}

/// The first event from `from` towards the root for which `reached` holds; `reached` must hold for
/// all ancestors of an event for which it holds. O(log n) calls of `link`.
///
/// # Errors
/// Those of `link`.
pub fn first_reached<E>(
    mut from: Linked,
    mut link: impl FnMut(EventId) -> Result<Link, E>,
    mut reached: impl FnMut(&Linked) -> Result<bool, E>,
) -> Result<Option<Linked>, E> {
    while !reached(&from)? {
        let Some(parent) = from.1.live_parent else { return Ok(None) };
        let jump = (from.1.jump, link(from.1.jump)?);
        from =
            if from.1.jump == parent || reached(&jump)? { (parent, link(parent)?) } else { jump };
    }
    Ok(Some(from))
}

/// The live ancestor of `from` (or itself) at `depth`.
///
/// # Errors
/// Those of `link`.
pub fn at_depth<E>(
    from: Linked,
    depth: u64,
    link: impl FnMut(EventId) -> Result<Link, E>,
) -> Result<Option<Linked>, E> {
    let found = first_reached(from, link, |(_, link)| Ok(link.depth <= depth))?;
    Ok(found.filter(|(_, link)| link.depth == depth))
}

/// Whether `event` is on the live timeline that ends at `head`.
///
/// # Errors
/// Those of `link`.
pub fn is_live<E>(
    head: Linked,
    event: EventId,
    link: impl FnMut(EventId) -> Result<Link, E>,
) -> Result<bool, E> {
    // Ids fall along the live timeline, because a parent is always written before its child.
    let found = first_reached(head, link, |(id, _)| Ok(*id <= event))?;
    Ok(found.is_some_and(|(id, _)| id == event))
}

/// The newest event on the live timelines of both `a` and `b`.
///
/// # Errors
/// Those of `link`.
pub fn live_base<E>(
    mut a: Linked,
    mut b: Linked,
    mut link: impl FnMut(EventId) -> Result<Link, E>,
) -> Result<Option<Linked>, E> {
    let depth = a.1.depth.min(b.1.depth);
    for side in [&mut a, &mut b] {
        match at_depth(*side, depth, &mut link)? {
            Some(reached) => *side = reached,
            None => return Ok(None),
        }
    }
    // At one depth the jumps of both sides have one depth too, so they move in step.
    while a.0 != b.0 {
        let (Some(parent_a), Some(parent_b)) = (a.1.live_parent, b.1.live_parent) else {
            return Ok(None);
        };
        let (next_a, next_b) =
            if a.1.jump == b.1.jump { (parent_a, parent_b) } else { (a.1.jump, b.1.jump) };
        a = (next_a, link(next_a)?);
        b = (next_b, link(next_b)?);
    }
    Ok(Some(a))
}
