//! Law 8: no input panics, and what a decoder lets in is what it says.
//!
//! A function a decoder, which takes any bytes and asserts what must hold of them. They are run over
//! mutated seeds by `cargo test --test kernel hostile`, and without end by the targets in fuzz/; the
//! seeds are in fuzz/corpus.
//!
//! Rule: docs/design.md, section 9.

mod canonical_json;
mod cat_event;
mod config;
mod event_line;
mod export_lines;
mod memkernel;
mod notices;
pub mod peer;
mod resource;
mod revision;
mod store;

pub use canonical_json::canonical_json;
pub use cat_event::cat_event;
pub use config::config;
pub use event_line::event_line;
pub use export_lines::export_lines;
pub use memkernel::{memkernel, memkernel_file};
pub use notices::{notice_document, signed_bundle, sync_policy};
pub use resource::resource;
pub use revision::revision;

/// A message says something, and not the whole input again.
fn assert_is_message(error: &impl std::fmt::Display) {
    let message = error.to_string();
    assert!(!message.is_empty() && message.len() < 2_000, "{message}");
}
