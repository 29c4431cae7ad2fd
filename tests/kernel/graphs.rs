//! The drawing of `mk log --graph`.

use mk::id::EventId;

#[path = "../../commands/log/graph.rs"]
mod graph;

/// Draws events with what they follow, newest first.
fn drawn(events: &[(i64, &[i64])]) -> String {
    let mut graph = graph::Graph::default();
    let mut lines = Vec::new();
    for (id, parents) in events {
        let parents: Vec<EventId> = parents.iter().map(|id| EventId(*id)).collect();
        let drawn = graph.event(EventId(*id), &parents);
        lines.extend(drawn.before);
        lines.push(format!("{} {id}", drawn.mark));
        lines.extend(drawn.after);
    }
    lines.join("\n")
}

fn picture(text: &str) -> String {
    let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
    let indent = lines[0].len() - lines[0].trim_start().len();
    lines.iter().map(|line| line.get(indent..).unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_line_is_a_line() {
    assert_eq!(drawn(&[(3, &[2]), (2, &[1]), (1, &[])]), "* 3\n* 2\n* 1");
}

#[test]
fn a_merge_joins_what_it_took_in() {
    let events: &[(i64, &[i64])] =
        &[(6, &[4, 5]), (5, &[2]), (4, &[3]), (3, &[2]), (2, &[1]), (1, &[])];
    let expected = picture(
        r"
        * 6
        |\
        | * 5
        * | 4
        * | 3
        |/
        * 2
        * 1",
    );
    assert_eq!(drawn(events), expected);
}

#[test]
fn lines_between_are_crossed_and_move_up() {
    let events: &[(i64, &[i64])] =
        &[(9, &[3]), (8, &[4]), (7, &[3]), (6, &[2]), (4, &[3]), (3, &[1]), (2, &[1]), (1, &[])];
    // The rightmost of the lines that meet is drawn first, through those between.
    let expected = picture(
        r"
        * 9
        | * 8
        | | * 7
        | | | * 6
        | * | | 4
        |_|/ /
        |/ /
        * | 3
        | * 2
        |/
        * 1",
    );
    assert_eq!(drawn(events), expected);
}

#[test]
fn a_line_of_its_own_ends_at_its_first_event() {
    let events: &[(i64, &[i64])] = &[(5, &[4]), (4, &[]), (3, &[1]), (2, &[]), (1, &[])];
    assert_eq!(drawn(events), "* 5\n* 4\n* 3\n| * 2\n* 1");
    let events: &[(i64, &[i64])] = &[(5, &[3]), (4, &[2]), (3, &[]), (2, &[1]), (1, &[])];
    let expected = picture(
        r"
        * 5
        | * 4
        * | 3
         /
        * 2
        * 1",
    );
    assert_eq!(drawn(events), expected);
}
