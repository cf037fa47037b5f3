//! Conversion of a document to a checked scenario: every name resolved, every value in range.

mod access;
mod air;
mod control;
mod flows;
mod links;
mod load;
mod losses;
mod paths;
mod phases;
mod power;
mod queueing;
mod recording;
mod requests;
mod size_laws;
mod sleep;
mod sleep_plan;
mod station;

use super::document::{Document, InService, ProbeDocument, Verify};
use super::error::{ScenarioError, listed};
use super::quantity::TransferSize;
use crate::net::routing::{Edge, Routes};
pub use crate::traffic::{ArrivalPattern, DatagramFlow, FlowPath, RequestFlow};
pub use air::AirSpec;
pub(super) use control::refused;
pub use load::Offer;
use netlull_mechanism::link::LinkContext;
use netlull_mechanism::machines::LinkMechanism;
use netlull_network::driver::LONGEST;
use netlull_network::loss::LossModel;
use netlull_network::noise::NoiseModel;
use netlull_network::queue::{Buffer, QueueModel};
use netlull_power::{PowerModel, TransitionPower};
use netlull_units::{BitRate, Duration, Instant};
pub use sleep::{Nap, RoutingSpec, SleepSpec};
pub use station::StationSpec;
pub(super) use station::{At, check_traffic, refused_mechanism};
use std::collections::BTreeMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, ScenarioError>;
type Nodes<'a> = BTreeMap<&'a str, usize>;

/// A scenario that is ready to run. Copies share its long lists.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name.
    pub name: String,
    /// Simulated time.
    pub duration: Duration,
    /// Start of the measured time.
    pub warm_up: Duration,
    /// The largest packet in bytes, IP header included.
    pub mtu: u32,
    /// Seed of the random streams.
    pub seed: u64,
    /// The verifier.
    pub verify: Verify,
    /// Names of the nodes.
    pub nodes: Arc<Vec<String>>,
    /// Links.
    pub links: Arc<Vec<LinkSpec>>,
    /// Airs that links share.
    pub airs: Vec<AirSpec>,
    /// The links as routing sees them.
    pub edges: Arc<Vec<Edge>>,
    /// TCP flows, in the order of the document, `count` unfolded.
    pub tcp_flows: Arc<Vec<TcpFlow>>,
    /// Datagram flows, in the order of the document.
    pub datagram_flows: Vec<DatagramFlow>,
    /// Flows of requests, in the order of the document.
    pub request_flows: Vec<RequestFlow>,
    /// Routes to every destination of a packet.
    pub routes: Arc<Routes>,
    /// Power models for reports.
    pub power: Vec<NamedPower>,
    /// Data to record.
    pub probe: ProbeSpec,
    /// A first run, which records the packets of a replay flow.
    pub recording: Option<Recording>,
    /// Parts of the run with separate measurements.
    pub phases: Vec<PhaseSpec>,
    /// Routing of packets.
    pub routing: RoutingSpec,
    /// Sleeping links.
    pub sleep: SleepSpec,
    /// Wireless stations.
    pub stations: Vec<StationSpec>,
}

/// A part of the measured time.
#[derive(Clone, Debug)]
pub struct PhaseSpec {
    /// Name.
    pub name: String,
    /// Start time.
    pub from: Instant,
    /// End time.
    pub to: Instant,
}

/// A first run that records packets for a replay.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The scenario of the first run. It has the seed and the verifier of the second run.
    pub first: Box<Scenario>,
    /// The link with the recorded arrivals.
    pub link: usize,
    /// The index of the datagram flow that replays them.
    pub source: usize,
    /// The fields that the first run leaves out. Those of stations name the station's node.
    pub without: Vec<String>,
}

/// A direction of a link. Boxes hold the parts that few links have.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// Rate, or maximum rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Limit of the queue.
    pub buffer: Buffer,
    /// Queue management.
    pub queue: QueueModel,
    /// Rate controller.
    pub control: Option<Box<Control>>,
    /// Varying capacity.
    pub capacity: Option<Capacity>,
    /// Packet losses.
    pub loss: Option<Box<LossModel>>,
    /// Random extra delay.
    pub noise: Option<NoiseModel>,
    /// The index of the air that it shares with other links.
    pub air: Option<usize>,
}

/// A controller and the link's options for it.
#[derive(Clone, Debug)]
pub struct Control {
    /// The controller with its parameters.
    pub mechanism: LinkMechanism,
    /// The link as the controller sees it.
    pub link: LinkContext,
    /// The index of the link with a gateway's acknowledgements.
    pub acknowledgements: Option<usize>,
    /// Treatment of the packet in service when the rate changes.
    pub in_service: InService,
    /// Power charged during a transition.
    pub transition_power: TransitionPower,
}

/// A capacity that varies independently of the traffic.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// Uniform redraws on [min, max] after exponential intervals.
    Redraws {
        /// Lowest capacity.
        min: BitRate,
        /// Highest capacity.
        max: BitRate,
        /// Mean interval.
        mean_interval: Duration,
    },
    /// Rates at given times, in ascending order.
    Steps(Vec<(Instant, BitRate)>),
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct TcpFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// Opening time, before jitter.
    pub start: Instant,
    /// Upper limit of the random delay of the opening, drawn uniformly.
    pub jitter: Duration,
    /// Amount of data.
    pub size: TransferSize,
    /// Time from which its application writes no data.
    pub stop: Instant,
    /// The writes of its application; `None` if TCP always has data to send.
    pub writes: Option<Writes>,
    /// TCP options.
    pub config: netlull_tcp::Config,
}

impl TcpFlow {
    /// Returns true if its application acts after the opening.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.writes.is_some() || self.stop != Instant::NEVER
    }
}

/// The writes of an application: `size` bytes when the connection opens, then again every 8 `size` / `rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Data rate.
    pub rate: BitRate,
    /// Size of a write, bytes.
    pub size: u32,
}

/// A power model under a name.
#[derive(Clone, Debug)]
pub struct NamedPower {
    /// Name in results.
    pub name: String,
    /// The model.
    pub model: PowerModel,
}

/// The data to record.
#[derive(Clone, Debug, Default)]
pub struct ProbeSpec {
    /// Width of the bins.
    pub interval: Option<Duration>,
    /// Changes of congestion windows.
    pub window: bool,
    /// Dropped packets.
    pub drops: bool,
    /// Data segments of TCP senders.
    pub segments: bool,
    /// Events of TCP senders.
    pub events: bool,
    /// Requests.
    pub requests: bool,
    /// Activity of stations.
    pub stations: bool,
    /// Packets offered to these links, by index.
    pub arrivals: Option<Vec<usize>>,
    /// True if arrivals are recorded without their flows.
    pub nameless: bool,
    /// Indices of the recorded links; all if `None`.
    pub links: Option<Vec<usize>>,
    /// Indices of the recorded flows (TCP flows first); all if `None`.
    pub flows: Option<Vec<usize>>,
}

/// The smallest MTU that IPv4 allows (RFC 791).
const SMALLEST_MTU: u64 = 68;
/// The largest IPv4 packet.
const LARGEST_MTU: u64 = 65_535;
/// The maximum number of bins. A larger number is assumed to be a mistake.
const MOST_BINS: u64 = 10_000_000;

impl Scenario {
    /// Checks a document and resolves every name in it.
    ///
    /// # Errors
    /// Names the first invalid field, its value and the expectation.
    pub fn from_document(document: &Document) -> Result<Self> {
        let document = access::with_senders(document)?;
        match &document.recording {
            Some(recording) => recording::two_runs(&document, recording),
            None => Self::resolve(&document, &[]),
        }
    }

    /// Resolves the scenario of a single run. `two_way` gives the minimum two-way propagation delay per link for
    /// buffers in BDP.
    fn resolve(document: &Document, two_way: &[Duration]) -> Result<Self> {
        check_frame(document)?;
        let nodes = node_index(&document.nodes)?;
        let mtu = document.mtu;
        let wiring = links::wire_up(document, &nodes)?;
        let flows = flows::flows(document, &nodes)?;
        let routes = paths::routes(&nodes, &wiring, &flows);
        let reach = paths::two_way_delays(&document.nodes, &wiring, &routes, &flows)?;
        let least = two_way.iter().copied().chain(std::iter::repeat(Duration::ZERO));
        // Not collected: a list of results grows by doubling, and keeps up to twice its memory.
        let mut links = Vec::with_capacity(wiring.len());
        for ((wire, own), least) in wiring.iter().zip(&reach).zip(least) {
            links.push(links::link(wire, queueing::Measure { two_way: (*own).max(least), mtu })?);
        }
        unique_names(&links, &flows)?;
        links::join_gateways(&wiring, &mut links)?;
        let airs = air::airs(document, &wiring, &mut links)?;
        if document.link.iter().any(|link| link.loss.is_some()) {
            let crossing = paths::crossing(&wiring, &routes, &flows);
            for ((link, wire), crossing) in links.iter_mut().zip(&wiring).zip(&crossing) {
                link.loss = losses::loss(wire, crossing)?.map(Box::new);
            }
        }
        let probe = probe(&document.probe, document.duration, &links, flows.paths())?;
        check_positions(document, &nodes)?;
        let network = sleep_plan::Network { document, nodes: &nodes, wires: &wiring, flows: &flows, routes: &routes };
        let sleep = sleep::sleep(network, &links)?;
        let around = station::Around { document, nodes: &nodes, wires: &wiring, links: &links, flows: &flows };
        let stations = station::stations(around)?;
        let scenario = Self {
            name: document.name.clone(),
            duration: document.duration,
            warm_up: document.warm_up,
            mtu: u32::try_from(mtu.as_u64()).unwrap_or(u32::MAX),
            seed: document.seed,
            verify: document.verify,
            nodes: Arc::new(document.nodes.clone()),
            edges: Arc::new(wiring.iter().map(|wire| wire.edge).collect()),
            links: Arc::new(links),
            airs,
            tcp_flows: Arc::new(flows.tcp),
            datagram_flows: flows.datagrams,
            request_flows: flows.requests,
            routes: Arc::new(routes),
            power: named_models(document)?,
            probe,
            recording: None,
            phases: phases::phases(document)?,
            routing: sleep::routing(document)?,
            sleep,
            stations,
        };
        let longest = scenario.longest_run();
        if scenario.duration > longest {
            let message = format!("is {}; expected at most {longest} with so many links and flows", scenario.duration);
            return refuse("duration", message);
        }
        Ok(scenario)
    }

    /// Paths of all flows: TCP first, then datagrams, then requests.
    pub fn flow_paths(&self) -> impl Iterator<Item = &FlowPath> {
        let datagrams = self.datagram_flows.iter().map(|flow| &flow.path);
        let requests = self.request_flows.iter().map(|flow| &flow.path);
        self.tcp_flows.iter().map(|flow| &flow.path).chain(datagrams).chain(requests)
    }

    /// The maximum number of open request connections, over all flows.
    #[must_use]
    pub fn most_open(&self) -> usize {
        self.request_flows.iter().map(|flow| flow.most_open as usize).sum()
    }
}

fn refuse<T>(field: impl Into<String>, message: impl Into<String>) -> Result<T> {
    Err(ScenarioError::new(field, message))
}

fn check_frame(document: &Document) -> Result<()> {
    let (duration, warm_up, mtu) = (document.duration, document.warm_up, document.mtu);
    if duration.is_zero() || duration > LONGEST {
        return refuse("duration", format!("is {duration}; expected more than 0 s and at most {LONGEST}"));
    }
    if warm_up >= duration {
        return refuse("warm_up", format!("is {warm_up}; expected less than the duration, {duration}"));
    }
    if !(SMALLEST_MTU..=LARGEST_MTU).contains(&mtu.as_u64()) {
        return refuse("mtu", format!("is {} B; expected {SMALLEST_MTU} to {LARGEST_MTU} B", mtu.as_u64()));
    }
    check_seed(document.seed)
}

/// Checks that a seed fits in TOML's signed integers.
pub(super) fn check_seed(seed: u64) -> Result<()> {
    if i64::try_from(seed).is_err() {
        return refuse("seed", format!("is {seed}; expected 0 to {}", i64::MAX));
    }
    Ok(())
}

/// Checks that positions belong to nodes and are valid coordinates.
fn check_positions(document: &Document, nodes: &Nodes<'_>) -> Result<()> {
    for (name, (longitude, latitude)) in &document.position {
        let field = format!("position.{name}");
        node(nodes, &field, name)?;
        if !(-180.0..=180.0).contains(longitude) || !(-90.0..=90.0).contains(latitude) {
            let message = format!("is {longitude}, {latitude}; expected degrees of longitude and latitude");
            return refuse(field, message);
        }
    }
    Ok(())
}

/// Node names and their indices.
fn node_index(names: &[String]) -> Result<Nodes<'_>> {
    let mut index = BTreeMap::new();
    for (number, name) in names.iter().enumerate() {
        check_name("nodes", name)?;
        if index.insert(name.as_str(), number).is_some() {
            return refuse("nodes", format!("\"{name}\" is named twice; expected different names"));
        }
    }
    if index.len() < 2 {
        return refuse("nodes", format!("has {} names; expected at least two", index.len()));
    }
    Ok(index)
}

/// Checks that a name can be part of a path such as `link.N1-N2.rate`.
fn check_name(field: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains(['.', '=', '\n', '"']) {
        return refuse(field, format!("\"{name}\" is not a valid name; expected text without '.', '=' and quotes"));
    }
    Ok(())
}

fn node(nodes: &Nodes<'_>, field: &str, name: &str) -> Result<usize> {
    nodes.get(name).copied().ok_or_else(|| {
        let known: Vec<_> = nodes.keys().copied().collect();
        ScenarioError::new(field, format!("\"{name}\" is not a node; expected one of {}", listed(&known)))
    })
}

fn two_nodes(nodes: &Nodes<'_>, field: &str, from: &str, to: &str) -> Result<(usize, usize)> {
    let ends = (node(nodes, &format!("{field}.from"), from)?, node(nodes, &format!("{field}.to"), to)?);
    if ends.0 == ends.1 {
        return refuse(format!("{field}.to"), format!("\"{to}\" is also the sending node; expected another node"));
    }
    Ok(ends)
}

/// The power models. Their names differ and can be part of a metric's path.
fn named_models(document: &Document) -> Result<Vec<NamedPower>> {
    let mut models: Vec<NamedPower> = Vec::new();
    for (index, power) in document.power.iter().enumerate() {
        let named = power::named_power(index, power)?;
        // A share such as 0.25 puts a dot into a default name; names in the document may not have dots.
        if let Some(name) = &power.name {
            check_name(&format!("power.{index}.name"), name)?;
        }
        if models.iter().any(|other| other.name == named.name) {
            let message = format!("\"{}\" is named twice; expected different names", named.name);
            return refuse(format!("power.{index}.name"), message);
        }
        models.push(named);
    }
    Ok(models)
}

fn unique_names(links: &[LinkSpec], flows: &flows::Flows) -> Result<()> {
    let twice = |names: Vec<&str>, field: &str| {
        let mut sorted = names;
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => refuse(field, format!("\"{}\" is named twice; expected different names", pair[0])),
            None => Ok(()),
        }
    };
    twice(links.iter().map(|link| link.name.as_str()).collect(), "link")?;
    twice(flows.paths().map(|path| path.name.as_str()).collect(), "flow")
}

/// Resolves the links and flows of a probe.
pub(super) fn probe<'a>(
    wanted: &ProbeDocument,
    duration: Duration,
    links: &[LinkSpec],
    flows: impl Iterator<Item = &'a FlowPath>,
) -> Result<ProbeSpec> {
    if let Some(interval) = wanted.interval
        && (interval.is_zero() || duration.as_nanos() / interval.as_nanos() > MOST_BINS)
    {
        let message = format!("is {interval}; expected more than 0 s and at most {MOST_BINS} intervals in the run");
        return refuse("probe.interval", message);
    }
    let pick = |field: &str, names: &Option<Vec<String>>, known: Vec<&str>| {
        let find = |name: &String| {
            known.iter().position(|have| have == name).ok_or_else(|| {
                ScenarioError::new(field, format!("\"{name}\" is unknown; expected one of {}", listed(&known)))
            })
        };
        names.as_ref().map(|names| names.iter().map(find).collect::<Result<Vec<_>>>()).transpose()
    };
    Ok(ProbeSpec {
        interval: wanted.interval,
        window: wanted.window,
        drops: wanted.drops,
        segments: wanted.segments,
        events: wanted.events,
        requests: wanted.requests,
        stations: wanted.stations,
        arrivals: pick("probe.arrivals", &wanted.arrivals, links.iter().map(|link| link.name.as_str()).collect())?,
        nameless: false,
        links: pick("probe.links", &wanted.links, links.iter().map(|link| link.name.as_str()).collect())?,
        flows: pick("probe.flows", &wanted.flows, flows.map(|path| path.name.as_str()).collect())?,
    })
}
