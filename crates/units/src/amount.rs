//! Amounts of data, power and energy.

use crate::nearest_f64;
use crate::time::Duration;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// Power in watts.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Watts(f64);

/// A change of power, which may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct SignedWatts(pub Watts);

/// Energy in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Joules(f64);

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// An amount of `bytes` bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The amount in bytes.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The amount in bytes, to the nearest `f64`.
    #[inline]
    #[must_use]
    pub fn as_f64(self) -> f64 {
        nearest_f64(self.0)
    }

    /// The amount without `other`; zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The amount in bits.
    #[must_use]
    pub const fn as_bits(self) -> u64 {
        self.0 * 8
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "negative amount: {self} - {other}");
        Self(self.0.wrapping_sub(other.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::time::write_scaled(f, self.0, &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
    }
}

impl Watts {
    /// A power of `watts` watts.
    #[must_use]
    pub const fn new(watts: f64) -> Self {
        Self(watts)
    }

    /// The power in watts.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl Joules {
    /// No energy.
    pub const ZERO: Self = Self(0.0);

    /// An energy of `joules` joules.
    #[must_use]
    pub const fn new(joules: f64) -> Self {
        Self(joules)
    }

    /// The energy in joules.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl Mul<Duration> for Watts {
    type Output = Joules;
    fn mul(self, span: Duration) -> Joules {
        Joules(self.0 * span.as_secs_f64())
    }
}

impl Add for Watts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Add for Joules {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Joules {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl std::iter::Sum for Joules {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Watts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", self.0)
    }
}

impl fmt::Display for SignedWatts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Joules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The energies of bits and packets are shorter in small units, if a few digits give the same number again.
        for (unit, factor) in [("nJ", 1e-9), ("pJ", 1e-12)] {
            if self.0 >= factor && self.0 < 1e-3 {
                for digits in 0..=6 {
                    let text = format!("{:.digits$}", self.0 / factor);
                    #[allow(clippy::float_cmp, reason = "it reads back as the same number")]
                    if text.parse::<f64>().is_ok_and(|number| number * factor == self.0) {
                        return write!(f, "{text} {unit}");
                    }
                }
            }
        }
        write!(f, "{} J", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_energies_are_shown_in_small_units() {
        let shown = |joules: f64| Joules::new(joules).to_string();
        assert_eq!(shown(21.5 * 1e-12), "21.5 pJ");
        assert_eq!(shown(58.3 * 1e-9), "58.3 nJ");
        assert_eq!(
            (shown(2.0), shown(0.0), shown(1.0 / 3e11)),
            ("2 J".into(), "0 J".into(), "0.000000000003333333333333333 J".into())
        );
    }

    #[test]
    fn power_over_time_is_energy() {
        // 1.5 W for 2 s = 3 J.
        assert_eq!(Watts::new(1.5) * Duration::from_secs(2), Joules::new(3.0));
    }

    #[test]
    fn bytes_print_in_decimal_units() {
        assert_eq!(Bytes::new(1500).to_string(), "1.5 kB");
        assert_eq!(Bytes::new(64).to_string(), "64 B");
    }
}
