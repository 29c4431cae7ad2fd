//! The commands, as shell sessions.

mod demo;
