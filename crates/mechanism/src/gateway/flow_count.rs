//! N: how many flows load a gateway, without a state per flow (g-router section 2.3).

use super::{FlowKey, spread};
use crate::ConfigError;
use netlull_describe::read_by_kind;
use netlull_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a gateway's N comes from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowCountConfig {
    /// Given.
    Fixed(FixedFlows),
    /// Equation (5) as printed, from a value given. It telescopes to N_0 swnd_0 C_k / (C_0 swnd_k): nothing is measured.
    Printed(PrintedFlows),
    /// Linear counting of the flows seen in each interval.
    LinearCounting(CountedFlows),
}

read_by_kind!(
    FlowCountConfig:
    "fixed" => Fixed(FixedFlows),
    "printed" => Printed(PrintedFlows),
    "linear_counting" => LinearCounting(CountedFlows),
);

/// N given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedFlows {
    /// N, 1 or more.
    pub count: f64,
}

/// N by equation (5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrintedFlows {
    /// N at the start, 1 or more.
    pub initial: f64,
}

/// N by linear counting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountedFlows {
    /// The length of an interval: longer than a round trip, shorter than the time for which a number of flows stays.
    #[serde(default = "default_interval")]
    pub interval: Duration,
    /// Bits in the map, a power of two from 64 to 1048576; 4096 serve some 10,000 flows.
    #[serde(default = "default_bits")]
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
    /// N given.
    #[must_use]
    pub fn fixed(count: f64) -> Self {
        Self::Fixed(FixedFlows { count })
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let at_least_one = |field: &str, flows: f64| {
            if (1.0..=MOST).contains(&flows) {
                Ok(())
            } else {
                Err(ConfigError::new(field, flows, "a number from 1 to a billion"))
            }
        };
        match *self {
            Self::Fixed(FixedFlows { count }) => at_least_one("flows.count", count),
            Self::Printed(PrintedFlows { initial }) => at_least_one("flows.initial", initial),
            Self::LinearCounting(CountedFlows { interval, bits }) => {
                if interval.is_zero() {
                    return Err(ConfigError::new("flows.interval", interval, "more than nothing"));
                }
                if !bits.is_power_of_two() || !(64..=1 << 20).contains(&bits) {
                    return Err(ConfigError::new("flows.bits", bits, "a power of two from 64 to 1048576"));
                }
                Ok(())
            }
        }
    }
}

/// The most flows that can be given: means and equation (5) stay numbers.
const MOST: f64 = 1e9;

/// N, an estimate of the number of active flows; never below 1.
#[derive(Clone, Debug)]
pub enum FlowCount {
    /// Never changes.
    Fixed(f64),
    /// Equation (5).
    Printed(f64),
    /// Measured.
    Measured(LinearCounting),
}

impl FlowCount {
    /// The estimator that `config` asks for.
    ///
    /// # Errors
    /// Names the field that is out of range, its value and what was expected.
    pub fn new(config: &FlowCountConfig, start: Instant) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(match *config {
            FlowCountConfig::Fixed(FixedFlows { count }) => Self::Fixed(count),
            FlowCountConfig::Printed(PrintedFlows { initial }) => Self::Printed(initial),
            FlowCountConfig::LinearCounting(counted) => Self::Measured(LinearCounting::new(counted, start)),
        })
    }

    /// N.
    #[inline]
    #[must_use]
    pub fn value(&self) -> f64 {
        match self {
            Self::Fixed(flows) | Self::Printed(flows) => *flows,
            Self::Measured(counting) => counting.value(),
        }
    }

    /// A data segment of `flow` has come.
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

/// Linear counting (Whang, Vander-Zanden and Taylor 1990): each flow sets one bit of m; with z of them still clear at the end of an
/// interval the number of flows is about -m ln(z/m).
#[derive(Clone, Debug)]
pub struct LinearCounting {
    map: Box<[u64]>,
    set: usize,
    interval: Duration,
    ends: Instant,
    /// Whose bit was looked at last in this interval.
    last_seen: Option<FlowKey>,
    /// Whether an interval that had a flow has ended.
    has_ended: bool,
    /// The estimate of the last such interval; before, of the one in progress. At least 1.
    estimate: f64,
}

impl LinearCounting {
    /// An empty map.
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

    /// The estimate of the last interval in which there were flows; of the one in progress, while it is the first. At least 1.
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
        // Segments of a flow often follow each other.
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

    #[inline(never)]
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

    /// -m ln(z/m); with no bit clear, what one clear bit would say; at least 1.
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
            // Standard error sqrt(m (exp(t) - t - 1)) with t = n/m (Whang et al. 1990, theorem 3.1): 1.8 for 100 flows, 30 for 8000.
            let load = flows as f64 / 4096.0;
            let error = (4096.0 * (load.exp() - load - 1.0)).sqrt();
            let counted = counted(flows, 4096);
            assert!((counted - flows as f64).abs() < 4.0 * error + 0.01, "{flows}: {counted}");
        }
    }

    #[test]
    fn a_full_map_gives_a_number_still() {
        // 64 bits, 10,000 flows: all are set; 64 ln 64 = 266.2.
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
        // The second ended with one flow; three empty ones follow and say nothing.
        counting.saw(at(5500), 3);
        assert!((counting.value() - 1.0).abs() < 0.01, "{}", counting.value());
    }

    #[test]
    fn a_flow_is_counted_anew_in_every_interval() {
        // The same flow, and nobody else, in three intervals: -4096 ln(4095/4096) = 1.0001 in each.
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
        // N_0 swnd_0 / C_0 = N_k swnd_k / C_k whatever happens between: 20 x 10,000 / 10e6 = N x 25,000 / 5e6, N = 4.
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
