//! `mk run`

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The payload of the newest event, without how long it took.
fn recorded(repo: &Sandbox) -> Value {
    let mut payload = repo.json("show HEAD")["events"][0]["payload"].take();
    assert!(payload.as_object_mut().unwrap().remove("duration_ms").unwrap().is_u64());
    payload
}

#[test]
fn what_a_command_prints_is_passed_on_and_recorded() {
    let repo = Sandbox::new();
    let done = repo.mk("run -- sh -c 'echo out; echo err >&2; exit 3'").code(3);
    done.stdout("out\n").stderr("err\n");
    let run = recorded(&repo);
    assert_eq!(run["command"], "sh -c 'echo out; echo err >&2; exit 3'");
    assert_eq!(run["exit_code"], 3);
    assert_eq!(run["output"], "out\nerr\n");
    assert_eq!(run["facts"], Value::Null);
    // The same command that succeeds takes the blocker away.
    repo.write("check", "");
    repo.mk("run -- test ! -f check").code(1);
    assert!(repo.json("fold")["state"]["execution_blockers"].get("test '!' -f check").is_some());
    repo.sh("rm check").success();
    repo.mk("run --fact checked=true -- test ! -f check").success();
    let state = repo.json("fold")["state"].take();
    assert!(state["execution_blockers"].get("test '!' -f check").is_none());
    assert_eq!(state["active_workspace_facts"]["checked"]["value"], true);
}

#[test]
fn stdin_is_that_of_the_command() {
    let mut repo = Sandbox::new();
    repo.input = b"one\ntwo\n".to_vec();
    repo.mk("run -- sed s/o/0/").success().stdout("0ne\ntw0\n");
    assert_eq!(recorded(&repo)["output"], "0ne\ntw0\n");
}

#[test]
fn of_a_long_output_beginning_and_end_are_recorded_and_all_is_passed_on() {
    let repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    let done = repo.sh("mk run -- seq 1 100000 | cksum; seq 1 100000 | cksum").success();
    let sums = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let sums: Vec<&str> = sums.lines().collect();
    assert_eq!(sums[0], sums[1]);
    let run = recorded(&repo);
    assert_eq!(run["output_bytes"], 588_895);
    let output = run["output"].as_str().unwrap();
    assert!(output.starts_with("1\n2\n") && output.ends_with("\n99999\n100000\n"));
    assert!(output.contains("\n...[") && output.len() < 33_000);
}

#[test]
fn what_cannot_be_run_or_recorded_is_not_begun() {
    let repo = Sandbox::new();
    repo.write("no-program", "x");
    repo.session(
        r#"
        $ mk run -- no-such-program
        ! fatal: cannot run 'no-such-program': No such file or directory (os error 2)
        [127]
        $ mk run -- ./no-program
        ! fatal: cannot run './no-program': Permission denied (os error 13)
        [126]
        $ mk rev-list --count
        0
    "#,
    );
    for (line, exit, code, stderr) in [
        (
            "run --branch nope -- touch made",
            128,
            "branch-not-found",
            "fatal: no branch 'nope'\nhint: see `mk branch`, or make it with `mk fork`\n",
        ),
        ("run --fact x -- touch made", 129, "invalid-argument", "fatal: 'x' is not KEY=VALUE\n"),
        (
            "run --fence a -- touch made",
            129,
            "invalid-argument",
            "fatal: invalid value 'a' for '--fence <PATH:TOKEN>': not PATH:TOKEN\n\
             hint: see `mk run --help`\n",
        ),
        (
            "run --output x -- touch made",
            129,
            "invalid-argument",
            "fatal: the following required arguments were not provided: --exit-code <N>, --record\n\
             hint: see `mk run --help`\n",
        ),
    ] {
        repo.refuses(line, exit, code, stderr);
    }
    repo.sh("mkdir else; mk -C else --db none.db run -- touch made; echo $?; ls else")
        .success()
        .stdout("128\n");
}

#[test]
fn a_run_that_cannot_be_recorded_in_the_end_says_so() {
    let repo = Sandbox::new();
    repo.mk("lease acquire src --ttl 60").success();
    let lost = "mk lease release src --token 1";
    repo.session(&format!(
        r#"
        $ mk run --fence src:1 -- {lost}
        src is free
        ! error: the command ended with 0, but is not recorded: the lease of 'src' with token 1 is lost: there is no such lease
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk run --fence src:1 -- touch made
        ! error: the lease of 'src' with token 1 is lost: there is no such lease
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ ls made 2>/dev/null
        [2]
        $ mk lease acquire src --ttl 60
        2
        $ mk run --fence src:2 -- sh -c 'mk lease release src --token 2; exit 9'
        src is free
        ! error: the command ended with 9, but is not recorded: the lease of 'src' with token 2 is lost: there is no such lease
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [9]
        $ mk rev-list --count
        4
    "#
    ));
}

/// `mk run` of a shell script that makes the file `begun`, sent `signal` then. What is recorded.
#[track_caller]
fn interrupted(script: &str, signal: Signal, status: i32) -> Value {
    let repo = Sandbox::new();
    let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
    command.args(["run", "--", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    while !repo.path("begun").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(status));
    recorded(&repo)
}

#[test]
fn a_signal_goes_to_the_command_and_the_run_is_recorded() {
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15), (Signal::HUP, 1)] {
        let run = interrupted("touch begun; exec sleep 60", signal, 128 + number);
        assert_eq!(run["exit_code"], 128 + number);
    }
    // It may take its time to end, and end as it likes.
    let script = "trap 'echo told; exit 7' INT; touch begun; while :; do sleep 0.01; done";
    let run = interrupted(script, Signal::INT, 7);
    assert_eq!(run["exit_code"], 7);
    assert!(run["output"].as_str().unwrap().ends_with("told\n"));
}

#[test]
fn a_command_whose_reader_has_gone_ends_as_it_would_alone() {
    let repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    repo.sh("{ mk run -- yes; echo $? > status; } | head -n 1; cat status").stdout("y\n141\n");
    assert_eq!(repo.json("log -n 1 --type TOOL_EXECUTION_LOG")["payload"]["exit_code"], 141);
}

#[test]
fn an_answer_that_cannot_be_written_does_not_pass_for_a_run_that_is_not_recorded() {
    let repo = Sandbox::new();
    let said = repo.sh("mk run -- true; mk run --json -- true >/dev/full").code(128);
    let said = String::from_utf8_lossy(&said.get_output().stderr).into_owned();
    assert!(
        said.starts_with("fatal: it is done and stored, but cannot write the answer"),
        "{said}"
    );
    repo.mk("rev-list --count").success().stdout("2\n");
}

#[test]
fn what_a_command_leaves_running_is_not_waited_for() {
    let repo = Sandbox::new();
    repo.mk("run -- sh -c 'sleep 60 & echo done'").success().stdout("done\n");
    assert_eq!(recorded(&repo)["output"], "done\n");
}

#[test]
fn what_ran_elsewhere_is_recorded_as_it_is_told() {
    let mut repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    let line = "run --record --exit-code 1 --output 'FAILED a' --duration 12 --fact n=2";
    repo.mk(&format!("{line} -- 'pytest -q | tee log'")).success();
    let event = repo.json("show HEAD")["events"][0]["payload"].take();
    assert_eq!(
        event,
        json!({
            "command": "pytest -q | tee log", "exit_code": 1, "output": "FAILED a",
            "duration_ms": 12, "facts": {"n": 2},
        })
    );
    repo.mk("run --record --exit-code 0 --op-id once -- make 'a b'").success();
    repo.mk("run --record --exit-code 0 --op-id once -- make 'a b'").success();
    repo.mk("rev-list --count").success().stdout("2\n");
    repo.input = "x\n".repeat(1 << 20).into_bytes();
    repo.mk("run --record --exit-code 0 --output - -- make").success();
    let payload = repo.json("show HEAD")["events"][0]["payload"].take();
    assert_eq!(payload["output_bytes"], 2 << 20);
    repo.input.clear();
    repo.write("out", "from a file");
    repo.mk("run --record --exit-code 255 --output @out -- make").success();
    assert_eq!(repo.json("show HEAD")["events"][0]["payload"]["output"], "from a file");
    repo.refuses(
        "run --record --exit-code 0 --output @none -- make",
        128,
        "io",
        "fatal: cannot read the output from 'none': No such file or directory (os error 2)\n",
    );
    repo.refuses(
        "run --record --exit-code 0 --output @/dev/zero -- make",
        129,
        "too-large",
        "fatal: the output from '/dev/zero' has more than 1073741824 bytes\n",
    );
    for code in ["300", "-1", "256"] {
        repo.refuses(
            &format!("run --record --exit-code {code} -- make"),
            129,
            "invalid-argument",
            &format!(
                "fatal: invalid value '{code}' for '--exit-code <N>': {code} is not in 0..=255\n\
                 hint: see `mk run --help`\n"
            ),
        );
    }
    repo.refuses(
        "run --record -- make",
        129,
        "invalid-argument",
        "fatal: the following required arguments were not provided: --exit-code <N>\n\
         hint: see `mk run --help`\n",
    );
}

#[test]
fn json_leaves_stdout_to_the_report() {
    let repo = Sandbox::new();
    let done = repo.mk("--json run -- sh -c 'echo out; exit 2'").code(2).stderr("out\n");
    let report: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["event_type"], "TOOL_EXECUTION_LOG");
}
