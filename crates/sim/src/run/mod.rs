//! Execution of a scenario: builds its world, advances time, measures and verifies.

mod application;
mod control;
mod emulated;
mod error;
mod event_order;
mod finish;
mod gateway_probe;
mod hosts;
mod ledger;
mod link_summary;
mod lookahead;
mod net;
mod observers;
mod phases;
mod pool;
mod requests;
#[cfg(test)]
mod requests_tests;
mod rerouting;
mod stations;
pub mod steps;
mod summary;
mod transfers;
mod world;

pub use emulated::{Emulated, check_format, emulated};
pub use error::{MachineError, MemoryError, RunError};
pub use finish::RunOutcome;
pub use link_summary::{LinkSummaries, LinkSummary, Residence};
pub use netlull_network::gateway_summary::GatewaySummary;
pub(crate) use phases::edges;
pub use phases::{EnergySummary, FlowPhase, LinkPhase, NetworkSummary, PhaseSummary};
pub(crate) use rerouting::routing_plan;
pub use rerouting::{NapSummary, RoutingSummary};
pub use stations::StationSummary;
pub use summary::{FlowSummary, RecordingSummary, Summary};
pub use transfers::{CompletionTimes, RequestPhase, TransferSummary};
pub use world::World;

use crate::net::Air;
use crate::net::flight::PacketStore;
use crate::net::ids::{AgentId, FlowId, LinkId, NodeId, SourceId, StationId};
use crate::net::link::{Link, LinkParts};
use crate::net::routing::Routes;
use crate::probe::CaptureWriter;
use crate::scenario::{ArrivalPattern, DatagramFlow, LinkSpec, Recording, Scenario};
use crate::traffic::Record;
use control::Controllers;
use event_order::EventOrder;
use finish::{Wanted, finish};
use hosts::Hosts;
use lookahead::{Lookahead, Parts, Senders};
use net::{Capacities, Net};
use netlull_network::arrival::{ArrivalModel, Arrivals};
use netlull_network::loss::{Loss, LossModel};
use netlull_network::queue::QueueModel;
use netlull_network::queue::red::Red;
use netlull_network::random::Stream;
use netlull_network::schedule::Schedule;
use netlull_units::{Duration, Instant};
use observers::Observers;
use phases::{Counts, PhaseEdges};
use requests::Requests;
use rerouting::Rerouting;
use stations::Stations;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The reason for the early end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run's result is no longer wanted.
    Cancelled,
    /// The run has exceeded its memory limit, given in bytes.
    Memory(u64),
}

/// Observes a run. A monitor cannot change the run, but it can end it early.
pub trait Monitor {
    /// Receives the simulated share of the run, 0 to 1, at intervals.
    fn progress(&mut self, share: f64) -> ControlFlow<Stop>;
}

/// A monitor that does nothing.
pub struct Unwatched;

impl Monitor for Unwatched {
    fn progress(&mut self, _: f64) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Events between two calls of the monitor.
const EVENTS_PER_LOOK: u32 = 1 << 16;

/// Runs `scenario`. `capture` writes the packets of its links. If the scenario replays a recording, the first run
/// comes first.
///
/// # Errors
/// - [`RunError::Cancelled`] and [`RunError::Memory`]: the monitor ended the run.
/// - [`RunError::Violation`]: the verifier found a violated rule.
/// - [`RunError::TooManyOpen`]: a flow exceeded its number of open connections.
/// - [`RunError::Machine`]: a machine cannot be built or breaks its contract.
/// - [`RunError::Capture`]: packets could not be written.
pub fn run(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
) -> Result<RunOutcome, RunError> {
    execute(scenario, monitor, capture, Wanted::All)
}

/// Runs `scenario` as [`run`] does, and returns the summary alone. A run that changes rates often is faster this way.
///
/// # Errors
/// Those of [`run`].
pub fn measure(scenario: &Scenario, monitor: &mut dyn Monitor) -> Result<Summary, RunError> {
    execute(scenario, monitor, None, Wanted::Summary).map(|outcome| outcome.summary)
}

fn execute(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
    wanted: Wanted,
) -> Result<RunOutcome, RunError> {
    match &scenario.recording {
        Some(recording) => run_twice(scenario, recording, monitor, capture, wanted),
        None => run_once(scenario, monitor, capture, wanted),
    }
}

fn run_once(
    scenario: &Scenario,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
    wanted: Wanted,
) -> Result<RunOutcome, RunError> {
    finish(pass(World::new(scenario, capture)?, scenario, monitor)?, scenario, wanted)
}

/// Advances time to the end of the run.
fn pass(mut world: World, scenario: &Scenario, monitor: &mut dyn Monitor) -> Result<World, RunError> {
    loop {
        let goes_on = world.advance(EVENTS_PER_LOOK);
        let share = if goes_on { world.now().as_secs_f64() / scenario.duration.as_secs_f64() } else { 1.0 };
        match monitor.progress(share) {
            ControlFlow::Break(Stop::Cancelled) => return Err(RunError::Cancelled),
            ControlFlow::Break(Stop::Memory(limit)) => return Err(finish::memory_exceeded(world, scenario, limit)),
            ControlFlow::Continue(()) if goes_on => {}
            ControlFlow::Continue(()) => return Ok(world),
        }
    }
}

/// Half of the work, for a monitor of the whole.
struct Half<'a> {
    whole: &'a mut dyn Monitor,
    /// The share of the whole at its start.
    from: f64,
}

impl Monitor for Half<'_> {
    fn progress(&mut self, share: f64) -> ControlFlow<Stop> {
        self.whole.progress(self.from + 0.5 * share)
    }
}

/// Runs a scenario twice: the first run records arrivals at a link, the second replays them as datagrams. Both have the
/// same seed.
fn run_twice(
    scenario: &Scenario,
    recording: &Recording,
    monitor: &mut dyn Monitor,
    capture: Option<CaptureWriter>,
    wanted: Wanted,
) -> Result<RunOutcome, RunError> {
    let record = record(scenario, recording, &mut Half { whole: monitor, from: 0.0 })?;
    let summary = RecordingSummary {
        link: recording.first.links[recording.link].name.clone(),
        flow: scenario.datagram_flows[recording.source].path.name.clone(),
        packets: record.len() as u64,
        bytes: record.bytes(),
    };
    let mut second = Scenario { recording: None, ..scenario.clone() };
    second.datagram_flows[recording.source].pattern = ArrivalPattern::Replay(Arc::new(record));
    let mut outcome = run_once(&second, &mut Half { whole: monitor, from: 0.5 }, capture, wanted)?;
    outcome.summary.recording = Some(summary);
    Ok(outcome)
}

/// The packets that the first run offers to the link.
fn record(scenario: &Scenario, recording: &Recording, monitor: &mut dyn Monitor) -> Result<Record, RunError> {
    let first = Scenario { seed: scenario.seed, verify: scenario.verify, ..(*recording.first).clone() };
    let mut world = pass(World::new(&first, None)?, &first, monitor)?;
    world.draw_all();
    let arrivals = world.observers.arrivals.take();
    let record = arrivals.map(|arrivals| arrivals.into_record(LinkId::new(recording.link))).unwrap_or_default();
    // The first run's ledger is checked like any other.
    finish(world, &first, Wanted::Summary)?;
    Ok(record)
}

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

/// The receivers of the datagrams that begin at a node.
fn datagrams_from(scenario: &Scenario, node: usize) -> Vec<AgentId> {
    let first = scenario.tcp_flows.len();
    let datagrams = scenario.flow_paths().enumerate().skip(first).take(scenario.datagram_flows.len());
    datagrams.filter(|(_, path)| path.from == node).map(|(flow, _)| AgentId::receiver(FlowId::new(flow))).collect()
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
        let arrivals = |model: &ArrivalModel| Arrivals::new(model, stream("noise"));
        let (red, codel) = match spec.queue {
            QueueModel::DropTail => (None, None),
            QueueModel::Red(config) => (Some(Red::new(config, stream("queue"))), None),
            QueueModel::CoDel(config) => (None, Some(config)),
        };
        Link::new(LinkParts {
            to: NodeId::new(spec.to),
            controller: None,
            rate: spec.first_rate(),
            overhead: spec.overhead,
            delay: spec.delay,
            buffer: spec.buffer,
            loss: spec.loss.as_deref().map(loss),
            arrivals: spec.arrival.as_deref().map(arrivals),
            air: spec.air.map(|air| airs[air].clone()),
            trace: spec.trace().cloned(),
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
        if spec.low_power().is_some() {
            link.keep_no_log();
        }
        if let Some(low_power) = spec.alone() {
            link.doze(low_power, datagrams_from(scenario, spec.from), Instant::ZERO + scenario.duration);
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
