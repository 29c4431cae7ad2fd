//! The kernel of `mk`: a library that never prints, reads arguments, or ends the process.
//!
//! Values ([`canon`], [`id`], [`time`], [`event`], [`lineage`]) stand at the bottom; [`store`] keeps
//! them; verbs ([`log`], [`branch`], [`lease`], [`operation`]) append events in one transaction; systems
//! ([`workspace`]) fold events to state. docs/design.md has the decisions, docs/format.md the bytes.

#![deny(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

pub mod attach;
pub mod backup;
pub mod branch;
pub mod canon;
pub mod code;
pub mod compaction;
pub mod erase;
pub mod event;
pub mod hook;
pub mod id;
pub mod lease;
pub mod lineage;
pub mod lines;
pub mod log;
pub mod lookup;
pub mod memkernel;
pub mod merge;
pub mod mkep;
pub mod notice;
pub mod operation;
pub mod revision;
pub mod search;
pub mod secret;
pub mod setting;
pub mod stats;
pub mod status;
pub mod store;
pub mod sync;
pub mod text;
pub mod time;
pub mod tokens;
pub mod transfer;
pub mod verify;
pub mod watch;
pub mod workspace;
