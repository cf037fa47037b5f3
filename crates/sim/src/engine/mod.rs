//! Virtual time: the schedule, named random streams and the rings that hold packets.

pub mod ring;
pub mod schedule;

pub use netlull_network::random;
