//! `init`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

fn mode(repo: &Sandbox, name: &str) -> u32 {
    fs::metadata(repo.path(name)).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_project_is_made_once() {
    let repo = Sandbox::empty();
    repo.session(
        r#"
        $ mk init
        made a project: ~/.mk/mk.db
        $ mk init
        there is a project already: ~/.mk/mk.db
        $ mk init --json
        {"store":"~/.mk/mk.db","project_id":"9511c6029c1f5a2575e66a5e11d6abb2","created":false}
        $ mk init sub/dir
        made a project: ~/sub/dir/.mk/mk.db
        $ mk -C sub/dir rev-parse --store
        ~/sub/dir/.mk/mk.db
        $ mk init --db side.db --tokenizer o200k
        ! fatal: invalid value 'o200k' for '--tokenizer <NAME>': unknown tokenizer 'o200k'
        ! hint: see `mk init --help`
        [129]
        $ mk --db side.db context --json
        {"error":{"code":"store-missing","message":"no store at 'side.db'","hint":"make it with `mk init`, or name another with --db","retryable":false}}
        ! fatal: no store at 'side.db'
        ! hint: make it with `mk init`, or name another with --db
        [128]
        $ mk init sub --db x.db
        ! fatal: DIR and --db name two places for one project
        [129]
        $ mk init --tokenizer gpt
        ! fatal: invalid value 'gpt' for '--tokenizer <NAME>': unknown tokenizer 'gpt'
        ! hint: see `mk init --help`
        [129]
        "#,
    );
    repo.write("file", "");
    repo.session(
        r#"
        $ mk init file
        ! fatal: cannot make 'file': File exists (os error 17)
        [129]
        $ mk -C file init
        ! fatal: cannot change to 'file': Not a directory (os error 20)
        [129]
        "#,
    );
}

#[test]
fn a_project_is_closed_to_others_and_to_git() {
    let repo = Sandbox::empty();
    // Whatever the caller's mask lets through.
    repo.sh("umask 0 && mk init && mk note x && mk log").success();
    assert_eq!(mode(&repo, ".mk"), 0o700);
    for entry in fs::read_dir(repo.store()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert_eq!(mode(&repo, &format!(".mk/{name}")), 0o600, "{name}");
    }
    assert_eq!(fs::read_to_string(repo.store().join(".gitignore")).unwrap(), "*\n");
}

#[test]
fn an_init_that_broke_off_is_done_again() {
    let repo = Sandbox::empty();
    fs::create_dir(repo.store()).unwrap();
    repo.write(".mk/mk.db-new", "half of a store");
    repo.mk("note x").code(128);
    repo.mk("init").success();
    repo.mk("note x").success();
    let names: Vec<_> = fs::read_dir(repo.store())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("mk.db-new"))
        .collect();
    assert_eq!(names, [""; 0]);
}

#[test]
fn a_path_is_told_on_one_line() {
    let repo = Sandbox::empty();
    let line = |what: &str| {
        format!(
            "{what}: {}/a\\nb/.mk/mk.db\n",
            repo.path("").display().to_string().trim_end_matches('/')
        )
    };
    let script = "d=$(printf 'a\\nb'); mkdir -p \"$d\"; cd \"$d\"; mk init";
    repo.sh(script).success().stdout(line("made a project"));
    repo.sh(script).success().stdout(line("there is a project already"));
}
