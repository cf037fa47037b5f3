//! Links that run ahead of the run's time.
//!
//! Where all packets of a link come from one other link, their order is known before they arrive: no event has to
//! wait for them. As soon as the first link has computed when a packet reaches its far end, the second is offered the
//! packet *at that time*, and so on; only where packets of several links or agents meet, and where one reaches its
//! destination, does an event put them into order. A dumb-bell of many flows then costs one event for every two
//! packet-hops, one flow on a chain of links one for every four.
//!
//! What is read between events must not have run ahead: counters are read at the start of measurement, at the ends of
//! probe bins and at the end. The next of these instants is the *horizon*. A packet that arrives after it is stored
//! with an event of its own, as everywhere; once the horizon moves on, what was held back is taken on
//! ([`World::take_on_held`]), the deepest links first, so that no packet overtakes another.
//!
//! A run that is watched packet by packet (capture, replay) does without.

use super::world::World;
use crate::net::link::{Link, Offered};
use crate::net::packet::{LinkId, Packet};
use crate::net::routing::{NextHop, Routes};
use crate::scenario::Scenario;
use netlull_units::Instant;

/// Who offers packets to a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Link(LinkId),
    /// An agent, or several links.
    Many,
}

/// How far links may run ahead, and which hold packets back at that point.
pub(super) struct Ahead {
    /// Packets that arrive later are not taken on before then, in nanoseconds; 0 if none ever is.
    pub horizon: u64,
    /// Links whose packets may be taken on, those furthest from where packets meet first.
    feeders: Vec<LinkId>,
    held: Vec<(u64, Packet)>,
}

impl Ahead {
    /// Finds the links that may run ahead, and marks them in the routes. `keeps_drops` if the order of drops among links is
    /// recorded.
    pub fn new(scenario: &Scenario, links: &[Link], routes: &mut Routes, keeps_drops: bool) -> Self {
        let feeders = feeders(scenario);
        let runs_ahead = |link: LinkId| {
            let (feeder, link) = (feeders[link as usize], &links[link as usize]);
            matches!(feeder, Feeder::Link(_)) && link.can_run_ahead() && (!keeps_drops || link.never_drops())
        };
        routes.mark_ahead(runs_ahead);
        // A packet crosses no link twice, so this ends where an agent or a second feeder stands.
        let depth = |mut link: LinkId| {
            let mut depth = 0;
            while let (true, Feeder::Link(feeder)) = (runs_ahead(link), feeders[link as usize]) {
                depth += 1;
                link = feeder;
            }
            depth
        };
        #[allow(clippy::cast_possible_truncation)]
        let mut order: Vec<LinkId> = (0..links.len() as LinkId).collect();
        order.sort_by_cached_key(|&link| std::cmp::Reverse(depth(link)));
        Self { horizon: 0, feeders: order, held: Vec::new() }
    }
}

/// Who offers packets to each link, from the routes of all flows.
fn feeders(scenario: &Scenario) -> Vec<Feeder> {
    let mut feeders = vec![Feeder::Nobody; scenario.links.len()];
    let mut follow = |from: usize, to: usize| {
        let mut feeder = Feeder::Many;
        for link in scenario.routes.path(from, to, &scenario.edges).unwrap_or_default() {
            let fed = &mut feeders[link as usize];
            *fed = if *fed == Feeder::Nobody || *fed == feeder { feeder } else { Feeder::Many };
            feeder = Feeder::Link(link);
        }
    };
    for flow in &scenario.tcp_flows {
        follow(flow.path.from, flow.path.to);
        follow(flow.path.to, flow.path.from);
    }
    for flow in &scenario.datagram_flows {
        follow(flow.path.from, flow.path.to);
    }
    feeders
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
        for place in 0..self.ahead.feeders.len() {
            let index = self.ahead.feeders[place];
            self.links[index as usize].unstore(&mut held, &mut self.schedule);
            for (arrives, packet) in held.drain(..) {
                self.arriving(index, arrives, packet);
            }
        }
        self.ahead.held = held;
    }

    /// A link has computed when a packet arrives at its far end: follows it as far as may be.
    #[inline(always)]
    pub(super) fn arriving(&mut self, mut index: LinkId, mut arrives: u64, mut packet: Packet) {
        while arrives <= self.ahead.horizon {
            let link = &mut self.links[index as usize];
            match self.routes.next_hop(link.to, packet.destination) {
                NextHop::Ahead(next) => {
                    link.take_on(packet.size);
                    self.events += 1;
                    let at = Instant::from_nanos(arrives);
                    match self.links[next as usize].admit(at, &mut packet, &mut self.schedule) {
                        Offered::Arrives(then) => arrives = then,
                        Offered::Refused(admission) => return self.offered(at, next, &packet, admission),
                        Offered::Held => return debug_assert!(false, "a link that holds packets ran ahead"),
                    }
                    index = next;
                }
                NextHop::Here if packet.agent as usize >= self.endpoints.len() => {
                    link.take_on(packet.size);
                    self.events += 1;
                    self.agents[packet.agent as usize].counters.receive(&packet);
                    return;
                }
                _ => break,
            }
        }
        self.links[index as usize].store(arrives, &packet, &mut self.schedule);
    }
}
