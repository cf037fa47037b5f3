//! The world of one run, and the path of a packet through it.
//!
//! ```text
//!                               ┌──────────── arrive, where the next link or host runs ahead ◄───────────┐
//!                               ▼                                                                        │
//!  host ── send ──► node ── offer ──► link ── queue ──┬─ fixed rate: computes the arrival ─► arrive ─────┴─► stored
//!   ▲                 ▲                 │             │                                        ▲               │
//!   │                 │                 │             └─ other links: hold ──► depart ─────────┘               │
//!   │                 │                 └► drop                  (an event)                                    │
//!   └─ receive ◄── node ◄── deliver ◄──────────────────────── (an event) ──────────────────────────────────────┘
//! ```
//!
//! | verb | action on a packet |
//! |---|---|
//! | send | a host sends it over the agent's first link, or over the link in the node's table |
//! | offer | a link gets it; earlier datagrams are drawn first, and a station or its access point may take it |
//! | queue | the link accepts or refuses it |
//! | hold | a link that schedules its departures stores it and reports it to its controller |
//! | depart | its transmission on such a link ends |
//! | arrive | a link computes its arrival at the far end: it is stored until then, or runs ahead of the run's time |
//! | deliver | it leaves a link at its arrival and continues to the next link or to its host |
//! | drop | a link or a node loses it |
//!
//! The world has one part per topic. Each part owns its fields and accesses the network through `&mut Net`. It knows
//! no other part that moves packets; only the world moves packets between parts. The events are in the files of this
//! folder: `hosts`, `stations`, `changes` (routes and lookahead) and `measuring`. `stepping` has the doors for a run
//! that waits for decisions. This file contains the event loop and the verbs.

mod changes;
mod hosts;
mod measuring;
mod stations;

use super::control::Controllers;
use super::event_order::Owner;
use super::hosts::{AgentAhead, Hosts, Taker};
use super::lookahead::Lookahead;
use super::net::{Capacities, Net};
use super::observers::Observers;
use super::phases::{Counts, PhaseEdges};
use super::requests::Requests;
use super::rerouting::{Rerouting, next_link};
use super::stations::{Attended, Stations};
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, LinkId, NodeId};
use crate::net::link::{Admission, Offered};
use crate::net::routing::NextHop;
use netlull_mechanism::rate::{self, HeadVerdict};
use netlull_network::schedule::Slot;
use netlull_network::transmitter::Departure;
use netlull_units::{Bytes, Instant};

/// The kind of a handled event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handled {
    /// Any event but a beat.
    Event,
    /// A beat, at which many datagrams may have been drawn.
    Beat,
}

/// The whole state of a run.
pub struct World {
    pub(super) net: Net,
    pub(super) hosts: Hosts,
    pub(super) requests: Requests,
    pub(super) controllers: Controllers,
    pub(super) capacities: Capacities,
    pub(super) stations: Stations,
    /// Set if links sleep.
    pub(super) rerouting: Option<Box<Rerouting>>,
    pub(super) lookahead: Lookahead,
    pub(super) observers: Observers,
    /// Counters at the start of the measured time.
    pub(super) baseline: Counts,
    pub(super) phase_edges: PhaseEdges,
}

// Forced inlines here, by `make counts`: without them twenty takes 4.5 % more instructions.
impl World {
    /// The current time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.net.now
    }

    /// Handles up to `most` events. Returns false after the end of the run. Events exactly at the end still happen.
    pub fn advance(&mut self, most: u32) -> bool {
        for _ in 0..most {
            let Some((at, slot)) = self.net.schedule.take_until(self.net.end) else {
                self.net.now = self.net.end;
                return false;
            };
            if self.handle(at, slot) == Handled::Beat {
                return true;
            }
        }
        true
    }

    /// Handles an event.
    #[inline(always)]
    fn handle(&mut self, at: Instant, slot: Slot) -> Handled {
        debug_assert!(at >= self.net.now, "time went back from {} to {at}", self.net.now);
        self.net.now = at;
        self.net.events += 1;
        match self.net.order.owner(slot) {
            Owner::Delivery(link) => self.deliver(link),
            Owner::Departure(place) => self.depart(self.net.scheduled_links[place]),
            Owner::Timer(agent) => self.timer(agent),
            Owner::RequestTimer(agent) => self.request_timer(agent),
            Owner::Controller(id) => self.controllers.wake(id, &mut self.net),
            Owner::Redraw(id) => self.capacities.change(id, &mut self.net),
            Owner::Reroute => self.reroute(),
            Owner::Station(id) => self.station(id),
            Owner::Settlement => self.requests.settle_drops(&mut self.net),
            Owner::Source(flow) => self.source(flow),
            Owner::WarmUp => self.start_measuring(),
            Owner::PhaseEdge => self.mark_phase_edge(),
            Owner::Probe => self.sample(),
            Owner::Beat => {
                self.net.events -= 1;
                self.beat();
                return Handled::Beat;
            }
        }
        Handled::Event
    }

    /// Sends an agent's packet, with its segment and size, to the agent's peer.
    #[inline]
    fn send(&mut self, now: Instant, from: AgentId, packet: &mut Packet) {
        let agent = &mut self.hosts.agents[from.index()];
        agent.counters.send(packet);
        packet.agent = from.peer();
        packet.destination = agent.peer_node;
        let (node, out) = (agent.node, agent.out);
        self.send_over(now, node, out, packet);
    }

    /// Sends a packet from a node, by the node's table if no link is given.
    #[inline(always)]
    fn send_over(&mut self, now: Instant, node: NodeId, out: Option<LinkId>, packet: &mut Packet) {
        match out {
            Some(link) => self.offer(now, link, packet),
            None => self.send_by_table(now, node, packet),
        }
    }

    #[inline(never)]
    fn send_by_table(&mut self, now: Instant, node: NodeId, packet: &mut Packet) {
        let Some(rerouting) = &mut self.rerouting else { return };
        match rerouting.first_link(&self.net.routes, node, packet) {
            Ok(link) => self.offer(now, link, packet),
            Err(why) => {
                rerouting.lose(node, why);
                self.drop(now, None, packet);
            }
        }
    }

    /// Offers a packet to a link. `now` is the node's time, which may be ahead of the run's time.
    #[inline(always)]
    fn offer(&mut self, now: Instant, link: LinkId, packet: &mut Packet) {
        if self.observers.watching {
            return self.offer_watched(now, link, packet);
        }
        if self.net.links[link].looks_from <= now.as_nanos()
            && self.look(link, now.as_nanos(), packet) == Attended::Taken
        {
            return;
        }
        self.queue(now, link, packet);
    }

    /// Offers a packet to a link if every packet is watched.
    #[cold]
    fn offer_watched(&mut self, now: Instant, link: LinkId, packet: &mut Packet) {
        self.record_arrival(link, now.as_nanos(), packet);
        if self.attend_offer(link, packet) == Attended::GoesOn {
            let admission = self.net.links[link].offer(now, *packet, &mut self.net.schedule, &mut self.net.store);
            self.decided(now, link, packet, admission);
        }
    }

    /// Prepares a packet's offer to a link that needs extra work first. Earlier datagrams are drawn, the packet is
    /// recorded, and a station or its access point may take it.
    #[inline(never)]
    fn look(&mut self, link: LinkId, now: u64, packet: &mut Packet) -> Attended {
        self.draw(link, now);
        self.record_arrival(link, now, packet);
        self.attend_offer(link, packet)
    }

    /// Passes a packet to a link.
    #[inline(always)]
    fn queue(&mut self, now: Instant, link: LinkId, packet: &mut Packet) {
        let offered = self.net.links[link].queue(now, packet, &mut self.net.schedule);
        self.queued(now, link, packet, offered);
    }

    /// Processes a link's decision on a packet.
    #[inline(always)]
    fn queued(&mut self, now: Instant, link: LinkId, packet: &Packet, offered: Offered) {
        match offered {
            Offered::Arrives(at) => self.arrive(link, at, packet),
            Offered::Overtakes(at) => self.arrive_in_order(link, at, packet),
            Offered::Held => self.hold(link, packet),
            Offered::Refused(admission) => self.decided(now, link, packet, admission),
        }
    }

    /// Processes a packet accepted by a link that schedules its departures.
    #[inline]
    fn hold(&mut self, link: LinkId, packet: &Packet) {
        if let Some(controller) = self.net.links[link].controller {
            let marked = self.net.links[link].has_marked();
            let admission = if marked { rate::Admission::Marked } else { rate::Admission::Accepted };
            self.controllers.on_arrival(controller, admission, packet, &mut self.net, &mut self.observers);
        }
    }

    /// Processes a refused packet, or any decision if every packet is watched.
    #[inline(never)]
    fn decided(&mut self, now: Instant, link: LinkId, packet: &Packet, admission: Admission) {
        if admission != Admission::Accepted {
            self.drop(now, Some(link), packet);
        }
        if self.observers.watching {
            self.observers.offered(now, link, packet, admission);
        }
        let Some(controller) = self.net.links[link].controller else { return };
        let admission = match admission {
            Admission::Accepted if self.net.links[link].has_marked() => rate::Admission::Marked,
            Admission::Accepted => rate::Admission::Accepted,
            Admission::Dropped | Admission::DroppedEarly => rate::Admission::Dropped,
            // The packet never reached the buffer.
            Admission::Lost | Admission::Asleep => return,
        };
        self.controllers.on_arrival(controller, admission, packet, &mut self.net, &mut self.observers);
    }

    /// Processes a packet dropped or lost by a link, or by a node.
    fn drop(&mut self, now: Instant, link: Option<LinkId>, packet: &Packet) {
        let agent = self.requests.flow_agent(packet.agent);
        self.hosts.agents[agent.index()].counters.dropped_packets += 1;
        if let Some(link) = link
            && self.observers.drops
        {
            self.observers.dropped(now, link, agent.flow());
        }
        if agent != packet.agent {
            self.requests.drop(now, packet.agent, &mut self.net);
        }
    }

    /// Handles the end of a transmission or pause on a link that schedules its departures.
    fn depart(&mut self, link: LinkId) {
        let now = self.net.now;
        let Some(packet) = self.net.links[link].advance_to_next(now, &mut self.net.schedule) else {
            return self.depart_or_resume(link);
        };
        self.sent(now, link, &packet);
        if let Some(controller) = self.net.links[link].controller {
            self.controllers.on_departed(controller, &mut self.net);
        }
    }

    /// Handles such an event if a pause begins or ends, or if CoDel is at work.
    #[inline(never)]
    fn depart_or_resume(&mut self, link: LinkId) {
        let now = self.net.now;
        let marked = self.net.links[link].marked_packets();
        let departure = self.net.links[link].advance(now, &mut self.net.schedule);
        if let Departure::Packet { packet, .. } = departure {
            self.sent(now, link, &packet);
        }
        while let Some(packet) = self.net.links[link].take_discarded() {
            self.drop(now, Some(link), &packet);
            if let Some(replay) = &mut self.observers.replay {
                replay.discarded(now, link, &packet, self.net.links[link].propagating());
            }
            if let Some(controller) = self.net.links[link].controller {
                let size = Bytes::new(u64::from(packet.size));
                self.controllers.on_managed(controller, HeadVerdict::Dropped, size, &mut self.net);
            }
        }
        let Some(controller) = self.net.links[link].controller else { return };
        if self.net.links[link].marked_packets() > marked {
            let entered = self.net.links[link].queue_view().in_service;
            self.controllers.on_managed(controller, HeadVerdict::Marked, entered, &mut self.net);
        }
        if let Departure::Packet { .. } = departure {
            self.controllers.on_departed(controller, &mut self.net);
        }
    }

    /// Processes a packet whose transmission ends at `now` on a link that schedules its departures.
    #[inline]
    fn sent(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        match self.net.links[link].arrival(now, packet) {
            Offered::Arrives(at) => self.arrive(link, at, packet),
            Offered::Overtakes(at) => self.arrive_in_order(link, at, packet),
            Offered::Held | Offered::Refused(_) => {}
        }
    }

    /// Processes a packet's computed arrival at the far end of a link on which packets overtake others. Nothing beyond
    /// that link runs ahead.
    #[cold]
    fn arrive_in_order(&mut self, link: LinkId, arrives: u64, packet: &Packet) {
        self.net.links[link].store_in_order(arrives, packet, &mut self.net.schedule, &mut self.net.store);
    }

    /// Processes a packet's computed arrival at the far end of a link, and follows it as far ahead as possible.
    #[inline(always)]
    fn arrive(&mut self, mut id: LinkId, mut arrives: u64, packet: &Packet) {
        let (size, destination) = (packet.size, packet.destination);
        let mut link = &mut self.net.links[id];
        while arrives < self.net.horizon {
            let next = match link.leads_to {
                Some(hop) => hop,
                None => self.net.routes.next_hop(link.to, destination),
            };
            match next {
                NextHop::Ahead(next) => {
                    link.take_on(size);
                    id = next;
                    if self.net.links[id].looks_from <= arrives {
                        // No gateway or station is at a link that runs ahead.
                        self.look(id, arrives, &mut { *packet });
                    }
                    link = &mut self.net.links[id];
                    match link.queue_ahead(arrives, size) {
                        Offered::Arrives(then) => arrives = then,
                        Offered::Refused(admission) => {
                            return self.decided(Instant::from_nanos(arrives), id, packet, admission);
                        }
                        Offered::Held | Offered::Overtakes(_) => {
                            return debug_assert!(false, "a link that holds or reorders packets ran ahead");
                        }
                    }
                }
                NextHop::Here => {
                    // The ends of request connections are not agents of their own.
                    let Some(agent) = self.hosts.agents.get_mut(packet.agent.index()) else { break };
                    match agent.ahead {
                        AgentAhead::No => break,
                        AgentAhead::Sink => {
                            link.take_on(size);
                            agent.counters.receive(packet);
                            return;
                        }
                        AgentAhead::Endpoint => {
                            link.take_on(size);
                            return self.receive_ahead(Instant::from_nanos(arrives), packet);
                        }
                        AgentAhead::Writer => {
                            link.take_on(size);
                            return self.receive_ahead_of_writes(Instant::from_nanos(arrives), packet);
                        }
                    }
                }
                NextHop::Link(_) | NextHop::Unreachable | NextHop::Changeable(_) => break,
            }
        }
        link.store(arrives, packet, &mut self.net.schedule, &mut self.net.store);
    }

    /// Handles a packet at the far end of a link.
    #[inline]
    fn deliver(&mut self, id: LinkId) {
        let link = &mut self.net.links[id];
        // Copied in place: an `Option<Packet>` would be taken apart and rebuilt, which stalls the processor.
        let Some(&(mut packet)) = link.head(&self.net.store) else { return };
        link.deliver_head(packet.size, &mut self.net.schedule, &mut self.net.store);
        let hop = match link.leads_to {
            Some(hop) => hop,
            None => self.net.routes.next_hop(link.to, packet.destination),
        };
        if self.observers.watching {
            self.observers.delivered(self.net.now, id, &packet);
        }
        if self.net.links[id].is_attended {
            return self.deliver_attended(id, hop, &mut packet);
        }
        self.forward(id, hop, &mut packet);
    }

    /// Handles such a packet if a gateway or a radio inspects it.
    #[inline(never)]
    fn deliver_attended(&mut self, id: LinkId, hop: NextHop, packet: &mut Packet) {
        if self.attend_delivery(id, packet) == Attended::Taken {
            return;
        }
        self.forward(id, hop, packet);
        if hop == NextHop::Here {
            self.note_download(id, packet.agent);
        }
    }

    /// Forwards a packet that has left a link.
    #[inline(always)]
    fn forward(&mut self, id: LinkId, hop: NextHop, packet: &mut Packet) {
        match hop {
            NextHop::Link(next) | NextHop::Ahead(next) => self.offer(self.net.now, next, packet),
            NextHop::Here => self.receive(self.net.now, packet),
            NextHop::Changeable(_) | NextHop::Unreachable => self.forward_by_table(id, hop, packet),
        }
    }

    #[inline(never)]
    fn forward_by_table(&mut self, id: LinkId, hop: NextHop, packet: &mut Packet) {
        let now = self.net.now;
        match next_link(hop, packet) {
            Ok(link) => self.offer(now, link, packet),
            Err(why) => {
                if let Some(rerouting) = &mut self.rerouting {
                    rerouting.lose(self.net.links[id].to, why);
                }
                self.drop(now, None, packet);
            }
        }
    }

    /// Passes a packet to its destination.
    #[inline]
    fn receive(&mut self, now: Instant, packet: &Packet) {
        match self.hosts.receive(now, packet) {
            Taker::Endpoint => self.pump(now, packet.agent),
            Taker::Sink => {}
            Taker::Request => self.receive_request(packet),
        }
    }

    /// Passes a packet to an agent before the run reaches its arrival.
    #[inline(never)]
    fn receive_ahead(&mut self, at: Instant, packet: &Packet) {
        let agent = packet.agent;
        // An earlier timer comes first. Its event will find nothing to do.
        while let Some(endpoint) = self.hosts.endpoints.get(agent.index())
            && endpoint.next_timeout() < at
        {
            self.net.events += 1;
            self.time_out(endpoint.next_timeout(), agent);
        }
        self.receive(at, packet);
    }

    /// Passes a packet to a sender before the run reaches its arrival, if its application acts at its own times.
    #[inline(never)]
    fn receive_ahead_of_writes(&mut self, at: Instant, packet: &Packet) {
        let (sender, flow) = (packet.agent, packet.agent.flow());
        loop {
            let timer = self.hosts.endpoints[sender.index()].next_timeout();
            let action = self.hosts.connections[flow.index()].next_action();
            if timer.min(action) >= at {
                break;
            }
            self.net.events += 1;
            // In the order of the slots.
            if timer <= action { self.time_out(timer, sender) } else { self.act(action, flow) }
        }
        self.receive(at, packet);
    }
}
