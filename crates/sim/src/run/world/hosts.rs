//! Events of hosts: timers, applications, sources of datagrams, requests.

use super::World;
use crate::net::ids::{AgentId, FlowId, LinkId, SourceId};
use crate::net::packet::Packet;
use crate::run::agents::Agent;
use crate::run::hosts::Hosts;
use crate::run::requests::{End, Requests};
use netlull_units::Instant;

impl World {
    /// Sends what an endpoint has to send and looks after its timer.
    #[inline]
    pub(super) fn pump(&mut self, now: Instant, agent: AgentId) {
        // Written where it stays until a link takes it: copying it right after its parts were written stalls.
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

    /// An endpoint's timer is due.
    pub(super) fn time_out(&mut self, now: Instant, agent: AgentId) {
        self.hosts.endpoints[agent.index()].handle_timeout(now);
        self.pump(now, agent);
    }

    /// A connection opens, its application has something to do, a datagram is due, or a request comes.
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

    /// The time of an application has come. It may have done ahead of the run's time what it had to do.
    fn application(&mut self, flow: FlowId) {
        if self.hosts.connections[flow.index()].next_action() > self.net.now {
            self.net.events -= 1;
        } else {
            self.act(self.net.now, flow);
        }
        let next = self.hosts.connections[flow.index()].next_action();
        self.net.schedule.set(self.net.order.source(flow), next);
    }

    /// A connection's application does what is due.
    pub(super) fn act(&mut self, now: Instant, flow: FlowId) {
        self.hosts.act(now, flow);
        self.pump(now, AgentId::sender(flow));
    }

    /// A source sends the datagram that is due.
    #[inline]
    fn send_datagram(&mut self, now: Instant, source: SourceId, sender: AgentId) {
        let mut packet = self.hosts.datagram(now, source, sender);
        self.send(now, sender, &mut packet);
    }

    /// Offers a link the datagrams that are drawn over it and are due before `end`.
    #[inline(never)]
    pub(super) fn draw(&mut self, link: LinkId, end: u64) {
        let first = self.lookahead.first_draw(link);
        while let Some((at, draw)) =
            self.lookahead.next_draw(first, link, end, &mut self.net, &self.hosts, &self.observers)
        {
            self.net.events += 1;
            self.send_datagram(at, draw.source, draw.sender);
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

    /// Draws the datagrams that are due by now: everything that reads counters sees them.
    pub(in crate::run) fn draw_all(&mut self) {
        self.draw_before(self.net.now.as_nanos().saturating_add(1));
    }

    /// Datagrams that nothing else asks for are drawn now and then, so that a run can be followed and ended.
    pub(super) fn beat(&mut self) {
        // Those due at this very instant come after everything else, and wait for the next beat.
        self.draw_before(self.net.now.as_nanos());
        self.lookahead.next_beat(&mut self.net);
    }

    /// A packet has reached an end of a request's connection.
    #[inline(never)]
    pub(super) fn receive_request(&mut self, packet: &Packet) {
        let end = self.requests.end(packet.agent);
        self.hosts.agents[self.requests.counts_as(end).index()].counters.receive(packet);
        self.requests.receive(self.net.now, end, packet);
        self.pump_request(packet.agent, end);
    }

    /// The event of the timer of an end of a request's connection.
    pub(super) fn request_timer(&mut self, agent: AgentId) {
        if let Some(end) = self.requests.timer(agent, &mut self.net) {
            self.pump_request(agent, end);
        }
    }

    /// Sends what an end of a request's connection has to send.
    fn pump_request(&mut self, agent: AgentId, end: End) {
        let from = self.requests.counts_as(end).index();
        let Agent { node, out, peer_node, .. } = self.hosts.agents[from];
        // Written where it stays until a link takes it, as in `pump`.
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

/// The shift of the windows that an agent advertises. A gateway on a path reads it in the handshake.
pub(super) fn window_shift(agent: AgentId, hosts: &Hosts, requests: &Requests) -> u8 {
    match hosts.endpoints.get(agent.index()) {
        Some(endpoint) => endpoint.window_shift(),
        None => requests.window_shift(agent),
    }
}
