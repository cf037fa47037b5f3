//! From the document to the scenario that the simulator trusts: every name resolved, every value in range.

use super::document::{
    ArrivalsReading, BurstsDocument, CapacityDocument, CbrDocument, ControllerDocument, Document, FlowDocument,
    ForecastStartReading, InService, LinkDocument, LossDocument, PowerDocument, PractraDocument, QueueReading,
    RatesDocument, TcpFlowDocument, TransitionPowerReading, Verify,
};
use super::error::ScenarioError;
use super::quantity::{BufferSize, Quantity, TransferSize};
use super::tcp_options;
use crate::net::buffer::Buffer;
use crate::net::routing::{Edge, Routes};
use netlull_mechanism::rate::{ArrivalCount, Evaluate, ForecastStart, PractRaConfig, QueueCount, RateSet};
use netlull_power::{BelowFloor, IdealModel, PowerModel, Scaling, TransitionPower};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, ScenarioError>;

/// A scenario that is ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Simulated time.
    pub duration: Duration,
    /// Results are measured from here.
    pub warm_up: Duration,
    /// Seed of the random streams.
    pub seed: u64,
    /// The verifier.
    pub verify: Verify,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Links.
    pub links: Vec<LinkSpec>,
    /// The links as routing sees them.
    pub edges: Vec<Edge>,
    /// TCP flows, in the order of the document, `count` unfolded.
    pub tcp_flows: Vec<TcpFlow>,
    /// Datagram flows, in the order of the document.
    pub datagram_flows: Vec<DatagramFlow>,
    /// Routes to every node that a packet is for.
    pub routes: Routes,
    /// Power models to report.
    pub power: Vec<NamedPower>,
    /// What to record.
    pub probe: ProbeSpec,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
    /// (Maximum) rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Buffer.
    pub buffer: Buffer,
    /// Rate controller.
    pub control: Option<Control>,
    /// Varying capacity.
    pub capacity: Option<Capacity>,
    /// Probability of random loss.
    pub loss: Option<f64>,
}

/// A rate controller and the link's readings of it.
#[derive(Clone, Debug)]
pub struct Control {
    /// practRA's parameters.
    pub practra: PractRaConfig,
    /// The packet being sent when the rate changes.
    pub in_service: InService,
    /// The power charged in a transition.
    pub transition_power: TransitionPower,
}

/// A capacity redrawn uniformly on [min, max] after exponential intervals.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Lowest.
    pub min: BitRate,
    /// Highest.
    pub max: BitRate,
    /// Mean interval.
    pub mean_interval: Duration,
}

/// Where a flow goes.
#[derive(Clone, Debug)]
pub struct FlowPath {
    /// The flow's name.
    pub name: String,
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct TcpFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// When it opens, before jitter.
    pub start: Instant,
    /// The opening is put off by a time drawn uniformly below this.
    pub jitter: Duration,
    /// How much it sends.
    pub size: TransferSize,
    /// TCP options.
    pub config: netlull_tcp::Config,
}

/// When a datagram source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalPattern {
    /// At a constant rate.
    Constant,
    /// A Poisson process.
    Poisson,
    /// Constant within bursts of exponential length, one per cycle.
    Bursts {
        /// From the start of a burst to the start of the next.
        cycle: Duration,
        /// Mean length.
        mean_on: Duration,
    },
}

/// An open-loop source of datagrams.
#[derive(Clone, Debug)]
pub struct DatagramFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// When it sends.
    pub pattern: ArrivalPattern,
    /// Rate (constant, mean, or within a burst).
    pub rate: BitRate,
    /// Size of each packet on the wire, in bytes.
    pub size: u32,
    /// First packet.
    pub start: Instant,
    /// Nothing is sent from here on.
    pub stop: Instant,
}

impl DatagramFlow {
    /// The kind as the document says it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.pattern {
            ArrivalPattern::Constant => "cbr",
            ArrivalPattern::Poisson => "poisson",
            ArrivalPattern::Bursts { .. } => "bursts",
        }
    }
}

/// A power model under a name.
#[derive(Clone, Debug)]
pub struct NamedPower {
    /// Name in results.
    pub name: String,
    /// The model.
    pub model: PowerModel,
}

/// What to record.
#[derive(Clone, Debug, Default)]
pub struct ProbeSpec {
    /// Width of bins.
    pub interval: Option<Duration>,
    /// Congestion windows at every change.
    pub window: bool,
    /// Drops.
    pub drops: bool,
    /// Which links, by index; all if `None`.
    pub links: Option<Vec<usize>>,
    /// Which flows, by index (TCP flows first); all if `None`.
    pub flows: Option<Vec<usize>>,
}

/// The longest run: room for sums of times in 64 bits.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);
/// An IPv4 header and a UDP header.
const DATAGRAM_HEADER: u64 = 28;
/// The smallest MTU that IPv4 allows (RFC 791).
const SMALLEST_MTU: u64 = 68;
/// The largest IPv4 packet.
const LARGEST_MTU: u64 = 65_535;
/// Rates above this overflow the serialiser's arithmetic.
const FASTEST: BitRate = BitRate::from_mbps(1_000_000_000);
/// More bins than this are a mistake.
const MOST_BINS: u64 = 10_000_000;

impl Scenario {
    /// Checks a document and resolves every name in it.
    ///
    /// # Errors
    /// Names the first field that is wrong, its value and what was expected.
    pub fn from_document(document: &Document) -> Result<Self> {
        check_frame(document)?;
        let nodes = node_index(&document.nodes)?;
        let mtu = document.mtu.0;
        let wiring = wire_up(document, &nodes)?;
        let (tcp_flows, datagram_flows) = flows(document, &nodes)?;
        let routes = routes(&nodes, &wiring, &tcp_flows, &datagram_flows);
        let reach = two_way_delays(&wiring, &routes, &tcp_flows, &datagram_flows)?;
        let links = wiring
            .iter()
            .zip(&reach)
            .map(|(wire, two_way)| link(wire, *two_way, mtu))
            .collect::<Result<Vec<_>>>()?;
        unique_names(&links, &tcp_flows, &datagram_flows)?;
        let probe = probe(document, &links, &tcp_flows, &datagram_flows)?;
        Ok(Self {
            name: document.name.clone(),
            duration: document.duration.0,
            warm_up: document.warm_up.0,
            seed: document.seed,
            verify: document.verify,
            nodes: document.nodes.clone(),
            edges: wiring.iter().map(|wire| wire.edge).collect(),
            links,
            tcp_flows,
            datagram_flows,
            routes,
            power: document.power.iter().enumerate().map(|(index, power)| named_power(index, power)).collect::<Result<_>>()?,
            probe,
        })
    }

    /// Paths and kinds of all flows: TCP first, then datagrams.
    pub fn flow_paths(&self) -> impl Iterator<Item = &FlowPath> {
        let datagrams = self.datagram_flows.iter().map(|flow| &flow.path);
        self.tcp_flows.iter().map(|flow| &flow.path).chain(datagrams)
    }
}

fn refuse<T>(field: impl Into<String>, message: impl Into<String>) -> Result<T> {
    Err(ScenarioError::new(field, message))
}

fn check_frame(document: &Document) -> Result<()> {
    let (duration, warm_up, mtu) = (document.duration.0, document.warm_up.0, document.mtu.0);
    if duration.is_zero() || duration > LONGEST {
        return refuse("duration", format!("is {duration}; expected more than 0 s and at most {LONGEST}"));
    }
    if warm_up >= duration {
        return refuse("warm_up", format!("is {warm_up}; expected less than the duration, {duration}"));
    }
    if !(SMALLEST_MTU..=LARGEST_MTU).contains(&mtu.as_u64()) {
        return refuse("mtu", format!("is {} B; expected {SMALLEST_MTU} to {LARGEST_MTU} B", mtu.as_u64()));
    }
    if i64::try_from(document.seed).is_err() {
        return refuse("seed", format!("is {}; expected 0 to {}", document.seed, i64::MAX));
    }
    Ok(())
}

/// Node names and their indices.
fn node_index(names: &[String]) -> Result<BTreeMap<&str, usize>> {
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

/// A name must fit into a path such as `link.N1-N2.rate`.
fn check_name(field: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.contains(['.', '=', '\n', '"']) {
        return refuse(field, format!("\"{name}\" is no name; expected text without '.', '=' and quotes"));
    }
    Ok(())
}

fn node(nodes: &BTreeMap<&str, usize>, field: &str, name: &str) -> Result<usize> {
    nodes.get(name).copied().ok_or_else(|| {
        let known: Vec<_> = nodes.keys().copied().collect();
        ScenarioError::new(field, format!("\"{name}\" is no node; expected one of {}", known.join(", ")))
    })
}

fn two_nodes(nodes: &BTreeMap<&str, usize>, field: &str, from: &str, to: &str) -> Result<(usize, usize)> {
    let ends = (node(nodes, &format!("{field}.from"), from)?, node(nodes, &format!("{field}.to"), to)?);
    if ends.0 == ends.1 {
        return refuse(format!("{field}.to"), format!("\"{to}\" is where it comes from; expected another node"));
    }
    Ok(ends)
}

/// One direction of a link of the document.
struct Wire<'a> {
    name: String,
    document: &'a LinkDocument,
    edge: Edge,
    way: Way,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

fn wire_up<'a>(document: &'a Document, nodes: &BTreeMap<&str, usize>) -> Result<Vec<Wire<'a>>> {
    let mut wires = Vec::new();
    for link in &document.link {
        let name = link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to));
        let field = format!("link.{name}");
        check_name(&format!("{field}.name"), &name)?;
        let (from, to) = two_nodes(nodes, &field, &link.from, &link.to)?;
        if link.cost == 0 {
            return refuse(format!("{field}.cost"), "is 0; expected 1 or more");
        }
        wires.push(Wire { name, document: link, edge: Edge { from, to, cost: link.cost }, way: Way::There });
        if link.duplex {
            let name = format!("{}-{}", link.to, link.from);
            wires.push(Wire { name, document: link, edge: Edge { from: to, to: from, cost: link.cost }, way: Way::Back });
        }
    }
    Ok(wires)
}

fn link(wire: &Wire<'_>, two_way: Duration, mtu: Bytes) -> Result<LinkSpec> {
    let (document, field) = (wire.document, format!("link.{}", wire.name));
    let rate = document.rate.0;
    if rate.is_zero() || rate > FASTEST {
        return refuse(format!("{field}.rate"), format!("is {rate}; expected more than 0 b/s and at most {FASTEST}"));
    }
    let there = wire.way == Way::There;
    let control = document.controller.as_ref().filter(|_| there).map(|doc| control(&field, doc, rate)).transpose()?;
    let capacity = document.capacity.as_ref().filter(|_| there).map(|doc| capacity(&field, doc, rate)).transpose()?;
    if control.is_some() && capacity.is_some() {
        return refuse(format!("{field}.capacity"), "stands beside a controller; expected one or the other");
    }
    Ok(LinkSpec {
        name: wire.name.clone(),
        from: wire.edge.from,
        to: wire.edge.to,
        rate,
        delay: document.delay.0,
        buffer: buffer(&field, document, two_way, mtu)?,
        control,
        capacity,
        loss: document.loss.as_ref().filter(|_| there).map(|doc| loss(&field, *doc)).transpose()?,
    })
}

/// A buffer in BDP holds rate x two-way propagation delay in packets of one MTU, rounded to the nearest.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn buffer(field: &str, document: &LinkDocument, two_way: Duration, mtu: Bytes) -> Result<Buffer> {
    let field = format!("{field}.buffer");
    match document.buffer {
        BufferSize::Unlimited => Ok(Buffer::Unlimited),
        BufferSize::Packets(0) => refuse(field, "holds 0 packets; expected at least 1"),
        BufferSize::Packets(packets) => Ok(Buffer::Packets(packets)),
        BufferSize::Bytes(bytes) if bytes < mtu => {
            refuse(field, format!("is {} B, less than one packet; expected at least {} B", bytes.as_u64(), mtu.as_u64()))
        }
        BufferSize::Bytes(bytes) => Ok(Buffer::Bytes(bytes)),
        BufferSize::BandwidthDelay(_) if document.buffer_floor == 0 => {
            refuse(format!("{field}_floor"), "is 0 packets; expected at least 1")
        }
        BufferSize::BandwidthDelay(factor) => {
            let bits = document.rate.0.as_f64() * two_way.as_secs_f64() * factor;
            let packets = (bits / mtu.as_bits() as f64).round();
            Ok(Buffer::Packets((packets as u64).max(document.buffer_floor)))
        }
    }
}

fn control(field: &str, document: &ControllerDocument, rate: BitRate) -> Result<Control> {
    let ControllerDocument::Practra(document) = document;
    let field = format!("{field}.controller");
    let practra = practra(&field, document)?;
    if practra.rates.highest() != rate {
        let message = format!("end at {}; expected the link's rate, {rate}, as the highest", practra.rates.highest());
        return refuse(format!("{field}.rates"), message);
    }
    let transition_power = match document.transition_power {
        TransitionPowerReading::Higher => TransitionPower::Higher,
        TransitionPowerReading::New => TransitionPower::New,
        TransitionPowerReading::Old => TransitionPower::Old,
    };
    Ok(Control { practra, in_service: document.in_service, transition_power })
}

fn practra(field: &str, document: &PractraDocument) -> Result<PractRaConfig> {
    let rates = match &document.rates {
        RatesDocument::List(list) => RateSet::from_list(&list.iter().map(|rate| rate.0).collect::<Vec<_>>()),
        RatesDocument::Steps(steps) => RateSet::from_range(steps.from.0, steps.to.0, steps.step.0),
    };
    let refused = |error: netlull_mechanism::ConfigError| {
        ScenarioError::new(format!("{field}.{}", error.field), format!("is {}; expected {}", error.value, error.expected))
    };
    let config = PractRaConfig {
        transition: document.transition.0,
        min_interval: document.min_interval.0,
        delay_bound: document.delay_bound.0,
        forecast_weight: document.forecast_weight,
        forecast_interval: document.forecast_interval.map(|interval| interval.0),
        forecast_start: match document.forecast_start {
            ForecastStartReading::FirstSample => ForecastStart::FirstSample,
            ForecastStartReading::Zero => ForecastStart::Zero,
        },
        evaluate: document.tick.map_or(Evaluate::EveryEvent, |tick| Evaluate::Tick(tick.0)),
        queue: match document.queue {
            QueueReading::Waiting => QueueCount::Waiting,
            QueueReading::WaitingAndInService => QueueCount::WaitingAndInService,
        },
        arrivals: match document.arrivals {
            ArrivalsReading::Offered => ArrivalCount::Offered,
            ArrivalsReading::Accepted => ArrivalCount::Accepted,
        },
        initial_rate: document.initial_rate.map(|rate| rate.0),
        ..PractRaConfig::new(rates.map_err(refused)?)
    };
    config.validate().map_err(refused)?;
    Ok(config)
}

fn capacity(field: &str, document: &CapacityDocument, rate: BitRate) -> Result<Capacity> {
    let CapacityDocument::UniformRedraw(document) = document;
    let (min, max, mean_interval) = (document.min.0, document.max.0, document.mean_interval.0);
    let field = format!("{field}.capacity");
    if min.is_zero() {
        return refuse(format!("{field}.min"), "is 0 b/s; expected more");
    }
    if max <= min || max > rate {
        let message = format!("is {max}; expected more than min, {min}, and at most the link's rate, {rate}");
        return refuse(format!("{field}.max"), message);
    }
    if mean_interval.is_zero() {
        return refuse(format!("{field}.mean_interval"), "is 0 s; expected more");
    }
    Ok(Capacity { min, max, mean_interval })
}

fn loss(field: &str, document: LossDocument) -> Result<f64> {
    let LossDocument::Bernoulli(document) = document;
    if !(0.0..1.0).contains(&document.probability) {
        return refuse(
            format!("{field}.loss.probability"),
            format!("is {}; expected 0 or more and less than 1", document.probability),
        );
    }
    Ok(document.probability)
}

fn flows(document: &Document, nodes: &BTreeMap<&str, usize>) -> Result<(Vec<TcpFlow>, Vec<DatagramFlow>)> {
    let (mut tcp, mut datagrams) = (Vec::new(), Vec::new());
    for flow in &document.flow {
        match flow {
            FlowDocument::Tcp(flow) => tcp.extend(tcp_flows(document, nodes, flow)?),
            FlowDocument::Cbr(flow) => datagrams.push(steady_flow(document, nodes, flow, ArrivalPattern::Constant)?),
            FlowDocument::Poisson(flow) => datagrams.push(steady_flow(document, nodes, flow, ArrivalPattern::Poisson)?),
            FlowDocument::Bursts(flow) => datagrams.push(burst_flow(document, nodes, flow)?),
        }
    }
    Ok((tcp, datagrams))
}

fn flow_path(nodes: &BTreeMap<&str, usize>, name: &str, from: &str, to: &str) -> Result<FlowPath> {
    check_name("flow.name", name)?;
    let (from, to) = two_nodes(nodes, &format!("flow.{name}"), from, to)?;
    Ok(FlowPath { name: name.to_owned(), from, to })
}

/// A start must fall into the run.
fn start(field: &str, start: Duration, document: &Document) -> Result<Instant> {
    if start >= document.duration.0 {
        let message = format!("is {start}; expected a time before the run ends at {}", document.duration.0);
        return refuse(format!("{field}.start"), message);
    }
    Ok(Instant::ZERO + start)
}

fn tcp_flows(document: &Document, nodes: &BTreeMap<&str, usize>, flow: &TcpFlowDocument) -> Result<Vec<TcpFlow>> {
    let path = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    if !(1..=100_000).contains(&flow.count) {
        return refuse(format!("{field}.count"), format!("is {}; expected 1 to 100000", flow.count));
    }
    let first = start(&field, flow.start.0, document)?;
    let config = tcp_options::config(&document.tcp, &flow.tcp, &field, document.mtu.0)?;
    let numbered = |number: u32| match flow.count {
        1 => path.clone(),
        _ => FlowPath { name: format!("{}-{}", path.name, number + 1), ..path.clone() },
    };
    Ok((0..flow.count)
        .map(|number| TcpFlow {
            path: numbered(number),
            start: first + flow.spacing.0.saturating_mul(u64::from(number)),
            jitter: flow.jitter.0,
            size: flow.size,
            config: config.clone(),
        })
        .collect())
}

fn steady_flow(
    document: &Document,
    nodes: &BTreeMap<&str, usize>,
    flow: &CbrDocument,
    pattern: ArrivalPattern,
) -> Result<DatagramFlow> {
    let field = format!("flow.{}", flow.name);
    Ok(DatagramFlow {
        path: flow_path(nodes, &flow.name, &flow.from, &flow.to)?,
        pattern,
        rate: flow_rate(&field, flow.rate.0)?,
        size: datagram_size(&field, flow.packet, document.mtu.0)?,
        start: start(&field, flow.start.0, document)?,
        stop: flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop.0),
    })
}

fn burst_flow(document: &Document, nodes: &BTreeMap<&str, usize>, flow: &BurstsDocument) -> Result<DatagramFlow> {
    let field = format!("flow.{}", flow.name);
    let (cycle, mean_on) = (flow.cycle.0, flow.mean_on.0);
    if cycle.is_zero() {
        return refuse(format!("{field}.cycle"), "is 0 s; expected more");
    }
    if mean_on.is_zero() {
        return refuse(format!("{field}.mean_on"), "is 0 s; expected more");
    }
    Ok(DatagramFlow {
        path: flow_path(nodes, &flow.name, &flow.from, &flow.to)?,
        pattern: ArrivalPattern::Bursts { cycle, mean_on },
        rate: flow_rate(&field, flow.rate.0)?,
        size: datagram_size(&field, flow.packet, document.mtu.0)?,
        start: start(&field, flow.start.0, document)?,
        stop: flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop.0),
    })
}

fn flow_rate(field: &str, rate: BitRate) -> Result<BitRate> {
    if rate.is_zero() || rate > FASTEST {
        return refuse(format!("{field}.rate"), format!("is {rate}; expected more than 0 b/s and at most {FASTEST}"));
    }
    Ok(rate)
}

#[allow(clippy::cast_possible_truncation)]
fn datagram_size(field: &str, packet: Option<Quantity<Bytes>>, mtu: Bytes) -> Result<u32> {
    let size = packet.map_or(mtu, |packet| packet.0).as_u64();
    if !(DATAGRAM_HEADER..=mtu.as_u64()).contains(&size) {
        let message = format!("is {size} B; expected {DATAGRAM_HEADER} B of headers to the MTU, {} B", mtu.as_u64());
        return refuse(format!("{field}.packet"), message);
    }
    Ok(size as u32)
}

fn routes(nodes: &BTreeMap<&str, usize>, wires: &[Wire<'_>], tcp: &[TcpFlow], datagrams: &[DatagramFlow]) -> Routes {
    let ends = tcp.iter().flat_map(|flow| [flow.path.to, flow.path.from]).chain(datagrams.iter().map(|flow| flow.path.to));
    let mut destinations: Vec<usize> = ends.collect();
    destinations.sort_unstable();
    destinations.dedup();
    Routes::shortest(nodes.len(), &wires.iter().map(|wire| wire.edge).collect::<Vec<_>>(), &destinations)
}

/// For every link, the two-way propagation delay of the longest route of any flow across it; for a link that no
/// flow crosses, twice its own. Refuses a flow that cannot reach its destination, or TCP's acknowledgements theirs.
fn two_way_delays(
    wires: &[Wire<'_>],
    routes: &Routes,
    tcp: &[TcpFlow],
    datagrams: &[DatagramFlow],
) -> Result<Vec<Duration>> {
    let edges: Vec<Edge> = wires.iter().map(|wire| wire.edge).collect();
    let path = |flow: &FlowPath, from: usize, to: usize, whose: &str| {
        routes.path(from, to, &edges).ok_or_else(|| {
            let message = format!("{whose} cannot get there: no links lead from node {from} to node {to}");
            ScenarioError::new(format!("flow.{}.to", flow.name), message)
        })
    };
    let delay = |path: &[u32]| path.iter().map(|&link| wires[link as usize].document.delay.0).sum::<Duration>();
    let mut longest = vec![Duration::ZERO; wires.len()];
    let mut across = |path: &[u32], two_way: Duration| {
        for &link in path {
            longest[link as usize] = longest[link as usize].max(two_way);
        }
    };
    for flow in tcp.iter().map(|flow| &flow.path) {
        let there = path(flow, flow.from, flow.to, "its data")?;
        let back = path(flow, flow.to, flow.from, "the acknowledgements of its data")?;
        let two_way = delay(&there) + delay(&back);
        across(&there, two_way);
        across(&back, two_way);
    }
    for flow in datagrams.iter().map(|flow| &flow.path) {
        let there = path(flow, flow.from, flow.to, "its data")?;
        across(&there, delay(&there) * 2);
    }
    let own = |(longest, wire): (Duration, &Wire<'_>)| longest.max(wire.document.delay.0 * 2);
    Ok(longest.into_iter().zip(wires).map(own).collect())
}

fn unique_names(links: &[LinkSpec], tcp: &[TcpFlow], datagrams: &[DatagramFlow]) -> Result<()> {
    let twice = |names: Vec<&str>, field: &str| {
        let mut sorted = names;
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => refuse(field, format!("\"{}\" is named twice; expected different names", pair[0])),
            None => Ok(()),
        }
    };
    twice(links.iter().map(|link| link.name.as_str()).collect(), "link")?;
    let flows = tcp.iter().map(|flow| flow.path.name.as_str()).chain(datagrams.iter().map(|flow| flow.path.name.as_str()));
    twice(flows.collect(), "flow")
}

fn probe(document: &Document, links: &[LinkSpec], tcp: &[TcpFlow], datagrams: &[DatagramFlow]) -> Result<ProbeSpec> {
    let wanted = &document.probe;
    if let Some(Quantity(interval)) = wanted.interval
        && (interval.is_zero() || document.duration.0.as_nanos() / interval.as_nanos() > MOST_BINS)
    {
        let message = format!("is {interval}; expected more than 0 s and at most {MOST_BINS} intervals in the run");
        return refuse("probe.interval", message);
    }
    let flow_names: Vec<_> = tcp.iter().map(|flow| &flow.path).chain(datagrams.iter().map(|flow| &flow.path)).collect();
    let pick = |field: &str, names: &Option<Vec<String>>, known: Vec<&str>| {
        let find = |name: &String| {
            known.iter().position(|have| have == name).ok_or_else(|| {
                ScenarioError::new(field, format!("\"{name}\" is unknown; expected of {}", known.join(", ")))
            })
        };
        names.as_ref().map(|names| names.iter().map(find).collect::<Result<Vec<_>>>()).transpose()
    };
    Ok(ProbeSpec {
        interval: wanted.interval.map(|interval| interval.0),
        window: wanted.window,
        drops: wanted.drops,
        links: pick("probe.links", &wanted.links, links.iter().map(|link| link.name.as_str()).collect())?,
        flows: pick("probe.flows", &wanted.flows, flow_names.iter().map(|path| path.name.as_str()).collect())?,
    })
}

fn named_power(index: usize, document: &PowerDocument) -> Result<NamedPower> {
    let field = format!("power.{index}");
    let Some(model) = PowerModel::by_name(&document.model) else {
        let known: Vec<_> = PowerModel::catalogue().iter().map(|info| info.name).collect();
        let message = format!("\"{}\" is unknown; expected one of {}", document.model, known.join(", "));
        return refuse(format!("{field}.model"), message);
    };
    let model = match (model, document.static_fraction, document.phi) {
        (model, None, None) => model,
        (PowerModel::Ideal(ideal), share, phi) => PowerModel::Ideal(ideal_with(&field, ideal, share, phi)?),
        (PowerModel::Device(_), _, _) => {
            return refuse(field, format!("\"{}\" is measured; expected no static_fraction or phi", document.model));
        }
    };
    let default_name = || match document.static_fraction {
        Some(share) if share > 0.0 => format!("{}-{share}", document.model),
        _ => document.model.clone(),
    };
    Ok(NamedPower { name: document.name.clone().unwrap_or_else(default_name), model })
}

fn ideal_with(field: &str, model: IdealModel, share: Option<f64>, phi: Option<f64>) -> Result<IdealModel> {
    let refused = |error: netlull_power::ModelError| {
        ScenarioError::new(format!("{field}.{}", error.field), format!("is {}; expected {}", error.value, error.expected))
    };
    let below = |scaling: Scaling| match scaling {
        Scaling::Voltage { below_floor, .. } => Some(below_floor),
        Scaling::Frequency => None,
    };
    let scaling = match (model.scaling(), phi) {
        (scaling, None) => scaling,
        (Scaling::Frequency, Some(_)) => {
            return refuse(format!("{field}.phi"), "is given for frequency scaling; expected no phi");
        }
        (voltage, Some(phi)) => {
            Scaling::Voltage { phi, below_floor: below(voltage).unwrap_or(BelowFloor::FrequencyStillScales) }
        }
    };
    IdealModel::new(share.unwrap_or(model.static_fraction()), scaling).map_err(refused)
}
