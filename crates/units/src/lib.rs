//! Typed quantities with units.
//!
//! Every quantity is a newtype without `From<u64>`: a number becomes a quantity only where its unit is
//! named (`Duration::from_millis(40)`, `BitRate::from_bps(10_000_000)`) or written (`"40 ms".parse()`).
//! Time is integer nanoseconds, data integer bytes, rates integer bits per second; power and energy are
//! `f64` because they are results of a model, never keys of the schedule.

mod amount;
mod parse;
mod rate;
mod time;

pub use amount::{Bytes, Joules, Watts};
pub use parse::ParseQuantityError;
pub use rate::{BitRate, Serialiser};
pub use time::{Duration, Instant};
