//! Closed, full and broken standard streams.

use crate::sandbox::Sandbox;

/// With more to say than a pipe holds.
fn talkative() -> Sandbox {
    let mut repo = Sandbox::new();
    repo.input = "{\"payload\":{\"note\":\"a note of some length\"}}\n".repeat(2_000).into();
    repo.mk("append --batch -q").success();
    repo.input.clear();
    repo
}

#[test]
fn a_reader_that_has_seen_enough_ends_mk_quietly() {
    let repo = talkative();
    for line in ["log", "log --json", "rev-list", "context --full", "log --reverse", "help"] {
        // PIPESTATUS is not in sh: the status is written where the pipe does not reach.
        let script = format!("{{ mk {line}; echo $? > status; }} | head -1 > first; cat status");
        repo.sh(&script).success().stdout("0\n").stderr("");
    }
}

#[test]
fn a_full_device_is_a_failure() {
    let repo = talkative();
    for line in
        ["log", "fold", "log --oneline -n 1", "--help", "--version", "help", "completions bash"]
    {
        repo.sh(&format!("mk {line} > /dev/full"))
            .code(128)
            .stderr("fatal: cannot write the answer: No space left on device (os error 28)\n");
    }
}

#[test]
fn what_was_appended_stays_when_the_answer_cannot_be_written() {
    let repo = Sandbox::new();
    repo.sh("mk note x > /dev/full").code(128);
    repo.sh("mk note x >&-").success().stderr("");
    repo.sh("mk note x 2>&-").success();
    repo.mk("rev-list --count").success().stdout("3\n");
}

#[test]
fn closed_streams_are_empty_ones() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk append --batch <&-
        $ mk append --payload - <&-
        ! fatal: payload is not JSON: at $ (byte 0): the text ends where a value should be
        [129]
        $ mk note - <&-
        74644a0e8bccb8537c1a44ec8d54a52d95c7cb49ba62a5a2db20c80f86639d65
        $ mk log >&-
        $ mk log nope 2>&-
        [128]
        $ mk log nope --json 2>&- >&-
        [128]
        $ mk cat-event --batch <&-
        $ mk log --oneline
        74644a0e 1 me AGENT_SCRATCHPAD
        "#,
    );
}

#[test]
fn stdin_that_cannot_be_read_is_a_failure() {
    Sandbox::new().session(
        r#"
        $ mk append --batch < .
        ! fatal: line 1: cannot read stdin: Is a directory (os error 21)
        [128]
        $ mk append --payload - < .
        ! fatal: cannot read payload from stdin: Is a directory (os error 21)
        [128]
        $ mk note - < .
        ! fatal: cannot read the note from stdin: Is a directory (os error 21)
        [128]
        $ mk cat-event --batch < .
        ! fatal: cannot read stdin: Is a directory (os error 21)
        [128]
        $ mk append --payload @.
        ! fatal: cannot read payload from '.': Is a directory (os error 21)
        [128]
        "#,
    );
}

#[test]
fn each_line_is_kept_when_nobody_reads_the_answers() {
    let repo = Sandbox::new();
    repo.session(
        r#"
$ mk init >/dev/null
$ for n in 1 2 3 4 5 6 7 8; do echo '{"payload":{"note":"n"}}'; done >in
$ mk append --each <in | head -1 >/dev/null
$ mk rev-list --count
8
"#,
    );
}

#[test]
fn an_answer_that_cannot_be_written_does_not_pass_for_an_act_that_failed() {
    let repo = Sandbox::new();
    repo.session(
        r#"
$ mk init >/dev/null
$ mk note x >/dev/full
! fatal: it is done and stored, but cannot write the answer: No space left on device (os error 28)
! hint: do not repeat it; see `mk log`
[128]
$ mk rev-list --count
1
"#,
    );
}

#[test]
fn what_wrote_nothing_does_not_say_that_it_is_done() {
    let repo = Sandbox::new();
    repo.mk("note x --op-id once").success();
    repo.mk("export x.ndjson").success();
    for line in ["import x.ndjson", "note x --op-id once", "lease sweep --json"] {
        repo.sh(&format!("mk {line} >/dev/full"))
            .code(128)
            .stderr("fatal: cannot write the answer: No space left on device (os error 28)\n");
    }
    let told = "fatal: it is done and stored, but cannot write the answer: No space left on device (os error 28)\n\
                hint: do not repeat it; see `mk log`\n";
    repo.sh("mk note y >/dev/full").code(128).stderr(told);
    repo.sh("mk run --record --exit-code 0 --json -- make >/dev/full").code(128).stderr(told);
}
