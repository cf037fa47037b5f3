//! Snapshots of the counters at the instants of the plan.

use super::ids::{FlowId, Id};
use super::net::Net;
use super::stations::Stations;
use super::timetable::Due;
use netlull_network::outcome::{FlowMark, LinkMark, NetworkMark};
use netlull_units::Instant;

/// The snapshots so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    taken: Vec<NetworkMark>,
}

/// The rest of the run after a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// More snapshots follow.
    Some,
    /// It was the last snapshot: the run is over.
    Nothing,
}

impl Marks {
    /// Schedules the next snapshot.
    pub(super) fn arm(&self, net: &mut Net) -> Left {
        let next = net.plan.marks.get(self.taken.len()).copied();
        net.timetable.set(Due::Mark, next.unwrap_or(Instant::NEVER));
        if next.is_some() { Left::Some } else { Left::Nothing }
    }

    /// Takes a snapshot; the first starts the measurement.
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

    /// All snapshots, in chronological order.
    pub(super) fn into_vec(self) -> Vec<NetworkMark> {
        self.taken
    }
}

fn begin_measurement(net: &mut Net, stations: &mut Stations) {
    let now = net.now;
    net.links.iter_mut().for_each(|link| link.restart_meter(now));
    net.controls.restart(now);
    stations.members_mut().for_each(|member| member.restart(now, net.links[member.down].head()));
}
