//! Events of stations, and packets for them.

use super::World;
use super::hosts::window_shift;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, FlowId, LinkId, StationId};
use crate::run::control::header;
use crate::run::stations::{Attended, Demand, Entry, Given, Hearing, Outgoing, Sent, Turn, view};
use netlull_mechanism::gateway::{SegmentKind, window_field};
use netlull_mechanism::station::{PacketView, StationEvent};
use netlull_network::probe::CLOSED;
use netlull_tcp::{Endpoint, State};
use netlull_units::Bytes;
use std::collections::VecDeque;

impl World {
    /// Handles the due actions of a station.
    pub(super) fn station(&mut self, id: StationId) {
        while let Some(event) = self.turn(id).next_event() {
            self.follow_sent();
            self.tell_station(id, event);
        }
        self.follow_sent();
    }

    fn turn(&mut self, id: StationId) -> Turn<'_> {
        self.stations.turn(id, &mut self.net, &mut self.observers)
    }

    /// Processes the packets sent by radios and access points.
    fn follow_sent(&mut self) {
        while let Some(Sent { link, packet, given }) = self.stations.next_sent() {
            match given {
                Given::Queued(offered) => self.queued(self.net.now, link, &packet, offered),
                Given::Watched(admission) => self.decided(self.net.now, link, &packet, admission),
            }
        }
    }

    /// Passes an event to a station's machine and performs its actions. Returns its decision on the packet of the
    /// event.
    pub(super) fn tell_station(&mut self, id: StationId, event: StationEvent) -> Outgoing {
        if !self.stations.has_machine(id) {
            return Outgoing::AsItIs;
        }
        let (mut outgoing, mut next) = (Outgoing::AsItIs, Some(event));
        let mut acknowledged = VecDeque::new();
        while let Some(event) = next {
            self.turn(id).tell(event);
            while let Some(demand) = self.turn(id).next_demand() {
                self.follow_sent();
                match demand {
                    Demand::Window(bytes) => outgoing = Outgoing::Within(bytes),
                    Demand::Withhold => outgoing = Outgoing::Withheld,
                    Demand::Acknowledge { connection } => {
                        let window = match std::mem::replace(&mut outgoing, Outgoing::AsItIs) {
                            Outgoing::Within(bytes) => Some(bytes),
                            Outgoing::AsItIs | Outgoing::Withheld => None,
                        };
                        acknowledged.extend(self.acknowledge(id, connection, window));
                    }
                }
            }
            self.follow_sent();
            next = acknowledged.pop_front();
        }
        self.turn(id).arm();
        outgoing
    }

    /// Lets a host's TCP acknowledge all received data, with at most `window`. Returns the event for the machine.
    fn acknowledge(&mut self, id: StationId, connection: u32, window: Option<Bytes>) -> Option<StationEvent> {
        let Some(flow) = FlowId::checked(connection).filter(|&flow| self.requests.knows(flow)) else {
            self.turn(id).refuse_connection(connection);
            return None;
        };
        let (node, hosts) = (self.stations.node(id), &mut self.hosts);
        let mut ends = [AgentId::receiver(flow), AgentId::sender(flow)].into_iter();
        let is_here =
            |agent: &AgentId| agent.index() < hosts.endpoints.len() && hosts.agents[agent.index()].node == node;
        let agent = ends.find(is_here)?;
        self.stations.begin_acknowledging(id, window);
        hosts.endpoints[agent.index()].acknowledge();
        self.pump(self.net.now, agent);
        let packet = self.stations.end_acknowledging(id)?;
        Some(StationEvent::Acknowledged { packet })
    }

    /// Handles a packet's offer to a link that inspects it. A station's link takes the packet.
    pub(super) fn attend_offer(&mut self, link: LinkId, packet: &mut Packet) -> Attended {
        let Some(id) = self.net.links[link].station else { return Attended::GoesOn };
        if self.stations.down(id) == link {
            if self.turn(id).enter_air(packet) == Entry::Refused {
                self.drop(self.net.now, Some(link), packet);
            }
        } else {
            self.station_sends(id, packet);
        }
        self.follow_sent();
        Attended::Taken
    }

    /// Handles a packet sent by a station's host. Its machine may rewrite the window or withhold the packet. The radio
    /// wakes up for it.
    fn station_sends(&mut self, id: StationId, packet: &mut Packet) {
        let shift = self.shift_of(packet);
        let view = view(packet, shift);
        let name = match self.stations.asked_for(id, &view) {
            Some((name, window)) => {
                if let Some(window) = window {
                    self.write_window(packet, window);
                }
                name
            }
            None => {
                // The radio wakes before its machine handles the packet.
                self.turn(id).wake_to_send();
                let Some(name) = self.shape(id, packet, &view) else {
                    self.stations.count_withheld(id);
                    self.drop(self.net.now, None, packet);
                    return;
                };
                name
            }
        };
        self.turn(id).send(*packet, name, shift);
    }

    /// Shows a packet to the machine and writes the requested window. Returns the packet's name on the air; `None` if it
    /// is withheld.
    fn shape(&mut self, id: StationId, packet: &mut Packet, view: &PacketView) -> Option<&'static str> {
        match self.tell_station(id, StationEvent::Sending { packet: *view }) {
            Outgoing::AsItIs => Some(if view.is_acknowledgement() { "ack" } else { "sent" }),
            Outgoing::Withheld => None,
            Outgoing::Within(window) => {
                self.write_window(packet, window);
                if packet.segment.window > 0 {
                    return Some("ack");
                }
                self.stations.count_closed(id);
                Some(CLOSED)
            }
        }
    }

    /// Lowers a packet's window to `window`.
    fn write_window(&mut self, packet: &mut Packet, window: Bytes) {
        let shift = window_shift(packet.agent.peer(), &self.hosts, &self.requests);
        packet.segment.window = window_field(window, shift, packet.segment.window);
    }

    /// Handles a packet at the end of a link that a gateway or a radio inspects.
    pub(super) fn attend_delivery(&mut self, link: LinkId, packet: &mut Packet) -> Attended {
        if self.net.links[link].is_steered {
            let (hosts, requests) = (&self.hosts, &self.requests);
            self.controllers.steer(link, packet, |agent| window_shift(agent, hosts, requests), &mut self.net);
        }
        match self.net.links[link].station {
            Some(id) if self.stations.down(id) == link => self.leave_air(id, link, packet),
            _ => Attended::GoesOn,
        }
    }

    /// Handles a packet that arrives over the air.
    fn leave_air(&mut self, id: StationId, down: LinkId, packet: &Packet) -> Attended {
        let view = view(packet, self.shift_of(packet));
        match self.turn(id).hear(&view) {
            Hearing::Missed => {
                self.drop(self.net.now, Some(down), packet);
                Attended::Taken
            }
            Hearing::Heard { more } => {
                self.tell_station(id, StationEvent::Received { packet: view, more });
                Attended::GoesOn
            }
        }
    }

    /// The shift of a packet's window, as agreed by its ends.
    fn shift_of(&self, packet: &Packet) -> u8 {
        match header(&packet.segment) {
            Some((SegmentKind::Other, _)) => window_shift(packet.agent.peer(), &self.hosts, &self.requests),
            _ => 0,
        }
    }

    /// Updates the downloads after a host has taken a packet.
    pub(super) fn note_download(&mut self, link: LinkId, agent: AgentId) {
        let Some(id) = self.net.links[link].station else { return };
        let is_over = |endpoint: &Endpoint| {
            matches!(endpoint.state(), State::LastAck | State::CloseWait | State::TimeWait)
                || (endpoint.state() == State::Closed && endpoint.bytes_delivered() > 0)
        };
        if !agent.is_sender() && self.hosts.endpoints.get(agent.index()).is_some_and(is_over) {
            self.stations.download_over(id, agent.flow(), &self.net);
        }
    }

    /// Starts a station's download when a connection to it opens.
    pub(super) fn note_opening(&mut self, flow: FlowId) {
        let node = self.hosts.agents[AgentId::receiver(flow).index()].node;
        let Some(id) = self.stations.at_node(node) else { return };
        self.stations.download_begins(id, &self.net);
        // The simulation has no packet for the download's request. The machine gets an event as if it was just sent.
        self.tell_station(id, StationEvent::Sending { packet: PacketView { size: 0, segment: None } });
    }
}
