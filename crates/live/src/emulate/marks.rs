//! Counters at the instants that the plan asks for.

use super::ids::{FlowId, Id};
use super::net::Net;
use super::stations::Stations;
use super::timetable::Due;
use netlull_network::outcome::{FlowMark, LinkMark, NetworkMark};
use netlull_units::Instant;

/// The counters so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    taken: Vec<NetworkMark>,
}

/// The part of the run that is left after a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Marks are still to come.
    Some,
    /// It was the last mark: the run is over.
    Nothing,
}

impl Marks {
    /// Sets the instant of the next mark.
    pub(super) fn arm(&self, net: &mut Net) -> Left {
        let next = net.plan.marks.get(self.taken.len()).copied();
        net.timetable.set(Due::Mark, next.unwrap_or(Instant::NEVER));
        if next.is_some() { Left::Some } else { Left::Nothing }
    }

    /// Reads the counters; at the first mark measurement begins.
    pub(super) fn due(&mut self, net: &mut Net, stations: &mut Stations) -> Left {
        if self.taken.is_empty() {
            begin_measurement(net, stations);
        }
        let now = net.now;
        let links = net.links.iter_mut().zip(&net.plan.links).map(|(link, plan)| LinkMark {
            counters: link.counters_at(now),
            residency: plan.varies().then(|| link.residency(now)),
            rate_changes: link.rate_changes(),
        });
        let links = links.collect();
        let flow_mark = |flow: FlowId| {
            let (timeouts, fast_retransmits) = net.observers.gauge(flow).counts();
            FlowMark { timeouts, fast_retransmits, ..*net.connections.flow(flow) }
        };
        let flows = (0..net.plan.flows.len()).map(FlowId::new).map(flow_mark).collect();
        let at = net.plan.marks[self.taken.len()];
        self.taken.push(NetworkMark { at, links, flows, routers: net.routes.losses() });
        self.arm(net)
    }

    /// All counters, in the order of time.
    pub(super) fn into_vec(self) -> Vec<NetworkMark> {
        self.taken
    }
}

fn begin_measurement(net: &mut Net, stations: &mut Stations) {
    let now = net.now;
    net.links.iter_mut().for_each(|link| link.restart_meter(now));
    net.controls.iter_mut().for_each(|controller| controller.restart(now));
    stations.members_mut().for_each(|member| member.restart(now, net.links[member.down].head()));
}
