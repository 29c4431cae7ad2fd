//! `mk export` and `mk import`.

use std::fs;

use crate::sandbox::Sandbox;

/// Two projects, `a` and `b`, the second with what the first held; then each goes on.
const DIVERGED: &str = "
    mkdir a b
    (cd a && mk init . && mk --agent ann note first && mk --agent ann decide db sqlite)
    (cd b && mk init .)
    (cd a && mk export) | (cd b && mk import -)
    (cd a && mk --agent ann note 'of a')
    (cd b && mk --agent bob fork try --switch && mk --agent bob note 'of b')
    (cd b && mk --agent ann note 'of b too')
";

#[test]
fn an_export_goes_into_another_project() {
    let sandbox = Sandbox::empty();
    sandbox.sh("mkdir a b && cd a && mk init . && mk note x && mk fork try && mk note y").success();
    sandbox.sh("cd a && mk export ../e.ndjson; cd ../b && mk init .").success();
    let done = sandbox.sh("cd b && mk import ../e.ndjson --dry-run").success();
    let said = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert!(said.starts_with("3 new events, 0 known\nmoved main @2 "), "{said}");
    sandbox.sh("cd b && mk log --oneline").success().stdout("");
    sandbox.sh("cd b && mk import ../e.ndjson").success().stdout(said);
    let export = sandbox.sh("cd a && mk export").success().get_output().stdout.clone();
    sandbox.sh("cd b && mk export").success().stdout(export);
    sandbox.sh("cd b && mk import ../e.ndjson").success().stdout("0 new events, 3 known\n");
}

#[test]
fn what_has_gone_on_otherwise_becomes_a_branch_and_nothing_is_lost() {
    let sandbox = Sandbox::empty();
    sandbox.sh(DIVERGED).success();
    sandbox.sh("cd a && mk export ../a.ndjson; cd ../b && mk export ../b.ndjson").success();
    let stdout = |line: &str| {
        let done = sandbox.sh(line).success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    let first = stdout("cd b && mk import ../a.ndjson");
    let suffix = stdout("cd a && mk rev-parse main");
    let name = format!("main.from-{}", &suffix[..8]);
    assert!(first.starts_with("1 new event, 2 known\n"), "{first}");
    assert!(first.contains(&format!("new {name} @3 ")), "{first}");
    assert_eq!(stdout("cd b && mk import ../a.ndjson"), "0 new events, 3 known\n");
    stdout("cd a && mk import ../b.ndjson");
    let count = |project| stdout(&format!("cd {project} && mk rev-list --all --count"));
    assert_eq!(count("a"), count("b"));
    assert_eq!(stdout("cd a && mk verify"), "ok: 6 events, 3 branches\n");
    assert_eq!(stdout("cd b && mk verify"), "ok: 6 events, 3 branches\n");
    // The events of both come out alike.
    let events = |project| stdout(&format!("cd {project} && mk export | grep -v advisory"));
    assert_eq!(events("a"), events("b"));
    let with_prefix = "mkdir c && cd c && mk init . && mk import ../b.ndjson --prefix bob/";
    let done = stdout(with_prefix);
    assert!(done.contains("new bob/main @3 ") && done.contains("new bob/try @4 "), "{done}");
    assert_eq!(stdout("cd c && mk rev-parse bob/main"), stdout("cd b && mk rev-parse main"));
}

#[test]
fn git_merges_two_exports() {
    let sandbox = Sandbox::empty();
    sandbox.sh(DIVERGED).success();
    sandbox
        .sh("
            git init -q -b main . && git config user.name me && git config user.email me@example
            echo '*.ndjson merge=union' > .gitattributes
            (cd a && mk export --since 2 ../memory.ndjson)
            (cd a && mk export ../memory.ndjson) && git add .gitattributes memory.ndjson
            git commit -qm a && git checkout -qb b
            (cd b && mk export ../memory.ndjson) && git commit -qam b
            git checkout -q main && (cd a && mk --agent ann note more && mk export ../memory.ndjson)
            git commit -qam more && git merge -q b -m both
            mkdir c && cd c && mk init . && mk import ../memory.ndjson && mk verify
        ")
        .success();
    sandbox.sh("cd b && mk import ../memory.ndjson").success();
    sandbox.sh("cd a && mk import ../memory.ndjson").success();
    let events = |project| {
        let done = sandbox.sh(&format!("cd {project} && mk export | grep -v advisory")).success();
        done.get_output().stdout.clone()
    };
    assert_eq!(events("a"), events("c"));
    assert_eq!(events("b"), events("c"));
}

#[test]
fn a_bad_line_is_named_and_nothing_is_imported() {
    let mut sandbox = Sandbox::empty();
    sandbox.sh("mkdir a && cd a && mk init . && mk note one && mk note two && mk fork b").success();
    let export = sandbox.sh("cd a && mk export").success().get_output().stdout.clone();
    let export = String::from_utf8(export).unwrap();
    let lines: Vec<&str> = export.lines().collect();
    sandbox.sh("mk init .").success();
    sandbox.mk("note here").success();
    let join = |lines: &[&str]| lines.join("\n") + "\n";
    let edited = lines[3].replace("\"two\"", "\"TWO\"");
    let spaced = lines[3].replace("\":\"", "\": \"");
    let version = lines[3].replace("\"v\":1", "\"v\":2");
    for (what, text, message) in [
        ("cut", export[..export.len() - 40].to_owned(), "line 5: it is no JSON: "),
        (
            "cut at a line",
            join(&lines[..4]),
            "line 1: the head of 'b' is missing: the export was cut",
        ),
        ("lines lost", join(&lines[3..]), "line 1: the event before it, "),
        ("CRLF", lines.join("\r\n"), "line 1: it ends with CR LF: its line breaks were converted"),
        ("BOM", format!("\u{feff}{export}"), "line 1: it begins with a byte order mark"),
        (
            "a conflict",
            join(&[lines[2], "<<<<<<< HEAD", lines[3], "=======", ">>>>>>> b"]),
            "line 2: '<<<<<<<' marks a conflict; merge exports with merge=union",
        ),
        ("an edit", join(&[lines[2], &edited]), "line 2: its hash is not that of what it says"),
        ("a format", join(&[lines[2], &spaced]), "line 2: it is not canonical: "),
        ("another version", join(&[lines[2], &version]), "line 2: it is of version 2, not 1"),
        ("no event", join(&["[]"]), "line 1: it is an array, not an object"),
        ("no UTF-8", "\"\u{0}".to_owned(), "line 1: it is no JSON: "),
    ] {
        let before = sandbox.files();
        sandbox.input = text.into_bytes();
        let error = sandbox.refusal("import -");
        let said = error["message"].as_str().unwrap();
        assert_eq!(error["code"], "bad-line", "{what}");
        assert!(said.starts_with(&format!("stdin: {message}")), "{what}: {said}");
        assert_eq!(sandbox.files(), before, "{what}");
    }
    // Order and repetition are no faults.
    let mut shuffled = [&lines[..], &lines[..]].concat();
    shuffled.reverse();
    sandbox.input = join(&shuffled).into_bytes();
    sandbox.mk("import -").success();
    sandbox.mk("verify").success().stdout("ok: 4 events, 3 branches\n");
}

#[test]
fn an_export_to_a_full_device_leaves_nothing_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.mk("note x").success();
    sandbox.refuses(
        "export /dev/full",
        128,
        "disk-full",
        "fatal: cannot write '/dev/full': No space left on device (os error 28)\n",
    );
    sandbox.write("e.ndjson", "before");
    sandbox.mk("export e.ndjson").success();
    let text = fs::read_to_string(sandbox.path("e.ndjson")).unwrap();
    assert_eq!(text.lines().count(), 2);
    sandbox.refuses(
        "export no/such/e.ndjson",
        128,
        "io",
        "fatal: cannot write 'no/such/e.ndjson': No such file or directory (os error 2)\n",
    );
}

#[test]
fn a_reserved_branch_that_went_on_otherwise_is_refused_and_erasures_are_joined() {
    let sandbox = Sandbox::empty();
    sandbox.sh(DIVERGED).success();
    sandbox.sh("cd a && mk --agent ann erase 1 -m why").success();
    sandbox.sh("cd b && mk --agent ann erase 2 -m why").success();
    sandbox.sh("cd a && mk export ../a.ndjson; cd ../b && mk export ../b.ndjson").success();
    sandbox.sh("cd a && mk import ../b.ndjson && mk verify").success();
    sandbox.sh("cd b && mk import ../a.ndjson && mk verify").success();
    let erased = |project: &str| {
        let done =
            sandbox.sh(&format!("cd {project} && mk export | grep -c '\"body\":'")).success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    assert_eq!(erased("a"), "2\n");
    assert_eq!(erased("b"), "2\n");
}
