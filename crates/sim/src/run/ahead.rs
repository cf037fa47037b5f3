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
//! they are *drawn*, all that were due before, when their first link is offered something else, and at beats. Links that they cross
//! run ahead as if they were not there. Not so where datagrams drawn elsewhere pass over their first link, or where a source of
//! that link has events: nobody would know which of both come first.
//!
//! What is read between events must not have run ahead: counters are read at the start of measurement, at the ends of
//! probe bins and at the end. The next of these instants is the *horizon*. A packet that arrives after it is stored
//! with an event of its own, as everywhere; once the horizon moves on, what was held back is taken on
//! ([`World::take_on_held`]), what depends on other links before those, so that no packet overtakes another.
//!
//! A run that is watched packet by packet (capture, replay) does without, and so do senders that are watched. Where routes change nothing runs
//! ahead from a change until the network has settled (`run/rerouting.rs`); then what may is found anew. The table of
//! drops is put into the order of time when the run is over.

use super::parts::{Agent, Observers};
use super::stations::Attended;
use super::world::World;
use crate::net::ids::{AgentId, FlowId, LinkId};
use crate::net::link::{Link, Offered};
use crate::net::packet::Packet;
use crate::net::routing::{Edge, NextHop, Routes};
use crate::scenario::{Scenario, TcpFlow};
use netlull_units::{Duration, Instant};

/// Who offers packets to a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Link(LinkId),
    Agent(AgentId),
    Many,
}

/// Where a link's packets come from and go to, over the routes of all flows.
#[derive(Clone, Copy)]
struct Neighbours {
    feeder: Feeder,
    /// The next hop of all, if they have the same; `Unreachable` before one is known.
    leads_to: Option<NextHop>,
}

/// Whether an agent takes packets before the run has come to their arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentAhead {
    No,
    /// A TCP endpoint that is alone on its first link.
    Endpoint,
    /// The same, with an application that acts at times of its own.
    Writer,
    /// It counts them, and never answers.
    Sink,
}

impl AgentAhead {
    fn endpoint_if(alone: bool) -> Self {
        if alone { Self::Endpoint } else { Self::No }
    }

    fn is_endpoint(self) -> bool {
        matches!(self, Self::Endpoint | Self::Writer)
    }
}

/// How far may be run ahead, and what is held back at that point.
pub(super) struct Ahead {
    /// Nothing does: every packet is watched, or routes have changed and the network has not settled.
    off: bool,
    /// The horizon and a nanosecond: packets that arrive at this time or later are not taken on before it has moved on; 0 if
    /// none ever is.
    pub until: u64,
    /// All links, those furthest from where packets meet first.
    deepest_first: Vec<LinkId>,
    held: Vec<(u64, Packet)>,
    /// Whether a source of datagrams is drawn and has no events.
    drawn: Vec<bool>,
    /// Sources that are drawn, each with the link that it sends over, in the order of those.
    draws: Vec<(LinkId, usize)>,
}

/// Sources on one link that are drawn: each draw looks at all of them.
const MOST_DRAWN_TOGETHER: usize = 16;

/// Beats in a run.
const BEATS: u64 = 1024;

/// The parts of a world that are told whether they may run ahead.
pub(super) struct Parts<'a> {
    pub links: &'a mut [Link],
    pub agents: &'a mut [Agent],
    pub routes: &'a mut Routes,
}

impl Ahead {
    /// Finds what may run ahead, and tells it. `paths` are the links of each agent's packets to its peer.
    pub fn new(senders: &Senders, observers: &Observers, parts: Parts<'_>, paths: &[Vec<LinkId>]) -> Self {
        let Parts { links, agents, routes } = parts;
        let plain: Vec<bool> = links.iter().map(Link::can_run_ahead).collect();
        // What a gateway steers depends on what it has seen by then.
        let steered: Vec<bool> = links.iter().map(|link| link.is_steered).collect();
        let off = observers.watching;
        let among = Among { plain: &plain, steered: &steered, paths, off };
        let Order { neighbours, runs_ahead, drawn } = Order::new(senders, &among);
        routes.mark_ahead(|link| runs_ahead[link.index()]);
        for (link, neighbours) in links.iter_mut().zip(&neighbours) {
            link.leads_to = neighbours.leads_to.map(|hop| match hop {
                NextHop::Link(next) if runs_ahead[next.index()] => NextHop::Ahead(next),
                hop => hop,
            });
        }
        // An agent alone on its first link; one that sends nothing, always.
        let alone = |agent: AgentId, out: Option<LinkId>| {
            out.is_some_and(|out| neighbours[out.index()].feeder == Feeder::Agent(agent) && plain[out.index()])
        };
        let mut arrives_on = vec![LinkId::default(); agents.len()];
        for (flow, acts) in senders.acts.iter().enumerate() {
            let flow = FlowId::new(flow);
            let (sender, receiver) = (AgentId::sender(flow), AgentId::receiver(flow));
            let ways = [&paths[sender.index()], &paths[receiver.index()]];
            for (agent, way) in [(receiver, ways[0]), (sender, ways[1])] {
                arrives_on[agent.index()] = way.last().copied().unwrap_or_default();
            }
            let unsteered = |agent: AgentId| !steered[arrives_on[agent.index()].index()];
            agents[receiver.index()].ahead =
                AgentAhead::endpoint_if(alone(receiver, agents[receiver.index()].out) && unsteered(receiver));
            // Somewhere on the round an event must order packets, or it would never end.
            let meets = ways.iter().flat_map(|way| way.iter().skip(1)).any(|&link| !runs_ahead[link.index()]);
            // Tables of what senders do are in the order of time: to sort them would cost more.
            let seen = observers.senders.is_some() || observers.recorder.records_windows();
            let ends = meets || agents[receiver.index()].ahead == AgentAhead::No;
            agents[sender.index()].ahead = AgentAhead::endpoint_if(
                alone(sender, agents[sender.index()].out) && ends && !seen && unsteered(sender),
            );
            if agents[sender.index()].ahead == AgentAhead::Endpoint && *acts {
                agents[sender.index()].ahead = AgentAhead::Writer;
            }
        }
        // Datagrams have no window.
        for (agent, way) in agents.iter_mut().zip(0..).skip(2 * senders.acts.len()).take(2 * senders.datagrams) {
            let on_air = paths[AgentId::new(way).peer().index()]
                .last()
                .is_some_and(|&link| links[link.index()].station.is_some());
            agent.ahead = if on_air { AgentAhead::No } else { AgentAhead::Sink };
        }
        // This ends where an event orders packets.
        let depth = |mut link: LinkId| {
            let mut depth = 0;
            loop {
                link = match neighbours[link.index()].feeder {
                    Feeder::Link(feeder) if runs_ahead[link.index()] => feeder,
                    Feeder::Agent(agent) if agents[agent.index()].ahead.is_endpoint() => arrives_on[agent.index()],
                    _ => return depth,
                };
                depth += 1;
            }
        };
        let mut deepest_first: Vec<LinkId> = LinkId::all(links.len()).collect();
        deepest_first.sort_by_cached_key(|&link| std::cmp::Reverse(depth(link)));
        let mut draws: Vec<(LinkId, usize)> = Vec::new();
        for (source, _) in drawn.iter().enumerate().filter(|(_, drawn)| **drawn) {
            let sender = AgentId::sender(FlowId::new(senders.acts.len() + source));
            draws.extend(agents[sender.index()].out.map(|out| (out, source)));
        }
        draws.sort_unstable();
        Self { off, until: 0, deepest_first, held: Vec::new(), drawn, draws }
    }
}

impl Ahead {
    /// Nothing runs ahead.
    pub fn off() -> Self {
        Self { off: true, until: 0, deepest_first: Vec::new(), held: Vec::new(), drawn: Vec::new(), draws: Vec::new() }
    }

    /// Whether nothing runs ahead.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Whether a source of datagrams has events.
    pub fn has_events(&self, source: usize) -> bool {
        self.drawn.get(source).is_none_or(|drawn| !drawn)
    }
}

/// What decides which links may run ahead.
#[derive(Clone, Copy)]
struct Among<'a> {
    /// Links that only send what they are offered.
    plain: &'a [bool],
    /// Links at whose ends a gateway looks at packets.
    steered: &'a [bool],
    /// The links of each agent's packets to its peer.
    paths: &'a [Vec<LinkId>],
    /// None may.
    off: bool,
}

/// What has an order of its own, without events.
struct Order {
    neighbours: Vec<Neighbours>,
    /// Links.
    runs_ahead: Vec<bool>,
    /// Datagram flows.
    drawn: Vec<bool>,
}

impl Order {
    /// Starts with every datagram flow drawn and gives up those that would need events, until that holds for all.
    fn new(senders: &Senders, among: &Among<'_>) -> Self {
        let Among { plain, steered, paths: ways, off } = *among;
        let sources = 2 * senders.acts.len();
        let requests = sources + 2 * senders.datagrams;
        let paths: Vec<&Vec<LinkId>> = ways[sources..requests].iter().step_by(2).collect();
        // At the same instant datagrams come before requests, and after everything else that is offered to a link.
        let asked: Vec<Option<LinkId>> = ways[requests..].iter().map(|way| way.first().copied()).collect();
        let mut begin = vec![0_usize; plain.len()];
        paths.iter().filter_map(|path| path.first()).for_each(|&link| begin[link.index()] += 1);
        let may_be = |path: &&Vec<LinkId>| {
            !off && path.first().is_some_and(|&first| {
                plain[first.index()] && !asked.contains(&Some(first)) && begin[first.index()] <= MOST_DRAWN_TOGETHER
            })
        };
        let mut drawn: Vec<bool> = paths.iter().map(may_be).collect();
        loop {
            let neighbours = neighbours(senders, ways, plain.len(), &drawn);
            let fed_by_one =
                |link: usize| matches!(neighbours[link].feeder, Feeder::Link(feeder) if !steered[feeder.index()]);
            let runs_ahead: Vec<bool> = (0..plain.len()).map(|link| plain[link] && fed_by_one(link)).collect();
            let needs_events = |path: &Vec<LinkId>| path.iter().skip(1).any(|&link| !runs_ahead[link.index()]);
            // Where datagrams pass that are drawn elsewhere nobody knows which of both come first; and of the sources of one
            // link all are drawn, or none.
            let mut mixed = vec![false; plain.len()];
            for (drawn, path) in drawn.iter().zip(&paths) {
                let own = usize::from(*drawn);
                path.iter()
                    .skip(own)
                    .take(if *drawn { path.len() } else { 1 })
                    .for_each(|&link| mixed[link.index()] = true);
            }
            let keep =
                |path: &Vec<LinkId>| !needs_events(path) && path.first().is_some_and(|&link| !mixed[link.index()]);
            let next: Vec<bool> = drawn.iter().zip(&paths).map(|(drawn, path)| *drawn && keep(path)).collect();
            if next == drawn {
                return Self { neighbours, runs_ahead, drawn };
            }
            drawn = next;
        }
    }
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

impl Senders {
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            acts: scenario.tcp_flows.iter().map(TcpFlow::acts).collect(),
            datagrams: scenario.datagram_flows.len(),
            ends: scenario.flow_paths().map(|path| (path.from, path.to)).collect(),
        }
    }

    /// The links of each agent's packets to its peer, by `routes`; none where there is nothing to send. `None` if there is no way for some.
    pub fn paths(&self, routes: &Routes, edges: &[Edge]) -> Option<Vec<Vec<LinkId>>> {
        let datagrams = self.acts.len()..self.acts.len() + self.datagrams;
        let mut paths = Vec::with_capacity(2 * self.ends.len());
        for (flow, &(from, to)) in self.ends.iter().enumerate() {
            paths.push(routes.path(from, to, edges)?);
            paths.push(if datagrams.contains(&flow) { Vec::new() } else { routes.path(to, from, edges)? });
        }
        Some(paths)
    }
}

/// Follows the packets of all flows, there and back.
fn neighbours(senders: &Senders, ways: &[Vec<LinkId>], links: usize, drawn: &[bool]) -> Vec<Neighbours> {
    let unknown = Neighbours { feeder: Feeder::Nobody, leads_to: Some(NextHop::Unreachable) };
    let mut neighbours = vec![unknown; links];
    for (agent, way) in ways.iter().enumerate() {
        let agent = AgentId::new(agent);
        let drawn = agent.flow().index().checked_sub(senders.acts.len()).and_then(|source| drawn.get(source));
        let mut feeder = if drawn == Some(&true) { Feeder::Nobody } else { Feeder::Agent(agent) };
        for (place, &link) in way.iter().enumerate() {
            let next = way.get(place + 1).map_or(NextHop::Here, |&next| NextHop::Link(next));
            let Neighbours { feeder: fed, leads_to } = &mut neighbours[link.index()];
            *fed = match (*fed, feeder) {
                (Feeder::Nobody, feeder) | (feeder, Feeder::Nobody) => feeder,
                (one, other) if one == other => one,
                _ => Feeder::Many,
            };
            *leads_to = leads_to.filter(|hop| *hop == NextHop::Unreachable || *hop == next).map(|_| next);
            feeder = Feeder::Link(link);
        }
    }
    neighbours
}

impl World {
    /// Sets the horizon, unless nothing runs ahead.
    pub(super) fn set_horizon(&mut self, horizon: Instant) {
        if !self.ahead.off {
            self.ahead.until = horizon.min(self.end).as_nanos().saturating_add(1);
        }
    }

    /// The horizon has moved on: takes on what was held back at the last one.
    pub(super) fn take_on_held(&mut self) {
        if self.ahead.off {
            return;
        }
        let mut held = std::mem::take(&mut self.ahead.held);
        for place in 0..self.ahead.deepest_first.len() {
            let index = self.ahead.deepest_first[place];
            self.withdraw(index, &mut held);
            for (arrives, packet) in held.drain(..) {
                self.arriving(index, arrives, &packet);
            }
        }
        self.ahead.held = held;
    }

    /// Takes the packets off a link that may be taken on now.
    fn withdraw(&mut self, index: LinkId, held: &mut Vec<(u64, Packet)>) {
        let Self { links, routes, agents, schedule, ahead, .. } = self;
        let link = &mut links[index];
        let (leads_to, to) = (link.leads_to, link.to);
        let goes = |packet: &Packet| match leads_to.unwrap_or_else(|| routes.next_hop(to, packet.destination)) {
            NextHop::Ahead(_) => true,
            NextHop::Here => agents.get(packet.agent.index()).is_some_and(|agent| agent.ahead != AgentAhead::No),
            NextHop::Link(_) | NextHop::Unreachable | NextHop::Changeable(_) => false,
        };
        link.withdraw(ahead.until - 1, goes, held, schedule);
    }

    /// A link has computed when a packet arrives at its far end: follows it as far as may be.
    #[inline(always)]
    pub(super) fn arriving(&mut self, mut index: LinkId, mut arrives: u64, packet: &Packet) {
        let (size, destination) = (packet.size, packet.destination);
        let mut link = &mut self.links[index];
        while arrives < self.ahead.until {
            let next = match link.leads_to {
                Some(hop) => hop,
                None => self.routes.next_hop(link.to, destination),
            };
            match next {
                NextHop::Ahead(next) => {
                    link.take_on(size);
                    index = next;
                    if self.links[index].looks_from <= arrives {
                        // Nobody attends to a link that runs ahead.
                        self.before_offer(index, arrives, &mut { *packet });
                    }
                    link = &mut self.links[index];
                    match link.admit_ahead(arrives, size) {
                        Offered::Arrives(then) => arrives = then,
                        Offered::Refused(admission) => {
                            return self.offered(Instant::from_nanos(arrives), index, packet, admission);
                        }
                        Offered::Held => return debug_assert!(false, "a link that holds packets ran ahead"),
                    }
                }
                NextHop::Here => {
                    // The ends of requests' connections are no agents of their own.
                    let Some(agent) = self.agents.get_mut(packet.agent.index()) else { break };
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
        link.store(arrives, packet, &mut self.schedule);
    }

    /// A packet is about to be offered to a link that looks at it first: datagrams that come before it are drawn, it is recorded, and a
    /// station or its access point may take it.
    #[inline(never)]
    pub(super) fn before_offer(&mut self, link: LinkId, now: u64, packet: &mut Packet) -> Attended {
        self.draw(link, now);
        self.record_arrival(link, now, packet);
        self.attend_offer(link, packet)
    }

    /// Whether somebody looks at every packet that is offered to a link.
    fn is_looked_at(&self, link: LinkId) -> bool {
        self.links[link].station.is_some()
            || self.observers.arrivals.as_ref().is_some_and(|arrivals| arrivals.records(link))
    }

    /// A packet is offered to a link, where that is recorded.
    pub(super) fn record_arrival(&mut self, link: LinkId, now: u64, packet: &Packet) {
        if let Some(arrivals) = &mut self.observers.arrivals {
            let flow = self.requests.flow_agent(packet.agent).flow();
            arrivals.offered(now, link, flow, packet.size);
        }
    }

    /// From when links look at what they are offered: where that is recorded always, else when the first datagrams are drawn, if any are.
    pub(super) fn first_looks(&mut self) {
        for link in LinkId::all(self.links.len()) {
            self.links[link].looks_from = if self.is_looked_at(link) { 0 } else { u64::MAX };
        }
        self.first_draws();
    }

    /// When the first datagrams are drawn.
    fn first_draws(&mut self) {
        for &(link, source) in &self.ahead.draws {
            let looks_from = &mut self.links[link].looks_from;
            *looks_from = (*looks_from).min(self.sources[source].next().as_nanos().saturating_add(1));
        }
    }

    /// Where datagrams are drawn that nothing else asks for, they are drawn now and then, so that a run can be followed and ended.
    pub(super) fn beat(&mut self) {
        // Those due at this very instant come after everything else, and wait for the next beat.
        self.draw_before(self.now.as_nanos());
        self.next_beat();
    }

    /// Sets the next beat, if there are datagrams to draw.
    pub(super) fn next_beat(&mut self) {
        if !self.ahead.draws.is_empty() {
            let gap = ((self.end - Instant::ZERO) / BEATS).max(Duration::from_nanos(1));
            self.schedule.set(self.slots.beat(), self.now + gap);
        } else {
            self.schedule.set(self.slots.beat(), Instant::NEVER);
        }
    }

    /// Everything that reads counters sees the datagrams that are due by now.
    pub(super) fn draw_all(&mut self) {
        self.draw_before(self.now.as_nanos().saturating_add(1));
    }

    /// Draws the datagrams that are due before `end`.
    pub(super) fn draw_before(&mut self, end: u64) {
        let mut link = None;
        for place in 0..self.ahead.draws.len() {
            let next = self.ahead.draws[place].0;
            if link.replace(next) != Some(next) {
                self.draw(next, end);
            }
        }
    }

    /// Offers a link the datagrams that are due before `end`: in the order of their times, then of their flows.
    #[inline(never)]
    pub(super) fn draw(&mut self, link: LinkId, end: u64) {
        let first = self.ahead.draws.partition_point(|&(other, _)| other < link);
        loop {
            let here = self.ahead.draws[first..].iter().take_while(|&&(other, _)| other == link);
            let due = here.map(|&(_, source)| (self.sources[source].next().as_nanos(), source)).min();
            let Some((at, source)) = due else { return };
            self.links[link].looks_from = if self.is_looked_at(link) { 0 } else { at.saturating_add(1) };
            if at >= end {
                return;
            }
            self.events += 1;
            self.send_datagram(Instant::from_nanos(at), source);
        }
    }

    /// An agent takes a packet before the run has come to its arrival.
    #[inline(never)]
    fn receive_ahead(&mut self, at: Instant, packet: &Packet) {
        let agent = packet.agent;
        // A timer that is due by then comes first. Its event will find nothing to do.
        while let Some(endpoint) = self.endpoints.get(agent.index())
            && endpoint.next_timeout() < at
        {
            self.events += 1;
            self.time_out(endpoint.next_timeout(), agent);
        }
        self.receive(at, packet);
    }

    /// The same for a sender whose application acts at times of its own.
    #[inline(never)]
    fn receive_ahead_of_writes(&mut self, at: Instant, packet: &Packet) {
        let sender = packet.agent;
        loop {
            let (timer, action) =
                (self.endpoints[sender.index()].next_timeout(), self.connections[sender.flow().index()].next_action());
            if timer.min(action) >= at {
                break;
            }
            self.events += 1;
            // In the order of the slots.
            if timer <= action { self.time_out(timer, sender) } else { self.act(action, sender.flow()) }
        }
        self.receive(at, packet);
    }
}
