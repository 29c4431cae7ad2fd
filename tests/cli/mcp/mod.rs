//! `mk mcp`: docs/spec/mcp.md, section 16.

mod client;
mod hostile;
mod http;
mod news;
mod resources;
mod start;
mod tools;
mod waits;
mod wire;
