//! Links and endpoints that run ahead of the run's time.
//!
//! Where all packets of a link come from one other link, their order is known before they arrive: no event has to
//! wait for them. As soon as the first link has computed when a packet reaches its far end, the second is offered the
//! packet *at that time*, and so on. An endpoint takes its packets in the same way if it is the only one that sends over
//! its first link; what it sends then goes on ahead, too. Only where packets of several links or agents meet does an
//! event put them into order. A dumb-bell of many flows then costs two events for the eight hops of a packet and its
//! acknowledgement; one flow on a chain of links, one.
//!
//! What is read between events must not have run ahead: counters are read at the start of measurement, at the ends of
//! probe bins and at the end. The next of these instants is the *horizon*. A packet that arrives after it is stored
//! with an event of its own, as everywhere; once the horizon moves on, what was held back is taken on
//! ([`World::take_on_held`]), what depends on other links before those, so that no packet overtakes another.
//!
//! A run that is watched packet by packet (capture, replay) does without, and so do senders that are watched.

use super::world::{Agent, Observers, World};
use crate::net::buffer::Buffer;
use crate::net::link::{Link, Offered};
use crate::net::packet::{LinkId, Packet};
use crate::net::routing::{NextHop, Routes};
use crate::scenario::{FlowPath, Scenario};
use netlull_units::Instant;

/// Who offers packets to a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Link(LinkId),
    Agent(usize),
    Many,
}

/// Where a link's packets come from and go to, over the routes of all flows.
#[derive(Clone, Copy)]
struct Neighbours {
    feeder: Feeder,
    /// The next hop of all, if they have the same; `Unreachable` before one is known.
    leads_to: Option<NextHop>,
}

/// How far may be run ahead, and what is held back at that point.
pub(super) struct Ahead {
    /// Packets that arrive later are not taken on before then, in nanoseconds; 0 if none ever is.
    pub horizon: u64,
    /// All links, those furthest from where packets meet first.
    deepest_first: Vec<LinkId>,
    held: Vec<(u64, Packet)>,
}

/// The parts of a world that are told whether they may run ahead.
pub(super) struct Parts<'a> {
    pub links: &'a mut [Link],
    pub agents: &'a mut [Agent],
    pub routes: &'a mut Routes,
}

impl Ahead {
    /// Finds what may run ahead, and tells it.
    pub fn new(scenario: &Scenario, observers: &Observers, parts: Parts<'_>) -> Self {
        let Parts { links, agents, routes } = parts;
        let neighbours = neighbours(scenario);
        let plain: Vec<bool> = links.iter().map(Link::can_run_ahead).collect();
        let runs_ahead = |link: LinkId| {
            let Feeder::Link(feeder) = neighbours[link as usize].feeder else { return false };
            // Recorded drops of several links are in the order of time.
            let ordered = !observers.drops || never_drops(scenario, feeder, link);
            plain[link as usize] && ordered
        };
        let runs_ahead: Vec<bool> = link_ids(links).map(runs_ahead).collect();
        routes.mark_ahead(|link| runs_ahead[link as usize]);
        for (link, neighbours) in links.iter_mut().zip(&neighbours) {
            link.leads_to = neighbours.leads_to.map(|hop| match hop {
                NextHop::Link(next) if runs_ahead[next as usize] => NextHop::Ahead(next),
                hop => hop,
            });
        }
        // An agent alone on its first link; one that sends nothing, always.
        let alone =
            |agent: usize, out: LinkId| neighbours[out as usize].feeder == Feeder::Agent(agent) && plain[out as usize];
        let mut arrives_on = vec![0; agents.len()];
        for (flow, connection) in scenario.tcp_flows.iter().enumerate() {
            let (sender, receiver) = (2 * flow, 2 * flow + 1);
            let ways = ways(scenario, &connection.path, true);
            for (agent, way) in [(receiver, &ways[0]), (sender, &ways[1])] {
                arrives_on[agent] = way.last().copied().unwrap_or_default();
            }
            agents[receiver].runs_ahead = alone(receiver, agents[receiver].out);
            // Somewhere on the round an event must order packets, or it would never end.
            let meets = ways.iter().flat_map(|way| way.iter().skip(1)).any(|&link| !runs_ahead[link as usize]);
            let seen = observers.senders.is_some() || observers.recorder.records_windows();
            agents[sender].runs_ahead =
                alone(sender, agents[sender].out) && !seen && (meets || !agents[receiver].runs_ahead);
        }
        for agent in agents.iter_mut().skip(2 * scenario.tcp_flows.len()).take(2 * scenario.datagram_flows.len()) {
            agent.runs_ahead = true;
        }
        // This ends where an event orders packets.
        let depth = |mut link: LinkId| {
            let mut depth = 0;
            loop {
                link = match neighbours[link as usize].feeder {
                    Feeder::Link(feeder) if runs_ahead[link as usize] => feeder,
                    Feeder::Agent(agent) if agents[agent].runs_ahead && agent < 2 * scenario.tcp_flows.len() => {
                        arrives_on[agent]
                    }
                    _ => return depth,
                };
                depth += 1;
            }
        };
        let mut deepest_first: Vec<LinkId> = link_ids(links).collect();
        deepest_first.sort_by_cached_key(|&link| std::cmp::Reverse(depth(link)));
        Self { horizon: 0, deepest_first, held: Vec::new() }
    }
}

/// The least packet: an IPv4 header and a UDP header, in bytes.
const LEAST_PACKET: u64 = 28;

/// Whether a link has room for whatever its only feeder sends. Behind a feeder that is not faster, the last bit of a
/// packet that came at t is sent by t + largest/rate (by induction from packet to packet), so what waits came within
/// that time: as much as one of the largest packets, and one more for rounding.
fn never_drops(scenario: &Scenario, feeder: LinkId, link: LinkId) -> bool {
    let (feeder, link) = (&scenario.links[feeder as usize], &scenario.links[link as usize]);
    let largest = scenario.mtu.as_u64();
    match link.buffer {
        Buffer::Unlimited => true,
        _ if feeder.rate > link.rate => false,
        Buffer::Packets(limit) => limit > largest.div_ceil(LEAST_PACKET) + 1,
        Buffer::Bytes(limit) => limit.as_u64() >= 3 * largest,
    }
}

#[allow(clippy::cast_possible_truncation)]
fn link_ids(links: &[Link]) -> std::ops::Range<LinkId> {
    0..links.len() as LinkId
}

/// The links of a flow's packets there, and of the answers back.
fn ways(scenario: &Scenario, path: &FlowPath, answered: bool) -> Vec<Vec<LinkId>> {
    let ends = [(path.from, path.to), (path.to, path.from)];
    let way = |(from, to): (usize, usize)| scenario.routes.path(from, to, &scenario.edges).unwrap_or_default();
    ends.into_iter().take(if answered { 2 } else { 1 }).map(way).collect()
}

/// Follows the packets of all flows, there and back.
fn neighbours(scenario: &Scenario) -> Vec<Neighbours> {
    let unknown = Neighbours { feeder: Feeder::Nobody, leads_to: Some(NextHop::Unreachable) };
    let mut neighbours = vec![unknown; scenario.links.len()];
    for (flow, path) in scenario.flow_paths().enumerate() {
        let datagrams = flow.checked_sub(scenario.tcp_flows.len()).is_some_and(|n| n < scenario.datagram_flows.len());
        let ways = ways(scenario, path, !datagrams);
        for (agent, way) in (2 * flow..).zip(&ways) {
            let mut feeder = Feeder::Agent(agent);
            for (place, &link) in way.iter().enumerate() {
                let next = way.get(place + 1).map_or(NextHop::Here, |&next| NextHop::Link(next));
                let Neighbours { feeder: fed, leads_to } = &mut neighbours[link as usize];
                *fed = if *fed == Feeder::Nobody || *fed == feeder { feeder } else { Feeder::Many };
                *leads_to = leads_to.filter(|hop| *hop == NextHop::Unreachable || *hop == next).map(|_| next);
                feeder = Feeder::Link(link);
            }
        }
    }
    neighbours
}

impl World {
    /// Sets the horizon, unless every packet is watched.
    pub(super) fn set_horizon(&mut self, horizon: Instant) {
        if !self.observers.watching {
            self.ahead.horizon = horizon.min(self.end).as_nanos();
        }
    }

    /// The horizon has moved on: takes on what was held back at the last one.
    pub(super) fn take_on_held(&mut self) {
        if self.observers.watching {
            return;
        }
        let mut held = std::mem::take(&mut self.ahead.held);
        for place in 0..self.ahead.deepest_first.len() {
            let index = self.ahead.deepest_first[place];
            self.links[index as usize].unstore(&mut held, &mut self.schedule);
            for (arrives, packet) in held.drain(..) {
                self.arriving(index, arrives, &packet);
            }
        }
        self.ahead.held = held;
    }

    /// A link has computed when a packet arrives at its far end: follows it as far as may be.
    #[inline(always)]
    pub(super) fn arriving(&mut self, mut index: LinkId, mut arrives: u64, packet: &Packet) {
        let (size, destination) = (packet.size, packet.destination);
        let mut link = &mut self.links[index as usize];
        while arrives <= self.ahead.horizon {
            let next = match link.leads_to {
                Some(hop) => hop,
                None => self.routes.next_hop(link.to, destination),
            };
            match next {
                NextHop::Ahead(next) => {
                    link.take_on(size);
                    index = next;
                    link = &mut self.links[index as usize];
                    match link.admit_ahead(arrives, size) {
                        Offered::Arrives(then) => arrives = then,
                        Offered::Refused(admission) => {
                            return self.offered(Instant::from_nanos(arrives), index, packet, admission);
                        }
                        Offered::Held => return debug_assert!(false, "a link that holds packets ran ahead"),
                    }
                }
                NextHop::Here if self.agents.get(packet.agent as usize).is_some_and(|agent| agent.runs_ahead) => {
                    link.take_on(size);
                    return self.receive_ahead(Instant::from_nanos(arrives), packet);
                }
                _ => break,
            }
        }
        link.store(arrives, packet, &mut self.schedule);
    }

    /// An agent takes a packet before the run has come to its arrival.
    #[inline(never)]
    fn receive_ahead(&mut self, at: Instant, packet: &Packet) {
        let agent = packet.agent as usize;
        // A timer that is due by then comes first. Its event will find nothing to do.
        while let Some(endpoint) = self.endpoints.get(agent)
            && endpoint.next_timeout() < at
        {
            self.events += 1;
            self.time_out(endpoint.next_timeout(), agent);
        }
        self.receive(at, packet);
    }
}
