//! The commands, as shell sessions: what is printed, what the exit status is, what was written.

mod append;
mod branches;
mod config;
mod demo;
mod identity;
mod plumbing;
mod porcelain;
mod readme;
mod sandbox;
mod verify_log;
