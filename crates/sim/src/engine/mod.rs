//! Virtual time: the schedule, named random streams and the rings that hold packets.

pub mod ring;

pub use netlull_network::{random, schedule};
