//! Controllers beside practRA: EARTH, and gateways that steer TCP's window (g-router).

use super::{InService, QueueReading, RatesDocument, TransitionPowerReading};
use crate::scenario::quantity::BufferSize;
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// EARTH: a rate down when the queue empties, a rate up when it is about to overflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarthDocument {
    /// The rates to choose from.
    pub rates: RatesDocument,
    /// The queue from which it is about to overflow, in data or packets of one MTU.
    pub threshold: BufferSize,
    /// At least this long between two changes; above `transition`.
    #[serde(default = "default_earth_interval")]
    pub min_interval: Duration,
    /// Nothing is sent for this long after a change.
    #[serde(default)]
    pub transition: Duration,
    /// What the queue counts.
    #[serde(default)]
    pub queue: QueueReading,
    /// Rate at the start; default the maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rate: Option<BitRate>,
    /// What happens to the packet being sent when the rate changes.
    #[serde(default)]
    pub in_service: InService,
    /// The rate whose power is charged while the link pauses for a change.
    #[serde(default)]
    pub transition_power: TransitionPowerReading,
}

/// AWM alone: the link keeps its rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AwmDocument {
    /// T: the queue to keep, in data or packets of one MTU.
    pub target: BufferSize,
    /// beta: how fast a queue off its target is corrected, at the link's rate at the start.
    #[serde(default = "default_beta")]
    pub beta: BitRate,
    /// The least window; default the scenario's MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Bytes>,
    /// The window suggested at the start.
    #[serde(default = "default_initial_window")]
    pub initial_window: Bytes,
    /// Where N, the number of flows, comes from.
    #[serde(default)]
    pub flows: FlowCountDocument,
    /// The link that brings the acknowledgements; default the way back, from this link's end to its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledgements: Option<String>,
    /// What q counts.
    #[serde(default)]
    pub queue: QueueReading,
}

/// C-EARTH alone: windows pass as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CEarthDocument {
    /// T: the queue that AWM would keep, in data or packets of one MTU; C-EARTH's own target is gamma T.
    pub target: BufferSize,
    /// Where RTT comes from; not `printed`, which is computed from AWM's window.
    pub round_trip: RoundTripDocument,
    /// C_min.
    pub min_rate: BitRate,
    /// C at the start; default the link's rate, which is C_max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rate: Option<BitRate>,
    /// gamma: C-EARTH's target is gamma T.
    #[serde(default = "default_gamma")]
    pub gamma: f64,
    /// How often the rate is computed.
    #[serde(default)]
    pub pace: PaceReading,
    /// C is set in whole multiples of this.
    #[serde(default = "default_granularity")]
    pub granularity: BitRate,
    /// Nothing is sent for this long after a change.
    #[serde(default)]
    pub transition: Duration,
    /// The link that brings the acknowledgements, in which RTT is seen; default the way back, from this link's end to its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledgements: Option<String>,
    /// What q counts.
    #[serde(default)]
    pub queue: QueueReading,
    /// What happens to the packet being sent when the rate changes.
    #[serde(default)]
    pub in_service: InService,
    /// The rate whose power is charged while the link pauses for a change.
    #[serde(default)]
    pub transition_power: TransitionPowerReading,
}

/// The G-Router: AWM and C-EARTH.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GRouterDocument {
    /// T: the queue to keep, in data or packets of one MTU.
    pub target: BufferSize,
    /// beta: how fast a queue off its target is corrected, at the link's rate at the start.
    #[serde(default = "default_beta")]
    pub beta: BitRate,
    /// The least window; default the scenario's MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Bytes>,
    /// The window suggested at the start.
    #[serde(default = "default_initial_window")]
    pub initial_window: Bytes,
    /// Where N, the number of flows, comes from.
    #[serde(default)]
    pub flows: FlowCountDocument,
    /// Where RTT comes from.
    pub round_trip: RoundTripDocument,
    /// C_min.
    pub min_rate: BitRate,
    /// C at the start; default the link's rate, which is C_max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rate: Option<BitRate>,
    /// gamma: C-EARTH's target is gamma T.
    #[serde(default = "default_gamma")]
    pub gamma: f64,
    /// How often the rate is computed.
    #[serde(default)]
    pub pace: PaceReading,
    /// C is set in whole multiples of this.
    #[serde(default = "default_granularity")]
    pub granularity: BitRate,
    /// Nothing is sent for this long after a change.
    #[serde(default)]
    pub transition: Duration,
    /// The link that brings the acknowledgements; default the way back, from this link's end to its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledgements: Option<String>,
    /// What q counts.
    #[serde(default)]
    pub queue: QueueReading,
    /// What happens to the packet being sent when the rate changes.
    #[serde(default)]
    pub in_service: InService,
    /// The rate whose power is charged while the link pauses for a change.
    #[serde(default)]
    pub transition_power: TransitionPowerReading,
}

/// How often C-EARTH computes its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaceReading {
    /// Once per round-trip time.
    #[default]
    RoundTrip,
    /// At every arrival and departure.
    Event,
}

/// Where a gateway's N comes from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowCountDocument {
    /// Given.
    Fixed(FixedFlowsDocument),
    /// Equation (5) as printed, from a value given.
    Printed(PrintedFlowsDocument),
    /// Linear counting of the flows seen in each interval.
    LinearCounting(LinearCountingDocument),
}

impl Default for FlowCountDocument {
    fn default() -> Self {
        Self::LinearCounting(LinearCountingDocument { interval: default_count_interval(), bits: default_bits() })
    }
}

/// N given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedFlowsDocument {
    /// N, 1 or more.
    pub count: f64,
}

/// N by equation (5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrintedFlowsDocument {
    /// N at the start, 1 or more.
    pub initial: f64,
}

/// N by linear counting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearCountingDocument {
    /// The length of an interval.
    #[serde(default = "default_count_interval")]
    pub interval: Duration,
    /// Bits in the map, a power of two from 64 to 1048576.
    #[serde(default = "default_bits")]
    pub bits: usize,
}

/// Where a gateway's RTT comes from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RoundTripDocument {
    /// Given.
    Fixed(FixedRoundTripDocument),
    /// Equation (7) as printed.
    Printed(PrintedRoundTripDocument),
    /// From the handshakes seen.
    Handshake(InitialRoundTripDocument),
    /// From the timestamps seen (RFC 7323).
    Timestamps(InitialRoundTripDocument),
}

/// RTT given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedRoundTripDocument {
    /// RTT.
    pub time: Duration,
}

/// RTT by equation (7).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrintedRoundTripDocument {}

/// RTT measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialRoundTripDocument {
    /// RTT before the first sample.
    pub initial: Duration,
}

fn default_earth_interval() -> Duration {
    Duration::from_millis(100)
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

fn default_count_interval() -> Duration {
    Duration::from_secs(1)
}

fn default_bits() -> usize {
    4096
}
