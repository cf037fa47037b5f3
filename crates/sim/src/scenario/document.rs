//! The scenario document that users write, with units in the values. Unknown fields are refused.
//!
//! The JSON Schema for editors and the types of the Python package are generated from these types.

mod controller;
mod losses;
mod noise;
mod plan;
mod queueing;
mod replay;
mod requests;
mod sleep;
mod station;

pub use controller::{ControllerDocument, RateOptions, SegmentOptions};
pub use netlull_network::plan::InService;

pub use losses::{BernoulliDocument, GilbertElliottDocument, LossDocument, ScriptedDocument, ScriptedDropsDocument};

pub use netlull_tcp::TcpOptions as TcpDocument;
pub use noise::NoiseDocument;
pub use plan::{NetworkOptions, PlanDocument, TrafficOptions};
pub use queueing::{CodelDocument, DropTailDocument, QueueDocument, RedDocument, RedEcn, RedProbability, RedRules};
pub use replay::{RecordingDocument, ReplayDocument};
pub use requests::{
    CampusSizeDocument, EmpiricalSizeDocument, ExponentialSizeDocument, FixedSizeDocument, LognormalComponentDocument,
    LognormalSizeDocument, ParetoSizeDocument, RequestsDocument, SizeDocument, WebSearchSizeDocument,
};
pub use sleep::{FloodingDocument, PathMetric, RoutingDocument, SimultaneousDocument, SleepDocument, UpdateDocument};
pub use station::{RadioDocument, RadioPowersDocument, StationDocument};

use super::quantity::{BufferSize, TransferSize};
use netlull_power::PowerModel;
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The fastest rate. Higher rates overflow the serialiser's arithmetic.
pub(super) const FASTEST: BitRate = BitRate::from_mbps(1_000_000_000);

/// A network, its traffic and the data to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// A short name, used in results and titles.
    #[serde(default = "default_name")]
    pub name: String,
    /// A description of the scenario's purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Simulated time of the run.
    pub duration: Duration,
    /// Start of the measured time, which lasts until the end of the run.
    #[serde(default)]
    pub warm_up: Duration,
    /// Largest packet, IP header included.
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
    /// Seed of every random stream, 0 to 2^63 - 1.
    #[serde(default = "default_seed")]
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// Verifier that runs during or after the simulation.
    #[serde(default)]
    pub verify: Verify,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Links between the nodes.
    #[serde(default)]
    pub link: Vec<LinkDocument>,
    /// Airs that links share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub air: Vec<AirDocument>,
    /// Traffic.
    #[serde(default)]
    pub flow: Vec<FlowDocument>,
    /// TCP options of all flows. A flow's own options take precedence.
    #[serde(default)]
    pub tcp: TcpDocument,
    /// Replay of flows, recorded in a first run with the same seed.
    ///
    /// The first run records the packets that the flows offer to a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingDocument>,
    /// Power models for the reported energy of every link.
    #[serde(default = "default_power")]
    pub power: Vec<PowerDocument>,
    /// Time series to record. Recording never changes a run.
    #[serde(default)]
    pub probe: ProbeDocument,
    /// Routing of packets.
    #[serde(default)]
    pub routing: RoutingDocument,
    /// Sleeping links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sleep: Vec<SleepDocument>,
    /// Wireless stations with radios that may sleep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub station: Vec<StationDocument>,
    /// Positions of nodes in pictures: longitude and latitude in degrees, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub position: BTreeMap<String, (f64, f64)>,
    /// Parts of the run with separate measurements, in addition to the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseDocument>,
}

/// A part of the run with separate measurements. Phases may overlap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseDocument {
    /// Name in metrics such as `phase.NAME.link.LINK.mean_rate_bps`.
    pub name: String,
    /// Start time; default the end of the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Duration>,
    /// End time; default the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Duration>,
}

/// The extent of the conservation checks of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Checks the run's ledger at the end: packets, bytes against rate and time, queues, TCP's bytes, energy.
    #[default]
    Ledger,
    /// The ledger checks, and a second, independent model of every link that follows every packet.
    Replay,
    /// No check.
    Off,
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

/// A source of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowDocument {
    /// A TCP connection, or `count` of them.
    Tcp(TcpFlowDocument),
    /// Datagrams at a constant rate.
    Cbr(CbrDocument),
    /// Datagrams of constant size whose arrivals are a Poisson process.
    Poisson(CbrDocument),
    /// Datagrams at a constant rate in bursts of exponential length, one burst per cycle.
    Bursts(BurstsDocument),
    /// Short-lived TCP connections with Poisson arrivals and random sizes.
    Requests(RequestsDocument),
    /// Recorded datagrams.
    Replay(ReplayDocument),
}

/// TCP transfers between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpFlowDocument {
    /// Name; with `count` above one, `NAME-1`, `NAME-2`, ...
    pub name: String,
    /// Node that opens the connection and sends data.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Opening time of the first connection.
    #[serde(default)]
    pub start: Duration,
    /// Time between the openings of successive connections.
    #[serde(default)]
    pub spacing: Duration,
    /// Upper limit of the random delay of each start, drawn uniformly.
    #[serde(default)]
    pub jitter: Duration,
    /// Number of connections.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Amount of data per connection.
    #[serde(default)]
    pub size: TransferSize,
    /// Time from which the application of the first connection writes no more data; default never.
    ///
    /// The connection closes when all earlier data is acknowledged. Without `write_rate`, that is the data sent before
    /// the stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Time between the stops of successive connections; default 0 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_spacing: Option<Duration>,
    /// Constant rate at which the application writes, data without headers; default unlimited.
    ///
    /// Writing starts when the connection opens. Without a rate, TCP always has data to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub write_rate: Option<BitRate>,
    /// Size of each write; default the data of a full segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Bytes>,
    /// A sender of its own for each connection, behind an access link to `from`; default none.
    ///
    /// Nodes have the names of the connections. The access link is duplex and has an unlimited buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessDocument>,
    /// TCP options of this flow. They take precedence over those of the scenario.
    #[serde(default)]
    pub tcp: TcpDocument,
}

impl TcpFlowDocument {
    /// The name of a connection, counted from 0.
    #[must_use]
    pub fn connection(&self, number: u32) -> String {
        match self.count {
            1 => self.name.clone(),
            _ => format!("{}-{}", self.name, number + 1),
        }
    }
}

/// The access links of a flow's connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessDocument {
    /// Rate of each access link.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Round trips of the connections, evenly spaced.
    pub round_trip: RoundTripDocument,
}

/// Two-way propagation delays of a flow's connections, access link included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundTripDocument {
    /// Round trip of the first connection.
    pub from: Duration,
    /// Round trip of the last connection.
    pub to: Duration,
}

/// Datagrams at a constant or mean rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrDocument {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Rate on the wire, headers included.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Size of each packet on the wire; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// Start time.
    #[serde(default)]
    pub start: Duration,
    /// Upper limit of the random delay of the start, drawn uniformly.
    #[serde(default)]
    pub jitter: Duration,
    /// Stop time; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Bursts on a fixed cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsDocument {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Rate on the wire during a burst, headers included.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Size of each packet on the wire; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// Time between the starts of two bursts. The next burst ends a burst that is still active.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub cycle: Duration,
    /// Mean of a burst's exponential length.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub mean_on: Duration,
    /// Start time of the first cycle.
    #[serde(default)]
    pub start: Duration,
    /// Stop time; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// A power model and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "docs/models/power.md"))]
pub struct PowerDocument {
    /// Name in results; default the model's name, with P_s if it is not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the model's", "x-source" = "-"))]
    pub name: Option<String>,
    /// Model from `netlull list power`, such as `fs`, `dvs` or `ncs-55a1-24h`.
    #[schemars(extend("x-unit" = PowerModel::names(" | "), "x-source" = "of the model"))]
    pub model: String,
    /// P_s as a fraction of the maximum power; ideal models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0, "x-default" = "0"))]
    #[schemars(extend("x-source" = "intertwining-2012 uses 0, .25, .5, .75; 0 is the upper bound on saving"))]
    pub static_fraction: Option<f64>,
    /// phi: the voltage scales down to u_max/phi; voltage-scaling models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 1.0, "x-default" = "2", "x-source" = "intertwining-2012"))]
    pub phi: Option<f64>,
}

/// The time series to record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeDocument {
    /// Width of the bins of the tables `link` and `flow`. Without it, these tables are not recorded.
    ///
    /// A bin is written at its end. An incomplete last bin is not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Records every change of a congestion window (table `window`).
    #[serde(default)]
    pub window: bool,
    /// Records every dropped packet (table `drop`).
    #[serde(default)]
    pub drops: bool,
    /// Records every data segment of TCP senders (table `segment`).
    #[serde(default)]
    pub segments: bool,
    /// Records events of TCP senders: timeouts, fast retransmits, ends of recoveries (table `event`).
    #[serde(default)]
    pub events: bool,
    /// Records every request (table `request`).
    #[serde(default)]
    pub requests: bool,
    /// Records the activity of stations.
    ///
    /// The tables are `radio` (radio states), `air` (transmissions to and from the stations) and `burst` (bursts
    /// detected by shapers).
    #[serde(default)]
    pub stations: bool,
    /// Records every packet offered to these links (table `arrivals`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Vec<String>>,
    /// Links in the tables; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Flows in the tables; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<String>>,
}

fn default_name() -> String {
    "scenario".to_owned()
}

fn default_mtu() -> Bytes {
    Bytes::new(1500)
}

fn default_seed() -> u64 {
    1
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

fn default_count() -> u32 {
    1
}

/// The ideal models without static power and one measured device.
fn default_power() -> Vec<PowerDocument> {
    ["fs", "dvs", "ncs-55a1-24h"]
        .into_iter()
        .map(|model| PowerDocument { name: None, model: model.to_owned(), static_fraction: None, phi: None })
        .collect()
}
