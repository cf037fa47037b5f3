//! The network: packets, buffers, queues, losses, links and routes.

pub mod air;
mod fixed;
pub mod flight;
pub mod ids;
mod ingress;
pub mod link;
pub mod packet;
pub mod routing;
pub mod transmitter;

pub use netlull_network::{loss, noise, queue};
