//! Edits of configuration documents: what is asked for changes, and not one byte beside it.

use mk::attach::document::{Dialect, Edit, Fault, Format, Tree, edited, parse};
use proptest::prelude::*;
use proptest::sample::Index;

/// Choices of how a document is written, one after another.
struct Style<'a> {
    choices: &'a [Index],
    at: usize,
    allows_comments: bool,
    newline: &'static str,
}

impl Style<'_> {
    fn pick(&mut self, of: usize) -> usize {
        self.at += 1;
        self.choices[self.at % self.choices.len()].index(of)
    }

    fn space(&mut self) -> String {
        let newline = self.newline;
        match self.pick(if self.allows_comments { 8 } else { 5 }) {
            0 | 1 => String::new(),
            2 => " ".to_owned(),
            3 => newline.to_owned(),
            4 => format!("{newline}\t  "),
            5 => " /* \"{ \u{e9} */ ".to_owned(),
            6 => format!(" // note: {{}} ,{newline}"),
            _ => format!("{newline}  // , }}{newline}  "),
        }
    }

    fn json(&mut self, tree: &Tree) -> String {
        let (open, close, items) = match tree {
            Tree::Plain(text) => return text.clone(),
            Tree::Text(text) => return serde_json::to_string(text).unwrap(),
            Tree::List(items) => {
                ("[", "]", items.iter().map(|item| self.json(item)).collect::<Vec<_>>())
            }
            Tree::Map(members) => {
                let member = |(key, value): &(String, Tree)| {
                    let key = serde_json::to_string(key).unwrap();
                    let (before, after) = (self.space(), self.space());
                    format!("{key}{before}:{after}{}", self.json(value))
                };
                ("{", "}", members.iter().map(member).collect())
            }
        };
        let mut out = open.to_owned();
        let last = items.len().saturating_sub(1);
        for (place, item) in items.iter().enumerate() {
            out.push_str(&format!("{}{item}{}", self.space(), self.space()));
            if place < last || (self.allows_comments && self.pick(2) == 0) {
                out.push(',');
            }
        }
        format!("{out}{}{close}", self.space())
    }

    fn toml(&mut self, tree: &Tree) -> String {
        let mut out = String::new();
        let members = tree.as_map().unwrap();
        for (key, value) in members.iter().filter(|(_, value)| value.as_map().is_none()) {
            let comment = ["", " # [x]", "  "][self.pick(3)];
            let line = format!("{} = {}{comment}", quoted(key), toml_value(value));
            out.push_str(&line);
            out.push_str(self.newline);
        }
        for (key, value) in members {
            let Tree::Map(inner) = value else { continue };
            let above = ["", "\n", "# about\n", "\n\n  \n"][self.pick(4)];
            out.push_str(&above.replace('\n', self.newline));
            out.push_str(&format!("[{}]{}", quoted(key), self.newline));
            for (key, value) in inner {
                let blank = ["", "\n", "# = \n"][self.pick(3)];
                out.push_str(&blank.replace('\n', self.newline));
                out.push_str(&format!("{} = {}{}", quoted(key), toml_value(value), self.newline));
            }
        }
        out
    }

    fn yaml(&mut self, tree: &Tree, column: usize) -> String {
        let mut out = String::new();
        let indent = " ".repeat(column);
        for (key, value) in tree.as_map().unwrap() {
            let above = ["", "", "\n", "# note: x\n"][self.pick(4)];
            out.push_str(&above.replace('\n', self.newline));
            match value {
                Tree::Map(members) if !members.is_empty() => {
                    out.push_str(&format!("{indent}{}:{}", quoted(key), self.newline));
                    out.push_str(&self.yaml(value, column + 2));
                }
                value => {
                    let comment = ["", "  # why"][self.pick(2)];
                    let line = format!("{indent}{}: {}{comment}", quoted(key), yaml_value(value));
                    out.push_str(&line);
                    out.push_str(self.newline);
                }
            }
        }
        out
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn toml_value(tree: &Tree) -> String {
    match tree {
        Tree::Plain(text) if text == "null" => "false".to_owned(),
        Tree::Plain(text) => text.clone(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", "))
        }
        Tree::Map(members) => {
            let member =
                |(key, value): &(String, Tree)| format!("{} = {}", quoted(key), toml_value(value));
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

fn yaml_value(tree: &Tree) -> String {
    match tree {
        Tree::Plain(text) => text.clone(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            format!("[{}]", items.iter().map(yaml_value).collect::<Vec<_>>().join(", "))
        }
        Tree::Map(members) => {
            let member =
                |(key, value): &(String, Tree)| format!("{}: {}", quoted(key), yaml_value(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

fn scalar() -> impl Strategy<Value = Tree> {
    prop_oneof![
        prop::sample::select(vec!["1", "-2.5", "true", "null", "false", "12"])
            .prop_map(|text| Tree::Plain(text.to_owned())),
        "[a-z\u{e9}\u{4e2d}#:,{}/ \\[\\]\"]{0,8}".prop_map(Tree::Text),
    ]
}

fn members(inner: impl Strategy<Value = Tree>) -> impl Strategy<Value = Tree> {
    prop::collection::btree_map("[a-z\u{f6} .]{1,6}", inner, 0..4)
        .prop_map(|members| Tree::Map(members.into_iter().collect()))
}

fn any_tree() -> impl Strategy<Value = Tree> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Tree::List),
            members(inner),
        ]
    })
}

fn styles() -> impl Strategy<Value = (Vec<Index>, bool, bool)> {
    (prop::collection::vec(any::<Index>(), 1..80), any::<bool>(), any::<bool>())
}

fn entry() -> Tree {
    Tree::map([
        ("command", Tree::text("/opt/m k/\"mk\"")),
        ("args", Tree::texts(["mcp", "--tools", "all"])),
        ("env", Tree::map([("MK_AGENT", Tree::text("codex"))])),
    ])
}

/// `tree` with a container of entries: absent, empty, or with others in it.
fn with_others(tree: &Tree, others: usize) -> Tree {
    let other = || Tree::map([("command", Tree::text("x"))]);
    match others {
        0 => tree.clone(),
        1 => tree.with(&["servers"], &Tree::map([("a", other())])),
        _ => tree.with(&["servers"], &Tree::map([("a", other()), ("b", other())])),
    }
}

fn path() -> Vec<String> {
    vec!["servers".to_owned(), "mk".to_owned()]
}

/// Sets and removes an entry, and returns the text with it.
fn there_and_back(text: &str, format: Format, others: usize) -> Result<String, TestCaseError> {
    let old = parse(text, format).unwrap().unwrap_or_else(|| Tree::Map(Vec::new()));
    let new = edited(text, format, &Edit::Set(path(), entry()))
        .map_err(|fault| TestCaseError::fail(format!("{fault}:\n{text}")))?;
    let read = parse(&new, format).unwrap().unwrap();
    prop_assert_eq!(read, old.with(&["servers", "mk"], &entry()), "{}", new);
    let again = edited(&new, format, &Edit::Set(path(), entry())).unwrap();
    prop_assert_eq!(&again, &new, "set twice");
    let kept = usize::from(others > 0);
    let back = edited(&new, format, &Edit::Remove(path(), kept))
        .map_err(|fault| TestCaseError::fail(format!("{fault}:\n{new}")))?;
    if old != Tree::Map(Vec::new()) {
        prop_assert_eq!(&back, text, "back from:\n{}", new);
    }
    Ok(new)
}

proptest! {
    #[test]
    fn json_gets_an_entry_and_loses_it(
        tree in members(any_tree()),
        others in 0..3_usize,
        (choices, comments, crlf) in styles(),
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let mut style = Style { choices: &choices, at: 0, allows_comments: comments, newline };
        let text = style.json(&with_others(&tree, others));
        let dialect = if comments { Dialect::Jsonc } else { Dialect::Json };
        there_and_back(&text, Format::Json(dialect), others)?;
        there_and_back(&format!("\u{feff}{text}\n"), Format::Json(dialect), others)?;
    }

    #[test]
    fn toml_gets_an_entry_and_loses_it(
        tree in members(prop_oneof![scalar(), members(any_tree())]),
        others in 0..2_usize,
        (choices, ends, crlf) in styles(),
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let mut style = Style { choices: &choices, at: 0, allows_comments: true, newline };
        let mut text = style.toml(&tree);
        if others > 0 {
            text.push_str(&format!("[servers.a]{newline}command = 'x' # y{newline}"));
        }
        if !ends {
            text.truncate(text.trim_end().len());
        }
        there_and_back(&text, Format::Toml, others)?;
    }

    #[test]
    fn yaml_gets_an_entry_and_loses_it(
        tree in members(any_tree()),
        others in 0..3_usize,
        (choices, ends, crlf) in styles(),
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let mut style = Style { choices: &choices, at: 0, allows_comments: true, newline };
        let mut text = style.yaml(&with_others(&tree, others), 0);
        if ends {
            text.push_str(&format!("# the end{newline}"));
        }
        there_and_back(&text, Format::Yaml, others)?;
    }

    #[test]
    fn a_list_of_json_gets_an_element_and_loses_it(
        tree in members(any_tree()),
        items in prop::collection::vec(any_tree(), 0..3),
        (choices, comments, crlf) in styles(),
    ) {
        let newline = if crlf { "\r\n" } else { "\n" };
        let mut style = Style { choices: &choices, at: 0, allows_comments: comments, newline };
        let hooks = Tree::map([("PreToolUse", Tree::List(items.clone()))]);
        let text = style.json(&tree.with(&["hooks"], &hooks));
        let format = Format::Json(if comments { Dialect::Jsonc } else { Dialect::Json });
        let path = vec!["hooks".to_owned(), "PreToolUse".to_owned()];
        let new = edited(&text, format, &Edit::Push(path.clone(), entry())).unwrap();
        let back = edited(&new, format, &Edit::Pull(path, items.len())).unwrap();
        if !items.is_empty() {
            prop_assert_eq!(&back, &text);
        }
    }

    /// No text brings any of the parsers to a panic.
    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}:,\"'#=\\-|>&*!?% a\n\t\u{e9}\\\\.0-9]{0,60}") {
        for format in [
            Format::Json(Dialect::Json),
            Format::Json(Dialect::Jsonc),
            Format::Toml,
            Format::Yaml,
        ] {
            if let Ok(new) = edited(&text, format, &Edit::Set(path(), entry())) {
                prop_assert!(parse(&new, format).unwrap().unwrap().at(&["servers", "mk"]).is_some());
            }
        }
    }
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    let json = Format::Json(Dialect::Json);
    let set = Edit::Set(path(), entry());
    let fault = |text: &str, format| edited(text, format, &set).unwrap_err().to_string();
    assert_eq!(
        fault("{\n  \"a\" 1}", json),
        "line 2, column 7: Expected colon after the string or word in object property"
    );
    assert_eq!(fault("{} // c", json), "line 1, column 4: Comments are not allowed");
    assert_eq!(fault("[]", json), "the document is not a table of entries");
    assert_eq!(fault(r#"{"servers": []}"#, json), "servers is not a table of entries");
    assert_eq!(fault(r#"{"servers": {"mk": 1}}"#, json), "servers.mk is not a table of entries");
    assert_eq!(fault(r#"{"servers": {}, "servers": {}}"#, json), "servers is there twice");
    assert_eq!(
        fault("a = 1\nb =\n", Format::Toml),
        "line 2, column 4: string values must be quoted, expected literal string"
    );
    assert_eq!(fault("servers = 1\n", Format::Toml), "servers is not a table of entries");
    assert_eq!(
        fault("a: [1\n", Format::Yaml),
        "line 2, column 1: while parsing a flow sequence, expected ',' or ']'"
    );
    assert_eq!(
        fault("servers: {a: {b: 1}}\n", Format::Yaml),
        "a mapping of YAML in braces; write it over several lines"
    );
    assert_eq!(
        fault("servers: &x\n  a: 1\n", Format::Yaml),
        Fault::Unsupported("YAML with anchors, aliases or tags").to_string()
    );
}

#[test]
fn an_entry_that_is_there_keeps_what_a_person_added_and_how_it_is_spelt() {
    let set = Edit::Set(
        path(),
        Tree::map([("command", Tree::text("mk")), ("args", Tree::texts(["mcp"]))]),
    );
    let json = "{\n\t\"servers\" : {\n\t\t\"mk\": { \"command\": \"old\", \"disabled\": true } // mine\n\t}\n}";
    assert_eq!(
        edited(json, Format::Json(Dialect::Jsonc), &set).unwrap(),
        "{\n\t\"servers\" : {\n\t\t\"mk\": { \"command\": \"mk\", \"disabled\": true, \"args\": [\"mcp\"] } // mine\n\t}\n}"
    );
    for (old, new) in [
        (
            "# top\r\n[servers.mk]\r\ncommand = 'old' # why\r\nx = 0x10\r\n\r\n[z]\r\n",
            "# top\r\n[servers.mk]\r\ncommand = \"mk\" # why\r\nx = 0x10\r\nargs = [\"mcp\"]\r\n\r\n[z]\r\n",
        ),
        (
            "servers.mk.command = \"old\"\n",
            "servers.mk.command = \"mk\"\nservers.mk.args = [\"mcp\"]\n",
        ),
        (
            "servers = { mk = { command = 'old', a.b = 1 } }",
            "servers = { mk = { command = \"mk\", a.b = 1 , args = [\"mcp\"] } }",
        ),
    ] {
        assert_eq!(edited(old, Format::Toml, &set).unwrap(), new);
    }
    let yaml = "servers:\n  mk:\n    command: old # x\n    timeout: 5\n\n# z\nz: 1\n";
    assert_eq!(
        edited(yaml, Format::Yaml, &set).unwrap(),
        "servers:\n  mk:\n    command: mk\n    timeout: 5\n    args:\n    - mcp\n\n# z\nz: 1\n"
    );
}

#[test]
fn a_document_that_is_blank_begins_with_the_entry() {
    let set = Edit::Set(path(), Tree::map([("command", Tree::text("mk"))]));
    for blank in ["", " \n\t", "\u{feff}"] {
        let mark = if blank.starts_with('\u{feff}') { blank } else { "" };
        let json = edited(blank, Format::Json(Dialect::Json), &set).unwrap();
        assert_eq!(
            json,
            format!(
                "{mark}{{\n  \"servers\": {{\n    \"mk\": {{\n      \"command\": \"mk\"\n    }}\n  }}\n}}\n"
            )
        );
        let toml = edited(blank, Format::Toml, &set).unwrap();
        assert_eq!(toml, format!("{mark}[servers.mk]\ncommand = \"mk\"\n"));
        let yaml = edited(blank, Format::Yaml, &set).unwrap();
        assert_eq!(yaml, format!("{mark}servers:\n  mk:\n    command: mk\n"));
    }
}
