//! What may import what: the table in docs/style.md, held against the sources.

use std::fs;
use std::path::{Path, PathBuf};

/// Files whose functions depend on their arguments alone. Everything else in `src/` but `store/` is
/// a verb.
const PURE: &[&str] = &[
    "attach/",
    "canon/",
    "code.rs",
    "event/",
    "hook/answer.rs",
    "hook/call.rs",
    "hook/patch.rs",
    "hook/record.rs",
    "hook/sent.rs",
    "id.rs",
    "lease/resource.rs",
    "lineage.rs",
    "lines.rs",
    "log/line.rs",
    "mkep/assess.rs",
    "mkep/canonical.rs",
    "mkep/check.rs",
    "mkep/describe.rs",
    "mkep/fold.rs",
    "mkep/json/",
    "mkep/leases.rs",
    "mkep/lint.rs",
    "mkep/moment.rs",
    "mkep/record.rs",
    "mkep/registry.rs",
    "mkep/request.rs",
    "mkep/response.rs",
    "mkep/transition.rs",
    "merge/plan.rs",
    "notice/value.rs",
    "search/text.rs",
    "secret/",
    "sync/policy.rs",
    "text.rs",
    "time.rs",
    "tokens/",
    "workspace/fold.rs",
    "workspace/output.rs",
    "workspace/render.rs",
];

const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant",
    "getrandom",
    "OsRng",
    "rusqlite",
    "rustix",
    "clap",
    "stdout()",
    "stderr()",
    "stdin()",
];

/// The Rust files under `directory`, by path, without their tests.
fn sources(directory: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut found = Vec::new();
    let mut left = vec![root.clone()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            if path.is_dir() {
                left.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
                found.push((name, code));
            }
        }
    }
    assert!(!found.is_empty(), "{directory} has no sources");
    found
}

/// What `code` says outside of comments of what it must not.
fn said<'a>(code: &str, forbidden: &[&'a str]) -> Vec<&'a str> {
    let lines: Vec<&str> =
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let says = |word: &&&str| lines.iter().any(|line| line.contains(**word));
    forbidden.iter().filter(says).copied().collect()
}

fn check(sources: &[(String, String)], which: impl Fn(&str) -> bool, forbidden: &[&str]) {
    let mut checked = 0;
    for (name, code) in sources.iter().filter(|(name, _)| which(name)) {
        assert_eq!(said(code, forbidden), [] as [&str; 0], "{name}");
        checked += 1;
    }
    assert!(checked > 0, "no file was checked");
}

fn is_pure(name: &str) -> bool {
    PURE.iter().any(|pure| name == *pure || (pure.ends_with('/') && name.starts_with(pure)))
}

#[test]
fn values_and_folds_know_no_store_and_nothing_outside() {
    let forbidden = [OUTSIDE, &["crate::store", "crate::log", "crate::branch"]].concat();
    check(&sources("src"), is_pure, &forbidden);
    for pure in PURE {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(pure).exists(), "{pure}");
    }
}

#[test]
fn the_store_knows_no_folds_and_no_verbs() {
    let forbidden =
        ["crate::workspace", "crate::log", "crate::branch", "crate::operation", "crate::revision"];
    check(&sources("src"), |name| name.starts_with("store/"), &forbidden);
}

#[test]
fn verbs_have_no_sql_and_nothing_outside() {
    let sql = ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM"];
    let is_verb = |name: &str| !is_pure(name) && !name.starts_with("store/");
    check(&sources("src"), is_verb, &[OUTSIDE, &sql].concat());
}

#[test]
fn commands_know_no_database_and_not_each_other() {
    let commands = sources("commands");
    check(&commands, |_| true, &["rusqlite"]);
    let top: Vec<String> = commands
        .iter()
        .map(|(name, _)| name.split(['/', '.']).next().unwrap().to_owned())
        .filter(|name| name != "main" && name != "cli")
        .collect();
    // The tools of the server are the commands, under other names.
    let may_not = |name: &str| name != "main.rs" && !name.starts_with("mcp/");
    for (name, code) in commands.iter().filter(|(name, _)| may_not(name)) {
        let own = name.split(['/', '.']).next().unwrap();
        let others: Vec<String> = top
            .iter()
            .filter(|other| *other != own)
            .map(|other| format!("crate::{other}::"))
            .collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        assert_eq!(said(code, &others), [] as [&str; 0], "{name}");
    }
}
