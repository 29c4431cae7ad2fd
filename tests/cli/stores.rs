//! Files that are no store, or one that this version must not touch.

use rusqlite::Connection;

use crate::sandbox::Sandbox;

const READS: [&str; 4] = ["log", "fold", "for-each-branch", "rev-parse --project"];
const WRITES: [&str; 3] = ["note x", "fork try", "config core.git off"];

/// No command takes the file for a store.
fn no_command_works(repo: &Sandbox, code: &str, stderr: &str) {
    for line in READS.iter().chain(&WRITES).chain(&["init"]) {
        repo.refuses(line, 128, code, stderr);
    }
}

#[test]
fn without_a_project_every_command_says_how_to_make_one() {
    let repo = Sandbox::empty();
    for line in READS.iter().chain(&WRITES) {
        repo.refuses(
            line,
            128,
            "no-project",
            "fatal: not a mk project (or any of the parent directories): ~\n\
             hint: make one with `mk init`\n",
        );
    }
}

#[test]
fn a_project_whose_store_is_gone_is_told_from_none() {
    let repo = Sandbox::new();
    std::fs::remove_file(repo.store().join("mk.db")).unwrap();
    for line in READS.iter().chain(&WRITES) {
        repo.refuses(
            line,
            128,
            "store-missing",
            "fatal: no store at '~/.mk/mk.db'\n\
             hint: make it with `mk init`, or name another with --db\n",
        );
    }
    repo.mk("init").success();
    repo.mk("note x").success();
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let repo = Sandbox::new();
    let foreign = |found: &str| {
        format!(
            "fatal: '~/.mk/mk.db' is not a mk store: {found}\n\
             hint: name another with --db, or move it away and run `mk init`\n"
        )
    };
    for (content, found) in [
        (b"".as_slice(), "an empty file"),
        (b"a text ".repeat(20).as_slice(), "not an SQLite database"),
        (b"SQLite 3".as_slice(), "not an SQLite database"),
    ] {
        repo.write(".mk/mk.db", content);
        no_command_works(&repo, "store-older", &foreign(found));
    }
    std::fs::remove_file(repo.store().join("mk.db")).unwrap();
    let other = Connection::open(repo.store().join("mk.db")).unwrap();
    other.execute_batch("CREATE TABLE t(a)").unwrap();
    other.close().unwrap();
    no_command_works(&repo, "store-older", &foreign("another program's SQLite database"));
}

#[test]
fn a_store_of_a_newer_format_is_read_and_written_as_it_allows() {
    let repo = Sandbox::new();
    repo.mk("note x").success();
    let run = |sql: &str| {
        Connection::open(repo.store().join("mk.db")).unwrap().execute_batch(sql).unwrap()
    };
    let newer = "fatal: '~/.mk/mk.db' has format 99, this mk reads up to 1\n\
                 hint: install the mk that wrote it, or a newer one\n";
    run("PRAGMA user_version = 99");
    repo.mk("log").success();
    repo.mk("note y").success();
    run("UPDATE store SET value = 2 WHERE key = 'min_writer'");
    for line in WRITES {
        repo.refuses(line, 128, "store-newer", newer);
    }
    repo.mk("rev-list --count").success().stdout("2\n");
    run("UPDATE store SET value = 2 WHERE key = 'min_reader'");
    no_command_works(&repo, "store-newer", newer);
    run("DELETE FROM store WHERE key LIKE 'min_%'");
    no_command_works(&repo, "store-newer", newer);
}

#[test]
fn a_store_named_by_a_directory_or_a_broken_name_is_refused() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ mk --db .mk log
        ! fatal: cannot read '.mk': Is a directory (os error 21)
        [128]
        $ mk --db .mk/mk.db/x log
        ! fatal: cannot read '.mk/mk.db/x': Not a directory (os error 20)
        [128]
        $ mk --db "$(printf 'a\nb')" log
        ! fatal: no store at 'a\nb'
        ! hint: make it with `mk init`, or name another with --db
        [128]
        $ mk -C "$(printf 'a\nb')" log
        ! fatal: cannot change to 'a\nb': No such file or directory (os error 2)
        [129]
        $ mk -C nowhere note x
        ! fatal: cannot change to 'nowhere': No such file or directory (os error 2)
        [129]
        $ mk --db nowhere/mk.db init
        ! fatal: no directory 'nowhere'
        [129]
        "#,
    );
}

#[test]
fn the_wal_stays_short_however_many_commands_write() {
    let repo = Sandbox::new();
    repo.mk("init").success();
    let wal = repo.path(".mk/mk.db-wal");
    let longest = (0..120)
        .map(|index| {
            repo.mk(&format!("note 'number {index}'")).success();
            std::fs::metadata(&wal).map_or(0, |wal| wal.len())
        })
        .max();
    // Half a MiB, and what one command may add before it looks.
    assert!(longest < Some(600 << 10), "{longest:?} bytes");
    repo.mk("verify").success();
}
