//! The network: packets, buffers, links and routes.

pub mod buffer;
pub mod link;
pub mod packet;
pub mod routing;
pub mod transmitter;
