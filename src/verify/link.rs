//! The lineage index, computed again from the events and the entries before.

use super::event::Before;
use crate::event::Event;
use crate::id::EventId;
use crate::lineage::{self, Adds, Author, Link};

/// The entry of `event`, which adds `adds`, after `live` on the live timeline, whose jump has the entry
/// `jump`.
pub(super) fn expected(event: &Event, live: Option<(&Before, Link, Link)>, adds: Adds<'_>) -> Link {
    let parent = live.map(|(live, link, jump)| {
        let author = live.author.as_ref();
        let author = author.map(|(event, agent)| Author { event: *event, agent: agent.as_str() });
        ((live.id, link), (link.jump, jump), author)
    });
    lineage::extend(event.id, event.lineage, parent, adds)
}

/// The columns in which `found` is not `expected`.
pub(super) fn difference(found: &Link, expected: &Link) -> String {
    let event = |id: Option<EventId>| id.map_or("none".to_owned(), |id| id.to_string());
    let columns = [
        ("lineage", found.lineage.0.to_string(), expected.lineage.0.to_string()),
        ("live_parent", event(found.live_parent), event(expected.live_parent)),
        ("depth", found.depth.to_string(), expected.depth.to_string()),
        ("jump", found.jump.to_string(), expected.jump.to_string()),
        ("jump_depth", found.jump_depth.to_string(), expected.jump_depth.to_string()),
        ("snapshot", event(found.snapshot), event(expected.snapshot)),
        ("tokens", found.tokens.to_string(), expected.tokens.to_string()),
        ("context", found.context.to_string(), expected.context.to_string()),
        ("other", event(found.other), event(expected.other)),
    ];
    let differing: Vec<String> = columns
        .iter()
        .filter(|(_, found, expected)| found != expected)
        .map(|(name, found, expected)| format!("{name} is {found}, not {expected}"))
        .collect();
    differing.join("; ")
}
