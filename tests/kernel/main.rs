//! The rules of the kernel: the recorded cases of the peer, and laws that hold for any history.

mod agreement;
mod cases;
mod contexts;
mod engines;
mod history;
mod model;
mod operations;
mod revisions;
mod rollbacks;
mod states;
mod timeline;
mod units;
