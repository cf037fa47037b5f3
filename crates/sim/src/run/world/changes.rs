//! Changes of routes, and of what may run ahead.

use super::World;
use crate::net::ids::{LinkId, SourceId};
use crate::net::packet::Packet;
use crate::run::lookahead::{Lookahead, Parts};
use netlull_units::Instant;

impl World {
    /// Links fall asleep or wake, or routers have new tables.
    pub(super) fn reroute(&mut self) {
        let now = self.net.now;
        if self.rerouting.as_ref().is_some_and(|rerouting| !rerouting.is_due(now)) {
            // Only this run looks whether the network has settled: that is no event.
            self.net.events -= 1;
        } else {
            self.unsettle();
        }
        while let Some(rerouting) = &mut self.rerouting
            && let Some(stranded) = rerouting.step(&mut self.net, &mut self.observers)
        {
            stranded.iter().for_each(|(link, packet)| self.drop(now, Some(*link), packet));
        }
        self.settle();
    }

    /// Looks whether the network has settled. If it has, routes are fixed until the next step, and what may runs ahead.
    pub(in crate::run) fn settle(&mut self) {
        let Self { net, hosts, requests, rerouting: Some(rerouting), lookahead, observers, .. } = self else { return };
        let Some(paths) = rerouting.settled(net, requests, observers) else { return };
        net.routes.mark_fixed();
        for (agent, path) in hosts.agents.iter_mut().zip(paths.iter()) {
            // The receiver of datagrams sends nothing.
            agent.out = Some(path.first().copied().unwrap_or_default());
        }
        let parts = Parts { links: &mut net.links, agents: &mut hosts.agents, routes: &mut net.routes };
        *lookahead = Lookahead::new(&rerouting.senders, &paths, parts, observers);
        rerouting.fix(paths);
        for source in SourceId::all(hosts.sources.len()).filter(|&source| !lookahead.has_events(source)) {
            net.schedule.set(net.order.source(hosts.flow_of(source)), Instant::NEVER);
        }
        lookahead.next_beat(net);
        lookahead.first_looks(net, hosts, observers);
        self.read();
    }

    /// Routes may change: nothing runs ahead, and packets count their hops.
    fn unsettle(&mut self) {
        if self.lookahead.is_off() {
            return;
        }
        // Those due at this very instant come after it.
        self.draw_before(self.net.now.as_nanos());
        let Self { net, hosts, requests, rerouting: Some(rerouting), lookahead, observers, .. } = self else { return };
        rerouting.tell_hops_left(net, requests);
        *lookahead = Lookahead::off();
        net.horizon = 0;
        net.routes.mark_changeable();
        hosts.agents.iter_mut().for_each(|agent| agent.out = None);
        net.links.iter_mut().for_each(|link| link.leads_to = None);
        for (source, sends) in SourceId::all(hosts.sources.len()).zip(&hosts.sources) {
            net.schedule.set(net.order.source(hosts.flow_of(source)), sends.next());
        }
        lookahead.next_beat(net);
        lookahead.first_looks(net, hosts, observers);
    }

    /// Counters have been read: links may run ahead until that happens again.
    pub(super) fn read(&mut self) {
        self.lookahead.set_horizon(&mut self.net);
        self.take_on_held();
    }

    /// The horizon has moved on: takes on what was held back at the last one.
    fn take_on_held(&mut self) {
        let mut number = 0;
        while let Some((link, mut held)) = self.lookahead.nth_held(number, &mut self.net, &self.hosts.agents) {
            for (arrives, packet) in held.drain(..) {
                self.arrive(link, arrives, &packet);
            }
            self.lookahead.give_back(held);
            number += 1;
        }
    }

    /// A packet is offered to a link, where that is recorded.
    pub(super) fn record_arrival(&mut self, link: LinkId, now: u64, packet: &Packet) {
        if let Some(arrivals) = &mut self.observers.arrivals {
            let flow = self.requests.flow_agent(packet.agent).flow();
            arrivals.offered(now, link, flow, packet.size);
        }
    }
}
