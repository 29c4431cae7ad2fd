//! The ways out of a store and into another: exports, and their union.
//!
//! An export is a text of immutable events, a line each. Two exports are merged by taking the lines of
//! both, in any order: that is what `git`'s union driver does, and what an import does with a store.
//!
//! Rule: docs/design.md, section 4. Format: docs/format.md, "Exports".

mod export;
mod import;
mod line;
mod names;

pub use export::{ExportError, Exported, Selection, export};
pub use import::{
    Branched, Change, ImportError, Imported, SECRETS_LISTED, Secret, TOKENS_APART, import,
};
