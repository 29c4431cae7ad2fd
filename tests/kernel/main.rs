//! The laws of the kernel.

mod layers;
