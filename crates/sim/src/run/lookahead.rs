//! Links and endpoints that run ahead of the run's time.
//!
//! Where all packets of a link come from one other link, their order is known before they arrive: no event has to
//! wait for them. As soon as the first link has computed when a packet reaches its far end, the second is offered the
//! packet *at that time*, and so on. An endpoint takes its packets in the same way if it is the only one that sends over
//! its first link; what it sends then goes on ahead, too. Only where packets of several links or agents meet does an
//! event put them into order. A dumb-bell of many flows then costs two events for the eight hops of a packet and its
//! acknowledgement; one flow on a chain of links, one.
//!
//! Datagrams come whatever the network does, so their source needs no events either, where they need none on their way:
//! they are *drawn*, all that were due before, when their first link is offered something else, and at beats. Links that they
//! cross run ahead as if they were not there. Not so where datagrams drawn elsewhere pass over their first link, or where a source
//! of that link has events: nobody would know which of both come first. [`order`] finds which links and sources these are.
//!
//! What is read between events must not have run ahead: counters are read at the start of measurement, at the ends of
//! probe bins and at the end. The next of these instants is the *horizon*. A packet that arrives after it is stored
//! with an event of its own, as everywhere; once the horizon moves on, what was held back is taken on
//! (`World::take_on_held`), what depends on other links before those, so that no packet overtakes another.
//!
//! A run that is watched packet by packet (capture, replay) does without, and so do senders that are watched. Where routes change
//! nothing runs ahead from a change until the network has settled (`run/rerouting.rs`); then what may is found anew. The table of
//! drops is put into the order of time when the run is over.

mod order;

use super::agents::{Agent, AgentAhead};
use super::hosts::Hosts;
use super::net::Net;
use super::observers::Observers;
use crate::net::ids::{AgentId, ById, LinkId, SourceId};
use crate::net::link::Link;
use crate::net::packet::Packet;
use crate::net::routing::{Edge, NextHop, Routes};
use crate::scenario::{Scenario, TcpFlow};
use netlull_units::{Duration, Instant};
use order::{Feeder, Order, Ways};
use std::cmp::Reverse;

/// Beats in a run.
const BEATS: u64 = 1024;

/// What is held back at the horizon, and which sources of datagrams are drawn.
pub(super) struct Lookahead {
    /// Nothing runs ahead: every packet is watched, or routes have changed and the network has not settled.
    off: bool,
    /// All links, those furthest from where packets meet first.
    deepest_first: Vec<LinkId>,
    /// Room for the packets of one link.
    held: Vec<(u64, Packet)>,
    /// Whether a source of datagrams is drawn and has no events.
    drawn: ById<SourceId, bool>,
    /// Sources that are drawn, in the order of their first links.
    draws: Vec<Draw>,
    /// Those links.
    drawn_links: Vec<LinkId>,
}

/// A source of datagrams that is drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Draw {
    /// The link that it sends over.
    link: LinkId,
    pub source: SourceId,
    pub sender: AgentId,
}

/// The parts of a network that are told whether they may run ahead.
pub(super) struct Parts<'a> {
    pub links: &'a mut Vec<Link>,
    pub agents: &'a mut [Agent],
    pub routes: &'a mut Routes,
}

/// Who sends, as far as order is concerned.
pub(super) struct Senders {
    /// Of each TCP flow, whether its application acts at times of its own.
    acts: Vec<bool>,
    /// How many flows of datagrams there are.
    datagrams: usize,
    /// The nodes that each flow joins, TCP first, then datagrams, then requests.
    ends: Vec<(usize, usize)>,
}

/// The links of each agent's packets to its peer; none where there is nothing to send.
pub(super) type Paths = ById<AgentId, Vec<LinkId>>;

impl Senders {
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            acts: scenario.tcp_flows.iter().map(TcpFlow::acts).collect(),
            datagrams: scenario.datagram_flows.len(),
            ends: scenario.flow_paths().map(|path| (path.from, path.to)).collect(),
        }
    }

    /// All paths by `routes`. `None` if there is no way for some.
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
    /// Finds what may run ahead, and tells it.
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
            // Tables of what senders do are in the order of time: to sort them would cost more.
            let seen = observers.senders.is_some() || observers.recorder.records_windows();
            // Somewhere on the round an event must order packets, or it would never end.
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
        Self { off, deepest_first, drawn: order.drawn, draws, drawn_links, ..Self::off() }
    }

    /// Nothing runs ahead.
    pub fn off() -> Self {
        Self {
            off: true,
            deepest_first: Vec::new(),
            held: Vec::new(),
            drawn: ById::default(),
            draws: Vec::new(),
            drawn_links: Vec::new(),
        }
    }

    /// Whether nothing runs ahead.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Whether a source of datagrams has events.
    pub fn has_events(&self, source: SourceId) -> bool {
        self.drawn.get(source).is_none_or(|drawn| !drawn)
    }

    /// Sets the horizon, the next instant at which counters are read, unless nothing runs ahead.
    pub fn set_horizon(&self, net: &mut Net) {
        if self.off {
            return;
        }
        let order = &net.order;
        let looks = [order.probe(), order.warm_up(), order.phase_edge(), order.reroute()];
        let next = looks.map(|slot| net.schedule.at(slot)).into_iter().min().unwrap_or(Instant::NEVER);
        net.horizon = next.min(net.end).as_nanos().saturating_add(1);
    }

    /// The n-th link whose held packets are taken on, and room for these; the room is given back by [`Self::give_back`].
    pub fn nth_held(&mut self, n: usize, net: &mut Net, agents: &[Agent]) -> Option<(LinkId, Vec<(u64, Packet)>)> {
        let &id = self.deepest_first.get(n).filter(|_| !self.off)?;
        let mut held = std::mem::take(&mut self.held);
        let Net { links, routes, schedule, horizon, .. } = net;
        let link = &mut links[id];
        let (leads_to, to) = (link.leads_to, link.to);
        let goes = |packet: &Packet| match leads_to.unwrap_or_else(|| routes.next_hop(to, packet.destination)) {
            NextHop::Ahead(_) => true,
            NextHop::Here => agents.get(packet.agent.index()).is_some_and(|agent| agent.ahead != AgentAhead::No),
            NextHop::Link(_) | NextHop::Unreachable | NextHop::Changeable(_) => false,
        };
        link.withdraw(*horizon - 1, goes, &mut held, schedule);
        Some((id, held))
    }

    /// Takes back the room for held packets.
    pub fn give_back(&mut self, mut held: Vec<(u64, Packet)>) {
        held.clear();
        self.held = held;
    }

    /// Sets from when links look at what they are offered: where that is recorded or a station is always, else when the first datagrams are
    /// drawn, if any are.
    pub fn first_looks(&self, net: &mut Net, hosts: &Hosts, observers: &Observers) {
        for id in LinkId::all(net.links.len()) {
            let looks_always = is_looked_at(&net.links[id], id, observers);
            net.links[id].looks_from = if looks_always { 0 } else { u64::MAX };
        }
        for draw in &self.draws {
            let looks_from = &mut net.links[draw.link].looks_from;
            let first = hosts.sources[draw.source.index()].next().as_nanos().saturating_add(1);
            *looks_from = (*looks_from).min(first);
        }
    }

    /// Schedules the next beat, if there are datagrams to draw.
    pub fn next_beat(&self, net: &mut Net) {
        let gap = ((net.end - Instant::ZERO) / BEATS).max(Duration::from_nanos(1));
        let at = if self.draws.is_empty() { Instant::NEVER } else { net.now + gap };
        net.schedule.set(net.order.beat(), at);
    }

    /// The n-th link over which drawn datagrams are sent.
    pub fn nth_drawn_link(&self, n: usize) -> Option<LinkId> {
        self.drawn_links.get(n).copied()
    }

    /// The place of a link's first draw.
    #[inline]
    pub fn first_draw(&self, link: LinkId) -> usize {
        self.draws.partition_point(|draw| draw.link < link)
    }

    /// The next datagram of a link that is due before `end`, and when: in the order of their times, then of their flows. `first` is the place of the
    /// link's first draw.
    #[inline]
    pub fn next_draw(
        &self,
        first: usize,
        link: LinkId,
        end: u64,
        net: &mut Net,
        hosts: &Hosts,
        observers: &Observers,
    ) -> Option<(Instant, Draw)> {
        let here = self.draws[first..].iter().take_while(|draw| draw.link == link);
        let due = here.map(|draw| (hosts.sources[draw.source.index()].next().as_nanos(), draw)).min();
        let (at, draw) = due?;
        let looks_always = is_looked_at(&net.links[link], link, observers);
        net.links[link].looks_from = if looks_always { 0 } else { at.saturating_add(1) };
        (at < end).then_some((Instant::from_nanos(at), *draw))
    }
}

/// Whether somebody looks at every packet that is offered to a link.
fn is_looked_at(link: &Link, id: LinkId, observers: &Observers) -> bool {
    link.station.is_some() || observers.records_arrivals(id)
}

/// How many links and endpoints run ahead one after the other up to a link. This ends where an event orders packets.
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
