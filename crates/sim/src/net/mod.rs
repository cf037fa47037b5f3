//! The network: packets, buffers, queues, losses, links and routes.

pub mod buffer;
pub mod counters;
mod entry;
mod fixed;
mod flight;
pub mod link;
pub mod loss;
pub mod noise;
pub mod packet;
pub mod queue;
pub mod routing;
pub mod transmitter;
