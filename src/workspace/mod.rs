//! The shared memory of a team of agents: what its events add up to, what an agent is given to read
//! of it, and how two branches differ.

pub mod blame;
mod checkpoint;
pub mod context;
pub mod diff;
pub mod event;
pub mod fold;
pub mod output;
pub mod render;
pub mod snapshot;
pub mod stored;

pub use checkpoint::{Checkpoints, state, state_from_events};
