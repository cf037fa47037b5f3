//! The emulation's input, made from a scenario: names are resolved, and random draws other than those of packets
//! are made.
//!
//! It contains nothing specific to the simulator. The simulator writes it and the emulation reads it. As text it
//! is JSON, with instants in nanoseconds and quantities with their units.

use crate::arrival::ArrivalModel;
use crate::loss::LossModel;
use crate::queue::{Buffer, QueueModel};
use crate::trace::Trace;
use netlull_mechanism::link;
use netlull_mechanism::rate::Naps;
use netlull_mechanism::station;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of this format; an emulation rejects any other version.
pub const FORMAT: u32 = 10;

/// The head of a plan or an outcome, read first because the rest depends on the format.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Head {
    /// The version, [`FORMAT`].
    pub format: u32,
}

/// The input of the emulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version, [`FORMAT`].
    pub format: u32,
    /// The scenario's name.
    pub name: String,
    /// The length of the run.
    pub duration: Duration,
    /// The instants at which counters are read, ascending.
    ///
    /// They are the end of the warm-up, the starts and ends of phases, and the end of the run.
    pub marks: Vec<Instant>,
    /// The seed of the links' random streams.
    pub seed: u64,
    /// The largest packet in bytes, IP header included.
    pub mtu: u32,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The links.
    pub links: Vec<LinkPlan>,
    /// The initial next link, by node and destination.
    pub routes: Vec<Vec<Option<u32>>>,
    /// The changes of links and routes. `None` if there are none; packets then have no hop limit.
    pub routing: Option<RoutingPlan>,
    /// The flows, in the order of the summary: TCP, datagrams, requests.
    pub flows: Vec<FlowPlan>,
    /// The stations.
    pub stations: Vec<StationPlan>,
    /// The data to record.
    pub probe: ProbePlan,
    /// Features of the scenario that no emulation has, one sentence each.
    pub differences: Vec<String>,
}

/// A link in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// The link's name, also of its random streams.
    pub name: String,
    /// The sending node.
    pub from: u32,
    /// The receiving node.
    pub to: u32,
    /// The initial rate.
    pub rate: BitRate,
    /// The bytes on the wire that each packet has in addition to its size.
    pub overhead: u32,
    /// The propagation delay.
    pub delay: Duration,
    /// The limit of the queue.
    pub buffer: Buffer,
    /// The queue management.
    pub queue: QueueModel,
    /// The loss model, applied before the queue.
    pub loss: Option<LossModel>,
    /// The laws of arrivals in addition to the delay.
    pub arrival: Option<Box<ArrivalModel>>,
    /// The controller of its rate, of windows, or of both.
    pub control: Option<ControlPlan>,
    /// The times and values of scheduled rate changes; `None` if there are none.
    pub steps: Option<Vec<(Instant, BitRate)>>,
    /// The trace of delivery opportunities, if the link follows one.
    pub trace: Option<Trace>,
}

impl LinkPlan {
    /// Returns true if the rate can change.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.control.is_some() || self.steps.is_some()
    }

    /// Returns true if a packet's departure is known at its arrival: the rate is constant or follows a trace, and the
    /// queue drops no packet at its head.
    #[must_use]
    pub fn is_predictable(&self) -> bool {
        !self.varies() && !matches!(self.queue, QueueModel::CoDel(_))
    }
}

/// The sleep of links and the routers' reactions (docs/models/sleep.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingPlan {
    /// The hop limit of a packet.
    pub ttl: u8,
    /// The changes in the order of time.
    pub steps: Vec<RoutingStep>,
}

/// A change of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingStep {
    /// The time of the change.
    pub at: Instant,
    /// The kind of the change.
    pub deed: RoutingDeed,
}

/// A kind of change of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutingDeed {
    /// The links that fall asleep, which lose their packets.
    Sleep(Vec<u32>),
    /// The links that begin to wake: they take power, and carry no packets yet.
    Stir(Vec<u32>),
    /// The links that are awake.
    Wake(Vec<u32>),
    /// The changed entries of the routers' tables.
    Install(Vec<RouteChange>),
}

/// A changed entry of a router's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteChange {
    /// The router.
    pub node: u32,
    /// The destination of the packets.
    pub destination: u32,
    /// The new next link; `None` if there is no route.
    pub link: Option<u32>,
}

/// A controller and its settings on a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlPlan {
    /// The controller.
    pub mechanism: link::Config,
    /// The properties of the controlled link.
    pub link: link::Context,
    /// The link that returns acknowledgements to a gateway.
    pub acknowledgements: Option<u32>,
    /// The other direction, if both sleep and wake together.
    pub coupled_with: Option<u32>,
    /// The times at which the link sleeps, if they are given.
    pub naps: Option<Naps>,
    /// The treatment of the packet in service at a rate change.
    pub in_service: InService,
}

impl ControlPlan {
    /// Returns true if the controller bounds the lateness of packets.
    #[must_use]
    pub fn bounds_lateness(&self) -> bool {
        self.mechanism.lateness_bound_with(self.link, self.naps.as_ref()).is_some()
    }
}

/// The treatment of the packet in service at a rate change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InService {
    /// The packet finishes at its old rate, then the pause starts.
    #[default]
    FinishThenPause,
    /// The packet finishes at its old rate while the pause is already running.
    FinishWhilePausing,
    /// The packet stops at once, and its rest is sent at the new rate after the pause.
    Suspend,
}

/// The traffic from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// The flow's name.
    pub name: String,
    /// The sending node.
    pub from: u32,
    /// The receiving node.
    pub to: u32,
    /// The kind of traffic.
    pub traffic: Traffic,
}

/// The kind of traffic of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// A single TCP connection.
    Tcp {
        /// The time at which the connection opens.
        start: Instant,
        /// The size of the data in bytes; `None` for unlimited data.
        size: Option<u64>,
        /// The time at which the application stops to write, if it does.
        stop: Option<Instant>,
        /// The interval and the bytes of periodic writes; `None` for a single write.
        writes: Option<(Duration, u32)>,
        /// The options of TCP.
        tcp: TcpPlan,
    },
    /// Datagrams of these sizes, IP header included, at these instants.
    Datagrams {
        /// The times and the sizes of the packets.
        packets: Vec<(Instant, u32)>,
    },
    /// TCP connections that open and close.
    Requests {
        /// The opening time and the data in bytes of each connection.
        requests: Vec<(Instant, u64)>,
        /// The largest number of simultaneously open connections.
        most_open: u32,
        /// The options of TCP.
        tcp: TcpPlan,
    },
}

/// The options of the hosts' TCP: those of a scenario that a real TCP supports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpPlan {
    /// The congestion control, by the kernel's name.
    pub congestion_control: String,
    /// The largest data in a full segment, with or without a timestamps option.
    pub mss: u16,
    /// True if timestamps are on (RFC 7323).
    pub timestamps: bool,
    /// True if window scaling is on (RFC 7323).
    pub window_scaling: bool,
    /// True if selective acknowledgements are on (RFC 2018).
    pub sack: bool,
    /// True if ECN marks are on (RFC 3168).
    pub ecn: bool,
    /// The size of the receive buffer.
    pub receive_buffer: Bytes,
    /// The size of the send buffer; `None` for no limit.
    pub send_buffer: Option<Bytes>,
    /// The initial window in segments.
    pub initial_window: u32,
    /// True if Nagle's algorithm delays short segments (RFC 1122 section 4.2.3.4).
    pub nagle: bool,
    /// The lower bound of the retransmission timeout.
    pub min_rto: Duration,
}

/// A wireless station.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationPlan {
    /// The station's node.
    pub node: u32,
    /// The access point's node.
    pub access: u32,
    /// The link from the access point.
    pub down: u32,
    /// The link to the access point.
    pub up: u32,
    /// The rate of the air and the radio's wake time.
    pub context: station::Context,
    /// The machine that lets the radio sleep; `None` for a radio that is always on.
    pub mechanism: Option<station::Config>,
}

/// The data to record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbePlan {
    /// The width of bins.
    pub interval: Option<Duration>,
    /// True if congestion windows are recorded.
    pub window: bool,
    /// True if drops are recorded.
    pub drops: bool,
    /// True if requests are recorded.
    pub requests: bool,
    /// True if the tables of stations are recorded.
    pub stations: bool,
    /// The links whose offered packets are recorded.
    #[serde(default)]
    pub arrivals: Vec<u32>,
    /// The recorded links.
    pub links: Vec<u32>,
    /// The recorded flows.
    pub flows: Vec<u32>,
}
