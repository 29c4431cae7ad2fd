//! YAML: an entry is lines in a mapping in block style. Other styles are read and not edited.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::{Fault, Tree, newline};

/// What the document says, if it says anything. Of scalars that are not quoted, the text counts.
pub fn parse(text: &str) -> Result<Option<Tree>, Fault> {
    Ok(Reader::read(text)?.map(|node| node.tree()))
}

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 128;

/// A value and where it stands.
struct Node {
    kind: Kind,
    /// Whether it is written in brackets.
    is_flow: bool,
}

enum Kind {
    Scalar(Tree),
    List(Vec<Node>),
    Map(Vec<Member>),
}

struct Member {
    key: Tree,
    line: usize,
    column: usize,
    value: Node,
}

impl Node {
    fn tree(&self) -> Tree {
        match &self.kind {
            // What stands for nothing can take entries as an empty mapping can.
            Kind::Scalar(Tree::Plain(text)) if text.is_empty() => Tree::Map(Vec::new()),
            Kind::Scalar(tree) => tree.clone(),
            Kind::List(items) => Tree::List(items.iter().map(Self::tree).collect()),
            Kind::Map(members) => Tree::Map(
                members.iter().map(|it| (it.name().to_owned(), it.value.tree())).collect(),
            ),
        }
    }

    fn is_absent(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(Tree::Plain(text)) if text.is_empty())
    }
}

impl Member {
    fn name(&self) -> &str {
        match &self.key {
            Tree::Text(text) | Tree::Plain(text) => text,
            Tree::List(_) | Tree::Map(_) => "",
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    lines: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    fn read(text: &'t str) -> Result<Option<Node>, Fault> {
        let mut reader =
            Self { events: Parser::new_from_str(text), lines: text.split('\n').collect() };
        let mut root = None;
        loop {
            let (event, span) = reader.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(Fault::Unsupported("YAML of several documents"));
                }
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                event => root = Some(reader.node(event, span, 0)?),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Fault> {
        match self.events.next_event() {
            Some(Ok(found)) => Ok(found),
            Some(Err(error)) => Err(Fault::Invalid {
                line: error.marker().line(),
                column: error.marker().col() + 1,
                why: error.info().to_owned(),
            }),
            None => Err(Fault::Unsupported("YAML that ends early")),
        }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Fault> {
        if depth > DEPTH_MAX {
            return Err(Fault::Unsupported("YAML that is nested so deep"));
        }
        let line = span.start.line().saturating_sub(1);
        let opens = |mark| {
            self.lines.get(line).and_then(|it| it.chars().nth(span.start.col())) == Some(mark)
        };
        let named = |anchor: usize, tag: bool| match anchor != 0 || tag {
            true => Err(Fault::Unsupported("YAML with anchors, aliases or tags")),
            false => Ok(()),
        };
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                named(anchor, tag.is_some())?;
                let tree = match style {
                    ScalarStyle::Plain if is_special(&text) => Tree::Plain(text.into_owned()),
                    _ => Tree::Text(text.into_owned()),
                };
                Ok(Node { kind: Kind::Scalar(tree), is_flow: false })
            }
            Event::SequenceStart(anchor, tag) => {
                named(anchor, tag.is_some())?;
                let is_flow = opens('[');
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::SequenceEnd {
                        return Ok(Node { kind: Kind::List(items), is_flow });
                    }
                    items.push(self.node(event, span, depth + 1)?);
                }
            }
            Event::MappingStart(anchor, tag) => {
                named(anchor, tag.is_some())?;
                let is_flow = opens('{');
                let mut members: Vec<Member> = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::MappingEnd {
                        return Ok(Node { kind: Kind::Map(members), is_flow });
                    }
                    let (line, column) = (span.start.line().saturating_sub(1), span.start.col());
                    let key = self.node(event, span, depth + 1)?.tree();
                    let (event, span) = self.next()?;
                    let value = self.node(event, span, depth + 1)?;
                    members.push(Member { key, line, column, value });
                }
            }
            Event::Alias(_) => Err(Fault::Unsupported("YAML with anchors, aliases or tags")),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => Err(Fault::Unsupported("YAML of this form")),
        }
    }
}

/// The lines of a document, and a mapping in it.
struct Place<'n> {
    members: &'n [Member],
    /// The line after the mapping's last.
    end: usize,
}

/// The line after the last of member `index` of a mapping that ends before line `end`: blank lines and
/// comments that are not below it belong to what follows.
fn end_of(lines: &[&str], members: &[Member], index: usize, end: usize) -> usize {
    let next = members.get(index + 1).map_or(end, |next| next.line);
    let own = members[index].line;
    let belongs = |line: &str| {
        let bare = line.trim();
        let indent = line.len() - line.trim_start_matches(' ').len();
        !bare.is_empty()
            && (!bare.starts_with('#') || indent > members[index].column)
            && !bare.starts_with("...")
    };
    (own + 1..next).rev().find(|at| belongs(lines[*at])).map_or(own + 1, |at| at + 1)
}

/// The mapping at the end of `path`, as far as there are mappings in block style.
fn descend<'n>(root: &'n Node, lines: &[&str], path: &[&str]) -> Result<(Place<'n>, usize), Fault> {
    let mut node = root;
    let mut end = lines.len();
    for depth in 0.. {
        let Kind::Map(members) = &node.kind else {
            let place = path[..depth].join(".");
            return Err(Fault::WrongType { place, wanted: "a mapping" });
        };
        if node.is_flow {
            return Err(Fault::Unsupported(
                "a mapping of YAML in braces; write it over several lines",
            ));
        }
        let found = path.get(depth).map(|key| members.iter().position(|it| it.name() == *key));
        match found.flatten() {
            Some(index) if !members[index].value.is_absent() => {
                if members[index + 1..].iter().any(|it| it.name() == members[index].name()) {
                    return Err(Fault::Twice { place: path[..=depth].join(".") });
                }
                end = end_of(lines, members, index, end);
                node = &members[index].value;
            }
            _ => return Ok((Place { members, end }, depth)),
        }
    }
    unreachable!("a path has an end")
}

/// `text` with `value`, a mapping, at the end of `path`.
pub fn set(text: &str, path: &[&str], value: &Tree) -> Result<String, Fault> {
    if parse(text)?.is_none_or(|document| document.at(path).is_none()) {
        return put(text, path, value);
    }
    let mut text = text.to_owned();
    for (key, value) in value.as_map().unwrap_or_default() {
        let path = [path, &[key.as_str()]].concat();
        let old = parse(&text)?;
        match old.as_ref().and_then(|document| document.at(&path)) {
            Some(old) if old == value => {}
            Some(Tree::Map(_)) if value.as_map().is_some() => text = set(&text, &path, value)?,
            _ => text = put(&text, &path, value)?,
        }
    }
    Ok(text)
}

/// `text` with lines for `value` at the end of `path`, instead of those that are there.
fn put(text: &str, path: &[&str], value: &Tree) -> Result<String, Fault> {
    let line_end = newline(text);
    let Some(root) = Reader::read(text)? else {
        let rendered = rendered(&Tree::Map(Vec::new()).with(path, value), 0);
        return Ok(rendered.join(line_end) + line_end);
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (key, above) = path.split_last().expect("an entry has a name");
    let (place, depth) = descend(&root, &lines, above)?;
    let key = above.get(depth).unwrap_or(key);
    let inner = path[depth + 1..]
        .iter()
        .rev()
        .fold(value.clone(), |inner, key| Tree::Map(vec![((*key).to_owned(), inner)]));
    let column = place.members.first().map_or(0, |first| first.column);
    let found = place.members.iter().find(|member| member.name() == *key);
    if let (Some(empty), Tree::Map(_)) = (found.filter(|it| it.value.is_absent()), &inner) {
        // The key stays as it stands, and gets lines below it.
        let lines_below = rendered(&inner, column + 2);
        return Ok(with_lines(text, &lines, empty.line + 1..empty.line + 1, &lines_below));
    }
    let new = rendered(&Tree::Map(vec![((*key).to_owned(), inner)]), column);
    let range = match place.members.iter().position(|member| member.name() == *key) {
        Some(index) => place.members[index].line..end_of(&lines, place.members, index, place.end),
        None => {
            let last = place.members.len().checked_sub(1);
            let at = last.map_or(place.end, |last| end_of(&lines, place.members, last, place.end));
            at..at
        }
    };
    Ok(with_lines(text, &lines, range, &new))
}

/// `text` with `new` in the place of a range of its lines.
fn with_lines(text: &str, lines: &[&str], range: Range<usize>, new: &[String]) -> String {
    let line_end = newline(text);
    let mut before = lines[..range.start].concat();
    let after = lines[range.end..].concat();
    let close = if after.is_empty() && !text.ends_with('\n') { "" } else { line_end };
    if !before.is_empty() && !before.ends_with('\n') {
        before.push_str(line_end);
    }
    format!("{before}{}{close}{after}", new.join(line_end))
}

/// `text` without what stands at the end of `path`, nor the mappings on the way that are empty then,
/// but for the first `kept`.
pub fn remove(text: &str, path: &[&str], kept: usize) -> Result<String, Fault> {
    let Some(root) = Reader::read(text)? else { return Ok(text.to_owned()) };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut length = path.len();
    loop {
        let (key, above) = path[..length].split_last().expect("an entry has a name");
        let (place, depth) = descend(&root, &lines, above)?;
        let found = place.members.iter().position(|member| member.name() == *key);
        let Some(index) = found.filter(|_| depth == above.len()) else {
            return Ok(text.to_owned());
        };
        if place.members.len() == 1 && length > 1 && length - 1 > kept {
            length -= 1;
            continue;
        }
        let end = end_of(&lines, place.members, index, place.end);
        let mut out = lines[..place.members[index].line].concat();
        out.push_str(&lines[end..].concat());
        if end == lines.len() && !text.ends_with('\n') {
            out.truncate(out.trim_end_matches(['\n', '\r']).len());
        }
        return Ok(out);
    }
}

/// `tree` as lines of block style, `column` spaces in.
fn rendered(tree: &Tree, column: usize) -> Vec<String> {
    let indent = " ".repeat(column);
    let mut out = Vec::new();
    for (key, value) in tree.as_map().unwrap_or_default() {
        match value {
            Tree::Map(members) if !members.is_empty() => {
                out.push(format!("{indent}{}:", scalar(key)));
                out.extend(rendered(value, column + 2));
            }
            Tree::List(items) if !items.is_empty() => {
                out.push(format!("{indent}{}:", scalar(key)));
                out.extend(items.iter().map(|item| format!("{indent}- {}", flow(item))));
            }
            value => out.push(format!("{indent}{}: {}", scalar(key), flow(value))),
        }
    }
    out
}

fn flow(tree: &Tree) -> String {
    match tree {
        Tree::Plain(text) => text.clone(),
        Tree::Text(text) => scalar(text),
        Tree::List(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Tree::Map(members) => {
            let members =
                members.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text without quotes where no reader could take it for anything else.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte))
        && !is_special(text);
    match is_plain {
        true => text.to_owned(),
        // A string of JSON is one of YAML too.
        false => serde_json::to_string(text).expect("a text is JSON"),
    }
}

/// Whether a scalar without quotes is no text for some reader.
fn is_special(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words = ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    words.contains(&lower.as_str())
        || text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
}
