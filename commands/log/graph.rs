//! The log as a drawing: a column for each line of events, as git draws branches.
//!
//! An event stands above the one that it follows on the live timeline. So a fork leaves its parent, a
//! merge joins what it took in, and what a rollback took off is a line that ends.

use mk::id::EventId;

/// What is being drawn: columns, each with the event that it leads down to.
#[derive(Debug, Default)]
pub struct Graph {
    columns: Vec<EventId>,
}

/// What is drawn for an event.
#[derive(Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Lines before it.
    pub before: Vec<String>,
    /// What stands before the event on its line.
    pub mark: String,
    /// Lines after it.
    pub after: Vec<String>,
}

impl Graph {
    /// Draws the next event, which is older than all before it. `parents` are the events that it
    /// follows: none for the first, two for a merge.
    pub fn event(&mut self, id: EventId, parents: &[EventId]) -> Drawn {
        let mut places: Vec<usize> =
            (0..self.columns.len()).filter(|place| self.columns[*place] == id).collect();
        if places.is_empty() {
            places.push(self.columns.len());
            self.columns.push(id);
        }
        let place = places[0];
        let mut before = Vec::new();
        for other in places[1..].iter().rev() {
            before.push(self.joined(place, *other));
            self.columns.remove(*other);
        }
        let marks = (0..self.columns.len()).map(|at| if at == place { "*" } else { "|" });
        let mark = marks.collect::<Vec<_>>().join(" ");
        let mut after = Vec::new();
        match parents {
            [] => {
                if place + 1 < self.columns.len() {
                    after.push(self.ended(place));
                }
                self.columns.remove(place);
            }
            [parent, merged @ ..] => {
                self.columns[place] = *parent;
                for parent in merged {
                    after.push(self.parted(place));
                    self.columns.insert(place + 1, *parent);
                }
            }
        }
        Drawn { before, mark, after }
    }

    /// Column `other` runs into column `place` on its left, and those on its right move up.
    fn joined(&self, place: usize, other: usize) -> String {
        let mut row = self.ending(other);
        row[2 * other - 1] = '/';
        for at in place + 1..other {
            row[2 * at - 1] = '_';
        }
        text(row)
    }

    /// A column leaves column `place` to its right, and those on its right make room.
    fn parted(&self, place: usize) -> String {
        let mut row = vec![' '; 2 * (self.columns.len() + 1)];
        for at in 0..self.columns.len() {
            match at {
                at if at <= place => row[2 * at] = '|',
                at => row[2 * at + 1] = '\\',
            }
        }
        row[2 * place + 1] = '\\';
        text(row)
    }

    /// Column `place` ends, and those on its right move up.
    fn ended(&self, place: usize) -> String {
        text(self.ending(place))
    }

    fn ending(&self, place: usize) -> Vec<char> {
        let mut row = vec![' '; 2 * self.columns.len()];
        for at in 0..self.columns.len() {
            match at {
                at if at < place => row[2 * at] = '|',
                at if at > place => row[2 * at - 1] = '/',
                _ => {}
            }
        }
        row
    }
}

fn text(row: Vec<char>) -> String {
    row.into_iter().collect::<String>().trim_end().to_owned()
}
