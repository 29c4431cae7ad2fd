//! How agents come to use a project, as far as that is text: what stands in their configurations, and how
//! it is put there without touching anything else.
//!
//! Rule: docs/spec/attach.md, sections 2 to 5.

pub mod agents;
pub mod diff;
pub mod document;
pub mod entry;
pub mod part;
pub mod plugin;
