//! Typed quantities with units.
//!
//! Every quantity is a newtype without `From<u64>`: a number becomes a quantity only where its unit is
//! named (`Duration::from_millis(40)`, `BitRate::from_bps(10_000_000)`) or written (`"40 ms".parse()`).
//! Time is integer nanoseconds, data integer bytes, rates integer bits per second; power and energy are
//! `f64` because they are results of a model, never keys of the schedule.

mod amount;
mod parse;
mod rate;
mod text;
mod time;

pub use amount::{Bytes, Joules, Watts};
pub use parse::ParseQuantityError;
pub use rate::{BitRate, Serialiser};
pub use text::from_text;
pub use time::{Duration, Instant};

/// The nearest `f64`. Processors convert signed numbers in one instruction, unsigned ones in many.
#[inline]
#[allow(clippy::cast_precision_loss)]
fn nearest_f64(number: u64) -> f64 {
    i64::try_from(number).map_or(number as f64, |number| number as f64)
}
