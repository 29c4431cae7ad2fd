//! The laws of the kernel, a file each.

mod verify;
