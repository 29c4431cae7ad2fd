//! Agents are attached and detached: every agent, whatever its files are before.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use mk::attach::agents::{AGENTS, Agent, named};
use mk::attach::document::{Dialect, Format, Tree, parse};
use mk::time::Timestamp;
use tempfile::TempDir;

use super::file::{FILE_MAX, backups};
use super::{Action, Direction, Report, Scope, Surroundings, Wish, prepare};

const OUT: Direction = Direction::Out { force: false };

struct Machine {
    place: TempDir,
    now: i64,
}

fn nothing(_: &str) -> Option<String> {
    None
}

impl Machine {
    fn new() -> Self {
        let place = TempDir::new().unwrap();
        for directory in ["home", "shop", "shop/.mk"] {
            fs::create_dir(place.path().join(directory)).unwrap();
        }
        Self { place, now: 1_796_032_800_000_000 }
    }

    fn around(&self) -> Surroundings<'static> {
        let at = |name: &str| self.place.path().join(name);
        Surroundings {
            root: at("shop"),
            home: at("home"),
            store: at("shop/.mk/mk.db"),
            program: PathBuf::from("/opt/mk/bin/mk"),
            search: Vec::new(),
            variable: &nothing,
        }
    }

    fn run(&mut self, wishes: &[Wish], direction: Direction) -> Report {
        self.now += 1_000_000;
        let now = Timestamp::from_micros(self.now);
        let around = self.around();
        prepare(wishes, direction, &around).unwrap().carry_out(&around, now, false)
    }

    /// Everything below, with modes, but for backups.
    fn files(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut left = vec![self.place.path().to_owned()];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                if metadata.is_dir() {
                    left.push(path);
                } else if !path.to_string_lossy().contains(".mk-backup-") {
                    let bytes = match metadata.is_symlink() {
                        true => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                        false => fs::read(&path).unwrap(),
                    };
                    found.push((path, metadata.mode(), bytes));
                }
            }
        }
        found.sort();
        found
    }
}

fn wish(agent: &'static Agent, scope: Scope) -> Wish {
    Wish {
        agent,
        scope: Some(scope),
        name: "mk".to_owned(),
        agent_id: None,
        command: None,
        options: Vec::new(),
        approved: false,
        hooks: agent.hooks.is_some(),
        shared: false,
        instructions: agent.instructions.is_some() && scope == Scope::Project,
    }
}

/// Every file that a wish has to do with, of an agent that does not write its own.
fn wishes() -> Vec<(Wish, Format, PathBuf)> {
    let mut found = Vec::new();
    let machine = Machine::new();
    for agent in AGENTS {
        for scope in [Scope::Project, Scope::User] {
            let owned = scope == Scope::User && agent.owns_user_file.is_some();
            for file in machine.around().all_files(agent, scope).into_iter().filter(|_| !owned) {
                let file = file.strip_prefix(machine.place.path()).unwrap().to_owned();
                found.push((wish(agent, scope), agent.format, file));
            }
        }
    }
    assert!(found.len() > 25, "{}", found.len());
    found
}

/// Documents of a format that a person could have, with `place` for where entries stand.
fn documents(format: Format, agent: &Agent) -> Vec<String> {
    let mut documents = vec![String::new(), " \n".to_owned(), "\u{feff}".to_owned()];
    let place = agent.place;
    // Once for each format is enough of the largest.
    let is_first = ["cursor", "codex", "opencode", "goose"].contains(&agent.name);
    let large = "x".repeat(if is_first { 1 << 20 } else { 1 << 10 });
    match format {
        Format::Json(dialect) => {
            let open: String = place.iter().map(|key| format!("\"{key}\": {{")).collect();
            let close = "}".repeat(place.len());
            let tight = open.replace(": ", ":");
            documents.extend([
                "{}".to_owned(),
                "{ }\n".to_owned(),
                format!("{{{open}{close}}}"),
                format!("{{\n\t{open}\n\t{close}\n}}\n"),
                format!("{{{tight}\"a\":{{\"command\":\"x\"}}{close},\"n\":1e400,\"n\":1}}"),
                format!("{{\n  \"z\": \"\\u00e9\u{4e2d}\",\n  {open}\n    \"a\": {{ \"url\": 1 }}\n  {close}\n}}"),
                format!("\u{feff}{{\r\n    \"z\": [1, 2],\r\n    {open}\"a\": {{}}{close}\r\n}}\r\n"),
                format!("{{\"big\": \"{large}\", {open}\"a\": [{{}}]{close}}}"),
            ]);
            if dialect == Dialect::Jsonc {
                documents.extend([
                    format!("// top\n{{\n  {open}\n    \"a\": {{}}, // one\n    /* two */\n  {close},\n}}\n// end"),
                    "{ // only a comment\n}\n".to_owned(),
                ]);
            }
        }
        Format::Toml => {
            let table = place.join(".");
            documents.extend([
                "model = 'x' # y\n".to_owned(),
                "a = 1".to_owned(),
                format!("[{table}.a]\ncommand = 'x'\n\n\n# about z\n[z]\nd = 1979-05-27T07:32:00Z\n"),
                format!("\u{feff}a = 1\r\n\r\n[{table}.a]\r\nx = \"\"\"\r\n[{table}.mk]\r\n\"\"\"\r\n"),
                format!("{table} = {{ a = {{ command = 'x' }} }}\n"),
                format!("{table}.a.command = 'x'\n"),
                format!("[{table}]\na = {{ command = \"x\" }}\n[[y]]\n[[y]]\n"),
                format!("big = '{large}'\n"),
            ]);
        }
        Format::Yaml => documents.extend([
            "GOOSE_MODEL: x # y\n".to_owned(),
            "extensions:\n".to_owned(),
            "extensions:\n  dev:\n    enabled: true\n    cmd: 'x'\n\n# end\nz: |\n  text\n   more\n".to_owned(),
            "a: [1, {b: 2}]\r\nextensions:\r\n    dev:\r\n        timeout: 300\r\n".to_owned(),
            "extensions:\n  dev: {enabled: true}".to_owned(),
            format!("big: {large}\n"),
        ]),
    }
    documents
}

#[test]
fn every_agent_is_attached_once_and_detached_to_the_byte() {
    for (wish, format, file) in wishes() {
        for document in
            [None].into_iter().chain(documents(format, wish.agent).into_iter().map(Some))
        {
            let mut machine = Machine::new();
            let path = machine.place.path().join(&file);
            let scope = wish.scope.unwrap();
            if document.is_none() && machine.around().entry_files(wish.agent, scope)[0] != path {
                // Of several names, a new file gets the first.
                continue;
            }
            if let Some(document) = &document {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, document).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            }
            let shown = document.as_ref().map(|it| it.chars().take(200).collect::<String>());
            let what = format!("{} {} {shown:?}", wish.agent.name, file.display());
            let before = machine.files();
            let wishes = [wish.clone()];
            let report = machine.run(&wishes, Direction::In);
            assert!(report.is_done(), "{what}: {report:?}");
            assert_eq!(report.files[0].action, Action::Added, "{what}");
            let old = document.as_ref().and_then(|text| parse(text, format).unwrap());
            let text = fs::read_to_string(&path).unwrap();
            let new = parse(&text, format).unwrap().unwrap();
            let entry: Vec<&str> = wish.agent.place.iter().copied().chain(["mk"]).collect();
            let expected =
                old.unwrap_or_else(|| Tree::Map(Vec::new())).with(&entry, new.at(&entry).unwrap());
            // Hooks of some agents stand in the same file.
            let mut same = new.clone();
            if expected.get("hooks").is_none()
                && let Tree::Map(members) = &mut same
            {
                members.retain(|(key, _)| key != "hooks");
            }
            assert_eq!(same, expected, "{what}");
            let attached = machine.files();
            let again = machine.run(&wishes, Direction::In);
            assert!(
                again.files.iter().all(|it| it.action == Action::Unchanged),
                "{what}: {again:?}"
            );
            assert_eq!(machine.files(), attached, "{what}");
            let report = machine.run(&wishes, OUT);
            assert!(report.is_done(), "{what}: {report:?}");
            assert_eq!(report.files[0].action, Action::Removed, "{what}");
            let after = machine.files();
            let first = |files: &[(PathBuf, u32, Vec<u8>)]| -> Vec<(PathBuf, u32, String)> {
                let text =
                    |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(600).collect();
                files.iter().map(|(path, mode, bytes)| (path.clone(), *mode, text(bytes))).collect()
            };
            assert_eq!(first(&after), first(&before), "{what}");
            assert!(after == before, "{what}");
            let again = machine.run(&wishes, OUT);
            assert_eq!(again.files[0].action, Action::Unchanged, "{what}");
        }
    }
}

#[test]
fn without_a_backup_what_is_left_says_what_was_there() {
    for (wish, format, file) in wishes() {
        for document in documents(format, wish.agent) {
            let mut machine = Machine::new();
            let path = machine.place.path().join(&file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &document).unwrap();
            let old = parse(&document, format).unwrap();
            let wishes = [wish.clone()];
            machine.run(&wishes, Direction::In);
            for backup in backups(&path).unwrap() {
                fs::remove_file(backup).unwrap();
            }
            assert!(machine.run(&wishes, OUT).is_done());
            let text = fs::read_to_string(&path).unwrap_or_default();
            let left = parse(&text, format).unwrap();
            let empty = || Tree::Map(Vec::new());
            // An empty container cannot be told from one that was made for the entry.
            let bare =
                |tree: Option<Tree>| tree.unwrap_or_else(empty).without_empty(wish.agent.place);
            let (left, old) = (bare(left), bare(old));
            assert_eq!(left, old, "{} {document:?}", wish.agent.name);
        }
    }
}

#[test]
fn a_refusal_of_one_file_leaves_all_others_unwritten() {
    let mut machine = Machine::new();
    let wishes: Vec<Wish> = ["cursor", "codex", "vscode"]
        .map(|name| Wish {
            instructions: false,
            hooks: false,
            ..wish(named(name).unwrap(), Scope::Project)
        })
        .into();
    fs::create_dir(machine.place.path().join("shop/.vscode")).unwrap();
    fs::write(machine.place.path().join("shop/.vscode/mcp.json"), "{\n  \"servers\" []\n}")
        .unwrap();
    let before = machine.files();
    let report = machine.run(&wishes, Direction::In);
    let actions: Vec<Action> = report.files.iter().map(|file| file.action).collect();
    assert_eq!(actions, [Action::Skipped, Action::Skipped, Action::Refused]);
    let why = report.files[2].why.as_deref().unwrap();
    assert!(why.starts_with("line 2, column 13: "), "{why}");
    assert_eq!(machine.files(), before);
}

/// Attaches Cursor after `prepare` had its way with the place of its file, which must be refused with
/// `why` and change nothing.
fn is_refused(prepare: impl FnOnce(&Path), why: &str) {
    let mut machine = Machine::new();
    let path = machine.place.path().join("shop/.cursor/mcp.json");
    fs::create_dir(path.parent().unwrap()).unwrap();
    prepare(&path);
    let before = machine.files();
    let cursor = Wish { instructions: false, ..wish(named("cursor").unwrap(), Scope::Project) };
    let report = machine.run(&[cursor], Direction::In);
    assert_eq!(report.files[0].action, Action::Refused, "{why}");
    assert_eq!(report.files[0].why.as_deref(), Some(why));
    assert_eq!(machine.files(), before);
}

#[test]
fn what_is_no_file_to_edit_is_refused() {
    is_refused(|path| fs::create_dir(path).unwrap(), "it is no file");
    is_refused(
        |path| symlink("nowhere.json", path).unwrap(),
        "it is a link to 'nowhere.json', where there is no file",
    );
    is_refused(|path| symlink("mcp.json", path).unwrap(), "it is a link that leads back to itself");
    is_refused(|path| symlink("/dev/zero", path).unwrap(), "it is no file");
    is_refused(|path| fs::write(path, b"{\"a\": \"\xff\"}").unwrap(), "it is not UTF-8 at byte 7");
    is_refused(
        |path| fs::File::create(path).unwrap().set_len(FILE_MAX + 1).unwrap(),
        "it has more than 4194304 bytes",
    );
    is_refused(
        |path| {
            fs::write(path, "{}").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o444)).unwrap();
        },
        "no permission to write it",
    );
    is_refused(|path| fs::write(path, "[]").unwrap(), "the document is not a table of entries");
    is_refused(
        |path| {
            fs::write(path, r#"{"mcpServers": {"mk": {"command": "other", "args": []}}}"#).unwrap()
        },
        "mcpServers.mk starts something else; choose another name with --name",
    );
    is_refused(
        |path| fs::write(path, r#"{"mcpServers": {"mk": {"url": "http://x"}}}"#).unwrap(),
        "mcpServers.mk starts something else; choose another name with --name",
    );
}

#[test]
fn a_link_stays_and_the_file_behind_it_is_edited() {
    let mut machine = Machine::new();
    let shop = machine.place.path().join("shop");
    fs::create_dir(shop.join(".cursor")).unwrap();
    fs::create_dir(machine.place.path().join("dotfiles")).unwrap();
    let target = machine.place.path().join("dotfiles/mcp.json");
    fs::write(&target, "{}\n").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    let link = shop.join(".cursor/mcp.json");
    symlink(&target, &link).unwrap();
    let cursor = [Wish { instructions: false, ..wish(named("cursor").unwrap(), Scope::Project) }];
    let before = machine.files();
    assert_eq!(machine.run(&cursor, Direction::In).files[0].action, Action::Added);
    assert_eq!(fs::read_link(&link).unwrap(), target);
    assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&target).unwrap().contains("mcpServers"));
    assert_eq!(backups(&target).unwrap().len(), 1);
    assert!(machine.run(&cursor, OUT).is_done());
    assert_eq!(machine.files(), before);
}

#[test]
fn what_a_person_changed_stays_unless_forced() {
    let mut machine = Machine::new();
    let path = machine.place.path().join("shop/.cursor/mcp.json");
    let cursor = [Wish { instructions: false, ..wish(named("cursor").unwrap(), Scope::Project) }];
    machine.run(&cursor, Direction::In);
    let text = fs::read_to_string(&path).unwrap();
    let changed =
        text.replace("\"command\": \"mk\"", "\"command\": \"mk\",\n      \"disabled\": true");
    assert_ne!(changed, text);
    fs::write(&path, &changed).unwrap();
    // The next attachment keeps it too.
    assert_eq!(machine.run(&cursor, Direction::In).files[0].action, Action::Unchanged);
    let report = machine.run(&cursor, OUT);
    assert_eq!(report.files[0].action, Action::Refused);
    assert_eq!(fs::read_to_string(&path).unwrap(), changed);
    assert!(machine.run(&cursor, Direction::Out { force: true }).is_done());
    assert!(!path.exists());
}

#[test]
fn what_mk_wrote_before_and_wants_no_longer_goes() {
    for (name, file) in [("claude-code", "shop/.mcp.json"), ("codex", "shop/.codex/config.toml")] {
        let mut machine = Machine::new();
        let path = machine.place.path().join(file);
        let plain = Wish {
            hooks: false,
            instructions: false,
            ..wish(named(name).unwrap(), Scope::Project)
        };
        let other = Wish { agent_id: Some("ann".to_owned()), approved: true, ..plain.clone() };
        machine.run(std::slice::from_ref(&plain), Direction::In);
        let first = fs::read_to_string(&path).unwrap();
        assert_eq!(machine.run(&[other], Direction::In).files[0].action, Action::Updated);
        assert!(fs::read_to_string(&path).unwrap().contains("ann"));
        assert_eq!(machine.run(&[plain], Direction::In).files[0].action, Action::Updated);
        assert_eq!(fs::read_to_string(&path).unwrap(), first);
    }
}

#[test]
fn hooks_and_instructions_of_others_stay() {
    let mut machine = Machine::new();
    let shop = machine.place.path().join("shop");
    fs::create_dir(shop.join(".claude")).unwrap();
    let settings = shop.join(".claude/settings.local.json");
    let old = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"lint\" } ] }\n    ]\n  },\n  \"env\": {}\n}\n";
    fs::write(&settings, old).unwrap();
    let text = "# Shop\r\n\r\nBe kind.\r\n";
    fs::write(shop.join("CLAUDE.md"), text).unwrap();
    let claude = [wish(named("claude-code").unwrap(), Scope::Project)];
    machine.run(&claude, Direction::In);
    let document = parse(&fs::read_to_string(&settings).unwrap(), Format::Json(Dialect::Json));
    let document = document.unwrap().unwrap();
    let groups = document.at(&["hooks", "PreToolUse"]).and_then(Tree::as_list).unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(
        groups[1].get("matcher").and_then(Tree::as_text),
        Some("Edit|MultiEdit|Write|NotebookEdit")
    );
    let block = fs::read_to_string(shop.join("CLAUDE.md")).unwrap();
    assert!(block.starts_with(text) && block.lines().count() < 20, "{block}");
    // A person moves what is theirs: the block is replaced in place all the same.
    fs::write(
        shop.join("CLAUDE.md"),
        block.replace("Be kind.", "Be brief.").replace("lease", "lock"),
    )
    .unwrap();
    let report = machine.run(&claude, Direction::In);
    assert_eq!(
        report.files.iter().filter(|it| it.action == Action::Updated).count(),
        1,
        "{report:?}"
    );
    assert!(machine.run(&claude, OUT).is_done());
    assert_eq!(fs::read_to_string(&settings).unwrap(), old);
    assert_eq!(fs::read_to_string(shop.join("CLAUDE.md")).unwrap(), text.replace("kind", "brief"));
}

#[test]
fn a_backup_is_made_once_for_each_content_and_never_written_over() {
    let mut machine = Machine::new();
    let path = machine.place.path().join("shop/opencode.json");
    let opencode =
        [Wish { instructions: false, ..wish(named("opencode").unwrap(), Scope::Project) }];
    let still = |machine: &mut Machine| machine.now -= 1_000_000;
    for (document, expected) in [("{}", 1), ("{}", 1), ("{ }", 2), ("{  }", 3), ("{}", 3)] {
        fs::write(&path, document).unwrap();
        // In the same second as the last.
        still(&mut machine);
        machine.run(&opencode, Direction::In);
        let found = backups(&path).unwrap();
        assert_eq!(found.len(), expected, "{found:?}");
        assert!(found.iter().any(|backup| fs::read_to_string(backup).unwrap() == document));
    }
}
