//! Virtual time: the schedule, named random streams and the rings that hold packets.

pub use netlull_network::{random, ring, schedule};
