//! The recorded answers of single functions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mk::attach::document::{Dialect, Edit, Format, Tree, edited, parse};
use mk::canon::{Object, Value};
use mk::compaction::insight;
use mk::event::{Content, Event};
use mk::id::{AgentId, BranchName, EventId, Hash, LineageId, hex};
use mk::lease::Resource;
use mk::store::location;
use mk::sync;
use mk::workspace::render;
use sha2::{Digest, Sha256};

use crate::cases::exchange::write_private;
use crate::cases::{directory, read_lines};

/// Replayed in the modules of the library that hold the function.
const IN_THE_LIBRARY: &[&str] = &["blockers", "canonical", "coercion", "tokens"];

/// Replayed below.
const HERE: &[&str] =
    &["attach", "discovery", "hash", "ids", "insights", "normalize", "render", "sync_config"];

/// Replayed by the tests of the command that they are about: tests/cli/mcp/memkernel.rs.
const IN_THE_PROGRAM: &[&str] = &["mcp/conversation.jsonl", "mcp/tools.json"];

fn lines(name: &str) -> Vec<Object> {
    read_lines(&directory().join(format!("unit/{name}.jsonl")))
}

fn text<'a>(line: &'a Object, name: &str) -> &'a str {
    line.get(name).and_then(Value::as_str).unwrap()
}

#[test]
fn every_recorded_file_is_replayed() {
    let replayed = IN_THE_LIBRARY.iter().chain(HERE).map(|name| format!("unit/{name}.jsonl"));
    let known: BTreeSet<String> =
        replayed.chain(IN_THE_PROGRAM.iter().map(|name| (*name).to_owned())).collect();
    for folder in ["unit", "mcp"] {
        // The sample in the repository has not all folders.
        let Ok(files) = fs::read_dir(directory().join(folder)) else { continue };
        for file in files {
            let name = file.unwrap().file_name().into_string().unwrap();
            assert!(known.contains(&format!("{folder}/{name}")), "{folder}/{name}");
        }
    }
}

#[test]
fn policies_of_an_exchange_are_taken_or_refused_as_recorded() {
    // The key that most of the recorded policies have as that of the own peer.
    const SEED: [u8; 32] = [0xa1; 32];
    for line in lines("sync_config") {
        let home = tempfile::tempdir().unwrap();
        for folder in ["exchange", "store"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        let (policy, store) = (home.path().join("sync.json"), home.path().join("store/mk.db"));
        fs::write(&store, "").unwrap();
        for key in ["sync.key", "exchange/sync.key"] {
            write_private(&home.path().join(key), &SEED, 0o600);
        }
        let mode = u32::from_str_radix(text(&line, "mode").trim_start_matches("0o"), 8).unwrap();
        write_private(&policy, line.get("config").unwrap().canonical().as_bytes(), mode);
        let opened = sync::open(&policy, &store);
        let is_ok = Value::from(opened.is_ok());
        assert_eq!(line.get("ok"), Some(&is_ok), "{line:?}: {:?}", opened.err());
    }
}

#[test]
fn insights_are_cleaned_as_recorded() {
    for line in lines("insights") {
        assert_eq!(insight::clean(text(&line, "in")), text(&line, "out"), "{line:?}");
    }
}

#[test]
fn resources_are_normalised_as_recorded_but_that_two_leading_slashes_are_one() {
    for line in lines("normalize") {
        let key = line.get("out").and_then(Value::as_str);
        let key = key.map(|key| match key.strip_prefix("//") {
            Some(rest) => format!("/{rest}"),
            None => key.to_owned(),
        });
        let actual = Resource::of_peer(text(&line, "in"));
        let actual = actual.ok().map(|resource| resource.as_str().to_owned());
        assert_eq!(actual, key.filter(|key| key != "/"), "{line:?}");
    }
}

#[test]
fn names_are_told_from_what_is_none() {
    for line in lines("ids") {
        let given = text(&line, "in");
        let is_name = match text(&line, "fn") {
            "branch_id" => given.parse::<BranchName>().is_ok(),
            "agent_id" => given.parse::<AgentId>().is_ok(),
            other => panic!("{other}"),
        };
        assert_eq!(line.get("ok"), Some(&is_name.into()), "{line:?}");
    }
}

#[test]
fn events_are_rendered_as_recorded() {
    for line in lines("render") {
        if let Some(Value::Object(event)) = line.get("event") {
            let payload = event.get("payload").and_then(Value::as_object);
            assert_eq!(render::block(&read_event(event), payload), text(&line, "text"));
            continue;
        }
        // The output itself is not recorded. All but its last 4000 characters is.
        let length = line.get("output_chars").and_then(Value::as_i64).unwrap();
        let output = "é".repeat(usize::try_from(length).unwrap());
        let logged = Value::parse(LOGGED.as_bytes()).unwrap();
        let event = logged.as_object().unwrap();
        let payload = mk::workspace::event::tool_log("c", 0, &output, Object::new());
        let block = render::block(&read_event(event), Some(&payload));
        let length = i64::try_from(block.chars().count()).unwrap();
        assert_eq!(line.get("text_chars"), Some(&length.into()));
    }
}

const LOGGED: &str = r#"{"event_id":1,"sequence":1,"timestamp":"2026-03-02T09:00:00Z",
    "branch_id":"main","agent_id":"a","event_type":"TOOL_EXECUTION_LOG","parent_event_id":null,
    "payload":{},"metadata":{}}"#;

fn read_event(event: &Object) -> Event {
    let number = |name: &str| event.get(name).and_then(Value::as_i64);
    let content = |name: &str| event.get(name).unwrap().canonical();
    Event {
        id: EventId(number("event_id").unwrap()),
        lineage: LineageId(1),
        branch: text(event, "branch_id").parse().unwrap(),
        sequence: number("sequence").unwrap().try_into().unwrap(),
        timestamp: text(event, "timestamp").parse().unwrap(),
        agent: text(event, "agent_id").parse().unwrap(),
        parent: number("parent_event_id").map(EventId),
        kind: text(event, "event_type").parse().unwrap(),
        body: Hash::ZERO,
        hash: Hash::ZERO,
        log: Hash::ZERO,
        content: Some(Content {
            salt: [0; 16],
            payload: content("payload"),
            metadata: content("metadata"),
        }),
        structure: None,
    }
}

/// What an import checks; the hashes of `mk` itself are laid out otherwise.
///
/// Rule: docs/spec/kernel.md, section 20, "Chain".
#[test]
fn the_chain_of_the_peer_comes_out_of_canonical_json() {
    for line in lines("hash") {
        let Some(Value::Object(event)) = line.get("event") else { panic!("{line:?}") };
        let mut hashed = event.clone();
        hashed.insert("prev", text(&line, "prev"));
        let material = hashed.canonical();
        assert_eq!(material, text(&line, "material"));
        assert_eq!(hex(&Sha256::digest(&material)), text(&line, "hash"));
        for name in ["payload", "metadata"] {
            let stored = text(&line, &format!("stored_{name}"));
            assert_eq!(event.get(name).unwrap().canonical(), stored);
        }
    }
}

/// Where `mk` finds a project, or would make one, by the number of the line and other than the peer.
///
/// Rule: docs/design.md, section 4, "Where the project is".
const OTHER_PLACES: &[(usize, &str)] = &[
    // A `.mk/` anywhere above comes before a git repository that is nearer.
    (3, "p/.mk/mk.db"),
    (8, ".mk/mk.db"),
    // A file `.git` that leads to no repository is none.
    (4, "p/x/.mk/mk.db"),
];

#[test]
fn a_project_is_found_where_the_peer_finds_it_but_for_named_differences() {
    for (number, line) in lines("discovery").into_iter().enumerate() {
        if line.get("env").and_then(Value::as_str).is_some_and(|path| !path.is_empty()) {
            // `MK_DB` is the command's to read.
            continue;
        }
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        lay_out(&root, &line);
        let start = root.join(text(&line, "cwd"));
        let found = location::discover(&start).unwrap_or_else(|_| {
            location::home(&start).join(location::DIRECTORY).join(location::FILE)
        });
        let other = OTHER_PLACES.iter().find(|(of, _)| *of == number);
        let expected = match other {
            Some((_, place)) => (*place).to_owned(),
            None => of_mk(text(&line, "out")),
        };
        assert_eq!(found, root.join(expected), "{line:?}");
    }
}

fn of_mk(path: &str) -> String {
    path.replace(".memkernel/memkernel.db", ".mk/mk.db").replace(".memkernel", ".mk")
}

fn lay_out(root: &Path, line: &Object) {
    let paths = |name: &str| {
        let paths = line.get(name).and_then(Value::as_array).unwrap().iter();
        paths.map(|path| root.join(of_mk(path.as_str().unwrap()))).collect::<Vec<_>>()
    };
    for directory in paths("dirs") {
        fs::create_dir_all(&directory).unwrap();
        if directory.ends_with(".git") {
            // The peer looks no closer; for mk this is what makes a repository.
            fs::write(directory.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
    }
    for file in paths("files") {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
}

/// What `mk` does otherwise than the peer with a configuration.
enum Otherwise {
    /// What a person put into our entry stays: a member, its value as JSON, and what is done then.
    Keeps(&'static [&'static str], &'static str, &'static str),
    /// An entry is edited in the spelling that it has, where the peer refuses: with dotted keys, or as an
    /// inline table.
    Edits,
    /// A document that spells one name in two ways is not written at all, since it could not be written
    /// as it was.
    Refuses,
}

/// The lines that show it, by number.
///
/// Rule: docs/spec/attach.md, section 4, item 4.
const OTHER_EDITS: &[(usize, Otherwise)] = &[
    (8, Otherwise::Keeps(&["disabled"], "true", "unchanged")),
    (21, Otherwise::Keeps(&["env", "A"], r#""1""#, "updated")),
    (22, Otherwise::Refuses),
    (23, Otherwise::Edits),
    (27, Otherwise::Edits),
];

#[test]
fn entries_are_put_into_configurations_as_recorded_but_for_named_differences() {
    for (number, line) in lines("attach").into_iter().enumerate() {
        let (format, place) = match text(&line, "fn") {
            "merge_json" => (Format::Json(Dialect::Json), "mcpServers"),
            "merge_toml" => (Format::Toml, "mcp_servers"),
            _ => continue,
        };
        let mut entry = line.get("entry").and_then(Value::as_object).unwrap().clone();
        for (name, value) in line.get("extra").and_then(Value::as_object).into_iter().flatten() {
            entry.insert(name, value.clone());
        }
        let path = [place, text(&line, "server")];
        // Tables last, as an entry has them.
        let Tree::Map(mut members) = tree(&entry.into()) else { unreachable!("it is an object") };
        members.sort_by_key(|(_, member)| member.as_map().is_some());
        let entry = Tree::Map(members);
        let edit = Edit::Set(path.map(str::to_owned).to_vec(), entry.clone());
        let before = line.get("before").and_then(Value::as_str).unwrap_or_default();
        let done = edited(before, format, &edit);
        let recorded = line.get("after").map(tree);
        let other = OTHER_EDITS.iter().find(|(of, _)| *of == number);
        let expected = match other {
            None => recorded,
            Some((_, Otherwise::Keeps(member, value, _))) => {
                let value = tree(&Value::parse(value.as_bytes()).unwrap());
                recorded.map(|tree| tree.with(&[&path, *member].concat(), &value))
            }
            Some((_, Otherwise::Edits)) => Some(Tree::Map(Vec::new()).with(&path, &entry)),
            Some((_, Otherwise::Refuses)) => None,
        };
        let expected = expected.as_ref().map(value);
        let read = |text: &str| parse(text, format).unwrap().unwrap_or(Tree::Map(Vec::new()));
        let after = done.as_ref().ok().map(|text| value(&read(text)));
        assert_eq!(after, expected, "{number}: {line:?}");
        let Ok(text) = done else { continue };
        let action = match other {
            None => line.get("action").and_then(Value::as_str),
            Some((_, Otherwise::Keeps(_, _, action))) => Some(*action),
            Some((_, Otherwise::Edits | Otherwise::Refuses)) => Some("updated"),
        };
        if let Some(action) = action {
            let done = match parse(before, format).unwrap().and_then(|it| it.at(&path).cloned()) {
                None => "added",
                Some(_) if text == before => "unchanged",
                Some(_) => "updated",
            };
            assert_eq!(done, action, "{number}");
        }
        assert_eq!(edited(&text, format, &edit).as_ref(), Ok(&text), "{number}: the second time");
    }
}

fn tree(value: &Value) -> Tree {
    match value {
        Value::String(text) => Tree::text(text.as_str()),
        Value::Array(items) => Tree::List(items.iter().map(tree).collect()),
        Value::Object(members) => {
            Tree::Map(members.iter().map(|(name, it)| (name.to_owned(), tree(it))).collect())
        }
        plain => Tree::Plain(plain.canonical()),
    }
}

fn value(tree: &Tree) -> Value {
    match tree {
        Tree::Plain(text) => Value::parse(text.as_bytes()).unwrap(),
        Tree::Text(text) => text.as_str().into(),
        Tree::List(items) => Value::Array(items.iter().map(value).collect()),
        Tree::Map(members) => {
            Object::from_iter(members.iter().map(|(name, it)| (name.as_str(), value(it)))).into()
        }
    }
}

/// The peer adds a line to the `.gitignore` of the person. The directory of `mk` has one of its own.
///
/// Rule: docs/design.md, section 4, "Where the project is".
#[test]
fn no_gitignore_of_a_person_is_ever_edited() {
    for line in lines("attach") {
        if text(&line, "fn") != "gitignore" {
            continue;
        }
        let root = tempfile::tempdir().unwrap();
        if line.get("is_git") == Some(&true.into()) {
            fs::create_dir(root.path().join(".git")).unwrap();
            fs::write(root.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        let file = root.path().join(".gitignore");
        let before = line.get("before").and_then(Value::as_str);
        if let Some(before) = before {
            fs::write(&file, before).unwrap();
        }
        location::create_directory(&root.path().join(location::DIRECTORY)).unwrap();
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{line:?}");
        let own = root.path().join(location::DIRECTORY).join(".gitignore");
        assert_eq!(fs::read_to_string(own).unwrap(), "*\n");
    }
}
