//! Sleeping links: their times, the plans that choose them, and the updates of routers.

use super::flows::Flows;
use super::links::Wire;
use super::offers::{Offer, offers};
use super::{FlowPath, LinkSpec, Nodes, Result, node, refuse};
use crate::net::ids::LinkId;
use crate::net::routing::link_state::{Announcement, Cable, Outage, Update};
use crate::net::routing::{Edge, Routes};
use crate::scenario::document::{Document, PlanDocument, SleepDocument, UpdateDocument};
use crate::scenario::{ScenarioError, listed};
use netlull_mechanism::ConfigError;
use netlull_mechanism::topology::{Demand, Graph, GraphError, Traffic};
use netlull_units::{BitRate, Instant};

/// The maximum number of hops if links sleep (the default of RFC 1700).
const DEFAULT_TTL: u8 = 64;

/// Routing of packets.
#[derive(Clone, Copy, Debug)]
pub struct RoutingSpec {
    /// Maximum number of hops of a packet; `None` if hops are not counted.
    pub ttl: Option<u8>,
    /// Announcement of sleeping and waking links to routers.
    pub update: Update,
}

/// A single sleep of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nap {
    /// The number of the cable.
    pub cable: usize,
    /// Time of the announcement.
    pub announced: Instant,
    /// Start of the sleep.
    pub asleep: Instant,
    /// Start of waking; [`Instant::NEVER`] if the cable is never woken.
    pub wakes: Instant,
    /// Time at which the cable is awake and announced.
    pub awake: Instant,
}

/// Sleeping links.
#[derive(Clone, Debug, Default)]
pub struct SleepSpec {
    /// The cables that sleep at least once.
    pub cables: Vec<Cable>,
    /// The sleeps, in the order of their announcements.
    pub naps: Vec<Nap>,
}

impl SleepSpec {
    /// The announcements of the cables' ends, sorted by time.
    #[must_use]
    pub fn announcements(&self) -> Vec<Announcement> {
        let both = |nap: &Nap| {
            let Nap { cable, announced, awake, .. } = *nap;
            [Announcement { at: announced, cable, up: false }, Announcement { at: awake, cable, up: true }]
        };
        let mut announcements: Vec<Announcement> = self.naps.iter().flat_map(both).collect();
        announcements.retain(|announcement| announcement.at < Instant::NEVER);
        announcements.sort_by_key(|announcement| announcement.at);
        announcements
    }

    /// The times in which cables carry nothing, sorted by time.
    #[must_use]
    pub fn outages(&self) -> Vec<Outage> {
        let outage = |nap: &Nap| Outage { cable: nap.cable, from: nap.asleep, to: nap.awake };
        let mut outages: Vec<Outage> = self.naps.iter().map(outage).collect();
        outages.sort_by_key(|outage| outage.from);
        outages
    }
}

/// The parts of a scenario that a plan uses.
#[derive(Clone, Copy)]
pub(super) struct Network<'a> {
    pub document: &'a Document,
    pub nodes: &'a Nodes<'a>,
    pub wires: &'a [Wire<'a>],
    pub flows: &'a Flows,
    pub routes: &'a Routes,
}

/// The routing options. Their defaults depend on the presence of sleeping links.
pub(super) fn routing(document: &Document) -> Result<RoutingSpec> {
    let written = &document.routing;
    let ttl = match written.ttl.map(|hops| (hops, u8::try_from(hops))) {
        None => (!document.sleep.is_empty()).then_some(DEFAULT_TTL),
        Some((_, Ok(hops @ 1..))) => Some(hops),
        Some((hops, _)) => return refuse("routing.ttl", format!("is {hops}; expected 1 to 255 hops")),
    };
    let update = match &written.update {
        UpdateDocument::Flooding(flooding) => {
            Update::Flooding { processing: flooding.processing, computation: flooding.computation }
        }
        UpdateDocument::Simultaneous(together) => Update::Simultaneous { after: together.after },
    };
    Ok(RoutingSpec { ttl, update })
}

/// Every sleep of every link. Sleeps of a link must not overlap.
pub(super) fn sleep(network: Network<'_>, links: &[LinkSpec]) -> Result<SleepSpec> {
    let (mut spec, document) = (SleepSpec::default(), network.document);
    for (index, written) in document.sleep.iter().enumerate() {
        let field = format!("sleep.{index}");
        if written.at >= document.duration {
            let message = format!("is {}; expected a time before the run ends at {}", written.at, document.duration);
            return refuse(format!("{field}.at"), message);
        }
        for (number, (field, cable)) in (0_u64..).zip(chosen(&field, written, network)?) {
            can_sleep(&field, &cable, links)?;
            let nap = nap(&field, written, number, spec.number(cable))?;
            spec.lie_down(&field, nap)?;
        }
    }
    spec.naps.sort_by_key(|nap| nap.announced);
    Ok(spec)
}

impl SleepSpec {
    /// The number of a cable, which is added if it is new.
    fn number(&mut self, cable: Cable) -> usize {
        self.cables.iter().position(|known| *known == cable).unwrap_or_else(|| {
            self.cables.push(cable);
            self.cables.len() - 1
        })
    }

    fn lie_down(&mut self, field: &str, nap: Nap) -> Result<()> {
        let same = self.naps.iter().filter(|other| other.cable == nap.cable);
        if let Some(other) = same.into_iter().find(|other| nap.announced <= other.awake && other.announced <= nap.awake)
        {
            let name = &self.cables[nap.cable].name;
            let until =
                if other.awake == Instant::NEVER { "the end of the run".to_owned() } else { other.awake.to_string() };
            let message = format!(
                "puts \"{name}\" to sleep, which sleeps from {} to {until}; expected another link",
                other.announced
            );
            return refuse(field, message);
        }
        self.naps.push(nap);
        Ok(())
    }
}

/// The cables of an entry, each with its field, in the order in which they fall asleep.
fn chosen(field: &str, written: &SleepDocument, network: Network<'_>) -> Result<Vec<(String, Cable)>> {
    match (&written.links, &written.plan) {
        (Some(names), None) if names.is_empty() => {
            refuse(format!("{field}.links"), "is empty; expected at least one link")
        }
        (Some(names), None) => {
            let find = |(number, name): (usize, &String)| {
                let field = format!("{field}.links.{number}");
                named(&field, name, network.wires).map(|cable| (field, cable))
            };
            names.iter().enumerate().map(find).collect()
        }
        (None, Some(plan)) => {
            let field = format!("{field}.plan");
            let wakes = written.wake.map_or(Instant::NEVER, |wake| Instant::ZERO + wake);
            let wires = planned(&field, plan, network, (Instant::ZERO + written.at, wakes))?;
            Ok(wires.into_iter().map(|wire| (field.clone(), cable(network.wires, wire))).collect())
        }
        _ => refuse(field, "has both or neither of `links` and `plan`; expected one of them"),
    }
}

/// The cable of a link.
fn named(field: &str, name: &str, wires: &[Wire<'_>]) -> Result<Cable> {
    match wires.iter().position(|wire| wire.name == name) {
        Some(place) => Ok(cable(wires, place)),
        None => {
            let known: Vec<&str> = wires.iter().filter(|wire| wire.is_there()).map(|wire| wire.name.as_str()).collect();
            let known = listed(&known);
            Err(ScenarioError::new(field, format!("\"{name}\" is not a link; expected one of {known}")))
        }
    }
}

/// The cable of the wire at `place`. It includes the adjacent wire, the other direction of a duplex link.
fn cable(wires: &[Wire<'_>], place: usize) -> Cable {
    let there = if wires[place].is_there() { place } else { place - 1 };
    let wires_of_it = if wires[there].document.duplex { there..there + 2 } else { there..there + 1 };
    Cable { name: wires[there].name.clone(), links: wires_of_it.map(LinkId::new).collect() }
}

/// Checks that a cable may sleep. A controller would not learn of the sleep, so the rate must be fixed.
fn can_sleep(field: &str, cable: &Cable, links: &[LinkSpec]) -> Result<()> {
    for link in cable.links.iter().map(|&link| &links[link.index()]) {
        let what = match (&link.control, &link.capacity) {
            (Some(_), _) => "controller",
            (None, Some(_)) => "varying capacity",
            (None, None) => continue,
        };
        return refuse(field, format!("\"{}\" has a {what}; expected a link of fixed rate", link.name));
    }
    Ok(())
}

fn nap(field: &str, written: &SleepDocument, number: u64, cable: usize) -> Result<Nap> {
    let later = written.spacing.saturating_mul(number);
    let announced = Instant::ZERO + written.at + later;
    let asleep = announced + written.drain;
    let wakes = written.wake.map_or(Instant::NEVER, |wake| Instant::ZERO + wake + later);
    if let Some(wake) = written.wake.filter(|wake| *wake <= written.at + written.drain) {
        let entry = field.split(".links").next().and_then(|entry| entry.split(".plan").next()).unwrap_or(field);
        let asleep = written.at + written.drain;
        return refuse(
            format!("{entry}.wake"),
            format!("is {}; expected a time after the first link has fallen asleep, at {asleep}", wake),
        );
    }
    Ok(Nap { cable, announced, asleep, wakes, awake: wakes + written.wake_time })
}

/// The part of the network known to a plan.
struct Known {
    /// For every node, true if the plan knows it.
    nodes: Vec<bool>,
    /// The number of each known node in the plan's graph, in the order of the scenario.
    number: Vec<usize>,
    graph: Graph,
    /// The wire of each link of the graph.
    wires: Vec<usize>,
}

/// The wires whose cables sleep, in the order in which they fall asleep. `span` is the time of their sleep.
fn planned(field: &str, plan: &PlanDocument, network: Network<'_>, span: (Instant, Instant)) -> Result<Vec<usize>> {
    let known = Known::new(field, plan.network.nodes.as_deref(), network)?;
    let traffic = if plan.algorithm.reads_traffic() {
        known.traffic(network, plan.traffic.unwrap_or_default().tcp_rate, span)
    } else {
        Traffic::default()
    };
    let refused = |error: ConfigError| ScenarioError::new(format!("{field}.{}", error.field), error.reason());
    let planned = plan.algorithm.plan(&known.graph, &traffic).map_err(refused)?;
    planned.off.into_iter().map(|link| known.wire(field, link)).collect()
}

impl Known {
    fn new(field: &str, chosen: Option<&[String]>, network: Network<'_>) -> Result<Self> {
        let Network { document, nodes: index, wires, .. } = network;
        if chosen.is_some_and(<[String]>::is_empty) {
            return refuse(format!("{field}.nodes"), "is an empty list; expected at least one node");
        }
        let mut nodes = vec![chosen.is_none(); document.nodes.len()];
        for (place, name) in chosen.into_iter().flatten().enumerate() {
            nodes[node(index, &format!("{field}.nodes.{place}"), name)?] = true;
        }
        let mut next = 0..;
        let number: Vec<usize> =
            nodes.iter().map(|&known| if known { next.next().unwrap_or_default() } else { 0 }).collect();
        let inside = |edge: &Edge| nodes[edge.from] && nodes[edge.to];
        let between = |wire: &Wire<'_>| wire.is_there() && wire.document.duplex && inside(&wire.edge);
        let wires: Vec<usize> = (0..wires.len()).filter(|&wire| between(&wires[wire])).collect();
        let ends = |&wire: &usize| (number[network.wires[wire].edge.from], number[network.wires[wire].edge.to]);
        let names = document.nodes.iter().zip(&nodes).filter(|(_, known)| **known).map(|(name, _)| name.clone());
        let names: Vec<String> = names.collect();
        let refused = |error: GraphError| {
            let message = format!("cannot choose among these duplex links: {error}");
            ScenarioError::new(field, message)
        };
        let graph = Graph::new(names.len(), wires.iter().map(ends).collect()).map_err(refused)?.with_names(names);
        if let Some(lost) = graph.unreached(0, |_| true) {
            let (name, first) = (graph.node_name(lost), graph.node_name(0));
            let message = format!("no duplex links lead from \"{first}\" to \"{name}\"; expected a connected network");
            return refuse(field, message);
        }
        Ok(Self { nodes, number, graph, wires })
    }

    /// The wire of a link of the graph, by the plan's number. A custom plan may return a wrong number.
    fn wire(&self, field: &str, link: usize) -> Result<usize> {
        self.wires.get(link).copied().ok_or_else(|| {
            let count = self.wires.len();
            ScenarioError::new(field, format!("puts link {link} to sleep; expected a number below {count}"))
        })
    }

    /// The traffic of the flows active in `span`, and the links that carry it.
    fn traffic(&self, network: Network<'_>, tcp_rate: BitRate, span: (Instant, Instant)) -> Traffic {
        let wires = || self.wires.iter().map(|&wire| &network.wires[wire]);
        Traffic {
            capacities: wires().map(|wire| wire.document.rate).collect(),
            weights: wires().map(|wire| wire.edge.cost).collect(),
            demands: self.demands(network, tcp_rate, span),
        }
    }

    /// The demands of the flows active in `span`, each between the first and last known node on its path.
    fn demands(&self, network: Network<'_>, tcp_rate: BitRate, span: (Instant, Instant)) -> Vec<Demand> {
        let Network { document, flows, .. } = network;
        let active = offers(&flows.tcp, &flows.datagrams, &flows.requests, document.duration)
            .filter(|offer| offer.is_active(span.0, span.1));
        let demand = |offer: Offer<'_>| {
            let rate = offer.rate.unwrap_or(tcp_rate);
            let (from, to) = self.crossed(offer.path, network)?;
            (!rate.is_zero() && from != to).then_some(Demand { from, to, rate })
        };
        active.filter_map(demand).collect()
    }

    /// The first and last known node on a flow's path.
    fn crossed(&self, path: &FlowPath, network: Network<'_>) -> Option<(usize, usize)> {
        let edges: Vec<Edge> = network.wires.iter().map(|wire| wire.edge).collect();
        let way = network.routes.path(path.from, path.to, &edges)?;
        let nodes = std::iter::once(path.from).chain(way.iter().map(|&link| edges[link.index()].to));
        let known: Vec<usize> = nodes.filter(|&node| self.nodes[node]).map(|node| self.number[node]).collect();
        Some((*known.first()?, *known.last()?))
    }
}
