//! The scenario document: what users write, with units in the values. Unknown fields are refused.
//!
//! The JSON Schema that editors use is generated from these types, and Python's types follow it.

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
pub use queueing::{
    CodelDocument, DropTailDocument, QueueDocument, RedDocument, RedEcnReading, RedProbabilityReading, RedRulesReading,
};
pub use replay::{RecordingDocument, ReplayDocument};
pub use requests::{
    CampusSizeDocument, EmpiricalSizeDocument, ExponentialSizeDocument, FixedSizeDocument, LognormalComponentDocument,
    LognormalSizeDocument, ParetoSizeDocument, RequestsDocument, SizeDocument, WebSearchSizeDocument,
};
pub use sleep::{FloodingDocument, PathMetric, RoutingDocument, SimultaneousDocument, SleepDocument, UpdateDocument};
pub use station::{RadioDocument, RadioPowersDocument, StationDocument};

use super::quantity::{BufferSize, TransferSize};
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A network, its traffic and what to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// A short name, used in results and titles.
    #[serde(default = "default_name")]
    pub name: String,
    /// What the scenario shows, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Simulated time of the run.
    pub duration: Duration,
    /// Results are measured from here to the end.
    #[serde(default)]
    pub warm_up: Duration,
    /// Largest packet, IP header included.
    #[serde(default = "default_mtu")]
    pub mtu: Bytes,
    /// Seed of every random stream, 0 to 2^63 - 1.
    #[serde(default = "default_seed")]
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// The verifier that runs after (or beside) the simulation.
    #[serde(default)]
    pub verify: Verify,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// The links between them.
    #[serde(default)]
    pub link: Vec<LinkDocument>,
    /// The traffic.
    #[serde(default)]
    pub flow: Vec<FlowDocument>,
    /// TCP options of every flow that does not say otherwise.
    #[serde(default)]
    pub tcp: TcpDocument,
    /// Replay flows: run the scenario once more before, with the same seed, to record what they offer to a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingDocument>,
    /// Power models under which every link's energy is reported.
    #[serde(default = "default_power")]
    pub power: Vec<PowerDocument>,
    /// Time series to record. Recording never changes a run.
    #[serde(default)]
    pub probe: ProbeDocument,
    /// How packets find their way.
    #[serde(default)]
    pub routing: RoutingDocument,
    /// Links that sleep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sleep: Vec<SleepDocument>,
    /// Wireless stations, whose radios may sleep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub station: Vec<StationDocument>,
    /// Where nodes lie, for pictures: longitude and latitude in degrees, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub position: BTreeMap<String, (f64, f64)>,
    /// Parts of the run that are measured on their own, beside the whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseDocument>,
}

/// A part of the run, measured on its own. Phases may overlap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseDocument {
    /// Its name, in metrics such as `phase.NAME.link.LINK.mean_rate_bps`.
    pub name: String,
    /// When it begins; default the end of the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Duration>,
    /// When it ends; default the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Duration>,
}

/// How thoroughly a run is checked for conservation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Checks the run's ledger when it ends: packets, bytes against rate and time, queues, TCP's bytes, energy.
    #[default]
    Ledger,
    /// Also follows every packet through a second, independent model of every link.
    Replay,
    /// No check.
    Off,
}

/// One link, from one node to another; `duplex` adds the way back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDocument {
    /// The link's name; default `FROM-TO`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Also make the link `TO-FROM` with the same rate, delay, buffer and queue (no controller, capacity, loss or noise).
    #[serde(default)]
    pub duplex: bool,
    /// Rate; under a controller or a varying capacity, the maximum.
    pub rate: BitRate,
    /// Propagation delay, one way.
    #[serde(default)]
    pub delay: Duration,
    /// Limit of the queue: packets that wait, not the one being sent. `BDP` is rate x two-way propagation delay of
    /// the longest route of any flow across the link, in packets of one MTU, rounded to the nearest.
    #[serde(default = "default_buffer")]
    pub buffer: BufferSize,
    /// A buffer given in BDP holds at least this many packets.
    #[serde(default = "default_buffer_floor")]
    #[schemars(range(min = 1))]
    pub buffer_floor: u64,
    /// How the queue is managed within its limit; default drop-tail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueDocument>,
    /// Routing cost.
    #[serde(default = "default_cost")]
    #[schemars(range(min = 1))]
    pub cost: u32,
    /// What scales the link's rate with its traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerDocument>,
    /// A capacity that varies by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityDocument>,
    /// Which packets the link loses, before its queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossDocument>,
    /// Random times that packets need on top of the delay; none overtakes the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseDocument>,
}

/// A capacity that varies by itself.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CapacityDocument {
    /// Redrawn uniformly on [min, max] after exponential intervals; the link starts at its `rate`.
    UniformRedraw(UniformRedrawDocument),
    /// Other rates at given times; the link starts at its `rate`.
    Steps(StepsDocument),
}

/// Steps of a capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepsDocument {
    /// The steps in the order of their times.
    pub steps: Vec<StepDocument>,
}

/// A step of a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepDocument {
    /// When.
    pub at: Duration,
    /// The rate from then on; at most the link's.
    pub rate: BitRate,
}

/// Uniform redraws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformRedrawDocument {
    /// Lowest capacity.
    pub min: BitRate,
    /// Highest capacity.
    pub max: BitRate,
    /// Mean of the intervals between redraws.
    pub mean_interval: Duration,
}

/// One source of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowDocument {
    /// A TCP connection, or `count` of them.
    Tcp(TcpFlowDocument),
    /// Datagrams at a constant rate.
    Cbr(CbrDocument),
    /// Datagrams of one size whose arrivals are a Poisson process.
    Poisson(CbrDocument),
    /// Datagrams at a constant rate in bursts of exponential length, one per cycle.
    Bursts(BurstsDocument),
    /// TCP connections that come as a Poisson process, with random sizes, and go.
    Requests(RequestsDocument),
    /// Datagrams as they were recorded.
    Replay(ReplayDocument),
}

/// TCP transfers between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpFlowDocument {
    /// The flow's name; with `count` above one, `NAME-1`, `NAME-2`, ...
    pub name: String,
    /// The node that opens the connection and sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// When the first connection opens.
    #[serde(default)]
    pub start: Duration,
    /// Each further connection opens this much later.
    #[serde(default)]
    pub spacing: Duration,
    /// Each start is put off by a time drawn uniformly below this.
    #[serde(default)]
    pub jitter: Duration,
    /// How many connections.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// How much each sends.
    #[serde(default)]
    pub size: TransferSize,
    /// From then on the application of the first connection writes nothing more, and the connection closes when all is
    /// acknowledged that was written before; default never. Without `write_rate` that is what has been sent by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// The application of each further connection stops this much later; default 0 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_spacing: Option<Duration>,
    /// The application writes at this constant rate, data without headers, from the opening on; default as fast as TCP
    /// sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_rate: Option<BitRate>,
    /// How much it writes at once; default the data of a full segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Bytes>,
    /// TCP options of this flow, over the scenario's.
    #[serde(default)]
    pub tcp: TcpDocument,
}

/// Datagrams at a constant or mean rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrDocument {
    /// The flow's name.
    pub name: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Rate on the wire, headers included.
    pub rate: BitRate,
    /// Size of each packet on the wire; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// When it starts.
    #[serde(default)]
    pub start: Duration,
    /// The start is put off by a time drawn uniformly below this.
    #[serde(default)]
    pub jitter: Duration,
    /// When it stops; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Bursts on a fixed cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsDocument {
    /// The flow's name.
    pub name: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Rate on the wire during a burst, headers included.
    pub rate: BitRate,
    /// Size of each packet on the wire; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// A burst starts every cycle and is cut where the next one starts.
    pub cycle: Duration,
    /// Mean of a burst's exponential length.
    pub mean_on: Duration,
    /// When the first cycle starts.
    #[serde(default)]
    pub start: Duration,
    /// When it stops; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// A power model and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerDocument {
    /// Name in results; default the model's, with P_s where it is not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A model of `netlull list`, such as `fs`, `dvs` or `ncs-55a1-24h`.
    pub model: String,
    /// P_s as a fraction of the maximum power, in [0, 1); ideal models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_fraction: Option<f64>,
    /// phi: voltage scales down to u_max/phi; voltage-scaling models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phi: Option<f64>,
}

/// What to record over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeDocument {
    /// Width of the bins of the tables `link` and `flow`; none are recorded without it. A bin is written at its end; one
    /// that the end of the run cuts is not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Record every change of a congestion window (table `window`).
    #[serde(default)]
    pub window: bool,
    /// Record every dropped packet (table `drop`).
    #[serde(default)]
    pub drops: bool,
    /// Record every data segment that a TCP sender sends (table `segment`).
    #[serde(default)]
    pub segments: bool,
    /// Record what happens to TCP senders: timeouts, fast retransmits, the ends of recoveries (table `event`).
    #[serde(default)]
    pub events: bool,
    /// Record every request of the flows of that kind (table `request`).
    #[serde(default)]
    pub requests: bool,
    /// Record what stations do: the states of their radios (table `radio`), what is on the air for them (table `air`) and the bursts that
    /// shapers see (table `burst`).
    #[serde(default)]
    pub stations: bool,
    /// Record every packet that is offered to these links (table `arrivals`).
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

/// The ideal models without static power and one measured device, side by side.
fn default_power() -> Vec<PowerDocument> {
    ["fs", "dvs", "ncs-55a1-24h"]
        .into_iter()
        .map(|model| PowerDocument { name: None, model: model.to_owned(), static_fraction: None, phi: None })
        .collect()
}
