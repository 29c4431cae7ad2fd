//! The rules of the kernel: the recorded cases of the peer, laws that hold for any history, and what
//! the pages under docs/ say of bytes and layers.

mod agreement;
mod blames;
mod cases;
mod changes;
mod compactions;
mod contexts;
mod documents;
mod engines;
mod execution;
mod format;
#[path = "../fuzz/mod.rs"]
mod fuzz;
mod graphs;
mod history;
mod hostile;
mod layers;
mod leases;
mod memkernel;
mod merges;
mod model;
mod notices;
mod operations;
mod revisions;
mod rollbacks;
mod searches;
mod states;
mod timeline;
mod transfers;
mod units;
mod verify;
#[path = "../../benches/support/workload.rs"]
mod workload;
mod workloads;
