//! TOML: tables of our own are lines that come and go; an entry that is there is edited in the
//! spelling it has.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

use super::{Fault, Splice, Tree, apply, newline};

/// What the document says.
pub fn parse(text: &str) -> Result<Tree, Fault> {
    Ok(of_table(document(text)?.as_table()))
}

fn document(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text[..text.floor_char_boundary(at)];
        let line = before.rsplit('\n').next().unwrap_or("");
        Fault::Invalid {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            why: error.message().replace('\n', ", "),
        }
    })
}

fn of_table(table: &dyn TableLike) -> Tree {
    let members = table.iter().map(|(key, item)| (key.to_owned(), of_item(item)));
    Tree::Map(members.collect())
}

fn of_item(item: &Item) -> Tree {
    match item {
        Item::None => Tree::Map(Vec::new()),
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => {
            Tree::List(tables.iter().map(|table| of_table(table)).collect())
        }
    }
}

fn of_value(value: &Value) -> Tree {
    match value {
        Value::String(text) => Tree::text(text.value()),
        Value::Array(items) => Tree::List(items.iter().map(of_value).collect()),
        Value::InlineTable(table) => of_table(table),
        Value::Integer(number) => Tree::Plain(number.value().to_string()),
        Value::Float(number) => Tree::Plain(number.value().to_string()),
        Value::Boolean(value) => Tree::Plain(value.value().to_string()),
        Value::Datetime(date) => Tree::Plain(date.value().to_string()),
    }
}

/// `text` with `value`, a table, at the end of `path`.
pub fn set(text: &str, path: &[&str], value: &Tree) -> Result<String, Fault> {
    let document = document(text)?;
    let (_, above) = path.split_last().expect("an entry has a name");
    let mut table: &dyn TableLike = document.as_table();
    let mut is_written_as_table = true;
    for key in above {
        match table.get(key) {
            None => break,
            Some(Item::Table(found)) => {
                is_written_as_table = !found.is_dotted();
                table = found;
            }
            Some(_) => is_written_as_table = false,
        }
        if !is_written_as_table {
            break;
        }
    }
    let exists = document.as_table().get(path[0]).is_some_and(|item| reaches(item, &path[1..]));
    if exists || !is_written_as_table {
        return in_place(text, |document| put(document.as_table_mut(), path, value));
    }
    let line_end = newline(text);
    let tables = tables(path, value).replace('\n', line_end);
    Ok(match text {
        "" => tables,
        text if text.ends_with('\n') => format!("{text}{line_end}{tables}"),
        // It did not end its last line, and does not now.
        text => format!("{text}{line_end}{line_end}{}", tables.trim_end()),
    })
}

fn reaches(item: &Item, path: &[&str]) -> bool {
    match path.split_first() {
        None => true,
        Some((key, rest)) => item
            .as_table_like()
            .and_then(|table| table.get(key))
            .is_some_and(|item| reaches(item, rest)),
    }
}

/// `value` as the table at `path`, and its maps as tables below it.
fn tables(path: &[&str], value: &Tree) -> String {
    let name: Vec<String> =
        path.iter().map(|key| Key::new(*key).display_repr().into_owned()).collect();
    let mut out = format!("[{}]\n", name.join("."));
    let members = value.as_map().unwrap_or_default();
    for (key, value) in members.iter().filter(|(_, value)| value.as_map().is_none()) {
        out.push_str(&format!("{} = {}\n", Key::new(key).display_repr(), to_value(value)));
    }
    for (key, value) in members.iter().filter(|(_, value)| value.as_map().is_some()) {
        out.push('\n');
        out.push_str(&tables(&[path, &[key.as_str()]].concat(), value));
    }
    out
}

fn to_value(tree: &Tree) -> Value {
    match tree {
        Tree::Plain(text) => text.parse().expect("a plain value is TOML"),
        Tree::Text(text) => text.as_str().into(),
        Tree::List(items) => items.iter().map(to_value).collect(),
        Tree::Map(members) => {
            let members = members.iter().map(|(key, value)| (key.as_str(), to_value(value)));
            InlineTable::from_iter(members).into()
        }
    }
}

/// Puts `value` at the end of `path` in the spelling that is there. What surrounds a value stays.
fn put(table: &mut dyn TableLike, path: &[&str], value: &Tree) {
    let Some((key, rest)) = path.split_first() else { return };
    let whole = rest
        .iter()
        .rev()
        .fold(value.clone(), |inner, key| Tree::Map(vec![((*key).to_owned(), inner)]));
    match table.get_mut(key) {
        None => {
            table.insert(key, Item::Value(to_value(&whole)));
        }
        Some(item) if of_item(item) == whole => {}
        Some(item) => match (&whole, item.as_table_like_mut()) {
            (Tree::Map(members), Some(inner)) => {
                members.iter().for_each(|(key, value)| put(inner, &[key.as_str()], value));
            }
            _ => {
                let mut new = to_value(&whole);
                if let Some(old) = item.as_value() {
                    *new.decor_mut() = old.decor().clone();
                }
                *item = Item::Value(new);
            }
        },
    }
}

/// `text` after `edit`, with the line ends it had where nothing changed.
fn in_place(text: &str, edit: impl FnOnce(&mut DocumentMut)) -> Result<String, Fault> {
    let plain = text.replace("\r\n", "\n");
    let mut document: DocumentMut =
        plain.parse().map_err(|_| Fault::Unsupported("TOML that cannot be written as it was"))?;
    let as_read = document.to_string();
    if as_read.trim_end_matches('\n') != plain.trim_end_matches('\n') {
        return Err(Fault::Unsupported("TOML that cannot be written as it was"));
    }
    edit(&mut document);
    Ok(changed_lines(text, &document.to_string()))
}

/// `old` with the lines that differ taken from `new`.
fn changed_lines(old: &str, new: &str) -> String {
    let bare = |line: &str| line.trim_end_matches(['\n', '\r']).to_owned();
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let same = |(a, b): &(&&str, &&str)| bare(a) == bare(b);
    let start = old_lines.iter().zip(&new_lines).take_while(same).count();
    let left = old_lines.len().min(new_lines.len()) - start;
    let end =
        old_lines.iter().rev().zip(new_lines.iter().rev()).take(left).take_while(same).count();
    let line_end = newline(old);
    let mut out: String = old_lines[..start].concat();
    for line in &new_lines[start..new_lines.len() - end] {
        out.push_str(&bare(line));
        out.push_str(line_end);
    }
    out.push_str(&old_lines[old_lines.len() - end..].concat());
    if end == 0 && !old.ends_with('\n') {
        out.truncate(out.trim_end_matches(['\n', '\r']).len());
    }
    out
}

/// `text` without what stands at the end of `path`, nor the tables on the way that are empty then, but
/// for the first `kept`.
pub fn remove(text: &str, path: &[&str], kept: usize) -> Result<String, Fault> {
    let document = document(text)?;
    let mut item = Some(document.as_item());
    for key in path {
        item = item.and_then(|item| item.as_table_like()?.get(key));
    }
    let lines = match item {
        Some(Item::Table(table)) if !table.is_dotted() => own_lines(text, &document, table),
        _ => None,
    };
    let text = match lines {
        Some(splices) => apply(text, &splices),
        None => in_place(text, |document| drop_at(document.as_table_mut(), path))?,
    };
    let mut text = text;
    for length in ((kept + 1).max(1)..path.len()).rev() {
        let above = &path[..length];
        let is_empty = parse(&text)?.at(above).is_some_and(|it| *it == Tree::Map(Vec::new()));
        if is_empty {
            text = remove(&text, above, length)?;
        }
    }
    Ok(text)
}

fn drop_at(table: &mut dyn TableLike, path: &[&str]) {
    match path {
        [] => {}
        [key] => {
            table.remove(key);
        }
        [key, rest @ ..] => {
            if let Some(inner) = table.get_mut(key).and_then(Item::as_table_like_mut) {
                drop_at(inner, rest);
            }
        }
    }
}

/// The lines of `table` and the tables below it, with the blank line above each; none if it has no
/// header of its own.
fn own_lines(text: &str, document: &Document<&str>, table: &Table) -> Option<Vec<Splice>> {
    let mut headers = Vec::new();
    headers_of(document.as_table(), &mut headers);
    headers.sort_unstable();
    let mut own = Vec::new();
    headers_of(table, &mut own);
    own.extend(table.span().filter(|_| !table.is_implicit()).map(|span| span.start));
    own.sort_unstable();
    own.dedup();
    if own.is_empty() {
        return None;
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for start in own {
        let next = headers.iter().find(|header| **header > start).copied().unwrap_or(text.len());
        let start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = start + content_length(&text[start..next]);
        let mut from = start;
        let above = text[..start].trim_end_matches([' ', '\t']);
        let above = above.strip_suffix('\n').map(|it| it.strip_suffix('\r').unwrap_or(it));
        if let Some(above) = above.filter(|above| above.ends_with('\n')) {
            from = above.len();
        }
        ranges.push(from..end);
    }
    if ranges.len() > 1 {
        // Where the parts follow one another, they go as one.
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(previous) if previous.end >= range.start => {
                    previous.end = range.end;
                    previous.start = previous.start.min(range.start);
                }
                _ => merged.push(range),
            }
        }
        ranges = merged;
    }
    let last = ranges.last_mut()?;
    if last.end == text.len() && !text.ends_with('\n') {
        // What stands above did not end its last line either.
        last.start = text[..last.start].trim_end_matches(['\n', '\r']).len();
    }
    Some(ranges.into_iter().map(|range| Splice { range, with: String::new() }).collect())
}

/// The length of the lines of a table without the blank lines and comments at its end, which belong to
/// what follows.
fn content_length(lines: &str) -> usize {
    let mut length = 0;
    let mut at = 0;
    for line in lines.split_inclusive('\n') {
        at += line.len();
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            length = at;
        }
    }
    length
}

fn headers_of(table: &Table, out: &mut Vec<usize>) {
    for (_, item) in table {
        let tables: Vec<&Table> = match item {
            Item::Table(table) => vec![table],
            Item::ArrayOfTables(tables) => tables.iter().collect(),
            Item::None | Item::Value(_) => Vec::new(),
        };
        for table in tables {
            if !table.is_implicit() && !table.is_dotted() {
                out.extend(table.span().map(|span| span.start));
            }
            headers_of(table, out);
        }
    }
}
