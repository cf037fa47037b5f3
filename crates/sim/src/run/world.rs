//! The world of one run: everything that has a state, and the loop that moves it.

use super::ahead::Ahead;
use super::control::FlowKeys;
use super::ledger;
use super::outcome::{RunError, RunOutcome};
use super::parts::{Agent, Baseline, Connection, Controlled, Observers, Redrawn};
use super::phases::Marks;
use super::requests::Requests;
use super::rerouting::Rerouting;
use super::slots::{Owner, Slots};
use super::stations::{Attended, Station};
use super::summary;
use crate::engine::schedule::Schedule;
use crate::net::ids::{AgentId, CapacityId, FlowId, LinkId, NodeId};
use crate::net::link::{Admission, Link, LinkCounters, Offered};
use crate::net::packet::Packet;
use crate::net::routing::{NextHop, Routes};
use crate::net::transmitter::{Departure, InService, RateChange};
use crate::probe::{FlowSample, LinkSample};
use crate::scenario::Scenario;
use crate::traffic::{DatagramSource, Record};
use crate::verify;
use netlull_mechanism::rate::{self, RateEvent};
use netlull_tcp::{Endpoint, Segment, SeqNr, State};
use netlull_units::{Bytes, Duration, Instant};
/// Everything that has a state.
pub struct World {
    pub(super) now: Instant,
    pub(super) end: Instant,
    pub(super) events: u64,
    pub(super) schedule: Schedule,
    pub(super) slots: Slots,
    pub(super) routes: Routes,
    pub(super) links: Vec<Link>,
    /// Links that schedule their departures, in the order of their departure slots.
    pub(super) scheduled_links: Vec<LinkId>,
    pub(super) agents: Vec<Agent>,
    /// Endpoint of agent a, for TCP's agents.
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) connections: Vec<Connection>,
    pub(super) sources: Vec<DatagramSource>,
    pub(super) requests: Requests,
    pub(super) controllers: Vec<Controlled>,
    pub(super) flow_keys: FlowKeys,
    pub(super) redraws: Vec<Redrawn>,
    pub(super) baseline: Baseline,
    pub(super) marks: Marks,
    /// Where links sleep.
    pub(super) rerouting: Option<Box<Rerouting>>,
    pub(super) stations: Vec<Station>,
    pub(super) observers: Observers,
    pub(super) ahead: Ahead,
}

impl World {
    /// The current time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Handles up to `most` events; false once the run is over. Events at the very end still happen.
    pub fn advance(&mut self, most: u32) -> bool {
        for _ in 0..most {
            let Some((at, slot)) = self.schedule.take_until(self.end) else {
                self.now = self.end;
                return false;
            };
            debug_assert!(at >= self.now, "time went back from {} to {at}", self.now);
            self.now = at;
            self.events += 1;
            match self.slots.owner(slot) {
                Owner::Delivery(link) => self.deliver(link),
                Owner::Departure(index) => self.depart(index),
                Owner::Timer(agent) => self.timer(agent),
                Owner::RequestTimer(agent) => self.request_timer(agent),
                Owner::Controller(index) => self.wake_controller(index),
                Owner::Redraw(index) => self.redraw(index),
                Owner::Reroute => self.reroute(),
                Owner::Station(index) => self.station(index),
                Owner::Settlement => self.settle_drops(),
                Owner::Source(flow) => self.source(flow),
                Owner::WarmUp => self.start_measuring(),
                Owner::Mark => self.mark(),
                Owner::Probe => self.sample(),
                Owner::Beat => {
                    self.events -= 1;
                    self.beat();
                    return true;
                }
            }
        }
        true
    }

    /// A packet reaches the far end of a link.
    #[inline]
    fn deliver(&mut self, index: LinkId) {
        let link = &mut self.links[index];
        // Copied from where it lies: an `Option<Packet>` would be taken apart and put together again, which stalls.
        let Some(&(mut packet)) = link.head() else { return };
        link.deliver_head(packet.size, &mut self.schedule);
        let hop = match link.leads_to {
            Some(hop) => hop,
            None => self.routes.next_hop(link.to, packet.destination),
        };
        if self.observers.watching {
            self.observers.delivered(self.now, index, &packet);
        }
        if self.links[index].is_attended {
            return self.deliver_attended(index, hop, &mut packet);
        }
        self.forward(index, hop, &mut packet);
    }

    /// The same where somebody looks at what comes off the link.
    #[inline(never)]
    fn deliver_attended(&mut self, index: LinkId, hop: NextHop, packet: &mut Packet) {
        if self.attend_delivery(index, packet) == Attended::Taken {
            return;
        }
        self.forward(index, hop, packet);
        if hop == NextHop::Here {
            self.note_downloads(index, packet.agent);
        }
    }

    /// A packet that has come off a link goes on.
    #[inline(always)]
    fn forward(&mut self, index: LinkId, hop: NextHop, packet: &mut Packet) {
        match hop {
            NextHop::Link(next) | NextHop::Ahead(next) => self.offer(self.now, next, packet),
            NextHop::Here => self.receive(self.now, packet),
            NextHop::Changeable(_) | NextHop::Unreachable => {
                let node = self.links[index].to;
                self.forward_rerouted(node, hop, packet);
            }
        }
    }

    /// Offers a packet to a link; `now` is that of the node, which may be ahead of the run's.
    #[inline(always)]
    pub(super) fn offer(&mut self, now: Instant, index: LinkId, packet: &mut Packet) {
        if self.observers.watching {
            return self.offer_watched(now, index, packet);
        }
        if self.links[index].looks_from <= now.as_nanos()
            && self.before_offer(index, now.as_nanos(), packet) == Attended::Taken
        {
            return;
        }
        self.admit(now, index, packet);
    }

    /// A packet enters a link, past whoever attends to what is offered to it.
    #[inline(always)]
    fn admit(&mut self, now: Instant, index: LinkId, packet: &mut Packet) {
        let admission = match self.links[index].admit(now, packet, &mut self.schedule) {
            Offered::Arrives(at) => return self.arriving(index, at, packet),
            Offered::Held => return self.held(index, packet),
            Offered::Refused(admission) => admission,
        };
        self.offered(now, index, packet, admission);
    }

    /// A link that schedules its departures has taken a packet.
    #[inline]
    fn held(&mut self, index: LinkId, packet: &Packet) {
        if let Some(controller) = self.links[index].controller {
            self.took(controller, index, packet);
        }
    }

    /// The same where every packet is watched.
    #[cold]
    fn offer_watched(&mut self, now: Instant, index: LinkId, packet: &mut Packet) {
        self.record_arrival(index, now.as_nanos(), packet);
        if self.attend_offer(index, packet) == Attended::GoesOn {
            self.admit_watched(now, index, packet);
        }
    }

    fn admit_watched(&mut self, now: Instant, index: LinkId, packet: &Packet) {
        let admission = self.links[index].offer(now, *packet, &mut self.schedule);
        self.offered(now, index, packet, admission);
    }

    /// A station, or its access point, sends a packet over the air.
    pub(super) fn offer_to_link(&mut self, now: Instant, index: LinkId, packet: &mut Packet) {
        if self.observers.watching { self.admit_watched(now, index, packet) } else { self.admit(now, index, packet) }
    }

    /// What else an offer means where the packet is not taken, or somebody looks.
    #[inline(never)]
    pub(super) fn offered(&mut self, now: Instant, index: LinkId, packet: &Packet, admission: Admission) {
        if admission != Admission::Accepted {
            self.count_drop(now, index, packet);
        }
        if self.observers.watching {
            self.observers.offered(now, index, packet, admission);
        }
        let link = &self.links[index];
        let (Some(controller), queue) = (link.controller, link.queue_view()) else { return };
        let size = Bytes::new(u64::from(packet.size));
        let admission = match admission {
            Admission::Accepted => rate::Admission::Accepted,
            Admission::Dropped | Admission::DroppedEarly => rate::Admission::Dropped,
            // It never came to the buffer.
            Admission::Lost | Admission::Asleep => return,
        };
        self.control(controller, RateEvent::Arrival { size, admission, queue }, Some(packet));
    }

    /// A link has dropped a packet, or lost it.
    pub(super) fn count_drop(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        let agent = self.requests.flow_agent(packet.agent);
        self.agents[agent.index()].counters.dropped_packets += 1;
        if self.observers.drops {
            self.observers.dropped(now, link, agent.flow());
        }
        if agent != packet.agent {
            self.request_dropped(now, packet.agent);
        }
    }

    /// A packet has arrived where it was going.
    #[inline]
    pub(super) fn receive(&mut self, now: Instant, packet: &Packet) {
        let agent = packet.agent;
        let Some(Agent { counters, .. }) = self.agents.get_mut(agent.index()) else {
            self.receive_request(packet);
            return;
        };
        counters.receive(packet);
        if let Some(endpoint) = self.endpoints.get_mut(agent.index()) {
            endpoint.handle_segment(now, &packet.segment);
            // The receiving application has nothing to say: it closes when the sender has.
            if endpoint.state() == State::CloseWait {
                endpoint.close();
            }
            self.pump(now, agent);
        }
    }

    /// Sends what an endpoint has to send and looks after its timer.
    #[inline]
    pub(super) fn pump(&mut self, now: Instant, agent: AgentId) {
        // Written where it stays until a link takes it: copying it right after its parts were written stalls.
        let mut packet = Packet::default();
        while self.endpoints[agent.index()].poll_transmit_into(now, &mut packet.segment) {
            packet.size = packet.segment.wire_len();
            if self.observers.follows {
                self.observers.sent(now, agent, &packet.segment, &self.endpoints[agent.index()], &self.flow_keys);
            }
            self.send(now, agent, &mut packet);
        }
        let endpoint = &self.endpoints[agent.index()];
        // Lazy: an event that fires too early re-arms itself.
        self.schedule.set_if_earlier(self.slots.timer(agent), endpoint.next_timeout());
        if agent.is_sender() {
            self.watch_sender(now, agent);
        }
    }

    /// Follows a sender's window and whether its transfer is complete.
    #[inline]
    fn watch_sender(&mut self, now: Instant, sender: AgentId) {
        let flow = sender.flow();
        let (endpoint, connection) = (&self.endpoints[sender.index()], &mut self.connections[flow.index()]);
        let cwnd = endpoint.cwnd();
        if cwnd != connection.cwnd {
            connection.settle_cwnd(now);
            connection.cwnd = cwnd;
            if self.observers.recorder.records_windows() {
                self.observers.window(now, flow, cwnd, endpoint.ssthresh());
            }
        }
        if self.observers.follows {
            self.observers.turned(now, flow, endpoint);
        }
        if connection.completed.is_none() && connection.all_written && endpoint.all_acked() {
            connection.completed = Some(now);
        }
    }

    /// Puts a packet of an agent, with its segment and size, on its way to the agent's peer.
    #[inline]
    fn send(&mut self, now: Instant, from: AgentId, packet: &mut Packet) {
        let agent = &mut self.agents[from.index()];
        agent.counters.sent_packets += 1;
        agent.counters.sent_bytes += u64::from(packet.size);
        packet.agent = from.peer();
        packet.destination = agent.peer_node;
        let (node, out) = (agent.node, agent.out);
        self.originate(now, node, out, packet);
    }

    /// Puts a packet of a node on its way out.
    #[inline(always)]
    pub(super) fn originate(&mut self, now: Instant, node: NodeId, out: Option<LinkId>, packet: &mut Packet) {
        match out {
            Some(link) => self.offer(now, link, packet),
            None => self.originate_rerouted(now, node, packet),
        }
    }

    /// A last bit is sent, or a pause ends, on a link that schedules its departures.
    fn depart(&mut self, index: usize) {
        let link = self.scheduled_links[index];
        let departure = self.links[link].advance(self.now, &mut self.schedule);
        if let Departure::Packet { packet } = departure {
            let arrives = self.links[link].arrival(self.now);
            self.arriving(link, arrives, &packet);
        }
        while let Some(packet) = self.links[link].take_discarded() {
            self.discarded(link, &packet);
        }
        if let (Departure::Packet { .. }, Some(controller)) = (departure, self.links[link].controller) {
            self.let_go(controller, link);
        }
    }

    /// A packet that had waited was dropped as it left the queue.
    fn discarded(&mut self, link: LinkId, packet: &Packet) {
        self.count_drop(self.now, link, packet);
        if let Some(replay) = &mut self.observers.replay {
            replay.discarded(self.now, link, packet, self.links[link].propagating());
        }
    }

    /// A varying capacity changes.
    fn redraw(&mut self, index: CapacityId) {
        let redrawn = &mut self.redraws[index.index()];
        if let Some(rate) = redrawn.rate(self.now) {
            let change = RateChange { rate, pause: Duration::ZERO, in_service: InService::FinishThenPause };
            self.links[redrawn.link].change_rate(self.now, change, &mut self.schedule);
        }
        let next = redrawn.next(self.now);
        self.schedule.set(self.slots.redraw(index), next);
    }

    /// A timer's event. One that comes too early, which does not count as an event, re-arms itself.
    fn timer(&mut self, agent: AgentId) {
        let due = self.endpoints[agent.index()].next_timeout();
        if due > self.now {
            self.events -= 1;
            self.schedule.set(self.slots.timer(agent), due);
            return;
        }
        self.time_out(self.now, agent);
    }

    /// An endpoint's timer is due.
    pub(super) fn time_out(&mut self, now: Instant, agent: AgentId) {
        self.endpoints[agent.index()].handle_timeout(now);
        self.pump(now, agent);
    }

    /// A connection opens, its application has something to do, a datagram is due, or a request comes.
    fn source(&mut self, flow: FlowId) {
        if let Some(connection) = self.connections.get(flow.index()) {
            match connection.opened {
                None => self.open(flow),
                Some(_) => self.application(flow),
            }
            return;
        }
        if let Some(pool) = self.requests.pool_of(flow) {
            self.request(pool);
            return;
        }
        let source = flow.index() - self.connections.len();
        self.send_datagram(self.now, source);
        self.schedule.add(self.slots.source(flow), self.sources[source].next());
    }

    /// The flow of a source of datagrams.
    pub(super) fn datagram_flow(&self, source: usize) -> FlowId {
        FlowId::new(self.connections.len() + source)
    }

    /// A source sends the datagram that is due.
    pub(super) fn send_datagram(&mut self, now: Instant, source: usize) {
        let sender = AgentId::sender(self.datagram_flow(source));
        let source = &mut self.sources[source];
        let size = source.size();
        source.sent(now);
        let number = self.agents[sender.index()].counters.sent_packets;
        let mut packet = Packet { segment: datagram(number), size, ..Packet::default() };
        self.send(now, sender, &mut packet);
    }

    fn open(&mut self, flow: FlowId) {
        let connection = &mut self.connections[flow.index()];
        let sender = AgentId::sender(flow);
        connection.opened = Some(self.now);
        connection.cwnd_since = self.now;
        let endpoint = &mut self.endpoints[sender.index()];
        connection.cwnd = endpoint.cwnd();
        endpoint.open(self.now);
        connection.hand_over(self.now, endpoint);
        self.schedule.set(self.slots.source(flow), connection.next_action());
        self.note_opening(flow);
        if self.observers.recorder.records_windows() {
            let endpoint = &self.endpoints[sender.index()];
            self.observers.window(self.now, flow, endpoint.cwnd(), endpoint.ssthresh());
        }
        self.pump(self.now, sender);
    }

    /// The time of an application has come. What it had to do may have been done ahead of the run's time.
    fn application(&mut self, flow: FlowId) {
        if self.connections[flow.index()].next_action() > self.now {
            self.events -= 1;
        } else {
            self.act(self.now, flow);
        }
        self.schedule.set(self.slots.source(flow), self.connections[flow.index()].next_action());
    }

    /// A connection's application does what is due.
    pub(super) fn act(&mut self, now: Instant, flow: FlowId) {
        let sender = AgentId::sender(flow);
        self.connections[flow.index()].act(now, &mut self.endpoints[sender.index()]);
        self.pump(now, sender);
    }

    /// Results are measured from here.
    fn start_measuring(&mut self) {
        self.draw_all();
        for link in &mut self.links {
            link.restart_meter(self.now);
        }
        for connection in &mut self.connections {
            connection.settle_cwnd(self.now);
            connection.cwnd_area = 0.0;
        }
        for pool in &mut self.requests.pools {
            pool.start_measuring();
        }
        self.restart_accounts();
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.start_measuring();
        }
        self.restart_stations();
        self.baseline = self.counters_now();
        self.read();
    }

    /// Counters have been read: links may run ahead until that happens again.
    pub(super) fn read(&mut self) {
        self.set_next_horizon();
        self.take_on_held();
    }

    /// The horizon: the next instant at which counters are read.
    pub(super) fn set_next_horizon(&mut self) {
        let looks = [self.slots.probe(), self.slots.warm_up(), self.slots.mark(), self.slots.reroute()];
        let next = looks.map(|slot| self.schedule.at(slot)).into_iter().min();
        self.set_horizon(next.unwrap_or(Instant::NEVER));
    }

    /// Every counter as it stands.
    pub(super) fn counters_now(&self) -> Baseline {
        Baseline {
            at: self.now,
            links: self.links.iter().map(|link| link.counters(self.now)).collect(),
            agents: self.agents.iter().map(|agent| agent.counters).collect(),
            tcp: self.endpoints.iter().map(|endpoint| *endpoint.counters()).collect(),
            delivered: FlowId::all(self.agents.len() / 2).map(|flow| self.delivered(flow)).collect(),
            rate_changes: self
                .links
                .iter()
                .map(|link| link.variable().map_or(0, |v| v.log().len() as u64 - 1))
                .collect(),
        }
    }

    /// Bytes that the receiving application of a flow has got: of TCP in order, of datagrams on the wire.
    pub(super) fn delivered(&self, flow: FlowId) -> u64 {
        let receiver = AgentId::receiver(flow).index();
        if let Some(pool) = self.requests.pool_of(flow) {
            return self.requests.pools[pool].totals().delivered;
        }
        match self.endpoints.get(receiver) {
            Some(endpoint) => endpoint.bytes_delivered(),
            None => self.agents[receiver].counters.received_bytes,
        }
    }

    /// A bin of the probes ends. Not counted as an event: observing changes nothing, not even that number.
    fn sample(&mut self) {
        let now = self.now;
        self.events -= 1;
        self.draw_all();
        self.schedule.set(self.slots.probe(), self.observers.recorder.next_bin(now));
        for &index in &self.observers.links {
            let link = &self.links[index];
            let counters = link.counters(now);
            let sample = LinkSample {
                arrived_bytes: counters.offered_bytes,
                delivered_bytes: counters.delivered_bytes,
                dropped_packets: counters.dropped_packets + counters.lost_packets + counters.asleep_packets,
                queue_packets: link.waiting_packets(now),
                rate_bps: link.rate().as_bps(),
            };
            self.observers.recorder.link(now, index.number(), sample);
        }
        self.sample_gateways(now);
        for &flow in &self.observers.flows {
            let sender = AgentId::sender(flow).index();
            let sample = FlowSample {
                sent_bytes: self.agents[sender].counters.sent_bytes,
                delivered_bytes: self.delivered(flow),
                windows: self.endpoints.get(sender).map(|endpoint| (endpoint.cwnd(), endpoint.ssthresh())),
            };
            self.observers.recorder.flow(now, flow.number(), sample);
        }
        self.read();
    }

    /// What was recorded at a link, all of it, once the run is over.
    pub(super) fn take_record(&mut self, link: LinkId) -> Record {
        self.draw_all();
        self.observers.arrivals.take().map(|arrivals| arrivals.into_record(link)).unwrap_or_default()
    }

    /// Measures and verifies.
    pub(super) fn finish(mut self, scenario: &Scenario) -> Result<RunOutcome, RunError> {
        self.draw_all();
        if let Some(failure) = self.requests.failure.take() {
            return Err(failure);
        }
        if let Some(error) = self.observers.capture_error.take() {
            return Err(RunError::Capture(error));
        }
        if let Some(capture) = self.observers.capture.take() {
            capture.finish().map_err(RunError::Capture)?;
        }
        for connection in &mut self.connections {
            connection.settle_cwnd(self.now);
        }
        let replay = self.observers.replay.take();
        let counters: Vec<LinkCounters> = self.links.iter().map(|link| link.counters(self.now)).collect();
        let mut findings = replay.map(|replay| replay.into_findings(&counters)).unwrap_or_default();
        if scenario.verify != crate::scenario::document::Verify::Off {
            findings.merge(verify::ledger::check(&ledger::ledger(&self, scenario)));
        }
        if !findings.violations().is_empty() {
            return Err(RunError::Violation(findings.violations().to_vec()));
        }
        let summary = summary::summarise(&self, scenario, findings.checks());
        let mut tables = vec![summary::rate_table(&self, scenario)];
        tables.extend(self.observers.recorder.into_tables());
        tables.extend(self.observers.senders.into_iter().flat_map(|senders| senders.into_tables()));
        tables.extend(self.observers.gateways.map(|gateways| gateways.into_table()));
        tables.extend(self.requests.into_table());
        tables.extend(self.observers.arrivals.map(|arrivals| arrivals.into_table()));
        tables.extend(self.observers.stations.into_iter().flat_map(|stations| stations.into_tables()));
        Ok(RunOutcome { summary, tables })
    }
}

/// A datagram's number stands in for a header that nobody reads.
fn datagram(number: u64) -> Segment {
    Segment { seq: SeqNr::new(0).advanced_by(number), ..Segment::default() }
}
