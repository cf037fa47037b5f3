//! Virtual time: the schedule, named random streams and the rings that hold packets.

pub mod random;
pub mod ring;
pub mod schedule;
