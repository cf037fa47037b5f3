//! Plans that choose the sleeping links: the scenario as a graph of its nodes and duplex links.

use super::flows::Flows;
use super::links::Wire;
use super::load::{self, Offer};
use super::{FlowPath, Nodes, Result, node, refuse};
use crate::net::routing::{Edge, Routes};
use crate::scenario::ScenarioError;
use crate::scenario::document::{Document, PlanDocument};
use netlull_mechanism::ConfigError;
use netlull_mechanism::topology::{Demand, Graph, GraphError, Traffic};
use netlull_units::{BitRate, Instant};

/// The parts of a scenario that a plan uses.
#[derive(Clone, Copy)]
pub(super) struct Network<'a> {
    pub document: &'a Document,
    pub nodes: &'a Nodes<'a>,
    pub wires: &'a [Wire<'a>],
    pub flows: &'a Flows,
    pub routes: &'a Routes,
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
pub(super) fn planned(
    field: &str,
    plan: &PlanDocument,
    network: Network<'_>,
    span: (Instant, Instant),
) -> Result<Vec<usize>> {
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
        let active = load::offers(&flows.tcp, &flows.datagrams, &flows.requests, document.duration)
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
