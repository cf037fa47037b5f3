//! Links that fall asleep and wake, and routers whose tables change: a list of what happens, in the order of time.
//!
//! The meanings are those of the simulator (docs/models/sleep.md), which has worked the list out.

use super::frame::{Frame, Way};
use super::slots::Due;
use super::world::World;
use netlull_network::outcome::RouterLosses;
use netlull_network::plan::{RoutingDeed, RoutingPlan};
use netlull_units::Instant;

/// Where packets go, and what becomes of that.
#[derive(Debug)]
pub(super) struct Routing {
    /// By node, then by destination: the link that leads there.
    tables: Vec<Vec<Option<u32>>>,
    /// What happens, if anything does, and how much of it has.
    plan: Option<RoutingPlan>,
    done: usize,
    /// Packets that routers have lost.
    pub(super) losses: RouterLosses,
}

impl Routing {
    pub(super) fn new(tables: Vec<Vec<Option<u32>>>, plan: Option<RoutingPlan>) -> Self {
        Self { tables, plan, done: 0, losses: RouterLosses::default() }
    }

    /// The link that leads from a node to another, if its router knows one.
    pub(super) fn way(&self, node: u32, to: u32) -> Option<u32> {
        self.tables[node as usize].get(to as usize).copied().flatten()
    }

    /// When something happens next.
    pub(super) fn next(&self) -> Instant {
        let steps = self.plan.as_ref().and_then(|plan| plan.steps.get(self.done));
        steps.map_or(Instant::NEVER, |step| step.at)
    }

    fn take(&mut self) -> Option<RoutingDeed> {
        let step = self.plan.as_mut()?.steps.get_mut(self.done)?;
        self.done += 1;
        Some(std::mem::replace(&mut step.deed, RoutingDeed::Install(Vec::new())))
    }

    /// Whether a packet that has crossed so many links has made as many hops as it may (RFC 791 section 3.2).
    fn is_spent(&self, hops: u8) -> bool {
        self.plan.as_ref().is_some_and(|plan| hops >= plan.ttl)
    }
}

impl World {
    /// The next of what happens to links and routes.
    pub(super) fn reroute(&mut self) {
        let now = self.now;
        match self.routing.take() {
            Some(RoutingDeed::Sleep(links)) => links.into_iter().for_each(|link| self.fall_asleep(link as usize)),
            Some(RoutingDeed::Stir(links)) => {
                links.into_iter().for_each(|link| self.links[link as usize].begin_to_wake(now));
            }
            Some(RoutingDeed::Wake(links)) => links.into_iter().for_each(|link| self.links[link as usize].awake(now)),
            Some(RoutingDeed::Install(changes)) => {
                for change in changes {
                    self.routing.tables[change.node as usize][change.destination as usize] = change.link;
                }
            }
            None => {}
        }
        self.agenda.set(self.slots.of(Due::Routing), self.routing.next());
    }

    fn fall_asleep(&mut self, link: usize) {
        let stranded = self.links[link].fall_asleep(self.now);
        stranded.iter().for_each(|frame| self.dropped(link, frame));
        self.arm_link(link);
    }

    /// A packet has crossed a link: it stays, or goes on if it may make another hop.
    pub(super) fn pass_on(&mut self, node: u32, mut frame: Frame) {
        frame.hops = frame.hops.saturating_add(1);
        if frame.to != node && self.routing.is_spent(frame.hops) {
            self.lost_by_router(&frame, |losses| &mut losses.expired);
        } else {
            self.forward(node, frame);
        }
    }

    /// A router loses a packet, and counts it where routers do.
    pub(super) fn lost_by_router(&mut self, frame: &Frame, count: fn(&mut RouterLosses) -> &mut u64) {
        let Some(owner) = frame.owner.filter(|_| self.routing.plan.is_some()) else {
            self.foreign += 1;
            return;
        };
        *count(&mut self.routing.losses) += 1;
        if owner.way == Way::Forward {
            self.connections.flow_mut(owner.flow).dropped_packets += 1;
        }
    }
}
