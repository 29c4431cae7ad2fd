//! The rules of the kernel: the recorded cases of the peer, and laws that hold for any history.

mod cases;
mod engines;
mod history;
mod model;
mod timeline;
mod units;
