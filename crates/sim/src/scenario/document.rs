//! The scenario document that users write, with units in the values. Unknown fields are refused.
//!
//! The JSON Schema for editors and the types of the Python package are generated from these types.

pub use super::arrival::{AggregationDocument, LateDocument, NoiseDocument};
pub use super::flow::{
    AccessDocument, BurstsDocument, CbrDocument, FlowDocument, RecordingDocument, ReplayDocument, RoundTripDocument,
    TcpFlowDocument,
};
pub use super::link::{
    AirDocument, CapacityDocument, ControllerDocument, LinkDocument, RateOptions, SegmentOptions, StepDocument,
    StepsDocument, TraceDocument, UniformRedrawDocument,
};
pub use super::loss::{
    BernoulliDocument, GilbertElliottDocument, LossDocument, PolicerDocument, ScriptedDocument, ScriptedDropsDocument,
};
pub use super::queue::{CodelDocument, DropTailDocument, QueueDocument, RedDocument, RedEcn, RedProbability, RedRules};
pub use super::report::{PhaseDocument, ProbeDocument};
pub use super::requests::{
    CampusSizeDocument, EmpiricalSizeDocument, ExponentialSizeDocument, FixedSizeDocument, LognormalComponentDocument,
    LognormalSizeDocument, ParetoSizeDocument, RequestsDocument, SizeDocument, WebSearchSizeDocument,
};
pub use super::sleep::{
    FloodingDocument, NetworkOptions, PathMetric, PlanDocument, RoutingDocument, SimultaneousDocument, SleepDocument,
    TrafficOptions, UpdateDocument,
};
pub use super::station::{RadioDocument, RadioPowersDocument, StationDocument};
pub use netlull_network::plan::InService;
pub use netlull_power::PowerDocument;
pub use netlull_tcp::TcpOptions as TcpDocument;

use netlull_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    #[serde(default = "super::report::default_power")]
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

fn default_name() -> String {
    "scenario".to_owned()
}

fn default_mtu() -> Bytes {
    Bytes::new(1500)
}

fn default_seed() -> u64 {
    1
}
