//! Bounds on the energy that a controller of a link can save.
//!
//! A [`Problem`] has the packets that a link has carried at its highest rate, the rates of a controlled link and the
//! powers at these rates. [`clairvoyant`] bounds the energy of every schedule that knows all arrivals and delays no
//! packet by more than a given lateness. [`causal`] bounds the energy of every controller that knows only the past,
//! for memoryless arrivals. `docs/how-to/bound.md` states the assumptions.

mod causal;
mod clairvoyant;
mod packets;
mod problem;
mod slots;

pub use causal::{CausalBound, Memoryless, causal};
pub use clairvoyant::{Bracket, Steps, clairvoyant};
pub use problem::{Arrival, Discipline, Levels, Problem, TrafficEnergy, Window};
