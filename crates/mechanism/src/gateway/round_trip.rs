//! RTT: the round-trip time of the flows through a gateway, without per-flow state (g-router section 2.4).

mod probe;

use super::SegmentView;
use crate::ConfigError;
use netlull_document::{check_ranges, read_by_kind};
use netlull_units::{Duration, Instant};
use probe::{Method, Probe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of a gateway's RTT.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RoundTripConfig {
    /// A fixed value.
    Fixed(FixedRoundTrip),
    /// Equation (7) as printed: N_{k-1} swnd_{k-1} / C_{k-1}. With equation (5) it keeps its first value for
    /// ever.
    Printed(PrintedRoundTrip),
    /// A measurement on handshakes, from the SYN to the final acknowledgement.
    Handshake(MeasuredRoundTrip),
    /// A measurement on timestamps (RFC 7323): segment, acknowledgement, and the segment that echoes it.
    Timestamps(MeasuredRoundTrip),
}

read_by_kind!(
    RoundTripConfig:
    "fixed" => Fixed(FixedRoundTrip),
    "printed" => Printed(PrintedRoundTrip),
    "handshake" => Handshake(MeasuredRoundTrip),
    "timestamps" => Timestamps(MeasuredRoundTrip),
);

/// The parameters of a fixed RTT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedRoundTrip {
    /// The round-trip time.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub time: Duration,
}

/// The parameters of equation (7).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrintedRoundTrip {}

/// The parameters of a measured RTT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredRoundTrip {
    /// RTT before the first sample.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub initial: Duration,
}

impl RoundTripConfig {
    /// Creates the source of a fixed RTT.
    #[must_use]
    pub fn fixed(time: Duration) -> Self {
        Self::Fixed(FixedRoundTrip { time })
    }

    /// Creates the source that measures handshakes, with an initial value.
    #[must_use]
    pub fn handshake(initial: Duration) -> Self {
        Self::Handshake(MeasuredRoundTrip { initial })
    }

    /// Creates the source that measures timestamps, with an initial value.
    #[must_use]
    pub fn timestamps(initial: Duration) -> Self {
        Self::Timestamps(MeasuredRoundTrip { initial })
    }
}

/// RTT, the estimated mean round-trip time, including the queueing delay at the gateway.
#[derive(Clone, Debug)]
pub enum RoundTrip {
    /// A constant.
    Fixed(Duration),
    /// The value of equation (7).
    Printed(Duration),
    /// A measurement on a sample of the flows.
    Measured(Box<Probe>),
}

impl RoundTrip {
    /// Creates the estimator of `config`.
    ///
    /// # Errors
    /// If a time is zero.
    pub fn new(config: &RoundTripConfig) -> Result<Self, ConfigError> {
        check_ranges(config).map_err(|error| error.within("round_trip"))?;
        let measured = |method, initial| Self::Measured(Box::new(Probe::new(method, initial)));
        Ok(match *config {
            RoundTripConfig::Fixed(FixedRoundTrip { time }) => Self::Fixed(time),
            RoundTripConfig::Printed(_) => Self::Printed(Duration::ZERO),
            RoundTripConfig::Handshake(MeasuredRoundTrip { initial }) => measured(Method::Handshake, initial),
            RoundTripConfig::Timestamps(MeasuredRoundTrip { initial }) => measured(Method::Timestamps, initial),
        })
    }

    /// The estimate of RTT.
    #[inline]
    #[must_use]
    pub fn value(&self) -> Duration {
        match self {
            Self::Fixed(time) | Self::Printed(time) => *time,
            Self::Measured(probe) => probe.time,
        }
    }

    /// The measured RTT; `None` before the first sample.
    #[must_use]
    pub fn measured(&self) -> Option<Duration> {
        match self {
            Self::Measured(probe) => probe.mean().map(|_| probe.time),
            Self::Fixed(_) | Self::Printed(_) => None,
        }
    }

    /// Equation (7): RTT_k = N_{k-1} swnd_{k-1} / C_{k-1}; swnd in bytes, C in bit/s.
    #[inline]
    pub fn update(&mut self, flows: f64, window: f64, rate: f64) {
        if let Self::Printed(time) = self {
            *time = Duration::from_secs_f64(8.0 * flows * window / rate).unwrap_or(Duration::MAX);
        }
    }

    /// Observes a segment in the forward direction, towards the receiver.
    #[inline]
    pub fn forward(&mut self, now: Instant, segment: &SegmentView) {
        if let Self::Measured(probe) = self {
            probe.forward(now, segment);
        }
    }

    /// Observes a segment in the reverse direction, towards the sender.
    #[inline]
    pub fn backward(&mut self, now: Instant, segment: &SegmentView) {
        if let Self::Measured(probe) = self {
            probe.backward(now, segment);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn equation_7_by_hand() {
        // 20 x 12,500 B x 8 / 10 Mb/s = 0.2 s.
        let mut rtt = RoundTrip::new(&RoundTripConfig::Printed(PrintedRoundTrip {})).unwrap();
        rtt.update(20.0, 12_500.0, 10e6);
        assert_eq!(rtt.value(), Duration::from_millis(200));
        rtt.update(f64::MAX, 12_500.0, 1.0);
        assert_eq!(rtt.value(), Duration::MAX);
    }

    #[test]
    fn wrong_values_are_named() {
        assert_eq!(RoundTrip::new(&RoundTripConfig::fixed(Duration::ZERO)).unwrap_err().field, "round_trip.time");
    }
}
