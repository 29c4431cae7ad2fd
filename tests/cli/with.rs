//! `mk with`

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::sandbox::Sandbox;

#[test]
fn a_command_runs_while_the_leases_are_held() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk with src/a.rs service:x -- sh -c 'echo $MK_LEASE_TOKEN; echo "$MK_LEASES"; mk lease list; exit 4'
        1
        ~/src/a.rs:1
        service:x:1
        service:x	me	1	30 s
        src/a.rs	me	1	30 s
        [4]
        $ mk lease list
        $ mk with src/a.rs -- sh -c 'cd .mk; mk decide k v --fence "$MK_LEASES"; mk --agent bob with ../src/ -- echo run'
        0a5be0e5c0aaee93b580bcd1cd8afa18926bd82c69528374da7d17e08adf8670
        ! error: 'src/' overlaps with 'src/a.rs', which is leased to 'me' for 30 s more
        ! hint: take other work, or wait for it with `mk lease acquire --wait`
        [1]
        $ mk --agent bob with src/ --ttl 5 -- sh -c 'mk lease list src/; mk note x'
        src/	bob	1	5 s
        49cf81dec78157d06316a7368e466f13e7e4363a86b1fd3b67bb0fd8892d88b7
        $ mk --json with x -- sh -c 'exit 1'
        [1]
        $ mk log --oneline -n 4
        ee6e4057 12 me FILE_CLAIM_RELEASED x token 1
        85c38ef1 11 me FILE_CLAIM_ACQUIRED x token 1
        8e09ed39 10 bob FILE_CLAIM_RELEASED src/ token 1
        49cf81de 9 bob AGENT_SCRATCHPAD x
        $ mk with x -- no-such-program
        ! fatal: cannot run 'no-such-program': No such file or directory (os error 2)
        [127]
        $ mk lease list
        $ mk with x
        ! fatal: the following required arguments were not provided: <COMMAND>...
        ! hint: see `mk with --help`
        [129]
        $ mk with -- true
        ! fatal: the following required arguments were not provided: <PATH>...
        ! hint: see `mk with --help`
        [129]
        $ mk with ../x -- true
        ! fatal: '../x' lies outside of '~'
        [129]
        $ mk with x --ttl 0 -- true
        ! fatal: invalid value '0' for '--ttl <SECONDS>': a lease cannot last 0 s: above 0, at most 86400 s
        ! hint: see `mk with --help`
        [129]
        $ mk with x --branch nope -- touch made
        ! fatal: no branch 'nope'
        ! hint: see `mk branch`, or make it with `mk fork`
        [128]
        $ ls
    "#,
    );
}

#[test]
fn leases_that_were_held_before_are_kept() {
    let mut repo = Sandbox::new();
    repo.set("MK_SESSION", "shell");
    repo.session(
        r#"
        $ mk lease acquire a --ttl 60
        1
        $ mk with a b -- mk lease list
        a	me	1	60 s
        b	me	1	30 s
        $ mk lease list
        a	me	1	60 s
    "#,
    );
}

#[test]
fn two_of_one_agent_without_a_session_keep_each_other_out() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk with a -- sh -c 'mk with a -- echo nested; mk lease renew a --token $MK_LEASE_TOKEN >/dev/null; unset MK_SESSION; mk with a -- echo both'
        nested
        ! error: 'a' is leased to 'me' in another session for 30 s more
        ! hint: if that session has ended, take it over with --takeover
        [1]
        $ mk lease acquire a
        2
        $ mk with a -- echo both
        ! error: 'a' is leased to 'me' in another session for 30 s more
        ! hint: if that session has ended, take it over with --takeover
        [1]
    "#,
    );
    let mut repo = Sandbox::new();
    repo.set("MK_LEASE_DATE", "");
    let add = "of=; echo 0 > n; for i in 1 2 3 4 5 6 7 8; do \
               mk with n --wait 600 -- sh -c 'read n < n; echo $((n + 1)) > n' & of=\"$of $!\"; done; \
               for i in $of; do wait $i || exit; done; cat n";
    repo.sh(add).success().stdout("8\n");
}

#[test]
fn leases_are_renewed_while_the_command_runs() {
    let mut repo = Sandbox::new();
    // By the real clock.
    repo.set("MK_LEASE_DATE", "");
    repo.write(
        "until-renewed",
        "ends() { mk --json lease list a | grep -o '\"expires_at\":[0-9.]*'; }\n\
         first=$(ends); until [ \"$(ends)\" != \"$first\" ]; do sleep 0.05; done\n",
    );
    repo.mk("with a --ttl 6 -- sh until-renewed").success();
    repo.mk("lease list").success().stdout("");
}

#[test]
fn a_command_whose_lease_is_lost_is_told() {
    let mut repo = Sandbox::new();
    repo.set("MK_LEASE_DATE", "");
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    let script = "trap 'echo told; exit 0' TERM; touch begun; while :; do sleep 0.01; done";
    command.args(["with", "a", "--ttl", "6", "--", "sh", "-c", script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !repo.path("begun").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    repo.set("MK_SESSION", "another");
    repo.mk("lease acquire a --takeover --ttl 60").success();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "told\n");
    let why = "the lease of 'a' with token 1 is lost: the current token is another";
    let stderr = format!(
        "warning: {why}; the command is told to end\nerror: {why}\n\
         hint: do not write what it was for; take it anew with `mk lease acquire`\n"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), stderr);
    assert_eq!(output.status.code(), Some(1));
    let listed = repo.mk("lease list").success();
    assert!(listed.get_output().stdout.starts_with(b"a\tme\t2\t"));
}
