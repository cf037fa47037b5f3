//! The ordered set of a link's possible rates.

use crate::ConfigError;
use netlull_document::{refused, within};
use netlull_units::BitRate;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// A link's possible rates r_1 < ... < r_n: not empty, all positive, strictly ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSet {
    rates: Vec<BitRate>,
    /// The rates in their original notation.
    written: Written,
}

/// The two ways to write a set of rates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Rates", description = "A set of rates.")]
enum Written {
    /// From, to and step.
    Steps(RateSteps),
    /// Every rate, in ascending order.
    List(Vec<BitRate>),
}

/// Evenly spaced rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateSteps {
    /// The lowest rate.
    pub from: BitRate,
    /// The highest rate.
    pub to: BitRate,
    /// The difference between neighbours.
    pub step: BitRate,
}

impl RateSet {
    /// The upper bound of the number of rates; a finer set is a mistake in a unit, not hardware.
    pub const MAX_LEN: usize = 10_000;

    /// Creates the set of `rates` in bit/s, which must be in ascending order.
    ///
    /// # Errors
    /// If the list is empty or longer than [`RateSet::MAX_LEN`], or a rate is zero or not above the previous one.
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
        Ok(Self { rates: rates.to_vec(), written: Written::List(rates.to_vec()) })
    }

    /// Creates the set `from`, `from + step`, ..., `to`, in bit/s, both ends included: 1..10 Mb/s in steps of 1
    /// Mb/s.
    ///
    /// # Errors
    /// If `from` or `step` is zero, if `to` is below `from` or not a whole number of steps above it, or if there
    /// are more than [`RateSet::MAX_LEN`] rates.
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
        let rates = (0..=steps).map(|n| BitRate::from_bps(from.as_bps() + n * step_bps)).collect();
        Ok(Self { rates, written: Written::Steps(RateSteps { from, to, step }) })
    }

    /// The rates in ascending order.
    #[must_use]
    pub fn as_slice(&self) -> &[BitRate] {
        &self.rates
    }

    /// The lowest rate, r_1.
    #[must_use]
    pub fn lowest(&self) -> BitRate {
        self.rates[0]
    }

    /// The highest rate, r_n.
    #[must_use]
    pub fn highest(&self) -> BitRate {
        self.rates[self.rates.len() - 1]
    }

    /// Checks that the highest rate is the link's.
    ///
    /// # Errors
    /// If it is another rate.
    pub fn end_at(&self, rate: BitRate) -> Result<(), ConfigError> {
        if self.highest() == rate {
            return Ok(());
        }
        let expected = format!("the link's rate, {rate}, as the highest");
        Err(ConfigError::new("rates", format!("a set that ends at {}", self.highest()), expected))
    }

    /// The position of `rate` in [`RateSet::as_slice`], `None` if the link cannot run at it.
    #[must_use]
    pub fn position(&self, rate: BitRate) -> Option<usize> {
        self.rates.binary_search(&rate).ok()
    }
}

fn too_many(count: impl std::fmt::Display) -> ConfigError {
    ConfigError::new("rates", format!("a set of {count} rates"), format!("at most {} rates", RateSet::MAX_LEN))
}

impl Serialize for RateSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RateSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let set = match Value::deserialize(deserializer)? {
            value @ Value::Object(_) => {
                let RateSteps { from, to, step } = within::<_, D::Error>(&value)?;
                Self::from_range(from, to, step)
            }
            value @ Value::Array(_) => Self::from_list(&within::<Vec<BitRate>, D::Error>(&value)?),
            other => {
                let message =
                    format!("{other} is not a set of rates; expected a list of rates or {{ from, to, step }}");
                return Err(D::Error::custom(message));
            }
        };
        // The caller adds the field name `rates`.
        let inner = |field: String| field.strip_prefix("rates").unwrap_or(&field).trim_start_matches('.').to_owned();
        set.map_err(|error| refused(&ConfigError { field: inner(error.field.clone()), ..error }))
    }
}

impl JsonSchema for RateSet {
    fn schema_name() -> Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Written::json_schema(generator)
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
