//! Sleeping and waking links, and routers with changing tables: a chronological list of steps.
//!
//! The steps have the meanings of the simulator (docs/models/sleep.md), which has computed the list.

use super::ids::{Id, LinkId};
use super::net::Net;
use super::timetable::Due;
use netlull_network::plan::{Plan, RoutingDeed, RoutingStep};
use netlull_units::Instant;
use std::collections::VecDeque;

/// The remaining steps.
#[derive(Debug)]
pub(super) struct Rerouting {
    steps: VecDeque<RoutingStep>,
}

impl Rerouting {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { steps: plan.routing.iter().flat_map(|routing| routing.steps.iter().cloned()).collect() }
    }

    /// Schedules the next step.
    pub(super) fn arm(&self, net: &mut Net) {
        net.timetable.set(Due::Routing, self.steps.front().map_or(Instant::NEVER, |step| step.at));
    }

    /// Performs the next step.
    pub(super) fn due(&mut self, net: &mut Net) {
        let now = net.now;
        match self.steps.pop_front().map(|step| step.deed) {
            Some(RoutingDeed::Sleep(links)) => ids(links).for_each(|link| net.fall_asleep(link)),
            Some(RoutingDeed::Stir(links)) => ids(links).for_each(|link| net.links[link].begin_to_wake(now)),
            Some(RoutingDeed::Wake(links)) => ids(links).for_each(|link| net.links[link].awake(now)),
            Some(RoutingDeed::Install(changes)) => {
                changes.into_iter().for_each(|change| net.routes.install(change));
            }
            None => {}
        }
        self.arm(net);
    }
}

fn ids(links: Vec<u32>) -> impl Iterator<Item = LinkId> {
    links.into_iter().map(LinkId::numbered)
}
