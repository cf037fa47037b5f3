//! The recorders of a run and its table `gateway`; they have no effect on it.

use super::connections::Connections;
use super::controls::Controls;
use super::frame::Frame;
use super::ids::{ById, ConnectionId, FlowId, Id, LinkId};
use super::link::Link;
use super::sockets::Gauge;
use netlull_network::plan::{FlowPlan, Plan, ProbePlan};
use netlull_network::probe::{
    ArrivalRow, EventTables, FlowSample, GatewaySample, GatewayTable, LinkSample, Recorder, Seen, StationProbe, Sums,
    Table, arrivals,
};
use netlull_units::Instant;
use std::sync::Arc;

/// The tables of a run.
#[derive(Debug)]
pub(super) struct Observers {
    recorder: Recorder,
    /// The tables of stations.
    pub(super) stations: Option<StationProbe>,
    gateways: Option<GatewayProbe>,
    arrivals: Vec<ArrivalRow>,
    /// The hosts' TCP state, by flow.
    gauges: Arc<[Gauge]>,
}

impl Observers {
    pub(super) fn new(plan: &Plan, gauges: Arc<[Gauge]>) -> Self {
        let events = EventTables { window: false, drops: plan.probe.drops };
        Self {
            recorder: Recorder::new(plan.probe.interval, events, plan.links.len(), plan.flows.len()),
            stations: plan.probe.stations.then(|| StationProbe::new(Instant::ZERO + plan.duration)),
            gateways: GatewayProbe::new(plan),
            arrivals: Vec::new(),
            gauges,
        }
    }

    /// True if a table compares the estimates of gateways with the true values.
    pub(super) fn watches_gateways(&self) -> bool {
        self.gateways.is_some()
    }

    /// The TCP state of a flow at its host.
    pub(super) fn gauge(&self, flow: FlowId) -> &Gauge {
        &self.gauges[flow.index()]
    }

    /// The end of the next bin.
    pub(super) fn next_bin(&self, now: Instant) -> Instant {
        self.recorder.next_bin(now)
    }

    /// Records a packet offered to a link.
    pub(super) fn offered(&mut self, now: Instant, link: LinkId, frame: &Frame, probe: &ProbePlan) {
        if let Some(owner) = frame.owner
            && probe.arrivals.contains(&link.number())
            && probe.flows.contains(&owner.flow.number())
        {
            let time = (now - Instant::ZERO).as_nanos();
            let row = ArrivalRow { time, link: link.number(), flow: owner.flow.number(), size: frame.size };
            self.arrivals.push(row);
        }
    }

    /// Notes data of a connection that has reached the buffer of a link.
    pub(super) fn data_offered(&mut self, link: LinkId, connection: ConnectionId) {
        self.gateways.iter_mut().for_each(|probe| probe.offered(link, connection));
    }

    /// Records a packet of a flow dropped by a link or missed by a station.
    pub(super) fn dropped(&mut self, now: Instant, link: LinkId, flow: FlowId) {
        self.recorder.drop(now, link.number(), flow.number());
    }

    /// Samples a link at the end of a bin.
    pub(super) fn sample_link(&mut self, now: Instant, id: LinkId, link: &Link) {
        let counters = &link.counters;
        let sample = LinkSample {
            arrived_bytes: counters.offered_bytes,
            delivered_bytes: counters.delivered_bytes,
            dropped_packets: counters.dropped_packets + counters.lost_packets + counters.asleep_packets,
            queue_packets: link.waiting_packets(),
            rate_bps: link.rate().as_bps(),
        };
        self.recorder.link(now, id.number(), sample);
    }

    /// Samples a flow at the end of a bin.
    pub(super) fn sample_flow(&mut self, now: Instant, flow: FlowId, connections: &Connections) {
        let count = connections.flow(flow);
        let sample = FlowSample {
            sent_bytes: count.sent_bytes,
            delivered_bytes: count.delivered_bytes,
            windows: self.gauge(flow).windows(),
        };
        self.recorder.flow(now, flow.number(), sample);
    }

    /// Samples gateways at the end of a bin.
    pub(super) fn sample_gateways(&mut self, now: Instant, controls: &Controls, connections: &mut Connections) {
        if let Some(probe) = &mut self.gateways {
            probe.sample(now, controls, connections);
        }
    }

    /// All tables.
    pub(super) fn into_tables(self, probe: &ProbePlan) -> Vec<Table> {
        let mut tables = self.recorder.into_tables();
        if !probe.arrivals.is_empty() {
            tables.push(arrivals(self.arrivals));
        }
        tables.extend(self.gateways.map(GatewayProbe::into_table));
        tables.extend(self.stations.into_iter().flat_map(StationProbe::into_tables));
        tables
    }
}

/// The recorder of the table.
#[derive(Debug)]
pub struct GatewayProbe {
    table: GatewayTable,
    watched: Vec<Watched>,
}

/// The link of a gateway.
#[derive(Debug)]
struct Watched {
    link: LinkId,
    /// True if a flow's data crosses the link, by flow.
    crosses: ById<FlowId, bool>,
    seen: Seen,
}

impl GatewayProbe {
    /// Creates a recorder for the probed links with gateways; `None` without such links or bins.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Self> {
        plan.probe.interval?;
        let steers = |link: u32| {
            plan.links[link as usize].control.as_ref().is_some_and(|control| control.acknowledgements.is_some())
        };
        let mut links: Vec<u32> = plan.probe.links.iter().copied().filter(|&link| steers(link)).collect();
        links.sort_unstable();
        links.dedup();
        let watch = |link: u32| {
            let crosses = plan.flows.iter().map(|flow| crosses(plan, flow, link)).collect();
            Watched { link: LinkId::numbered(link), crosses, seen: Seen::default() }
        };
        let watched: Vec<Watched> = links.into_iter().map(watch).collect();
        (!watched.is_empty()).then(|| Self { table: GatewayTable::default(), watched })
    }

    /// Notes data of a connection offered to a link.
    pub fn offered(&mut self, link: LinkId, connection: ConnectionId) {
        if let Some(watched) = self.watched.iter_mut().find(|watched| watched.link == link) {
            watched.seen.saw(connection.index(), u64::from(connection.number()));
        }
    }

    /// Records a bin.
    pub fn sample(&mut self, now: Instant, controls: &Controls, connections: &mut Connections) {
        for Watched { link, crosses, seen } in &mut self.watched {
            let Some(estimates) = controls.estimates(*link) else { continue };
            let mut sums = Sums::default();
            connections.loads(crosses, &mut sums);
            let sample = GatewaySample::of(estimates, sums.truth(seen.take()));
            self.table.push(now, link.number(), sample);
        }
        connections.restart_times();
    }

    /// The table.
    #[must_use]
    pub fn into_table(self) -> Table {
        self.table.into_table()
    }
}

/// True if a flow's route uses a link. Routes of a plan have no loops.
fn crosses(plan: &Plan, flow: &FlowPlan, link: u32) -> bool {
    let mut node = flow.from;
    for _ in &plan.nodes {
        match plan.routes[node as usize].get(flow.to as usize).copied().flatten() {
            Some(next) if next == link => return true,
            Some(next) => node = plan.links[next as usize].to,
            None => return false,
        }
    }
    false
}
