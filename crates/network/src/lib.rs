//! The packet-level behaviour of a network, common to virtual time and real time.
//!
//! The simulator and the emulation use the same random streams, losses, noise, buffers and queue management. The
//! same seed therefore loses the same packets in both.
//!
//! [`plan`] is the input of the emulation, made from a scenario, and [`outcome`] is its output. The simulator and
//! the emulation communicate only through these two.

pub mod arrival;
pub mod capture;
pub mod driver;
pub mod gateway_summary;
pub mod loss;
pub mod noise;
pub mod outcome;
pub mod plan;
pub mod probe;
pub mod queue;
pub mod radio;
pub mod random;
pub mod ring;
pub mod schedule;
pub mod trace;
pub mod transmission;
pub mod transmitter;
