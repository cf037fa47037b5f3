//! Conversion of a document to a checked scenario: every name resolved, every value in range.

mod access;
mod flows;
mod links;
mod losses;
mod offers;
mod paths;
mod queueing;
mod recording;
mod report;
mod requests;
mod sleep;
mod station;

use super::document::{Document, Verify};
use super::{ScenarioError, listed};
use crate::net::routing::{Edge, Routes};
pub use crate::traffic::{ArrivalPattern, DatagramFlow, FlowPath, RequestFlow};
pub use flows::{TcpFlow, Writes};
pub use links::{AirSpec, Capacity, Control, LinkSpec};
use netlull_document::check_ranges;
use netlull_mechanism::ConfigError;
use netlull_network::driver::LONGEST;
use netlull_units::Duration;
pub use offers::Offer;
pub use recording::Recording;
pub(super) use report::probe;
pub use report::{NamedPower, PhaseSpec, ProbeSpec};
use schemars::JsonSchema;
use serde::Serialize;
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

/// The smallest MTU that IPv4 allows (RFC 791).
const SMALLEST_MTU: u64 = 68;
/// The largest IPv4 packet.
const LARGEST_MTU: u64 = 65_535;

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
        let airs = links::airs(document, &wiring, &mut links)?;
        if document.link.iter().any(|link| link.loss.is_some()) {
            let crossing = paths::crossing(&wiring, &routes, &flows);
            for ((link, wire), crossing) in links.iter_mut().zip(&wiring).zip(&crossing) {
                link.loss = losses::loss(wire, crossing)?.map(Box::new);
            }
        }
        let probe = report::probe(&document.probe, document.duration, &links, flows.paths())?;
        check_positions(document, &nodes)?;
        let network = sleep::Network { document, nodes: &nodes, wires: &wiring, flows: &flows, routes: &routes };
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
            power: report::named_models(document)?,
            probe,
            recording: None,
            phases: report::phases(document)?,
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

/// Checks the ranges in the description of a part of the document.
pub(super) fn check<T: Serialize + JsonSchema + 'static>(field: &str, part: &T) -> Result<()> {
    check_ranges(part).map_err(|error| refused(field, &error))
}

/// Converts a mechanism's error to one with the field's path.
pub(in crate::scenario) fn refused(field: &str, error: &ConfigError) -> ScenarioError {
    ScenarioError::new(format!("{field}.{}", error.field), error.reason())
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
