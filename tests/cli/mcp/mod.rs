//! `mk mcp`: docs/spec/mcp.md, section 16.

mod client;
mod exec;
mod faults;
mod hostile;
mod http;
mod kept;
mod log;
mod memkernel;
mod news;
mod resources;
mod start;
mod tools;
mod waits;
mod wire;
