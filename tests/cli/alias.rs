//! Aliases: `mk config alias.NAME`

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

#[test]
fn an_alias_stands_for_words_or_for_a_command() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk config alias.last 'log --oneline -n 1'
        $ mk note first
        3b55f9667263b75c8552d0aa7674e479b900568772d8b8b6925e16b0054b8741
        $ mk last
        3b55f966 1 me AGENT_SCRATCHPAD first
        $ mk --json last | cut -c 1-14
        {"event_id":1,
        $ mk last --type ARCHITECTURAL_DECISION
        $ mk config alias.n '!mk note'
        $ mk --agent bob n 'two words'
        203d458f2aa8354d79db1526ed3098ea7a052c31dde6c2bff421b377c2581783
        $ mk last
        203d458f 2 bob AGENT_SCRATCHPAD two words
        $ mk config alias.q "note 'a  b'"
        $ mk q
        04dbe982340cf873647795c4140ec8bdc93660474a39665f047a26f2530587ff
        $ mk config alias.again last
        $ mk again
        04dbe982 3 me AGENT_SCRATCHPAD a  b
        $ mk config alias.loop again
        $ mk config alias.again loop
        $ mk loop
        ! fatal: the alias 'loop' stands for itself
        [129]
        $ mk config alias.log show
        ! fatal: there is a command 'mk log', which an alias cannot replace
        [129]
        $ mk config alias.a_b log
        ! fatal: an alias is named with letters, digits and -, and begins with a letter, 32 at most
        [129]
        $ mk config alias.q "note 'open"
        ! fatal: an alias stands for 1 to 4096 characters without NUL, its quotes closed
        [129]
        $ mk config alias.q ''
        ! fatal: an alias stands for 1 to 4096 characters without NUL, its quotes closed
        [129]
        $ mk config alias.q '! '
        ! fatal: an alias stands for 1 to 4096 characters without NUL, its quotes closed
        [129]
        $ mk config --unset alias.last
        $ mk last
        ! fatal: 'last' is no mk command
        ! hint: did you mean task or fact or lease?
        [129]
    "#,
    );
}

#[test]
fn a_program_of_that_name_comes_first() {
    let mut repo = Sandbox::new();
    repo.write("mk-last", "#!/bin/sh\necho program \"$@\"\n");
    fs::set_permissions(repo.path("mk-last"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", repo.path("").display(), std::env::var("PATH").unwrap());
    repo.set("PATH", &path);
    repo.mk("config alias.last 'log -n 1'").success();
    repo.mk("last x").success().stdout("program x\n");
}
