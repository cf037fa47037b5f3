//! Points in time and durations, in integer nanoseconds.

use crate::nearest_f64;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub};

/// A point in time: nanoseconds since the start of the run. Its text is that number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(u64);

/// A duration in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// A time later than every event: "never".
    pub const NEVER: Self = Self(u64::MAX);

    /// The point `nanos` nanoseconds after the start.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    #[must_use]
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        nearest_f64(self.0) / 1e9
    }

    /// The duration since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// The zero duration.
    pub const ZERO: Self = Self(0);
    /// The longest duration.
    pub const MAX: Self = Self(u64::MAX);

    /// A duration of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A duration of `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// A duration of `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A duration of `secs` seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// A duration of `secs` seconds rounded to the nearest nanosecond; `None` if negative, not finite or too long.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn from_secs_f64(secs: f64) -> Option<Self> {
        let nanos = (secs * 1e9).round();
        (0.0..1.8e19).contains(&nanos).then_some(Self(nanos as u64))
    }

    /// The duration in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The duration in seconds.
    #[must_use]
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        nearest_f64(self.0) / 1e9
    }

    /// The duration minus `other`; zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The duration times `factor`, at most [`Duration::MAX`].
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// Returns true for the zero duration.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::NEVER`].
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Self> for Instant {
    type Output = Duration;
    /// Subtracts `earlier`, which must not be later than `self`.
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self.0 >= earlier.0, "time went back: {self} - {earlier}");
        Duration(self.0.wrapping_sub(earlier.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    /// Subtracts `other`, which must not be longer than `self`.
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "negative span: {self} - {other}");
        Self(self.0.wrapping_sub(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Rem for Duration {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        Self(self.0 % other.0)
    }
}

impl fmt::Display for Duration {
    /// Writes the duration in the largest unit that keeps the number at 1 or more: `40 ms`, `1.5 s`, `250 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0 s");
        }
        write_scaled(f, self.0, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)])
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl std::iter::Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

/// Writes `value` base units exactly, in the largest unit that keeps the number at 1 or more.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, scale) = *units.iter().find(|(_, scale)| value >= *scale).unwrap_or(&units[units.len() - 1]);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return write!(f, "{whole} {name}");
    }
    let digits = scale.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    write!(f, "{whole}.{} {name}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_durations_add_and_subtract_exactly() {
        let later = Instant::from_nanos(5) + Duration::from_millis(40);
        assert_eq!(later.as_nanos(), 40_000_005);
        assert_eq!(later - Instant::from_nanos(5), Duration::from_millis(40));
        assert_eq!(Instant::NEVER + Duration::from_secs(1), Instant::NEVER);
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond_and_refuse_what_is_no_span() {
        assert_eq!(Duration::from_secs_f64(0.0000000014), Some(Duration::from_nanos(1)));
        assert_eq!(Duration::from_secs_f64(0.0000000016), Some(Duration::from_nanos(2)));
        assert_eq!(Duration::from_secs_f64(-1.0), None);
        assert_eq!(Duration::from_secs_f64(f64::NAN), None);
        assert_eq!(Duration::from_secs_f64(1e300), None);
    }

    #[test]
    fn seconds_are_those_of_the_decimal_number() {
        let mut nanos = 1_u64;
        while nanos < 1 << 53 {
            for nanos in [nanos, nanos - 1, 1_000_000_000 * (nanos >> 23), nanos / 1000 * 1000] {
                let decimal: f64 = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000).parse().unwrap();
                assert_eq!(Duration::from_nanos(nanos).as_secs_f64().to_bits(), decimal.to_bits(), "{nanos} ns");
                assert_eq!(Instant::from_nanos(nanos).as_secs_f64().to_bits(), decimal.to_bits(), "{nanos} ns");
            }
            nanos += 1 + nanos / 37;
        }
        assert_eq!(Duration::from_micros(1).as_secs_f64(), 1e-6);
        assert_eq!(Duration::from_secs(60).as_secs_f64(), 60.0);
    }

    #[test]
    fn durations_print_in_the_unit_that_fits() {
        assert_eq!(Duration::from_millis(40).to_string(), "40 ms");
        assert_eq!(Duration::from_millis(1500).to_string(), "1.5 s");
        assert_eq!(Duration::from_nanos(250).to_string(), "250 ns");
        assert_eq!(Duration::ZERO.to_string(), "0 s");
    }
}
