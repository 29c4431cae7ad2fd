//! Commands and options that are not there, and commands that are programs of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

#[test]
fn an_unknown_command_or_option_gets_the_nearest_names() {
    let repo = Sandbox::new();
    let refused = |line: &str, stderr: &str| repo.refuses(line, 129, "invalid-argument", stderr);
    refused("lgo", "fatal: 'lgo' is no mk command\nhint: did you mean log or gc?\n");
    refused("fol", "fatal: 'fol' is no mk command\nhint: did you mean fold?\n");
    refused("for", "fatal: 'for' is no mk command\nhint: did you mean fork?\n");
    refused("frobnicate", "fatal: 'frobnicate' is no mk command\nhint: see `mk help`\n");
    refused("../log", "fatal: '../log' is no mk command\nhint: see `mk help`\n");
    refused("log --onelin", "fatal: unknown option '--onelin'\nhint: did you mean '--oneline'?\n");
    refused("log -x", "fatal: unknown option '-x'\nhint: see `mk log --help`\n");
    refused("log a b", "fatal: unexpected argument 'b'\nhint: see `mk log --help`\n");
    refused("--jsn log", "fatal: unknown option '--jsn'\nhint: did you mean '--json'?\n");
    refused("", "fatal: no command is given\nhint: see `mk --help`\n");
    refused("log -n", "fatal: '--max-count <N>' needs a value\nhint: see `mk log --help`\n");
    refused(
        "log --oneline=3",
        "fatal: '--oneline' takes no value '3'\nhint: see `mk log --help`\n",
    );
    refused(
        "log --color=red",
        "fatal: invalid value 'red' for '--color <WHEN>': not one of auto, always, never\n\
         hint: see `mk log --help`\n",
    );
}

#[test]
fn an_argument_that_is_not_utf8_is_named() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk note "$(printf 'caf\351')"
        ! fatal: argument 2 is not UTF-8: 'caf�'
        ! hint: see `mk note --help`
        [129]
        $ mk note x --agent "$(printf '\377')"
        ! fatal: argument 4 is not UTF-8: '�'
        ! hint: see `mk note --help`
        [129]
        $ mk "$(printf '\377')"
        ! fatal: argument 1 is not UTF-8: '�'
        ! hint: see `mk --help`
        [129]
        $ MK_AGENT="$(printf '\377')" mk note x
        ! fatal: MK_AGENT is not UTF-8
        [129]
        "#,
    );
    repo.mk("rev-list --count").success().stdout("0\n");
}

#[test]
fn after_two_dashes_everything_is_an_argument() {
    let repo = Sandbox::new();
    repo.mk("note -- --json").success();
    assert_eq!(repo.json("show")["events"][0]["payload"]["note"], "--json");
    repo.mk("fork -- --json").code(129).stdout("");
}

/// A program in a directory on `PATH`.
fn install(repo: &Sandbox, name: &str, script: &str) {
    fs::create_dir_all(repo.path("bin")).unwrap();
    repo.write(&format!("bin/{name}"), script);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(repo.path(&format!("bin/{name}")), mode).unwrap();
}

#[test]
fn a_program_on_the_path_is_a_command() {
    let mut repo = Sandbox::new();
    fs::create_dir(repo.path("below")).unwrap();
    install(
        &repo,
        "mk-hello",
        "#!/bin/sh\necho \"$MK_AGENT $MK_BRANCH $MK_DB $(pwd): $*\"\nexit 7\n",
    );
    let path = format!("{}:/usr/bin:/bin", repo.path("bin").display());
    repo.set("PATH", &path);
    let here = repo.path("").display().to_string();
    let here = here.trim_end_matches('/');
    repo.mk("-C below --db x.db --agent ann --branch try hello -a 'b c' --json --help")
        .code(7)
        .stdout(format!("ann try {here}/below/x.db {here}/below: -a b c --json --help\n"));
    repo.mk("helo").code(129);
}

#[test]
fn a_program_that_cannot_run_says_so() {
    let mut repo = Sandbox::new();
    install(&repo, "mk-broken", "");
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(repo.path("bin/mk-broken"), mode).unwrap();
    repo.set("PATH", &repo.path("bin").display().to_string());
    let stderr = "fatal: cannot run 'mk-broken': Permission denied (os error 13)\n";
    repo.refuses("broken", 128, "io", stderr);
}
