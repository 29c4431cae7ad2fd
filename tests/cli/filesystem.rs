//! Directories that cannot be written, and full disks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use assert_cmd::assert::Assert;

use crate::damage::checkpoint;
use crate::sandbox::Sandbox;

/// The user `nobody`.
const NOBODY: u32 = 65_534;

/// Gives everything here to be read by everybody and to be written by nobody.
fn close(repo: &Sandbox) {
    for (path, (mode, ..)) in repo.files() {
        let mode = if mode & 0o040_000 != 0 { 0o555 } else { 0o444 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    for name in ["mk.db-shm", "mk.db-wal"] {
        let _ = fs::set_permissions(repo.store().join(name), fs::Permissions::from_mode(0o444));
    }
    fs::set_permissions(repo.path(""), fs::Permissions::from_mode(0o555)).unwrap();
}

/// Lets the directory be removed.
fn open(repo: &Sandbox) {
    for path in [repo.path(""), repo.store()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Runs `mk line` as a user for whom permissions count: root becomes nobody.
fn as_reader(repo: &Sandbox, line: &str) -> Assert {
    let mut command = repo.command(repo.path("bin/mk"));
    command.args(line.split(' '));
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    assert_cmd::Command::from_std(command).assert()
}

/// Every file with its length and digest, the index of the WAL too.
fn listing(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    names.sort();
    names
}

/// Three events, and a copy of `mk` where nobody can run it.
fn project() -> Sandbox {
    let repo = Sandbox::new();
    for note in ["one", "two", "three"] {
        repo.mk(&format!("note {note}")).success();
    }
    fs::create_dir(repo.path("bin")).unwrap();
    copy_program(&repo.path("bin/mk"));
    repo
}

fn is_read_only(repo: &Sandbox) {
    close(repo);
    fs::set_permissions(repo.path("bin/mk"), fs::Permissions::from_mode(0o555)).unwrap();
    let before = listing(&repo.store());
    for line in ["log", "fold --digest", "context", "for-each-branch", "cat-event HEAD"] {
        as_reader(repo, line).success().stderr("");
    }
    as_reader(repo, "rev-list --count").success().stdout("3\n");
    for line in ["note x", "fork try", "switch main", "config core.git off", "undo", "append"] {
        let done = as_reader(repo, &format!("--json {line}")).code(128);
        let answer: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
        assert_eq!(answer["error"]["code"], "read-only", "{answer}");
        let stderr = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        let place = repo.store().join("mk.db").display().to_string();
        assert_eq!(
            stderr.lines().next(),
            Some(&*format!("fatal: the store cannot be written: no permission to write '{place}'"))
        );
    }
    assert!(listing(&repo.store()) == before, "something was written");
    open(repo);
}

#[test]
fn a_read_only_project_is_read_with_what_its_wal_has() {
    let repo = project();
    assert!(fs::metadata(repo.store().join("mk.db-wal")).unwrap().len() > 0);
    is_read_only(&repo);
}

#[test]
fn a_read_only_project_is_read_without_the_index_of_its_wal() {
    let repo = project();
    fs::remove_file(repo.store().join("mk.db-shm")).unwrap();
    is_read_only(&repo);
}

#[test]
fn a_read_only_project_is_read_without_a_wal() {
    let repo = project();
    checkpoint(&repo);
    for name in ["mk.db-shm", "mk.db-wal"] {
        let _ = fs::remove_file(repo.store().join(name));
    }
    is_read_only(&repo);
}

/// The line of the doctor's about files, and its exit status, for who is not the owner.
fn diagnosis(repo: &Sandbox) -> (i32, String) {
    let output = as_reader(repo, "doctor").get_output().clone();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: String = text
        .lines()
        .filter(|line| line.contains("\tfiles\t"))
        .map(|it| format!("{it}\n"))
        .collect();
    let place = repo.path("").display().to_string();
    (output.status.code().unwrap(), lines.replace(place.trim_end_matches('/'), "~"))
}

#[test]
fn the_doctor_names_what_cannot_be_written() {
    let repo = project();
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(repo.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    close(&repo);
    mode("bin/mk", 0o555);
    // To be written all the same, others must be let in.
    let open_to_others = "warn\tfiles\tothers may read ~/.mk (mode 777); close it with `chmod 700 ~/.mk`\n\
                          warn\tfiles\tothers may read ~/.mk/mk.db (mode 666); close it with `chmod 600 ~/.mk/mk.db`\n";
    for (name, closed, told) in [
        ("", 0o555, ""),
        (".mk", 0o555, "~/.mk"),
        (".mk/mk.db", 0o444, "~/.mk/mk.db"),
        (".mk/mk.db-wal", 0o444, "~/.mk/mk.db-wal"),
        (".mk/mk.db-lock", 0o444, "~/.mk/mk.db-lock"),
    ] {
        for name in [".mk/mk.db", ".mk/mk.db-wal", ".mk/mk.db-shm", ".mk/mk.db-lock"] {
            mode(name, 0o666);
        }
        mode(".mk", 0o777);
        mode(name, closed);
        let (status, lines) = diagnosis(&repo);
        let found: String = lines.lines().filter(|it| it.starts_with("FAIL")).collect();
        let told = match told {
            "" => String::new(),
            path => format!(
                "FAIL\tfiles\tno permission to write {path}; give it to this user, or attach agents with \
                 --read-only"
            ),
        };
        assert_eq!(
            (found.as_str(), status),
            (told.as_str(), i32::from(!told.is_empty())),
            "{name}"
        );
        if told.is_empty() {
            assert_eq!(lines, open_to_others);
        }
    }
    open(&repo);
}

#[test]
fn a_project_that_cannot_be_read_is_told_from_one_that_is_not_there() {
    let repo = project();
    close(&repo);
    fs::set_permissions(repo.path("bin/mk"), fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(repo.store().join("mk.db"), fs::Permissions::from_mode(0o000)).unwrap();
    let place = repo.store().join("mk.db").display().to_string();
    let stderr = format!("fatal: cannot read '{place}': Permission denied (os error 13)\n");
    as_reader(&repo, "log").code(128).stderr(stderr.clone());
    as_reader(&repo, "note x").code(128).stderr(stderr);
    let done = as_reader(&repo, "--json log").code(128);
    let answer: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["retryable"]),
        (&"io".into(), &false.into())
    );
    open(&repo);
}

/// Copies the program by another process: this one has threads that fork, and what they fork would still
/// have the copy open for writing when it is started ("Text file busy").
fn copy_program(to: &Path) {
    let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_mk")).arg(to).status();
    assert!(copied.unwrap().success());
}

#[test]
fn a_project_cannot_be_made_where_nothing_can() {
    let repo = Sandbox::empty();
    fs::create_dir(repo.path("bin")).unwrap();
    copy_program(&repo.path("bin/mk"));
    fs::set_permissions(repo.path(""), fs::Permissions::from_mode(0o555)).unwrap();
    let done = as_reader(&repo, "--json init").code(128);
    let answer: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(answer["error"]["code"], "read-only", "{answer}");
    fs::set_permissions(repo.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let place = repo.store().display().to_string();
    let message = format!("the store cannot be written: no permission to write '{place}'");
    assert_eq!(answer["error"]["message"], message);
    assert!(!repo.store().exists());
}

/// On a file system of 1 MiB: events until it is full, then what is left of them.
const FILL: &str = "
    mount -t tmpfs -o size=1m none disk && cd disk && mk init > /dev/null || exit 9
    mk config gc.auto off
    while mk append --payload @../payload > ../last 2> ../stderr; do kept=$((${kept:-0} + 1)); done
    mk --json append --payload @../payload > ../json 2> /dev/null
    echo status $?
    echo kept $kept of $(mk rev-list --count)
    mk fold --digest > /dev/null && echo readable
    head -1 ../stderr
";

#[test]
fn on_a_full_disk_a_write_is_refused_and_every_event_before_is_kept() {
    let repo = Sandbox::empty();
    fs::create_dir(repo.path("disk")).unwrap();
    repo.write("payload", format!("{{\"note\":\"{}\"}}", "x".repeat(20_000)));
    // A mount namespace of its own: nothing stays mounted, and users who are not root may do it too.
    let mut unshare = repo.command("unshare");
    if !rustix::process::getuid().is_root() {
        unshare.arg("--map-root-user");
    }
    unshare.args(["--mount", "sh", "-c", FILL]);
    let done = assert_cmd::Command::from_std(unshare).assert().success();
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "status 128", "{text}");
    let (kept, count) = lines[1].strip_prefix("kept ").unwrap().split_once(" of ").unwrap();
    assert!(kept == count && kept.parse::<u32>().unwrap() > 5, "{text}");
    assert_eq!(lines[2], "readable");
    let place = repo.path("disk/.mk/mk.db").display().to_string();
    assert_eq!(lines[3], format!("fatal: no space left on the device that holds '{place}'"));
    let json = fs::read(repo.path("json")).unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(answer["error"]["code"], "disk-full", "{answer}");
    assert_eq!(answer["error"]["retryable"], true);
}

#[test]
fn a_write_past_the_limit_for_files_is_refused_and_leaves_nothing() {
    let repo = Sandbox::new();
    repo.write("payload", format!("{{\"note\":\"{}\"}}", "x".repeat(200_000)));
    repo.mk("note x").success();
    // SIGXFSZ ignored, the write itself fails. 256 blocks of 512 bytes.
    let script = "trap '' XFSZ; ulimit -f 256; mk --json append --payload @payload 2> /dev/null";
    let done = repo.sh(script).code(128);
    let answer: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(answer["error"]["code"], "io", "{answer}");
    repo.mk("rev-list --count").success().stdout("1\n");
    repo.mk("append --payload @payload").success();
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let repo = Sandbox::new();
    repo.session(
        r#"
$ mk init >/dev/null
$ mkdir sub && mkfifo sub/.git && mk -C sub note x >/dev/null
$ mkfifo anchors
$ mk verify --anchor anchors
! fatal: cannot read 'anchors': it is no regular file of at most 16777216 bytes
[128]
$ timeout 10 mk exec import /dev/zero
! fatal: cannot read '/dev/zero': it is no regular file
[128]
$ mkfifo -m 600 tokens
$ timeout 10 mk mcp --http 127.0.0.1:0 --tokens tokens
! fatal: cannot read 'tokens': it is no regular file of at most 1048576 bytes
[128]
$ mkdir -p kraft/.memkraft/execution && touch kraft/.memkraft/execution/events.jsonl
$ mkfifo kraft/.memkraft/origin_instance_id
$ timeout 10 mk exec import kraft >/dev/null
$ rm .mk/mk.db-lock && mkfifo .mk/mk.db-lock
$ timeout 10 mk note y 2>/dev/null
[128]
$ rm .mk/mk.db && mkfifo .mk/mk.db
$ timeout 10 mk log 2>/dev/null
[128]
"#,
    );
}
