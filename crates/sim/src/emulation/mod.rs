//! The border to the emulation: a scenario as its [`Plan`](netlull_network::plan::Plan), and an
//! [`Outcome`] as the summary and the tables that a run of the simulator has.
//!
//! The emulation itself (`netlulld`) knows nothing of scenarios, and this crate nothing of real packets.

mod plan;

pub use crate::run::{Emulated, check_format, emulated};
pub use netlull_network::outcome::Outcome;
pub use netlull_network::plan::Head;
pub use plan::plan;
