//! `mk backup` and `mk restore`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

#[test]
fn a_backup_is_a_store_with_everything_in_it() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MK_AGENT", "ann");
    sandbox.mk("note x --op-id once").success();
    sandbox.mk("fork try --switch").success();
    sandbox.mk("config core.git off").success();
    sandbox.mk("backup copy.db").success();
    let mode = fs::metadata(sandbox.path("copy.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for line in ["rev-list --all", "anchor", "config --list", "verify", "export"] {
        let here = sandbox.mk(line).success().get_output().stdout.clone();
        sandbox.mk(&format!("--db copy.db {line}")).success().stdout(here);
    }
    let again = sandbox.json("--db copy.db --branch main note x --op-id once");
    assert_eq!(again["already_applied"], true);
}

#[test]
fn a_backup_does_not_take_the_place_of_anything() {
    let sandbox = Sandbox::new();
    sandbox.mk("note x").success();
    sandbox.write("copy.db", "mine");
    sandbox.refuses(
        "backup copy.db",
        1,
        "file-exists",
        "error: 'copy.db' exists\nhint: take another name, or replace it with --force\n",
    );
    sandbox.refuses("backup .mk", 129, "invalid-argument", "fatal: '.mk' is a directory\n");
    let itself = "fatal: '.mk/mk.db' belongs to the store\n";
    sandbox.refuses("backup .mk/mk.db", 129, "invalid-argument", itself);
    sandbox.refuses("backup .mk/mk.db --force", 129, "invalid-argument", itself);
    for line in ["backup /dev/full", "backup /dev/full --force"] {
        let device = "fatal: '/dev/full' is a device or a pipe, and a backup is a file\n";
        sandbox.refuses(line, 129, "invalid-argument", device);
    }
    // Nor do the files beside it, in which the newest events may be all alone.
    sandbox.sh("mkdir .mk/seen; ln -s .mk/.gitignore to-ours").success();
    for part in [
        ".mk/mk.db-wal",
        ".mk/mk.db-shm",
        ".mk/mk.db-lock",
        ".mk/mk.db-journal",
        ".mk/mk.db-restoring",
        ".mk/../.mk/mk.db-restore",
        ".mk/mk.db-before-20260101",
        ".mk/.gitignore",
        ".mk/seen/x",
        "to-ours",
    ] {
        let itself = format!("fatal: '{part}' belongs to the store\n");
        sandbox.refuses(&format!("backup {part} --force"), 129, "invalid-argument", &itself);
        sandbox.refuses(&format!("export {part}"), 129, "invalid-argument", &itself);
    }
    sandbox.refuses("export .mk/mk.db", 129, "invalid-argument", itself);
    sandbox.mk("backup .mk/mine.db").success();
    sandbox.mk("--db .mk/mine.db backup --force mine.db-old").success();
    sandbox.sh("ln -s nowhere link").success();
    sandbox.refuses(
        "backup link",
        1,
        "file-exists",
        "error: 'link' exists\nhint: take another name, or replace it with --force\n",
    );
    sandbox.mk("backup copy.db --force").success();
    sandbox.mk("--db copy.db rev-list --count").success().stdout("1\n");
    sandbox.mk("backup no/such/copy.db").code(128);
}

#[test]
fn of_many_backups_with_force_each_is_made() {
    let sandbox = Sandbox::new();
    sandbox.mk("note one").success();
    sandbox
        .sh("for n in 1 2 3; do rm -f z.db; of=; for i in 1 2 3; do mk backup --force z.db & of=\"$of $!\"; \
             done; for i in $of; do wait $i || exit; done; done")
        .success();
    sandbox.mk("--db z.db verify").success();
}

#[test]
fn a_restore_does_not_eat_its_source_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.mk("note one").success();
    // As one leaves it that was killed.
    sandbox.mk("backup copy.db").success();
    sandbox.sh("cp copy.db .mk/mk.db-restore; ln -s .mk/mk.db-restore link").success();
    let before = sandbox.files();
    for from in [".mk/mk.db-restore", "link", ".mk/mk.db"] {
        let itself = format!("fatal: '{from}' belongs to the store\n");
        for force in ["", " --force"] {
            sandbox.refuses(&format!("restore {from}{force}"), 129, "invalid-argument", &itself);
        }
    }
    assert_eq!(sandbox.files(), before);
    sandbox.mk("restore copy.db").success();
    sandbox.sh("ls .mk | grep restor").code(1);
}

#[test]
fn a_backup_that_does_not_fit_leaves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.mk(&format!("note {}", "x".repeat(60_000))).success();
    sandbox.mk(&format!("note {}", "y".repeat(60_000))).success();
    // A file of at most 64 KiB, as on a device that is nearly full.
    let done = sandbox.sh("ulimit -f 64; trap '' XFSZ; mk backup copy.db").code(128);
    let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(said.starts_with("fatal: "), "{said}");
    let names: Vec<String> = fs::read_dir(sandbox.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, [".mk"]);
}

#[test]
fn a_restore_does_not_throw_events_away() {
    let mut sandbox = Sandbox::new();
    sandbox.set("MK_AGENT", "ann");
    sandbox.mk("note one").success();
    sandbox.mk("backup copy.db").success();
    let before = sandbox.mk("export").success().get_output().stdout.clone();
    sandbox.mk("note two").success();
    sandbox.refuses(
        "restore copy.db",
        1,
        "events-lost",
        "error: the project has 1 event that the backup does not hold, from event 2 on\n\
         hint: export them first, or restore with --force, which keeps the store aside\n",
    );
    let report = sandbox.json("restore copy.db --force");
    assert_eq!(report["events"], 1);
    let kept = report["before"].as_str().unwrap().to_owned();
    sandbox.mk("export").success().stdout(before);
    sandbox.mk("verify").success();
    sandbox.mk(&format!("--db {kept} rev-list --count")).success().stdout("2\n");
    sandbox.mk("note three").success();
}

#[test]
fn a_restore_reaches_those_who_have_the_store_open() {
    let sandbox = Sandbox::new();
    sandbox.mk("note one").success();
    sandbox.mk("backup copy.db").success();
    let reader = rusqlite::Connection::open(sandbox.store().join("mk.db")).unwrap();
    let count = || reader.query_row("SELECT count(*) FROM event", (), |row| row.get::<_, i64>(0));
    sandbox.mk("note two").success();
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(), Ok(2));
    sandbox.mk("restore copy.db --force").success();
    assert_eq!(count(), Ok(2));
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count(), Ok(1));
    drop(reader);
    sandbox.mk("verify").success();
}

#[test]
fn a_lost_or_broken_store_is_restored_and_a_broken_backup_is_not() {
    let sandbox = Sandbox::new();
    sandbox.mk("note one").success();
    sandbox.mk("backup copy.db").success();
    sandbox.sh("rm .mk/mk.db*").success();
    sandbox.mk("restore copy.db").success().stdout("restored 1 event\n");
    sandbox.mk("verify").success();
    sandbox.write(".mk/mk.db", "no store");
    sandbox.mk("restore copy.db").code(128);
    sandbox.mk("restore copy.db --force").success();
    sandbox.mk("verify").success();
    let mut bytes = fs::read(sandbox.path("copy.db")).unwrap();
    let at = bytes.windows(3).rposition(|window| window == b"one").unwrap();
    bytes[at] = b'O';
    sandbox.write("copy.db", &bytes);
    let before = sandbox.files();
    let error = sandbox.refusal("restore copy.db");
    assert_eq!(error["code"], "store-damaged");
    assert_eq!(error["hint"], "see what is wrong with `mk --db FILE verify`");
    assert_eq!(sandbox.files(), before);
    sandbox.mk("restore .mk/mk.db").code(129);
    let none = "fatal: there is no backup 'none.db'\n";
    sandbox.refuses("restore none.db", 128, "store-missing", none);
    sandbox.write("copy.db", "no store");
    let none = "fatal: 'copy.db' is not a mk store: not an SQLite database\n";
    sandbox.refuses("restore copy.db", 128, "store-older", none);
}

#[test]
fn of_many_backups_to_one_new_name_one_is_made() {
    let sandbox = Sandbox::new();
    sandbox.mk("note one").success();
    let done = sandbox.sh("for i in 1 2 3 4 5 6; do mk backup copy.db & done; wait; ls").success();
    let said = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
    assert_eq!(said.matches("event in 'copy.db'").count(), 1, "{said}");
    assert!(said.ends_with("copy.db\n") && !said.contains(".new"), "{said}");
    sandbox.mk("--db copy.db verify").success();
}

#[test]
fn a_wal_that_outlived_its_store_is_not_read_as_that_of_the_one_restored() {
    let sandbox = Sandbox::new();
    sandbox.mk("note one").success();
    sandbox.mk("backup copy.db").success();
    sandbox.mk("note two").success();
    sandbox.sh("test -s .mk/mk.db-wal && rm .mk/mk.db").success();
    let report = sandbox.json("restore copy.db");
    let kept = report["before"].as_str().unwrap();
    assert!(kept.ends_with("-wal") && fs::metadata(kept).unwrap().len() > 0, "{kept}");
    sandbox.mk("rev-list --count").success().stdout("1\n");
    sandbox.mk("verify").success();
}

#[test]
fn of_many_restores_at_once_each_is_whole() {
    let sandbox = Sandbox::new();
    sandbox.mk("note one").success();
    sandbox.mk("backup copy.db").success();
    for _ in 0..3 {
        sandbox
            .sh("rm -f .mk/mk.db*; for i in 1 2 3; do mk restore copy.db & of=\"$of $!\"; done; \
                 for i in $of; do wait $i || exit; done")
            .success();
        sandbox.mk("verify").success().stdout("ok: 1 event, 1 branch\n");
    }
}

#[test]
fn what_a_killed_one_left_goes_with_the_next_and_nothing_else_does() {
    let repo = Sandbox::new();
    repo.mk("note one").success();
    let plant = "dead=$(sh -c 'echo $$'); mkdir out; cd out; mkdir all.$dead.new.d \
                 && for name in copy.db.$dead log.$dead other.$dead copy.db.1 copy.db.0$dead copy.db. copy.db.x \
                    copy.db.$dead.$dead; do echo old >$name.new; done; mkdir log.99999999.new; ls";
    let names = |script: &str| {
        let done = repo.sh(script).success();
        let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        text.lines()
            .filter(|line| !line.contains(" event in "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let before = names(plant);
    let dead = before.iter().find_map(|name| name.strip_prefix("other.")).unwrap().to_owned();
    let after = |gone: &[String], new: &[&str]| {
        let mut left: Vec<String> =
            before.iter().filter(|it| !gone.contains(it)).cloned().collect();
        left.extend(new.iter().map(|name| (*name).to_owned()));
        left.sort();
        left
    };
    let gone = [format!("copy.db.{dead}"), format!("log.{dead}")];
    assert_eq!(names("mk backup out/copy.db; ls out"), after(&gone[..1], &["copy.db"]));
    assert_eq!(names("cd out; mk export log; ls"), after(&gone, &["copy.db", "log"]));
    // A restore that was killed while it kept the store.
    let kept = format!(".mk/mk.db-before-20260101.{dead}");
    repo.write(&kept, "half");
    repo.mk("note two").success();
    repo.mk("restore out/copy.db").code(1);
    assert!(!repo.path(&kept).exists());
}

#[test]
fn a_killed_backup_leaves_a_file_that_the_next_removes() {
    let repo = Sandbox::new();
    for _ in 0..8 {
        repo.mk(&format!("note {}", "x".repeat(60_000))).success();
    }
    // It dies of its own write, past 64 KiB, with a file begun.
    let killed = "ulimit -c 0; ulimit -f 64; mk export log >/dev/null 2>&1; ls log.*.new | wc -l";
    repo.sh(killed).success().stdout("1\n");
    repo.mk("export log").success();
    repo.sh("ls -d log*").success().stdout("log\n");
}

#[test]
fn a_backup_that_is_restored_stays_alone() {
    let repo = Sandbox::new();
    repo.mk("note one").success();
    repo.sh("mkdir vault && mk backup vault/copy.db && ln -s vault/copy.db link").success();
    repo.mk("note two").success();
    for line in ["restore vault/copy.db --force", "restore link", "restore vault/copy.db"] {
        repo.mk(line).success();
        repo.sh("ls -A vault; ls -d link*").success().stdout("copy.db\nlink\n");
    }
    // One that is in use is read with what its WAL has.
    repo.sh("cp -r .mk other && mk --db other/mk.db note three && test -s other/mk.db-wal")
        .success();
    repo.mk("restore other/mk.db").success().stdout("restored 2 events\n");
    repo.mk("verify").success();
}
