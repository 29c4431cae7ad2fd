//! JSON and JSONC: the parser tells where everything stands, the edits are cuts and insertions.

use std::ops::Range;

use jsonc_parser::ast::{self, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};

use super::{Fault, Splice, Tree, apply, newline};

/// What is allowed beside JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Json,
    /// Comments and trailing commas.
    Jsonc,
}

/// The document, if it is not blank.
pub fn parse(text: &str, dialect: Dialect) -> Result<Option<Tree>, Fault> {
    Ok(ast(text, dialect)?.as_ref().map(tree))
}

fn ast(text: &str, dialect: Dialect) -> Result<Option<Value<'_>>, Fault> {
    let lenient = dialect == Dialect::Jsonc;
    let options = ParseOptions {
        allow_comments: lenient,
        allow_trailing_commas: lenient,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options)
        .map(|result| result.value)
        .map_err(|error| Fault::Invalid {
            line: error.line_display(),
            column: error.column_display(),
            why: error.kind().to_string(),
        })
}

fn tree(value: &Value<'_>) -> Tree {
    match value {
        Value::StringLit(text) => Tree::text(text.value.as_ref()),
        Value::NumberLit(number) => Tree::Plain(number.value.to_owned()),
        Value::BooleanLit(value) => Tree::Plain(value.value.to_string()),
        Value::NullKeyword(_) => Tree::Plain("null".to_owned()),
        Value::Array(array) => Tree::List(array.elements.iter().map(tree).collect()),
        Value::Object(object) => Tree::Map(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str().to_owned(), tree(&property.value)))
                .collect(),
        ),
    }
}

/// `text` with `value` at the end of `path`; what is there already stays as far as it is equal.
pub fn set(text: &str, dialect: Dialect, path: &[&str], value: &Tree) -> Result<String, Fault> {
    let Some(root) = ast(text, dialect)? else {
        let layout = Layout::plain();
        let whole = Tree::Map(Vec::new()).with(path, value);
        return Ok(format!("{}\n", layout.render(&whole, "")));
    };
    let mut node = &root;
    for (depth, key) in path.iter().enumerate() {
        match property(node, key, &path[..depth])? {
            Some(found) => node = &found.value,
            None => {
                let rest = path[depth + 1..]
                    .iter()
                    .rev()
                    .fold(value.clone(), |inner, key| Tree::Map(vec![((*key).to_owned(), inner)]));
                let object = object(node, &path[..depth])?;
                return Ok(apply(text, &append_member(text, object, key, &rest)));
            }
        }
    }
    let (Tree::Map(members), Value::Object(_)) = (value, node) else {
        return Ok(match tree(node) == *value {
            true => text.to_owned(),
            false => replace(text, node, value),
        });
    };
    let mut text = text.to_owned();
    for (key, value) in members {
        text = set(&text, dialect, &[path, &[key.as_str()]].concat(), value)?;
    }
    Ok(text)
}

fn replace(text: &str, node: &Value<'_>, value: &Tree) -> String {
    let layout = Layout::around(text, node.start());
    let indent = line_indent(text, node.start());
    let with = layout.render(value, &indent);
    apply(text, &[Splice { range: node.start()..node.end(), with }])
}

/// `text` without what stands at the end of `path`, nor the objects on the way that are empty then,
/// but for the first `kept`.
pub fn remove(text: &str, dialect: Dialect, path: &[&str], kept: usize) -> Result<String, Fault> {
    let mut text = text.to_owned();
    for length in (1..=path.len()).rev() {
        let (key, above) = path[..length].split_last().expect("at least one");
        let Some(root) = ast(&text, dialect)? else { break };
        let mut node = &root;
        for (depth, key) in above.iter().enumerate() {
            match property(node, key, &above[..depth])? {
                Some(found) => node = &found.value,
                None => return Ok(text),
            }
        }
        let object = object(node, above)?;
        let Some(index) = object.properties.iter().position(|it| it.name.as_str() == *key) else {
            break;
        };
        let is_empty =
            object.properties[index].value.as_object().is_some_and(|it| it.properties.is_empty());
        if length < path.len() && (length <= kept || !is_empty) {
            break;
        }
        let splices = cut(&text, &Items::of_object(object), index);
        text = apply(&text, &splices);
    }
    Ok(text)
}

/// `text` with `element` at the end of the array at `path`.
pub fn push(text: &str, dialect: Dialect, path: &[&str], element: &Tree) -> Result<String, Fault> {
    let root = ast(text, dialect)?;
    let mut node = root.as_ref();
    for (depth, key) in path.iter().enumerate() {
        let Some(above) = node else { break };
        node = property(above, key, &path[..depth])?.map(|found| &found.value);
    }
    match node {
        None => set(text, dialect, path, &Tree::List(vec![element.clone()])),
        Some(Value::Array(array)) => {
            let items = Items::of_array(array);
            let layout = Layout::of_items(text, &items);
            let splices = append(text, &items, &layout, |indent| layout.render(element, indent));
            Ok(apply(text, &splices))
        }
        Some(_) => Err(Fault::WrongType { place: path.join("."), wanted: "a list" }),
    }
}

/// `text` without element `index` of the array at `path`.
pub fn pull(text: &str, dialect: Dialect, path: &[&str], index: usize) -> Result<String, Fault> {
    let Some(root) = ast(text, dialect)? else { return Ok(text.to_owned()) };
    let mut node = &root;
    for (depth, key) in path.iter().enumerate() {
        match property(node, key, &path[..depth])? {
            Some(found) => node = &found.value,
            None => return Ok(text.to_owned()),
        }
    }
    match node {
        Value::Array(array) if index < array.elements.len() => {
            Ok(apply(text, &cut(text, &Items::of_array(array), index)))
        }
        _ => Err(Fault::WrongType { place: path.join("."), wanted: "a list" }),
    }
}

fn object<'v, 't>(node: &'v Value<'t>, place: &[&str]) -> Result<&'v ast::Object<'t>, Fault> {
    node.as_object().ok_or_else(|| Fault::WrongType { place: place.join("."), wanted: "an object" })
}

/// The member `key` of what stands at `place`.
fn property<'v, 't>(
    node: &'v Value<'t>,
    key: &str,
    place: &[&str],
) -> Result<Option<&'v ast::ObjectProp<'t>>, Fault> {
    let properties = &object(node, place)?.properties;
    let mut found = properties.iter().filter(|property| property.name.as_str() == key);
    let first = found.next();
    match found.next() {
        Some(_) => Err(Fault::Twice { place: [place, &[key]].concat().join(".") }),
        None => Ok(first),
    }
}

/// The things in a pair of brackets.
struct Items {
    /// After the opening bracket, up to the closing one.
    inside: Range<usize>,
    items: Vec<Range<usize>>,
}

impl Items {
    fn of_object(object: &ast::Object<'_>) -> Self {
        let items = object.properties.iter().map(|it| it.range.start..it.range.end).collect();
        Self { inside: object.range.start + 1..object.range.end - 1, items }
    }

    fn of_array(array: &ast::Array<'_>) -> Self {
        let items = array.elements.iter().map(|it| it.start()..it.end()).collect();
        Self { inside: array.range.start + 1..array.range.end - 1, items }
    }

    /// What follows the thing before `index`: the opening bracket or a comma.
    fn before(&self, text: &str, index: usize) -> usize {
        match index.checked_sub(1) {
            Some(previous) => significant(text, self.items[previous].end) + 1,
            None => self.inside.start,
        }
    }
}

fn append_member(text: &str, object: &ast::Object<'_>, key: &str, value: &Tree) -> Vec<Splice> {
    let items = Items::of_object(object);
    let mut layout = Layout::of_items(text, &items);
    if let Some(first) = object.properties.first() {
        let between = &text[first.name.range().end..first.value.start()];
        layout.colon = if between == ":" { ":" } else { ": " };
    }
    append(text, &items, &layout, |indent| {
        format!("{}{}{}", quoted(key), layout.colon, layout.render(value, indent))
    })
}

/// What it takes for a new thing to stand at the end of `items`.
fn append(
    text: &str,
    items: &Items,
    layout: &Layout,
    render: impl Fn(&str) -> String,
) -> Vec<Splice> {
    let Some(last) = items.items.last() else {
        let inside = &text[items.inside.clone()];
        let mut white = items.inside.start + inside.trim_end().len()..items.inside.end;
        let with = match &layout.indent {
            None => render(""),
            Some(indent) if !inside.trim().is_empty() => {
                // There is a comment, which stays as it is with what follows it.
                white.end = white.start;
                format!("{}{indent}{}", layout.newline, render(indent))
            }
            Some(indent) => {
                let base = line_indent(text, items.inside.start);
                format!("{0}{indent}{1}{0}{base}", layout.newline, render(indent))
            }
        };
        return vec![Splice { range: white, with }];
    };
    let next = significant(text, last.end);
    let trails = text[next..].starts_with(',');
    let comma = if trails { "," } else { "" };
    let at = if trails { next + 1 } else { last.end };
    let (at_end, lead, indent) = match &layout.indent {
        Some(indent) => {
            (after_comments(text, at), format!("{}{indent}", layout.newline), indent.as_str())
        }
        None => (at, layout.space.clone(), ""),
    };
    let with = format!("{lead}{}{comma}", render(indent));
    if trails || at_end > at {
        let mut splices = Vec::new();
        if !trails {
            splices.push(Splice { range: last.end..last.end, with: ",".to_owned() });
        }
        splices.push(Splice { range: at_end..at_end, with });
        return splices;
    }
    vec![Splice { range: at..at, with: format!(",{with}") }]
}

/// What it takes for the thing `index` of `items` to go, with its comma.
fn cut(text: &str, items: &Items, index: usize) -> Vec<Splice> {
    let gone = |range: Range<usize>| Splice { range, with: String::new() };
    let item = items.items[index].clone();
    let before = items.before(text, index);
    let white = before + text[before..item.start].trim_end().len();
    let next = significant(text, item.end);
    if text[next..].starts_with(',') {
        return vec![gone(white..item.end), gone(next..next + 1)];
    }
    if index > 0 {
        return vec![gone(before - 1..before), gone(white..item.end)];
    }
    let is_alone = text[before..item.start].trim().is_empty()
        && text[item.end..items.inside.end].trim().is_empty();
    vec![gone(white..if is_alone { items.inside.end } else { item.end })]
}

/// Where the next token begins, from `at` on.
fn significant(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        let length = match rest {
            rest if rest.starts_with("//") => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            rest if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => return at,
        };
        at += length;
    }
}

/// Past the comments that follow `at` on its line.
fn after_comments(text: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let rest = &text[end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &rest[blanks..];
        if rest.starts_with("//") {
            return end + blanks + rest.find(['\n', '\r']).unwrap_or(rest.len());
        }
        let closed = rest.strip_prefix("/*").and_then(|rest| rest.find("*/")).map(|at| at + 4);
        match closed.filter(|closed| !rest[..*closed].contains('\n')) {
            Some(closed) => end += blanks + closed,
            None => return end,
        }
    }
}

/// The white space that the line of `at` begins with.
fn line_indent(text: &str, at: usize) -> String {
    let line = &text[text[..at].rfind('\n').map_or(0, |at| at + 1)..];
    line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
}

/// How the neighbours of a new thing are laid out.
struct Layout {
    newline: &'static str,
    /// One step of indentation.
    unit: String,
    /// Of the new thing; none if it stays on the line.
    indent: Option<String>,
    colon: &'static str,
    /// Between two things on one line.
    space: String,
}

impl Layout {
    fn plain() -> Self {
        Self {
            newline: "\n",
            unit: "  ".to_owned(),
            indent: Some(String::new()),
            colon: ": ",
            space: " ".to_owned(),
        }
    }

    /// Of a value that begins at `at`.
    fn around(text: &str, at: usize) -> Self {
        let line = text[..at].rfind('\n');
        let above = text[..line.unwrap_or(0)].rfind('\n').map_or(0, |at| at + 1);
        let (own, above) = (line_indent(text, at), line_indent(text, above));
        let unit = own.strip_prefix(&above).filter(|unit| !unit.is_empty()).unwrap_or("  ");
        let indent = line.map(|_| own.clone());
        Self { newline: newline(text), unit: unit.to_owned(), indent, ..Self::plain() }
    }

    fn of_items(text: &str, items: &Items) -> Self {
        let base = line_indent(text, items.inside.start);
        let plain = Self { newline: newline(text), ..Self::plain() };
        let Some(last) = items.items.last() else {
            // Unless the whole document is one line, a new pair of brackets takes several.
            let whole = text.trim();
            let is_root = whole.len() == items.inside.len() + 2;
            let has_comment = !text[items.inside.clone()].trim().is_empty();
            if !is_root && !has_comment && !whole.contains('\n') {
                return Self { indent: None, colon: tight_colon(whole), ..plain };
            }
            let unit = if base.contains('\t') { "\t".to_owned() } else { first_indent(text) };
            return Self { indent: Some(format!("{base}{unit}")), unit, ..plain };
        };
        let before = items.before(text, items.items.len() - 1);
        let own = line_indent(text, last.start);
        let begins_line = text[before..last.start].contains('\n')
            && text[..last.start].ends_with(&format!("\n{own}"));
        if begins_line {
            let unit = own.strip_prefix(&base).filter(|unit| !unit.is_empty());
            let unit = unit.map_or_else(|| first_indent(text), str::to_owned);
            return Self { indent: Some(own), unit, ..plain };
        }
        let colon = tight_colon(text);
        let lead = &text[before..last.start];
        let space = match items.items.len() {
            1 if colon == ":" => "",
            1 => " ",
            _ if lead.trim().is_empty() => lead,
            _ => " ",
        };
        Self { indent: None, space: space.to_owned(), colon, ..plain }
    }

    /// `tree` as it stands after `indent`.
    fn render(&self, tree: &Tree, indent: &str) -> String {
        match tree {
            Tree::Plain(text) => text.clone(),
            Tree::Text(text) => quoted(text),
            Tree::List(items)
                if items.iter().all(|it| matches!(it, Tree::Plain(_) | Tree::Text(_))) =>
            {
                let items: Vec<String> = items.iter().map(|it| self.render(it, indent)).collect();
                let space = if self.colon == ":" { "" } else { " " };
                format!("[{}]", items.join(&format!(",{space}")))
            }
            Tree::List(items) => {
                let render = |inner: &str| items.iter().map(|it| self.render(it, inner)).collect();
                self.block("[", "]", indent, render)
            }
            Tree::Map(members) => {
                let render = |inner: &str| {
                    let member = |(key, value): &(String, Tree)| {
                        format!("{}{}{}", quoted(key), self.colon, self.render(value, inner))
                    };
                    members.iter().map(member).collect()
                };
                self.block("{", "}", indent, render)
            }
        }
    }

    fn block(
        &self,
        open: &str,
        close: &str,
        indent: &str,
        render: impl Fn(&str) -> Vec<String>,
    ) -> String {
        if self.indent.is_none() {
            let space = if self.colon == ":" { "" } else { " " };
            return format!("{open}{}{close}", render("").join(&format!(",{space}")));
        }
        let inner = format!("{indent}{}", self.unit);
        let items = render(&inner);
        if items.is_empty() {
            return format!("{open}{close}");
        }
        let line = format!("{}{inner}", self.newline);
        let items = items.join(&format!(",{line}"));
        format!("{open}{line}{items}{}{indent}{close}", self.newline)
    }
}

/// How the first key of a document is parted from its value.
fn tight_colon(text: &str) -> &'static str {
    if text.contains("\":") && !text.contains("\": ") { ":" } else { ": " }
}

/// The indentation of the first line that has any.
fn first_indent(text: &str) -> String {
    let indents =
        text.lines().map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("  ").to_owned()
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// `tree` on one line.
pub fn one_line(tree: &Tree) -> String {
    Layout { indent: None, colon: ":", ..Layout::plain() }.render(tree, "")
}
