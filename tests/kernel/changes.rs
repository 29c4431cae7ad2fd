//! Commits of others are told of, each one, and nothing else is.

use std::io::Write;
use std::time::Duration;

use mk::id::AgentId;
use mk::store::{Changes, Engine, StoreError, Woken};
use mk::time::Timestamp;
use rustix::event::{PollFd, PollFlags};

use crate::engines::File;

const LONG: Duration = Duration::from_secs(60);

fn store() -> File {
    let ann: AgentId = "ann".parse().unwrap();
    File::new(Timestamp::from_micros(0), &ann)
}

/// Writes what was not there: to write the same again changes nothing.
fn write(store: &mut File, number: u8) {
    let value = format!("!{number}");
    let written = store.write(|txn| txn.set_setting("alias.x", Some(&value)));
    written.map_err(|error: StoreError| error).unwrap();
}

#[test]
fn a_commit_is_told_of_once_wherever_it_falls() {
    let mut store = store();
    let mut changes = Changes::of(store.path()).unwrap();
    assert_eq!(changes.wait(Duration::ZERO, None).unwrap(), Woken::TimedOut);
    for number in 0..3 {
        // Before the wait, as well as while somebody reads.
        write(&mut store, number);
        changes.store().read(|txn| txn.log_head()).map_err(|error: StoreError| error).unwrap();
        assert_eq!(changes.wait(LONG, None).unwrap(), Woken::Changed);
        assert_eq!(changes.wait(Duration::ZERO, None).unwrap(), Woken::TimedOut);
    }
}

#[test]
fn a_wait_ends_with_a_commit() {
    let mut store = store();
    for without_lock_file in [false, true] {
        if without_lock_file {
            std::fs::remove_file(store.path().with_extension("db-lock")).unwrap();
        }
        let mut changes = Changes::of(store.path()).unwrap();
        let waiter = std::thread::spawn(move || changes.wait(LONG, None).unwrap());
        std::thread::sleep(Duration::from_millis(30));
        write(&mut store, without_lock_file.into());
        assert_eq!(waiter.join().unwrap(), Woken::Changed);
    }
}

#[test]
fn a_wait_ends_with_another_file_descriptor() {
    let store = store();
    let mut changes = Changes::of(store.path()).unwrap();
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"!").unwrap();
    let wake = PollFd::new(&reader, PollFlags::IN);
    assert_eq!(changes.wait(LONG, Some(wake)).unwrap(), Woken::Other);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let gone = PollFd::new(&writer, PollFlags::empty());
    assert_eq!(changes.wait(LONG, Some(gone)).unwrap(), Woken::Other);
}
