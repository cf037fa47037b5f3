//! From a scenario to its world.

use super::ahead::{AgentAhead, Ahead, Parts, Senders};
use super::control::{Controller, FlowKeys};
use super::parts::{Agent, AgentCounters, Baseline, Connection, Controlled, Observers, Redrawn};
use super::phases::Marks;
use super::requests::Requests;
use super::rerouting::Rerouting;
use super::slots::{Population, Slots};
use super::stations::Station;
use super::truth::GatewayProbe;
use super::world::World;
use crate::engine::random::Stream;
use crate::engine::schedule::Schedule;
use crate::net::ids::{CapacityId, ControllerId, FlowId, LinkId, NodeId, StationId};
use crate::net::link::{Link, LinkParts};
use crate::net::loss::{Loss, LossModel};
use crate::net::noise::Noise;
use crate::net::queue::QueueModel;
use crate::net::queue::red::Red;
use crate::net::routing::{NextHop, Routes};
use crate::probe::{
    ArrivalProbe, CaptureWriter, EventTables, Naming, Recorder, SenderProbe, SenderTables, StationProbe,
};
use crate::scenario::document::Verify;
use crate::scenario::{FlowPath, LinkSpec, Scenario};
use crate::traffic::DatagramSource;
use crate::verify::replay::{Replay, ReplayLink};
use netlull_tcp::{Endpoint, SeqNr};
use netlull_units::{Duration, Instant};

impl LinkSpec {
    /// Whether its rate can change.
    pub(super) fn varies(&self) -> bool {
        self.control.is_some() || self.capacity.is_some()
    }

    /// Whether its departures are scheduled, not computed ahead.
    fn schedules_departures(&self) -> bool {
        self.varies() || matches!(self.queue, QueueModel::CoDel(_))
    }

    /// The rate it starts at.
    fn first_rate(&self) -> netlull_units::BitRate {
        self.control.as_ref().and_then(|control| control.mechanism.initial_rate()).unwrap_or(self.rate)
    }
}

impl World {
    /// The world of `scenario` at time zero; `capture` writes the packets of the links it names.
    #[must_use]
    pub fn new(scenario: &Scenario, capture: Option<CaptureWriter>) -> Self {
        let numbered = |has: &dyn Fn(&LinkSpec) -> bool| -> Vec<LinkId> {
            LinkId::all(scenario.links.len()).filter(|link| has(&scenario.links[link.index()])).collect()
        };
        let scheduled_links = numbered(&LinkSpec::schedules_departures);
        let controlled = numbered(&|link| link.control.is_some());
        let redrawn = numbered(&|link| link.capacity.is_some());
        let flows = scenario.flow_paths().count();
        let slots = slots(scenario);
        let observers = observers(scenario, flows, capture);
        let mut links = links(scenario, &slots, &scheduled_links);
        for control in scenario.links.iter().filter_map(|link| link.control.as_ref()) {
            control.acknowledgements.into_iter().for_each(|link| links[LinkId::new(link)].is_steered = true);
        }
        for (index, station) in scenario.stations.iter().enumerate() {
            let (down, up) = (LinkId::new(station.down), LinkId::new(station.up));
            [down, up].into_iter().for_each(|link| links[link].station = Some(StationId::new(index)));
            links[down].is_attended = true;
        }
        links.iter_mut().for_each(|link| link.is_attended |= link.is_steered);
        let rerouting = Rerouting::new(scenario);
        let mut routes = if rerouting.is_some() { changeable(scenario) } else { scenario.routes.clone() };
        let mut agents: Vec<Agent> = scenario.flow_paths().flat_map(|path| agents(scenario, path)).collect();
        // Where routes may change the network settles first.
        let ahead = if rerouting.is_some() {
            agents.iter_mut().for_each(|agent| agent.out = None);
            Ahead::off()
        } else {
            let senders = Senders::new(scenario);
            // Scenarios with unreachable destinations are refused before they run.
            let paths = senders.paths(&routes, &scenario.edges).unwrap_or_default();
            let parts = Parts { links: &mut links, agents: &mut agents, routes: &mut routes };
            Ahead::new(&senders, &observers, parts, &paths)
        };
        let mut world = Self {
            now: Instant::ZERO,
            end: Instant::ZERO + scenario.duration,
            events: 0,
            schedule: Schedule::new(slots.count()),
            slots,
            routes,
            links,
            scheduled_links,
            agents,
            endpoints: scenario.tcp_flows.iter().flat_map(|flow| endpoints(scenario.seed, flow)).collect(),
            connections: scenario.tcp_flows.iter().map(Connection::new).collect(),
            sources: scenario.datagram_flows.iter().map(|flow| DatagramSource::new(flow, scenario.seed)).collect(),
            requests: Requests::new(scenario),
            controllers: controlled.iter().filter_map(|&link| controller(scenario, link)).collect(),
            flow_keys: FlowKeys::new(scenario),
            redraws: redrawn.iter().filter_map(|&link| redraw(scenario, link)).collect(),
            baseline: Baseline {
                at: Instant::ZERO,
                links: Vec::new(),
                agents: Vec::new(),
                tcp: Vec::new(),
                delivered: Vec::new(),
                rate_changes: Vec::new(),
            },
            marks: Marks::new(scenario),
            rerouting,
            stations: scenario.stations.iter().map(|spec| Station::new(spec, scenario)).collect(),
            observers,
            ahead,
        };
        for (index, controller) in world.controllers.iter().enumerate() {
            world.links[controller.link].controller = Some(ControllerId::new(index));
        }
        world.baseline = world.counters_now();
        world.first_events(scenario);
        world
    }

    /// What is due before anything has happened.
    fn first_events(&mut self, scenario: &Scenario) {
        for (index, controller) in ControllerId::all(self.controllers.len()).zip(&self.controllers) {
            self.schedule
                .set(self.slots.controller(index), controller.machine.next_timeout().unwrap_or(Instant::NEVER));
        }
        for (index, redrawn) in CapacityId::all(self.redraws.len()).zip(&mut self.redraws) {
            self.schedule.set(self.slots.redraw(index), redrawn.next(Instant::ZERO));
        }
        for (index, flow) in scenario.tcp_flows.iter().enumerate() {
            let mut stream = Stream::new(scenario.seed, &format!("start.{}", flow.path.name));
            let jitter = match flow.jitter.as_nanos() {
                0 => Duration::ZERO,
                below => Duration::from_nanos(stream.between(0, below)),
            };
            self.schedule.set(self.slots.source(FlowId::new(index)), flow.start + jitter);
        }
        StationId::all(self.stations.len()).for_each(|index| self.arm_station(index));
        self.next_beat();
        self.first_looks();
        for index in 0..self.sources.len() {
            if self.ahead.has_events(index) {
                self.schedule.set(self.slots.source(self.datagram_flow(index)), self.sources[index].next());
            }
        }
        let flows = FlowId::all(scenario.flow_paths().count()).skip(self.requests.first_flow.index());
        for (flow, pool) in flows.zip(&self.requests.pools) {
            self.schedule.set(self.slots.source(flow), pool.source.next());
        }
        if !scenario.warm_up.is_zero() {
            self.schedule.set(self.slots.warm_up(), Instant::ZERO + scenario.warm_up);
        }
        self.schedule.set(self.slots.probe(), self.observers.recorder.next_bin(Instant::ZERO));
        self.schedule.set(self.slots.mark(), self.marks.next());
        self.set_next_horizon();
        if self.rerouting.is_some() {
            self.settle();
        }
    }
}

/// Routes to every node that a packet is for, which can change.
fn changeable(scenario: &Scenario) -> Routes {
    let mut destinations: Vec<usize> = scenario.flow_paths().flat_map(|path| [path.from, path.to]).collect();
    destinations.sort_unstable();
    destinations.dedup();
    Routes::changeable(scenario.nodes.len(), &scenario.edges, &destinations)
}

/// The slots of a scenario's components.
fn slots(scenario: &Scenario) -> Slots {
    let count = |has: &dyn Fn(&LinkSpec) -> bool| scenario.links.iter().filter(|link| has(link)).count();
    Slots::new(Population {
        departures: count(&LinkSpec::schedules_departures),
        links: scenario.links.len(),
        controllers: count(&|link| link.control.is_some()),
        redraws: count(&|link| link.capacity.is_some()),
        stations: scenario.stations.len(),
        endpoints: 2 * scenario.tcp_flows.len(),
        request_ends: 2 * scenario.most_open(),
        flows: scenario.flow_paths().count(),
    })
}

/// The longest run that the schedule can hold for a scenario of so many components.
pub(crate) fn longest_run(scenario: &Scenario) -> Duration {
    Schedule::longest_run(slots(scenario).count())
}

fn links(scenario: &Scenario, slots: &Slots, scheduled: &[LinkId]) -> Vec<Link> {
    let build = |(index, spec): (LinkId, &LinkSpec)| {
        let departure = scheduled.binary_search(&index).ok().map(Slots::departure);
        let loss = |model: &LossModel| Loss::new(model, Stream::new(scenario.seed, &format!("loss.{}", spec.name)));
        let noise = |model| Noise::new(model, Stream::new(scenario.seed, &format!("noise.{}", spec.name)));
        let (red, codel) = match spec.queue {
            QueueModel::DropTail => (None, None),
            QueueModel::Red(config) => {
                (Some(Red::new(config, Stream::new(scenario.seed, &format!("queue.{}", spec.name)))), None)
            }
            QueueModel::CoDel(config) => (None, Some(config)),
        };
        Link::new(LinkParts {
            to: NodeId::new(spec.to),
            controller: None,
            rate: spec.first_rate(),
            delay: spec.delay,
            buffer: spec.buffer,
            loss: spec.loss.as_ref().map(loss),
            noise: spec.noise.map(noise),
            red,
            codel,
            delivery: slots.delivery(index),
            departure,
        })
    };
    LinkId::all(scenario.links.len()).zip(&scenario.links).map(build).collect()
}

/// Sender and receiver of a flow. The receiver of datagrams sends nothing, so its way out is never taken.
fn agents(scenario: &Scenario, path: &FlowPath) -> [Agent; 2] {
    let agent = |from: usize, to: usize| {
        let [from, to] = [from, to].map(NodeId::new);
        let out = match scenario.routes.next_hop(from, to) {
            NextHop::Link(link) | NextHop::Ahead(link) => link,
            NextHop::Here | NextHop::Unreachable | NextHop::Changeable(_) => LinkId::default(),
        };
        Agent { node: from, out: Some(out), peer_node: to, ahead: AgentAhead::No, counters: AgentCounters::default() }
    };
    [agent(path.from, path.to), agent(path.to, path.from)]
}

/// Client and server of a connection, with initial sequence numbers from the flow's own stream.
fn endpoints(seed: u64, flow: &crate::scenario::TcpFlow) -> [Endpoint; 2] {
    let mut stream = Stream::new(seed, &format!("iss.{}", flow.path.name));
    let mut iss = || SeqNr::new(0).advanced_by(stream.between(0, 1 << 32));
    [Endpoint::client(&flow.config, iss()), Endpoint::server(&flow.config, iss())]
}

fn controller(scenario: &Scenario, link: LinkId) -> Option<Controlled> {
    let control = scenario.links[link.index()].control.as_ref()?;
    // The scenario has validated the configuration.
    let machine = Controller::new(&control.mechanism).ok()?;
    let acknowledgements = control.acknowledgements.map(LinkId::new);
    Some(Controlled { link, machine, in_service: control.in_service, acknowledgements })
}

fn redraw(scenario: &Scenario, link: LinkId) -> Option<Redrawn> {
    let spec = &scenario.links[link.index()];
    let stream = Stream::new(scenario.seed, &format!("capacity.{}", spec.name));
    Some(Redrawn { link, capacity: spec.capacity.clone()?, stream })
}

fn observers(scenario: &Scenario, flows: usize, capture: Option<CaptureWriter>) -> Observers {
    let probe = &scenario.probe;
    let events = EventTables { window: probe.window, drops: probe.drops };
    let senders = SenderTables { segments: probe.segments, events: probe.events };
    let chosen: Vec<bool> = (0..scenario.tcp_flows.len())
        .map(|flow| probe.flows.as_ref().is_none_or(|flows| flows.contains(&flow)))
        .collect();
    let arrivals = probe.arrivals.as_ref().map(|recorded| {
        let chosen = (0..flows).map(|flow| probe.flows.as_ref().is_none_or(|flows| flows.contains(&flow))).collect();
        let names = if probe.nameless { Naming::Nameless } else { Naming::Flows };
        Box::new(ArrivalProbe::new(scenario.links.len(), recorded, chosen, names))
    });
    let replay = (scenario.verify == Verify::Replay).then(|| {
        let line = |spec: &LinkSpec| ReplayLink {
            name: spec.name.clone(),
            rate: spec.rate,
            delay: spec.delay,
            buffer: spec.buffer,
            queue: spec.queue,
            scheduled: spec.schedules_departures(),
            loss: spec.loss.clone(),
            noisy: spec.noise.is_some(),
        };
        Box::new(Replay::new(scenario.links.iter().map(line).collect()))
    });
    let gateways = GatewayProbe::new(scenario).map(Box::new);
    let senders = SenderProbe::new(senders, &chosen).map(Box::new);
    Observers {
        recorder: Recorder::new(probe.interval, events, scenario.links.len(), flows),
        links: match &probe.links {
            Some(chosen) => chosen.iter().copied().map(LinkId::new).collect(),
            None => LinkId::all(scenario.links.len()).collect(),
        },
        flows: match &probe.flows {
            Some(chosen) => chosen.iter().copied().map(FlowId::new).collect(),
            None => FlowId::all(flows).collect(),
        },
        drops: probe.drops,
        follows: gateways.is_some() || senders.is_some(),
        gateways,
        arrivals,
        senders,
        stations: probe.stations.then(|| Box::new(StationProbe::new(Instant::ZERO + scenario.duration))),
        watching: capture.is_some() || replay.is_some(),
        capture,
        capture_error: None,
        replay,
    }
}
