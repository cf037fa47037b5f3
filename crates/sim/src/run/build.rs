//! Construction of a scenario's world.

use super::capacity::Capacities;
use super::control::Controllers;
use super::error::RunError;
use super::event_order::EventOrder;
use super::hosts::Hosts;
use super::lookahead::{Lookahead, Parts, Senders};
use super::net::Net;
use super::observers::Observers;
use super::phases::{Counts, PhaseEdges};
use super::requests::Requests;
use super::rerouting::Rerouting;
use super::stations::Stations;
use super::world::World;
use crate::net::Air;
use crate::net::flight::PacketStore;
use crate::net::ids::{FlowId, LinkId, NodeId, SourceId, StationId};
use crate::net::link::{Link, LinkParts};
use crate::net::routing::Routes;
use crate::probe::CaptureWriter;
use crate::scenario::{DatagramFlow, LinkSpec, Scenario};
use netlull_network::loss::{Loss, LossModel};
use netlull_network::noise::Noise;
use netlull_network::queue::QueueModel;
use netlull_network::queue::red::Red;
use netlull_network::random::Stream;
use netlull_network::schedule::Schedule;
use netlull_units::{Duration, Instant};

/// The least number of beats in a run.
const BEATS: u64 = 1024;
/// The most datagrams that all sources send between two beats.
const DATAGRAMS_PER_BEAT: f64 = 65_536.0;

impl World {
    /// The world of `scenario` at time zero. `capture` writes the packets of its links.
    ///
    /// # Errors
    /// [`RunError::Machine`] if a machine cannot be built.
    pub fn new(scenario: &Scenario, capture: Option<CaptureWriter>) -> Result<Self, RunError> {
        let observers = Observers::new(scenario, capture);
        let (mut net, mut hosts) = (net(scenario), Hosts::new(scenario));
        let rerouting = Rerouting::new(scenario);
        // If routes may change, the network must settle first.
        let lookahead = if rerouting.is_some() {
            net.routes = changeable(scenario);
            hosts.agents.iter_mut().for_each(|agent| agent.out = None);
            Lookahead::off()
        } else {
            let senders = Senders::new(scenario);
            // Scenarios with unreachable destinations are refused before they run.
            let paths = senders.paths(&net.routes, &scenario.edges).unwrap_or_default();
            let parts = Parts { links: &mut net.links, agents: &mut hosts.agents, routes: &mut net.routes };
            Lookahead::new(&senders, &paths, parts, &observers)
        };
        let mut world = Self {
            net,
            hosts,
            requests: Requests::new(scenario),
            controllers: Controllers::new(scenario)?,
            capacities: Capacities::new(scenario),
            stations: Stations::new(scenario)?,
            rerouting,
            lookahead,
            observers,
            baseline: Counts::default(),
            phase_edges: PhaseEdges::new(scenario),
        };
        world.first_events(scenario);
        Ok(world)
    }

    /// Schedules the first events.
    fn first_events(&mut self, scenario: &Scenario) {
        let net = &mut self.net;
        self.controllers.start(net);
        self.capacities.start(net);
        for (flow, spec) in FlowId::all(scenario.tcp_flows.len()).zip(scenario.tcp_flows.iter()) {
            net.schedule.set(net.order.source(flow), Hosts::start(scenario, spec));
        }
        self.stations.start(net);
        self.lookahead.next_beat(net);
        self.lookahead.first_looks(net, &self.hosts, &self.observers);
        for source in SourceId::all(self.hosts.sources.len()).filter(|&source| self.lookahead.has_events(source)) {
            let first = self.hosts.sources[source.index()].next();
            net.schedule.set(net.order.source(self.hosts.flow_of(source)), first);
        }
        self.requests.start(net);
        if !scenario.warm_up.is_zero() {
            net.schedule.set(net.order.warm_up(), Instant::ZERO + scenario.warm_up);
        }
        net.schedule.set(net.order.probe(), self.observers.recorder.next_bin(Instant::ZERO));
        net.schedule.set(net.order.phase_edge(), self.phase_edges.next());
        self.lookahead.set_horizon(net);
        self.settle();
    }
}

/// Routes that can change, to every destination of a packet.
fn changeable(scenario: &Scenario) -> Routes {
    let mut destinations: Vec<usize> = scenario.flow_paths().flat_map(|path| [path.from, path.to]).collect();
    destinations.sort_unstable();
    destinations.dedup();
    Routes::changeable(scenario.nodes.len(), &scenario.edges, &destinations)
}

/// The idle network of a scenario.
fn net(scenario: &Scenario) -> Net {
    let order = EventOrder::new(&scenario.components());
    let ids = LinkId::all(scenario.links.len());
    let scheduled_links: Vec<LinkId> = ids.filter(|link| scenario.links[link.index()].schedules_departures()).collect();
    Net {
        now: Instant::ZERO,
        end: Instant::ZERO + scenario.duration,
        events: 0,
        schedule: Schedule::new(order.count()),
        routes: Routes::clone(&scenario.routes),
        links: links(scenario, &order, &scheduled_links),
        store: PacketStore::new(),
        order,
        scheduled_links,
        beat: beat(scenario),
        horizon: 0,
        failure: None,
    }
}

/// The time between two beats: a fixed part of the run, but shorter if sources would send very many datagrams in it.
fn beat(scenario: &Scenario) -> Duration {
    let per_second = |flow: &DatagramFlow| flow.rate.as_f64() / f64::from(8 * flow.size);
    let datagrams: f64 = scenario.datagram_flows.iter().map(per_second).sum();
    let gap = scenario.duration / BEATS;
    let crowded = Duration::from_secs_f64(DATAGRAMS_PER_BEAT / datagrams).unwrap_or(gap);
    gap.min(crowded).max(Duration::from_nanos(1))
}

/// The links of a scenario, each with its controller, gateway or station.
fn links(scenario: &Scenario, order: &EventOrder, scheduled: &[LinkId]) -> Vec<Link> {
    let airs: Vec<Air> = scenario.airs.iter().map(|air| Air::new(air.overhead)).collect();
    let build = |(id, spec): (LinkId, &LinkSpec)| {
        let stream = |what: &str| Stream::new(scenario.seed, &format!("{what}.{}", spec.name));
        let loss = |model: &LossModel| Loss::new(model, stream("loss"));
        let (red, codel) = match spec.queue {
            QueueModel::DropTail => (None, None),
            QueueModel::Red(config) => (Some(Red::new(config, stream("queue"))), None),
            QueueModel::CoDel(config) => (None, Some(config)),
        };
        Link::new(LinkParts {
            to: NodeId::new(spec.to),
            controller: None,
            rate: spec.first_rate(),
            delay: spec.delay,
            buffer: spec.buffer,
            loss: spec.loss.as_deref().map(loss),
            noise: spec.noise.map(|model| Noise::new(model, stream("noise"))),
            air: spec.air.map(|air| airs[air].clone()),
            red,
            codel,
            delivery: order.delivery(id),
            departure: scheduled.binary_search(&id).ok().map(EventOrder::departure),
        })
    };
    let mut links: Vec<Link> = LinkId::all(scenario.links.len()).zip(scenario.links.iter()).map(build).collect();
    for control in scenario.links.iter().filter_map(|link| link.control.as_ref()) {
        control.acknowledgements.into_iter().for_each(|link| links[LinkId::new(link)].is_steered = true);
    }
    for (link, spec) in links.iter_mut().zip(scenario.links.iter()) {
        if spec.lateness_bound().is_some() {
            link.measure_lateness(spec.rate);
        }
    }
    for (station, spec) in StationId::all(scenario.stations.len()).zip(&scenario.stations) {
        let (down, up) = (LinkId::new(spec.down), LinkId::new(spec.up));
        [down, up].into_iter().for_each(|link| links[link].station = Some(station));
        links[down].is_attended = true;
    }
    links.iter_mut().for_each(|link| link.is_attended |= link.is_steered);
    links
}
