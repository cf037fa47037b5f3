//! Observers of a run. They never change it.

use super::gateway_probe::{FlowKeys, GatewayProbe};
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, FlowId, LinkId};
use crate::net::link::Admission;
use crate::probe::{
    ArrivalProbe, CaptureError, CaptureWriter, EventTables, Naming, Recorder, SenderProbe, SenderTables, StationProbe,
    Table,
};
use crate::scenario::document::Verify;
use crate::scenario::{LinkSpec, Scenario};
use crate::verify::replay::{Replay, ReplayLink};
use netlull_tcp::{Endpoint, Segment};
use netlull_units::Instant;

/// All observers of a run.
pub(super) struct Observers {
    pub recorder: Recorder,
    pub links: Vec<LinkId>,
    pub flows: Vec<FlowId>,
    pub drops: bool,
    /// Observes gateways and their estimates.
    pub gateways: Option<Box<GatewayProbe>>,
    /// Observes packets offered to some links.
    pub arrivals: Option<Box<ArrivalProbe>>,
    /// Observes TCP's senders.
    pub senders: Option<Box<SenderProbe>>,
    /// Observes stations.
    pub stations: Option<Box<StationProbe>>,
    /// True if an observer follows the segments of TCP's senders.
    pub follows: bool,
    /// True for a capture or a replay, which see every packet.
    pub watching: bool,
    pub capture: Option<CaptureWriter>,
    pub capture_error: Option<CaptureError>,
    pub replay: Option<Box<Replay>>,
}

impl Observers {
    /// The observers of a scenario. `capture` writes the packets of its links.
    pub fn new(scenario: &Scenario, capture: Option<CaptureWriter>) -> Self {
        let (probe, flows) = (&scenario.probe, scenario.flow_paths().count());
        let chosen = |flow: usize| probe.flows.as_ref().is_none_or(|flows| flows.contains(&flow));
        let events = EventTables { window: probe.window, drops: probe.drops };
        let senders = SenderTables { segments: probe.segments, events: probe.events, variables: probe.variables };
        let arrivals = probe.arrivals.as_ref().map(|recorded| {
            let names = if probe.nameless { Naming::Nameless } else { Naming::Flows };
            Box::new(ArrivalProbe::new(scenario.links.len(), recorded, (0..flows).map(chosen).collect(), names))
        });
        let replay = (scenario.verify == Verify::Replay).then(|| Box::new(replay(scenario)));
        let gateways = GatewayProbe::new(scenario).map(Box::new);
        let tcp: Vec<bool> = (0..scenario.tcp_flows.len()).map(chosen).collect();
        let senders = SenderProbe::new(senders, &tcp).map(Box::new);
        Self {
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

    #[cold]
    pub fn offered(&mut self, now: Instant, link: LinkId, packet: &Packet, admission: Admission) {
        if let Some(replay) = &mut self.replay {
            replay.offered(now, link, packet, admission);
        }
    }

    #[cold]
    pub fn delivered(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        if let Some(replay) = &mut self.replay {
            replay.delivered(now, link, packet);
        }
        if let Some(capture) = &mut self.capture
            && self.capture_error.is_none()
        {
            self.capture_error = capture.packet(now, link, packet).err();
        }
    }

    /// Returns true if packets offered to a link are recorded.
    pub fn records_arrivals(&self, link: LinkId) -> bool {
        self.arrivals.as_ref().is_some_and(|arrivals| arrivals.records(link))
    }

    #[cold]
    pub fn sent(&mut self, now: Instant, agent: AgentId, segment: &Segment, endpoint: &Endpoint, keys: &FlowKeys) {
        if !agent.is_sender() {
            return;
        }
        if let Some(senders) = &mut self.senders {
            senders.sent(now, agent.flow(), segment, endpoint);
        }
        self.timed(now, agent.flow(), segment, endpoint, keys);
    }

    /// Reports a segment of any connection.
    #[cold]
    pub fn timed(&mut self, now: Instant, connection: FlowId, segment: &Segment, sender: &Endpoint, keys: &FlowKeys) {
        if let Some(gateways) = &mut self.gateways
            && segment.len > 0
        {
            gateways.sent(now, connection, keys.of(connection), sender);
        }
    }

    /// True if a report of variables has failed.
    pub fn have_failed(&self) -> bool {
        self.senders.as_ref().is_some_and(|senders| senders.fault().is_some())
    }

    /// Reports an acknowledgement at a flow's sender.
    #[cold]
    pub fn turned(&mut self, now: Instant, flow: FlowId, sender: &Endpoint) {
        if let Some(senders) = &mut self.senders {
            senders.turned(now, flow, sender);
        }
        if let Some(gateways) = &mut self.gateways {
            gateways.turned(now, flow, sender);
        }
    }

    #[cold]
    pub fn dropped(&mut self, now: Instant, link: LinkId, flow: FlowId) {
        self.recorder.drop(now, link.number(), flow.number());
    }

    pub fn window(&mut self, now: Instant, flow: FlowId, cwnd: u64, ssthresh: u64) {
        self.recorder.window(now, flow.number(), cwnd, ssthresh);
    }

    /// All tables, in two parts: those before the table `request`, and those from the table `arrivals` on.
    pub fn into_tables(self) -> [Vec<Table>; 2] {
        let mut first = self.recorder.into_tables();
        first.extend(self.senders.into_iter().flat_map(|senders| senders.into_tables()));
        first.extend(self.gateways.map(|gateways| gateways.into_table()));
        let arrivals = self.arrivals.map(|arrivals| arrivals.into_table());
        let stations = self.stations.into_iter().flat_map(|stations| stations.into_tables());
        [first, arrivals.into_iter().chain(stations).collect()]
    }
}

/// The verifier that follows every packet.
fn replay(scenario: &Scenario) -> Replay {
    let line = |spec: &LinkSpec| ReplayLink {
        name: spec.name.clone(),
        rate: spec.rate,
        overhead: spec.overhead,
        delay: spec.delay,
        buffer: spec.buffer,
        queue: spec.queue,
        scheduled: spec.schedules_departures() || spec.low_power().is_some(),
        loss: spec.loss.as_deref().cloned(),
        arrival: spec.arrival.as_deref().cloned().unwrap_or_default(),
        air: spec.air,
        trace: spec.trace().cloned(),
    };
    Replay::new(scenario.links.iter().map(line).collect(), scenario.airs.iter().map(|air| air.overhead).collect())
}
