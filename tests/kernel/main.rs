//! The laws of the kernel.

mod format;
mod layers;
