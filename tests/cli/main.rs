//! The commands, as shell sessions: what is printed, what the exit status is, what was written.

#![expect(clippy::disallowed_methods, reason = "tests hold waits against their limits")]

mod append;
mod arguments;
mod attach;
mod backup;
mod big;
mod branches;
mod config;
mod damage;
mod demo;
mod discovery;
mod doctor;
mod endless;
mod erase;
mod example;
mod exec;
mod filesystem;
mod gc;
mod generated;
mod history;
mod hook;
mod identity;
mod init;
mod input;
mod interrupted;
mod lease;
mod locks;
mod log;
mod mcp;
mod memkernel;
mod names;
mod notice;
mod operations;
mod plumbing;
mod porcelain;
mod readme;
mod recipes;
mod sandbox;
mod secrets;
mod state;
mod stores;
mod streams;
mod sync;
mod transfer;
mod verify_log;
