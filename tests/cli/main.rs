//! The commands, as shell sessions.

mod demo;
mod verify_log;
