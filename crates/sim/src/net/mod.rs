//! The network: packets, buffers, losses, links and routes.

pub mod buffer;
pub mod link;
pub mod loss;
pub mod packet;
pub mod routing;
pub mod transmitter;
