//! Edits of configuration documents that leave every other byte as it was.
//!
//! Each format is read by a parser that others keep; the edit itself is a cut or an insertion in the
//! text. The new text is read again, and must say what the old one did but for the edit.
//!
//! Rule: docs/spec/attach.md, section 4.

mod json;
mod toml;
mod tree;
mod yaml;

use std::ops::Range;

pub use json::Dialect;
pub use tree::Tree;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json(Dialect),
    Toml,
    Yaml,
}

/// Why a document is not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("line {line}, column {column}: {why}")]
    Invalid { line: usize, column: usize, why: String },
    #[error("{} is not {wanted}", if place.is_empty() { "the document" } else { place })]
    WrongType { place: String, wanted: &'static str },
    #[error("{place} is there twice")]
    Twice { place: String },
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("the edit would change more than its entry")]
    Unsafe,
}

/// What is asked of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The value at the end of the path; its members go beside those that are there.
    Set(Vec<String>, Tree),
    /// What stands at the end of the path goes, and the maps on the way that are empty then, but for
    /// so many of the first.
    Remove(Vec<String>, usize),
    /// One more element of the list at the end of the path.
    Push(Vec<String>, Tree),
    /// The element of the list at the end of the path goes.
    Pull(Vec<String>, usize),
}

const MARK: char = '\u{feff}';

/// What a document says; none if it is blank.
///
/// # Errors
/// [`Fault::Invalid`]
pub fn parse(text: &str, format: Format) -> Result<Option<Tree>, Fault> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(None);
    }
    match format {
        Format::Json(dialect) => json::parse(text, dialect),
        Format::Toml => toml::parse(text).map(Some),
        Format::Yaml => yaml::parse(text),
    }
}

/// `text` after `edit`; the same text if there is nothing to do.
///
/// # Errors
/// If the document is none of its format, or cannot be edited without touching what is not asked for.
pub fn edited(text: &str, format: Format, edit: &Edit) -> Result<String, Fault> {
    let (mark, body) = match text.strip_prefix(MARK) {
        Some(body) => (&text[..MARK.len_utf8()], body),
        None => ("", text),
    };
    let old = parse(body, format)?.unwrap_or_else(|| Tree::Map(Vec::new()));
    let wanted = expected(&old, edit)?;
    if wanted == old {
        return Ok(text.to_owned());
    }
    let body = if body.trim().is_empty() { "" } else { body };
    let new = match format {
        Format::Json(dialect) => edited_json(body, dialect, edit)?,
        Format::Toml => match edit {
            Edit::Set(path, value) => toml::set(body, &names(path), value)?,
            Edit::Remove(path, kept) => toml::remove(body, &names(path), *kept)?,
            Edit::Push(..) | Edit::Pull(..) => return Err(Fault::Unsupported("a list of TOML")),
        },
        Format::Yaml => match edit {
            Edit::Set(path, value) => yaml::set(body, &names(path), value)?,
            Edit::Remove(path, kept) => yaml::remove(body, &names(path), *kept)?,
            Edit::Push(..) | Edit::Pull(..) => return Err(Fault::Unsupported("a list of YAML")),
        },
    };
    let read = parse(&new, format).map_err(|_| Fault::Unsafe)?;
    let mut read = read.unwrap_or_else(|| Tree::Map(Vec::new()));
    let mut wanted = wanted;
    if let (Format::Toml, Edit::Remove(path, _)) = (format, edit) {
        // A table that no line names is there only as long as there is something in it.
        (read, wanted) = (read.without_empty(&names(path)), wanted.without_empty(&names(path)));
    }
    if format == Format::Toml {
        // A new member stands before the tables within its own, whatever came first.
        (read, wanted) = (read.sorted(), wanted.sorted());
    }
    if read == wanted { Ok(format!("{mark}{new}")) } else { Err(Fault::Unsafe) }
}

fn edited_json(text: &str, dialect: Dialect, edit: &Edit) -> Result<String, Fault> {
    match edit {
        Edit::Set(path, value) => json::set(text, dialect, &names(path), value),
        Edit::Remove(path, kept) => json::remove(text, dialect, &names(path), *kept),
        Edit::Push(path, element) => json::push(text, dialect, &names(path), element),
        Edit::Pull(path, index) => json::pull(text, dialect, &names(path), *index),
    }
}

/// What the document must say after `edit`.
fn expected(old: &Tree, edit: &Edit) -> Result<Tree, Fault> {
    let list = |path: &[String]| match old.at(&names(path)) {
        None => Ok(Vec::new()),
        Some(Tree::List(items)) => Ok(items.clone()),
        Some(_) => Err(Fault::WrongType { place: path.join("."), wanted: "a list" }),
    };
    Ok(match edit {
        Edit::Set(path, value) => {
            let wrong = |depth: usize| Fault::WrongType {
                place: path[..depth].join("."),
                wanted: "a table of entries",
            };
            for depth in 0..=path.len() {
                match old.at(&names(&path[..depth])) {
                    None => break,
                    Some(Tree::Map(_)) => {}
                    Some(_) if depth == path.len() && value.as_map().is_none() => {}
                    Some(_) => return Err(wrong(depth)),
                }
            }
            old.with(&names(path), value)
        }
        Edit::Remove(path, _) if old.at(&names(path)).is_none() => old.clone(),
        Edit::Remove(path, kept) => old.without(&names(path), *kept),
        Edit::Push(path, element) => {
            let mut items = list(path)?;
            items.push(element.clone());
            old.with(&names(path), &Tree::List(items))
        }
        Edit::Pull(path, index) => {
            let mut items = list(path)?;
            if *index < items.len() {
                items.remove(*index);
            }
            old.with(&names(path), &Tree::List(items))
        }
    })
}

/// `tree` as JSON on one line.
#[must_use]
pub fn one_line(tree: &Tree) -> String {
    json::one_line(tree)
}

/// `tree` as a whole document.
#[must_use]
pub fn whole(tree: &Tree, format: Format) -> String {
    let members = tree.as_map().unwrap_or_default();
    members.iter().fold(String::new(), |text, (key, value)| {
        let edit = Edit::Set(vec![key.clone()], value.clone());
        edited(&text, format, &edit).expect("a document of one's own can be edited")
    })
}

fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// A piece of a text and what comes in its place.
#[derive(Debug)]
struct Splice {
    range: Range<usize>,
    with: String,
}

/// `text` with all of `splices` made, which are in order and do not overlap.
fn apply(text: &str, splices: &[Splice]) -> String {
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for Splice { range, with } in splices {
        out.push_str(&text[at..range.start]);
        out.push_str(with);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The line break that a text uses first.
fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
