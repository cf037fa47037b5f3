//! Links and endpoints that run ahead of the run's time.
//!
//! If all packets of a link come from one other link, their order is known before they arrive. Then no event is needed
//! to order them. As soon as the first link has computed a packet's arrival at its far end, the second link gets the
//! packet *at that time*, and so on. An endpoint takes its packets in the same way if it is the only sender on its
//! first link. The packets that it sends then run ahead, too. Only where packets of several links or agents meet does
//! an event put them in order. Thus a dumb-bell of many flows needs two events for the eight hops of a packet and its
//! acknowledgement. A single flow on a chain of links needs one.
//!
//! Datagrams do not depend on the network. If they need no events on their way, their source needs none either: they
//! are *drawn*. All datagrams due earlier are drawn when their first link is offered another packet, and at beats. The
//! links on their way run ahead as if the datagrams were not there. There are two exceptions, because the order of
//! packets would be unknown: datagrams that are drawn elsewhere and cross the first link, and a source with events on
//! that link. [`order`] finds these links and sources.
//!
//! State that is read between events must not have run ahead. Counters are read at the start of the measured time, at
//! the ends of probe bins and at the end. The next of these instants is the *horizon*. A packet that arrives after it
//! is stored with its own event, as without lookahead. When the horizon moves on, the held packets are passed on
//! (`World::take_on_held`). Packets on dependent links come first, so no packet overtakes another.
//!
//! Runs with watched packets (capture, replay) do not use lookahead, and neither do watched senders. If routes may
//! change, nothing runs ahead from a change until the network has settled (`run/rerouting.rs`). Then the links that
//! may run ahead are determined again. The table of drops is sorted by time after the run.

mod order;

use super::hosts::{Agent, AgentAhead, Hosts};
use super::net::Net;
use super::observers::Observers;
use crate::net::flight::Packet;
use crate::net::ids::{AgentId, ById, LinkId, SourceId};
use crate::net::link::Link;
use crate::net::routing::{Edge, NextHop, Routes};
use crate::scenario::{Scenario, TcpFlow};
use netlull_units::Instant;
use order::{Feeder, Order, Ways};
use std::cmp::Reverse;

/// Packets held back at the horizon, and drawn sources of datagrams.
pub(super) struct Lookahead {
    /// True if nothing runs ahead: every packet is watched, or the network has not settled after a change of routes.
    off: bool,
    /// All links, starting with those furthest from where packets meet.
    deepest_first: Vec<LinkId>,
    /// A buffer for the packets of one link.
    held: Vec<(u64, Packet)>,
    /// For each source of datagrams, true if it is drawn and has no events.
    drawn: ById<SourceId, bool>,
    /// Drawn sources, in the order of their first links.
    draws: Vec<Draw>,
    /// The time of each draw's next datagram, in ns.
    due: Vec<u64>,
    /// For each link, the numbers of its first draw and of the draw after its last.
    draws_of: ById<LinkId, (usize, usize)>,
    /// The first links of drawn sources.
    drawn_links: Vec<LinkId>,
}

/// A drawn source of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Draw {
    /// The first link of its datagrams.
    link: LinkId,
    pub source: SourceId,
    pub sender: AgentId,
}

/// A drawn datagram.
pub(super) struct Due {
    pub at: Instant,
    /// The number of its draw.
    pub number: usize,
    pub draw: Draw,
}

/// The parts of a network that lookahead configures.
pub(super) struct Parts<'a> {
    pub links: &'a mut Vec<Link>,
    pub agents: &'a mut [Agent],
    pub routes: &'a mut Routes,
}

/// The senders, as far as the order of packets depends on them.
pub(super) struct Senders {
    /// For each TCP flow, true if its application acts at its own times.
    acts: Vec<bool>,
    /// The number of datagram flows.
    datagrams: usize,
    /// The end nodes of each flow: TCP first, then datagrams, then requests.
    ends: Vec<(usize, usize)>,
}

/// The links of each agent's packets to its peer; empty if it sends nothing.
pub(super) type Paths = ById<AgentId, Vec<LinkId>>;

impl Senders {
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            acts: scenario.tcp_flows.iter().map(TcpFlow::acts).collect(),
            datagrams: scenario.datagram_flows.len(),
            ends: scenario.flow_paths().map(|path| (path.from, path.to)).collect(),
        }
    }

    /// All paths by `routes`; `None` if a route is missing.
    pub fn paths(&self, routes: &Routes, edges: &[Edge]) -> Option<Paths> {
        let datagrams = self.acts.len()..self.acts.len() + self.datagrams;
        let mut paths = Vec::with_capacity(2 * self.ends.len());
        for (flow, &(from, to)) in self.ends.iter().enumerate() {
            paths.push(routes.path(from, to, edges)?);
            paths.push(if datagrams.contains(&flow) { Vec::new() } else { routes.path(to, from, edges)? });
        }
        Some(ById::new(paths))
    }
}

impl Lookahead {
    /// Determines the links and agents that may run ahead, and configures them.
    pub fn new(senders: &Senders, paths: &Paths, parts: Parts<'_>, observers: &Observers) -> Self {
        let Parts { links, agents, routes } = parts;
        let off = observers.watching;
        let ways = Ways::new(senders, paths, links);
        let order = if off { Order::of_events(&ways) } else { Order::furthest(&ways) };
        routes.mark_ahead(|link| order.runs_ahead[link]);
        for link in LinkId::all(links.len()) {
            links[link].leads_to = order.leads_to(link);
        }
        for (flow, acts) in ways.tcp_flows() {
            let (sender, receiver) = (AgentId::sender(flow), AgentId::receiver(flow));
            let alone = |agent: AgentId| order.is_alone(&ways, agent);
            agents[receiver.index()].ahead = AgentAhead::endpoint_if(alone(receiver));
            // Tables of sender events are in the order of time, and sorting them would cost more.
            let seen = observers.senders.is_some() || observers.recorder.records_windows();
            // At least one event per round must order packets; otherwise the loop would not end.
            let ends = order.meets_others(&ways, flow) || !alone(receiver);
            let ahead = alone(sender) && ends && !seen;
            agents[sender.index()].ahead =
                if ahead && acts { AgentAhead::Writer } else { AgentAhead::endpoint_if(ahead) };
        }
        // Datagrams have no window.
        for (_, sender) in ways.sources() {
            let on_air = paths[sender].last().is_some_and(|&link| links[link].station.is_some());
            agents[sender.index()].ahead = AgentAhead::Sink;
            agents[sender.peer().index()].ahead = if on_air { AgentAhead::No } else { AgentAhead::Sink };
        }
        let mut deepest_first: Vec<LinkId> = LinkId::all(links.len()).collect();
        deepest_first.sort_by_cached_key(|&link| Reverse(depth(link, &order, &ways, agents)));
        let drawn = ways.sources().filter(|(source, _)| order.drawn[*source]);
        let mut draws: Vec<Draw> =
            drawn.filter_map(|(source, sender)| Some(Draw { link: *paths[sender].first()?, source, sender })).collect();
        draws.sort_unstable();
        let mut drawn_links: Vec<LinkId> = draws.iter().map(|draw| draw.link).collect();
        drawn_links.dedup();
        let first = |link: LinkId| draws.partition_point(|draw| draw.link < link);
        let after = |link: LinkId| draws.partition_point(|draw| draw.link <= link);
        let draws_of = ById::new(LinkId::all(links.len()).map(|link| (first(link), after(link))).collect());
        Self { off, deepest_first, drawn: order.drawn, draws, draws_of, drawn_links, ..Self::off() }
    }

    /// Creates a lookahead that is off: nothing runs ahead.
    pub fn off() -> Self {
        Self {
            off: true,
            deepest_first: Vec::new(),
            held: Vec::new(),
            drawn: ById::default(),
            draws: Vec::new(),
            due: Vec::new(),
            draws_of: ById::default(),
            drawn_links: Vec::new(),
        }
    }

    /// Returns true if nothing runs ahead.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Returns true if a source of datagrams has events.
    pub fn has_events(&self, source: SourceId) -> bool {
        self.drawn.get(source).is_none_or(|drawn| !drawn)
    }

    /// Sets the horizon, the next instant at which counters are read, unless lookahead is off.
    pub fn set_horizon(&self, net: &mut Net) {
        if self.off {
            return;
        }
        let order = &net.order;
        let looks = [order.probe(), order.warm_up(), order.phase_edge(), order.reroute()];
        let next = looks.map(|slot| net.schedule.at(slot)).into_iter().min().unwrap_or(Instant::NEVER);
        net.horizon = next.min(net.end).as_nanos().saturating_add(1);
    }

    /// The n-th link with held packets to pass on, and a buffer with them. [`Self::give_back`] returns the buffer.
    pub fn nth_held(&mut self, n: usize, net: &mut Net, agents: &[Agent]) -> Option<(LinkId, Vec<(u64, Packet)>)> {
        let &id = self.deepest_first.get(n).filter(|_| !self.off)?;
        let mut held = std::mem::take(&mut self.held);
        let Net { links, routes, schedule, store, horizon, .. } = net;
        let link = &mut links[id];
        let (leads_to, to) = (link.leads_to, link.to);
        let goes = |packet: &Packet| match leads_to.unwrap_or_else(|| routes.next_hop(to, packet.destination)) {
            NextHop::Ahead(_) => true,
            NextHop::Here => agents.get(packet.agent.index()).is_some_and(|agent| agent.ahead != AgentAhead::No),
            NextHop::Link(_) | NextHop::Unreachable | NextHop::Changeable(_) => false,
        };
        link.withdraw(*horizon - 1, goes, &mut held, schedule, store);
        Some((id, held))
    }

    /// Takes back the buffer for held packets.
    pub fn give_back(&mut self, mut held: Vec<(u64, Packet)>) {
        held.clear();
        self.held = held;
    }

    /// Sets the times of the first drawn datagrams, and the time from which each link needs work before an offered
    /// packet.
    ///
    /// The time is zero if arrivals are recorded or the link belongs to a station. Otherwise it is the time of the
    /// first drawn datagram, if there is one.
    pub fn first_looks(&mut self, net: &mut Net, hosts: &Hosts, observers: &Observers) {
        for id in LinkId::all(net.links.len()) {
            let looks_always = is_looked_at(&net.links[id], id, observers);
            net.links[id].looks_from = if looks_always { 0 } else { u64::MAX };
        }
        self.due = self.draws.iter().map(|draw| hosts.sources[draw.source.index()].next().as_nanos()).collect();
        for (draw, due) in self.draws.iter().zip(&self.due) {
            let looks_from = &mut net.links[draw.link].looks_from;
            *looks_from = (*looks_from).min(due.saturating_add(1));
        }
    }

    /// Schedules the next beat if there are datagrams to draw.
    pub fn next_beat(&self, net: &mut Net) {
        let at = if self.draws.is_empty() { Instant::NEVER } else { net.now + net.beat };
        net.schedule.set(net.order.beat(), at);
    }

    /// The n-th link with drawn datagrams.
    pub fn nth_drawn_link(&self, n: usize) -> Option<LinkId> {
        self.drawn_links.get(n).copied()
    }

    /// The next datagram of a link that is due before `end`. The order is by time, then by flow.
    #[inline]
    pub fn next_draw(&self, link: LinkId, end: u64, net: &mut Net, observers: &Observers) -> Option<Due> {
        let &(first, after) = self.draws_of.get(link)?;
        let due = self.due.get(first..after)?;
        // A loop: iterators over iterators cost several times as much here, unless all are inlined.
        let (mut nearest, mut at) = (0, *due.first()?);
        for (n, &other) in due.iter().enumerate().skip(1) {
            if other < at {
                (nearest, at) = (n, other);
            }
        }
        let number = first + nearest;
        let looks_always = is_looked_at(&net.links[link], link, observers);
        net.links[link].looks_from = if looks_always { 0 } else { at.saturating_add(1) };
        (at < end).then(|| Due { at: Instant::from_nanos(at), number, draw: self.draws[number] })
    }

    /// Sets the time of a draw's next datagram.
    #[inline]
    pub fn set_due(&mut self, number: usize, next: Instant) {
        self.due[number] = next.as_nanos();
    }
}

/// Returns true if every packet offered to a link is inspected.
fn is_looked_at(link: &Link, id: LinkId, observers: &Observers) -> bool {
    link.station.is_some() || observers.records_arrivals(id)
}

/// The number of consecutive links and endpoints that run ahead before a link, back to an event that orders packets.
fn depth(mut link: LinkId, order: &Order, ways: &Ways<'_>, agents: &[Agent]) -> u64 {
    let mut depth = 0;
    loop {
        link = match order.neighbours[link].feeder {
            Feeder::Link(feeder) if order.runs_ahead[link] => feeder,
            Feeder::Agent(agent) if agents[agent.index()].ahead.is_endpoint() => ways.arrives_on(agent),
            _ => return depth,
        };
        depth += 1;
    }
}
