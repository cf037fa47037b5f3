//! practRA's parameters and readings.

use crate::ConfigError;
use crate::rate::RateSet;
use netlull_units::{BitRate, Duration};
use serde::{Deserialize, Serialize};

/// When the rules are tested (the papers do not say).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evaluate {
    /// At every arrival, departure and wake-up. The default: the rules are printed as conditions, with no clock.
    #[default]
    EveryEvent,
    /// Only on a fixed grid counted from the start, at the end of each such span.
    Tick(Duration),
}

/// What q counts (the papers do not say).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueCount {
    /// The packets that wait. The default: ns-2's queue does not hold the packet being sent.
    #[default]
    Waiting,
    /// These and the whole of the packet being sent.
    WaitingAndInService,
}

/// Which packets the arrival rate counts (the papers do not say).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalCount {
    /// All that reach the buffer, dropped or not. The default: the forecast is of arrivals, and a full buffer is no
    /// reason to expect fewer.
    #[default]
    Offered,
    /// Only those that find room.
    Accepted,
}

/// What rf is before the first sample (the papers do not say).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastStart {
    /// Unknown until the first sample, which it then equals; the rate does not go down before. The default: a forecast
    /// of measured arrivals needs a measurement.
    #[default]
    FirstSample,
    /// Zero, averaged with the first sample like any other. An idle link then takes its first step down at the very
    /// start of the run.
    Zero,
}

/// How far a change goes (the papers: to a neighbour; intertwining-2012 section V asks what farther ones would do).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// To the next rate. The default, as printed.
    #[default]
    Adjacent,
    /// To the rate that the rules ask for, however far: one change, one delta, one mRCI.
    Any,
}

/// practRA's parameters; the fields' docs give symbol, unit, default and source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PractRaConfig {
    /// r_1 < ... < r_n in bit/s.
    pub rates: RateSet,
    /// delta: how long nothing is sent after a change. Default 2 ms (intertwining-2012; not printed in 2016).
    pub transition: Duration,
    /// mRCI (Delta in 2012): the least time between two changes. Default 16 ms (intertwining-2012).
    pub min_interval: Duration,
    /// d: the bound on queueing delay. Default 40 ms (intertwining-2012; not printed in 2016).
    pub delay_bound: Duration,
    /// w in (0, 1]: the weight of the newest sample. Default 0.25 (a stand-in; no paper prints it).
    pub forecast_weight: f64,
    /// The length of a sample's interval. Default `None`: mRCI (2016 section IV-A: a larger mRCI averages for longer).
    pub forecast_interval: Option<Duration>,
    /// Default [`ForecastStart::FirstSample`] (reading).
    pub forecast_start: ForecastStart,
    /// Default [`Evaluate::EveryEvent`] (reading).
    pub evaluate: Evaluate,
    /// Default [`QueueCount::Waiting`] (reading).
    pub queue: QueueCount,
    /// Default [`ArrivalCount::Offered`] (reading).
    pub arrivals: ArrivalCount,
    /// Default [`Reach::Adjacent`] (the papers).
    pub steps: Reach,
    /// Where the run starts, in bit/s. Default `None`: the highest rate (reading).
    pub initial_rate: Option<BitRate>,
}

impl PractRaConfig {
    /// The default parameters on the given rates.
    #[must_use]
    pub fn new(rates: RateSet) -> Self {
        Self {
            rates,
            transition: Duration::from_millis(2),
            min_interval: Duration::from_millis(16),
            delay_bound: Duration::from_millis(40),
            forecast_weight: 0.25,
            forecast_interval: None,
            forecast_start: ForecastStart::default(),
            evaluate: Evaluate::default(),
            queue: QueueCount::default(),
            arrivals: ArrivalCount::default(),
            steps: Reach::default(),
            initial_rate: None,
        }
    }

    /// Checks every value and every pair that must fit; gives the initial rate's position in the set.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and what was expected.
    pub fn validate(&self) -> Result<usize, ConfigError> {
        positive("min_interval", self.min_interval)?;
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
        if !(self.forecast_weight > 0.0 && self.forecast_weight <= 1.0) {
            return Err(ConfigError::new("forecast_weight", self.forecast_weight, "a number above 0 and at most 1"));
        }
        if let Some(interval) = self.forecast_interval {
            positive("forecast_interval", interval)?;
        }
        if let Evaluate::Tick(tick) = self.evaluate {
            positive("tick", tick)?;
        }
        let initial = self.initial_rate.unwrap_or(self.rates.highest());
        self.rates.position(initial).ok_or_else(|| {
            let expected = format!("one of the rates, {} to {}", self.rates.lowest(), self.rates.highest());
            ConfigError::new("initial_rate", initial, expected)
        })
    }
}

fn positive(field: &'static str, span: Duration) -> Result<(), ConfigError> {
    if span.is_zero() {
        return Err(ConfigError::new(field, span, "a time above zero"));
    }
    Ok(())
}
