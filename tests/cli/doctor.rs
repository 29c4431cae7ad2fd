//! `mk doctor`: a line for each thing, and what to do about it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// A home with a project in `shop`, and no programs but those of the system.
fn machine() -> Sandbox {
    let mut repo = Sandbox::empty();
    let bin = Path::new(env!("CARGO_BIN_EXE_mk")).parent().unwrap().display().to_string();
    repo.set("PATH", &format!("{bin}:/usr/bin:/bin"));
    fs::create_dir(repo.path("shop")).unwrap();
    repo.sh("cd shop && mk init && mk note hello").success();
    repo
}

/// The lines of the doctor's answer that are not `ok`, and its exit status.
#[track_caller]
fn complaints(repo: &Sandbox) -> (i32, String) {
    let before = repo.files();
    let done = repo.sh("cd shop && mk doctor").get_output().clone();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert_eq!(repo.files(), before, "the doctor left traces");
    let home = repo.path("").display().to_string();
    let text = String::from_utf8(done.stdout).unwrap().replace(home.trim_end_matches('/'), "~");
    let kept: String = text
        .lines()
        .filter(|line| !line.starts_with("ok\t"))
        .map(|line| format!("{line}\n"))
        .collect();
    (done.status.code().unwrap(), kept)
}

#[test]
fn a_healthy_project_is_told_to_be() {
    let repo = machine();
    repo.session(
        r#"
        $ cd shop; mk doctor
        ok	project	found: ~/shop/.mk/mk.db
        ok	files	a local file system, closed to others, with room
        ok	clock	not behind the newest event
        ok	store	1 event in 1 branch, every chain holds
        --	agents	none is attached; see `mk attach`
        ok	tokens	counted as everywhere else
        $ cd shop; mk attach claude-code gemini --hooks | grep -c added
        3
        "#,
    );
    let report: Value = {
        let done = repo.sh("cd shop && mk --json doctor").success();
        serde_json::from_slice(&done.get_output().stdout).unwrap()
    };
    assert_eq!(report["ok"], true);
    let of = |area: &str| -> Vec<String> {
        let checks = report["checks"].as_array().unwrap().iter();
        checks
            .filter(|check| check["area"] == area && check["level"] == "ok")
            .map(|check| check["what"].as_str().unwrap().to_owned())
            .collect()
    };
    // Copilot reads the file of Claude Code's.
    assert_eq!(of("agents").len(), 3, "{report}");
    assert_eq!(of("hooks").len(), 2, "{report}");
    // Both start the same server: it is tried once.
    let server = of("server");
    assert_eq!(server.len(), 1, "{report}");
    assert!(server[0].starts_with("claude-code: answers after "), "{server:?}");
    // As agents get them, though nothing is written.
    assert!(server[0].contains(" 16 tools in "), "{server:?}");
}

#[test]
fn what_is_wrong_with_an_agent_is_told_with_its_remedy() {
    let repo = machine();
    repo.sh("cd shop && mk attach cursor codex").success();
    assert_eq!(
        complaints(&repo),
        (
            0,
            "warn\tagents\tcodex: attached in ~/shop/.codex/config.toml; it reads the file only once it \
             trusts the project; start it here\n"
                .to_owned()
        )
    );
    repo.sh("mkdir .codex; printf '[projects.\"%s/shop\"]\\ntrust_level = \"trusted\"\\n' \"$HOME\" > .codex/config.toml")
        .success();
    assert_eq!(complaints(&repo), (0, String::new()));
    repo.sh("cd shop && sed -i 's/\"mcp\"\\]/\"mcp\", \"--nonsense\"]/' .cursor/mcp.json")
        .success();
    let (status, told) = complaints(&repo);
    assert_eq!(status, 1);
    assert_eq!(
        told,
        "FAIL\tserver\tcursor: `mk -C ${workspaceFolder} mcp --nonsense` ends without an answer to initialize; \
         try it in a shell; MK_LOG=debug tells more\n"
    );
    repo.write("shop/.cursor/mcp.json", "{ \"mcpServers\": { \"mk\": { \"url\": 1 } } }");
    assert_eq!(
        complaints(&repo).1,
        "FAIL\tagents\tcursor: mk in ~/shop/.cursor/mcp.json does not start `mk mcp`; take it out, or choose a \
         name: `mk attach cursor --name NAME`\n"
    );
    repo.write("shop/.cursor/mcp.json", "{\n");
    let (status, told) = complaints(&repo);
    assert_eq!(status, 1);
    assert!(told.starts_with("FAIL\tagents\tcursor: ~/shop/.cursor/mcp.json: line "), "{told}");
    repo.write(
        "shop/.cursor/mcp.json",
        r#"{"mcpServers": {"memkernel": {}, "mk": {"command": "/nowhere/mk", "args": ["mcp"]}}}"#,
    );
    let (status, told) = complaints(&repo);
    assert_eq!(status, 1);
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].starts_with("warn\tagents\tcursor: there is an entry of MemKernel's beside"),
        "{told}"
    );
    assert!(
        lines[1].starts_with("FAIL\tserver\tcursor: there is no program '/nowhere/mk'"),
        "{told}"
    );
}

#[test]
fn what_is_wrong_with_the_project_is_told() {
    let repo = machine();
    fs::set_permissions(repo.path("shop/.mk"), fs::Permissions::from_mode(0o755)).unwrap();
    repo.sh("mkdir -p shop/.memkernel && touch shop/.memkernel/memkernel.db && mkdir .mk")
        .success();
    let (status, told) = complaints(&repo);
    assert_eq!(status, 0);
    assert_eq!(
        told,
        "warn\tproject\tthere is another project above, in ~; remove the one that is not meant\n\
         warn\tproject\tthere is memory of another program: ~/shop/.memkernel/memkernel.db; bring it over with \
         `mk import memkernel ~/shop/.memkernel/memkernel.db`\n\
         warn\tfiles\tothers may read ~/shop/.mk (mode 755); close it with `chmod 700 ~/shop/.mk`\n\
         --\tagents\tnone is attached; see `mk attach`\n"
    );
    let behind = repo.sh("cd shop && MK_DATE=2020-01-01T00:00:00Z mk doctor").success();
    let behind = String::from_utf8(behind.get_output().stdout.clone()).unwrap();
    assert!(
        behind.contains("warn\tclock\tthe clock is behind the newest event, of 2026-11-30T"),
        "{behind}"
    );
    let store = rusqlite::Connection::open(repo.path("shop/.mk/mk.db")).unwrap();
    store.execute_batch("UPDATE link SET depth = 7").unwrap();
    drop(store);
    let (status, told) = complaints(&repo);
    assert_eq!(status, 1);
    assert!(told.contains("FAIL\tstore\t1 finding; see them with `mk verify`\n"), "{told}");
    repo.write("shop/.mk/mk.db", "not a store, but long enough to be looked at as if it were one");
    let (status, told) = complaints(&repo);
    assert_eq!(status, 1);
    assert!(told.contains("FAIL\tstore\t"), "{told}");
    repo.sh("rm -r shop/.mk .mk").success();
    let (status, told) = complaints(&repo);
    assert_eq!(status, 1);
    assert_eq!(
        told,
        "FAIL\tproject\tnot a mk project (or any of the parent directories): ~/shop; make one with `mk init` or \
         `mk attach`\n"
    );
}

#[test]
fn hooks_that_no_longer_run_are_told() {
    let repo = machine();
    repo.sh("cd shop && mk attach claude-code --hooks --command /nowhere/mk").success();
    let (status, told) = complaints(&repo);
    assert_eq!(status, 1);
    assert!(
        told.contains(
            "FAIL\thooks\tclaude-code: there is no program for `/nowhere/mk hook claude-code` in \
             ~/shop/.claude/settings.local.json; write them anew with `mk attach claude-code --hooks --scope \
             project`\n"
        ),
        "{told}"
    );
}
