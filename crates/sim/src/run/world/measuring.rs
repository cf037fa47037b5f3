//! Readings of counters: at the start of the measured time, at phase boundaries and at the ends of probe bins; and the
//! methods for a run that stops and waits for decisions (`run/steps`).

use super::World;
use crate::net::ids::{AgentId, ControllerId, FlowId, StationId};
use crate::probe::{FlowSample, LinkSample};
use crate::run::error::RunError;
use crate::run::gateway_probe::Ends;
use crate::run::phases::{Census, Counts, LowPower};
use crate::run::rerouting::SleepTimes;
use netlull_mechanism::station::StationEvent;
use netlull_units::Instant;

impl World {
    /// Starts the measured time.
    pub(super) fn start_measuring(&mut self) {
        self.draw_all();
        let now = self.net.now;
        self.net.links.iter_mut().for_each(|link| link.restart_meter(now));
        self.hosts.start_measuring(now);
        self.requests.pools.iter_mut().for_each(|pool| pool.start_measuring());
        self.controllers.start_measuring(now);
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.start_measuring();
        }
        self.stations.start_measuring(&self.net);
        self.baseline = self.counts();
        self.read();
    }

    /// Reads the counters at a phase boundary. A reading changes nothing and does not count as an event.
    pub(super) fn mark_phase_edge(&mut self) {
        self.net.events -= 1;
        self.draw_all();
        let census = self.census();
        self.phase_edges.push(census);
        self.net.schedule.set(self.net.order.phase_edge(), self.phase_edges.next());
        self.read();
    }

    /// All counters, and the time at each rate since the start of the measured time.
    pub(in crate::run) fn census(&self) -> Census {
        let (now, links) = (self.net.now, self.net.links.iter().enumerate());
        let residencies = links.filter_map(|(index, link)| Some((index, link.variable()?.line.meter().finish(now))));
        Census::new(self.counts(), residencies.collect())
    }

    /// The current counters.
    pub(in crate::run) fn counts(&self) -> Counts {
        let (net, hosts) = (&self.net, &self.hosts);
        let changes =
            |link: &crate::net::link::Link| link.variable().map_or(0, |variable| variable.log().len() as u64 - 1);
        Counts {
            at: net.now,
            links: net.links.iter().map(|link| link.counters(net.now)).collect(),
            agents: hosts.agents.iter().map(|agent| agent.counters).collect(),
            tcp: hosts.endpoints.iter().map(|endpoint| *endpoint.counters()).collect(),
            delivered: hosts.flows().map(|flow| self.delivered(flow)).collect(),
            rate_changes: net.links.iter().map(changes).collect(),
            low_power: self.low_power(),
        }
    }

    /// The times of the links with low-power idle.
    pub(in crate::run) fn low_power(&self) -> LowPower {
        let (net, mut all) = (&self.net, self.controllers.low_power(self.net.now));
        let links = net.links.iter().enumerate();
        all.extend(links.filter_map(|(index, link)| Some((index, link.low_power(net.now)?.0))));
        all
    }

    /// Bytes delivered to the receiving application of a flow: in order for TCP, on the wire for datagrams.
    fn delivered(&self, flow: FlowId) -> u64 {
        if let Some(pool) = self.requests.pool_of(flow) {
            return self.requests.pools[pool].totals().delivered;
        }
        let receiver = AgentId::receiver(flow).index();
        match self.hosts.endpoints.get(receiver) {
            Some(endpoint) => endpoint.bytes_delivered(),
            None => self.hosts.agents[receiver].counters.received_bytes,
        }
    }

    /// New bytes that have arrived at the receiver of a flow: for TCP also those ahead of a gap, on the wire for datagrams.
    fn received(&self, flow: FlowId) -> u64 {
        if let Some(pool) = self.requests.pool_of(flow) {
            return self.requests.pools[pool].totals().received;
        }
        let receiver = AgentId::receiver(flow).index();
        match self.hosts.endpoints.get(receiver) {
            Some(endpoint) => endpoint.bytes_received(),
            None => self.hosts.agents[receiver].counters.received_bytes,
        }
    }

    /// Ends a bin of the probes. Observation changes nothing, so it does not count as an event.
    pub(super) fn sample(&mut self) {
        self.net.events -= 1;
        self.draw_all();
        let now = self.net.now;
        self.net.schedule.set(self.net.order.probe(), self.observers.recorder.next_bin(now));
        for &id in &self.observers.links {
            let link = &self.net.links[id];
            let counters = link.counters(now);
            let sample = LinkSample {
                arrived_bytes: counters.offered_bytes,
                delivered_bytes: counters.delivered_bytes,
                dropped_packets: counters.dropped_packets + counters.lost_packets + counters.asleep_packets,
                queue_packets: link.waiting_packets(now),
                rate_bps: link.rate(now).as_bps(),
            };
            self.observers.recorder.link(now, id.number(), sample);
        }
        if let Some(gateways) = &mut self.observers.gateways {
            let ends = Ends {
                endpoints: &self.hosts.endpoints,
                pools: &self.requests.pools,
                first_connection: self.requests.first_connection,
            };
            gateways.sample(now, &ends, |link| self.controllers.driver(link)?.estimates());
        }
        for place in 0..self.observers.flows.len() {
            let flow = self.observers.flows[place];
            let sender = AgentId::sender(flow).index();
            let sample = FlowSample {
                sent_bytes: self.hosts.agents[sender].counters.sent_bytes,
                delivered_bytes: self.received(flow),
                windows: self.hosts.endpoints.get(sender).map(|endpoint| (endpoint.cwnd(), endpoint.ssthresh())),
            };
            self.observers.recorder.flow(now, flow.number(), sample);
        }
        self.read();
    }
}

impl World {
    /// Handles the next event if it is due at `limit` or earlier. Returns false if there is none.
    pub(in crate::run) fn advance_once(&mut self, limit: Instant) -> bool {
        let Some((at, slot)) = self.net.schedule.take_until(limit.min(self.net.end)) else { return false };
        self.handle(at, slot);
        true
    }

    /// Handles all events up to `limit`.
    pub(in crate::run) fn advance_to(&mut self, limit: Instant) {
        while self.advance_once(limit) {}
    }

    /// Gives a controller a timeout at the present instant, so that it can act. It is not an event of the run.
    pub(in crate::run) fn prompt(&mut self, controller: ControllerId) {
        self.controllers.time_out(controller, &mut self.net);
    }

    /// Gives a station's machine a timeout at the present instant, so that it can act. It is not an event of the run.
    pub(in crate::run) fn prompt_station(&mut self, station: StationId) {
        self.tell_station(station, StationEvent::Timeout);
    }

    /// Lets a run with sleeping links stop at these instants. Call it before the first event.
    pub(in crate::run) fn stop_at(&mut self, instants: impl Iterator<Item = Instant>) {
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.stop_at(instants);
        }
    }

    /// Returns true if the run waits for a decision on sleeping links.
    pub(in crate::run) fn is_halted(&self) -> bool {
        self.rerouting.as_ref().is_some_and(|rerouting| rerouting.is_halted())
    }

    /// Puts cables to sleep and wakes others: `awake` has an entry for each. Then the run can go on.
    pub(in crate::run) fn decide_sleep(&mut self, awake: &[bool], times: SleepTimes) {
        let now = self.net.now;
        self.unsettle();
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.go_on();
            rerouting.decide(now, awake, times);
        }
        self.take_steps();
    }

    /// Takes the error that has ended the run.
    pub(in crate::run) fn take_failure(&mut self) -> Option<RunError> {
        self.net.failure.take()
    }
}
