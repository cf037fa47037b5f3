//! What a network does to packets, in virtual time and in real time alike: the simulator and the emulation use the same random streams,
//! losses, noise, buffers and queue management, so that the same seed loses the same packets in both.
//!
//! [`plan`] is a scenario as the emulation needs it, [`outcome`] what it gives back: how the two, which do not know each other, talk.

pub mod buffer;
pub mod by_name;
pub mod counters;
pub mod gateway_summary;
pub mod loss;
pub mod noise;
pub mod outcome;
pub mod plan;
pub mod probe;
pub mod queue;
pub mod radio;
pub mod random;
pub mod schedule;
pub mod station;
pub mod transmission;
pub mod transmitter;
