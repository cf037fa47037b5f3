//! The interface to the emulation. It converts a scenario to a [`Plan`](netlull_network::plan::Plan), and an
//! [`Outcome`] to the summary and tables of a simulated run.
//!
//! The emulator (`netlulld`) does not know scenarios, and this crate does not know real packets.

mod plan;

pub use crate::run::{Emulated, check_format, emulated};
pub use netlull_network::outcome::Outcome;
pub use netlull_network::plan::Head;
pub use plan::plan;
