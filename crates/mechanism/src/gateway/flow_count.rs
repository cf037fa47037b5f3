//! N: the number of flows through a gateway, estimated without per-flow state (g-router section 2.3).

use super::{FlowKey, spread};
use crate::ConfigError;
use netlull_document::{check_ranges, read_by_kind};
use netlull_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of a gateway's N, the number of flows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowCountConfig {
    /// A fixed value.
    Fixed(FixedFlows),
    /// Equation (5) as printed, from an initial value. It telescopes to N_0 swnd_0 C_k / (C_0 swnd_k), without a
    /// measurement.
    Printed(PrintedFlows),
    /// Linear counting of the flows in each interval.
    LinearCounting(CountedFlows),
}

read_by_kind!(
    FlowCountConfig:
    "fixed" => Fixed(FixedFlows),
    "printed" => Printed(PrintedFlows),
    "linear_counting" => LinearCounting(CountedFlows),
);

/// The parameters of a fixed N.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedFlows {
    /// N.
    #[schemars(range(min = 1.0, max = MOST))]
    pub count: f64,
}

/// The parameters of equation (5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrintedFlows {
    /// N at the start.
    #[schemars(range(min = 1.0, max = MOST))]
    pub initial: f64,
}

/// The parameters of linear counting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountedFlows {
    /// The length of an interval. It must exceed a round trip and stay below the time scale on which N changes.
    #[serde(default = "default_interval")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub interval: Duration,
    /// The size of the bitmap, a power of two from 64 to 1048576; 4096 bits serve some 10,000 flows.
    #[serde(default = "default_bits")]
    #[schemars(range(min = 64, max = 1_048_576))]
    pub bits: usize,
}

fn default_interval() -> Duration {
    Duration::from_secs(1)
}

fn default_bits() -> usize {
    4096
}

impl Default for CountedFlows {
    fn default() -> Self {
        Self { interval: default_interval(), bits: default_bits() }
    }
}

impl Default for FlowCountConfig {
    fn default() -> Self {
        Self::LinearCounting(CountedFlows::default())
    }
}

impl FlowCountConfig {
    /// Creates the source of a fixed N.
    #[must_use]
    pub fn fixed(count: f64) -> Self {
        Self::Fixed(FixedFlows { count })
    }

    /// Checks that the size of a bitmap is a power of two.
    pub(super) fn check_bits(&self) -> Result<(), ConfigError> {
        match *self {
            Self::LinearCounting(CountedFlows { bits, .. }) if !bits.is_power_of_two() => {
                Err(ConfigError::new("flows.bits", bits, "a power of two"))
            }
            _ => Ok(()),
        }
    }
}

/// The upper bound of a given N. Below it, means and equation (5) stay finite.
const MOST: f64 = 1e9;

/// N, the estimated number of active flows, at least 1.
#[derive(Clone, Debug)]
pub enum FlowCount {
    /// A constant.
    Fixed(f64),
    /// The value of equation (5).
    Printed(f64),
    /// A measurement by linear counting.
    Measured(LinearCounting),
}

impl FlowCount {
    /// Creates the estimator of `config`.
    ///
    /// # Errors
    /// Names the field that is out of range, its value and the expected range.
    pub fn new(config: &FlowCountConfig, start: Instant) -> Result<Self, ConfigError> {
        check_ranges(config).map_err(|error| error.within("flows"))?;
        config.check_bits()?;
        Ok(match *config {
            FlowCountConfig::Fixed(FixedFlows { count }) => Self::Fixed(count),
            FlowCountConfig::Printed(PrintedFlows { initial }) => Self::Printed(initial),
            FlowCountConfig::LinearCounting(counted) => Self::Measured(LinearCounting::new(counted, start)),
        })
    }

    /// The estimate of N.
    #[inline]
    #[must_use]
    pub fn value(&self) -> f64 {
        match self {
            Self::Fixed(flows) | Self::Printed(flows) => *flows,
            Self::Measured(counting) => counting.value(),
        }
    }

    /// Counts a data segment of `flow`.
    #[inline]
    pub fn saw(&mut self, now: Instant, flow: FlowKey) {
        if let Self::Measured(counting) = self {
            counting.saw(now, flow);
        }
    }

    /// Equation (5): N_k = N_{k-1} swnd_{k-1} C_k / (swnd_k C_{k-1}), windows in bytes, rates in bit/s.
    #[inline]
    pub fn update(&mut self, windows: (f64, f64), rates: (f64, f64)) {
        if let Self::Printed(flows) = self {
            *flows = (*flows * windows.0 * rates.1 / (windows.1 * rates.0)).max(1.0);
        }
    }
}

/// Linear counting (Whang, Vander-Zanden and Taylor 1990). Each flow sets one of m bits. With z clear bits at the
/// end of an interval, the number of flows is about -m ln(z/m).
#[derive(Clone, Debug)]
pub struct LinearCounting {
    map: Box<[u64]>,
    set: usize,
    interval: Duration,
    ends: Instant,
    /// The flow of the last segment in this interval.
    last_seen: Option<FlowKey>,
    /// True if an interval with at least one flow has ended.
    has_ended: bool,
    /// The estimate of the last interval with flows; during the first such interval, its estimate so far. At
    /// least 1.
    estimate: f64,
}

impl LinearCounting {
    /// Creates an empty bitmap.
    fn new(CountedFlows { interval, bits }: CountedFlows, start: Instant) -> Self {
        Self {
            map: vec![0; bits / 64].into_boxed_slice(),
            set: 0,
            interval,
            ends: start + interval,
            last_seen: None,
            has_ended: false,
            estimate: 1.0,
        }
    }

    /// The estimate of the last interval with flows; during the first such interval, its estimate so far. At
    /// least 1.
    #[inline]
    #[must_use]
    pub fn value(&self) -> f64 {
        self.estimate
    }

    #[inline]
    fn saw(&mut self, now: Instant, flow: FlowKey) {
        if now >= self.ends {
            self.end_intervals(now);
        }
        // Consecutive segments often belong to the same flow.
        if self.last_seen != Some(flow) {
            self.last_seen = Some(flow);
            self.mark(flow);
        }
    }

    fn mark(&mut self, flow: FlowKey) {
        let bit = spread(flow) as usize & (64 * self.map.len() - 1);
        let (word, mask) = (&mut self.map[bit / 64], 1 << (bit % 64));
        if *word & mask == 0 {
            *word |= mask;
            self.set += 1;
            if !self.has_ended {
                self.estimate = self.so_far();
            }
        }
    }

    fn end_intervals(&mut self, now: Instant) {
        if self.set > 0 {
            self.estimate = self.so_far();
            self.has_ended = true;
            self.map.fill(0);
            self.set = 0;
            self.last_seen = None;
        }
        let missed = (now - self.ends).as_nanos() / self.interval.as_nanos();
        self.ends += self.interval * missed + self.interval;
    }

    /// -m ln(z/m), at least 1. With no clear bit, the estimate for one clear bit.
    #[allow(clippy::cast_precision_loss)]
    fn so_far(&self) -> f64 {
        let bits = 64 * self.map.len();
        let clear = (bits - self.set).max(1);
        (-(bits as f64) * libm::log(clear as f64 / bits as f64)).max(1.0)
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn counted(flows: u64, bits: usize) -> f64 {
        let mut counting = LinearCounting::new(CountedFlows { bits, ..CountedFlows::default() }, Instant::ZERO);
        for packet in 0..3 * flows {
            counting.saw(at(1), (packet % flows) << 16 | 0x0a);
        }
        counting.saw(at(1000), 1);
        counting.value()
    }

    #[test]
    fn flows_are_counted_not_packets() {
        for flows in [1, 20, 100, 1000, 8000] {
            // Standard error sqrt(m (exp(t) - t - 1)) with t = n/m (Whang et al. 1990, theorem 3.1): 1.8 for 100
            // flows, 30 for 8000.
            let load = flows as f64 / 4096.0;
            let error = (4096.0 * (load.exp() - load - 1.0)).sqrt();
            let counted = counted(flows, 4096);
            assert!((counted - flows as f64).abs() < 4.0 * error + 0.01, "{flows}: {counted}");
        }
    }

    #[test]
    fn a_full_map_gives_a_number_still() {
        // 64 bits, 10,000 flows: all bits are set, so the estimate is 64 ln 64 = 266.2.
        assert!((counted(10_000, 64) - 64.0 * 64.0_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn the_last_interval_counts_until_the_next_has_ended() {
        let mut counting = LinearCounting::new(CountedFlows::default(), Instant::ZERO);
        assert_eq!(counting.value(), 1.0, "nobody seen");
        for flow in 0..50 {
            counting.saw(at(10), flow);
        }
        assert!((counting.value() - 50.0).abs() < 4.0, "the first interval counts while it lasts");
        counting.saw(at(1500), 3);
        assert!((counting.value() - 50.0).abs() < 4.0, "one flow so far in the second");
        // The second interval ended with one flow. The three empty intervals after it do not change the estimate.
        counting.saw(at(5500), 3);
        assert!((counting.value() - 1.0).abs() < 0.01, "{}", counting.value());
    }

    #[test]
    fn a_flow_is_counted_anew_in_every_interval() {
        // The same flow alone in three intervals: -4096 ln(4095/4096) = 1.0001 in each.
        let mut counting = LinearCounting::new(CountedFlows::default(), Instant::ZERO);
        for interval in 0..3 {
            counting.saw(at(1000 * interval), 9);
            counting.saw(at(1000 * interval + 500), 9);
            assert_eq!(counting.set, 1, "in the interval that began at {interval} s");
        }
        counting.saw(at(3000), 9);
        assert!((counting.value() - 1.0001).abs() < 1e-4, "{}", counting.value());
    }

    #[test]
    fn equation_5_telescopes_to_where_it_began() {
        // N_0 swnd_0 / C_0 = N_k swnd_k / C_k whatever the events between: 20 x 10,000 / 10e6 = N x 25,000 / 5e6,
        // N = 4.
        let mut flows = FlowCount::new(&printed(20.0), Instant::ZERO).unwrap();
        let steps = [(10_000.0, 10e6), (7000.0, 12e6), (31_000.0, 9e6), (25_000.0, 5e6)];
        for pair in steps.windows(2) {
            flows.update((pair[0].0, pair[1].0), (pair[0].1, pair[1].1));
        }
        assert!((flows.value() - 4.0).abs() < 1e-12);
        for flow in 0..100 {
            flows.saw(at(1), flow);
        }
        assert!((flows.value() - 4.0).abs() < 1e-12, "it sees nothing");
    }

    #[test]
    fn wrong_values_are_named() {
        let wrong = |config| FlowCount::new(&config, Instant::ZERO).unwrap_err().field;
        assert_eq!(wrong(FlowCountConfig::fixed(0.5)), "flows.count");
        assert_eq!(wrong(printed(f64::INFINITY)), "flows.initial");
        assert_eq!(wrong(FlowCountConfig::fixed(1e300)), "flows.count");
        assert_eq!(wrong(FlowCountConfig::fixed(f64::NAN)), "flows.count");
        let counted = |interval, bits| FlowCountConfig::LinearCounting(CountedFlows { interval, bits });
        assert_eq!(wrong(counted(Duration::ZERO, 64)), "flows.interval");
        assert_eq!(wrong(counted(Duration::from_secs(1), 100)), "flows.bits");
    }

    fn printed(initial: f64) -> FlowCountConfig {
        FlowCountConfig::Printed(PrintedFlows { initial })
    }
}
