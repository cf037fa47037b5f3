//! Changes of routes and of lookahead.

use super::World;
use crate::net::flight::Packet;
use crate::net::ids::{LinkId, SourceId};
use crate::run::lookahead::{Lookahead, Parts};
use netlull_units::Instant;

impl World {
    /// Handles links that fall asleep or wake, and new tables of routers.
    pub(super) fn reroute(&mut self) {
        let now = self.net.now;
        if self.rerouting.as_ref().is_some_and(|rerouting| !rerouting.is_due(now)) {
            // Only this run checks whether the network has settled, so the check is not an event.
            self.net.events -= 1;
        } else {
            self.unsettle();
        }
        self.take_steps();
    }

    /// Takes the due steps of the network. Then checks whether it has settled, unless the run waits for a decision.
    pub(super) fn take_steps(&mut self) {
        let now = self.net.now;
        while let Some(rerouting) = &mut self.rerouting
            && let Some(stranded) = rerouting.step(&mut self.net, &mut self.observers)
        {
            stranded.iter().for_each(|(link, packet)| self.drop(now, Some(*link), packet));
        }
        if !self.rerouting.as_ref().is_some_and(|rerouting| rerouting.is_halted()) {
            self.settle();
        }
    }

    /// Checks whether the network has settled. If so, routes are fixed until the next step, and lookahead restarts.
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

    /// Stops lookahead before changes of routes. Packets then count their hops.
    pub(super) fn unsettle(&mut self) {
        if self.lookahead.is_off() {
            return;
        }
        // Datagrams due at this instant come after it.
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

    /// Lets links run ahead until the next reading of counters.
    pub(super) fn read(&mut self) {
        self.lookahead.set_horizon(&mut self.net);
        self.take_on_held();
    }

    /// Passes on the packets held at the last horizon, after the horizon has moved on.
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

    /// Records a packet offered to a link with recorded arrivals.
    pub(super) fn record_arrival(&mut self, link: LinkId, now: u64, packet: &Packet) {
        if let Some(arrivals) = &mut self.observers.arrivals {
            let flow = self.requests.flow_agent(packet.agent).flow();
            arrivals.offered(now, link, flow, packet.size);
        }
    }
}
