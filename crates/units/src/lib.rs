//! Typed quantities with units.
//!
//! Every quantity is a newtype without `From<u64>`. A number becomes a quantity only with a named unit
//! (`Duration::from_millis(40)`, `BitRate::from_bps(10_000_000)`) or a written one (`"40 ms".parse()`).
//! Time is in integer nanoseconds, data in integer bytes, and rates are in integer bits per second. Power and energy
//! are `f64`: they are results of a model, never keys of the schedule.

mod amount;
mod parse;
mod rate;
mod time;

pub use amount::{Bytes, Joules, SignedWatts, Watts};
pub use parse::{ParseQuantityError, from_text};
pub use rate::{BitRate, Serialiser};
pub use time::{Duration, Instant};

/// The nearest `f64`. Processors convert a signed number in one instruction, an unsigned number in several.
#[inline]
#[allow(clippy::cast_precision_loss)]
fn nearest_f64(number: u64) -> f64 {
    i64::try_from(number).map_or(number as f64, |number| number as f64)
}
