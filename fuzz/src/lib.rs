//! The decoders of tests/fuzz, for the targets beside this.

#[path = "../../tests/fuzz/mod.rs"]
mod fuzz;

pub use fuzz::*;
