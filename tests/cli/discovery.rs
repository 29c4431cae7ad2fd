//! Where the project is, with git and without.

use std::fs;

use crate::sandbox::Sandbox;

/// Runs `script` with what git needs to make a commit that is always the same.
fn git(repo: &Sandbox, script: &str) {
    let setup = "export GIT_AUTHOR_DATE=@1000000000+0000 GIT_COMMITTER_DATE=@1000000000+0000
        commit() { git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; }";
    repo.sh(&format!("set -e; {setup}\n{script}")).success();
}

/// A repository `code` with one commit.
fn repository() -> Sandbox {
    let repo = Sandbox::empty();
    git(&repo, "git init -q -b trunk code; cd code; mkdir -p a/b\ncommit");
    repo
}

#[test]
fn without_git_the_project_is_here_and_found_from_below() {
    let repo = Sandbox::empty();
    fs::create_dir_all(repo.path("work/a/b")).unwrap();
    repo.session(
        r#"
        $ mk -C work/a/b log
        ! fatal: not a mk project (or any of the parent directories): ~/work/a/b
        ! hint: make one with `mk init`
        [128]
        $ mk -C work/a init
        made a project: ~/work/a/.mk/mk.db
        $ mk -C work/a/b rev-parse --store
        ~/work/a/.mk/mk.db
        $ mk -C work log
        ! fatal: not a mk project (or any of the parent directories): ~/work
        ! hint: make one with `mk init`
        [128]
        $ cd work/a/b && mk note x -C .. && mk rev-list --count
        b37935f09daa31ffd40bb5b82c017e0a89a993a7f611d4adddd78c2e4b37ff5b
        1
        "#,
    );
}

#[test]
fn the_project_of_a_repository_is_at_its_top() {
    let repo = repository();
    repo.session(
        r#"
        $ mk -C code/a/b init
        made a project: ~/code/.mk/mk.db
        $ mk -C code/a/b rev-parse --store
        ~/code/.mk/mk.db
        $ mk -C code note 'from the top'
        da3ea54c707c6083c0614659d0305f37e5c04a52e4010f4468faae3d5efcb760
        $ mk -C code/a rev-list --count
        1
        $ git -C code status --porcelain --ignored
        !! .mk/
        $ git -C code add . && git -C code status --porcelain
        "#,
    );
}

#[test]
fn events_carry_the_commit_they_were_made_at() {
    let repo = repository();
    git(&repo, "cd code; git worktree add -q ../side");
    repo.session(
        r#"
        $ cd code && mk init && mk note x && mk show --json
        made a project: ~/code/.mk/mk.db
        d4f964e1eb23ca6bb62c4a4e17e1e276e495b3302bcc9e521ed8f205dcc37107
        {"events":[{"event_id":1,"hash":"d4f964e1eb23ca6bb62c4a4e17e1e276e495b3302bcc9e521ed8f205dcc37107","sequence":1,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":null,"event_type":"AGENT_SCRATCHPAD","payload":{"note":"x"},"metadata":{"git":{"commit":"370a9a171877e054359a95167ab1209d42b03d44"}}}]}
        $ mk -C side note y && mk -C side cat-event HEAD
        121929c51a52b9c63af567f611b5d8f18ff97284b52e6967c343a20640e3cfc4
        {"agent_id":"me","branch_id":"main","event_type":"AGENT_SCRATCHPAD","hash":"121929c51a52b9c63af567f611b5d8f18ff97284b52e6967c343a20640e3cfc4","metadata":{"git":{"commit":"370a9a171877e054359a95167ab1209d42b03d44","worktree":"side"}},"payload":{"note":"y"},"prev":"d4f964e1eb23ca6bb62c4a4e17e1e276e495b3302bcc9e521ed8f205dcc37107","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":2,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        $ mk -C side note z --meta '{"git":"mine"}' && mk -C side cat-event HEAD
        581f05d8d9962430636418f28c14c6bb84059aebf60aef1b692bbdc2383315fe
        {"agent_id":"me","branch_id":"main","event_type":"AGENT_SCRATCHPAD","hash":"581f05d8d9962430636418f28c14c6bb84059aebf60aef1b692bbdc2383315fe","metadata":{"git":"mine"},"payload":{"note":"z"},"prev":"121929c51a52b9c63af567f611b5d8f18ff97284b52e6967c343a20640e3cfc4","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":3,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        $ mk -C side config core.git off && mk -C side note w && mk -C side cat-event HEAD
        cfd6e4d7bb74b3e34daa6d0caabc7ae6331e3c7ba6c6b1b942eacfe0c350455f
        {"agent_id":"me","branch_id":"main","event_type":"AGENT_SCRATCHPAD","hash":"cfd6e4d7bb74b3e34daa6d0caabc7ae6331e3c7ba6c6b1b942eacfe0c350455f","metadata":{},"payload":{"note":"w"},"prev":"581f05d8d9962430636418f28c14c6bb84059aebf60aef1b692bbdc2383315fe","salt":"9511c6029c1f5a2575e66a5e11d6abb2","sequence":4,"timestamp":"2026-11-30T10:00:00.000000Z","v":1}
        "#,
    );
}

#[test]
fn linked_worktrees_share_the_project_of_the_main_one() {
    let repo = repository();
    git(&repo, "cd code; git worktree add -q ../side; mkdir ../side/x");
    repo.session(
        r#"
        $ mk -C side/x init
        made a project: ~/code/.mk/mk.db
        $ mk -C side/x note 'from the side'
        a98ff85c4aad6ad5b6426e77c691c890113e5fc4f95c0e146dced014c02e4b99
        $ mk -C code note 'from the main one'
        78d89cada2b7af7c161ef131ecf26e11ef757ff6fdd4f4d8dde285abd86da05a
        $ mk -C side log --oneline
        78d89cad 2 me AGENT_SCRATCHPAD from the main one
        a98ff85c 1 me AGENT_SCRATCHPAD from the side
        $ mk -C code/a rev-parse --store
        ~/code/.mk/mk.db
        $ git -C side status --porcelain && git -C code status --porcelain
        "#,
    );
}

#[test]
fn worktrees_beside_a_bare_repository_share_one_project() {
    let repo = repository();
    git(
        &repo,
        "mkdir team; git clone -q --bare code team/code.git; cd team/code.git
         git worktree add -q ../one; git worktree add -q ../two",
    );
    repo.session(
        r#"
        $ mk -C team/one init
        made a project: ~/team/.mk/mk.db
        $ mk -C team/one note 'from one'
        03eda98637fd2bb0be5b67f06fac4e0bfbf0ceb369f8a402c5976bd3ceffc488
        $ mk -C team/two log --oneline
        03eda986 1 me AGENT_SCRATCHPAD from one
        $ mk -C team/code.git rev-parse --store
        ~/team/.mk/mk.db
        $ mk -C team/code.git/refs rev-parse --store
        ~/team/.mk/mk.db
        $ git -C team/one status --porcelain
        "#,
    );
}

#[test]
fn a_submodule_has_a_project_of_its_own() {
    let repo = repository();
    git(
        &repo,
        "git init -q -b trunk outer; cd outer; commit
         git -c protocol.file.allow=always submodule --quiet add ../code inner
         git -C inner worktree add -q ../../side; mkdir inner/a",
    );
    repo.session(
        r#"
        $ cat outer/inner/.git
        gitdir: ../.git/modules/inner
        $ mk -C outer log
        ! fatal: not a mk project (or any of the parent directories): ~/outer
        ! hint: make one with `mk init`
        [128]
        $ mk -C outer/inner/a init
        made a project: ~/outer/inner/.mk/mk.db
        $ mk -C outer/inner rev-parse --store
        ~/outer/inner/.mk/mk.db
        $ mk -C side rev-parse --store
        ~/outer/inner/.mk/mk.db
        $ mk -C outer log
        ! fatal: not a mk project (or any of the parent directories): ~/outer
        ! hint: make one with `mk init`
        [128]
        $ mk -C outer init
        made a project: ~/outer/.mk/mk.db
        $ mk -C outer/inner rev-parse --store
        ~/outer/inner/.mk/mk.db
        $ git -C outer/inner status --porcelain && git -C outer status --porcelain
        A  .gitmodules
        A  inner
        "#,
    );
}

#[test]
fn a_repository_kept_elsewhere_has_its_project_in_the_worktree() {
    let repo = repository();
    git(
        &repo,
        "mkdir kept; git init -q -b trunk --separate-git-dir kept/code.git apart; mkdir apart/a",
    );
    repo.session(
        r#"
        $ mk -C apart/a init
        made a project: ~/apart/.mk/mk.db
        "#,
    );
}

#[test]
fn a_nearer_project_wins_over_that_of_the_repository() {
    let repo = repository();
    repo.session(
        r#"
        $ mk -C code init
        made a project: ~/code/.mk/mk.db
        $ mk init code/a
        made a project: ~/code/a/.mk/mk.db
        $ mk -C code/a/b rev-parse --store
        ~/code/a/.mk/mk.db
        $ mk -C code rev-parse --store
        ~/code/.mk/mk.db
        "#,
    );
}

#[test]
fn a_git_file_that_leads_nowhere_is_no_repository() {
    let repo = Sandbox::empty();
    fs::create_dir_all(repo.path("work/a")).unwrap();
    repo.write("work/.git", "gitdir: /nowhere\n");
    repo.session(
        r#"
        $ mk -C work/a init
        made a project: ~/work/a/.mk/mk.db
        $ mk -C work/a note x && mk -C work/a rev-parse --store
        b37935f09daa31ffd40bb5b82c017e0a89a993a7f611d4adddd78c2e4b37ff5b
        ~/work/a/.mk/mk.db
        "#,
    );
}

#[test]
fn mk_works_without_the_program_git() {
    let mut repo = repository();
    repo.set("PATH", "/nonexistent");
    repo.mk("-C code init").success();
    repo.mk("-C code note x").success();
}
