//! The parameters of gateways: AWM, C-EARTH and their combination.

use super::flow_count::FlowCountConfig;
use super::round_trip::RoundTripConfig;
use crate::ConfigError;
use crate::link::NeededQueue;
use crate::rate::{EarthConfig, QueueCount, QueueLength};
use netlull_document::{check_ranges, read_parts};
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest window that TCP can advertise, in bytes: 65,535 x 2^14 (RFC 7323 section 2.2).
pub(super) const LARGEST_WINDOW: f64 = 1_073_725_440.0;

/// Keeps the queue of a link at its target by writing smaller windows into acknowledgements.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(extend("x-source" = "g-router section 2.1 (Barbera et al., ICC 2007)"))]
pub struct AwmConfig {
    /// The queue target.
    #[serde(flatten)]
    pub held: HeldQueue,
    /// The rule for windows.
    #[serde(flatten)]
    pub windows: WindowRule,
}

/// Adapts the link's rate to the queue and leaves windows unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(extend("x-source" = "g-router section 2.2"))]
pub struct CEarthConfig {
    /// The queue target that AWM would use.
    #[serde(flatten)]
    pub held: HeldQueue,
    /// The rule for the rate.
    #[serde(flatten)]
    pub rate: RateRule,
}

/// Combines AWM and EARTH: windows keep the queue at its target, and the link's rate steps with the queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(extend("x-source" = "g-router section 1 (Panarello et al., e-Energy 2010), without a rule; reading"))]
pub struct AwmEarthConfig {
    /// The queue target.
    #[serde(flatten)]
    pub aim: QueueTarget,
    /// The rule for windows.
    #[serde(flatten)]
    pub windows: WindowRule,
    /// The rule for the rate; its count of packets applies to both.
    #[serde(flatten)]
    pub earth: EarthConfig,
}

/// Combines AWM and C-EARTH: windows keep the queue at its target, and the link's rate follows the queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(extend("x-source" = "g-router section 2"))]
pub struct GRouterConfig {
    /// The queue target.
    #[serde(flatten)]
    pub held: HeldQueue,
    /// The rule for windows.
    #[serde(flatten)]
    pub windows: WindowRule,
    /// The rule for the rate.
    #[serde(flatten)]
    pub rate: RateRule,
}

read_parts!(AwmConfig { held, windows });
read_parts!(CEarthConfig { held, rate });
read_parts!(AwmEarthConfig { aim, windows, earth });
read_parts!(GRouterConfig { held, windows, rate });

/// The queue target of AWM next to a controller that counts the queue itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueTarget {
    /// T: AWM's target queue, in data or packets of one MTU.
    #[schemars(extend("x-unit" = "packets or data", "x-source" = "g-router uses half of the buffer"))]
    pub target: QueueLength,
}

/// The queue target of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldQueue {
    /// T: the target queue, in data or packets of one MTU; C-EARTH's own target is gamma T.
    #[schemars(extend("x-unit" = "packets or data", "x-source" = "g-router uses half of the buffer"))]
    pub target: QueueLength,
    /// The packets that q counts.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub queue: QueueCount,
}

/// AWM's rule for windows (equations 1 and 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowRule {
    /// beta: the gain that corrects the queue's distance from its target, at the link's initial rate.
    #[serde(default = "default_beta")]
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-source" = "g-router section 3"))]
    pub beta: BitRate,
    /// The smallest suggested window; default the scenario's MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = format!("{LARGEST_WINDOW} B"), "x-default" = "the MTU", "x-source" = "g-router equation (1)"))]
    pub floor: Option<Bytes>,
    /// The suggested window at the start.
    #[serde(default = "default_initial_window")]
    #[schemars(extend("x-source" = "reading"))]
    pub initial_window: Bytes,
    /// The source of N, the number of flows.
    #[serde(default)]
    #[schemars(extend("x-source" = "g-router section 2.3; reading"))]
    pub flows: FlowCountConfig,
}

/// C-EARTH's rule for the rate (equations 3 and 4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateRule {
    /// The source of RTT; C-EARTH without AWM has no `printed`, which needs AWM's window.
    #[schemars(extend("x-source" = "g-router section 2.4; reading"))]
    pub round_trip: RoundTripConfig,
    /// C_min, the lowest rate; C_max is the link's rate.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-source" = "reading"))]
    pub min_rate: BitRate,
    /// C at the start; default the link's rate, which is C_max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the link's", "x-source" = "reading"))]
    pub initial_rate: Option<BitRate>,
    /// gamma: C-EARTH's target is gamma T.
    #[serde(default = "default_gamma")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0, "x-source" = "g-router section 3"))]
    pub gamma: f64,
    /// The interval at which the rate is computed.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub pace: Pace,
    /// The rounding step of C.
    #[serde(default = "default_granularity")]
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-source" = "reading"))]
    pub granularity: BitRate,
    /// The time without transmission after a rate change.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub transition: Duration,
}

/// The interval at which C-EARTH computes its rate.
///
/// The paper's formula applies at every event, its prose says "averaged along a time interval of duration equal to the
/// round-trip time".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Once per round-trip time.
    #[default]
    RoundTrip,
    /// At every arrival and departure.
    Event,
    /// At every arrival and departure, from the queue's mean change over the last round-trip time.
    Sliding,
}

fn default_beta() -> BitRate {
    BitRate::from_bps(10_000)
}

fn default_initial_window() -> Bytes {
    Bytes::new(65_535)
}

fn default_gamma() -> f64 {
    0.95
}

fn default_granularity() -> BitRate {
    BitRate::from_bps(1000)
}

impl HeldQueue {
    /// Creates a target for the backlog, the default count.
    #[must_use]
    pub fn new(target: QueueLength) -> Self {
        Self { target, queue: QueueCount::default() }
    }

    /// The target T in bytes.
    pub(super) fn bytes(&self, mtu: Bytes) -> Result<Bytes, ConfigError> {
        match self.target.bytes(mtu) {
            Bytes::ZERO => Err(ConfigError::new("target", Bytes::ZERO, "a length above zero")),
            target => Ok(target),
        }
    }

    /// The target as a queue that the buffer must hold. AWM opens its window until the queue reaches T.
    pub(super) fn needed(&self, mtu: Bytes) -> NeededQueue {
        let otherwise = "the suggested window grows without bound and limits no sender".to_owned();
        NeededQueue { field: "target", queue: self.target.bytes(mtu), otherwise }
    }
}

impl Default for WindowRule {
    fn default() -> Self {
        Self {
            beta: default_beta(),
            floor: None,
            initial_window: default_initial_window(),
            flows: FlowCountConfig::default(),
        }
    }
}

impl WindowRule {
    /// The smallest suggested window in bytes.
    pub(super) fn floor(&self, mtu: Bytes) -> Bytes {
        self.floor.unwrap_or(mtu)
    }

    pub(super) fn check(&self, mtu: Bytes) -> Result<(), ConfigError> {
        check_ranges(self)?;
        let floor = self.floor(mtu);
        if self.initial_window < floor {
            return Err(ConfigError::new("initial_window", self.initial_window, format!("at least floor ({floor})")));
        }
        self.flows.check_bits()
    }
}

impl RateRule {
    /// Creates the rule with default parameters above a lowest rate.
    #[must_use]
    pub fn new(min_rate: BitRate, round_trip: RoundTripConfig) -> Self {
        Self {
            round_trip,
            min_rate,
            initial_rate: None,
            gamma: default_gamma(),
            pace: Pace::default(),
            granularity: default_granularity(),
            transition: Duration::ZERO,
        }
    }

    /// The initial value of C.
    pub(super) fn initial(&self, max: BitRate) -> BitRate {
        self.initial_rate.unwrap_or(max)
    }

    pub(super) fn check(&self, max: BitRate) -> Result<(), ConfigError> {
        check_ranges(self)?;
        let min = self.min_rate;
        if max < min {
            return Err(ConfigError::new("min_rate", min, format!("at most the highest rate ({max})")));
        }
        let span = BitRate::from_bps(max.as_bps() - min.as_bps());
        if self.granularity > span && !span.is_zero() {
            let expected = format!("at most the distance between the lowest and the highest rate ({span})");
            return Err(ConfigError::new("granularity", self.granularity, expected));
        }
        let initial = self.initial(max);
        if initial < min || initial > max {
            return Err(ConfigError::new("initial_rate", initial, format!("a rate from min ({min}) to max ({max})")));
        }
        Ok(())
    }
}
