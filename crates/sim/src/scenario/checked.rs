//! The checked scenario: every name of a document resolved, every value in range.

use super::document::{Document, Verify};
use super::flow::TcpFlow;
use super::frame::{Frame, Nodes, Result, check_printable, check_seed, node, node_index, refuse};
use super::link::{AirSpec, LinkSpec};
use super::report::{NamedPower, PhaseSpec, ProbeSpec};
use super::sleep::{PathMetric, RoutingSpec, SleepSpec, WhileAsleep};
use super::station::StationSpec;
use super::{arrival, flow, link, loss, paths, queue, report, sleep, station};
use crate::net::routing::{Edge, Routes};
use crate::traffic::{DatagramFlow, FlowPath, RequestFlow};
use netlull_network::driver::LONGEST;
use netlull_units::Duration;
use std::sync::Arc;

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

/// The smallest MTU that IPv4 allows (RFC 791).
const SMALLEST_MTU: u64 = 68;
/// The largest IPv4 packet.
const LARGEST_MTU: u64 = 65_535;

impl Scenario {
    /// Resolves the scenario of a single run. `two_way` gives the minimum two-way propagation delay per link for
    /// buffers in BDP.
    pub(super) fn resolve(document: &Document, two_way: &[Duration]) -> Result<Self> {
        let frame = frame(document)?;
        let mtu = document.mtu;
        let wiring = link::wire_up(&document.link, document.routing.metric == PathMetric::Hops, &frame.nodes)?;
        let flows = flow::flows(&document.flow, &frame)?;
        let routes = paths::routes(&frame.nodes, &wiring, &flows);
        let reach = paths::two_way_delays(&document.nodes, &wiring, &routes, &flows)?;
        let least = two_way.iter().copied().chain(std::iter::repeat(Duration::ZERO));
        // Not collected: a list of results grows by doubling, and keeps up to twice its memory.
        let mut links = Vec::with_capacity(wiring.len());
        for ((wire, own), least) in wiring.iter().zip(&reach).zip(least) {
            links.push(link::link(wire, queue::Measure { two_way: (*own).max(least), rate: wire.document.rate, mtu })?);
        }
        unique_names(&links, &flows)?;
        link::join_gateways(&wiring, &mut links)?;
        link::join_directions(frame.duration, &mut links)?;
        let airs = link::airs(&document.air, frame.sleeps, &wiring, &mut links)?;
        if document.link.iter().any(|link| link.loss.is_some() || !link.late.is_empty()) {
            let crossing = paths::crossing(&wiring, &routes, &flows);
            for ((link, wire), crossing) in links.iter_mut().zip(&wiring).zip(&crossing) {
                if let Some(document) = wire.document.loss.as_ref().filter(|_| wire.is_there()) {
                    link.loss = loss::loss(&format!("link.{}.loss", wire.name), document, crossing)?.map(Box::new);
                }
                if wire.is_there() && !wire.document.late.is_empty() {
                    let field = format!("link.{}.late", wire.name);
                    let late = arrival::late(&field, &wire.document.late, crossing, frame.sleeps)?;
                    link.arrival.get_or_insert_default().late = late;
                }
            }
        }
        let probe = report::probe(&document.probe, document.duration, &links, flows.paths())?;
        check_positions(document, &frame.nodes)?;
        let network = sleep::Network { frame: &frame, wires: &wiring, flows: &flows, routes: &routes, mtu };
        let sleep = sleep::sleep(&document.sleep, network, &mut links)?;
        let around = station::Around { frame: &frame, wires: &wiring, links: &links, flows: &flows };
        let stations = station::stations(&document.station, around)?;
        let power = report::named_models(&document.power, &frame.nodes, &links)?;
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
            power,
            probe,
            recording: None,
            phases: report::phases(&document.phase, &frame)?,
            routing: sleep::routing(&document.routing, frame.sleeps)?,
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

/// The frame of a document, checked.
fn frame(document: &Document) -> Result<Frame<'_>> {
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
    check_printable("name", &document.name)?;
    check_seed(document.seed)?;
    let nodes = node_index(&document.nodes)?;
    let (names, tcp) = (document.nodes.as_slice(), &document.tcp);
    let sleeps = document.sleep.iter().any(|entry| entry.while_asleep == WhileAsleep::Refuse);
    Ok(Frame { duration, warm_up, mtu, names, nodes, tcp, sleeps })
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

fn unique_names(links: &[LinkSpec], flows: &flow::Flows) -> Result<()> {
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
