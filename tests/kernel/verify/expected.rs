//! What `verify` answers to a tamper with any column or row: `expected.txt`, read.

use std::collections::BTreeMap;

use mk::verify::Kind;

/// What must be found.
#[derive(Debug, Clone)]
pub enum Said {
    /// About the event that the row is of.
    At(Kind),
    /// About another event.
    Other(Kind),
    /// About a branch, or the store as a whole.
    Store(Kind),
    /// Nothing, and why.
    Nothing(String),
}

/// Rows of a table of which the same is found.
pub struct Rows {
    pub table: String,
    /// Which rows.
    pub which: String,
    pub unfit: Said,
    pub delete: Said,
    /// In what a second row like it differs.
    pub copies: Vec<(BTreeMap<String, String>, Said)>,
    /// In the order of the schema.
    pub columns: Vec<Column>,
}

pub struct Column {
    pub name: String,
    /// Other values.
    pub flips: Vec<(String, Said)>,
    pub null: Said,
    pub swap: Said,
}

/// All groups of rows.
pub fn expected() -> Vec<Rows> {
    let text = include_str!("expected.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let (mut reasons, mut groups) = (BTreeMap::new(), Vec::<Vec<String>>::new());
    for line in lines {
        if let Some((name, why)) = line.strip_prefix("- ").and_then(|line| line.split_once(": ")) {
            reasons.insert(name.to_owned(), why.to_owned());
        } else if let Some(rest) = line.strip_prefix("    ") {
            let last = groups.last_mut().unwrap().last_mut().unwrap();
            last.push(' ');
            last.push_str(rest);
        } else if let Some(line) = line.strip_prefix("  ") {
            groups.last_mut().unwrap().push(line.to_owned());
        } else {
            groups.push(vec![line.to_owned()]);
        }
    }
    groups.iter().map(|lines| group(lines, &reasons)).collect()
}

fn group(lines: &[String], reasons: &BTreeMap<String, String>) -> Rows {
    let (table, which) = lines[0].split_once(": ").unwrap();
    let otherwise = lines[1].strip_prefix("else => ").expect(&lines[1]);
    let otherwise = said(otherwise, reasons);
    // A tamper, and what is found.
    let told = |part: &str| match part.split_once(" => ") {
        Some((tamper, found)) => (tamper.to_owned(), said(found, reasons)),
        None => (part.to_owned(), otherwise.clone()),
    };
    let mut rows = Rows {
        table: table.to_owned(),
        which: which.to_owned(),
        unfit: otherwise.clone(),
        delete: otherwise.clone(),
        copies: Vec::new(),
        columns: Vec::new(),
    };
    for line in &lines[2..] {
        match line.split_once(' ').unwrap() {
            ("unfit", _) => rows.unfit = told(line).1,
            ("delete", _) => rows.delete = told(line).1,
            ("copy", changes) => {
                let (changes, found) = told(changes);
                let changes = changes.split("; ").map(|change| change.split_once(" = ").unwrap());
                let changes = changes.map(|(it, value)| (it.to_owned(), value.to_owned()));
                rows.copies.push((changes.collect(), found));
            }
            (name, tampers) => {
                let mut tampers: Vec<_> = tampers.split("; ").map(told).collect();
                let mut take = |name: &str| {
                    let at = tampers.iter().position(|(tamper, _)| tamper == name);
                    at.map_or(otherwise.clone(), |at| tampers.remove(at).1)
                };
                let (null, swap) = (take("null"), take("swap"));
                let name = name.strip_suffix(':').expect(line).to_owned();
                rows.columns.push(Column { name, flips: tampers, null, swap });
            }
        }
    }
    rows
}

fn said(text: &str, reasons: &BTreeMap<String, String>) -> Said {
    let kind = |name: &str| {
        *Kind::ALL.iter().find(|kind| kind.as_str() == name).unwrap_or_else(|| panic!("{name}"))
    };
    match text.split_once(' ') {
        Some(("-", reason)) => Said::Nothing(reasons[reason].clone()),
        Some(("other", name)) => Said::Other(kind(name)),
        _ => match text.strip_prefix('@') {
            Some(name) => Said::At(kind(name)),
            None => Said::Store(kind(text)),
        },
    }
}
