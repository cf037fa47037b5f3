//! The recorders of a run; they have no effect on it.

use super::connections::Connections;
use super::controls::Controls;
use super::frame::Frame;
use super::gateway_probe::GatewayProbe;
use super::gauge::Gauge;
use super::ids::{ConnectionId, FlowId, Id, LinkId};
use super::link::Link;
use netlull_network::plan::{Plan, ProbePlan};
use netlull_network::probe::{
    ArrivalRow, EventTables, FlowSample, LinkSample, Recorder, StationProbe, Table, arrivals,
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

    /// Whether a table compares the estimates of gateways with the true values.
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
