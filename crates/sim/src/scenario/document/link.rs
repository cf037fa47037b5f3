//! Links: rate, delay, buffer and cost; a controller or a capacity that varies; the airs that links share.

use super::{FASTEST, InService, LossDocument, NoiseDocument, QueueDocument};
use crate::scenario::quantity::BufferSize;
use netlull_document::table_of_kind;
use netlull_mechanism::machines::LinkMechanism;
use netlull_power::TransitionPower;
use netlull_units::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link from one node to another; `duplex` adds the reverse link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDocument {
    /// Name; default `FROM-TO`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Adds the link `TO-FROM` with the same rate, delay, buffer and queue (no controller, capacity, loss or noise).
    #[serde(default)]
    pub duplex: bool,
    /// Rate; the maximum if a controller or a varying capacity changes it.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Propagation delay, one way.
    #[serde(default)]
    pub delay: Duration,
    /// Maximum backlog, without the packet in service.
    ///
    /// `BDP` is rate x two-way propagation delay of the longest route of any flow across the link. It is counted in
    /// packets of one MTU and rounded to the nearest.
    #[serde(default = "default_buffer")]
    pub buffer: BufferSize,
    /// Minimum number of packets in a buffer given in BDP.
    #[serde(default = "default_buffer_floor")]
    #[schemars(range(min = 1))]
    pub buffer_floor: u64,
    /// Queue management within the buffer; default drop-tail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueDocument>,
    /// Routing cost.
    #[serde(default = "default_cost")]
    #[schemars(range(min = 1))]
    pub cost: u32,
    /// Controller that scales the link's rate with its traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerDocument>,
    /// Capacity that varies independently of the traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityDocument>,
    /// Packet losses before the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossDocument>,
    /// Random extra delay of each packet. Packets stay in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseDocument>,
    /// Name of the air that the link, and with `duplex` also its reverse link, shares with other links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub air: Option<String>,
}

table_of_kind! {
    /// A controller that changes a link's rate, the windows of the TCP flows that cross it, or both.
    pub struct ControllerDocument {
        /// The controller with its parameters.
        pub mechanism: LinkMechanism = LinkMechanism::KINDS,
        /// The link options for controllers that change its rate.
        pub rate: RateOptions if changes_rate,
        /// The link options for controllers that read segments.
        pub segments: SegmentOptions if reads_segments,
    }
}

/// The link options for a controller that changes its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateOptions {
    /// Treatment of the packet in service when the rate changes.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub in_service: InService,
    /// Rate that determines the power while the link pauses for a change.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub transition_power: TransitionPower,
}

/// The link options for a controller that reads segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentOptions {
    /// Link that carries the acknowledgements; default the reverse link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "link", "x-default" = "the reverse link", "x-source" = "-"))]
    pub acknowledgements: Option<String>,
}

/// A capacity that varies independently of the traffic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CapacityDocument {
    /// Uniform redraws on [min, max] after exponential intervals. The link starts at its `rate`.
    UniformRedraw(UniformRedrawDocument),
    /// New rates at given times. The link starts at its `rate`, or with a step at 0 s.
    Steps(StepsDocument),
}

/// Steps of a capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepsDocument {
    /// Steps, sorted by time.
    pub steps: Vec<StepDocument>,
}

/// A step of a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepDocument {
    /// Time of the step.
    pub at: Duration,
    /// Rate after the step; at most the link's `rate`, the highest of all steps.
    pub rate: BitRate,
}

/// Uniform redraws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformRedrawDocument {
    /// Lowest capacity.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s"))]
    pub min: BitRate,
    /// Highest capacity.
    pub max: BitRate,
    /// Mean of the intervals between redraws.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub mean_interval: Duration,
}

/// An air that several links share. It carries one packet at a time, in the order of their arrivals at the links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AirDocument {
    /// Name for the field `air` of links.
    pub name: String,
    /// Time on the air that each packet takes in addition to its bits; at most 1 s.
    #[serde(default)]
    pub overhead: Duration,
}

fn default_buffer() -> BufferSize {
    BufferSize::BandwidthDelay(1.0)
}

fn default_buffer_floor() -> u64 {
    5
}

fn default_cost() -> u32 {
    1
}
