//! The project, its file system and its store.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use mk::code::Code;
use mk::store::{Engine, Sqlite, StoreError, location};
use mk::text::counted;
use mk::tokens::Tokenizer;
use mk::verify;

use super::{Level, Report};
use crate::cli::{Context, Failure};

/// Bytes of free space, and of the WAL, from which on it is told.
const SPACE_MIN: u64 = 100 << 20;
const WAL_MAX: u64 = 64 << 20;

/// Microseconds by which the newest event may lie ahead of the clock.
const CLOCK_SLACK: i64 = 2_000_000;

/// Checks the project; where its store is, if there is one that can be read.
pub fn check(report: &mut Report, ctx: &Context) -> Result<Option<PathBuf>, Failure> {
    let here = ctx.directory()?;
    let store = match (ctx.named_store()?, ctx.store_path()) {
        (Some(store), _) => {
            report.add("project", Level::Ok, format!("named: {}", store.display()));
            here.join(store)
        }
        (None, Ok(store)) => {
            let home = store.parent().and_then(Path::parent).unwrap_or(&here);
            let how = if here.starts_with(home) { "" } else { ", that of the git repository" };
            report.add("project", Level::Ok, format!("found: {}{how}", store.display()));
            nested(report, home);
            peers(report, home);
            store
        }
        (None, Err(failure)) if failure.code == Code::NO_PROJECT => {
            let check = report.add("project", Level::Fail, failure.message());
            check.remedy("make one with `mk init` or `mk attach`");
            return Ok(None);
        }
        (None, Err(failure)) => return Err(failure),
    };
    file_system(report, &store);
    Ok(store_itself(report, ctx, &store).then_some(store))
}

/// Another project further up would be that of whoever starts above.
fn nested(report: &mut Report, home: &Path) {
    let above = home.ancestors().skip(1).find(|it| it.join(location::DIRECTORY).is_dir());
    if let Some(above) = above {
        let what = format!("there is another project above, in {}", above.display());
        report.add("project", Level::Warn, what).remedy("remove the one that is not meant");
    }
}

/// Memory of other programs that can be imported.
fn peers(report: &mut Report, home: &Path) {
    for (found, command) in
        [(".memkernel/memkernel.db", "mk import memkernel"), (".memkraft", "mk exec import")]
    {
        let path = home.join(found);
        if path.exists() {
            let what = format!("there is memory of another program: {}", path.display());
            let remedy = format!("bring it over with `{command} {}`", path.display());
            report.add("project", Level::Warn, what).remedy(remedy);
        }
    }
}

fn file_system(report: &mut Report, store: &Path) {
    let directory = store.parent().unwrap_or(Path::new("."));
    let mut well = true;
    for (path, closed) in [(directory, 0o700), (store, 0o600)] {
        let Ok(metadata) = fs::metadata(path) else { continue };
        let mode = metadata.mode() & 0o777;
        if mode & !closed != 0 {
            well = false;
            let what = format!("others may read {} (mode {mode:o})", path.display());
            let remedy = format!("close it with `chmod {closed:o} {}`", path.display());
            report.add("files", Level::Warn, what).remedy(remedy);
        }
    }
    let closed = unwritable(directory, store);
    if !closed.is_empty() {
        well = false;
        let what = format!("no permission to write {}", closed.join(", "));
        let remedy = "give it to this user, or attach agents with --read-only";
        report.add("files", Level::Fail, what).remedy(remedy);
    }
    if let Ok(found) = rustix::fs::statvfs(directory) {
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        if free < SPACE_MIN {
            well = false;
            let what = format!("only {} MiB are free", free >> 20);
            report.add("files", Level::Warn, what).remedy("make room");
        }
    }
    if well {
        report.add("files", Level::Ok, "a local file system, closed to others, with room");
    }
}

/// What this user must be able to write and cannot: the directory, the store, the files beside it.
fn unwritable(directory: &Path, store: &Path) -> Vec<String> {
    use rustix::fs::{Access, access};
    let beside = ["", "-wal", "-shm", "-lock"].map(|suffix| {
        let mut path = store.as_os_str().to_owned();
        path.push(suffix);
        (PathBuf::from(path), Access::WRITE_OK)
    });
    let all =
        [(directory.to_owned(), Access::WRITE_OK | Access::EXEC_OK)].into_iter().chain(beside);
    all.filter(|(path, need)| path.exists() && access(path, *need).is_err())
        .map(|(path, _)| path.display().to_string())
        .collect()
}

/// Whether the store can be read.
fn store_itself(report: &mut Report, ctx: &Context, path: &Path) -> bool {
    let failed = |report: &mut Report, error: StoreError| {
        let failure = Failure::from(error);
        let remedy = failure.next_step().unwrap_or("see docs/backup.md for what can be restored");
        report.add("store", Level::Fail, failure.message()).remedy(remedy);
    };
    let mut store = match Sqlite::open_to_read(path) {
        Ok(store) => store,
        Err(error) => {
            failed(report, error);
            return false;
        }
    };
    let newest = store.read(|txn| {
        let head = txn.log_head()?;
        head.map(|(id, _)| txn.known_event(id).map(|event| event.timestamp)).transpose()
    });
    match newest {
        Err(error) => {
            failed(report, error);
            return false;
        }
        Ok(Some(newest)) if newest.micros() - ctx.now().micros() > CLOCK_SLACK => {
            let what = format!("the clock is behind the newest event, of {newest}");
            report.add("clock", Level::Warn, what).remedy("set the clock");
        }
        Ok(_) => {
            report.add("clock", Level::Ok, "not behind the newest event");
        }
    }
    match verify::verify(&mut store, &[], &|_, _| {}) {
        Err(error) => {
            failed(report, error);
            return false;
        }
        Ok(found) if found.ok => {
            let what = format!(
                "{} in {}, every chain holds",
                counted(found.events, "event"),
                counted(found.branches, "branch")
            );
            report.add("store", Level::Ok, what);
        }
        Ok(found) => {
            let what = counted(found.findings_total, "finding");
            report.add("store", Level::Fail, what).remedy("see them with `mk verify`");
        }
    }
    let wal = fs::metadata(format!("{}-wal", path.display())).map_or(0, |it| it.len());
    if wal > WAL_MAX {
        let what = format!("the write-ahead log has {} MiB", wal >> 20);
        report.add("store", Level::Warn, what).remedy("end what reads all the time; then `mk gc`");
    }
    true
}

/// Texts, and how many tokens each has by a way of counting.
const SAMPLES: [(Tokenizer, &str, u64); 2] =
    [(Tokenizer::Heuristic, "v1.84.0-beta.2", 10), (Tokenizer::Estimate, "    return x;\n", 4)];

/// Whether tokens are counted as everywhere else.
pub fn tokenizer(report: &mut Report) {
    for (tokenizer, text, expected) in SAMPLES {
        let found = tokenizer.count(text);
        if found != expected {
            let what = format!("{tokenizer} counts {found} tokens where there are {expected}");
            report.add("tokens", Level::Fail, what).remedy("install mk anew");
            return;
        }
    }
    report.add("tokens", Level::Ok, "counted as everywhere else");
}
