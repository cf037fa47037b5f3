//! The network: packets, links and routes.

mod dozing;
mod fixed;
pub mod flight;
pub mod ids;
pub mod link;
pub mod routing;
pub mod transmitter;

pub use fixed::Air;
