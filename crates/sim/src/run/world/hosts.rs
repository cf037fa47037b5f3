//! Events of hosts: timers, applications, sources of datagrams, and requests.

use super::World;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, FlowId, LinkId, SourceId};
use crate::run::hosts::{Agent, Hosts};
use crate::run::lookahead::{Draw, Due};
use crate::run::requests::{End, Requests};
use netlull_units::Instant;

// Forced inlines here, by `make counts`: without them and those of `requests`, `control`, `fixed` and `transmitter`
// practRA takes 3.8 % more instructions, web 2.4 %.
impl World {
    /// Sends an endpoint's pending segments and sets its timer.
    #[inline]
    pub(super) fn pump(&mut self, now: Instant, agent: AgentId) {
        // The packet is written in place: a copy right after its parts are written would stall the processor.
        let mut packet = Packet::default();
        while self.hosts.endpoints[agent.index()].poll_transmit_into(now, &mut packet.segment) {
            packet.size = packet.segment.wire_len();
            if self.observers.follows {
                let endpoint = &self.hosts.endpoints[agent.index()];
                self.observers.sent(now, agent, &packet.segment, endpoint, &self.controllers.flow_keys);
            }
            self.send(now, agent, &mut packet);
        }
        self.hosts.settle(now, agent, &mut self.net, &mut self.observers);
    }

    /// The event of an endpoint's timer.
    pub(super) fn timer(&mut self, agent: AgentId) {
        if self.hosts.timer(agent, &mut self.net) {
            self.time_out(self.net.now, agent);
        }
    }

    /// Handles a due timer of an endpoint.
    pub(super) fn time_out(&mut self, now: Instant, agent: AgentId) {
        self.hosts.endpoints[agent.index()].handle_timeout(now);
        self.pump(now, agent);
    }

    /// Handles a flow's event: an opening, an application's action, a datagram or a request.
    pub(super) fn source(&mut self, flow: FlowId) {
        if let Some(connection) = self.hosts.connections.get(flow.index()) {
            match connection.opened {
                None => self.open(flow),
                Some(_) => self.application(flow),
            }
        } else if let Some(pool) = self.requests.pool_of(flow) {
            let opened = self.requests.open(pool, &mut self.net, &mut self.controllers.flow_keys);
            opened.into_iter().for_each(|agent| self.pump_request(agent, self.requests.end(agent)));
        } else {
            let source = self.hosts.source_of(flow);
            self.send_datagram(self.net.now, source, AgentId::sender(flow));
            let next = self.hosts.sources[source.index()].next();
            self.net.schedule.add(self.net.order.source(flow), next);
        }
    }

    fn open(&mut self, flow: FlowId) {
        self.hosts.open(flow, &mut self.net);
        self.note_opening(flow);
        let sender = AgentId::sender(flow);
        if self.observers.recorder.records_windows() {
            let endpoint = &self.hosts.endpoints[sender.index()];
            self.observers.window(self.net.now, flow, endpoint.cwnd(), endpoint.ssthresh());
        }
        self.pump(self.net.now, sender);
    }

    /// Handles the event of an application, which may already have acted ahead of the run's time.
    fn application(&mut self, flow: FlowId) {
        if self.hosts.connections[flow.index()].next_action() > self.net.now {
            self.net.events -= 1;
        } else {
            self.act(self.net.now, flow);
        }
        let next = self.hosts.connections[flow.index()].next_action();
        self.net.schedule.set(self.net.order.source(flow), next);
    }

    /// Performs the due action of a connection's application.
    pub(super) fn act(&mut self, now: Instant, flow: FlowId) {
        self.hosts.act(now, flow);
        self.pump(now, AgentId::sender(flow));
    }

    /// Sends the due datagram of a source.
    #[inline]
    fn send_datagram(&mut self, now: Instant, source: SourceId, sender: AgentId) {
        let mut packet = self.hosts.datagram(now, source, sender);
        self.send(now, sender, &mut packet);
    }

    /// Offers a link its drawn datagrams that are due before `end`.
    #[inline(never)]
    pub(super) fn draw(&mut self, link: LinkId, end: u64) {
        while let Some(Due { at, number, draw: Draw { source, sender, .. } }) =
            self.lookahead.next_draw(link, end, &mut self.net, &self.observers)
        {
            self.net.events += 1;
            let mut packet = self.hosts.datagram(at, source, sender);
            self.lookahead.set_due(number, self.hosts.sources[source.index()].next());
            self.send(at, sender, &mut packet);
        }
    }

    /// Draws the datagrams that are due before `end`.
    pub(super) fn draw_before(&mut self, end: u64) {
        let mut number = 0;
        while let Some(link) = self.lookahead.nth_drawn_link(number) {
            self.draw(link, end);
            number += 1;
        }
    }

    /// Draws the datagrams that are due by now, before counters are read.
    pub(in crate::run) fn draw_all(&mut self) {
        self.draw_before(self.net.now.as_nanos().saturating_add(1));
    }

    /// Draws datagrams at intervals, so that a run without other events can report progress and be cancelled.
    pub(super) fn beat(&mut self) {
        // Datagrams due at this instant follow all other events, and wait for the next beat.
        self.draw_before(self.net.now.as_nanos());
        self.lookahead.next_beat(&mut self.net);
    }

    /// Handles a packet at an end of a request connection.
    #[inline(never)]
    pub(super) fn receive_request(&mut self, packet: &Packet) {
        let end = self.requests.end(packet.agent);
        self.hosts.agents[self.requests.counts_as(end).index()].counters.receive(packet);
        self.requests.receive(self.net.now, end, packet);
        self.pump_request(packet.agent, end);
    }

    /// Handles the timer event of an end of a request connection.
    pub(super) fn request_timer(&mut self, agent: AgentId) {
        if let Some(end) = self.requests.timer(agent, &mut self.net) {
            self.pump_request(agent, end);
        }
    }

    /// Sends the pending segments of an end of a request connection.
    fn pump_request(&mut self, agent: AgentId, end: End) {
        let from = self.requests.counts_as(end).index();
        let Agent { node, out, peer_node, .. } = self.hosts.agents[from];
        // Written in place, as in `pump`.
        let mut packet = Packet { destination: peer_node, agent: agent.peer(), ..Packet::default() };
        while self.requests.next_packet(
            end,
            &mut packet,
            &mut self.net,
            &mut self.observers,
            &self.controllers.flow_keys,
        ) {
            self.hosts.agents[from].counters.send(&packet);
            self.send_over(self.net.now, node, out, &mut packet);
        }
    }
}

/// The shift of an agent's advertised windows. A gateway on the path learns it from the handshake.
pub(super) fn window_shift(agent: AgentId, hosts: &Hosts, requests: &Requests) -> u8 {
    match hosts.endpoints.get(agent.index()) {
        Some(endpoint) => endpoint.window_shift(),
        None => requests.window_shift(agent),
    }
}
