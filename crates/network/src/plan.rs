//! A scenario as the emulation needs it: names resolved, random draws that are not of packets made, nothing left that is the simulator's own.
//!
//! The simulator writes it, the emulation reads it; as text it is JSON: instants in nanoseconds, quantities with their units.

use crate::buffer::Buffer;
use crate::loss::LossModel;
use crate::noise::NoiseModel;
use crate::queue::QueueModel;
use netlull_mechanism::link::LinkContext;
use netlull_mechanism::machines::{LinkMechanism, StationMechanism};
use netlull_mechanism::station::StationContext;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of this form; an emulation refuses any other.
pub const FORMAT: u32 = 7;

/// What is read of a plan or an outcome before the rest, which another format may have otherwise.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Head {
    /// [`FORMAT`].
    pub format: u32,
}

/// What to emulate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`FORMAT`].
    pub format: u32,
    /// The scenario's name.
    pub name: String,
    /// How long it runs.
    pub duration: Duration,
    /// When counters are read: the end of the warm-up first, then where phases begin and end, the end of the run last; ascending.
    pub marks: Vec<Instant>,
    /// Seed of the links' random streams.
    pub seed: u64,
    /// The largest packet, IP header included.
    pub mtu: u32,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// The links.
    pub links: Vec<LinkPlan>,
    /// By node, then by destination: the link that leads there, at the start.
    pub routes: Vec<Vec<Option<u32>>>,
    /// What becomes of links and routes; `None`: nothing, and packets do not count their hops.
    pub routing: Option<RoutingPlan>,
    /// The flows, in the order of the summary: TCP, datagrams, requests.
    pub flows: Vec<FlowPlan>,
    /// The stations.
    pub stations: Vec<StationPlan>,
    /// What to record.
    pub probe: ProbePlan,
    /// What the scenario asks for and no emulation does, a sentence each.
    pub differences: Vec<String>,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// Its name, also of its random streams.
    pub name: String,
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
    pub to: u32,
    /// The rate at the start.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Limit of the queue.
    pub buffer: Buffer,
    /// How the queue is managed.
    pub queue: QueueModel,
    /// What it loses, before its queue.
    pub loss: Option<LossModel>,
    /// What its packets need on top of the delay.
    pub noise: Option<NoiseModel>,
    /// What scales its rate, steers windows, or both.
    pub control: Option<ControlPlan>,
    /// Rates that it takes by itself, and when; `None` of one that never does.
    pub steps: Option<Vec<(Instant, BitRate)>>,
}

impl LinkPlan {
    /// Whether its rate can change.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.control.is_some() || self.steps.is_some()
    }

    /// Whether a packet that comes is told when it leaves: nothing changes the link's rate or takes packets from its queue.
    #[must_use]
    pub fn is_predictable(&self) -> bool {
        !self.varies() && !matches!(self.queue, QueueModel::CoDel(_))
    }
}

/// Links that sleep, and routers that learn of it (docs/models/sleep.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingPlan {
    /// Hops that a packet may make.
    pub ttl: u8,
    /// What happens, in the order in which it does.
    pub steps: Vec<RoutingStep>,
}

/// The network changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingStep {
    /// When.
    pub at: Instant,
    /// What happens.
    pub deed: RoutingDeed,
}

/// What happens to the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutingDeed {
    /// These links fall asleep: what is on them is lost.
    Sleep(Vec<u32>),
    /// They begin to wake: they are powered, and carry nothing yet.
    Stir(Vec<u32>),
    /// They are awake.
    Wake(Vec<u32>),
    /// Routers have new tables: what is new in them.
    Install(Vec<RouteChange>),
}

/// An entry of a router's table changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteChange {
    /// The router.
    pub node: u32,
    /// Packets for this node ...
    pub destination: u32,
    /// ... go over this link from now on; nowhere, if `None`.
    pub link: Option<u32>,
}

/// A controller and the link's readings of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlPlan {
    /// The controller.
    pub mechanism: LinkMechanism,
    /// The link that it is built for.
    pub link: LinkContext,
    /// The link that brings a gateway its acknowledgements.
    pub acknowledgements: Option<u32>,
    /// The packet being sent when the rate changes.
    pub in_service: InService,
}

/// The packet being sent when the rate changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InService {
    /// It finishes at its old rate, then the pause starts.
    #[default]
    FinishThenPause,
    /// It finishes at its old rate while the pause already runs.
    FinishWhilePausing,
    /// It stops at once; what is left of it is sent at the new rate after the pause.
    Suspend,
}

/// Traffic from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
    pub to: u32,
    /// What it is.
    pub traffic: Traffic,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// One TCP connection.
    Tcp {
        /// When it opens.
        start: Instant,
        /// How much it sends; as much as it can, if `None`.
        size: Option<u64>,
        /// Its application writes nothing from here on, if it stops.
        stop: Option<Instant>,
        /// So many bytes are written every so often; otherwise all at once.
        writes: Option<(Duration, u32)>,
        /// What TCP is asked for.
        tcp: TcpPlan,
    },
    /// Datagrams of these sizes, IP header included, at these instants.
    Datagrams {
        /// When, and how large.
        packets: Vec<(Instant, u32)>,
    },
    /// TCP connections that come and go.
    Requests {
        /// When each opens, and what it sends.
        requests: Vec<(Instant, u64)>,
        /// So many may be open at once.
        most_open: u32,
        /// What TCP is asked for.
        tcp: TcpPlan,
    },
}

/// What is asked of the hosts' TCP: all of a scenario's options that a real one can be asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpPlan {
    /// As the kernel calls it.
    pub congestion_control: String,
    /// Data in a full segment at most, with a timestamps option or without.
    pub mss: u16,
    /// RFC 7323's timestamps.
    pub timestamps: bool,
    /// RFC 7323's window scaling.
    pub window_scaling: bool,
    /// RFC 2018's selective acknowledgements.
    pub sack: bool,
    /// RFC 3168's marks.
    pub ecn: bool,
    /// The receiver's buffer.
    pub receive_buffer: Bytes,
    /// The sender's; `None`: no limit.
    pub send_buffer: Option<Bytes>,
    /// Segments of the initial window.
    pub initial_window: u32,
    /// Whether short segments wait (RFC 1122 section 4.2.3.4).
    pub nagle: bool,
    /// The least retransmission timeout.
    pub min_rto: Duration,
}

/// A wireless station.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationPlan {
    /// Its node.
    pub node: u32,
    /// Its access point's.
    pub access: u32,
    /// The link from there.
    pub down: u32,
    /// The link to there.
    pub up: u32,
    /// Its air and its radio's wake time.
    pub context: StationContext,
    /// The machine that lets its radio sleep; `None` for a radio that is always on.
    pub mechanism: Option<StationMechanism>,
}

/// What to record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbePlan {
    /// Width of bins.
    pub interval: Option<Duration>,
    /// Congestion windows.
    pub window: bool,
    /// Drops.
    pub drops: bool,
    /// Requests.
    pub requests: bool,
    /// What stations do.
    pub stations: bool,
    /// Packets that are offered to these links.
    #[serde(default)]
    pub arrivals: Vec<u32>,
    /// Of these links.
    pub links: Vec<u32>,
    /// Of these flows.
    pub flows: Vec<u32>,
}
