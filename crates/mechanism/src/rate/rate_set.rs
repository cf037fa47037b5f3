//! The ordered set of rates that a link can run at.

use crate::ConfigError;
use netlull_units::BitRate;
use serde::{Deserialize, Serialize};

/// The rates r_1 < ... < r_n that a link can run at: not empty, all positive, strictly ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<BitRate>", into = "Vec<BitRate>")]
pub struct RateSet {
    rates: Vec<BitRate>,
}

impl RateSet {
    /// The most rates a set may have; a finer ladder is a mistake in a unit, not hardware.
    pub const MAX_LEN: usize = 10_000;

    /// The set of `rates` in bit/s, which must be given in ascending order.
    ///
    /// # Errors
    /// If the list is empty or longer than [`RateSet::MAX_LEN`], or a rate is zero or not above the one before it.
    pub fn from_list(rates: &[BitRate]) -> Result<Self, ConfigError> {
        if rates.is_empty() {
            return Err(ConfigError::new("rates", "an empty list", "at least one rate"));
        }
        if rates.len() > Self::MAX_LEN {
            return Err(too_many(rates.len()));
        }
        if rates[0].is_zero() {
            return Err(ConfigError::new("rates", rates[0], "rates above zero"));
        }
        if let Some(pair) = rates.windows(2).find(|pair| pair[0] >= pair[1]) {
            let found = format!("{} after {}", pair[1], pair[0]);
            return Err(ConfigError::new("rates", found, "strictly ascending rates"));
        }
        Ok(Self { rates: rates.to_vec() })
    }

    /// The set `from`, `from + step`, ..., `to`, in bit/s, both ends included: 1..10 Mb/s in steps of 1 Mb/s.
    ///
    /// # Errors
    /// If `from` or `step` is zero, `to` is below `from` or not a whole number of steps above it, or there would be
    /// more than [`RateSet::MAX_LEN`] rates.
    pub fn from_range(from: BitRate, to: BitRate, step: BitRate) -> Result<Self, ConfigError> {
        if from.is_zero() {
            return Err(ConfigError::new("rates.from", from, "a rate above zero"));
        }
        if step.is_zero() {
            return Err(ConfigError::new("rates.step", step, "a rate above zero"));
        }
        if to < from {
            return Err(ConfigError::new("rates.to", to, format!("a rate not below rates.from ({from})")));
        }
        let (span, step_bps) = (to.as_bps() - from.as_bps(), step.as_bps());
        if span % step_bps != 0 {
            let expected = format!("a whole number of steps of {step} above rates.from ({from})");
            return Err(ConfigError::new("rates.to", to, expected));
        }
        let steps = span / step_bps;
        if steps >= Self::MAX_LEN as u64 {
            return Err(too_many(steps.saturating_add(1)));
        }
        Ok(Self { rates: (0..=steps).map(|n| BitRate::from_bps(from.as_bps() + n * step_bps)).collect() })
    }

    /// The rates in ascending order.
    #[must_use]
    pub fn as_slice(&self) -> &[BitRate] {
        &self.rates
    }

    /// r_1.
    #[must_use]
    pub fn lowest(&self) -> BitRate {
        self.rates[0]
    }

    /// r_n.
    #[must_use]
    pub fn highest(&self) -> BitRate {
        self.rates[self.rates.len() - 1]
    }

    /// Where `rate` stands in [`RateSet::as_slice`], `None` if the link cannot run at it.
    #[must_use]
    pub fn position(&self, rate: BitRate) -> Option<usize> {
        self.rates.binary_search(&rate).ok()
    }
}

fn too_many(count: impl std::fmt::Display) -> ConfigError {
    ConfigError::new("rates", format!("a set of {count} rates"), format!("at most {} rates", RateSet::MAX_LEN))
}

impl TryFrom<Vec<BitRate>> for RateSet {
    type Error = ConfigError;

    fn try_from(rates: Vec<BitRate>) -> Result<Self, ConfigError> {
        Self::from_list(&rates)
    }
}

impl From<RateSet> for Vec<BitRate> {
    fn from(set: RateSet) -> Self {
        set.rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbps(rates: &[u64]) -> Vec<BitRate> {
        rates.iter().copied().map(BitRate::from_mbps).collect()
    }

    #[test]
    fn a_range_has_both_its_ends() {
        let m = BitRate::from_mbps;
        let set = RateSet::from_range(m(1), m(10), m(1)).unwrap();
        assert_eq!(set.as_slice(), mbps(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
        assert_eq!((set.lowest(), set.highest()), (m(1), m(10)));
        assert_eq!((set.position(m(4)), set.position(BitRate::from_bps(1))), (Some(3), None));
        assert_eq!(RateSet::from_range(m(7), m(7), m(1)).unwrap().as_slice(), mbps(&[7]));
    }

    #[test]
    fn a_list_need_not_be_evenly_spaced() {
        // The exponential set of NSDI'08.
        assert!(RateSet::from_list(&mbps(&[10, 100, 1_000, 10_000])).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let m = BitRate::from_mbps;
        let list = |rates: &[u64]| RateSet::from_list(&mbps(rates)).unwrap_err().to_string();
        assert_eq!(list(&[]), "rates is an empty list; expected at least one rate");
        assert_eq!(list(&[0, 1]), "rates is 0 b/s; expected rates above zero");
        assert_eq!(list(&[1, 3, 2]), "rates is 2 Mb/s after 3 Mb/s; expected strictly ascending rates");
        assert_eq!(list(&[1, 1]), "rates is 1 Mb/s after 1 Mb/s; expected strictly ascending rates");
        let range = |from, to, step| RateSet::from_range(m(from), m(to), m(step)).unwrap_err().to_string();
        assert!(range(0, 10, 1).starts_with("rates.from is 0 b/s"));
        assert!(range(1, 10, 0).starts_with("rates.step is 0 b/s"));
        assert_eq!(range(5, 4, 1), "rates.to is 4 Mb/s; expected a rate not below rates.from (5 Mb/s)");
        assert!(range(1, 10, 2).contains("a whole number of steps of 2 Mb/s above rates.from (1 Mb/s)"));
        let fine = RateSet::from_range(BitRate::from_bps(1), m(10), BitRate::from_bps(1)).unwrap_err().to_string();
        assert_eq!(fine, "rates is a set of 10000000 rates; expected at most 10000 rates");
        assert!(RateSet::from_range(BitRate::from_bps(1), BitRate::from_bps(u64::MAX), BitRate::from_bps(1)).is_err());
    }
}
