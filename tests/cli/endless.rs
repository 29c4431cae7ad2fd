//! A line that does not end is refused, or passed over, in bounded memory.
//!
//! It has 64 MiB and some more; `MK_BIG=1` makes it 2 GiB.

use crate::sandbox::Sandbox;

/// Writes a line of so many MiB, without its end, to a command until nobody reads on. Prints the exit
/// status and the peak of resident memory in MiB.
const FEED: &str = r#"
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
try:
    for _ in range(int(sys.argv[1])):
        child.stdin.write(b"x" * (1 << 20))
    child.stdin.close()
except BrokenPipeError:
    pass
_, status, used = os.wait4(child.pid, 0)
print("[%d] %d" % (os.waitstatus_to_exitcode(status), used.ru_maxrss >> 10))
"#;

/// Most MiB that a command may take.
const MOST: u64 = 256;

fn mebibytes() -> u64 {
    if std::env::var_os("MK_BIG").is_some() { 2_048 } else { 70 }
}

#[track_caller]
fn is_bounded(repo: &Sandbox, line: &str, status: u64, stdout: &str, stderr: &str) {
    let done = repo.sh(&format!("python3 feed.py {} mk {line}", mebibytes())).success();
    let output = done.get_output();
    let printed = String::from_utf8_lossy(&output.stdout);
    let (answer, told) = printed.trim_end().rsplit_once('[').unwrap();
    let (found, peak) = told.split_once("] ").unwrap();
    assert_eq!(found.parse(), Ok(status), "mk {line}");
    assert_eq!((answer, &*String::from_utf8_lossy(&output.stderr)), (stdout, stderr), "mk {line}");
    let peak: u64 = peak.parse().unwrap();
    assert!(peak > 0 && peak < MOST, "mk {line} took {peak} MiB");
}

#[test]
fn a_line_without_end_is_read_in_bounded_memory() {
    let repo = Sandbox::new();
    repo.mk("note x").success();
    repo.write("feed.py", FEED);
    let before = repo.mk("anchor").success().get_output().stdout.clone();
    let long = "fatal: line 1: it has more than 4194304 bytes\n";
    for line in ["append --batch", "append --batch --op-id 1", "append --each"] {
        is_bounded(&repo, line, 129, "", long);
    }
    is_bounded(
        &repo,
        "import -",
        128,
        "",
        "fatal: stdin: line 1: it has more than 69206016 bytes\n\
         hint: export again where it came from, or mend the line\n",
    );
    let missing = format!("{}… missing\n", "x".repeat(80));
    is_bounded(&repo, "cat-event --batch", 0, &missing, "");
    is_bounded(&repo, "cat-event --batch-check", 0, &missing, "");
    let long = |what: &str| format!("fatal: {what} from stdin has more than 2097152 bytes\n");
    is_bounded(&repo, "note -", 129, "", &long("the note"));
    is_bounded(&repo, "append --payload -", 129, "", &long("payload"));
    repo.mk("anchor").success().stdout(before);
}

#[test]
fn a_file_without_end_is_read_in_bounded_memory() {
    let repo = Sandbox::new();
    repo.write("feed.py", FEED);
    for (line, status, stderr) in [
        (
            "append --payload @/dev/zero",
            129,
            "fatal: payload from '/dev/zero' has more than 2097152 bytes\n",
        ),
        (
            "import /dev/zero",
            128,
            "fatal: '/dev/zero': line 1: it has more than 69206016 bytes\n\
             hint: export again where it came from, or mend the line\n",
        ),
    ] {
        is_bounded(&repo, line, status, "", stderr);
    }
}
