//! The parameters and readings of practRA.

use crate::ConfigError;
use crate::rate::{QueueCount, RateSet};
use netlull_document::check_ranges;
use netlull_units::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrivals that a forecast counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalCount {
    /// Every arriving packet, including those that the full buffer drops.
    #[default]
    Offered,
    /// Only packets that enter the queue.
    Accepted,
}

/// The forecast before its first sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForecastStart {
    /// Unknown until the first sample, which becomes the forecast; the rate does not go down before.
    #[default]
    FirstSample,
    /// Zero.
    Zero,
}

/// The distance of practRA's rate changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// To the next rate, as printed.
    #[default]
    Adjacent,
    /// To the lowest rate that meets the rules, in one change.
    Any,
}

/// Steps a link's rate up to hold a delay bound, and down when its queue is empty and its forecast low.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "Nedevschi et al., NSDI'08; intertwining-2012; troubled-marriage-2016 section II"))]
pub struct PractRaConfig {
    /// The possible rates, r_1 < ... < r_n; the highest is the link's.
    #[schemars(extend("x-unit" = "bit rates", "x-source" = "intertwining-2012 uses 1..10 Mb/s"))]
    pub rates: RateSet,
    /// delta: the time without transmission after a change.
    #[schemars(extend("x-source" = "intertwining-2012 uses 2 ms; not printed in 2016"))]
    pub transition: Duration,
    /// mRCI: the shortest time between two changes; above `transition`.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "intertwining-2012 uses 16 ms (its Delta); troubled-marriage-2016 10 ms to 1 s"))]
    pub min_interval: Duration,
    /// d: the bound on the queueing delay.
    #[schemars(extend("x-source" = "intertwining-2012 uses 40 ms; not printed in 2016"))]
    pub delay_bound: Duration,
    /// w: the weight of the newest sample in the forecast.
    #[serde(default = "default_weight")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "reading: no paper prints it"))]
    pub forecast_weight: f64,
    /// The interval over which arrivals are averaged into a sample; default `min_interval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-default" = "min_interval", "x-source" = "troubled-marriage-2016 section IV-A"))]
    pub forecast_interval: Option<Duration>,
    /// The forecast before the first sample.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub forecast_start: ForecastStart,
    /// The arrivals that the forecast counts.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub arrivals: ArrivalCount,
    /// The packets that q counts.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub queue: QueueCount,
    /// The tick on which the rules are tested; default at every arrival and departure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-default" = "every event", "x-source" = "reading: the rules are printed with no clock"))]
    pub tick: Option<Duration>,
    /// The distance of a change.
    #[serde(default)]
    #[schemars(extend("x-source" = "adjacent as printed; intertwining-2012 section 4 asks for any"))]
    pub steps: Reach,
    /// The rate at the start; default the highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the highest", "x-source" = "reading"))]
    pub initial_rate: Option<BitRate>,
}

fn default_weight() -> f64 {
    0.25
}

impl PractRaConfig {
    /// Creates the settings of intertwining-2012 for the given rates: delta 2 ms, mRCI 16 ms, d 40 ms.
    #[must_use]
    pub fn intertwining_2012(rates: RateSet) -> Self {
        Self {
            rates,
            transition: Duration::from_millis(2),
            min_interval: Duration::from_millis(16),
            delay_bound: Duration::from_millis(40),
            forecast_weight: default_weight(),
            forecast_interval: None,
            forecast_start: ForecastStart::default(),
            tick: None,
            queue: QueueCount::default(),
            arrivals: ArrivalCount::default(),
            steps: Reach::default(),
            initial_rate: None,
        }
    }

    /// Checks every range and pair of values. Returns the initial rate's position in the set.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and the expectation.
    pub fn validate(&self) -> Result<usize, ConfigError> {
        check_ranges(self)?;
        // troubled-marriage-2016 section II: the interval is greater than delta.
        if self.transition >= self.min_interval {
            let expected = format!("more than transition ({})", self.transition);
            return Err(ConfigError::new("min_interval", self.min_interval, expected));
        }
        // The second half of 1.1 leaves d - delta for the queue.
        if self.transition >= self.delay_bound {
            let expected = format!("more than transition ({})", self.transition);
            return Err(ConfigError::new("delay_bound", self.delay_bound, expected));
        }
        let initial = self.initial_rate.unwrap_or(self.rates.highest());
        self.rates.position(initial).ok_or_else(|| {
            let expected = format!("one of the rates, {} to {}", self.rates.lowest(), self.rates.highest());
            ConfigError::new("initial_rate", initial, expected)
        })
    }
}
