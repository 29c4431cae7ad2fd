//! Law 5: an acknowledged write survives any fault of the device and any power cut; one that was not
//! acknowledged is whole or absent.
//!
//! Each workload is run once to count its calls of the file system and to learn what the log looks
//! like after each of its steps. Then it is run again for each of the calls, which fails, and for
//! many moments of a power cut.

#![expect(
    clippy::disallowed_methods,
    reason = "tests measure waits, and hold leases against the clock"
)]

mod clock;
mod device;
mod history_check;
mod killed;
mod leases_raced;
mod power;
mod project;
mod races;
mod vfs;
mod workload;
