//! The true values of the gateways' estimates: the flows on a link, and their round-trip times at the senders. No
//! estimator contributes to them, and they do not affect the run. [`FlowKeys`] has the keys
//! by which gateways distinguish connections.

use super::pool::Pool;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, FlowId, LinkId, NodeId};
use crate::net::routing::NextHop;
use crate::probe::{GatewaySample, GatewayTable, Table};
use crate::scenario::Scenario;
use netlull_mechanism::gateway::{FlowKey, spread};
use netlull_mechanism::link::Estimates;
use netlull_network::probe::{Load, Seen, Sums, Timed};
use netlull_tcp::Endpoint;
use netlull_units::Instant;

/// Fills the table `gateway`.
pub(super) struct GatewayProbe {
    table: GatewayTable,
    watched: Vec<Watched>,
    /// By half the number of a connection's agents.
    timed: Vec<Timed>,
}

/// The current ends of connections.
pub(super) struct Ends<'a> {
    /// The endpoints of TCP flows, by agent.
    pub endpoints: &'a [Endpoint],
    /// The flows of requests.
    pub pools: &'a [Pool],
    /// The first connection of a request.
    pub first_connection: FlowId,
}

/// A gateway's link, and the flows with data on it.
struct Watched {
    link: LinkId,
    /// TCP flows.
    flows: Vec<FlowId>,
    /// Flows of requests.
    pools: Vec<usize>,
    seen: Seen,
}

impl GatewayProbe {
    /// Creates a probe of the gateways on probed links; `None` without gateways or without bins.
    pub fn new(scenario: &Scenario) -> Option<Self> {
        scenario.probe.interval?;
        let wanted = |link: usize| scenario.probe.links.as_ref().is_none_or(|links| links.contains(&link));
        let steers = |link: &usize| {
            let control = scenario.links[*link].control.as_ref();
            control.is_some_and(|control| control.acknowledgements.is_some())
        };
        let links = (0..scenario.links.len()).filter(|&link| wanted(link)).filter(steers);
        let watched: Vec<Watched> = links.map(|link| Watched::new(scenario, link)).collect();
        (!watched.is_empty()).then(|| Self { table: GatewayTable::default(), watched, timed: Vec::new() })
    }

    /// Records a packet that is offered to a link with a controller.
    pub fn offered(&mut self, link: LinkId, packet: &Packet, keys: &FlowKeys) {
        if packet.segment.len == 0 {
            return;
        }
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.link == link) {
            let connection = packet.agent.flow();
            watched.seen.saw(connection.index(), keys.of(connection));
        }
    }

    /// Records a segment that a connection sends.
    pub fn sent(&mut self, now: Instant, connection: FlowId, key: FlowKey, sender: &Endpoint) {
        if connection.index() >= self.timed.len() {
            self.timed.resize_with(connection.index() + 1, Timed::default);
        }
        self.timed[connection.index()].sent(now, key, sender.snd_nxt());
    }

    /// Records an acknowledgement at a sender.
    pub fn turned(&mut self, now: Instant, connection: FlowId, sender: &Endpoint) {
        if let Some(timed) = self.timed.get_mut(connection.index()) {
            timed.acknowledged(now, sender.snd_una());
        }
    }

    /// Records the gateways' windows and estimates at the end of a bin, and the true values.
    pub fn sample(&mut self, now: Instant, ends: &Ends<'_>, gateway: impl Fn(LinkId) -> Option<Estimates>) {
        let Self { table, watched, timed } = self;
        for Watched { link, flows, pools, seen } in watched {
            let Some(gateway) = gateway(*link) else { continue };
            let mut sums = Sums::default();
            for &flow in &*flows {
                sums.add(load(&ends.endpoints[AgentId::sender(flow).index()]), timed.get(flow.index()));
            }
            for pool in pools.iter().map(|&pool| &ends.pools[pool]) {
                for (index, place) in pool.places.iter().enumerate() {
                    let connection = ends.first_connection.index() + pool.first_place as usize + index;
                    sums.add(load(&place.sender), timed.get(connection));
                }
            }
            table.push(now, link.number(), GatewaySample::of(gateway, sums.truth(seen.take())));
        }
        timed.iter_mut().for_each(Timed::restart);
    }

    /// The table.
    pub fn into_table(self) -> Table {
        self.table.into_table()
    }
}

impl Watched {
    fn new(scenario: &Scenario, link: usize) -> Self {
        let crosses = |path: &crate::scenario::FlowPath| crosses(scenario, path.from, path.to, link);
        let tcp = scenario.tcp_flows.iter().enumerate().filter(|(_, flow)| crosses(&flow.path));
        let pools = scenario.request_flows.iter().enumerate().filter(|(_, flow)| crosses(&flow.path));
        Self {
            link: LinkId::new(link),
            flows: tcp.map(|(index, _)| FlowId::new(index)).collect(),
            pools: pools.map(|(index, _)| index).collect(),
            seen: Seen::default(),
        }
    }
}

/// Returns true if the route between two nodes crosses a link. Checked scenarios have a route for every flow.
fn crosses(scenario: &Scenario, from: usize, to: usize, link: usize) -> bool {
    let mut node = from;
    while let NextHop::Link(next) | NextHop::Ahead(next) = scenario.routes.next_hop(NodeId::new(node), NodeId::new(to))
    {
        if next.index() == link {
            return true;
        }
        node = scenario.links[next.index()].to;
    }
    false
}

fn load(sender: &Endpoint) -> Load {
    Load::of(sender.snd_nxt(), sender.snd_una())
}

/// Numbers in place of a hash of addresses and ports. Keys differ between seeds, and between successive connections in
/// the same slot.
#[derive(Default)]
pub(super) struct FlowKeys {
    seed: u64,
    /// The keys by connection; empty without gateways.
    keys: Vec<FlowKey>,
}

impl FlowKeys {
    /// The keys of a scenario's flows.
    pub fn new(scenario: &Scenario) -> Self {
        let mut controls = scenario.links.iter().filter_map(|link| link.control.as_ref());
        if !controls.any(|control| control.mechanism.sees_segments()) {
            return Self::default();
        }
        let mut keys = Self { seed: scenario.seed, keys: vec![0; scenario.flow_paths().count()] };
        FlowId::all(keys.keys.len()).for_each(|connection| keys.opened(connection, 0));
        keys
    }

    /// Sets the key of the n-th connection of a flow when it opens in a slot.
    pub fn opened(&mut self, connection: FlowId, generation: u64) {
        if self.keys.is_empty() {
            return;
        }
        let place = connection.index();
        if place >= self.keys.len() {
            self.keys.resize(place + 1, 0);
        }
        self.keys[place] = spread(spread(spread(self.seed) ^ u64::from(connection.number())) ^ generation);
    }

    /// The key of a connection; the same for both directions.
    #[inline]
    pub fn of(&self, connection: FlowId) -> FlowKey {
        self.keys.get(connection.index()).copied().unwrap_or_default()
    }
}
