//! Virtual time: the schedule, named random streams and packet rings.

pub use netlull_network::{random, ring, schedule};
